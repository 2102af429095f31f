import { assertEquals } from "@std/assert";
import { test } from "node:test";
import { parsePullReference, parseRemote, parseRepository, pullFromEvent } from "../github.ts";

/** A repository as one word: `HOST OWNER REPO`. */
function said(name: { host?: string; owner?: string; repo?: string } | undefined): string | undefined {
  return name && `${name.host ?? "-"} ${name.owner ?? "-"} ${name.repo ?? "-"}`;
}

test("parseRemote() reads the forms that remotes have", () => {
  const cases: [string, string][] = [
    ["https://github.com/o/r", "github.com o r"],
    ["https://github.com/o/r.git", "github.com o r"],
    ["https://github.com/o/r/", "github.com o r"],
    ["https://github.com/o/r.git/", "github.com o r"],
    ["https://GitHub.com/O/R", "github.com O R"],
    ["https://user@github.com/o/r", "github.com o r"],
    ["https://user:pass@github.com/o/r.git", "github.com o r"],
    ["https://github.com:443/o/r", "github.com o r"],
    ["https://www.github.com/o/r", "github.com o r"],
    ["http://github.com/o/r", "github.com o r"],
    ["git://github.com/o/r.git", "github.com o r"],
    ["git@github.com:o/r.git", "github.com o r"],
    ["git@github.com:o/r", "github.com o r"],
    ["git@github.com:/o/r.git", "github.com o r"],
    ["git@github.com:o/r/", "github.com o r"],
    ["org-1234@github.com:o/r.git", "github.com o r"],
    ["github.com:o/r.git", "github.com o r"],
    ["ssh://git@github.com/o/r.git", "github.com o r"],
    ["ssh://git@github.com:22/o/r", "github.com o r"],
    ["ssh://git@ssh.github.com:443/o/r.git", "github.com o r"],
    ["ssh://github.com/o/r/", "github.com o r"],
    ["git+ssh://git@github.com/o/r.git", "github.com o r"],
    ["ssh://git@GHE.example.com:2222/o/r.git", "ghe.example.com o r"],
    ["https://ghe.example.com:8443/o/r.git", "ghe.example.com:8443 o r"],
    ["octo@octo.ghe.com:o/r.git", "octo.ghe.com o r"],
    ["https://github.com/o-1/r.js.git", "github.com o-1 r.js"],
    ["https://github.com/o_corp/.github", "github.com o_corp .github"],
    ["git@work-alias:o/r.git", "work-alias o r"],
    [" https://github.com/o/r \n", "github.com o r"],
    ["https://github.com@evil.example/o/r", "evil.example o r"],
    ["https://github.com.evil.example/o/r", "github.com.evil.example o r"],
    ["git@constructor:o/r", "constructor o r"],
  ];
  for (const [url, expected] of cases) assertEquals(said(parseRemote(url)), expected, url);
});

test("parseRemote() takes for no repository what is none", () => {
  const none = [
    "",
    "/srv/git/o/r.git",
    "../r",
    "C:\\code\\r",
    "C:/code/r",
    "file:///srv/o/r",
    "https://github.com",
    "https://github.com/o",
    "https://github.com/o/r/pull/5",
    "https://gitlab.com/group/sub/r.git",
    "https://github.com/o/..",
    "https://github.com/../r",
    "https://github.com/o/r%2f..",
    "https://evil.example\\@github.com/o/r",
    "https://github.com/o\n/r",
    "git@github.com:o/r.git/x",
    "git@-oProxyCommand=x:o/r",
    "ext::sh -c 'curl github.com/o/r'",
    "ssh://git@github.com:o/r",
    "git@github.com:-o/r",
    "https:github.com/o/r",
  ];
  for (const url of none) assertEquals(said(parseRemote(url)), undefined, url);
});

test("parseRepository() reads what is typed for a repository", () => {
  const cases: [string, string | undefined][] = [
    ["o/r", "- o r"],
    ["o/r.git", "- o r"],
    ["ghe.example.com/o/r", "ghe.example.com o r"],
    ["https://github.com/o/r", "github.com o r"],
    ["git@github.com:o/r.git", "github.com o r"],
    ["r", undefined],
    ["o/", undefined],
    ["o/..", undefined],
    ["-o/r", undefined],
    ["a/b/c/d", undefined],
  ];
  for (const [text, expected] of cases) assertEquals(said(parseRepository(text)), expected, text);
});

test("parsePullReference() reads numbers, names and addresses", () => {
  const cases: [string, string][] = [
    ["12", "- - - 12"],
    ["#12", "- - - 12"],
    [" 12 ", "- - - 12"],
    ["o/r#12", "- o r 12"],
    ["ghe.example.com/o/r#3", "ghe.example.com o r 3"],
    ["https://github.com/o/r/pull/12", "github.com o r 12"],
    ["https://github.com/o/r/pull/12/", "github.com o r 12"],
    ["https://github.com/o/r/pull/12/files", "github.com o r 12"],
    ["https://github.com/o/r/pull/12/files/a1b2..c3d4", "github.com o r 12"],
    ["https://github.com/o/r/pull/12/commits/0a1b2c?diff=split#r1", "github.com o r 12"],
    ["https://github.com/o/r/pull/12#issuecomment-99", "github.com o r 12"],
    ["https://github.com/o/r/pull/12#13", "github.com o r 12"],
    ["https://github.com/o/r/pull/12.diff", "github.com o r 12"],
    ["https://github.com/o/r/pull/12.patch", "github.com o r 12"],
    ["http://www.github.com/o/r/pull/12", "github.com o r 12"],
    ["github.com/o/r/pull/12", "github.com o r 12"],
    ["https://GHE.example.com:8443/o/r/pull/7/checks", "ghe.example.com:8443 o r 7"],
    ["https://octo.ghe.com/o/r/pull/7", "octo.ghe.com o r 7"],
    ["https://api.github.com/repos/o/r/pulls/7", "github.com o r 7"],
    ["https://api.octo.ghe.com/repos/o/r/pulls/7/files", "octo.ghe.com o r 7"],
    ["https://ghe.example.com/api/v3/repos/o/r/pulls/7", "ghe.example.com o r 7"],
    ["https://github.com@evil.example/o/r/pull/1", "evil.example o r 1"],
  ];
  for (const [text, expected] of cases) {
    const pull = parsePullReference(text);
    assertEquals(pull && `${said(pull)} ${pull.number}`, expected, text);
  }
});

test("parsePullReference() takes for no pull request what is none", () => {
  const none = [
    "",
    "#",
    "0",
    "012",
    "-1",
    "1.5",
    "1e3",
    "12345678901",
    "main",
    "feature/x",
    "o/r",
    "o/r#",
    "o/r#x",
    "o/..#1",
    "a/b/c/d#1",
    "https://github.com/o/r",
    "https://github.com/o/r/issues/12",
    "https://github.com/o/r/pulls",
    "https://github.com/o/r/pull/x",
    "https://github.com/o/r/pull/0",
    "https://api.github.com/repos/o/r/issues/7",
    "ftp://github.com/o/r/pull/1",
    "https://github.com/o/r\\pull/1",
    "https://github.com/o/r/pull/1 2",
    "javascript://github.com/o/r/pull/1",
  ];
  for (const text of none) assertEquals(parsePullReference(text), undefined, text);
});

const ACTIONS = { GITHUB_ACTIONS: "true", GITHUB_REPOSITORY: "o/r" };

/** Reads one file, and no other. */
function only(path: string, text: string): (path: string) => Promise<string> {
  return (asked) => asked === path ? Promise.resolve(text) : Promise.reject(new Error(`no such file: ${asked}`));
}

test("pullFromEvent() takes the pull request of the event, with its title", async () => {
  const event = {
    number: 5,
    pull_request: {
      number: 5,
      title: "Add a thing",
      user: { login: "ada" },
      draft: true,
      base: { ref: "main", sha: "a".repeat(40) },
      head: { ref: "thing" },
      updated_at: "2026-12-01T12:00:00Z",
    },
  };
  const env = { ...ACTIONS, GITHUB_EVENT_PATH: "/event.json", GITHUB_REF: "refs/pull/9/merge" };
  assertEquals(await pullFromEvent(env, only("/event.json", JSON.stringify(event))), {
    host: "github.com",
    owner: "o",
    repo: "r",
    number: 5,
    title: "Add a thing",
    author: "ada",
    draft: true,
    base: "main",
    head: "thing",
    updatedAt: "2026-12-01T12:00:00Z",
  });
});

test("pullFromEvent() takes the number from the ref where the event does not say it", async () => {
  for (const text of ["{}", "", "null", '{"pull_request":{"number":"5"}}']) {
    const env = { ...ACTIONS, GITHUB_EVENT_PATH: "/event.json", GITHUB_REF: "refs/pull/9/merge" };
    const pull = await pullFromEvent(env, only("/event.json", text));
    assertEquals([pull?.number, pull?.title], [9, "o/r#9"], text);
  }
  const env = { ...ACTIONS, GITHUB_EVENT_PATH: "/gone.json", GITHUB_REF: "refs/pull/9/head" };
  const enterprise = { ...env, GITHUB_SERVER_URL: "https://ghe.example.com", GH_HOST: "other.example.com" };
  assertEquals((await pullFromEvent(enterprise, only("/event.json", "{}")))?.host, "ghe.example.com");
});

test("pullFromEvent() finds none for other events and outside of Actions", async () => {
  const readFile = only("/event.json", '{"pull_request":{"number":5}}');
  const cases: Record<string, string>[] = [
    { ...ACTIONS, GITHUB_REF: "refs/heads/main" },
    { ...ACTIONS, GITHUB_REF: "refs/pull/0/merge" },
    { ...ACTIONS, GITHUB_REF: "refs/pull/9/merge/x" },
    { ...ACTIONS },
    { GITHUB_ACTIONS: "true", GITHUB_EVENT_PATH: "/event.json" },
    { GITHUB_REPOSITORY: "o/r", GITHUB_EVENT_PATH: "/event.json" },
    { CI: "true", GITHUB_REPOSITORY: "o/r", GITHUB_REF: "refs/pull/9/merge" },
  ];
  for (const env of cases) assertEquals(await pullFromEvent(env, readFile), undefined, JSON.stringify(env));
});
