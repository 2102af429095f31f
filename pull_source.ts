/**
 * A pull request on GitHub as a source. Nothing is posted.
 *
 * @module
 */

import { readFile } from "node:fs/promises";
import { GitError, UsageError } from "./errors.ts";
import { remotes, type Repository } from "./git.ts";
import {
  chooseRepository,
  gitAuthorization,
  type GitHub,
  listPulls,
  parsePullReference,
  type PullDiff,
  pullDiff,
  pullFiles,
  pullFromEvent,
  pullName,
  type PullRequest,
  type RepositoryName,
  resolvePull,
  type TooLarge,
} from "./github.ts";
import { isLoopback } from "./http.ts";
import { repositoryOf, type Source, type SourceContext } from "./source.ts";

/** Open pull requests that an error names. */
const MAX_NAMED = 20;

/**
 * Opens a pull request: the one that is named, else the one that the workflow runs for.
 *
 * @param request `reference` is `NUMBER`, `URL` or `OWNER/REPO#NUMBER`.
 * @throws {UsageError} if none is named where none is known; its hint lists the open ones.
 * @throws {GitHubError} if GitHub refuses, fails or cannot be reached.
 */
export async function openPull(
  { reference, title }: { reference?: string; title?: string },
  context: SourceContext,
): Promise<Source> {
  const notices: string[] = [];
  const github = githubOf(context, (text) => notices.push(text));
  const place = await repositoryOf(context);
  const pull = reference === undefined
    ? await unnamedPull(github, context, place)
    : await namedPull(github, reference, place);
  const name = pullName(pull);
  return {
    kind: "pr",
    title: title ?? pull.title,
    description: (title ?? pull.title) === name ? "" : name,
    ...(place === undefined ? {} : { repository: place.root }),
    chunks: patchOf(github, pull, await pullDiff(github, pull), notices),
    notices,
    attributes: Promise.resolve(new Map()),
    hidden: Promise.resolve(new Set()),
    again: { kind: "pr", reference: pullUrl(pull) },
    settings: Promise.resolve(undefined),
    lockKey: place?.gitDir ?? "",
  };
}

/** Where a pull request is. */
export function pullUrl({ host, owner, repo, number }: PullRequest): string {
  return `https://${host}/${owner}/${repo}/pull/${number}`;
}

/** What talking to GitHub needs of a context. */
export function githubOf({ env, signal, githubToken }: SourceContext, notice: (text: string) => void): GitHub {
  return { env, token: githubToken, signal, notice };
}

/**
 * The repository on GitHub that one is in.
 *
 * @throws {UsageError} if one is in none, or none of its remotes is on GitHub.
 */
export async function repositoryOnGitHub(github: GitHub, place: Repository | undefined): Promise<RepositoryName> {
  if (!place) {
    throw new UsageError("Not in a repository, so the pull request needs its name", { hint: "OWNER/REPO#NUMBER" });
  }
  return await chooseRepository(github, await remotes(place));
}

async function namedPull(github: GitHub, text: string, place: Repository | undefined): Promise<PullRequest> {
  const reference = parsePullReference(text);
  if (!reference) {
    throw new UsageError(`"${text}" names no pull request`, { hint: "NUMBER, URL or OWNER/REPO#NUMBER" });
  }
  return await resolvePull(github, reference, () => repositoryOnGitHub(github, place));
}

async function unnamedPull(
  github: GitHub,
  { env }: SourceContext,
  place: Repository | undefined,
): Promise<PullRequest> {
  const pull = await pullFromEvent(env, (path) => readFile(path, "utf8"));
  if (pull) return pull;
  const open = await listPulls(github, await repositoryOnGitHub(github, place));
  if (open.length === 0) throw new UsageError("There is no open pull request to review");
  const named = open.slice(0, MAX_NAMED).map(({ number, title }) => `\n  ${number}  ${title}`).join("");
  const more = open.length > MAX_NAMED ? `\n  and ${open.length - MAX_NAMED} more: octavo prs` : "";
  throw new UsageError("Which pull request?", { hint: `octavo pr NUMBER, one of:${named}${more}` });
}

/** The diff; where GitHub finds it too large the same from git, and where that fails what its list of files has of it. */
async function* patchOf(
  github: GitHub,
  pull: PullRequest,
  diff: PullDiff,
  notices: string[],
): AsyncGenerator<Uint8Array> {
  if (!diff.tooLarge) return yield* diff.chunks;
  let begun = false;
  try {
    for await (const piece of await fetchPull(github, diff)) {
      if (!begun) notices.push(`GitHub does not give this diff as a whole (${diff.reason}): it is made by git`);
      begun = true;
      yield piece;
    }
    return;
  } catch (error) {
    if (begun || !(error instanceof GitError)) throw error;
    const why = `GitHub does not give this diff as a whole (${diff.reason}), nor does git (${error.message})`;
    notices.push(`${why}: it is put together from the list of files`);
  }
  const listed = pullFiles(github, { ...pull, files: diff.files });
  yield* listed.chunks;
  notices.push(...await listed.notices);
}

/** The three-dot diff of a pull request, made in a repository that is thrown away. */
async function fetchPull(github: GitHub, { pull, cloneUrl, baseRef, headRef }: TooLarge) {
  const { fetchedDiff } = await import("./git_fetch.ts");
  return fetchedDiff({
    url: cloneUrl,
    base: baseRef,
    head: headRef,
    env: github.env,
    authorization: await gitAuthorization(github, pull.host),
    signal: github.signal,
    // A server on this machine may do without TLS.
    protocols: isLoopback(cloneUrl) ? "http:https" : "https",
  });
}
