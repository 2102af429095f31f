/** A pull request that GitHub finds too large: the same diff comes from git, and the user's clone is not touched. */
import { test } from "node:test";
import { execFileSync, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { join } from "node:path";
import { assert, assertEquals, assertMatch } from "@std/assert";
import { allowMinutes, commitAll, git, makeRepository, withFolder, write } from "./support.ts";
import { octavo, workflow } from "./support_octavo.ts";

await allowMinutes();

/** git's own HTTP server, as a CGI program (git-http-backend). */
function backend(request: IncomingMessage, response: ServerResponse, root: string): void {
  const url = new URL(request.url!, "http://x");
  const child = spawn("git", ["http-backend"], {
    env: {
      PATH: process.env.PATH,
      GIT_PROJECT_ROOT: root,
      GIT_HTTP_EXPORT_ALL: "1",
      PATH_INFO: url.pathname,
      QUERY_STRING: url.search.slice(1),
      REQUEST_METHOD: request.method,
      CONTENT_TYPE: request.headers["content-type"] ?? "",
      HTTP_CONTENT_ENCODING: request.headers["content-encoding"] ?? "",
      GIT_PROTOCOL: String(request.headers["git-protocol"] ?? ""),
      REMOTE_ADDR: "127.0.0.1",
    },
  });
  request.pipe(child.stdin);
  const pieces: Buffer[] = [];
  child.stdout.on("data", (piece: Buffer) => pieces.push(piece));
  child.on("close", () => {
    const output = Buffer.concat(pieces);
    const end = output.indexOf("\r\n\r\n");
    const headers = output.subarray(0, end).toString().split("\r\n").map((line) =>
      line.split(": ") as [string, string]
    );
    const status = headers.find(([name]) => name === "Status")?.[1];
    response.writeHead(
      Number(status?.slice(0, 3) ?? 200),
      Object.fromEntries(headers.filter(([name]) => name !== "Status")),
    );
    response.end(output.subarray(end + 4));
  });
}

/** GitHub with one pull request, whose diff it finds too large. `withGit`: its repository can be fetched. */
async function withGitHub(
  root: string,
  withGit: boolean,
  use: (url: string, asked: string[]) => Promise<void>,
): Promise<void> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    const path = request.url!.split("?")[0]!;
    const json = (value: unknown, status = 200) =>
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value));
    if (path.startsWith("/o/r.git")) {
      asked.push(`git ${request.headers.authorization ? "with" : "without"} authorization`);
      if (withGit) backend(request, response, root);
      else json({}, 404);
    } else if (path === "/repos/o/r/pulls/7" && request.headers.accept!.includes("diff")) {
      json({
        message: "Sorry, the diff exceeded the maximum number of lines (20000)",
        errors: [{ resource: "PullRequest", field: "diff", code: "too_large" }],
      }, 406);
    } else if (path === "/repos/o/r/pulls/7") {
      json({
        number: 7,
        title: "Large",
        state: "open",
        changed_files: 3,
        base: { ref: "main", sha: git(join(root, "o/r.git"), "rev-parse", "main").trim() },
        head: { ref: "topic", sha: git(join(root, "o/r.git"), "rev-parse", "topic").trim() },
      });
    } else if (path === "/repos/o/r/pulls/7/files") {
      json([
        { filename: "a.txt", status: "added", additions: 1, deletions: 0, changes: 1, patch: "@@ -0,0 +1 @@\n+1" },
        { filename: "big.txt", status: "added", additions: 9, deletions: 0, changes: 9 },
      ]);
    } else json({}, 404);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  try {
    await use(`http://127.0.0.1:${typeof address === "object" && address ? address.port : 0}`, asked);
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
}

/** A bare repository `o/r.git` with a main branch and a pull request of three files, and a clone of it. */
function makeRepositories(home: string): { root: string; clone: string } {
  const work = join(home, "work");
  makeRepository(work, { "base.txt": "1\n" });
  git(work, "checkout", "-q", "-b", "topic");
  write(work, { "a.txt": "1\n", "big.txt": "x\n".repeat(25_000), "é.txt": "1\n" });
  commitAll(work, "large");
  const root = join(home, "server");
  const bare = join(root, "o/r.git");
  execFileSync("git", ["clone", "-q", "--bare", work, bare]);
  git(bare, "update-ref", "refs/pull/7/head", "topic");
  git(bare, "config", "uploadpack.allowFilter", "true");
  git(bare, "config", "http.receivepack", "false");
  const clone = join(home, "project");
  execFileSync("git", ["clone", "-q", "--branch", "main", "--single-branch", work, clone]);
  return { root, clone };
}

/** A hash of every file below a folder, with its name, size and time. */
function fingerprint(dir: string): string {
  const hash = createHash("sha256");
  for (const name of readdirSync(dir, { recursive: true, encoding: "utf8" }).sort()) {
    const { mtimeMs, size } = statSync(join(dir, name));
    hash.update(`${name} ${mtimeMs} ${size}\n`);
    if (statSync(join(dir, name)).isFile()) hash.update(readFileSync(join(dir, name)));
  }
  return hash.digest("hex");
}

test("a pull request with a 406 answer is reviewed in full from git, and the clone stays as it was to the byte", async () => {
  await withFolder(async (home) => {
    const { root, clone } = makeRepositories(home);
    await withGitHub(root, true, async (url, asked) => {
      const before = fingerprint(clone);
      const { code, stdout, stderr } = await octavo(["pr", "o/r#7", "--plan", "--format", "json"], {
        cwd: clone,
        home,
        env: workflow(url),
      });
      assertEquals(code, 0, stderr);
      const files = JSON.parse(stdout).files.map((
        file: { path: string; additions: number },
      ) => [file.path, file.additions]);
      assertEquals(files, [["a.txt", 1], ["big.txt", 25_000], ["é.txt", 1]]);
      assertMatch(stderr, /too_large|maximum number of lines/);
      assertMatch(stderr, /made by git/);
      assert(!stderr.includes("secret-token"));
      assertEquals(asked[0], "git with authorization");
      assertEquals(fingerprint(clone), before);
      assert(!existsSync(join(clone, ".git", "FETCH_HEAD")));
    });
  });
});

test("where git cannot fetch either, the list of files is reviewed, and what is missing is said", async () => {
  await withFolder(async (home) => {
    const { root, clone } = makeRepositories(home);
    await withGitHub(root, false, async (url) => {
      const { code, stdout, stderr } = await octavo(["pr", "o/r#7", "--plan", "--format", "json"], {
        cwd: clone,
        home,
        env: workflow(url),
      });
      assertEquals(code, 0, stderr);
      assertEquals(JSON.parse(stdout).files.map((file: { path: string }) => file.path), ["a.txt"]);
      assertMatch(stderr, /list of files/);
      assertMatch(stderr, /big\.txt/);
      assertMatch(stderr, /1 .*not|not .*1/);
    });
  });
});
