import { after, before, describe, test } from "node:test";
import { execFileSync } from "node:child_process";
import { chmodSync, mkdtempSync, realpathSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { assertEquals } from "@std/assert";
import { type FileDiff, type FileStatus, parseUnifiedDiff } from "../patch.ts";
import { cleanEnv, commitAll, git, makeRepository, write } from "./support.ts";
import { assertSound, decode, parsePieces, piecesOf } from "./support_patch.ts";

/** What git says of a file, without its text. */
interface Told {
  path: string;
  oldPath?: string;
  status: FileStatus;
  additions: number;
  deletions: number;
  binary: boolean;
}

const lines = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => `line ${from + i}\n`).join("");
const BINARY = Uint8Array.from({ length: 300 }, (_, i) => (i * 7) % 256);
const ODD = [
  "sp ace",
  'q"uote',
  "back\\slash",
  "t\tab",
  "new\nline",
  "ä\u{1f600}",
  "b/ x b",
  " lead",
  "x -> y",
  "-- a",
  "c\rr",
];

let dir = "";

before(() => {
  dir = realpathSync(mkdtempSync(join(tmpdir(), "octavo-test-")));
  const repository = join(dir, "repository");
  makeRepository(repository, {
    ...Object.fromEntries(ODD.map((name) => [`odd/${name}`, lines(0, 30)])),
    "moved from": lines(100, 160),
    "moved ä": lines(200, 260),
    "copied": lines(300, 360),
    "mode.sh": "x\n",
    "mode and text.sh": lines(0, 9),
    "type": "target",
    "gone": lines(0, 5),
    "gone empty": "",
    "picture.png": BINARY,
    "no newline": "a\nb",
    "crlf": "a\r\nb\r\nc\r\n",
    "header.diff": `--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n${lines(0, 20)}`,
  });
  for (const name of ODD) {
    write(repository, { [`odd/${name}`]: lines(0, 12) + "-- changed\n++ changed\n" + lines(13, 33) });
  }
  renameSync(join(repository, "moved from"), join(repository, "moved to"));
  renameSync(join(repository, "moved ä"), join(repository, "odd/moved \u{1f600}"));
  rmSync(join(repository, "type"));
  symlinkSync("copied", join(repository, "type"));
  for (const name of ["gone", "gone empty"]) rmSync(join(repository, name));
  chmodSync(join(repository, "mode.sh"), 0o755);
  chmodSync(join(repository, "mode and text.sh"), 0o755);
  write(repository, {
    "odd/moved \u{1f600}": lines(200, 258) + "edited\n",
    "copied": lines(300, 360) + "more\n",
    "copied to": lines(300, 360),
    "mode and text.sh": lines(0, 7),
    "picture.png": BINARY.slice(1),
    "new.bin": BINARY,
    "new": "a\n",
    "new empty": "",
    "no newline": "a\nb\nc",
    "crlf": "a\nb\r\nd\r\n",
    "header.diff": `--- a/x\n+++ b/x\n@@ -1 +1,2 @@\n-a\n+b\n+c\n${lines(0, 19)}`,
  });
  commitAll(repository, "second\n\ndiff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b");
  // Two branches that change the same lines, and the merge that settles it.
  git(repository, "checkout", "-q", "-b", "side");
  write(repository, { "copied to": lines(300, 330) + "side\n" + lines(331, 360), "new": "side\n" });
  commitAll(repository, "side");
  git(repository, "checkout", "-q", "main");
  write(repository, { "copied to": lines(300, 330) + "main\n" + lines(331, 360), "crlf": "main\n" });
  commitAll(repository, "main");
  try {
    git(repository, "merge", "-q", "side");
  } catch { // the conflict that is meant
    write(repository, { "copied to": lines(300, 330) + "both\n" + lines(331, 360) });
    commitAll(repository, "merge");
  }
});

after(() => rmSync(dir, { recursive: true, force: true, maxRetries: 3 }));

/** Bytes that git writes. */
function bytesOf(...args: string[]): Uint8Array {
  const cwd = join(dir, "repository");
  return new Uint8Array(execFileSync("git", args, { cwd, env: cleanEnv(dir), stdio: ["ignore", "pipe", "pipe"] }));
}

/**
 * What `git diff --raw -z --numstat -z` says, in the order of the patch: a type change is two files there, and of a file
 * that was only moved the text does not say that it is binary.
 */
function told(...args: string[]): Told[] {
  const words = decode(bytesOf(...args, "--raw", "-z", "--numstat", "-z")).split("\0");
  const raw: { status: string; oldPath: string; path: string; same: boolean }[] = [];
  let at = 0;
  while (words[at]?.startsWith(":")) {
    const [, , before, now, status] = words[at]!.split(" ") as [string, string, string, string, string];
    const two = /^[RC]/.test(status);
    raw.push({ status: status[0]!, oldPath: words[at + 1]!, path: words[at + (two ? 2 : 1)]!, same: before === now });
    at += two ? 3 : 2;
  }
  const counts = new Map<string, [string, string]>();
  while (at < words.length - 1) {
    const [, additions, deletions, path] = /^(\d+|-)\t(\d+|-)\t([^]*)$/.exec(words[at]!)!;
    counts.set(path === "" ? words[at + 2]! : path!, [additions!, deletions!]);
    at += path === "" ? 3 : 1;
  }
  return raw.flatMap(({ status, oldPath, path, same }) => {
    const [additions, deletions] = counts.get(path)!;
    const file = {
      path,
      additions: Number(additions) || 0,
      deletions: Number(deletions) || 0,
      binary: additions === "-" && !same,
    };
    if (status === "T") {
      return [{ ...file, status: "deleted", additions: 0 }, { ...file, status: "added", deletions: 0 }];
    }
    const names: Record<string, FileStatus> = { A: "added", D: "deleted", M: "modified", R: "renamed", C: "copied" };
    return [{ ...file, status: names[status]!, ...(/[RC]/.test(status) && { oldPath }) }];
  });
}

function said(files: readonly FileDiff[]): Told[] {
  return files.map(({ path, oldPath, status, additions, deletions, binary }) => ({
    path,
    ...(oldPath !== undefined && { oldPath }),
    status,
    additions,
    deletions,
    binary,
  }));
}

/** Ways of making a patch that change how it looks and not what it says. */
const looks: Record<string, { config?: string[]; args?: string[] }> = {
  "as it is": {},
  "--no-prefix": { args: ["--no-prefix"] },
  "diff.mnemonicPrefix": { config: ["-c", "diff.mnemonicPrefix=true"] },
  "prefixes of one's own": { args: ["--src-prefix=before/", "--dst-prefix=now/"] },
  "core.quotePath=false": { config: ["-c", "core.quotePath=false"] },
  "--binary": { args: ["--binary"] },
  "--full-index": { args: ["--full-index"] },
  "--color=always": { args: ["--color=always"] },
  "--color=always, only in bodies": {
    config: ["meta", "frag", "func", "context"].flatMap((part) => ["-c", `color.diff.${part}=normal`]),
    args: ["--color=always"],
  },
  "--function-context": { args: ["--function-context"] },
  "-U0": { args: ["-U0"] },
  "-U9999": { args: ["-U9999"] },
  "--stat, --summary and --raw before it": { args: ["--stat", "--summary", "--raw"] },
};

describe("parseUnifiedDiff() reads git diff as git itself", () => {
  for (const [look, { config = [], args = [] }] of Object.entries(looks)) {
    for (const moves of [["-M", "-C", "--find-copies-harder"], ["--no-renames"], ["-M", "-B"]]) {
      test(`${look}, ${moves.join(" ")}`, () => {
        const range = [...moves, "main~3", "main"];
        const bytes = bytesOf(...config, "diff", "-p", ...args, ...range);
        const parsed = parsePieces(piecesOf(bytes, 1_000));
        assertSound(parsed);
        assertEquals(parsed.problems, []);
        const truth = told("diff", ...range);
        assertEquals(said(parsed.files), args.includes("-U0") ? withCounts(truth, parsed.files) : truth);
        if (look.includes("--color") || look.includes("--stat")) return;
        assertEquals(parsed.files.map(({ text }) => text).join(""), decode(bytes));
      });
    }
  }
});

/** Without context git may find another diff, as good as the one that it counts: the counts are the text's own. */
function withCounts(truth: readonly Told[], files: readonly FileDiff[]): Told[] {
  return truth.map((file, i) => ({ ...file, additions: files[i]!.additions, deletions: files[i]!.deletions }));
}

test("parseUnifiedDiff() finds in git log -p and in mails the files of every commit, newest first or last", () => {
  const commits = decode(bytesOf("rev-list", "--no-merges", "--topo-order", "main")).trim().split("\n");
  const ofCommit = (commit: string) => told("diff-tree", "-M", "-r", "--root", "--no-commit-id", commit);
  const log = parseUnifiedDiff(decode(bytesOf("log", "-p", "-M", "--no-merges", "--topo-order", "--stat", "main")));
  assertEquals(said(log.files), commits.flatMap(ofCommit));
  const mails = parseUnifiedDiff(decode(bytesOf("format-patch", "--stdout", "-M", "--topo-order", "--root", "main")));
  assertEquals(mails.problems, []);
  // The text of a mail is not indented: the patch that stands in the message of "second" is read too.
  const files = said(mails.files);
  const quoted = files.findIndex(({ path }) => path === "x");
  assertEquals(files.splice(quoted, 1).map(({ path, additions }) => [path, additions]), [["x", 1]]);
  assertEquals(files, commits.reverse().flatMap(ofCommit));
});

test("parseUnifiedDiff() reads git show of a merge, as a combined diff and against each parent", () => {
  for (const form of ["--cc", "-c"]) {
    const { files, problems } = parseUnifiedDiff(decode(bytesOf("show", form, "main")));
    assertEquals(problems, []);
    assertEquals(said(files), [
      { path: "copied to", status: "modified", additions: 1, deletions: 2, binary: false },
    ]);
    assertEquals(files[0]?.hunks[0]?.columns, 2);
  }
  const first = parseUnifiedDiff(decode(bytesOf("show", "-m", "--first-parent", "main")));
  assertEquals(said(first.files), told("diff", "main^1", "main"));
});

test("what parseUnifiedDiff() gives can be put together again, and git applies it", () => {
  const patch = decode(bytesOf("diff", "--binary", "main~3", "main"));
  const again = parseUnifiedDiff(patch).files.map(({ text }) => text).join("");
  git(join(dir, "repository"), "checkout", "-q", "--detach", "main~3");
  write(dir, { "again.patch": again });
  git(join(dir, "repository"), "apply", "--index", join(dir, "again.patch"));
  assertEquals(bytesOf("diff", "--cached", "main").length, 0);
});
