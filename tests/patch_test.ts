import { describe, test } from "node:test";
import { assert, assertEquals, assertMatch } from "@std/assert";
import { type FileDiff, type FileStatus, parseUnifiedDiff } from "../patch.ts";
import { assertSound, encode, type ExpectedFile, parsePieces, patchCases } from "./support_patch.ts";

const HUNK = "@@ -1 +1 @@\n-a\n+b\n";

describe("parseUnifiedDiff() says what git says", () => {
  for (const { name, tier, text, files, ...rest } of patchCases) {
    test(`of the case ${name}`, () => {
      const parsed = parseUnifiedDiff(text);
      assertSound(parsed);
      if (tier === "any") return;
      assertEquals(judged(parsed.files, files), files.map(({ hunks, ...file }) => ({ ...file, hunks: hunks ?? null })));
      // Plain output of git is its records in order, and nothing else.
      if (tier === "must" && rest.made.startsWith("git diff") && rest.filter === undefined) {
        const start = text.indexOf(parsed.files[0]?.text ?? "");
        assertEquals(parsed.files.map((file) => file.text).join(""), text.slice(start));
      }
    });
  }
});

/** The records with what the truth does not judge taken out. */
function judged(files: readonly FileDiff[], truth: readonly ExpectedFile[]): unknown[] {
  return files.map((file, i) => {
    const expected = truth[i];
    const moved = expected?.status === "renamed" || expected?.status === "copied";
    return {
      path: file.path,
      oldPath: moved ? file.oldPath : expected?.oldPath,
      status: expected?.status === null ? null : file.status,
      additions: expected?.additions === null ? null : file.additions,
      deletions: expected?.deletions === null ? null : file.deletions,
      binary: expected?.binary === null ? null : file.binary,
      hunks: expected?.hunks == null ? null : file.hunks.length,
    };
  });
}

test("parseUnifiedDiff() leaves no problem unsaid in a case, and says none where git's output is whole", () => {
  for (const { name, text, tier, made, filter } of patchCases) {
    if (tier !== "must" || !made.startsWith("git") || filter !== undefined) continue;
    assertEquals(parseUnifiedDiff(text).problems, [], name);
  }
});

/** Names in a header, and the record that comes of it: `git -p`'s first line up to the names of the sides. */
const names: [title: string, header: string, path: string, status?: FileStatus, oldPath?: string][] = [
  ["two names", "diff --git a/x b/x\n--- a/x\n+++ b/x\n", "x"],
  ["folders", "diff --git a/p/q/x b/p/q/x\n--- a/p/q/x\n+++ b/p/q/x\n", "p/q/x"],
  ["no prefix", "diff --git p/x p/x\n--- p/x\n+++ p/x\n", "p/x"],
  ["no prefix below a folder a", "diff --git a/x a/x\n--- a/x\n+++ a/x\n", "a/x"],
  ["diff.mnemonicPrefix", "diff --git i/x w/x\n--- i/x\n+++ w/x\n", "x"],
  ["prefixes of one's own", "diff --git old/p/x new/p/x\n--- old/p/x\n+++ new/p/x\n", "p/x"],
  ["prefixes of Bitbucket", "diff --git src://p/x dst://p/x\n--- src://p/x\n+++ dst://p/x\n", "p/x"],
  ["a TAB behind a name with a space", "diff --git a/x y b/x y\n--- a/x y\t\n+++ b/x y\t\n", "x y"],
  ["quoted names", 'diff --git "a/\\303\\244" "b/\\303\\244"\n--- "a/\\303\\244"\n+++ "b/\\303\\244"\n', "ä"],
  [
    "every escape",
    'diff --git x x\n--- "a/\\a\\b\\t\\n\\v\\f\\r\\"\\\\"\n+++ "b/\\a\\b\\t\\n\\v\\f\\r\\"\\\\"\n',
    '\x07\b\t\n\v\f\r"\\',
  ],
  ["a character beyond the quotes' escapes", '--- "a/ä\u{1f600}\\t"\n+++ "b/ä\u{1f600}\\t"\n', "ä\u{1f600}\t"],
  ["bytes that are no UTF-8", '--- "a/\\377"\n+++ "b/\\377"\n', "\ufffd"],
  ["an addition", "diff --git a/x b/x\nnew file mode 100644\n--- /dev/null\n+++ b/x\n", "x", "added"],
  ["a deletion", "diff --git a/x b/x\ndeleted file mode 100644\n--- a/x\n+++ /dev/null\n", "x", "deleted"],
  [
    "a deletion without prefixes",
    "diff --git a/x a/x\ndeleted file mode 100644\n--- a/x\n+++ /dev/null\n",
    "a/x",
    "deleted",
  ],
  ["a rename", "diff --git a/x b/y\nrename from x\nrename to y\n--- a/x\n+++ b/y\n", "y", "renamed", "x"],
  ["a copy", "diff --git a/x b/y\ncopy from x\ncopy to y\n--- a/x\n+++ b/y\n", "y", "copied", "x"],
  ["a rename of a quoted name", 'diff --git x y\nrename from "\\303\\244"\nrename to y z\n', "y z", "renamed", "ä"],
  ["GNU diff", "diff -u x.orig x\n--- p/x\t2024-01-02 00:00:00 +0000\n+++ q/x\t2024-01-02 00:00:00 +0000\n", "x"],
  ["GNU diff of two names", "--- x.orig\t2024-01-02\n+++ x\t2024-01-02\n", "x"],
  ["hg", "diff -r 0123456789ab -r ba9876543210 p/x\n--- a/p/x\tThu Jan 01 2024\n+++ b/p/x\tThu Jan 01 2024\n", "p/x"],
  ["svn", "Index: p/x\n" + "=".repeat(67) + "\n--- p/x\t(revision 1)\n+++ p/x\t(working copy)\n", "p/x"],
  [
    "svn diff --git",
    "Index: p/x\n" + "=".repeat(67) + "\ndiff --git a/p/x b/p/x\n--- a/p/x\t(revision 1)\n+++ b/p/x\t(working copy)\n",
    "p/x",
  ],
  [
    "CVS",
    "Index: x\n" + "=".repeat(67) +
    "\nRCS file: /cvs/x,v\nretrieving revision 1.1\ndiff -u -r1.1 x\n--- x\t1 Jan 2024\n+++ x\t2 Jan 2024\n",
    "x",
  ],
  ["p4", "==== //depot/main/x#1 - /home/u/main/x ====\n--- //depot/main/x\t2024\n+++ /home/u/main/x\t2024\n", "main/x"],
  ["bzr", "=== modified file 'x'\n--- x\t2024-01-02 00:00:00 +0000\n+++ x\t2024-01-02 00:00:00 +0000\n", "x"],
];

describe("parseUnifiedDiff() finds the path of", () => {
  for (const [title, header, path, status = "modified", oldPath] of names) {
    test(title, () => {
      const hunk = status === "added" ? "@@ -0,0 +1 @@\n+b\n" : status === "deleted" ? "@@ -1 +0,0 @@\n-a\n" : HUNK;
      for (const patch of [header + hunk, header.replaceAll("\n", "\r\n") + hunk.replaceAll("\n", "\r\n")]) {
        const { files, problems } = parseUnifiedDiff(patch);
        assertEquals(problems, []);
        assertEquals(files.map((file) => [file.path, file.status, file.oldPath]), [[path, status, oldPath]]);
        assert(patch.endsWith(files[0]!.text));
        if (!patch.startsWith("===")) assertEquals(files[0]!.text, patch);
      }
    });
  }
});

/** Files without the lines that name their sides: only the header line says the path. */
const headerOnly: [title: string, patch: string, path: string][] = [
  ["a mode change", "diff --git a/x b/x\nold mode 100644\nnew mode 100755\n", "x"],
  ["a space", "diff --git a/x y b/x y\nold mode 100644\nnew mode 100755\n", "x y"],
  ["' b/' in the name", "diff --git a/x b/y b/x b/y\nold mode 100644\nnew mode 100755\n", "x b/y"],
  ["a name that is twice the same", "diff --git a/x b/x b/x b/x\nold mode 100644\nnew mode 100755\n", "x b/x"],
  ["no prefix", "diff --git x y x y\nold mode 100644\nnew mode 100755\n", "x y"],
  ["prefixes of different lengths", "diff --git old/x y newer/x y\nnew file mode 100644\n", "x y"],
  ["one quoted side", 'diff --git a/x "b/x"\nold mode 100644\nnew mode 100755\n', "x"],
  ["a quoted name", 'diff --git "a/x\\ty" "b/x\\ty"\nBinary files "a/x\\ty" and "b/x\\ty" differ\n', "x\ty"],
  ["git diff --no-index", "diff --git a/o/x b/w/x\nindex 1..2 100644\nBinary files a/o/x and b/w/x differ\n", "w/x"],
  ["binary files of GNU diff", "Binary files o/p/x y and n/p/x y differ\n", "p/x y"],
  ["' and ' in the name", "Binary files o/x and y and n/x and y differ\n", "x and y"],
  ["binary files of hg", "diff -r 0123456789ab x.bin\nBinary file x.bin has changed\n", "x.bin"],
];

describe("parseUnifiedDiff() tells the two names of a line apart for", () => {
  for (const [title, patch, path] of headerOnly) {
    test(title, () => {
      const { files, problems } = parseUnifiedDiff(patch);
      assertEquals([files.map((file) => file.path), problems], [[path], []]);
      assertEquals(files[0]!.text, patch);
    });
  }
});

test("parseUnifiedDiff() gives no file where nothing says which one it is", () => {
  const { files, problems } = parseUnifiedDiff("diff --git one two three\nold mode 100644\nnew mode 100755\n");
  assertEquals(files, []);
  assertEquals(problems, [{ line: 1, message: "the names in a file header do not agree: one two three" }]);
});

/** Hunk headers: the line, and what is read from it; `undefined` if it is none. */
const hunkHeaders: [line: string, read?: [number, number, number, number, string]][] = [
  ["@@ -1,2 +3,4 @@", [1, 2, 3, 4, ""]],
  ["@@ -1 +3,4 @@", [1, 1, 3, 4, ""]],
  ["@@ -1,2 +3 @@", [1, 2, 3, 1, ""]],
  ["@@ -1 +1 @@ f() {", [1, 1, 1, 1, "f() {"]],
  ["@@ -1 +1 @@  two spaces", [1, 1, 1, 1, " two spaces"]],
  ["@@ -1 +1 @@ a @@ b", [1, 1, 1, 1, "a @@ b"]],
  ["@@ -1 +1 @@section", [1, 1, 1, 1, "section"]],
  ["@@ -0,0 +1,2 @@", [0, 0, 1, 2, ""]],
  ["@@ -1,2 +0,0 @@", [1, 2, 0, 0, ""]],
  ["@@ -00001,02 +3,4 @@", [1, 2, 3, 4, ""]],
  ["@@ -1,2 +3,4 @@ \u2028 \f", [1, 2, 3, 4, "\u2028 \f"]],
  ["@@ -1,2 +3,4 @"],
  ["@@ -1,2 +3,4"],
  ["@@ -1,2"],
  ["@@ -,2 +3,4 @@"],
  ["@@ -1, +3,4 @@"],
  ["@@ -a +1 @@"],
  ["@@ -1 -1 @@"],
  ["@@ +1 -1 @@"],
  ["@@-1 +1 @@"],
  ["@@ -1  +1 @@"],
  ["@@ -１ +1 @@"],
  ["@@"],
];

describe("parseUnifiedDiff() reads the hunk header", () => {
  for (const [line, read] of hunkHeaders) {
    test(JSON.stringify(line), () => {
      const { files, problems } = parseUnifiedDiff(`--- a/x\n+++ b/x\n@@ -5 +5 @@\n-a\n+b\n${line}\n`);
      const hunk = files[0]!.hunks[1];
      assertEquals(hunk && [hunk.oldStart, hunk.oldLines, hunk.newStart, hunk.newLines, hunk.section], read);
      if (read === undefined && line.startsWith("@@ -")) assertEquals(problems[0]?.line, 6);
    });
  }
});

test("parseUnifiedDiff() counts a removed line that starts with '-- ' and an added one that starts with '++ '", () => {
  const [file] = parseUnifiedDiff("--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n--- a\n-b\n+++ c\n+d\n").files;
  assertEquals([file?.additions, file?.deletions, file?.hunks.length], [2, 2, 1]);
});

test("parseUnifiedDiff() takes nothing inside a hunk for a header", () => {
  const body = [
    "+diff --git a/y b/y",
    "+--- a/y",
    "++++ b/y",
    "+@@ -1 +1 @@",
    "+Index: z",
    "+Binary files a and b differ",
    " diff --git a/y b/y",
  ];
  const { files, problems } = parseUnifiedDiff(`--- a/x\n+++ b/x\n@@ -1 +1,7 @@\n${body.join("\n")}\n`);
  assertEquals([files.length, files[0]?.additions, problems], [1, 6, []]);
});

test("parseUnifiedDiff() takes the end of line characters of other worlds for content", () => {
  const odd = ["\r", "\f", "\v", "\u0085", "\u2028", "\u2029", "\0", "\x1a"];
  const body = odd.map((char) => `+a${char}b\n`).join("");
  const { files, problems } = parseUnifiedDiff(`--- a/x\n+++ b/x\n@@ -0,0 +1,${odd.length} @@\n${body}`);
  assertEquals([files[0]?.additions, files[0]?.lines, problems], [odd.length, odd.length + 3, []]);
});

test("parseUnifiedDiff() takes an empty line in a body for a context line that lost its space", () => {
  for (const newline of ["\n", "\r\n"]) {
    const patch = ["--- a/x", "+++ b/x", "@@ -1,3 +1,3 @@", " a", "", "-b", "+c", ""].join(newline);
    const { files, problems } = parseUnifiedDiff(patch);
    assertEquals([files[0]?.additions, files[0]?.deletions, files[0]?.hunks[0]?.lines, problems], [1, 1, 5, []]);
  }
});

test("parseUnifiedDiff() counts a '\\ No newline' line to its hunk, wherever it stands", () => {
  const note = "\\ No newline at end of file\n";
  const patch = `--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n${note}+b\n${note}`;
  const { files, problems } = parseUnifiedDiff(patch + patch);
  assertEquals(files.map(({ text, hunks }) => [text, hunks[0]?.lines]), [[patch, 5], [patch, 5]]);
  assertEquals(problems, []);
});

test("parseUnifiedDiff() uses the start of a hunk that a patch cuts off, and says so", () => {
  const { files, problems } = parseUnifiedDiff("--- a/x\n+++ b/x\n@@ -1,5 +1,6 @@\n a\n+b\n c");
  assertEquals([files[0]?.additions, files[0]?.hunks.length], [1, 1]);
  assertEquals(problems, [{ line: 6, message: "the hunk ends 3 lines before its header says" }]);
});

test("parseUnifiedDiff() goes on with the next file where a hunk ends too early", () => {
  const { files, problems } = parseUnifiedDiff(
    `diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,9 +1,9 @@\n a\n+b\ndiff --git a/y b/y\n--- a/y\n+++ b/y\n${HUNK}`,
  );
  assertEquals(files.map(({ path, additions }) => [path, additions]), [["x", 1], ["y", 1]]);
  assertEquals(problems, [{ line: 7, message: "the hunk ends 8 lines before its header says" }]);
});

test("parseUnifiedDiff() says that a hunk has more lines than its header counts, but not of a signature", () => {
  const { files, problems } = parseUnifiedDiff(`--- a/x\n+++ b/x\n${HUNK}+more\n-and more\n-- \n2.40.1\n`);
  assertEquals(files[0]?.additions, 1);
  assertEquals(problems, [{ line: 6, message: "lines behind a hunk that its header does not count" }]);
  assertEquals(parseUnifiedDiff(`--- a/x\n+++ b/x\n${HUNK}-- \n2.40.1\n`).problems, []);
});

test("parseUnifiedDiff() says which line it could not use", () => {
  const cases: [patch: string, line: number, message: RegExp][] = [
    ["Hello\n- a\n+ b\n", 1, /^no unified diff in it$/],
    ["@@ -1 +1 @@\n-a\n+b\n", 1, /^a hunk without a file header$/],
    [`--- a/x\n+++ b/x\n${HUNK}@@ -1 nonsense\n`, 6, /^a hunk header that cannot be read: @@ -1 nonsense$/],
    ["diff --git a/x b/x\n", 1, /^a file header without a change$/],
    ["\n--- a\n+++ b\nprose\n", 3, /^a file header without a hunk$/],
    ["Only in o: x\n", 1, /^not in the patch: Only in o: x$/],
    ["*** a/x\n--- b/x\n***************\n*** 1 ****\n! a\n--- 1 ----\n! b\n", 1, /^a context diff/],
    [`diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n`, 6, /^the hunk ends 1 line before/],
  ];
  for (const [patch, line, message] of cases) {
    const { problems } = parseUnifiedDiff(patch);
    assertEquals(problems.length, 1, patch);
    assertEquals(problems[0]!.line, line, patch);
    assertMatch(problems[0]!.message, message);
  }
});

test("parseUnifiedDiff() finds nothing to say of an empty text or of white space", () => {
  for (const text of ["", "\n", " ", "\n\r\n\n"]) {
    const { files, problems } = parseUnifiedDiff(text);
    assertEquals(files, []);
    assertEquals(problems.length, text.trim() === text && text !== "" || text === " " ? 1 : 0, JSON.stringify(text));
  }
});

test("parseUnifiedDiff() holds as many problems as a person reads, and counts the others", () => {
  const { problems } = parseUnifiedDiff("diff --git a/x b/x\n".repeat(5_000));
  assertEquals(problems.length, 1_001);
  assertEquals(problems[1_000], { line: 5_001, message: "4000 more problems" });
});

test("parseUnifiedDiff() takes two patches of one file for two records", () => {
  const patch = `diff --git a/x b/x\nindex 1..2 100644\n--- a/x\n+++ b/x\n${HUNK}`;
  assertEquals(parseUnifiedDiff(patch + patch).files.map(({ text }) => text), [patch, patch]);
});

test("parseUnifiedDiff() gives both modes of a file, and the one mode of one that keeps it", () => {
  const modes = (patch: string) => parseUnifiedDiff(patch).files.map(({ oldMode, newMode }) => [oldMode, newMode]);
  const sides = `--- a/x\n+++ b/x\n${HUNK}`;
  assertEquals(modes("diff --git a/x b/x\nold mode 100644\nnew mode 100755\n"), [["100644", "100755"]]);
  assertEquals(modes(`diff --git a/x b/x\nindex 12ab..34cd 100644\n${sides}`), [["100644", "100644"]]);
  assertEquals(modes("diff --git a/x b/x\nnew file mode 120000\nindex 0000000..34cd\n"), [[undefined, "120000"]]);
  assertEquals(modes("diff --git a/x b/x\ndeleted file mode 100755\n"), [["100755", undefined]]);
  assertEquals(modes(`--- a/x\n+++ b/x\n${HUNK}`), [[undefined, undefined]]);
});

test("parseUnifiedDiff() takes a binary patch as what it is, up to the blank line that ends it", () => {
  const binary = "diff --git a/x.bin b/x.bin\nindex 1..2 100644\nGIT binary patch\n" +
    "literal 300\nOc${No;9?v_#32BLbOcQR\n\ndelta 12\nOc${No;9?v_#32BLbOcQR\n\n";
  const { files, problems } = parseUnifiedDiff(`${binary}-- \n2.40.1\n\nHello\n\nliteral 5\n`);
  assertEquals(files.map(({ path, binary, additions, text }) => [path, binary, additions, text]), [
    ["x.bin", true, 0, binary],
  ]);
  assertEquals(problems, []);
});

test("parseUnifiedDiff() reads a combined diff against all its parents", () => {
  const patch = "diff --cc f\nindex ff3fa13,dd6ec4e..8aab3b1\n--- a/f\n+++ b/f\n" +
    "@@@ -1,4 -1,3 +1,4 @@@ f()\n  both\n- ours\n -theirs\n--two\n++merged\n+ from theirs\n +from ours\n";
  const { files, problems } = parseUnifiedDiff(patch + patch.replace("cc f", "combined f"));
  assertEquals(problems, []);
  assertEquals(files.length, 2);
  for (const { path, status, additions, deletions, hunks: [hunk] } of files) {
    assertEquals([path, status, additions, deletions], ["f", "modified", 3, 3]);
    assertEquals([hunk?.oldStart, hunk?.oldLines, hunk?.newLines, hunk?.section, hunk?.columns], [1, 4, 4, "f()", 2]);
  }
});

test("parseUnifiedDiff() goes by the new side where git counts more lines of a parent than it shows", () => {
  const hunk = "@@@ -1,2 -1,9 +1,3 @@@\n  a\n- b\n -c\n++d\n +e\n";
  const { files, problems } = parseUnifiedDiff(`diff --cc f\n--- a/f\n+++ b/f\n${hunk}${hunk}\ncommit 1\n\n    text\n`);
  assertEquals(problems, []);
  assertEquals(files[0]?.hunks.map(({ additions, deletions, lines }) => [additions, deletions, lines]), [[2, 2, 6], [
    2,
    2,
    6,
  ]]);
});

test("parseUnifiedDiff() reads a combined diff of three parents", () => {
  const { files, problems } = parseUnifiedDiff(
    "diff --cc f\n--- a/f\n+++ b/f\n@@@@ -1,1 -1,1 -1,2 +1,2 @@@@\n   a\n++ b\n\\ No newline at end of file\n",
  );
  assertEquals(problems, []);
  assertEquals([files[0]?.additions, files[0]?.hunks[0]?.columns, files[0]?.hunks[0]?.lines], [1, 3, 4]);
});

test("parseUnifiedDiff() takes colours out, also where only the bodies have them", () => {
  const plain = `diff --git a/x b/x\n--- a/x\n+++ b/x\n${HUNK}`;
  const colored = plain.replace(/^.+$/gm, "\x1b[1m$&\x1b[m");
  const bodies = plain.replace(/^[-+]\w$/gm, "\x1b[32m$&\x1b[m");
  for (const patch of [colored, bodies]) {
    const { files, problems } = parseUnifiedDiff(patch);
    assertEquals([files.map(({ text }) => text), problems], [[plain], []], JSON.stringify(patch));
  }
});

test("parseUnifiedDiff() leaves escape codes that are content alone", () => {
  const patch = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-\x1b[1ma\n+\x1b[31mb\x1b[m\n";
  assertEquals(parseUnifiedDiff(patch).files[0]?.text, patch);
});

test("PatchParser takes the UTF-16 that Windows PowerShell writes for what it says", () => {
  const patch = `diff --git a/ä b/ä\n--- a/ä\n+++ b/ä\n@@ -1 +1 @@\n-\u{1f600}\n+b\n`.replaceAll("\n", "\r\n");
  for (const littleEndian of [true, false]) {
    const bytes = new Uint8Array(2 + 2 * patch.length);
    const view = new DataView(bytes.buffer);
    view.setUint16(0, 0xfeff, littleEndian);
    for (let i = 0; i < patch.length; i++) view.setUint16(2 + 2 * i, patch.charCodeAt(i), littleEndian);
    for (const size of [1, 3, bytes.length]) {
      const pieces = Array.from(
        { length: Math.ceil(bytes.length / size) },
        (_, i) => bytes.slice(i * size, (i + 1) * size),
      );
      const { files, problems } = parsePieces(pieces);
      assertEquals([files.map(({ path, text }) => [path, text]), problems], [[["ä", patch]], []]);
    }
  }
});

test("parseUnifiedDiff() finds the patch in a mail, between its text and its signature", () => {
  const patch = `diff --git a/x b/x\nindex 1..2 100644\n--- a/x\n+++ b/x\n${HUNK}`;
  const mail =
    `From 0 Mon Sep 17 00:00:00 2001\nFrom: A <a@example.org>\nSubject: [PATCH] x\n\nWhy\n---\n x | 2 +-\n 1 file changed\n\n${patch}-- \n2.40.1\n\n`;
  const { files, problems } = parseUnifiedDiff(mail + mail);
  assertEquals([files.map(({ text }) => text), problems], [[patch, patch], []]);
});

test("parseUnifiedDiff() does not let lines that begin a file wait for it forever", () => {
  const patch = `--- a/x\n+++ b/x\n${HUNK}`;
  for (const line of ["diff x y\n", "Index: y\n", "--- y\n"]) {
    const [file] = parseUnifiedDiff(line.repeat(1_000) + patch).files;
    assertEquals([file?.path, file?.hunks.length], ["x", 1]);
    assert(file!.lines <= 7, `${line.trim()}: ${file!.lines} lines`);
  }
});

test("a record of bytes is that of the text", () => {
  for (const { name, bytes, text } of patchCases) {
    assertEquals(parsePieces([bytes]), parseUnifiedDiff(text), name);
    assertEquals(parsePieces([encode(text)]), parseUnifiedDiff(text), name);
  }
});
