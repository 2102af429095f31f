/** Where a change can come from, as the binary sees it. */
import { test } from "node:test";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { allowMinutes, commitAll, git, makeRepository, withFolder, write } from "./support.ts";
import { octavo, type Ran, type RunOptions, workflow } from "./support_octavo.ts";
import { json, type RecordedRequest, withServer } from "./support_server.ts";

await allowMinutes();

interface Planned extends Ran {
  paths: string[];
  title: string;
  source: { kind: string; base?: string; head?: string };
}

/** Plans a source and gives what is in it. */
async function plan(args: string[], options: RunOptions): Promise<Planned> {
  const ran = await octavo([...args, "--plan", "--format", "json"], options);
  assertEquals(ran.code, 0, ran.stderr);
  const report = JSON.parse(ran.stdout);
  return { ...ran, ...report, paths: report.files.map((file: { path: string }) => file.path) };
}

async function withRepository(use: (repository: string, home: string) => Promise<void>): Promise<void> {
  await withFolder(async (home) => {
    const repository = join(home, "project");
    makeRepository(repository, { "a.ts": "1\n", "sub/b.ts": "1\n" });
    await use(repository, home);
  });
}

test("the working tree: staged and unstaged changes of the whole repository, from a subfolder too; untracked ones are counted", async () => {
  await withRepository(async (repository) => {
    write(repository, { "a.ts": "2\n", "sub/b.ts": "2\n", "-- c.txt": "new\n", "sub/d\ne.txt": "new\n" });
    git(repository, "add", "a.ts");
    const tree = await plan([], { cwd: join(repository, "sub"), home: join(repository, "..") });
    assertEquals([tree.paths, tree.source.kind], [["a.ts", "sub/b.ts"], "tree"]);
    assertMatch(tree.stderr, /2 untracked files .*--untracked/);
    const all = await plan(["--untracked"], { cwd: repository });
    assertEquals(all.paths.toSorted(), ["-- c.txt", "a.ts", "sub/b.ts", "sub/d\ne.txt"]);
    assertEquals(
      git(repository, "status", "--porcelain", "-z").split("\0").filter((line) => line.startsWith("??")).length,
      2,
    );
    const staged = await plan(["staged"], { cwd: repository });
    assertEquals(staged.paths, ["a.ts"]);
    assertEquals((await plan(["-C", repository, "staged"], { cwd: join(repository, "..") })).paths, ["a.ts"]);
  });
});

test("without any commit the index is reviewed", async () => {
  await withFolder(async (home) => {
    const cwd = join(home, "project");
    mkdirSync(cwd);
    git(cwd, "init", "-q");
    write(cwd, { "a.ts": "1\n" });
    git(cwd, "add", "a.ts");
    assertEquals((await plan([], { cwd })).paths, ["a.ts"]);
  });
});

test("a branch is reviewed against the base that is found, or the one that is named; the range is printed", async () => {
  await withRepository(async (cwd) => {
    git(cwd, "checkout", "-q", "-b", "topic");
    write(cwd, { "topic.ts": "1\n" });
    commitAll(cwd, "topic");
    git(cwd, "checkout", "-q", "main");
    write(cwd, { "main.ts": "1\n" });
    commitAll(cwd, "main goes on");
    git(cwd, "checkout", "-q", "topic");
    const found = await plan(["branch"], { cwd });
    assertEquals([found.paths, found.source.kind], [["topic.ts"], "branch"]);
    assertEquals(found.source.head, git(cwd, "rev-parse", "HEAD").trim());
    assertStringIncludes(found.stderr, "main...");
    assertEquals((await plan(["branch", "main"], { cwd })).paths, ["topic.ts"]);
    git(cwd, "branch", "-m", "main", "trunk");
    const none = await octavo(["branch"], { cwd });
    assertEquals(none.code, 2);
    assertStringIncludes(none.stderr, "octavo branch BASE");
  });
});

test("a commit against its first parent, a range with two dots and with three", async () => {
  await withRepository(async (cwd) => {
    write(cwd, { "a.ts": "2\n" });
    commitAll(cwd, "Second\n\nbody");
    write(cwd, { "c.ts": "1\n" });
    commitAll(cwd, "Third");
    const commit = await plan(["commit"], { cwd });
    assertEquals(commit.paths, ["c.ts"]);
    assertStringIncludes(commit.title, "Third");
    assertEquals((await plan(["commit", "HEAD~1"], { cwd })).paths, ["a.ts"]);
    assertEquals((await plan(["commit", "HEAD~2"], { cwd })).paths, ["a.ts", "sub/b.ts"]);
    assertEquals((await plan(["commit", "HEAD~2..HEAD"], { cwd })).paths, ["a.ts", "c.ts"]);
    assertEquals((await plan(["commit", "HEAD~2...HEAD"], { cwd })).paths, ["a.ts", "c.ts"]);
  });
});

test("revisions that are not there, or look like options, are refused with exit code 2", async () => {
  await withRepository(async (cwd) => {
    for (
      const args of [["commit", "nope"], ["commit", "--", "--output=pwned"], ["branch", "nope"], ["commit", "a..b"]]
    ) {
      const { code, stderr } = await octavo(args, { cwd });
      assertEquals(code, 2, `${args}: ${stderr}`);
      assertMatch(stderr, /^octavo: /);
    }
  });
});

test("outside any repository there is one clear sentence, and exit code 2", async () => {
  await withFolder(async (home) => {
    const cwd = join(home, "empty");
    mkdirSync(cwd);
    const { code, stdout, stderr } = await octavo([], { cwd, env: { GIT_CEILING_DIRECTORIES: home } });
    assertEquals([code, stdout], [2, ""]);
    assertStringIncludes(stderr, `"${cwd}" is in no git repository`);
  });
});

test("a patch comes from a file or from standard input, in a repository or in none", async () => {
  await withRepository(async (cwd, home) => {
    write(cwd, { "a.ts": "2\n" });
    const patch = git(cwd, "diff");
    write(home, { "fix.patch": patch });
    assertEquals((await plan(["diff", "fix.patch"], { cwd: home, home })).paths, ["a.ts"]);
    assertEquals((await plan(["diff", "-"], { cwd: home, home, input: patch })).paths, ["a.ts"]);
    assertEquals((await plan(["diff"], { cwd, input: patch })).paths, ["a.ts"]);
    for (
      const [input, word] of [["hello\nworld\n", "no patch"], [
        "*** a\n--- b\n***************\n*** 1 ****\n",
        "context diff",
      ]] as const
    ) {
      const { code, stderr } = await octavo(["diff", "-"], { cwd, input });
      assertEquals(code, 2);
      assertStringIncludes(stderr, word);
    }
    assertEquals((await octavo(["diff", "-", "--plan"], { cwd, input: "" })).code, 0);
    assertEquals((await octavo(["diff", "nope.patch"], { cwd })).code, 2);
  });
});

test("a damaged patch is reviewed as far as it can be read, and the damage is said with its line", async () => {
  await withRepository(async (cwd) => {
    const input = "--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@\n 1\n-2\n+two\n";
    const { paths, stderr } = await plan(["diff", "-"], { cwd, input });
    assertEquals(paths, ["x"]);
    assertMatch(stderr, /Line \d+ of the patch: the hunk ends 1 line before its header says/);
  });
});

const DIFF = "diff --git a/p.ts b/p.ts\nindex 1111111..2222222 100644\n--- a/p.ts\n+++ b/p.ts\n@@ -1 +1 @@\n-1\n+2\n";

/** GitHub's API as far as octavo asks it. */
function github(request: RecordedRequest) {
  const path = request.path.split("?")[0];
  if (path === "/repos/o/r/pulls") {
    return json([{ number: 7, title: "Fix it", user: { login: "ann" }, draft: false }, {
      number: 5,
      title: "Other",
      user: { login: "bob" },
      draft: true,
    }]);
  }
  if (path === "/repos/o/r/pulls/7" && request.headers.accept?.includes("diff")) {
    return { headers: { "content-type": "text/plain" }, body: DIFF };
  }
  return json({ message: "Not Found" }, 404);
}

test("a pull request by its name: one GET with the diff media type, and the token as a bearer", async () => {
  await withFolder(async (cwd) => {
    await withServer(github, async (server) => {
      const env = workflow(server.url);
      const { paths, title, source } = await plan(["pr", "o/r#7"], { cwd, home: cwd, env });
      assertEquals([paths, title, source.kind], [["p.ts"], "o/r#7", "pr"]);
      assertEquals(server.requests.map(({ method, path }) => `${method} ${path}`), ["GET /repos/o/r/pulls/7"]);
      const { headers } = server.requests[0]!;
      assertStringIncludes(headers.accept!, "diff");
      assertEquals(headers.authorization, "Bearer secret-token");
      assert(headers["user-agent"]);
    });
  });
});

test("in a workflow the pull request is that of the event, and elsewhere the open ones are listed", async () => {
  await withRepository(async (cwd) => {
    await withServer(github, async (server) => {
      const env = { ...workflow(server.url), GITHUB_REF: "refs/pull/7/merge" };
      assertEquals((await plan(["pr"], { cwd, env })).paths, ["p.ts"]);
      git(cwd, "remote", "add", "origin", `${server.url}/o/r.git`);
      const { code, stderr } = await octavo(["pr"], { cwd, env: workflow(server.url) });
      assertEquals(code, 2);
      assertMatch(stderr, /7 +Fix it/);
      const list = await octavo(["prs"], { cwd, env: workflow(server.url) });
      assertEquals([list.code, list.stdout], [0, "7  ann  Fix it\n5  bob  (draft) Other\n"]);
      const named = await octavo(["prs", "o/r"], { cwd, env: workflow(server.url) });
      assertEquals(named.stdout, list.stdout);
    });
  });
});

test("a pull request that is not there, or not to be seen, is exit code 3 and never prints the token", async () => {
  await withFolder(async (cwd) => {
    await withServer(github, async (server) => {
      const { code, stdout, stderr } = await octavo(["pr", "o/r#8", "--debug"], {
        cwd,
        home: cwd,
        env: workflow(server.url),
      });
      assertEquals([code, stdout], [3, ""]);
      assertStringIncludes(stderr, 'no pull request 8 of "o/r"');
      assert(!stderr.includes("secret-token"), stderr);
    });
  });
});
