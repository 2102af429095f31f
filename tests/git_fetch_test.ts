import { assert, assertEquals, assertRejects } from "@std/assert";
import { createServer } from "node:http";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { GitError } from "../errors.ts";
import { fetchedDiff } from "../git_fetch.ts";
import { allowMinutes, cleanEnv, commitAll, git, makeRepository, withFolder, write } from "./support.ts";
import { hashOf, snapshot } from "./support_git.ts";

await allowMinutes();

/** A repository to fetch from, whose `main` and `refs/pull/7/head` have parted, and a folder for temporary files. */
async function withRemote(use: (remote: string, env: Record<string, string>) => Promise<void>): Promise<void> {
  await withFolder(async (parent) => {
    const [remote, temp] = [join(parent, "remote"), join(parent, "temp")];
    makeRepository(remote, { "a.ts": "1\n", "large.txt": "line\n".repeat(1000) });
    git(remote, "checkout", "-q", "-b", "pull");
    write(remote, { "b.ts": "new\n" });
    commitAll(remote, "pull");
    git(remote, "update-ref", "refs/pull/7/head", "HEAD");
    git(remote, "checkout", "-q", "main");
    write(remote, { "a.ts": "2\n" });
    commitAll(remote, "main");
    git(remote, "branch", "-D", "-q", "pull");
    write(temp, { "keep": "" });
    await use(remote, { ...cleanEnv(parent), TMPDIR: temp });
    assertEquals(readdirSync(temp), ["keep"]);
  });
}

async function read(chunks: AsyncIterable<Uint8Array>): Promise<string> {
  return new TextDecoder().decode(Buffer.concat(await Array.fromAsync(chunks)));
}

for (const filter of ["true", "false"]) {
  test(`fetchedDiff() has what the head has since it left the base (filters: ${filter})`, async () => {
    await withRemote(async (remote, env) => {
      git(remote, "config", "uploadpack.allowFilter", filter);
      git(remote, "config", "uploadpack.allowAnySHA1InWant", "true");
      const expected = git(remote, "diff", "--full-index", "main...refs/pull/7/head");
      assert(expected.includes("b.ts"));
      for (const base of ["refs/heads/main", "main", hashOf(remote, "main")]) {
        const options = { url: `file://${remote}`, base, head: "refs/pull/7/head", env, protocols: "file" };
        assertEquals(await read(fetchedDiff(options)), expected);
      }
    });
  });
}

test("fetchedDiff() touches neither the clone one is in nor the remote, even from a hook", async () => {
  await withRemote(async (remote, env) => {
    const clone = join(remote, "../clone");
    git(remote, "clone", "-q", remote, clone);
    const before = [snapshot(clone), snapshot(remote)];
    const hook = { GIT_DIR: join(clone, ".git"), GIT_WORK_TREE: clone, GIT_INDEX_FILE: join(clone, ".git/index") };
    const options = { url: `file://${remote}`, base: "main", head: "refs/pull/7/head", env: { ...env, ...hook } };
    assert((await read(fetchedDiff({ ...options, protocols: "file" }))).includes("b.ts"));
    assertEquals([snapshot(clone), snapshot(remote)], before);
  });
});

test("fetchedDiff() speaks nothing but https by itself", async () => {
  await withRemote(async (remote, env) => {
    for (const url of [`file://${remote}`, "ext::sh -c true", "ssh://127.0.0.1:1/x", "http://127.0.0.1:1/x"]) {
      const error = await assertRejects(() => read(fetchedDiff({ url, base: "main", head: "x", env })), GitError);
      assert(error.message.includes("not allowed"), error.message);
    }
  });
});

test("fetchedDiff() throws a GitError for a ref that is not there, and for histories without a common commit", async () => {
  await withRemote(async (remote, env) => {
    const options = { url: `file://${remote}`, base: "main", env, protocols: "file" };
    await assertRejects(
      () => read(fetchedDiff({ ...options, head: "refs/pull/8/head" })),
      GitError,
      "git fetch failed",
    );
    git(remote, "checkout", "-q", "--orphan", "other");
    commitAll(remote, "other");
    await assertRejects(() => read(fetchedDiff({ ...options, head: "other" })), GitError, "no common commit");
  });
});

test("fetchedDiff() leaves nothing behind when its reader stops early or it is aborted", async () => {
  await withRemote(async (remote, env) => {
    const options = { url: `file://${remote}`, base: "main", head: "refs/pull/7/head", env, protocols: "file" };
    for await (const _ of fetchedDiff(options)) break;
    const reason = new Error("stopped");
    const signal = AbortSignal.abort(reason);
    assertEquals(await assertRejects(() => read(fetchedDiff({ ...options, signal }))), reason);
  });
});

test("fetchedDiff() sends the token to the host of the URL, and to no host that it is redirected to", async () => {
  await withRemote(async (_, env) => {
    const seen: (string | undefined)[][] = [[], []];
    const servers = seen.map((log, index) =>
      createServer((request, response) => {
        log.push(request.headers.authorization);
        const elsewhere = `http://localhost:${port(1)}${request.url}`;
        response.writeHead(index === 0 ? 302 : 404, index === 0 ? { location: elsewhere } : {}).end();
      })
    );
    const port = (index: number) => {
      const address = servers[index]!.address();
      return typeof address === "object" && address ? address.port : 0;
    };
    try {
      for (const server of servers) await new Promise<void>((done) => server.listen(0, done));
      const options = { url: `http://127.0.0.1:${port(0)}/o/r.git`, base: "main", head: "x", env, protocols: "http" };
      const basic = `Basic ${Buffer.from("x-access-token:t0ken").toString("base64")}`;
      await assertRejects(() => read(fetchedDiff({ ...options, authorization: basic })), GitError);
      assert(seen[0]!.length > 0 && seen[0]!.every((header) => header === basic), String(seen[0]));
      assert(seen[1]!.length > 0 && seen[1]!.every((header) => header === undefined), String(seen[1]));
    } finally {
      for (const server of servers) server.close(), server.closeAllConnections();
    }
  });
});
