import {
  assert,
  assertEquals,
  assertInstanceOf,
  assertMatch,
  assertNotMatch,
  assertRejects,
  assertStringIncludes,
} from "@std/assert";
import { chmodSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { delimiter, join } from "node:path";
import process from "node:process";
import { test } from "node:test";
import { GitHubError, OctavoError, UsageError } from "../errors.ts";
import {
  chooseRepository,
  gitAuthorization,
  type GitHub,
  listPulls,
  pullDiff,
  pullFiles,
  type PullRequest,
  resolvePull,
} from "../github.ts";
import { bodyOf } from "../github_body.ts";
import { parseUnifiedDiff } from "../patch.ts";
import { withFolder } from "./support.ts";
import { CUT, json, type RecordedRequest, type Reply, type TestServer, withServer } from "./support_server.ts";

const TIMEOUT = { timeout: 60_000 };
const TOKEN = "ghp_0123456789abcdefSECRET";
const REPOSITORY = { host: "github.com", owner: "o", repo: "r" };
const PULL: PullRequest = { ...REPOSITORY, number: 5, title: "o/r#5" };
const DIFF = "diff --git a/a.ts b/a.ts\n--- a/a.ts\n+++ b/a.ts\n@@ -1 +1 @@\n-old\n+new\n";
const NOON = Date.parse("2026-12-01T12:00:00Z");

/** GitHub, played by a server whose address the environment of a workflow names. `gh` is nowhere. */
function played(server: { url: string }, more: Partial<GitHub> & { env?: Record<string, string> } = {}): GitHub {
  const env = { PATH: "", GITHUB_ACTIONS: "true", GITHUB_API_URL: server.url, ...more.env };
  return { ...more, env };
}

function withToken(server: { url: string }, more: Partial<GitHub> = {}): GitHub {
  return played(server, { ...more, env: { OCTAVO_GITHUB_TOKEN: TOKEN } });
}

async function read(chunks: AsyncIterable<Uint8Array>): Promise<string> {
  const pieces: Uint8Array[] = [];
  for await (const chunk of chunks) pieces.push(chunk);
  return new TextDecoder().decode(Buffer.concat(pieces));
}

async function diffOf(github: GitHub, pull = PULL): Promise<string> {
  const diff = await pullDiff(github, pull);
  if (diff.tooLarge) throw new Error(`too large: ${diff.reason}`);
  return await read(diff.chunks);
}

/** What a promise is rejected with, as it is printed. */
async function failure(promise: Promise<unknown>): Promise<{ error: OctavoError; text: string }> {
  const error = await promise.then(() => undefined, (error: unknown) => error);
  assertInstanceOf(error, OctavoError);
  const text = `${error.message} / ${error.hint}`;
  assertNotMatch(text, /SECRET/);
  return { error, text };
}

/** A row of the list of pull requests. */
function listed(number: number, more: object = {}): object {
  return {
    number,
    title: `Change ${number}`,
    user: { login: "ada" },
    draft: false,
    base: { ref: "main" },
    head: { ref: `topic-${number}` },
    updated_at: "2026-12-01T12:00:00Z",
    ...more,
  };
}

/** A pull request as it is answered by itself. */
function whole(more: object = {}): object {
  return {
    ...listed(5),
    state: "open",
    changed_files: 412,
    base: { ref: "main", sha: "b".repeat(40), repo: { clone_url: "https://evil.example/o/r.git" } },
    head: { ref: "topic", sha: "a".repeat(40) },
    ...more,
  };
}

const TOO_LARGE = json({
  message: "Sorry, the diff exceeded the maximum number of lines (20000)",
  errors: [{ resource: "PullRequest", field: "diff", code: "too_large" }],
}, 406);

// --- the list ------------------------------------------------------------------------------------------------------

test("listPulls() asks once where there is one page, as GitHub wants to be asked", async () => {
  await withServer([json([listed(7), listed(5, { draft: true })])], async (server) => {
    const pulls = await listPulls(withToken(server), REPOSITORY);
    assertEquals(pulls.map(({ number, draft }) => [number, draft]), [[7, false], [5, true]]);
    assertEquals(pulls[0], {
      ...REPOSITORY,
      number: 7,
      title: "Change 7",
      author: "ada",
      draft: false,
      base: "main",
      head: "topic-7",
      updatedAt: "2026-12-01T12:00:00Z",
    });
    const [{ method, path, headers }] = server.requests as [RecordedRequest];
    assertEquals([method, path], ["GET", "/repos/o/r/pulls?state=open&per_page=50"]);
    assertEquals(headers["authorization"], `Bearer ${TOKEN}`);
    assertEquals(headers["accept"], "application/vnd.github+json");
    assertEquals(headers["x-github-api-version"], "2022-11-28");
    assertMatch(headers["user-agent"] ?? "", /octavo/);
  });
});

test("listPulls() sends no authorization where there is no token", async () => {
  await withServer([json([])], async (server) => {
    assertEquals(await listPulls(played(server), REPOSITORY), []);
    assertEquals(server.requests[0]?.headers["authorization"], undefined);
  });
});

test("listPulls() follows the Link header from page to page, and nothing else", async () => {
  const pages = [1, 2, 3];
  const reply = ({ path, headers }: RecordedRequest, index: number): Reply => {
    const next = `http://${headers["host"]}/repositories/1/pulls?page=${pages[index + 1]}`;
    const links = index < 2 ? `<${next}>; rel="next", <http://x/last>; rel="last"` : '<http://x/first>; rel="first"';
    assertEquals(path.includes("page="), true);
    return json([listed(30 - index)], 200, { link: links });
  };
  await withServer(reply, async (server) => {
    const pulls = await listPulls(withToken(server), REPOSITORY);
    assertEquals(pulls.map(({ number }) => number), [30, 29, 28]);
    assertEquals(server.requests.map(({ path }) => path).slice(1), [
      "/repositories/1/pulls?page=2",
      "/repositories/1/pulls?page=3",
    ]);
    assertEquals(server.requests.map(({ headers }) => headers["authorization"]), Array(3).fill(`Bearer ${TOKEN}`));
  });
});

test("listPulls() does not follow a Link to another origin, and says that the list is cut", async () => {
  await withServer([], async (other) => {
    const links = (
      port: number,
    ) => [`http://127.0.0.1:${port}/p2`, `https://127.0.0.1:${other.port}/p2`, "//evil/p2", "::"];
    for (const link of links(other.port)) {
      const notices: string[] = [];
      await withServer([json([listed(1)], 200, { link: `<${link}>; rel="next"` })], async (server) => {
        const github = withToken(server, { notice: (text) => notices.push(text) });
        assertEquals((await listPulls(github, REPOSITORY)).length, 1);
      });
      assertMatch(notices.join(), /the list is cut/, link);
    }
    assertEquals(other.requests.length, 0);
  });
});

test("listPulls() ends where pages lead in a circle or never end", async () => {
  const circle = ({ headers }: RecordedRequest, index: number): Reply | undefined => {
    const link = `<http://${headers["host"]}/p${index % 2}>; rel="next"`;
    return index < 3 ? json([listed(index + 1)], 200, { link }) : undefined;
  };
  await withServer(circle, async (server) => {
    assertEquals((await listPulls(played(server), REPOSITORY)).length, 3);
  });
  const endless = ({ headers }: RecordedRequest, index: number): Reply => {
    return json([listed(index + 1)], 200, { link: `<http://${headers["host"]}/p${index}>; rel="next"` });
  };
  const notices: string[] = [];
  await withServer(endless, async (server) => {
    const github = played(server, { notice: (text) => notices.push(text) });
    assertEquals((await listPulls(github, REPOSITORY)).length, 20);
  });
  assertEquals(notices, ["Only the newest 20 open pull requests are listed"]);
});

test("listPulls() says what it got where that is no list", async () => {
  const answers: Reply[] = [
    { body: "<html><title>Corporate login</title></html>", headers: { "content-type": "text/html" } },
    json({ message: "hello" }),
    json([{ title: "without a number" }]),
    json([null]),
    { body: "" },
  ];
  for (const answer of answers) {
    await withServer([answer], async (server) => {
      const { error, text } = await failure(listPulls(withToken(server), REPOSITORY));
      assertInstanceOf(error, GitHubError);
      assertMatch(text, /^The answer of "http:\/\/127.0.0.1:\d+" is .* \/ .*a proxy, a login page/);
    });
  }
});

// --- the diff ------------------------------------------------------------------------------------------------------

test("pullDiff() is one GET with the diff media type, streamed as it comes", TIMEOUT, async () => {
  const seen = Promise.withResolvers<void>();
  const first = DIFF + "diff --git a/b b/b\n" + "x".repeat(2000);
  const body = [first, seen.promise, "\nthe end\n"];
  await withServer([{ headers: { "content-type": "application/vnd.github.v3.diff" }, body }], async (server) => {
    const diff = await pullDiff(withToken(server), PULL);
    assert(!diff.tooLarge);
    let text = "";
    for await (const chunk of diff.chunks) {
      text += new TextDecoder().decode(chunk);
      if (text.length >= first.length) seen.resolve(); // only now is the rest sent
    }
    assertEquals(text, `${first}\nthe end\n`);
    const [{ path, headers }, ...others] = server.requests as [RecordedRequest];
    assertEquals([path, headers["accept"], others.length], ["/repos/o/r/pulls/5", "application/vnd.github.v3.diff", 0]);
    assertEquals(headers["authorization"], `Bearer ${TOKEN}`);
  });
});

test("pullDiff() gives the bytes as they are, wherever they are cut", async () => {
  const bytes = Buffer.concat([Buffer.from(`${DIFF}+ü漢😀`), Buffer.from([0xff, 0x00, 0x0a])]);
  await withServer([{ body: [...bytes].map((byte) => Uint8Array.of(byte)) }], async (server) => {
    const diff = await pullDiff(played(server), PULL);
    assert(!diff.tooLarge);
    const pieces: Uint8Array[] = [];
    for await (const chunk of diff.chunks) pieces.push(chunk);
    assertEquals(Buffer.concat(pieces).toString("hex"), bytes.toString("hex"));
  });
});

test("pullDiff() takes an empty diff for what it is", async () => {
  await withServer([{ body: "" }], async (server) => assertEquals(await diffOf(played(server)), ""));
});

test("pullDiff() says what it got where that is no diff", async () => {
  const html = { "content-type": "text/html; charset=utf-8" };
  const cases: [Reply, RegExp][] = [
    [
      { headers: html, body: `<!doctype html><title>Sign in to \u001b[31mCorp</title>${"x".repeat(5000)}` },
      /no diff but text\/html: Sign in to Corp \//,
    ],
    [
      json({ number: 5, title: "t", message: `you sent ${TOKEN}` }),
      /no diff but application\/json: you sent \[key\] \//,
    ],
    [{ body: "From 0123 Mon Sep 17\nSubject: x\n" }, /no diff but text/],
    [{ body: "dif" }, /no diff but text/],
  ];
  for (const [reply, expected] of cases) {
    await withServer([reply], async (server) => {
      const { error, text } = await failure(pullDiff(withToken(server), PULL));
      assertInstanceOf(error, GitHubError);
      assertMatch(text, expected);
    });
  }
});

test("pullDiff() fails where the stream breaks off, after what has come", TIMEOUT, async () => {
  const gone = Promise.withResolvers<void>();
  const reply = { headers: { "content-length": "9000" }, body: [DIFF + "x".repeat(2000), gone.promise, CUT] };
  await withServer([reply], async (server) => {
    const diff = await pullDiff(withToken(server), PULL);
    assert(!diff.tooLarge);
    let text = "";
    const reading = (async () => {
      for await (const chunk of diff.chunks) {
        text += new TextDecoder().decode(chunk);
        gone.resolve();
      }
    })();
    assertMatch((await failure(reading)).text, /^GitHub's answer broke off/);
    assert(text.startsWith(DIFF));
  });
});

test("pullDiff() ends with the signal's reason, before and within the body", TIMEOUT, async () => {
  class Stopped extends Error {}
  const never = new Promise(() => {});
  const script: Reply[] = [{ after: never }, { body: [DIFF + "x".repeat(2000), never] }];
  await withServer(script, async (server) => {
    const early = new AbortController();
    const waiting = pullDiff(withToken(server, { signal: early.signal }), PULL);
    await server.request(0);
    early.abort(new Stopped("stop"));
    await assertRejects(() => waiting, Stopped);

    const late = new AbortController();
    const diff = await pullDiff(withToken(server, { signal: late.signal }), PULL);
    assert(!diff.tooLarge);
    const reading = (async () => {
      for await (const _ of diff.chunks) late.abort(new Stopped("stop"));
    })();
    await assertRejects(() => reading, Stopped);
    assertEquals(await server.requests[1]!.closed, true);
  });
});

test(
  "bodyOf() takes a body that falls silent for broken off, and one that nobody reads from for none",
  TIMEOUT,
  async () => {
    const cancelled = Promise.withResolvers<void>();
    const stream = new ReadableStream<Uint8Array>({
      start: (controller) => ["a", "b"].forEach((text) => controller.enqueue(new TextEncoder().encode(text))),
      cancel: () => cancelled.resolve(),
    });
    const body = bodyOf(new Response(stream), undefined, 200);
    await body.next();
    await new Promise((resolve) => setTimeout(resolve, 300));
    assertEquals((await body.next()).done, false);
    assertMatch((await failure(body.next())).text, /^GitHub's answer broke off: nothing came for 0.2 s/);
    await cancelled.promise;
  },
);

test("pullDiff() closes the connection when nobody wants the rest", TIMEOUT, async () => {
  await withServer([{ body: [DIFF + "x".repeat(2000), new Promise(() => {})] }], async (server) => {
    const diff = await pullDiff(played(server), PULL);
    assert(!diff.tooLarge);
    for await (const _ of diff.chunks) break;
    assertEquals(await server.requests[0]!.closed, true);
  });
});

test("pullDiff() follows a renamed repository, with the token only within the origin", async () => {
  await withServer([{ body: DIFF }], async (elsewhere) => {
    for (const status of [301, 302, 307]) {
      const moved = (location: string): Reply => ({ status, headers: { location } });
      await withServer([moved("/repositories/1/pulls/5"), { body: DIFF }], async (server) => {
        assertEquals(await diffOf(withToken(server)), DIFF);
        assertEquals(server.requests[1]?.path, "/repositories/1/pulls/5");
        assertEquals(server.requests[1]?.headers["authorization"], `Bearer ${TOKEN}`);
      });
      if (status !== 301) continue;
      await withServer([moved(`${elsewhere.url}/x`)], async (server) => {
        assertEquals(await diffOf(withToken(server)), DIFF);
        assertEquals(elsewhere.requests[0]?.headers["authorization"], undefined);
        assertNotMatch(JSON.stringify(elsewhere.requests[0]), /SECRET/);
      });
    }
  });
});

// --- too large -----------------------------------------------------------------------------------------------------

test("pullDiff() tells a diff that is too large, with what git needs to make it", async () => {
  await withServer([TOO_LARGE, json(whole())], async (server) => {
    assertEquals(await pullDiff(withToken(server), PULL), {
      tooLarge: true,
      reason: "Sorry, the diff exceeded the maximum number of lines (20000)",
      pull: {
        ...PULL,
        title: "Change 5",
        author: "ada",
        draft: false,
        base: "main",
        head: "topic",
        updatedAt: "2026-12-01T12:00:00Z",
      },
      cloneUrl: "https://github.com/o/r.git",
      baseRef: "refs/heads/main",
      headRef: "refs/pull/5/head",
      headHash: "a".repeat(40),
      files: 412,
    });
    const { path, headers } = server.requests[1]!;
    assertEquals([path, headers["accept"]], ["/repos/o/r/pulls/5", "application/vnd.github+json"]);
  });
});

test("pullDiff() knows too large by the code, whatever the status, and by a 504", async () => {
  const error = (code: string, field = "diff") => ({
    message: "m",
    errors: [{ resource: "PullRequest", field, code }],
  });
  const cases: [Reply, boolean][] = [
    [json(error("too_large"), 406), true],
    [json(error("too_large"), 422), true],
    [json(error("not_available"), 422), true],
    [json(error("not_available"), 500), true],
    [{ status: 504, body: "<html><title>504 Gateway Time-out</title>" }, true],
    [json({ message: "Not Acceptable" }, 406), false],
    [json({ message: "the diff is too_large" }, 406), false],
    [json(error("invalid"), 422), false],
    [json(error("not_available", "files"), 422), false],
    [json({ errors: "too_large" }, 422), false],
    [json({ errors: [null, 1] }, 422), false],
  ];
  for (const [reply, expected] of cases) {
    await withServer(expected ? [reply, json(whole())] : [reply], async (server) => {
      const outcome = await pullDiff(withToken(server), PULL).catch((error: unknown) => error);
      if (expected) assertEquals(Reflect.get(Object(outcome), "tooLarge"), true, JSON.stringify(reply));
      else assertInstanceOf(outcome, GitHubError, JSON.stringify(reply));
    });
  }
});

test("the base of a closed pull request, and of one with an odd branch, is a hash", async () => {
  const base = (ref: string) => ({ base: { ref, sha: "b".repeat(40) } });
  const cases: [object, string][] = [
    [{ state: "closed" }, "b".repeat(40)],
    [base("main:refs/heads/mine"), "b".repeat(40)],
    [base("a b"), "b".repeat(40)],
    [base("--upload-pack=x"), "refs/heads/--upload-pack=x"],
    [{ base: { ref: "main", sha: "--x" } }, "refs/heads/main"],
    [{ state: "closed", base: { ref: "main" } }, "refs/heads/main"],
  ];
  for (const [more, expected] of cases) {
    await withServer([TOO_LARGE, json(whole(more))], async (server) => {
      const diff = await pullDiff(played(server), PULL);
      assert(diff.tooLarge);
      assertEquals(diff.baseRef, expected, JSON.stringify(more));
    });
  }
  await withServer([TOO_LARGE, json(whole({ base: {} }))], async (server) => {
    assertMatch((await failure(pullDiff(played(server), PULL))).text, /a pull request without a base/);
  });
});

test("in a workflow git fetches from the workflow's own server", async () => {
  await withServer([TOO_LARGE, json(whole())], async (server) => {
    const env = { GITHUB_SERVER_URL: `${server.url}/` };
    const diff = await pullDiff(played(server, { env }), { ...PULL, host: `127.0.0.1:${server.port}` });
    assert(diff.tooLarge);
    assertEquals(diff.cloneUrl, `${server.url}/o/r.git`);
  });
});

test("pullFiles() makes a patch of the pages of the list, and tells what is not in it", async () => {
  const patch = "@@ -1 +1 @@\n-old\n+new";
  const file = (filename: string, more: object = {}) => ({
    filename,
    status: "modified",
    additions: 1,
    deletions: 1,
    patch,
    ...more,
  });
  const reply = ({ headers }: RecordedRequest, index: number): Reply | undefined => {
    if (index === 1) return json([file("c.ts", { status: "renamed", previous_filename: "b.ts" })]);
    const link = `<http://${headers["host"]}/p2>; rel="next"`;
    const rows = [
      file("a.ts"),
      file("big.ts", { patch: undefined, additions: 2000, deletions: 81 }),
      file("x.bin", { patch: undefined, additions: 0, deletions: 0 }),
    ];
    return index === 0 ? json(rows, 200, { link }) : undefined;
  };
  await withServer(reply, async (server) => {
    const { chunks, unreviewed, notices } = pullFiles(withToken(server), { ...PULL, files: 6 });
    const { files, problems } = parseUnifiedDiff(await read(chunks));
    assertEquals(problems, []);
    assertEquals(files.map(({ path, oldPath, status }) => [path, oldPath, status]), [
      ["a.ts", undefined, "modified"],
      ["c.ts", "b.ts", "renamed"],
    ]);
    assertEquals(await unreviewed, [{ path: "big.ts", lines: 2081 }, { path: "x.bin", lines: 0 }]);
    assertEquals(await notices, [
      "2 files are not reviewed, or not in full: GitHub leaves out large and binary diffs: big.ts (2,081 lines), x.bin",
      "2 of 6 files are not reviewed: GitHub lists 3,000 at most",
    ]);
    assertEquals(server.requests[0]?.path, "/repos/o/r/pulls/5/files?per_page=100");
  });
});

test("pullFiles() fails where the list does, and leaves nobody waiting", async () => {
  await withServer([json({ message: "Not Found" }, 404)], async (server) => {
    const { chunks, unreviewed, notices } = pullFiles(withToken(server), PULL);
    assertMatch((await failure(read(chunks))).text, /knows no pull request 5 of "o\/r"/);
    assertEquals([await unreviewed, await notices], [[], []]);
  });
  await withServer([json([{ filename: "a" }])], async (server) => {
    assertMatch((await failure(read(pullFiles(withToken(server), PULL).chunks))).text, /no list of files/);
  });
});

// --- refusals ------------------------------------------------------------------------------------------------------

test("a refusal says what failed and what to do next", async () => {
  const said = (status: number, message: string, headers: Record<string, string> = {}) =>
    json({ message }, status, headers);
  const sso = "https://github.com/orgs/acme/sso?authorization_request=A1";
  const cases: [Reply, boolean, RegExp][] = [
    [
      said(401, "Bad credentials"),
      true,
      /^GitHub does not accept the token from OCTAVO_GITHUB_TOKEN \(401: Bad credentials\) \/ put a valid one/,
    ],
    [
      said(401, "Requires authentication"),
      false,
      /^GitHub wants a token for pull request 5 of "o\/r" \(401: .*set OCTAVO_GITHUB_TOKEN/,
    ],
    [
      said(403, "Resource protected by SAML", { "x-github-sso": `required; url=${sso}` }),
      true,
      /not authorised for the organisation .* \/ authorise it: https:\/\/github\.com\/orgs\/acme\/sso\?authorization_request=A1$/,
    ],
    [said(403, "no", { "x-github-sso": "required; url=javascript:alert(1)" }), true, /may not read pull request 5/],
    [
      said(403, "Resource not accessible by personal access token", {
        "x-accepted-github-permissions": "pull_requests=read",
      }),
      true,
      /^The token from OCTAVO_GITHUB_TOKEN may not read pull request 5 .* \/ give it the permission to: pull_requests=read$/,
    ],
    [said(403, "Forbidden", { "x-ratelimit-remaining": "4999", "x-ratelimit-reset": "1" }), true, /may not read/],
    [said(403, "Forbidden"), false, /does not show pull request 5 .* to everybody .* gh auth login/],
    [
      said(404, "Not Found"),
      true,
      /^GitHub knows no pull request 5 of "o\/r", or the token from OCTAVO_GITHUB_TOKEN may not see it \(404: Not Found\)/,
    ],
    [
      said(404, "Not Found"),
      false,
      /^GitHub knows no pull request 5 of "o\/r", or it is private \(404: Not Found\) \/ .*set OCTAVO_GITHUB_TOKEN, or log in with: gh auth login$/,
    ],
    [said(410, "Gone"), true, /retired version 2022-11-28 of its API \(410: Gone\) \/ update octavo/],
    [said(418, "short and stout"), true, /refused pull request 5 of "o\/r" \(418: short and stout\)/],
    [{ status: 400, body: "" }, true, /refused .* \(400\)/],
    [said(404, `not for ${TOKEN}\u001b[2J\n::error::`), true, /\(404: not for \[key\] ::error::\)/],
  ];
  for (const [reply, token, expected] of cases) {
    await withServer([reply], async (server) => {
      const { error, text } = await failure(pullDiff(token ? withToken(server) : played(server), PULL));
      assertInstanceOf(error, GitHubError);
      assertEquals(error.exitCode, 3);
      assertMatch(text, expected);
    });
  }
});

test("a failure on GitHub's side is tried once more", TIMEOUT, async () => {
  await withServer([{ status: 502, body: "<html>Unicorn!" }, { body: DIFF }], async (server) => {
    assertEquals(await diffOf(played(server)), DIFF);
  });
  await withServer([{ status: 503 }, { status: 500, body: "oh no" }], async (server) => {
    const { text } = await failure(listPulls(played(server), REPOSITORY));
    assertMatch(text, /^GitHub failed over repository "o\/r" \(500: oh no\) \/ try again in a moment/);
  });
});

test("GitHub out of reach is an error with a hint", async () => {
  const { error, text } = await failure(listPulls(withToken({ url: "http://127.0.0.1:1" }), REPOSITORY));
  assertInstanceOf(error, GitHubError);
  assertMatch(text, /No answer from "http:\/\/127\.0\.0\.1:1.* \/ check the network/);
});

// --- rate limits ---------------------------------------------------------------------------------------------------

test("a rate limit that is over soon is waited for, and said", TIMEOUT, async () => {
  const limits: Reply[] = [
    json({ message: "API rate limit exceeded" }, 429, { "retry-after": "0" }),
    json({ message: "You have exceeded a secondary rate limit" }, 403, { "retry-after": "1" }),
    json({ message: "API rate limit exceeded for 1.2.3.4" }, 403, {
      "x-ratelimit-remaining": "0",
      "x-ratelimit-reset": String(Math.floor(Date.now() / 1000) - 5),
    }),
  ];
  for (const limit of limits) {
    const notices: string[] = [];
    await withServer([limit, { body: DIFF }], async (server) => {
      const started = Date.now();
      assertEquals(await diffOf(withToken(server, { notice: (text) => notices.push(text) })), DIFF);
      const seconds = Number(limit.headers?.["retry-after"] ?? 0);
      assert(Date.now() - started >= seconds * 1000 - 50);
      assertEquals(notices, [`GitHub's rate limit: going on in ${seconds} s`]);
    });
  }
});

test("a rate limit is not waited for again and again", async () => {
  const limit = json({ message: "slow down" }, 429, { "retry-after": "0" });
  await withServer([limit, limit, limit, limit], async (server) => {
    assertMatch((await failure(pullDiff(withToken(server), PULL))).text, /rate limit is used up/);
  });
});

test("a rate limit that lasts says when it is over, by GitHub's clock", async () => {
  const reset = { "x-ratelimit-remaining": "0", "x-ratelimit-reset": String(NOON / 1000 + 32 * 60) };
  const date = new Date(NOON).toUTCString();
  const cases: [Record<string, string>, boolean, RegExp][] = [
    [
      { ...reset, date },
      true,
      /used up: it answers again at 15:32 UTC, in 32 min \/ .*an hour of the token from OCTAVO_GITHUB_TOKEN/,
    ],
    [
      { ...reset, date },
      false,
      /in 32 min \/ .*set OCTAVO_GITHUB_TOKEN: with a token it is 5,000 requests an hour instead of 60/,
    ],
    [{ "retry-after": "61", date }, true, /at 15:01 UTC, in 61 s/],
    [{ "retry-after": new Date(NOON + 7_200_000).toUTCString(), date }, true, /at 17:00 UTC, in 120 min/],
  ];
  const now = () => NOON + 3 * 3_600_000; // this machine's clock is three hours ahead
  for (const [headers, token, expected] of cases) {
    await withServer([json({ message: "API rate limit exceeded" }, 403, headers)], async (server) => {
      const github = { ...token ? withToken(server) : played(server), now };
      assertMatch((await failure(pullDiff(github, PULL))).text, expected);
    });
  }
});

test("waiting for a rate limit ends with the signal's reason", TIMEOUT, async () => {
  class Stopped extends Error {}
  const limit = json({ message: "You have exceeded a secondary rate limit" }, 403);
  await withServer([limit], async (server) => {
    const controller = new AbortController();
    const notices: string[] = [];
    const notice = (text: string) => {
      notices.push(text);
      controller.abort(new Stopped("stop"));
    };
    await assertRejects(() => pullDiff(withToken(server, { signal: controller.signal, notice }), PULL), Stopped);
    assertEquals(notices, ["GitHub's rate limit: going on in 60 s"]); // a secondary limit that says nothing
  });
});

// --- hosts and tokens ----------------------------------------------------------------------------------------------

/** The token that a host gets, by the header that git would send there. */
async function tokenFor(
  env: Record<string, string>,
  host: string,
  more: Partial<GitHub> = {},
): Promise<string | undefined> {
  const header = await gitAuthorization({ ...more, env: { PATH: "", ...env } }, host);
  return header && Buffer.from(header.replace(/^Basic /, ""), "base64").toString().replace("x-access-token:", "");
}

test("each host gets its own token, by its whole name, and no other", async () => {
  const all = {
    OCTAVO_GITHUB_TOKEN: "octavo",
    GH_TOKEN: "gh",
    GITHUB_TOKEN: "github",
    GH_ENTERPRISE_TOKEN: "ghe",
    GITHUB_ENTERPRISE_TOKEN: "enterprise",
  };
  const { OCTAVO_GITHUB_TOKEN: _, ...noOctavo } = all;
  const { GH_TOKEN: __, ...noGh } = noOctavo;
  const named = { ...all, GH_HOST: "ghe.example.com" };
  const actions = { ...all, GITHUB_ACTIONS: "true" };
  const onServer = { ...actions, GITHUB_SERVER_URL: "https://ghe.example.com" };
  const cases: [Record<string, string>, string, string | undefined][] = [
    [all, "github.com", "octavo"],
    [noOctavo, "github.com", "gh"],
    [noGh, "github.com", "github"],
    [all, "octo.ghe.com", "octavo"],
    [{ OCTAVO_GITHUB_TOKEN: " ", GH_TOKEN: " gh\n" }, "github.com", "gh"],
    [{}, "github.com", undefined],
    [all, "ghe.example.com", undefined],
    [named, "ghe.example.com", "ghe"],
    [{ ...named, GH_ENTERPRISE_TOKEN: "" }, "ghe.example.com", "enterprise"],
    [named, "other.example.com", undefined],
    [named, "ghe.example.com:8443", undefined],
    [named, "github.com", "octavo"],
    [all, "github.com.evil.example", undefined],
    [all, "evilgithub.com", undefined],
    [all, "api.github.com.evil.example", undefined],
    [all, "github.com:8443", undefined],
    [all, "github.com.", undefined],
    [all, "ghe.com", undefined],
    [all, "evilghe.com", undefined],
    [all, "a.b.ghe.com", undefined],
    [all, "octo.ghe.com.evil.example", undefined],
    [named, "xghe.example.com", undefined],
    [named, "sub.ghe.example.com", undefined],
    [{ ...all, GITHUB_SERVER_URL: "https://ghe.example.com" }, "ghe.example.com", undefined],
    [actions, "github.com", "octavo"],
    [actions, "ghe.example.com", undefined],
    [onServer, "ghe.example.com", "octavo"],
    [
      {
        ...onServer,
        ...{ OCTAVO_GITHUB_TOKEN: "", GH_ENTERPRISE_TOKEN: "", GITHUB_ENTERPRISE_TOKEN: "", GH_TOKEN: "" },
      },
      "ghe.example.com",
      "github",
    ],
    [{ ...onServer, OCTAVO_GITHUB_TOKEN: "", GH_TOKEN: "" }, "github.com", undefined],
  ];
  for (const [env, host, expected] of cases) {
    assertEquals(await tokenFor(env, host), expected, `${host} ${JSON.stringify(env)}`);
  }
});

test("the user file's token is for GitHub's own hosts, behind the environment's", async () => {
  assertEquals(await tokenFor({}, "github.com", { token: "file" }), "file");
  assertEquals(await tokenFor({ GITHUB_TOKEN: "env" }, "github.com", { token: "file" }), "env");
  assertEquals(await tokenFor({ GH_HOST: "ghe.example.com" }, "ghe.example.com", { token: "file" }), undefined);
});

test("what cannot be a token is refused without being printed", async () => {
  for (const value of ["SECRET SECRET", "SECRET\r\nx-evil: 1", "SECRETü"]) {
    const { error, text } = await failure(gitAuthorization({ env: { GH_TOKEN: value } }, "github.com"));
    assertInstanceOf(error, UsageError);
    assertMatch(text, /^What is in GH_TOKEN is no GitHub token/);
  }
});

/** A `gh` that notes how it was called, and knows one host; like the real one it prefers a token of the environment. */
function writeGh(dir: string): { env: Record<string, string>; calls: () => string[] } {
  const log = join(dir, "calls");
  const script = `#!/bin/sh
echo "$*" >> '${log}'
for token in "$GH_TOKEN" "$GITHUB_TOKEN" "$GH_ENTERPRISE_TOKEN" "$GITHUB_ENTERPRISE_TOKEN" "$OCTAVO_GITHUB_TOKEN"; do
  if [ -n "$token" ]; then echo "$token"; exit 0; fi
done
if [ "$4" = "ghe.example.com" ]; then echo gho_stored; exit 0; fi
echo "no oauth token found for $4" >&2
exit 1
`;
  writeFileSync(join(dir, "gh"), script);
  chmodSync(join(dir, "gh"), 0o755);
  const calls = () => existsSync(log) ? readFileSync(log, "utf8").trim().split("\n") : [];
  return { env: { PATH: `${dir}${delimiter}${process.env["PATH"]}` }, calls };
}

const NO_SH = { skip: process.platform === "win32", ...TIMEOUT };

test("gh is asked for the host, without the tokens that it would hand to any host", NO_SH, async () => {
  await withFolder(async (dir) => {
    const gh = writeGh(dir);
    assertEquals(await tokenFor(gh.env, "ghe.example.com"), "gho_stored");
    const env = {
      ...gh.env,
      GH_ENTERPRISE_TOKEN: "leak",
      GITHUB_ENTERPRISE_TOKEN: "leak",
      GH_TOKEN: "leak",
      GITHUB_TOKEN: "leak",
    };
    assertEquals(await tokenFor(env, "evil.example"), undefined);
    assertEquals(await tokenFor(env, "ghe.example.com"), "gho_stored");
    assertEquals(await tokenFor(env, "github.com"), "leak");
    assertEquals(
      gh.calls(),
      ["ghe.example.com", "evil.example", "ghe.example.com"].map((host) => `auth token --hostname ${host}`),
    );
  });
});

test("gh is asked once a run for each host", NO_SH, async () => {
  await withFolder(async (dir) => {
    const gh = writeGh(dir);
    const github = { env: gh.env };
    const answers = await Promise.all([1, 2, 3].map(() => gitAuthorization(github, "ghe.example.com")));
    assertEquals(new Set(answers).size, 1);
    assertEquals(await gitAuthorization(github, "github.com"), undefined);
    assertEquals(gh.calls().sort(), ["auth token --hostname ghe.example.com", "auth token --hostname github.com"]);
  });
});

test("chooseRepository() takes origin first, then the first remote on GitHub", NO_SH, async () => {
  await withFolder(async (dir) => {
    const gh = writeGh(dir);
    const remote = (name: string, url: string) => ({ name, url });
    const fork = remote("fork", "git@github.com:me/r.git");
    const upstream = remote("upstream", "https://github.com/o/r.git");
    const cases: [{ name: string; url: string }[], string][] = [
      [[fork, upstream], "github.com/me/r"],
      [[fork, remote("origin", "https://github.com/o/r")], "github.com/o/r"],
      [[fork, remote("origin", "https://ghe.example.com/o/r")], "ghe.example.com/o/r"],
      [[remote("origin", "https://gitlab.example/o/r"), upstream, fork], "github.com/o/r"],
      [[remote("origin", "/srv/r.git"), fork], "github.com/me/r"],
      [[remote("origin", "https://octo.ghe.com/o/r")], "octo.ghe.com/o/r"],
    ];
    for (const [remotes, expected] of cases) {
      const { host, owner, repo } = await chooseRepository({ env: gh.env }, remotes);
      assertEquals(`${host}/${owner}/${repo}`, expected);
    }
    const named = { env: { PATH: "", GH_HOST: "git.corp.example" } };
    const own = remote("origin", "git@git.corp.example:o/r.git");
    assertEquals((await chooseRepository(named, [own])).host, "git.corp.example");
    const lookalikes = [remote("origin", "https://github.com.evil.example/o/r"), remote("x", "git@gitlab.example:o/r")];
    const { error, text } = await failure(chooseRepository({ env: gh.env }, lookalikes));
    assertInstanceOf(error, UsageError);
    assertMatch(
      text,
      /: "origin" is on "github\.com\.evil\.example", "x" is on "gitlab\.example" \/ .*OWNER\/REPO#NUMBER.*GH_HOST/,
    );
    assertMatch(
      (await failure(chooseRepository({ env: gh.env }, []))).text,
      /^No remote of this repository is on GitHub \//,
    );
  });
});

test("resolvePull() asks for the repository only where the reference names none", async () => {
  const github = { env: {} };
  const never = () => Promise.reject(new Error("asked"));
  assertEquals(await resolvePull(github, { owner: "o", repo: "r", number: 5 }, never), PULL);
  const inWorkflow = { env: { GITHUB_ACTIONS: "true", GITHUB_SERVER_URL: "https://ghe.example.com" } };
  assertEquals((await resolvePull(inWorkflow, { owner: "o", repo: "r", number: 5 }, never)).host, "ghe.example.com");
  const typed = { host: "octo.ghe.com", owner: "o", repo: "r", number: 5 };
  assertEquals((await resolvePull(inWorkflow, typed, never)).host, "octo.ghe.com");
  assertEquals(await resolvePull(github, { number: 5 }, () => Promise.resolve(REPOSITORY)), PULL);
});

interface Proxy {
  url: string;
  /** Where connections were wanted to. */
  targets: string[];
  /** What was said in the clear. */
  said: string;
}

/** A proxy that records where it should connect to, and connects to nothing. */
async function withProxy(use: (proxy: Proxy) => Promise<void>): Promise<void> {
  const sockets = new Set<Socket>();
  const proxy: Proxy = { url: "", targets: [], said: "" };
  const server: Server = createServer((request, response) => {
    proxy.targets.push(`${request.method} ${request.url}`);
    proxy.said += JSON.stringify(request.headers);
    response.writeHead(502).end();
  });
  server.on("connect", (request, socket) => {
    proxy.targets.push(request.url ?? "");
    proxy.said += JSON.stringify(request.headers);
    socket.on("error", () => undefined);
    socket.end("HTTP/1.1 403 Forbidden\r\n\r\n");
  });
  server.on("connection", (socket: Socket) => sockets.add(socket));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  proxy.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  try {
    await use(proxy);
  } finally {
    const closed = new Promise((resolve) => server.close(resolve));
    for (const socket of sockets) socket.destroy();
    await closed;
  }
}

test(
  "the API of a host is where GitHub has it, and GITHUB_API_URL counts for the workflow's own server only",
  TIMEOUT,
  async () => {
    await withServer([], async (trap: TestServer) => {
      const api = { GITHUB_API_URL: trap.url };
      const elsewhere = { GITHUB_ACTIONS: "true", GITHUB_SERVER_URL: "https://ghe.example.com", ...api };
      const cases: [Record<string, string>, string, string][] = [
        [{}, "github.com", "api.github.com:443"],
        [{}, "octo.ghe.com", "api.octo.ghe.com:443"],
        [{}, "ghe.example.com", "ghe.example.com:443"],
        [{}, "ghe.example.com:8443", "ghe.example.com:8443"],
        [api, "github.com", "api.github.com:443"],
        [{ ...api, GITHUB_ACTIONS: "1" }, "github.com", "api.github.com:443"],
        [elsewhere, "github.com", "api.github.com:443"],
        [elsewhere, "other.example.com", "other.example.com:443"],
      ];
      for (const [env, host, expected] of cases) {
        await withProxy(async (proxy) => {
          const github = { env: { PATH: "", HTTPS_PROXY: proxy.url, OCTAVO_GITHUB_TOKEN: TOKEN, ...env } };
          await failure(listPulls(github, { ...REPOSITORY, host }));
          assertEquals([...new Set(proxy.targets)], [expected], JSON.stringify(env));
          assertNotMatch(proxy.said, /SECRET/);
        });
      }
      assertEquals(trap.requests.length, 0);
    });
  },
);

test("an API address without encryption is refused before anything is sent", async () => {
  for (const url of ["http://ghe.example.com/api/v3", "ftp://x", "nonsense"]) {
    const { error, text } = await failure(listPulls(withToken({ url }), REPOSITORY));
    assertInstanceOf(error, UsageError);
    assertStringIncludes(text, "GITHUB_API_URL");
  }
});
