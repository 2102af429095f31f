/**
 * Indexes of our own, in a folder that is thrown away: what `git add` and `git read-tree` would do, with nothing in the
 * repository touched.
 *
 * @module
 */

import { Buffer } from "node:buffer";
import { copyFile, mkdtemp, rm, stat, utimes } from "node:fs/promises";
import { join, resolve } from "node:path";
import { GitError } from "./errors.ts";
import { bytesOf, type Git, textOf } from "./git_command.ts";
import type { Env } from "./process.ts";

/** A folder that is thrown away. */
export interface TemporaryFolder {
  /** Its absolute path. */
  path: string;
  /** Throws it away, with what is in it. */
  remove(): Promise<void>;
}

/**
 * Makes an empty folder that only this user may enter.
 *
 * @throws {GitError} if it cannot be made
 */
export async function temporaryFolder(env: Env): Promise<TemporaryFolder> {
  const parent = env["TMPDIR"] || env["TEMP"] || env["TMP"] || "/tmp";
  try {
    const path = await mkdtemp(join(resolve(parent), "octavo-"));
    return { path, remove: () => rm(path, { recursive: true, force: true, maxRetries: 3 }) };
  } catch (cause) {
    const hint = "Name a folder that may be written to with TMPDIR; in Deno, allow it with --allow-write";
    throw new GitError(`No temporary folder could be made in "${parent}"`, { cause, hint });
  }
}

/** git with an index of our own. */
export interface OwnIndex {
  /** Runs with that index. */
  git: Git;
  /** Throws the index away. */
  remove(): Promise<void>;
}

/**
 * git with an index that holds one tree: what stands in it is what `--cached` sees.
 *
 * @param tree Full hash of a commit or tree.
 * @throws {GitError} if git cannot read the tree
 */
export function treeIndex(git: Git, tree: string): Promise<OwnIndex> {
  return ownIndex(git, async (own) => {
    // A sparse index has folders in the place of the files in them, and so of their attributes.
    await bytesOf(own, ["-c", "index.sparse=false", "read-tree", "--no-sparse-checkout", tree]);
  });
}

/**
 * git with a copy of the user's index that has untracked files in it too, as if they were added and then changed: a diff
 * against the working tree shows them as new.
 *
 * It is not `git add --intent-to-add`, which writes an object into the repository. Nothing reads the files here, so no
 * filter can run; what they are (a symbolic link, an executable) git finds out when it compares.
 *
 * @param paths Their paths from the root, as `git ls-files -z` prints them.
 */
export function untrackedIndex(git: Git, paths: Uint8Array[]): Promise<OwnIndex> {
  return ownIndex(git, async (own, file) => {
    await copyIndex(git, file);
    const empty = await textOf(git, ["hash-object", "--stdin"], { input: "" });
    const entry = Buffer.from(`100644 ${empty}\t`);
    const end = Buffer.of(0);
    const input = Buffer.concat(paths.flatMap((path) => [entry, path, end]));
    await bytesOf(own, ["update-index", "-z", "--index-info"], { input });
  });
}

/**
 * The copy gets the time of the original: git takes a file that was changed no later than its index was written for one
 * that it has to read ("racy git", Documentation/technical/racy-git).
 */
async function copyIndex(git: Git, to: string): Promise<void> {
  const from = resolve(git.cwd, await textOf(git, ["rev-parse", "--git-path", "index"]));
  const original = await stat(from).catch(() => undefined);
  if (original === undefined) return; // nothing was ever added
  await copyFile(from, to);
  await utimes(to, original.atime, original.mtime);
}

async function ownIndex(git: Git, fill: (own: Git, file: string) => Promise<void>): Promise<OwnIndex> {
  const folder = await temporaryFolder(git.env);
  const file = join(folder.path, "index");
  const own = { ...git, env: { ...git.env, GIT_INDEX_FILE: file } };
  try {
    await fill(own, file);
  } catch (error) {
    await folder.remove();
    throw error;
  }
  return { git: own, remove: folder.remove };
}
