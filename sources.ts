/**
 * What is reviewed: a command's words become a title and a patch, whatever that takes.
 *
 * @module
 */

import { lstat, open, readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { GitError, RepositoryError, UsageError } from "./errors.ts";
import {
  branchPatch,
  commitPatch,
  type GitPatch,
  openRepository,
  rangePatch,
  readBlob,
  type Repository,
  stagedPatch,
  treePatch,
} from "./git.ts";
import type { Env } from "./process.ts";

/** What a change comes from. */
export type SourceKind = "tree" | "staged" | "branch" | "commit" | "pr" | "diff";

/** What was asked for: the words of a command, or those of an earlier review with everything in them resolved. */
export type SourceRequest =
  | { kind: "tree"; untracked?: boolean }
  | { kind: "staged" }
  | { kind: "branch"; base?: string }
  | { kind: "commit"; rev?: string }
  /** Full hashes. `kind` is that of the review it was first made for. */
  | { kind: "branch" | "commit"; range: { base: string; head: string } }
  | { kind: "pr"; reference?: string }
  /** A file, or `-` for standard input. */
  | { kind: "diff"; file: string };

/** A change, ready to be read. */
export interface Source {
  kind: SourceKind;
  title: string;
  /** The resolved range, to print. */
  description: string;
  /** Full hashes, where there are any. */
  base?: string;
  head?: string;
  /** Real path of the root of the repository one is in. */
  repository?: string;
  /** The patch; throws what its origin throws. */
  chunks: AsyncIterable<Uint8Array>;
  /** What the reader should know of the source, one sentence each. */
  notices: string[];
  /** Reasons from `.gitattributes` why files are noise, by path. */
  attributes: Promise<ReadonlyMap<string, string>>;
  /** Files that attributes would hide as binary: their text diff stands at the end of `chunks`. */
  hidden: Promise<ReadonlySet<string>>;
  /** How to make the same patch again. */
  again: SourceRequest;
  /** Text of the repository's `.octavo.json` on the side that may be trusted with it, if there is one. */
  settings: Promise<string | undefined>;
  /** What only one review at a time may be about: the repository's git folder, or `""` outside any. */
  lockKey: string;
}

/** What a source may need of the world. */
export interface SourceContext {
  /** Folder that the command runs in. */
  dir: string;
  env: Env;
  signal?: AbortSignal;
  /** Standard input; used only when asked for. */
  stdin: () => AsyncIterable<Uint8Array>;
  /** The user's GitHub token, from octavo's own settings. */
  githubToken?: string | undefined;
  /** Lets the user pick one of several pull requests; without it they are listed in the error. */
  pick?: (pulls: { label: string; value: string }[]) => Promise<string>;
}

/** A repository's own settings. */
const SETTINGS_FILE = ".octavo.json";

/** Bytes of an `.octavo.json` beyond which it is not read. */
const MAX_SETTINGS_BYTES = 100_000;

const NOTHING = { attributes: Promise.resolve(new Map<string, string>()), hidden: Promise.resolve(new Set<string>()) };

/**
 * Opens a source.
 *
 * @throws {UsageError} {@linkcode RepositoryError} {@linkcode GitError} {@linkcode GitHubError}
 */
export async function openSource(request: SourceRequest, context: SourceContext): Promise<Source> {
  switch (request.kind) {
    case "diff":
      return await patchFile(request.file, context);
    case "pr":
      return await (await import("./pulls.ts")).openPull(request.reference, context);
    default: {
      const repository = await openRepository(context.dir, context.env, context.signal);
      return fromGit(request, repository, await gitPatch(request, repository));
    }
  }
}

function gitPatch(
  request: Exclude<SourceRequest, { kind: "pr" | "diff" }>,
  repository: Repository,
): Promise<GitPatch> {
  if ("range" in request) return rangePatch(repository, request.range);
  switch (request.kind) {
    case "tree":
      return treePatch(repository, { untracked: request.untracked ?? false });
    case "staged":
      return stagedPatch(repository);
    case "branch":
      return branchPatch(repository, request.base === undefined ? {} : { base: request.base });
    case "commit":
      return commitPatch(repository, request.rev === undefined ? {} : { rev: request.rev });
  }
}

function fromGit(
  request: Exclude<SourceRequest, { kind: "pr" | "diff" }>,
  repository: Repository,
  patch: GitPatch,
): Source {
  const { base, head } = patch;
  const isRange = request.kind === "branch" || request.kind === "commit";
  return {
    kind: request.kind,
    title: patch.title,
    description: patch.description,
    ...(base === undefined ? {} : { base }),
    ...(head === undefined ? {} : { head }),
    repository: repository.root,
    chunks: patch.chunks,
    notices: patch.notices,
    attributes: patch.attributes,
    hidden: patch.hidden,
    again: isRange && base !== undefined && head !== undefined
      ? { kind: request.kind, range: { base, head } }
      : request,
    settings: isRange ? settingsAt(repository, base) : settingsInTree(repository),
    lockKey: repository.gitDir,
  };
}

/** `.octavo.json` of the base side: a change cannot set the rules of its own review. */
async function settingsAt(repository: Repository, base: string | undefined): Promise<string | undefined> {
  return base === undefined ? undefined : await readBlob(repository, base, SETTINGS_FILE, MAX_SETTINGS_BYTES);
}

/** `.octavo.json` of the working tree: a regular file, which a link may not stand for. */
async function settingsInTree({ root, bare }: Repository): Promise<string | undefined> {
  if (bare) return undefined;
  const file = join(root, SETTINGS_FILE);
  const found = await lstat(file).catch(() => undefined); // not there, or not to be seen: no settings
  if (!found?.isFile() || found.size > MAX_SETTINGS_BYTES) return undefined;
  return await readFile(file, "utf8");
}

/** A patch from a file or from standard input. */
async function patchFile(file: string, context: SourceContext): Promise<Source> {
  if (file === "") {
    throw new UsageError("octavo diff needs a file, or a patch on standard input", {
      hint: "git diff | octavo diff -",
    });
  }
  return {
    kind: "diff",
    title: file === "-" ? "patch on standard input" : `patch ${file}`,
    description: "",
    ...await place(context),
    chunks: file === "-" ? context.stdin() : await openFile(resolve(context.dir, file), file),
    notices: [],
    ...NOTHING,
    again: { kind: "diff", file: file === "-" ? file : resolve(context.dir, file) },
    settings: Promise.resolve(undefined),
  };
}

async function openFile(path: string, name: string): Promise<AsyncIterable<Uint8Array>> {
  try {
    const handle = await open(path);
    if ((await handle.stat()).isDirectory()) {
      await handle.close();
      throw new UsageError(`"${name}" is a folder, not a patch`, { hint: "octavo -C DIR reviews a repository" });
    }
    return handle.createReadStream();
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(`Cannot read "${name}"`, {
      cause: error,
      hint: error instanceof Error ? error.message : undefined,
    });
  }
}

/** The repository one is in, for a source that does not need one. */
async function place({ dir, env, signal }: SourceContext): Promise<{ repository?: string; lockKey: string }> {
  try {
    const { root, gitDir } = await openRepository(dir, env, signal);
    return { repository: root, lockKey: gitDir };
  } catch (error) {
    if (error instanceof RepositoryError || error instanceof GitError) return { lockKey: "" };
    throw error;
  }
}
