/**
 * What is reviewed: a change with its title and its patch, wherever it comes from.
 *
 * @module
 */

import { GitError, RepositoryError } from "./errors.ts";
import { openRepository, type Repository } from "./git.ts";
import type { Env } from "./paths.ts";

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
  /** `title` where it is known already. */
  | { kind: "pr"; reference?: string; title?: string }
  /** A file, or `-` for standard input. */
  | { kind: "diff"; file: string };

/** A change, ready to be read. */
export interface Source {
  /** What it comes from. */
  kind: SourceKind;
  /** What it is, in one line. */
  title: string;
  /** The resolved range, to print. */
  description: string;
  /** Full hash of the old side, where there is one. */
  base?: string;
  /** Full hash of the new side, where there is one. */
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
  /** Environment: git's, proxies, tokens. */
  env: Env;
  /** Ends git and requests. */
  signal?: AbortSignal;
  /** Standard input; used only when asked for. */
  stdin: () => AsyncIterable<Uint8Array>;
  /** The user's GitHub token, from octavo's own settings. */
  githubToken?: string | undefined;
}

/** The repository one is in, if it is one. */
export async function repositoryOf(
  { dir, env, signal }: Pick<SourceContext, "dir" | "env" | "signal">,
): Promise<Repository | undefined> {
  try {
    return await openRepository(dir, env, signal);
  } catch (error) {
    if (error instanceof RepositoryError || error instanceof GitError) return undefined;
    throw error;
  }
}
