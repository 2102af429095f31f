import { describe, test } from "node:test";
import { runInNewContext } from "node:vm";
import { setFlagsFromString } from "node:v8";
import { assert, assertEquals, assertThrows } from "@std/assert";
import {
  type FileDiff,
  type Hunk,
  MAX_HUNK_CHARS,
  MAX_OBSERVED_LINE,
  parseUnifiedDiff,
  PatchParser,
} from "../patch.ts";
import { countLines, cutAt, decode, encode, parsePieces, patchCases, piecesOf, random } from "./support_patch.ts";

describe("PatchParser gives the same, however the patch is cut:", () => {
  for (const { name, bytes, text } of patchCases) {
    test(name, () => {
      const whole = parseUnifiedDiff(text);
      for (const size of [1, 2, 3, 7, 64, 1_000]) {
        if (text.length / size > 20_000) continue;
        assertEquals(parsePieces(piecesOf(bytes, size)), whole, `${size} bytes`);
        assertEquals(parsePieces(piecesOf(text, size)), whole, `${size} characters`);
      }
      const next = random(name.length);
      for (let round = 0; round < 20; round++) {
        const places = Array.from({ length: 1 + Math.floor(next() * 12) }, () => Math.floor(next() * bytes.length));
        assertEquals(parsePieces(cutAt(bytes, places)), whole, `cut at ${places}`);
      }
    });
  }
});

test("PatchParser counts characters that are cut anywhere, also where the bytes are no UTF-8", () => {
  const odd = [
    "ä",
    "中",
    "\u{1f600}",
    "\xff",
    "\xc3",
    "\xe2\x82",
    "\xf0\x9f\x98",
    "\xed\xa0\x80",
    "\xc0\xaf",
    "\xf5",
    "\x80",
  ];
  const line = (text: string, i: number) => i < 3 ? `+${decode(encode(text))}|` : `+${text}|`;
  const bytes = odd.flatMap((text, i) => {
    const raw = i < 3 ? encode(line(text, i)) : Uint8Array.from(line(text, i), (char) => char.charCodeAt(0));
    return [...raw, 10];
  });
  const patch = Uint8Array.from([
    ...encode(`--- a/x\n+++ b/x\n@@ -0,0 +1,${odd.length + 1} @@\n`),
    ...bytes,
    43,
    0xe2,
    0x82,
  ]);
  const whole = parseUnifiedDiff(decode(patch));
  assertEquals(whole.files[0]?.chars, decode(patch).length);
  for (let size = 1; size < 20; size++) assertEquals(parsePieces(piecesOf(patch, size)), whole, `${size} bytes`);
  // A piece of ASCII behind one that ends inside a character, which never comes.
  assertEquals(parsePieces(cutAt(patch, [patch.indexOf(0xc3) + 1, patch.indexOf(0xc3) + 2])), whole);
});

test("PatchParser gives a file as soon as the next one begins", () => {
  const parser = new PatchParser();
  const file = (path: string) => `diff --git a/${path} b/${path}\n--- a/${path}\n+++ b/${path}\n@@ -1 +1 @@\n-a\n+b\n`;
  assertEquals(parser.push(file("x")), []);
  assertEquals(parser.push(file("y")).map(({ path }) => path), ["x"]);
  assertEquals(parser.end().map(({ path }) => path), ["y"]);
  assertEquals(parser.end(), []);
});

test("PatchParser does not take bytes and text for one patch", () => {
  const parser = new PatchParser();
  parser.push("diff");
  assertThrows(() => parser.push(encode(" --git")), TypeError);
});

test("PatchParser leaves the caller's bytes alone, and does not look at them later", () => {
  const patch = encode("diff --git a/ä b/ä\n--- a/ä\n+++ b/ä\n@@ -1 +1 @@ ä\n-ä\n+b\n");
  const buffer = new Uint8Array(5);
  const parser = new PatchParser();
  const files: FileDiff[] = [];
  for (const piece of piecesOf(patch, buffer.length)) {
    buffer.fill(0).set(piece);
    const given = buffer.subarray(0, piece.length);
    files.push(...parser.push(given));
    assertEquals(given, piece);
  }
  assertEquals([...files, ...parser.end()], parseUnifiedDiff(decode(patch)).files);
});

/** A file with hunks of these many added lines of ten characters each. */
function fileOf(path: string, hunks: readonly number[], newline = "\n"): string {
  const body = hunks.map((lines) => `@@ -0,0 +1,${lines} @@ ä${newline}${`+12345678${newline}`.repeat(lines)}`);
  return `diff --git a/${path} b/${path}${newline}--- a/${path}${newline}+++ b/${path}${newline}${body.join("")}`;
}

/** What `keep` must make of a record, by its words: the headers, and whole hunks that end within. */
function keptOf(file: FileDiff, room: number): FileDiff {
  const { text, hunks } = file;
  if (!(room > 0)) return { ...file, text: "", hunks: [], hunksKept: 0 };
  const [first, ...others] = hunks;
  if (!first) return file;
  const firstText = text.slice(first.start, first.end);
  if (first.end > room && firstText.length > MAX_HUNK_CHARS) {
    const cut = firstText.slice(0, firstText.lastIndexOf("\n", MAX_HUNK_CHARS - 1) + 1);
    return { ...file, text: text.slice(0, first.start) + cut, hunks: [first], hunksKept: 0 };
  }
  const fit = others.findIndex(({ end }) => end > room);
  const kept = fit < 0 ? hunks : hunks.slice(0, fit + 1);
  return { ...file, text: text.slice(0, kept.at(-1)!.end), hunks: kept, hunksKept: kept.length };
}

test("keep() gets the headers and whole hunks that end within, the first always", () => {
  const patch = ["\n", "\r\n"].map((newline) => fileOf("x", [3, 1, 2, 5], newline) + fileOf("ä", [1], newline)).join(
    "",
  );
  const whole = parseUnifiedDiff(patch).files;
  const rooms = new Set([
    1,
    0,
    -1,
    NaN,
    Infinity,
    ...whole.flatMap(({ hunks }) => hunks.flatMap(({ end }) => [end - 1, end, end + 1])),
  ]);
  for (const room of rooms) {
    const expected = whole.map((file) => keptOf(file, room));
    for (const input of [patch, encode(patch)]) {
      for (const size of [1, 13, 10_000]) {
        assertEquals(parsePieces(piecesOf(input, size), { keep: () => room }).files, expected, `${room} in ${size}`);
      }
    }
  }
});

test("keep() is asked once a file, with path, status, binary and modes known", () => {
  const asked: unknown[] = [];
  const patch = fileOf("x", [1, 1]) +
    "diff --git a/y b/z\nold mode 100644\nnew mode 100755\nrename from y\nrename to z\n" +
    "diff --git a/b b/b\nnew file mode 100644\nindex 0..1\nBinary files /dev/null and b/b differ\n" +
    "diff --git a/e b/e\ndeleted file mode 100644\nindex 1..0\n--- a/e\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n" +
    "diff --git a/m b/m\nold mode 100644\nnew mode 100755\n";
  parsePieces(piecesOf(patch, 5), {
    keep: ({ path, oldPath, status, binary, oldMode, newMode }) => {
      asked.push([path, oldPath, status, binary, oldMode, newMode]);
      return 0;
    },
  });
  assertEquals(asked, [
    ["x", undefined, "modified", false, undefined, undefined],
    ["z", "y", "renamed", false, "100644", "100755"],
    ["b", undefined, "added", true, undefined, "100644"],
    ["e", undefined, "deleted", false, "100644", undefined],
    ["m", undefined, "modified", false, "100644", "100755"],
  ]);
});

test("keep() cuts a first hunk of more than MAX_HUNK_CHARS at a line end, unless it has room for it", () => {
  const lines = MAX_HUNK_CHARS / 10 + 5;
  const patch = fileOf("x", [lines, 1]);
  const whole = parseUnifiedDiff(patch).files[0]!;
  for (const input of [patch, encode(patch)]) {
    for (const room of [1, 8_000, whole.hunks[0]!.end - 1, whole.hunks[0]!.end, Infinity]) {
      const [file] = parsePieces(piecesOf(input, 65_536), { keep: () => room }).files;
      assertEquals(file, keptOf(whole, room));
      assertEquals(file!.text.length > MAX_HUNK_CHARS + 100, room >= whole.hunks[0]!.end);
    }
  }
});

test("keep() takes a binary patch whole or not at all, behind its header", () => {
  const header = "diff --git a/x b/x\nindex 1..2\nGIT binary patch\n";
  const patch = `${header}literal 300\n${"Oc$}No;9?v_#32BLbOcQR\n".repeat(100)}\n`;
  for (const size of [1, 100, 10_000]) {
    const texts = (room: number) =>
      parsePieces(piecesOf(encode(patch), size), { keep: () => room }).files.map(({ text }) => text);
    assertEquals(texts(patch.length), [patch]);
    assertEquals(texts(patch.length - 1), [header]);
    assertEquals(texts(1), [header]);
    assertEquals(texts(0), [""]);
  }
});

test("no header grows beyond what git could write", () => {
  const patch = `diff --git a/x b/x\n${"index 1..2 100644\n".repeat(100_000)}--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n`;
  const [file] = parsePieces(piecesOf(patch, 4_096), { keep: () => 100 }).files;
  assert(file!.text.length < 2_000);
});

/** What observers see: a file's path, and the text of each of its hunks as it came together. */
function observed(pieces: Iterable<Uint8Array | string>, room = 1): { texts: [string, string][]; pieces: string[] } {
  const hunks = new Map<Hunk, [string, string]>();
  const shown: string[] = [];
  parsePieces(pieces, {
    keep: () => room,
    observe: ({ path }) => (hunk, text) => {
      shown.push(text);
      const seen = hunks.get(hunk);
      if (seen) seen[1] += text;
      else hunks.set(hunk, [path, text]);
    },
  });
  return { texts: [...hunks.values()], pieces: shown };
}

test("observe() sees the text of every hunk, whatever is kept and however the patch is cut", () => {
  for (const { text, bytes } of patchCases) {
    const expected = parseUnifiedDiff(text).files.flatMap((file) =>
      file.hunks.map((hunk) => [file.path, file.text.slice(file.text.indexOf("\n", hunk.start) + 1, hunk.end)])
    ).filter(([, body]) => body !== "");
    for (const room of [0, 100, Infinity]) {
      for (const size of [1, 5, 100, 100_000]) {
        if (text.length / size > 20_000) continue;
        assertEquals(observed(piecesOf(text, size), room).texts, expected);
        assertEquals(observed(piecesOf(bytes, size), room).texts, expected);
      }
    }
  }
});

test("observe() sees whole lines, but for those longer than MAX_OBSERVED_LINE", () => {
  const long = "ä".repeat(2 * MAX_OBSERVED_LINE);
  const patch = `--- a/x\n+++ b/x\n@@ -0,0 +1,3 @@\n+a\n+${long}\n+b`;
  for (const input of [patch, encode(patch)]) {
    for (const size of [1_001, 65_537]) {
      const { texts, pieces } = observed(piecesOf(input, size));
      assertEquals(texts, [["x", `+a\n+${long}\n+b`]]);
      assertEquals(pieces[0], "+a\n");
      assert(pieces.some((piece) => !piece.endsWith("\n")));
      assert(pieces.every((piece) => piece.length <= MAX_OBSERVED_LINE + size));
    }
    const short = `--- a/x\n+++ b/x\n@@ -0,0 +1,900 @@\n${"+äbcdefgh\n".repeat(900)}`;
    for (const piece of observed(piecesOf(encode(short), 777)).pieces) assert(piece.endsWith("\n"));
  }
});

test("observe() is asked once a file, and need not look at it", () => {
  const asked: string[] = [];
  let seen = "";
  parsePieces([fileOf("x", [1, 1]) + fileOf("y", [1])], {
    observe: ({ path }) => {
      asked.push(path);
      return path === "x" ? undefined : (_, text) => seen += text;
    },
  });
  assertEquals([asked, seen], [["x", "y"], "+12345678\n"]);
});

test("what is dropped takes no memory: no record holds a piece of the patch alive", () => {
  const noise = `+${"x".repeat(199)}\n`.repeat(5_000); // a million characters
  const parser = new PatchParser({ keep: ({ path }) => path.endsWith("kept") ? 2_000 : 0 });
  const files: FileDiff[] = [];
  const before = heap();
  for (let i = 0; i < 150; i++) {
    const header = (path: string, mode: string) =>
      `diff --git a/${path} b/${path}\nnew file mode ${mode}\n--- /dev/null\n+++ b/${path}\n`;
    // Every name differs and is long enough to be a slice of the piece in any engine.
    const name = `some/folder/with/a/long/name/${i}`;
    const hunk = `@@ -0,0 +1,1 @@ in a function with a long name, the ${i}th\n+x\n`;
    const odd = `\nOnly in a folder: with a long name, ${i}\n`;
    const piece = header(`${name}.kept`, "100644") + hunk + header(`${name}.dropped`, `100644`) +
      `@@ -0,0 +1,5000 @@\n${noise}${odd}`;
    files.push(...parser.push(piece));
  }
  files.push(...parser.end());
  const held = (heap() - before) / 1e6;
  assertEquals([files.length, parser.problems.length, countLines(files[0]!.text)], [300, 150, 6]);
  assert(held < 30, `${held.toFixed(0)} MB of 150 MB`);
});

/** Bytes in use behind a collection. */
function heap(): number {
  if (process.versions.bun) {
    (globalThis as unknown as { Bun: { gc(force: boolean): void } }).Bun.gc(true);
  } else {
    setFlagsFromString("--expose-gc");
    (runInNewContext("gc") as () => void)();
  }
  return process.memoryUsage().heapUsed;
}
