import { assertEquals, assertStringIncludes } from "@std/assert";
import { renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { type FileRow, patchOfRow, readFileRows, unlistedNotices, unreviewedNotices } from "../github_patch.ts";
import { parseUnifiedDiff } from "../patch.ts";
import { commitAll, git, makeRepository, withFolder, write } from "./support.ts";

function row(more: Partial<FileRow>): FileRow {
  return {
    filename: "a.ts",
    status: "modified",
    previousFilename: undefined,
    additions: 1,
    deletions: 1,
    patch: "@@ -1 +1 @@\n-old\n+new",
    ...more,
  };
}

test("patchOfRow() writes patches that git applies, whatever the names and the changes", async () => {
  await withFolder((dir) => {
    const [one, two] = [join(dir, "one"), join(dir, "two")];
    const text = Array.from({ length: 40 }, (_, line) => `line ${line}\n`).join("");
    makeRepository(one, {
      "plain.txt": text,
      "gone.txt": "bye\nbye\n",
      "old name.txt": text,
      "moved only.txt": `${text}x\n`,
      "no-newline": "a\nb",
      "dir/ümläut 漢字.txt": "a\n",
      'q"uo\\te\t.txt': "a\n",
      "--- a/x": "a\n",
    });
    write(one, {
      "plain.txt": text.replace("line 3\n", "line three\n").replace("line 30\n", ""),
      "no-newline": "a\nc",
      "dir/ümläut 漢字.txt": "b\n",
      'q"uo\\te\t.txt': "b\n",
      "--- a/x": "b\n",
      "new/file with space.txt": "n\n",
    });
    rmSync(join(one, "gone.txt"));
    renameSync(join(one, "old name.txt"), join(one, "new name.txt"));
    writeFileSync(join(one, "new name.txt"), text.replace("line 7\n", "line seven\n"));
    renameSync(join(one, "moved only.txt"), join(one, "moved.txt"));
    commitAll(one, "second");

    const rows = rowsOf(one);
    assertEquals(rows.length, 9);
    const patches = rows.map(patchOfRow);
    assertEquals(patches.filter(({ unreviewed }) => unreviewed), []);
    git(dir, "clone", "-q", one, two);
    git(two, "checkout", "-q", "HEAD~");
    const patch = patches.map(({ text }) => text).join("");
    writeFileSync(join(dir, "patch"), patch);
    git(two, "apply", "--index", join(dir, "patch"));
    assertEquals(git(two, "write-tree"), git(one, "rev-parse", "HEAD^{tree}"));

    const parsed = parseUnifiedDiff(patch);
    assertEquals(parsed.problems, []);
    const expected = parseUnifiedDiff(git(one, "diff", "-M", "HEAD~", "HEAD"));
    const told = ({ files }: typeof parsed) =>
      files.map(({ path, oldPath, status, additions, deletions }) => ({ path, oldPath, status, additions, deletions }));
    assertEquals(told(parsed), told(expected));
  });
});

/** The rows that GitHub would list of a repository's last commit, made from git's own patch. */
function rowsOf(repository: string): FileRow[] {
  const statuses = new Map([["A", "added"], ["D", "removed"], ["M", "modified"], ["R", "renamed"]]);
  const words = git(repository, "diff", "-M", "--name-status", "-z", "HEAD~", "HEAD").split("\0");
  const rows: FileRow[] = [];
  while (words.length > 1) {
    const status = statuses.get(words.shift()![0]!)!;
    const first = words.shift()!;
    const filename = status === "renamed" ? words.shift()! : first;
    const diff = git(repository, "diff", "-M", "HEAD~", "HEAD", "--", first, filename);
    const at = diff.indexOf("\n@@ ");
    const patch = at < 0 ? undefined : diff.slice(at + 1).replace(/\n$/, ""); // GitHub leaves the last line feed out
    const body = (patch ?? "").split("\n").slice(1);
    rows.push({
      filename,
      status,
      previousFilename: status === "renamed" ? first : undefined,
      additions: body.filter((line) => line.startsWith("+")).length,
      deletions: body.filter((line) => line.startsWith("-")).length,
      patch,
    });
  }
  return rows;
}

test("patchOfRow() tells of files without a diff, of the renames among them only if they changed", () => {
  const cases: [Partial<FileRow>, number | undefined][] = [
    [{ patch: undefined }, 2],
    [{ patch: undefined, additions: 2000, deletions: 81 }, 2081],
    [{ patch: undefined, status: "added", additions: 0, deletions: 0, filename: "logo.png" }, 0],
    [{ patch: undefined, status: "renamed", previousFilename: "b.ts" }, 2],
    [{ patch: undefined, status: "renamed", previousFilename: "b.ts", additions: 0, deletions: 0 }, undefined],
    [{ patch: undefined, status: "unchanged", additions: 0, deletions: 0 }, undefined],
    [{ patch: "Binary files differ", additions: 0, deletions: 0 }, 0],
    [{}, undefined],
  ];
  for (const [more, lines] of cases) assertEquals(patchOfRow(row(more)).unreviewed?.lines, lines, JSON.stringify(more));
});

test("patchOfRow() leaves out a hunk that was cut, and tells how many lines are missing", () => {
  const whole = "@@ -1,2 +1,2 @@ one\n a\n-b\n+c";
  const cuts = [
    "@@ -10,3 +10,4 @@\n x\n-y",
    "@@ -10,3 +10,4 @@",
    "@@ -10,3 +10",
    "@@ -10,1 +10,1 @@\n-x\n+y\n+z",
    "diff --git a/x b/x",
  ];
  for (const cut of cuts) {
    const { text, unreviewed } = patchOfRow(row({ patch: `${whole}\n${cut}`, additions: 3, deletions: 2 }));
    const { files: [file, ...others], problems } = parseUnifiedDiff(
      text + patchOfRow(row({ filename: "next.ts" })).text,
    );
    assertEquals(problems, [], cut);
    assertEquals(file?.text.includes("\n@@ -1,2 +1,2 @@ one\n"), true, cut);
    assertEquals(others.map(({ path }) => path), ["next.ts"], cut);
    assertEquals(unreviewed?.path, "a.ts", cut);
  }
});

test("patchOfRow() keeps lines that look like headers inside their hunk", () => {
  const patch = "@@ -1,3 +1,3 @@\n \n--- a/x\n+++ b/x\n-@@ -1 +1 @@\n+diff --git a/y b/y\n\\ No newline at end of file";
  const { text, unreviewed } = patchOfRow(row({ patch, additions: 2, deletions: 2 }));
  assertEquals(unreviewed, undefined);
  assertStringIncludes(text, patch);
  assertEquals(parseUnifiedDiff(text).files.length, 1);
});

test("readFileRows() takes rows of files, and nothing else", () => {
  const good = { filename: "a", status: "added", additions: 1, deletions: 0, changes: 1, patch: "@@ -0,0 +1 @@\n+a" };
  assertEquals(readFileRows([good])?.[0]?.patch, good.patch);
  assertEquals(readFileRows([]), []);
  assertEquals(
    readFileRows([{ filename: "a", status: "renamed", previous_filename: "b" }])?.[0]?.previousFilename,
    "b",
  );
  for (const value of [{}, null, "x", [1], [{ filename: "a" }], [{ filename: "", status: "added" }], [good, null]]) {
    assertEquals(readFileRows(value), undefined, JSON.stringify(value));
  }
});

test("the notices name what is missing, up to twelve files, and count the rest", () => {
  assertEquals(unreviewedNotices([]), []);
  assertEquals(unreviewedNotices([{ path: "a.ts", lines: 2081 }]), [
    "1 file is not reviewed, or not in full: GitHub leaves out large and binary diffs: a.ts (2,081 lines)",
  ]);
  const many = Array.from({ length: 15 }, (_, at) => ({ path: `f${at}`, lines: 0 }));
  assertStringIncludes(unreviewedNotices(many)[0]!, "15 files are not reviewed");
  assertStringIncludes(unreviewedNotices(many)[0]!, "f11, and 3 more");
  assertEquals(unlistedNotices(20, 20), []);
  assertEquals(unlistedNotices(20, undefined), []);
  assertEquals(unlistedNotices(3000, 4210), ["1,210 of 4,210 files are not reviewed: GitHub lists 3,000 at most"]);
  assertStringIncludes(unlistedNotices(3000, undefined)[0]!, "whatever changes beyond them is not reviewed");
});

test("a name that holds a line break cannot add lines to the patch", () => {
  const filename = "a\n+++ b/evil\r\u007f\u0001";
  const { text } = patchOfRow(row({ filename }));
  assertEquals(text.split("\n").slice(0, 3), [
    'diff --git "a/a\\n+++ b/evil\\r\\177\\001" "b/a\\n+++ b/evil\\r\\177\\001"',
    '--- "a/a\\n+++ b/evil\\r\\177\\001"',
    '+++ "b/a\\n+++ b/evil\\r\\177\\001"',
  ]);
  assertEquals(parseUnifiedDiff(text).files.map(({ path }) => path), [filename]);
});
