/**
 * What there would be to review where a change is empty.
 *
 * @module
 */

import { countUntracked, findBase, hasChanges, readHead, type Repository } from "./git.ts";
import { countCommits, resolveRevision } from "./git_repository.ts";

/** What turned out to be empty. */
export type EmptyKind = "tree" | "staged" | "branch";

const NOTHING: Record<EmptyKind, string> = {
  tree: "Nothing has changed since the last commit",
  staged: "Nothing is staged",
  branch: "The branch adds nothing",
};

/** Says in one sentence that a change is empty, and what there is instead, each with its command. */
export async function sayAlternatives(repository: Repository, empty: EmptyKind): Promise<string> {
  const { commit } = await readHead(repository);
  const found = await Promise.all([
    empty === "tree" || repository.bare ? undefined : changes(repository),
    // what is untracked is said of the working tree in any case
    empty === "tree" || repository.bare ? undefined : untracked(repository),
    empty === "branch" || commit === undefined ? undefined : branch(repository, commit),
    commit === undefined ? undefined : "the last commit (octavo commit)",
  ]);
  const there = found.filter((one) => one !== undefined);
  return there.length === 0 ? NOTHING[empty] : `${NOTHING[empty]}. There is instead: ${there.join(", ")}`;
}

async function changes(repository: Repository): Promise<string | undefined> {
  return await hasChanges(repository) ? "what has changed in the working tree (octavo)" : undefined;
}

async function untracked(repository: Repository): Promise<string | undefined> {
  const files = await countUntracked(repository);
  return files === 0 ? undefined : `${files} untracked file${files === 1 ? "" : "s"} (octavo --untracked)`;
}

async function branch(repository: Repository, head: string): Promise<string | undefined> {
  const base = await findBase(repository);
  const hash = base && await resolveRevision(repository, base.ref, "commit");
  const commits = hash === undefined ? 0 : await countCommits(repository, hash, head);
  if (!base || commits === 0) return undefined;
  return `${commits} commit${commits === 1 ? "" : "s"} since ${base.name} (octavo branch)`;
}
