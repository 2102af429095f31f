import { describe, test } from "node:test";
import process from "node:process";
import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { type FileDiff, type FileStatus, parseUnifiedDiff, PatchParser } from "../patch.ts";
import { assertSound, cutAt, encode, parsePieces, patchCases, piecesOf, random } from "./support_patch.ts";

/** `OCTAVO_SEED=N` runs everything here again as it ran then; a failure names it. */
const seed = Number(process.env.OCTAVO_SEED ?? Date.now() % 2 ** 31);
const RUNS = Number(process.env.OCTAVO_RUNS ?? 300);

function check<T extends [unknown, ...unknown[]]>(property: fc.IProperty<T>): void {
  fc.assert(property, { seed, numRuns: RUNS });
}

/** A file before it is written as git would write it. */
interface Model {
  name: string;
  oldName: string;
  status: FileStatus;
  hunks: { marks: string; lines: string[]; section: string; noNewline: boolean }[];
  prefixes: [string, string];
}

const segment = fc.string({
  unit: fc.constantFrom(..."ab.- ", "/", '"', "\\", "\t", "\n", "\r", "\x1b", "ä", "中", "\u{1f600}", "\u2028"),
  minLength: 1,
  maxLength: 8,
});
/** Any name that a file can have: no NUL, no empty part, none that is a dot or two. */
const name = segment.filter((text) => text.split("/").every((part) => !/^\.{0,2}$/.test(part)));
const content = fc.string({
  unit: fc.constantFrom(
    ..."ab -+@\\",
    "\r",
    "\t",
    "\f",
    "\x1b[1m",
    "ä",
    "\u{1f600}",
    "\u2028",
    "diff --git a/x b/x",
    "--- ",
    "@@ -1 +1 @@",
  ),
  maxLength: 6,
});
const hunk = fc.record({
  marks: fc.string({ unit: fc.constantFrom(..." +-"), minLength: 1, maxLength: 12 }),
  lines: fc.array(content, { minLength: 12, maxLength: 12 }),
  section: fc.oneof(fc.constant(""), content),
  noNewline: fc.boolean(),
});
const model: fc.Arbitrary<Model> = fc.record({
  name,
  oldName: name,
  status: fc.constantFrom<FileStatus>("added", "deleted", "modified", "renamed", "copied"),
  hunks: fc.array(hunk, { minLength: 1, maxLength: 3 }),
  prefixes: fc.constantFrom<[string, string]>(["a/", "b/"], ["i/", "w/"], ["", ""], ["old/", "new/"]),
}).filter(({ name, oldName }) => name !== oldName);

/** A name as git writes it (quote.c, `quote_c_style`), with core.quotePath on. */
function quote(name: string): string {
  const letters: Record<string, string> = {
    "\x07": "a",
    "\b": "b",
    "\t": "t",
    "\n": "n",
    "\v": "v",
    "\f": "f",
    "\r": "r",
  };
  // deno-lint-ignore no-control-regex
  if (!/[\x00-\x1f\x7f-\uffff"\\]/.test(name)) return name;
  const chars = [...encode(name)].map((byte) => {
    const char = String.fromCharCode(byte);
    if (char === '"' || char === "\\") return `\\${char}`;
    if (letters[char] !== undefined) return `\\${letters[char]}`;
    return byte < 32 || byte > 126 ? `\\${byte.toString(8).padStart(3, "0")}` : char;
  });
  return `"${chars.join("")}"`;
}

/** The patch of a file, and the record that it must be read as. */
function write({ name, oldName, status, hunks, prefixes: [a, b] }: Model): { text: string; file: Partial<FileDiff> } {
  const moved = status === "renamed" || status === "copied";
  const before = moved ? oldName : name;
  const side = (prefix: string, path: string) =>
    `${quote(prefix + path)}${path.includes(" ") && quote(prefix + path)[0] !== '"' ? "\t" : ""}`;
  const verb = status === "renamed" ? "rename" : "copy";
  let text = `diff --git ${quote(a + before)} ${quote(b + name)}\n`;
  if (moved) text += `similarity index 90%\n${verb} from ${quote(before)}\n${verb} to ${quote(name)}\n`;
  if (status === "added") text += "new file mode 100644\n";
  if (status === "deleted") text += "deleted file mode 100644\n";
  text += `index 0123456..789abcd${status === "added" || status === "deleted" ? "" : " 100644"}\n`;
  text += `--- ${status === "added" ? "/dev/null" : side(a, before)}\n+++ ${
    status === "deleted" ? "/dev/null" : side(b, name)
  }\n`;
  let [additions, deletions] = [0, 0];
  const only = status === "added" ? "+" : status === "deleted" ? "-" : undefined;
  for (const [i, { marks, lines, section, noNewline }] of hunks.entries()) {
    const all = [...marks].map((mark) => only ?? mark);
    const count = (mark: string) => all.filter((one) => one === mark).length;
    const [old, now] = [count("-") + count(" "), count("+") + count(" ")];
    const range = (lines: number) => lines === 0 ? "0,0" : lines === 1 ? `${i + 1}` : `${i + 1},${lines}`;
    text += `@@ -${range(old)} +${range(now)} @@${section === "" ? "" : ` ${section}`}\n`;
    text += all.map((mark, k) => `${mark}${lines[k]}\n`).join("");
    if (noNewline) text += "\\ No newline at end of file\n";
    additions += count("+");
    deletions += count("-");
  }
  return {
    text,
    file: { path: name, status, additions, deletions, binary: false, text, ...(moved && { oldPath: oldName }) },
  };
}

test("any patch that git could write is read as what it says, and its records in order are the input", () => {
  check(fc.property(fc.array(model, { maxLength: 4 }), (models) => {
    const written = models.map(write);
    const text = written.map((one) => one.text).join("");
    const parsed = parseUnifiedDiff(text);
    assertSound(parsed);
    assertEquals(parsed.problems, []);
    assertEquals(parsed.files.map(({ text }) => text).join(""), text);
    for (const [i, { file }] of written.entries()) {
      const { path, oldPath, status, additions, deletions, binary, text } = parsed.files[i]!;
      assertEquals(
        { path, status, additions, deletions, binary, text, ...(oldPath !== undefined && { oldPath }) },
        file,
      );
    }
    assertEquals(parsed.files.length, written.length);
  }));
});

test("any patch is the same in any pieces, as text and as bytes, whatever is kept of it", () => {
  const places = fc.array(fc.nat(), { maxLength: 12 });
  check(fc.property(fc.array(model, { minLength: 1, maxLength: 3 }), places, fc.nat(400), (models, cuts, room) => {
    const text = models.map((one) => write(one).text).join("");
    const bytes = encode(text);
    const at = (length: number) => cuts.map((cut) => cut % length);
    const whole = parseUnifiedDiff(text);
    assertEquals(parsePieces(cutAt(bytes, at(bytes.length))), whole);
    assertEquals(parsePieces(cutAt(text, at(text.length))), whole);
    const keep = () => room;
    const kept = parsePieces([text], { keep });
    assertEquals(parsePieces(cutAt(bytes, at(bytes.length)), { keep }), kept);
    assertEquals(parsePieces(cutAt(text, at(text.length)), { keep }), kept);
    for (const [i, file] of kept.files.entries()) {
      assert(whole.files[i]!.text.startsWith(file.text));
      const expected = { ...whole.files[i]!, text: file.text, hunks: file.hunks, hunksKept: file.hunksKept };
      assertEquals(file, expected);
    }
  }));
});

/** Lines that mean something to some part of the parser. */
const token = fc.constantFrom(
  ...["diff --git a/x b/x", "diff --git a/x b/y", 'diff --git "a/\\303" b/x', "diff --cc x", "diff -u a b", "diff x"],
  ...["index 12ab..34cd 100644", "index 1,2..3", "old mode 100644", "new mode 100755", "new file mode 100644"],
  ...["deleted file mode 100644", "rename from x", "rename to y", "copy from x", "copy to z", "similarity index 90%"],
  ...[
    "--- a/x",
    "+++ b/x",
    "--- /dev/null",
    "+++ /dev/null",
    "--- x\t1970-01-01 00:00",
    "+++ x\t(nonexistent)",
    "--- ",
    "+++ ",
  ],
  ...[
    "@@ -1 +1 @@",
    "@@ -1,2 +1,2 @@ f",
    "@@ -0,0 +1,3 @@",
    "@@ -1,3 +0,0 @@",
    "@@@ -1 -1 +1 @@@",
    "@@ -1",
    "@@ -0,0 +0,0 @@",
  ],
  ...[
    "+a",
    "-a",
    " a",
    "",
    "\\ No newline at end of file",
    "++a",
    "--a",
    "  a",
    "- a",
    " +a",
    "\t",
    "\r",
    "+\u{1f600}\xe4",
  ],
  ...[
    "GIT binary patch",
    "literal 300",
    "Oc$}No;9?v_#32BLbOcQR",
    "Binary files a/x and b/x differ",
    "Binary file x has changed",
  ],
  ...[
    "Index: x",
    "=".repeat(67),
    "Submodule x 1234567..7654321:",
    "  > text",
    "Only in x: y",
    "*** a",
    "-- ",
    "commit 1",
  ],
  ...[
    "\x1b[1mdiff --git a/x b/x\x1b[m",
    "\x1b[32m+\x1b[m\x1b[32ma\x1b[m",
    "\x1b",
    "\x1b[",
    "\x1b[1",
    "\ufeff",
    "\xff\xfe",
  ],
);
const newline = fc.constantFrom("\n", "\n", "\n", "\r\n", "\r", "");
const garbage = fc.array(fc.tuple(token, newline), { maxLength: 30 }).map((lines) => lines.flat().join(""));

test("any sequence of lines is read without a throw, and alike in any pieces", () => {
  check(fc.property(garbage, fc.array(fc.nat(), { maxLength: 12 }), fc.nat(200), (text, cuts, room) => {
    const whole = parseUnifiedDiff(text);
    assertSound(whole);
    const bytes = encode(text);
    assertEquals(parsePieces(cutAt(bytes, cuts.map((cut) => cut % (bytes.length + 1)))), whole);
    assertEquals(parsePieces(cutAt(text, cuts.map((cut) => cut % (text.length + 1)))), whole);
    assertEquals(parsePieces(piecesOf(bytes, 1)), whole);
    const keep = () => room;
    assertEquals(parsePieces(piecesOf(bytes, 1), { keep }), parsePieces([text], { keep }));
  }));
});

/** Changes a patch a little. */
const MUTATIONS: readonly ((lines: string[], next: (below: number) => number, other: readonly string[]) => void)[] = [
  (lines, next) => void lines.splice(next(lines.length), 1 + next(3)),
  (lines, next) => void lines.splice(next(lines.length), 0, lines[next(lines.length)] ?? ""),
  (lines, next, other) =>
    void lines.splice(next(lines.length), next(2), ...other.slice(next(other.length), next(other.length))),
  (lines, next) => {
    const at = next(lines.length);
    const place = next(lines[at]?.length ?? 0);
    const odd = ["\r", "\x1b", '"', "\\", "@", "-", "+", " ", "\t", "0", "9", "/", "\u{1f600}", "\0", "a"];
    lines[at] = `${lines[at]?.slice(0, place)}${odd[next(odd.length)]}${lines[at]?.slice(place + next(2))}`;
  },
  (lines, next) => void (lines.length = next(lines.length)),
  (lines, next) => {
    const at = next(lines.length);
    lines[at] = (lines[at] ?? "").replace(/\d+/, (digits) => String(Number(digits) + next(5) - 2));
  },
];

test("100,000 mutations of real patches are read without a throw, and what is read of them is sound", () => {
  const next = random(seed);
  const below = (limit: number) => Math.floor(next() * limit);
  const patches = patchCases.filter(({ text }) => text.length < 1_200).map(({ text }) => text.split("\n"));
  for (let round = 0; round < 100_000; round++) {
    const lines = [...patches[below(patches.length)]!];
    for (let i = below(3); i >= 0; i--) {
      MUTATIONS[below(MUTATIONS.length)]!(lines, below, patches[below(patches.length)]!);
    }
    const text = lines.join("\n");
    try {
      const parsed = parseUnifiedDiff(text);
      if (round % 100 !== 0) continue;
      assertSound(parsed);
      assertEquals(
        parsePieces(piecesOf(encode(text), 1 + below(40))),
        parseUnifiedDiff(new TextDecoder("utf-8", { ignoreBOM: true }).decode(encode(text))),
      );
    } catch (error) {
      throw new Error(`seed ${seed}, round ${round}: ${JSON.stringify(text)}`, { cause: error });
    }
  }
});

const HEADER = "diff --git a/f b/f\n--- a/f\n+++ b/f\n";

/** Texts of about `n` characters that someone could send to make a parser slow. */
const hostile: Record<string, (n: number) => string> = {
  "spaces in a header": (n) => `diff --git ${"a ".repeat(n / 2)}\n`,
  "headers with as many spaces as may be": (n) => `diff --git ${"a ".repeat(30_000)}\n`.repeat(n / 60_000),
  "headers with as many slashes as may be": (n) =>
    `diff --git a${"/".repeat(30_000)} b${"/".repeat(30_001)}\n`.repeat(n / 60_000),
  "quotes in a header": (n) => `diff --git ${'"a\\" '.repeat(n / 5)}\n`,
  "an open quote": (n) => `diff --git "${"\\".repeat(n)}\n`,
  "open quotes": (n) => `diff --git "${"\\303".repeat(15_000)}\n`.repeat(n / 60_000),
  "only headers": (n) => "diff --git a/f b/f\n".repeat(n / 19),
  "only names of sides": (n) => "--- a\n+++ b\n".repeat(n / 12),
  "only old sides": (n) => "--- a\n".repeat(n / 6),
  "only index lines": (n) => `diff --git a/f b/f\n${"index a\n".repeat(n / 8)}`,
  "only Index lines": (n) => "Index: a\n".repeat(n / 9),
  "only hunk headers": (n) => HEADER + "@@ -1 +1 @@\n".repeat(n / 12),
  "hunk headers that are none": (n) => HEADER + "@@ -1\n".repeat(n / 6),
  "a number without an end": (n) => `${HEADER}@@ -${"1".repeat(n)},1 +1 @@\n-a\n+b\n`,
  "one long line": (n) => `${HEADER}@@ -1 +1 @@\n-${"x".repeat(n / 2)}\n+${"y".repeat(n / 2)}\n`,
  "no newline at all": (n) => "+".repeat(n),
  "empty lines": (n) => "\n".repeat(n),
  "only notes": (n) => `${HEADER}@@ -1 +1 @@\n${"\\ No newline at end of file\n".repeat(n / 28)}`,
  "one big hunk": (n) => `${HEADER}@@ -0,0 +1,${n / 4} @@\n${"+xy\n".repeat(n / 4)}`,
  "counts beyond any number": (n) =>
    `${HEADER}@@ -1,${"9".repeat(20)} +1,${"9".repeat(20)} @@\n${" x\n".repeat(n / 3)}`,
  "a combined diff of many parents": (n) =>
    `diff --cc f\n${"@".repeat(257)} ${"-1,9 ".repeat(256)}+1,9 ${"@".repeat(257)}\n${"\\\n".repeat(n / 2)}`,
  "a combined diff of too many parents": (n) =>
    `diff --cc f\n${"@".repeat(9_001)} ${"-1 ".repeat(9_000)}+1 @@@\n${"\\\n".repeat(n / 2)}`,
  "binary files and and": (n) => `Binary files ${"a and ".repeat(10_000)}\n`.repeat(n / 60_000),
  "submodules in a line": (n) => `Submodule ${"1234567..1234567 (".repeat(3_500)}\n`.repeat(n / 63_000),
  "a name of spaces": (n) => `diff --git a/x b/y\nrename from ${" ".repeat(n)}\nrename to y\n`,
  "binary data": (n) => `${HEADER}GIT binary patch\nliteral 1\n${"AAAAAA\n".repeat(n / 7)}`,
  "colours": (n) => "\x1b[1m".repeat(n / 4),
  "colours without an end": (n) => `\x1b[m\n${"\x1b[".repeat(n / 2)}`,
  "a colour of digits": (n) => `\x1b[m\n\x1b[${"1".repeat(n)}`,
  "lines that are nowhere": (n) => "Only in a: b\n".repeat(n / 13),
};

describe("hostile text is read in time that grows as it does:", () => {
  for (const [title, make] of Object.entries(hostile)) {
    test(title, () => {
      const [small, large] = [make(2 ** 16), make(2 ** 20)];
      for (const [way, read] of Object.entries(WAYS)) {
        // 16 times the text; the square of that is 256. A busy machine may get it wrong once, not three times.
        let [quick, slow] = [Infinity, NaN];
        for (let tries = 0; tries < 3 && !(slow <= 500 + 60 * quick); tries++) {
          quick = Math.min(quick, time(() => read(small)), time(() => read(small)));
          slow = time(() => read(large));
        }
        assert(slow <= 500 + 60 * quick, `${way}: ${quick.toFixed(1)} ms, then ${slow.toFixed(1)} ms`);
      }
    });
  }
});

const WAYS: Record<string, (text: string) => void> = {
  whole: (text) => void parseUnifiedDiff(text),
  "in small pieces, kept and observed": (text) => {
    const parser = new PatchParser({ keep: () => 1_000, observe: () => () => {} });
    for (const piece of piecesOf(encode(text), 100)) parser.push(piece);
    parser.end();
  },
};

function time(run: () => void): number {
  const start = performance.now();
  run();
  return performance.now() - start;
}
