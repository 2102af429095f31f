/**
 * How git is run on a repository that nobody trusts: nothing that its configuration or attributes name is executed,
 * nothing is fetched, nothing in it is written, and the patch looks the same whatever its configuration says.
 *
 * Every setting below stands against something that git does otherwise, seen with git 2.39. git's own names and rules:
 * git(1), git-config(1), git-diff(1), gitattributes(5).
 *
 * @module
 */

import { resolve } from "node:path";
import { GitError, RepositoryError } from "./errors.ts";
import { type Env, type Exit, run, type RunOptions, type RunResult, stream } from "./process.ts";
import { visible } from "./text.ts";

/** What running git takes. */
export interface Git {
  /** Folder that git runs in. */
  cwd: string;
  /** Environment of git, made by {@linkcode gitEnvironment}. */
  env: Env;
  /** Stops git when aborted. */
  signal?: AbortSignal;
}

/** Bytes of a list (of paths, of remotes) above which it is an error: a million long paths, and room to hold them. */
const MAX_LIST_BYTES = 256_000_000;

const OPTIONS = [
  "--no-pager",
  "--literal-pathspecs",
  ...config({
    "core.fsmonitor": "", // a program that git asks what has changed
    "core.hooksPath": "/dev/null", // post-index-change runs even where no index is written
    "safe.bareRepository": "explicit", // a bare repository committed in a subfolder has a configuration of its own
    "diff.autoRefreshIndex": "false", // writes the index
    "diff.suppressBlankEmpty": "false",
    "core.quotePath": "true",
    "core.attributesFile": "/dev/null",
    "core.bigFileThreshold": "512m", // its default; a small one makes every file binary, with its text not shown
    "core.splitIndex": "false", // writes into the repository even where the index is somewhere else
  }),
];

const DIFF_OPTIONS = [
  "--no-color",
  "--no-color-moved",
  "--no-ext-diff",
  "--no-textconv",
  "--submodule=short",
  "--ignore-submodules=dirty", // looking into a submodule runs what its own configuration names
  "--src-prefix=a/",
  "--dst-prefix=b/",
  "--no-relative",
  "--unified=3",
  "--inter-hunk-context=0",
  "--diff-algorithm=histogram",
  "--indent-heuristic",
  "--find-renames=50%",
  "-l1000",
  "-O/dev/null",
  "--full-index",
  "--ws-error-highlight=none",
];

/** What is compared with what. */
export interface Sides {
  /** Full hashes, as `git diff` takes them: one (against the working tree, or the index) or two. */
  trees: string[];
  /** The index instead of the working tree. */
  cached?: boolean;
  /** Only these files, as paths from the root of the repository. */
  paths?: string[];
}

/**
 * The arguments of a diff.
 *
 * @param format How it is printed: `--patch`, `--raw`, …
 */
export function diffArguments(format: string[], { trees, cached = false, paths = [] }: Sides): string[] {
  const side = cached ? ["--cached"] : [];
  return ["diff", ...DIFF_OPTIONS, ...format, ...side, "--end-of-options", ...trees, "--", ...paths];
}

/**
 * The environment for git, from that of the parent: nothing in it makes git run a program, ask, fetch, lock, or print
 * other than expected. What hooks set (`GIT_DIR`, `GIT_INDEX_FILE`, …) stays; what is relative in it to `dir`, becomes
 * absolute, since git is run in the root of the repository.
 *
 * @param parent The environment that octavo runs in.
 * @param dir The folder that octavo runs in.
 */
export function gitEnvironment(parent: Env, dir: string): Env {
  const env: Env = {};
  for (const [name, value] of Object.entries(parent)) if (!UNWANTED.test(name)) env[name] = value;
  for (const name of ["GIT_DIR", "GIT_WORK_TREE"]) if (env[name]) env[name] = resolve(dir, env[name]);
  return {
    ...env,
    LC_ALL: "C", // messages are read below
    GIT_OPTIONAL_LOCKS: "0",
    GIT_TERMINAL_PROMPT: "0",
    GIT_ALLOW_PROTOCOL: "none", // stronger than the repository's own protocol.*.allow
    GIT_NO_LAZY_FETCH: "1",
    GIT_NO_REPLACE_OBJECTS: "1",
  };
}

/** Programs, traces, other pathspecs than ours, and `GIT_CONFIG`, which makes `git config` read another file than git. */
const UNWANTED = /^(GIT_EXTERNAL_DIFF|GIT_DIFF_OPTS|GIT_TRACE.*|GIT_CONFIG|GIT_(LITERAL|GLOB|NOGLOB|ICASE)_PATHSPECS)$/;

/** Keys that make git run a program on content, hide content, or pick the text behind `@@`; each has any name in it. */
const DRIVER_KEYS = String.raw`^(filter\..*\.(clean|smudge|process)|diff\..*\.(binary|funcname|xfuncname))$`;

/** The line git shows behind `@@` by itself: one that starts with a letter, `$` or `_`. */
const DEFAULT_FUNCNAME = "^[A-Za-z_$].*";

/**
 * The same git, with every filter and diff driver switched off that the configuration names. A name may contain `=`,
 * which `-c` cannot express: the settings go into the environment.
 *
 * @throws {RepositoryError} if a name cannot be passed on
 * @throws {GitError} if the configuration cannot be read
 */
export async function withoutDrivers(git: Git): Promise<Git> {
  const args = ["-c", "safe.bareRepository=explicit", "config", "-z", "--name-only", "--get-regexp", DRIVER_KEYS];
  const result = await run("git", args, { ...options(git), maxBytes: MAX_LIST_BYTES });
  if (result.code !== 0 && result.code !== 1) throw failure(args.slice(2), result); // 1: there is none
  const keys = new Set(splitList(result.stdout).map(utf8));
  return configured(git, [...keys].flatMap(overrides));
}

/** The same git with more settings, which are stronger than what files say (git-config(1), `GIT_CONFIG_COUNT`). */
export function configured(git: Git, settings: readonly [key: string, value: string][]): Git {
  const env = { ...git.env };
  let count = Number(env["GIT_CONFIG_COUNT"] || 0);
  for (const [key, value] of settings) {
    env[`GIT_CONFIG_KEY_${count}`] = key;
    env[`GIT_CONFIG_VALUE_${count}`] = value;
    count++;
  }
  return { ...git, env: { ...env, GIT_CONFIG_COUNT: String(count) } };
}

function overrides(key: string): [string, string][] {
  const driver = key.slice(0, key.lastIndexOf("."));
  if (key.startsWith("filter.")) return [[key, ""], [`${driver}.required`, "false"]];
  return key.endsWith(".binary") ? [[key, "auto"]] : [[`${driver}.xfuncname`, DEFAULT_FUNCNAME]];
}

/** Decoding with losses would switch off a filter of another name than the one that git runs. */
function utf8(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (cause) {
    const hint = "Its git configuration names a filter or diff driver in bytes that are not UTF-8: rename it there";
    throw new RepositoryError("octavo cannot switch off a program that this repository configures", { cause, hint });
  }
}

/** Runs git and gives what it printed, whatever its exit code. */
export function attempt(git: Git, args: string[], more: Pick<RunOptions, "input"> = {}): Promise<RunResult> {
  return run("git", [...OPTIONS, ...args], { maxBytes: MAX_LIST_BYTES, ...options(git), ...more });
}

/**
 * Runs git and gives what it printed, as bytes.
 *
 * @throws {GitError} if it fails
 */
export async function bytesOf(git: Git, args: string[], more: Pick<RunOptions, "input"> = {}): Promise<Uint8Array> {
  const result = await attempt(git, args, more);
  if (result.code !== 0) throw failure(args, result);
  return result.stdout;
}

/**
 * Runs git and gives what it printed, as text without its last line end.
 *
 * @throws {GitError} if it fails
 */
export async function textOf(git: Git, args: string[], more: Pick<RunOptions, "input"> = {}): Promise<string> {
  return line(await bytesOf(git, args, more));
}

/** Bytes as text, without the last line end. */
export function line(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes).replace(/\n$/, "");
}

/** Output of git as it comes. git starts when the first piece is asked for, so one that nobody reads leaves nothing. */
export async function* piecesOf(
  git: Git,
  args: string[],
  more: Pick<RunOptions, "input"> = {},
): AsyncGenerator<Uint8Array> {
  const { chunks, done } = stream("git", [...OPTIONS, ...args], { ...options(git), ...more });
  yield* chunks;
  const exit = await done;
  if (exit.code !== 0) throw failure(args, exit);
}

/** The entries of a list that git printed with `-z`. */
export function splitList(list: Uint8Array): Uint8Array[] {
  const entries: Uint8Array[] = [];
  let start = 0;
  for (let end = list.indexOf(0); end !== -1; end = list.indexOf(0, start)) {
    entries.push(list.subarray(start, end));
    start = end + 1;
  }
  return entries;
}

/** What git says is wrong: its first `fatal:` or `error:` line, and the lines behind it. */
export function complaint(stderr: string): { message: string; rest: string | undefined } {
  const lines = visible(stderr).trim().split("\n");
  const first = Math.max(0, lines.findIndex((line) => /^(fatal|error): /.test(line)));
  const rest = lines.slice(first + 1).map((line) => line.trim()).filter((line) => line !== "").join(" ");
  return { message: lines[first]!.replace(/^(fatal|error): /, ""), rest: rest || undefined };
}

/** The error for a git command that failed. */
export function failure(args: string[], { code, signal, stderr }: Exit): GitError {
  const { message, rest } = complaint(stderr);
  const reason = message || (signal ? `it was ended by ${signal}` : `its exit code is ${code}`);
  // What git says of a file that only a partial clone's remote has.
  const missing = stderr.includes("promisor remote");
  const hint = missing ? "octavo never fetches: in a partial clone, let git get the files first (git diff)" : rest;
  return new GitError(`git ${args[0]} failed: ${reason}`, { hint });
}

function options({ cwd, env, signal }: Git): RunOptions {
  return { cwd, env, ...(signal ? { signal } : {}) };
}

function config(settings: Record<string, string>): string[] {
  return Object.entries(settings).flatMap(([key, value]) => ["-c", `${key}=${value}`]);
}
