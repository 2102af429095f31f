import { join } from "node:path";
import { test } from "node:test";
import { assertEquals } from "@std/assert";
import { sayAlternatives } from "../alternatives.ts";
import { openSource, type SourceRequest } from "../sources.ts";
import { cleanEnv, commitAll, git, makeRepository, withFolder, write } from "./support.ts";
import { open } from "./support_git.ts";

async function withRepository(use: (dir: string) => Promise<void>): Promise<void> {
  await withFolder(async (home) => {
    const dir = join(home, "project");
    makeRepository(dir, { "a.ts": "1\n" });
    await use(dir);
  });
}

/** The notices of a source, read to its end. */
async function noticesOf(dir: string, request: SourceRequest): Promise<string[]> {
  const stdin = () => {
    throw new Error("not in this test");
  };
  const source = await openSource(request, { dir, env: cleanEnv(join(dir, "..")), stdin });
  for await (const _ of source.chunks);
  return source.notices;
}

test("where nothing has changed, the commits of the branch and the last commit are named", async () => {
  await withRepository(async (dir) => {
    git(dir, "checkout", "-q", "-b", "topic");
    write(dir, { "a.ts": "2\n" });
    commitAll(dir, "second");
    assertEquals(await noticesOf(dir, { kind: "tree" }), [
      "Nothing has changed since the last commit. There is instead: 1 commit since main (octavo branch), the last commit (octavo commit)",
    ]);
  });
});

test("where nothing is staged, the working tree and untracked files are named", async () => {
  await withRepository(async (dir) => {
    write(dir, { "a.ts": "2\n", "b.ts": "1\n", "c.ts": "1\n" });
    assertEquals(await noticesOf(dir, { kind: "staged" }), [
      "Nothing is staged. There is instead: what has changed in the working tree (octavo), 2 untracked files (octavo --untracked), the last commit (octavo commit)",
    ]);
  });
});

test("where the branch adds nothing, what has changed in the working tree is named", async () => {
  await withRepository(async (dir) => {
    git(dir, "checkout", "-q", "-b", "topic");
    write(dir, { "a.ts": "2\n" });
    assertEquals(await noticesOf(dir, { kind: "branch" }), [
      "The branch adds nothing. There is instead: what has changed in the working tree (octavo), the last commit (octavo commit)",
    ]);
  });
});

test("a change that is there, and a commit without one, get no such notice", async () => {
  await withRepository(async (dir) => {
    git(dir, "commit", "-q", "--allow-empty", "-m", "empty");
    assertEquals(await noticesOf(dir, { kind: "commit" }), []);
    write(dir, { "a.ts": "2\n" });
    assertEquals(await noticesOf(dir, { kind: "tree" }), []);
  });
});

test("before the first commit there is nothing else to name", async () => {
  await withFolder(async (dir) => {
    git(dir, "init", "-q");
    assertEquals(await sayAlternatives(await open(dir), "tree"), "Nothing has changed since the last commit");
  });
});
