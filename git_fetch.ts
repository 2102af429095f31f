/**
 * The diff of two branches of a remote repository, made in a repository that is thrown away. No clone of the user's is
 * touched.
 *
 * @module
 */

import { GitError } from "./errors.ts";
import {
  attempt,
  bytesOf,
  configured,
  diffArguments,
  type Git,
  gitEnvironment,
  line,
  piecesOf,
  textOf,
  withoutDrivers,
} from "./git_command.ts";
import { temporaryFolder } from "./git_index.ts";
import type { Env } from "./process.ts";

/** Options of {@linkcode fetchedDiff}. */
export interface FetchOptions {
  /** Where to fetch from. */
  url: string;
  /** The old side: a ref there, or a full hash. */
  base: string;
  /** The new side: a ref there, or a full hash. */
  head: string;
  /** The environment octavo runs in. */
  env: Env;
  /** An `Authorization` header, for the host of `url` only. */
  authorization?: string | undefined;
  /** Stops git when aborted. */
  signal?: AbortSignal | undefined;
  /** What may be spoken to the remote, as in `GIT_ALLOW_PROTOCOL`. @default "https" */
  protocols?: string;
}

/** What would make git look at another repository than ours, ask somebody, or not fetch the files that it needs. */
const UNWANTED = new Set([
  "GIT_DIR",
  "GIT_WORK_TREE",
  "GIT_INDEX_FILE",
  "GIT_OBJECT_DIRECTORY",
  "GIT_ALTERNATE_OBJECT_DIRECTORIES",
  "GIT_COMMON_DIR",
  "GIT_NAMESPACE",
  "GIT_CEILING_DIRECTORIES",
  "GIT_SHALLOW_FILE",
  "GIT_NO_LAZY_FETCH",
  "GIT_ASKPASS",
  "SSH_ASKPASS",
]);

/**
 * What `head` has, since it left `base`: the patch of `git diff base...head`, as it comes. Only the history is fetched,
 * and of the files those that differ, where the remote can do that.
 *
 * @throws {GitError} if git cannot fetch, or the two have nothing in common; before the first piece, mostly
 */
export async function* fetchedDiff(options: FetchOptions): AsyncGenerator<Uint8Array> {
  const folder = await temporaryFolder(options.env);
  try {
    const git = await makeRepository(folder.path, options);
    const refs = [`+${options.base}:refs/octavo/base`, `+${options.head}:refs/octavo/head`];
    const fetch = ["fetch", "--quiet", "--no-tags", "--no-recurse-submodules", "--no-write-fetch-head"];
    await bytesOf(git, [...fetch, "--filter=blob:none", "origin", ...refs]);
    const head = await textOf(git, ["rev-parse", "--verify", "--quiet", "refs/octavo/head^{commit}"]);
    const { code, stdout } = await attempt(git, ["merge-base", "refs/octavo/base", head]);
    if (code !== 0) throw new GitError(`"${options.base}" and "${options.head}" have no common commit`);
    yield* piecesOf(git, diffArguments(["--patch"], { trees: [line(stdout), head] }));
  } finally {
    await folder.remove();
  }
}

async function makeRepository(
  path: string,
  { env, signal, url, authorization, protocols = "https" }: FetchOptions,
): Promise<Git> {
  const kept = Object.entries(gitEnvironment(env, path)).filter(([name]) => !UNWANTED.has(name));
  const git: Git = {
    cwd: path,
    env: { ...Object.fromEntries(kept), GIT_DIR: path, GIT_ALLOW_PROTOCOL: protocols },
    ...(signal ? { signal } : {}),
  };
  await bytesOf(git, ["init", "--quiet", "--bare", "--template=", path]);
  return configured(await withoutDrivers(git), [
    ["remote.origin.url", url],
    ["core.askPass", ""],
    ["gc.auto", "0"], // it would go on working in a folder that is being removed
    ["maintenance.auto", "false"],
    ...(authorization === undefined
      ? []
      : [[`http.${new URL("/", url)}.extraHeader`, `Authorization: ${authorization}`] as [string, string]]),
  ]);
}
