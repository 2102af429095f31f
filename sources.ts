/**
 * What is reviewed: a command's words become a title and a patch, whatever that takes.
 *
 * @module
 */

import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import { RepositoryError, UsageError } from "./errors.ts";
import {
  branchPatch,
  commitPatch,
  type GitPatch,
  openRepository,
  rangePatch,
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
  | { kind: "branch" | "commit"; range: { base: string; head: string; threeDots: boolean } }
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
