/**
 * Pull requests on GitHub: the list of the open ones, and the diff of one. Nothing is posted.
 *
 * In the ordinary case those are two GETs. A diff that GitHub refuses as too large is told as such, with what is needed
 * to get it from git; the list of its files is the last resort.
 *
 * @module
 */

import { Buffer } from "node:buffer";
import { setTimeout as pause } from "node:timers/promises";
import { GitHubError, UsageError } from "./errors.ts";
import {
  API_VERSION,
  isTooLarge,
  nextPage,
  rateLimitError,
  rateLimitOf,
  type Refusal,
  refusalError,
} from "./github_answers.ts";
import { bodyOf, peek, readText } from "./github_body.ts";
import {
  apiBase,
  configuredToken,
  defaultHost,
  type HostToken,
  isKnownHost,
  isToken,
  webBase,
  withoutTokens,
} from "./github_hosts.ts";
import {
  parseRemote,
  pullName,
  type PullReference,
  type PullRequest,
  readPull,
  type RepositoryName,
  type RepositoryReference,
} from "./github_names.ts";
import { patchOfRow, readFileRows, unlistedNotices, type UnreviewedFile, unreviewedNotices } from "./github_patch.ts";
import { errorDetail, HttpError, isLoopback, request, scrub } from "./http.ts";
import type { Env } from "./paths.ts";
import { ProcessError, run } from "./process.ts";

export { pullFromEvent } from "./github_hosts.ts";
export { parsePullReference, parseRemote, parseRepository, pullName } from "./github_names.ts";
export type { PullReference, PullRequest, RepositoryName, RepositoryReference } from "./github_names.ts";
export type { UnreviewedFile } from "./github_patch.ts";

/** The media type of a diff (docs.github.com, "Media types for pull requests"). */
const DIFF_TYPE = "application/vnd.github.v3.diff";

/** Pull requests on a page of the list. */
const PER_PAGE = 50;

/** Pages of the list that are read: 1,000 pull requests are more than anybody picks from. */
const MAX_LIST_PAGES = 20;

/** Files on a page of their list: the most that GitHub gives. */
const FILES_PER_PAGE = 100;

/** Milliseconds until GitHub's headers must be there; it gives up on a diff itself after about ten seconds. */
const HEADERS_MS = 60_000;

/** Milliseconds of a rate limit that are waited for; a longer one ends the command. */
const MAX_WAIT_MS = 60_000;

/** Times that a rate limit is waited for, one after another. */
const MAX_WAITS = 3;

/** Milliseconds before a request that failed on GitHub's side is sent again, once. */
const RETRY_MS = 1_000;

/** Bytes of a JSON answer: a page of the longest descriptions has a tenth of it. */
const MAX_JSON_BYTES = 100_000_000;

/** Bytes of an error's body that are looked at. */
const MAX_ERROR_BYTES = 100_000;

/** Bytes of a body that are looked at before it is taken for a diff: enough for the title of a page in its place. */
const PEEK_BYTES = 1_000;

/** Milliseconds that `gh` may take, which may ask a keyring. */
const GH_MS = 10_000;

/** What talking to GitHub needs. One object a run: the token of a host is looked up once for it. */
export interface GitHub {
  /** Where tokens, hosts and proxies are looked up. */
  env: Env;
  /** The user file's `githubToken`. */
  token?: string | undefined;
  /** Ends requests, bodies and waiting. */
  signal?: AbortSignal | undefined;
  /** Told what a person should know: a limit that is waited for, a list that is cut. */
  notice?: ((text: string) => void) | undefined;
  /**
   * Runs `gh auth token`.
   * @default process.ts's
   */
  run?: typeof run;
  /**
   * The time, in milliseconds since 1970.
   * @default the clock
   */
  now?: () => number;
}

/** A diff that GitHub refuses as too large, and what is needed to get the same from git. */
export interface TooLarge {
  /** Tells it from a diff. */
  tooLarge: true;
  /** What GitHub said of it: one clean line. */
  reason: string;
  /** The pull request, with all that GitHub says of it. */
  pull: PullRequest;
  /** Where to fetch from. */
  cloneUrl: string;
  /**
   * What to fetch as the base of the three-dot diff: a ref, or a hash for one that is closed, whose base branch has
   * gone on and may hold it already.
   */
  baseRef: string;
  /** What to fetch as its head. */
  headRef: string;
  /** Full hash that the head should have. */
  headHash?: string;
  /** How many files it changes. */
  files?: number;
}

/** A diff as it comes, or the word that it is too large. */
export type PullDiff = { tooLarge?: false; chunks: AsyncIterable<Uint8Array> } | TooLarge;

/** A diff made of the list of files. */
export interface PullFiles {
  /** The patch, once. */
  chunks: AsyncIterable<Uint8Array>;
  /** What is not in it; known when `chunks` has ended. */
  unreviewed: Promise<UnreviewedFile[]>;
  /** The same in sentences, what GitHub does not list at all included. */
  notices: Promise<string[]>;
}

/**
 * The repository whose pull requests are meant: that of `origin` if it is on GitHub, else of the first remote that is.
 * A host counts as GitHub that is GitHub's own, that the environment names, or that `gh` is logged in to.
 *
 * @throws {UsageError} If no remote is on GitHub.
 */
export async function chooseRepository(
  github: GitHub,
  remotes: readonly { name: string; url: string }[],
): Promise<RepositoryName> {
  const inOrder = [...remotes].sort((a, b) => Number(b.name === "origin") - Number(a.name === "origin"));
  const elsewhere: string[] = [];
  for (const { name, url } of inOrder) {
    const repository = parseRemote(url);
    if (!repository) continue;
    if (isKnownHost(github.env, repository.host) || await findToken(github, repository.host)) return repository;
    elsewhere.push(`"${name}" is on "${repository.host}"`);
  }
  throw new UsageError(
    `No remote of this repository is on GitHub${elsewhere.length ? `: ${elsewhere.join(", ")}` : ""}`,
    {
      hint: "name it: OWNER/REPO#NUMBER; for GitHub Enterprise Server set GH_HOST to its host; " +
        "for other forges: git diff … | octavo diff -",
    },
  );
}

/** The pull request that a reference means; `repository` is asked for only where it names none. */
export async function resolvePull(
  github: GitHub,
  reference: PullReference,
  repository: () => Promise<RepositoryName>,
): Promise<PullRequest> {
  const { owner, repo, number } = reference;
  const named = owner !== undefined && repo !== undefined
    ? completeRepository(github, { ...reference, owner, repo })
    : await repository();
  return { host: named.host, owner: named.owner, repo: named.repo, number, title: pullName({ ...named, number }) };
}

/** A repository with its host: where none is named, `GH_HOST`, the workflow's in GitHub Actions, or github.com. */
export function completeRepository({ env }: GitHub, { host, owner, repo }: RepositoryReference): RepositoryName {
  return { host: host ?? defaultHost(env), owner, repo };
}

/**
 * The open pull requests of a repository, as GitHub orders them: newest first.
 *
 * @throws {GitHubError} If GitHub refuses, fails or cannot be reached.
 */
export async function listPulls(github: GitHub, repository: RepositoryName): Promise<PullRequest[]> {
  const session = await openSession(github, repository.host);
  const asked = `repository "${repository.owner}/${repository.repo}"`;
  const pulls: PullRequest[] = [];
  let pages = 0;
  for await (const page of getPages(session, `${pullsPath(repository)}?state=open&per_page=${PER_PAGE}`, asked)) {
    if (!Array.isArray(page)) throw noSense(session, "no list of pull requests");
    for (const row of page) {
      const read = readPull(row, repository);
      if (!read) throw noSense(session, "a pull request without a number");
      pulls.push(read.pull);
    }
    if (++pages === MAX_LIST_PAGES) {
      github.notice?.(`Only the newest ${pulls.length} open pull requests are listed`);
      break;
    }
  }
  return pulls;
}

/**
 * The diff of a pull request, streamed, or the word that GitHub finds it too large.
 *
 * @throws {GitHubError} If GitHub refuses, fails or cannot be reached; `chunks` throws it when the stream breaks off.
 */
export async function pullDiff(github: GitHub, pull: PullRequest): Promise<PullDiff> {
  const session = await openSession(github, pull.host);
  const what = pullWhat(pull);
  const { response, refusal } = await get(session, { path: pullPath(pull), accept: DIFF_TYPE, what });
  if (response) return { chunks: await onlyDiff(session, response) };
  if (!isTooLarge(refusal)) throw refusalError(refusal, { ...session, what });
  return await tooLarge(session, pull, refusal.detail || `HTTP ${refusal.status}`);
}

/** What git needs to make the diff that GitHub does not: one more GET, of the pull request itself. */
async function tooLarge(session: Session, pull: PullRequest, reason: string): Promise<TooLarge> {
  const what = pullWhat(pull);
  const answer = await getJson(session, { path: pullPath(pull), what });
  const read = readPull(answer.value, pull);
  const baseRef = read && (read.open ? read.baseRef ?? read.baseHash : read.baseHash ?? read.baseRef);
  if (!read || baseRef === undefined) throw noSense(session, "a pull request without a base");
  const { headHash, files } = read;
  return {
    tooLarge: true,
    reason,
    pull: read.pull,
    cloneUrl: `${webBase(session.github.env, pull.host)}/${pull.owner}/${pull.repo}.git`,
    baseRef,
    headRef: `refs/pull/${pull.number}/head`,
    ...(headHash === undefined ? {} : { headHash }),
    ...(files === undefined ? {} : { files }),
  };
}

/**
 * The diff of a pull request, made of the list of its files: the last resort for one that is too large, since GitHub
 * lists 3,000 files at most, and without their diff where that is large.
 *
 * @param pull With `files`, how many it changes, if that is known.
 */
export function pullFiles(github: GitHub, pull: PullRequest & { files?: number | undefined }): PullFiles {
  const unreviewed: UnreviewedFile[] = [];
  const counted = { listed: 0 };
  const ended = Promise.withResolvers<void>();
  return {
    chunks: filesPatch(github, pull, unreviewed, counted, ended.resolve),
    unreviewed: ended.promise.then(() => unreviewed),
    notices: ended.promise.then(
      () => [...unreviewedNotices(unreviewed), ...unlistedNotices(counted.listed, pull.files)],
    ),
  };
}

async function* filesPatch(
  github: GitHub,
  pull: PullRequest,
  unreviewed: UnreviewedFile[],
  counted: { listed: number },
  ended: () => void,
): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder();
  try {
    const session = await openSession(github, pull.host);
    for await (const page of getPages(session, `${pullPath(pull)}/files?per_page=${FILES_PER_PAGE}`, pullWhat(pull))) {
      const rows = readFileRows(page);
      if (!rows) throw noSense(session, "no list of files");
      counted.listed += rows.length;
      const patches = rows.map(patchOfRow);
      for (const { unreviewed: missing } of patches) if (missing) unreviewed.push(missing);
      yield encoder.encode(patches.map(({ text }) => text).join(""));
    }
  } finally {
    ended();
  }
}

// --- tokens --------------------------------------------------------------------------------------------------------

/** What `gh` says, by host: it is asked once a run. */
const asked = new WeakMap<GitHub, Map<string, Promise<HostToken | undefined>>>();

/** The token for a host: configured, else what `gh` is logged in with. */
async function findToken(github: GitHub, host: string): Promise<HostToken | undefined> {
  const configured = configuredToken(github.env, host, github.token);
  if (configured) return configured;
  const answers = asked.get(github) ?? new Map<string, Promise<HostToken | undefined>>();
  asked.set(github, answers);
  const answer = answers.get(host) ?? askGh(github, host);
  answers.set(host, answer);
  return await answer;
}

async function askGh({ env, signal, run: runIt = run }: GitHub, host: string): Promise<HostToken | undefined> {
  try {
    const limits = { timeoutMs: GH_MS, maxBytes: 10_000, ...(signal ? { signal } : {}) };
    const options = { env: withoutTokens(env), ...limits };
    const { code, stdout } = await runIt("gh", ["auth", "token", "--hostname", host], options);
    const value = new TextDecoder().decode(stdout).trim();
    return code === 0 && isToken(value) ? { value, from: "gh" } : undefined;
  } catch (error) {
    if (error instanceof ProcessError) return undefined; // no gh, or none that answers: it is asked as a courtesy
    throw error;
  }
}

/**
 * The `Authorization` header with which git may fetch from a host, for a private repository: the same token, in the form
 * that GitHub's git servers take. Never to be printed. `undefined` without a token.
 */
export async function gitAuthorization(github: GitHub, host: string): Promise<string | undefined> {
  const token = await findToken(github, host);
  return token && `Basic ${Buffer.from(`x-access-token:${token.value}`).toString("base64")}`;
}

// --- requests ------------------------------------------------------------------------------------------------------

/** A host that is talked to, and as whom. */
interface Session {
  github: GitHub;
  host: string;
  /** Address of its API. */
  base: string;
  token: HostToken | undefined;
}

/** One GET. */
interface Get {
  /** Path in the API, or a whole address of the same origin. */
  path: string;
  accept?: string;
  /** What is asked for, in words. */
  what: string;
}

async function openSession(github: GitHub, host: string): Promise<Session> {
  const base = apiBase(github.env, host);
  const url = URL.parse(base);
  if (url?.protocol !== "https:" && !(url?.protocol === "http:" && isLoopback(url))) {
    throw new UsageError(`GITHUB_API_URL is "${base}", which is no https address`, {
      hint: "set it to one, or unset it",
    });
  }
  return { github, host, base, token: await findToken(github, host) };
}

function pullsPath({ owner, repo }: RepositoryName): string {
  return `/repos/${owner}/${repo}/pulls`;
}

function pullPath(pull: PullRequest): string {
  return `${pullsPath(pull)}/${pull.number}`;
}

function pullWhat({ owner, repo, number }: PullRequest): string {
  return `pull request ${number} of "${owner}/${repo}"`;
}

/**
 * Sends a GET until there is an answer to it: a rate limit that is over soon is waited for, and a failure on GitHub's
 * side is tried once more.
 */
async function get(session: Session, { path, accept = "application/vnd.github+json", what }: Get): Promise<Answer> {
  const { github } = session;
  const now = github.now ?? Date.now;
  let [waits, retries] = [0, 0];
  while (true) {
    const response = await send(session, path, accept);
    if (response.ok) return { response };
    const refusal = await readRefusal(session, response);
    const limit = rateLimitOf(refusal, now());
    if (limit) {
      if (limit.waitMs > MAX_WAIT_MS || waits++ === MAX_WAITS) {
        throw rateLimitError(limit, { ...session, what }, now());
      }
      github.notice?.(`GitHub's rate limit: going on in ${Math.ceil(limit.waitMs / 1000)} s`);
      await wait(limit.waitMs, github.signal);
    } else if ([500, 502, 503].includes(refusal.status) && !isTooLarge(refusal) && retries++ === 0) {
      await wait(RETRY_MS, github.signal);
    } else {
      return { refusal };
    }
  }
}

type Answer = { response: Response; refusal?: undefined } | { response?: undefined; refusal: Refusal };

async function send({ github, base, token }: Session, path: string, accept: string): Promise<Response> {
  try {
    return await request({
      url: path.startsWith("/") ? base + path : path,
      headers: {
        accept,
        "x-github-api-version": API_VERSION,
        ...(token ? { authorization: `Bearer ${token.value}` } : {}),
      },
      credentials: ["authorization"],
      env: github.env,
      timeoutMs: HEADERS_MS,
      ...(github.signal ? { signal: github.signal } : {}),
    });
  } catch (error) {
    if (!(error instanceof HttpError)) throw error;
    throw new GitHubError(scrub(error.message, [token?.value]), {
      hint: error.hint ?? "check the network; HTTPS_PROXY names a proxy",
      cause: error,
    });
  }
}

/** Waits; throws the signal's reason when aborted. */
async function wait(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  try {
    await pause(milliseconds, undefined, signal ? { signal } : {});
  } catch (error) {
    signal?.throwIfAborted();
    throw error;
  }
}

async function getJson(session: Session, get_: Get): Promise<{ value: unknown; headers: Headers }> {
  const { response, refusal } = await get(session, get_);
  if (refusal) throw refusalError(refusal, { ...session, what: get_.what });
  const value = parseJson(await readText(response, MAX_JSON_BYTES, session.github.signal));
  if (value === undefined) throw noSense(session, "no JSON");
  return { value, headers: response.headers };
}

/** The pages of a list. The next one is where the `Link` header says, within the origin of the API. */
async function* getPages(session: Session, path: string, what: string): AsyncGenerator<unknown> {
  const seen = new Set<string>();
  for (let next: string | undefined = path; next !== undefined && !seen.has(next);) {
    seen.add(next);
    const { value, headers }: { value: unknown; headers: Headers } = await getJson(session, { path: next, what });
    yield value;
    next = nextPage(headers);
    if (next !== undefined && URL.parse(next)?.origin !== new URL(session.base).origin) {
      session.github.notice?.("GitHub's list goes on at another host, which is not followed: the list is cut");
      return;
    }
  }
}

async function readRefusal(session: Session, response: Response): Promise<Refusal> {
  const { status, headers } = response;
  const body = await readText(response, MAX_ERROR_BYTES, session.github.signal);
  // Who stands between may repeat what it was sent.
  return { status, headers, detail: scrub(errorDetail(body), [session.token?.value]), json: parseJson(body) };
}

/** The body of an answer, after a look at its beginning: a proxy or a login page may have answered in GitHub's place. */
async function onlyDiff(session: Session, response: Response): Promise<AsyncIterable<Uint8Array>> {
  const body = bodyOf(response, session.github.signal);
  const { start, chunks } = await peek(body, PEEK_BYTES);
  const text = new TextDecoder("latin1").decode(start);
  if (text.trim() === "" || text.startsWith("diff --git ")) return chunks;
  await body.return(undefined);
  const type = response.headers.get("content-type")?.split(";")[0] ?? "text";
  throw noSense(session, `no diff but ${type}: ${scrub(errorDetail(text), [session.token?.value])}`);
}

function noSense({ base }: Session, what: string): GitHubError {
  return new GitHubError(`The answer of "${base}" is ${what}`, {
    hint: "something else may answer in GitHub's place: a proxy, a login page, a wrong address",
  });
}

function parseJson(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined; // no JSON: the caller says so, or reads it as text
  }
}
