import { describe, test } from "node:test";
import { assert, assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import * as diff from "../diff.ts";
import * as patch from "../patch.ts";
import {
  coverageLine,
  DEFAULT_PART_CHARS,
  fenceMarker,
  type FileDiff,
  hunkLines,
  lineCounts,
  MAX_FILE_CHARS,
  MAX_HUNK_CHARS,
  MAX_PARTS,
  MIN_PART_CHARS,
  noiseReason,
  parseUnifiedDiff,
  type Plan,
  type PlanOptions,
  planReview,
  ReviewPlanner,
  summarizeReview,
  TOO_LARGE,
  truncateFileDiff,
} from "../diff.ts";
import { countLines, encode, patchCases, piecesOf } from "./support_patch.ts";

/** The diff of a file with hunks of these many added lines of ten characters each. */
function fileOf(path: string, ...hunks: number[]): string {
  const body = hunks.map((lines) => `@@ -0,0 +1,${lines} @@\n${"+12345678\n".repeat(lines)}`);
  return `diff --git a/${path} b/${path}\n--- a/${path}\n+++ b/${path}\n${body.join("")}`;
}

function planOf(patch: string, options?: PlanOptions): Plan {
  return planReview(parseUnifiedDiff(patch), options);
}

/** A file with this path and one changed line. */
function fileAt(path: string): FileDiff {
  return parseUnifiedDiff(`--- a/${path}\n+++ b/${path}\n@@ -1 +1 @@\n-a\n+b\n`).files[0]!;
}

test("diff.ts re-exports the parser", () => {
  assertEquals([diff.PatchParser, diff.cutHunk], [patch.PatchParser, patch.cutHunk]);
});

const noise: Record<string, string[]> = {
  lockfile: [
    ..."package-lock.json npm-shrinkwrap.json yarn.lock pnpm-lock.yaml bun.lock bun.lockb deno.lock Cargo.lock".split(
      " ",
    ),
    ..."Gemfile.lock poetry.lock uv.lock Pipfile.lock composer.lock go.sum flake.lock packages.lock.json".split(" "),
    ...["sub/folder/go.sum", "sub/Cargo.lock"],
  ],
  minified: ["a.min.js", "a.min.css", "a.min.mjs", "sub/jquery-3.1.min.js", "A.MIN.JS"],
  "source map": ["a.js.map", "a.css.map", "a.mjs.map"],
  snapshot: ["src/__snapshots__/a.test.ts", "a.snap", "__snapshots__/b"],
  "build output": [
    ...["node_modules/x/index.js", "vendor/x.go", "dist/a.js", "build/a.js", "out/a.js", ".next/a.js", "target/a.rs"],
    ...["sub/node_modules/x.js", "a/b/c/dist/d/e.ts"],
  ],
  asset: ["a.png", "A.PNG", "sub/a.woff2", "a.tar.gz", "a.mp4", "a.so", "a.wasm", "a.pdf", "logo.svg"],
};

describe("noiseReason() says", () => {
  for (const [reason, paths] of Object.entries(noise)) {
    test(reason, () => {
      for (const path of paths) assertEquals(noiseReason(fileAt(path)), reason, path);
    });
  }
});

test("noiseReason() leaves alone what only looks like noise", () => {
  const paths = [
    ...["package.json", "package-lock.json5", "my-package-lock.json", "yarn.lock.ts", "lock.ts", "go.sum.md", "go.mod"],
    ...[
      "min.js",
      "a.min.ts",
      "admin.js",
      "a.map",
      "map.js",
      "snap",
      "a.snap.ts",
      "snapshots/a.ts",
      "my__snapshots__/a.ts",
    ],
    ...["dist", "build", "vendor", "target", "out", "src/build.ts", "distribution/a.ts", "my-dist/a.ts", "builds/a.ts"],
    ...["Build/a.cs", "png", "png/a.ts", "a.png.ts", "apng.ts", ".a/x", "node_modules.md", "next/a.ts", "outer/a.ts"],
  ];
  for (const path of paths) assertEquals(noiseReason(fileAt(path)), undefined, path);
});

test("noiseReason() finds nothing to read in a file without a hunk, and says why", () => {
  const cases: [patch: string, reason: string][] = [
    ["old mode 100644\nnew mode 100755\n", "mode change only"],
    ["similarity index 100%\nrename from x\nrename to x\n", "renamed without changes"],
    ["similarity index 100%\ncopy from x\ncopy to x\n", "copied without changes"],
    ["new file mode 100644\nindex 0000000..e69de29\n", "empty file"],
    ["deleted file mode 100644\nindex e69de29..0000000\n", "empty file"],
    ["index 1234567..89abcde 100644\n", "no content change"],
    ["index 1234567..89abcde 100644\nBinary files a/x and b/x differ\n", "binary"],
    ["index 1234567..89abcde 100644\nGIT binary patch\nliteral 0\nHcmV?d00001\n\n", "binary"],
  ];
  for (const [patch, reason] of cases) {
    assertEquals(noiseReason(parseUnifiedDiff(`diff --git a/x b/x\n${patch}`).files[0]!), reason);
  }
  assertEquals(noiseReason(parseUnifiedDiff("diff --git a/x.png b/x.png\nnew file mode 100644\n").files[0]!), "asset");
});

test("truncateFileDiff() keeps whole hunks that end within the cap, and counts the lines of the others", () => {
  const [file] = parseUnifiedDiff(fileOf("x", 3, 2, 4)).files;
  const [first, second, third] = file!.hunks;
  const cases: [maxChars: number, sent: number, omitted: number][] = [
    [0, 1, 8],
    [first!.end, 1, 8],
    [second!.end - 1, 1, 8],
    [second!.end, 2, 5],
    [third!.end - 1, 2, 5],
    [third!.end, 3, 0],
    [Infinity, 3, 0],
  ];
  for (const [maxChars, sent, omitted] of cases) {
    const cut = truncateFileDiff(file!, maxChars);
    assertEquals([cut.hunksSent, cut.linesOmitted, cut.hunks], [sent, omitted, file!.hunks.slice(0, sent)]);
    assertEquals(cut.text, file!.text.slice(0, file!.hunks[sent - 1]!.end));
    assertEquals(countLines(cut.text) + cut.linesOmitted, file!.lines);
  }
});

test("truncateFileDiff() cuts a first hunk of more than a million characters at a line end", () => {
  const lines = MAX_HUNK_CHARS / 10 + 10;
  const [file] = parseUnifiedDiff(fileOf("x", lines, 1)).files;
  const cut = truncateFileDiff(file!, 8_000);
  assert(cut.text.endsWith("\n+12345678\n"));
  assertEquals(cut.hunks.length, 1);
  const [hunk] = cut.hunks;
  assert(hunk!.end - hunk!.start <= MAX_HUNK_CHARS && hunk!.end - hunk!.start > MAX_HUNK_CHARS - 10);
  assertEquals(hunk!.end, cut.text.length);
  assertEquals(countLines(cut.text) + cut.linesOmitted, file!.lines);
  assertEquals([...hunkLines(cut.text, hunk!)].length, hunk!.lines - 1);
  assertEquals(truncateFileDiff(file!, Infinity).linesOmitted, 0);
});

test("truncateFileDiff() leaves of one line of more than a million characters only the headers", () => {
  const [file] = parseUnifiedDiff(`--- a/x\n+++ b/x\n@@ -0,0 +1 @@\n+${"x".repeat(MAX_HUNK_CHARS)}\n`).files;
  const cut = truncateFileDiff(file!, 8_000);
  assertEquals([cut.text, cut.linesOmitted], ["--- a/x\n+++ b/x\n@@ -0,0 +1 @@\n", 1]);
});

test("planReview() sends a small change whole, in one part", () => {
  const patch = fileOf("x", 3) + fileOf("y", 1);
  const plan = planOf(patch);
  assertEquals(plan.parts.map(({ number, text, chars }) => [number, text, chars]), [[1, patch, patch.length]]);
  assertEquals(
    plan.files.map((
      { path, coverage, part, hunksSent, linesOmitted },
    ) => [path, coverage, part, hunksSent, linesOmitted]),
    [
      ["x", "full", 1, 1, 0],
      ["y", "full", 1, 1, 0],
    ],
  );
  assertEquals(plan.totals, { files: 2, additions: 4, deletions: 0 });
  assertEquals([plan.maxDiffChars, plan.maxFileChars], [DEFAULT_PART_CHARS, MAX_FILE_CHARS]);
});

test("planReview() begins a part where the next file would not fit", () => {
  // 750 lines of 10 characters and the headers: two of them fill a part of 16,000.
  const plan = planOf(["a", "b", "c", "d", "e"].map((path) => fileOf(path, 750)).join(""));
  assertEquals(plan.parts.map(({ files }) => files.map(({ path }) => path)), [["a", "b"], ["c", "d"], ["e"]]);
  for (const part of plan.parts) {
    assert(part.chars <= DEFAULT_PART_CHARS);
    assertEquals(part.chars, part.text.length);
    assertEquals(part.text, part.files.map(({ text }) => text).join(""));
  }
});

test("planReview() never goes back to a part that is closed", () => {
  const plan = planOf(fileOf("a", 700) + fileOf("big", 1_200) + fileOf("c", 1));
  assertEquals(plan.parts.map(({ files }) => files.map(({ path }) => path)), [["a"], ["big", "c"]]);
});

test("planReview() gives a file that is bigger than a part one to itself", () => {
  const plan = planOf(fileOf("a", 1) + fileOf("big", 3_000) + fileOf("c", 1));
  assertEquals(plan.parts.map(({ files }) => files.map(({ path }) => path)), [["a"], ["big"], ["c"]]);
  assert(plan.parts[1]!.chars > DEFAULT_PART_CHARS);
});

test("planReview() makes eight parts and no more; the rest is not reviewed, noise is still noise", () => {
  const names = Array.from({ length: 12 }, (_, i) => `f${i}`);
  const plan = planOf(names.map((path) => fileOf(path, 1_000)).join("") + fileOf("go.sum", 1) + fileOf("small", 1));
  assertEquals(plan.parts.length, MAX_PARTS);
  assertEquals(plan.parts.map(({ number }) => number), [1, 2, 3, 4, 5, 6, 7, 8]);
  const left = plan.files.filter(({ coverage }) => coverage === "unreviewed");
  assertEquals(left.map(({ path }) => path), ["f8", "f9", "f10", "f11", "small"]);
  for (const file of left) {
    assertEquals([file.reason, file.part, file.hunksSent], [TOO_LARGE, undefined, 0]);
    assert(file.linesOmitted > 0);
  }
  assertEquals(plan.files.find(({ path }) => path === "go.sum")?.reason, "lockfile");
  assertEquals(plan.totals.files, 14);
});

test("planReview() raises a budget below the floor, and says from where", () => {
  const plan = planOf(fileOf("x", 1), { maxDiffChars: 100 });
  assertEquals([plan.maxDiffChars, plan.maxFileChars, plan.raisedFrom], [MIN_PART_CHARS, MIN_PART_CHARS / 2, 100]);
  const exact = planOf(fileOf("x", 1), { maxDiffChars: MIN_PART_CHARS });
  assertEquals([exact.maxDiffChars, exact.raisedFrom], [MIN_PART_CHARS, undefined]);
  assertEquals(planOf(fileOf("x", 1), { maxDiffChars: 1e6 }).maxFileChars, MAX_FILE_CHARS);
  assertEquals(planOf(fileOf("x", 9_000), { maxDiffChars: Infinity }).parts.length, 1);
  assertThrows(() => planReview([], { maxDiffChars: NaN }), RangeError);
});

test("planReview() trims a file over the cap and says in its text what is omitted", () => {
  const patch = fileOf("a|`b`", 500, 300, 10);
  const plan = planOf(patch);
  const [file] = plan.files;
  assertEquals([file?.coverage, file?.hunks, file?.hunksSent, file?.linesOmitted], ["trimmed", 3, 1, 312]);
  const [sent] = plan.parts[0]!.files;
  assert(sent!.text.endsWith("+12345678\n… 2 hunks (312 lines) of a|`b` omitted\n"));
  assertEquals([sent!.trimmed, sent!.hunks.length], [true, 1]);
  const one = planOf(fileOf("x", 500, 400)).parts[0]!.text;
  assert(one.endsWith("\n… 1 hunk (401 lines) of x omitted\n"));
});

test("planReview() puts the end of a line behind a file that has none", () => {
  const plan = planOf("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b");
  assert(plan.parts[0]!.text.endsWith("+b\n"));
});

test("planReview() takes a caller's word for what is noise, and never for what cannot be read", () => {
  const patch = fileOf("docs/a.md", 1) + fileOf("go.sum", 1) + fileOf("a.ts", 1) +
    "diff --git a/x.bin b/x.bin\nBinary files a/x.bin and b/x.bin differ\n";
  const skip: PlanOptions["skip"] = ({ path }) =>
    path.startsWith("docs/") ? "excluded" : path === "a.ts" ? undefined : false;
  const reasons = planOf(patch, { skip }).files.map(({ path, reason }) => [path, reason]);
  assertEquals(reasons, [["docs/a.md", "excluded"], ["go.sum", undefined], ["a.ts", undefined], ["x.bin", "binary"]]);
  assertEquals(planOf(fileOf("go.sum", 1), { skip: () => "mine" }).files[0]?.reason, "lockfile");
});

test("planReview() makes no part of noise alone", () => {
  const plan = planOf(fileOf("go.sum", 5) + fileOf("dist/x.js", 5));
  assertEquals(plan.parts, []);
  assertEquals(plan.files.map(({ coverage, linesOmitted }) => [coverage, linesOmitted]), [["skipped", 9], [
    "skipped",
    9,
  ]]);
});

test("planReview() takes the problems of a patch along, and plans records without them", () => {
  const patch = parseUnifiedDiff("--- a/x\n+++ b/x\n@@ -1,5 +1,5 @@\n-a\n");
  assertEquals(planReview(patch).problems, patch.problems);
  assertEquals(planReview(patch.files).problems, []);
  assertEquals(planReview(new Set(patch.files)).files.length, 1);
});

test("ReviewPlanner asks a caller once a file what is noise, and shows each record before its text is gone", () => {
  const [asked, seen]: [string[], string[]] = [[], []];
  const planner = new ReviewPlanner({
    skip: ({ path }) => void asked.push(path),
    onFile: ({ path, text }) => seen.push(`${path} ${text.length > 0}`),
  });
  for (const piece of piecesOf(fileOf("a", 2, 2) + fileOf("go.sum", 3), 10)) planner.push(piece);
  planner.end();
  assertEquals([asked, seen], [["a", "go.sum"], ["a true", "go.sum false"]]);
});

test("ReviewPlanner plans a stream as planReview() plans whole records", () => {
  const many = Array.from(
    { length: 30 },
    (_, i) => fileOf(i % 4 === 3 ? `dist/${i}` : `f${i}`, 20 * i, 1 + 13 * i, 600),
  ).join("");
  const huge = fileOf("huge", MAX_HUNK_CHARS / 10 + 100, 5) + fileOf("small", 1);
  const texts = [many, huge, many.replaceAll("\n", "\r\n"), many.replaceAll("f", "ä"), many.slice(0, -777)];
  for (const patch of [...texts, ...patchCases.map(({ text }) => text)]) {
    for (const maxDiffChars of [MIN_PART_CHARS, 5_000, DEFAULT_PART_CHARS, Infinity]) {
      const expected = planOf(patch, { maxDiffChars });
      for (
        const pieces of [piecesOf(encode(patch), 65_536), piecesOf(encode(patch), 997), piecesOf(patch, 5_000), [patch]]
      ) {
        const planner = new ReviewPlanner({ maxDiffChars });
        for (const piece of pieces as (Uint8Array | string)[]) planner.push(piece);
        assertEquals(planner.end(), expected);
      }
    }
  }
});

test("a plan loses no line and breaks no promise, whatever the change", () => {
  const file = fc.record({
    path: fc.constantFrom("a", "b/c", "go.sum", "dist/x", "ä", "x.png"),
    hunks: fc.array(fc.integer({ min: 1, max: 700 }), { maxLength: 5 }),
  });
  fc.assert(
    fc.property(fc.array(file, { maxLength: 25 }), fc.integer({ min: 0, max: 20_000 }), (files, maxDiffChars) => {
      const patch = parseUnifiedDiff(files.map(({ path, hunks }) => fileOf(path, ...hunks)).join(""));
      const plan = planReview(patch, { maxDiffChars });
      assertEquals(plan.files.map(({ path }) => path), patch.files.map(({ path }) => path));
      assert(plan.parts.length <= MAX_PARTS);
      const sent = plan.parts.flatMap(({ files }) => files);
      for (const part of plan.parts) assert(part.files.length === 1 || part.chars <= plan.maxDiffChars);
      for (const [i, planned] of plan.files.entries()) {
        const file = patch.files[i]!;
        assertEquals([planned.chars, planned.hunks, planned.additions], [
          file.chars,
          file.hunks.length,
          file.additions,
        ]);
        if (planned.part === undefined) {
          assert(planned.reason !== undefined && planned.hunksSent === 0 && planned.linesOmitted === file.lines);
          continue;
        }
        const { text, hunks, trimmed } = sent.shift()!;
        assertEquals([hunks.length, trimmed], [planned.hunksSent, planned.coverage === "trimmed"]);
        const body = trimmed ? text.slice(0, text.lastIndexOf("…")) : text;
        assert(file.text.startsWith(body));
        assertEquals(countLines(body) + planned.linesOmitted, file.lines);
        assert(planned.hunksSent === 1 || body.length <= plan.maxFileChars);
      }
      assertEquals(sent, []);
    }),
    { seed: Number(process.env.OCTAVO_SEED ?? Date.now() % 2 ** 31), numRuns: 60 },
  );
});

test("summarizeReview() counts, and lists what is reviewed, skipped and left", () => {
  const patch = fileOf("a.ts", 3) + fileOf("big.ts", 700, 700) + fileOf("go.sum", 2) +
    "diff --git a/x.ts b/y.ts\nsimilarity index 90%\nrename from x.ts\nrename to y.ts\n--- a/x.ts\n+++ b/y.ts\n@@ -1 +1 @@\n-a\n+b\n";
  assertEquals(
    summarizeReview(planOf(patch), "A change"),
    `# A change

4 files changed, 1406 lines added, 1 line removed.

| File | Status | Lines |
|---|---|---|
| \`a.ts\` | modified | +3 −0 |
| \`big.ts\` | modified (trimmed) | +1400 −0 |
| \`x.ts\` → \`y.ts\` | renamed | +1 −1 |

Skipped:

- \`go.sum\`: lockfile
`,
  );
});

test("summarizeReview() says how many more there are than it lists", () => {
  const range = (n: number, path: (i: number) => string) =>
    Array.from({ length: n }, (_, i) => fileOf(path(i), 1)).join("");
  const rows = (text: string, start: string) => text.split("\n").filter((line) => line.startsWith(start)).length;
  const exact = summarizeReview(planOf(range(40, (i) => `f${i}`) + range(12, (i) => `dist/${i}`)), "x");
  assertEquals([rows(exact, "| `f"), rows(exact, "- `dist"), rows(exact, "and "), rows(exact, "- and ")], [
    40,
    12,
    0,
    0,
  ]);
  const more = summarizeReview(planOf(range(43, (i) => `f${i}`) + range(14, (i) => `dist/${i}`)), "x");
  assertEquals([rows(more, "| `f"), rows(more, "- `dist")], [40, 12]);
  assert(more.includes("\n\nand 3 more\n\n") && more.includes("\n- and 2 more\n"));
  const left = summarizeReview(planOf(Array.from({ length: 60 }, (_, i) => fileOf(`f${i}`, 1_000)).join("")), "x");
  assert(left.includes("\nNot reviewed:\n\n- `f8`: too large for one review\n") && left.includes("\n- and 12 more\n"));
});

test("summarizeReview() keeps its lines and cells, whatever a name or a title holds", () => {
  const paths = [
    "a|b",
    "a\\|b",
    "a\\\\|b",
    "a`b",
    "``",
    "`",
    "a\nb",
    "a\r| x |",
    "\u2028# x",
    "<b>*_",
    "\u202e",
    " a ",
    "a\\",
  ];
  for (const path of paths) {
    for (const folder of ["", "dist/"]) {
      const name = JSON.stringify(`a/${folder}${path}`).replace("\\u202e", "\u202e").replace("\\u2028", "\u2028");
      const { files } = parseUnifiedDiff(
        `diff --git ${name} ${name.replace("a/", "b/")}\n--- ${name}\n+++ ${
          name.replace("a/", "b/")
        }\n@@ -1 +1 @@\n-a\n+b\n`,
      );
      assertEquals(files.map((file) => file.path), [folder + path]);
      const lines = summarizeReview(planReview(files), `a\n# b\u2028c`).split("\n");
      assertEquals(lines[0], "# a # b c");
      assertEquals(lines.length, 8, path);
      if (folder !== "") continue;
      // A cell ends at a bar with an even number of backslashes before it (GFM, section 4.10).
      const bars = [...lines[6]!.matchAll(/(\\*)\|/g)].filter(([, slashes]) => slashes!.length % 2 === 0);
      assertEquals(bars.length, 4, lines[6]);
    }
  }
});

test("coverageLine() says in one line what is reviewed, and how not", () => {
  const line = (patch: string) => coverageLine(planOf(patch));
  assertEquals(line(""), "0 of 0 files reviewed in full");
  assertEquals(line(fileOf("a", 1)), "1 of 1 file reviewed in full");
  assertEquals(line(fileOf("a", 1) + fileOf("go.sum", 1)), "1 of 2 files reviewed in full, 1 skipped (lockfile)");
  assertEquals(
    line(fileOf("go.sum", 1) + fileOf("dist/a", 1) + fileOf("dist/b", 1) + fileOf("a", 500, 500)),
    "0 of 4 files reviewed in full, 1 trimmed (501 lines), 3 skipped (2 build output, 1 lockfile)",
  );
  assertEquals(
    line(Array.from({ length: 9 }, (_, i) => fileOf(`f${i}`, 1_000)).join("")),
    "8 of 9 files reviewed in full, 1 not reviewed (too large for one review)",
  );
});

test("lineCounts() writes a minus sign", () => {
  assertEquals(lineCounts({ additions: 12, deletions: 3 }), "+12 −3");
});

test("hunkLines() gives each line with its numbers on both sides", () => {
  const [file] = parseUnifiedDiff(
    "--- a/x\n+++ b/x\n@@ -7,4 +9,4 @@ f\n a\n-b\n\\ No newline at end of file\n+c\r\n\n--- d\n++++ e\n@@ -50 +52 @@\n-x\n+y",
  ).files;
  assertEquals(file!.hunks.flatMap((hunk) => [...hunkLines(file!.text, hunk)]), [
    { kind: "context", text: "a", oldLine: 7, newLine: 9 },
    { kind: "deletion", text: "b", oldLine: 8 },
    { kind: "addition", text: "c", newLine: 10 },
    { kind: "context", text: "", oldLine: 9, newLine: 11 },
    { kind: "deletion", text: "-- d", oldLine: 10 },
    { kind: "addition", text: "+++ e", newLine: 12 },
    { kind: "deletion", text: "x", oldLine: 50 },
    { kind: "addition", text: "y", newLine: 52 },
  ]);
});

test("hunkLines() numbers only the new side of a combined diff", () => {
  const [file] =
    parseUnifiedDiff("diff --cc f\n--- a/f\n+++ b/f\n@@@ -1,2 -1,2 +4,3 @@@\n  a\n- b\n -c\n++d\n +e\n").files;
  assertEquals([...hunkLines(file!.text, file!.hunks[0]!)], [
    { kind: "context", text: "a", newLine: 4 },
    { kind: "deletion", text: "b" },
    { kind: "deletion", text: "c" },
    { kind: "addition", text: "d", newLine: 5 },
    { kind: "addition", text: "e", newLine: 6 },
  ]);
});

test("hunkLines() gives no lines of a hunk that is not in the text", () => {
  const [file] = parseUnifiedDiff(fileOf("x", 3, 2)).files;
  assertEquals([...hunkLines("", file!.hunks[0]!)], []);
  assertEquals([...hunkLines(file!.text.slice(0, file!.hunks[1]!.start), file!.hunks[1]!)], []);
});

test("hunkLines() and the lines of the file itself agree, in every case", () => {
  for (const { text } of patchCases) {
    for (const file of parseUnifiedDiff(text).files) {
      for (const hunk of file.hunks) {
        const lines = [...hunkLines(file.text, hunk)];
        const numbers = lines.flatMap(({ newLine }) => newLine ?? []);
        assertEquals(numbers, numbers.map((_, i) => hunk.newStart + i));
        const old = lines.flatMap(({ oldLine }) => oldLine ?? []);
        assertEquals(old, old.map((_, i) => hunk.oldStart + i));
      }
    }
  }
});

test("fenceMarker() is a fence that nothing in the text can close", () => {
  const cases: [text: string, ticks: number][] = [["", 3], ["a`b``c", 3], ["```", 4], ["x\n````ts\n```\n", 5], [
    "`".repeat(99),
    100,
  ]];
  for (const [text, ticks] of cases) assertEquals(fenceMarker(text), "`".repeat(ticks));
  assertEquals(fenceMarker("``` ".repeat(200_000)).length, 4);
});
