/**
 * Patches of the repository one is in: the working tree, the index, a branch, a commit, a range. Nothing that the
 * repository names is executed, nothing is fetched, nothing in it is written (see `git_command.ts`).
 *
 * @module
 */

import { RepositoryError, UsageError } from "./errors.ts";
import { hiddenPieces, readAttributes } from "./git_attributes.ts";
import { attempt, bytesOf, diffArguments, failure, piecesOf, type Sides, splitList } from "./git_command.ts";
import { type OwnIndex, untrackedIndex } from "./git_index.ts";
import {
  type Base,
  branchesHint,
  checkParent,
  countCommits,
  emptyTree,
  findBase,
  mergeBase,
  readCommit,
  readHead,
  type Repository,
  resolveCommit,
  resolveRevision,
  shortHash,
  untrackedFiles,
} from "./git_repository.ts";
import { clip, visible } from "./text.ts";

export type { Git } from "./git_command.ts";
export {
  type Base,
  findBase,
  type Head,
  openRepository,
  readBlob,
  readHead,
  type Remote,
  remotes,
  type Repository,
} from "./git_repository.ts";

/** A patch that git makes. */
export interface GitPatch {
  /** What it is, on one line of plain text. */
  title: string;
  /** What is compared with what, to print. */
  description: string;
  /** Full hash of the old side: a commit, or the empty tree. */
  base?: string;
  /** Full hash of the new side, where that is a commit. */
  head?: string;
  /** The patch, once, as it comes; git starts when the first piece is asked for. Throws {@linkcode GitError}. */
  chunks: AsyncIterable<Uint8Array>;
  /** What the reader should know, one sentence each. */
  notices: string[];
  /** Path to reason, of the files that `.gitattributes` call generated or vendored. Does not wait for `chunks`. */
  attributes: Promise<Map<string, string>>;
  /**
   * Paths of text that an attribute `-diff` hides behind "Binary files differ": its diff stands at the end of `chunks`,
   * and the record without text is to be dropped. Does not wait for `chunks`.
   */
  hidden: Promise<Set<string>>;
}

/** Options of {@linkcode treePatch}. */
export interface TreeOptions {
  /** Takes in the files that are not tracked. @default false */
  untracked?: boolean;
  /** Only these files and folders, as paths from the root. @default everything */
  paths?: string[];
}

/**
 * What has changed since the last commit, staged or not, in the whole repository.
 *
 * Untracked files are not in it, unless asked for. Before the first commit it is what is staged; where untracked files
 * are asked for, everything.
 *
 * @throws {RepositoryError} if there is no working tree
 * @throws {GitError} if git fails
 */
export async function treePatch(repository: Repository, options: TreeOptions = {}): Promise<GitPatch> {
  const { untracked = false, paths = [] } = options;
  const [{ title, head, tree }, list] = await Promise.all([
    aboutHere(repository, "working tree of"),
    untrackedFiles(repository, paths),
  ]);
  const files = list.filter(isFile);
  const staged = head === undefined && !untracked;
  const notices: string[] = [];
  if (staged) notices.push("There are no commits yet: only what is staged is in it");
  if (!untracked && files.length > 0) {
    notices.push(`${isOrAre(files.length, "untracked file")} not in it; --untracked takes them in`);
  }
  if (untracked && list.length > files.length) {
    notices.push(`${isOrAre(list.length - files.length, "folder")} not in it that are repositories of their own`);
  }
  const unborn = staged ? "everything staged, before the first commit" : "everything here, before the first commit";
  const description = head === undefined ? unborn : `the working tree against HEAD (${shortHash(head)})`;
  const sides = { trees: [tree], cached: staged, paths };
  return patch(repository, sides, { title, description, base: tree, notices }, { untracked: untracked ? files : [] });
}

/**
 * The index against the last commit.
 *
 * @throws {RepositoryError} if there is no working tree
 * @throws {GitError} if git fails
 */
export async function stagedPatch(repository: Repository): Promise<GitPatch> {
  const [{ title, head, tree }, unmerged] = await Promise.all([
    aboutHere(repository, "staged changes in"),
    countUnmerged(repository),
  ]);
  const notices = unmerged === 0 ? [] : [`${isOrAre(unmerged, "file")} not in it because of merge conflicts`];
  const description = head === undefined
    ? "everything staged, before the first commit"
    : `the index against HEAD (${shortHash(head)})`;
  return patch(repository, { trees: [tree], cached: true }, { title, description, base: tree, notices });
}

/** Options of {@linkcode branchPatch}. */
export interface BranchOptions {
  /** The revision to compare with. @default what {@linkcode findBase} finds */
  base?: string;
}

/**
 * What the branch one is on has, since it left another one: `BASE...HEAD`.
 *
 * @throws {UsageError} if there is no branch to compare with, no such revision, or no common commit
 * @throws {GitError} if git fails
 */
export async function branchPatch(repository: Repository, options: BranchOptions = {}): Promise<GitPatch> {
  const { base: name } = options;
  const { branch, commit } = await readHead(repository);
  const head = commit ?? await resolveCommit(repository, "HEAD"); // throws
  const base = name === undefined ? await chooseBase(repository) : { name, ref: name };
  return await compare(repository, {
    base: { name: base.name, hash: await resolveCommit(repository, base.ref) },
    head: { name: "HEAD", hash: head },
    threeDots: true,
    title: `${branch ?? shortHash(head)} against ${base.name}`,
  });
}

async function chooseBase(repository: Repository): Promise<Base> {
  const base = await findBase(repository);
  if (base) return base;
  const hint = ["Name one: octavo branch BASE", await branchesHint(repository)].filter(Boolean).join(". ");
  throw new UsageError("There is no branch that this one would usually be compared with", { hint });
}

/** Options of {@linkcode commitPatch}. */
export interface CommitOptions {
  /** A revision, or a range `A..B` or `A...B` of two; what is left out of a range is HEAD. @default "HEAD" */
  rev?: string;
}

/**
 * One commit against its first parent (the first of all against nothing), or a range.
 *
 * @throws {UsageError} if there is no such revision, or a shallow clone does not have what it takes
 * @throws {GitError} if git fails
 */
export async function commitPatch(repository: Repository, options: CommitOptions = {}): Promise<GitPatch> {
  const { rev = "HEAD" } = options;
  const [, from, dots, to] = /^(.*?)(\.{2,3})(.*)$/s.exec(rev) ?? [];
  // `HEAD^{/a..b}` has dots too, and is one commit.
  if (dots !== undefined && await resolveRevision(repository, rev, "commit") === undefined) {
    return await rangePatch(repository, { base: from || "HEAD", head: to || "HEAD", threeDots: dots === "..." });
  }
  const { hash: head, parents, subject } = await readCommit(repository, rev);
  const [parent, ...others] = parents;
  if (parent !== undefined) await checkParent(repository, head, parent);
  const base = parent ?? await emptyTree(repository);
  const what = others.length > 0
    ? `the merge ${shortHash(head)} against its first parent`
    : `${shortHash(head)} against`;
  return patch(repository, { trees: [base, head] }, {
    title: `${titleOf(subject || "commit")} (${shortHash(head)})`,
    description: parent === undefined ? `${shortHash(head)}, which has no parent` : `${what} ${shortHash(parent)}`,
    base,
    head,
    notices: [],
  }, { attributesOf: base });
}

/** Options of {@linkcode rangePatch}. */
export interface RangeOptions {
  /** A revision or hash of a commit; without three dots, of a tree too. */
  base: string;
  /** A revision or hash of a commit. */
  head: string;
  /** From where the two have parted, instead of from `base` itself. @default false */
  threeDots?: boolean;
}

/**
 * What one commit has against another.
 *
 * @throws {UsageError} if there is no such revision, or no common commit
 * @throws {GitError} if git fails
 */
export async function rangePatch(repository: Repository, options: RangeOptions): Promise<GitPatch> {
  const { base, head, threeDots = false } = options;
  const name = (rev: string) => /^[0-9a-f]{40,}$/.test(rev) ? shortHash(rev) : rev;
  // The old side of a first commit is the empty tree.
  const tree = threeDots || name(base) === base ? undefined : await resolveRevision(repository, base, "tree");
  const commit = tree === undefined ? undefined : await resolveRevision(repository, base, "commit");
  return await compare(repository, {
    base: { name: name(base), hash: commit ?? tree ?? await resolveCommit(repository, base) },
    head: { name: name(head), hash: await resolveCommit(repository, head) },
    threeDots,
  });
}

interface Range {
  base: { name: string; hash: string };
  head: { name: string; hash: string };
  threeDots: boolean;
  title?: string;
}

async function compare(repository: Repository, { base, head, threeDots, title }: Range): Promise<GitPatch> {
  const range = `${base.name}${threeDots ? "..." : ".."}${head.name}`;
  const old = threeDots
    ? await mergeBase(repository, base.hash, head.hash, { base: base.name, head: head.name })
    : base.hash;
  const commits = await countCommits(repository, base.hash, head.hash);
  return patch(repository, { trees: [old, head.hash] }, {
    title: titleOf(title ?? `${range} in ${repository.name}`),
    description: visible(
      `${range} (${shortHash(old)}..${shortHash(head.hash)})${
        commits === undefined ? "" : `, ${count(commits, "commit")}`
      }`,
    ),
    base: old,
    head: head.hash,
    notices: threeDots && repository.shallow
      ? ["The clone is shallow: where the two have really parted may not be in it"]
      : [],
  }, { attributesOf: old });
}

/** Whether anything is staged; for what to suggest where there is nothing to review. */
export function hasStaged(repository: Repository): Promise<boolean> {
  return differs(repository, { cached: true });
}

/** Whether anything has changed since the last commit, staged or not. */
export function hasChanges(repository: Repository): Promise<boolean> {
  return differs(repository, { cached: false });
}

async function differs(repository: Repository, { cached }: { cached: boolean }): Promise<boolean> {
  if (repository.bare) return false;
  const { tree } = await aboutHere(repository, "");
  const args = diffArguments(["--quiet"], { trees: [tree], cached });
  const result = await attempt(repository.git, args);
  if (result.code > 1) throw failure(args, result);
  return result.code === 1;
}

/** How many files are neither tracked nor ignored; for what to suggest where there is nothing to review. */
export async function countUntracked(repository: Repository): Promise<number> {
  return (await untrackedFiles(repository)).filter(isFile).length;
}

/** A nested repository is listed as a folder. */
function isFile(path: Uint8Array): boolean {
  return path.at(-1) !== SLASH;
}

const SLASH = 0x2f;
const TAB = 0x09;

async function countUnmerged({ git, bare }: Repository): Promise<number> {
  if (bare) return 0;
  const entries = splitList(await bytesOf(git, ["ls-files", "--unmerged", "-z"]));
  return new Set(entries.map((entry) => entry.subarray(entry.indexOf(TAB)).join())).size;
}

interface Here {
  title: string;
  /** The last commit, if there is one. */
  head: string | undefined;
  /** The last commit, or the empty tree. */
  tree: string;
}

async function aboutHere(repository: Repository, what: string): Promise<Here> {
  const { bare, root, name } = repository;
  if (bare) {
    const hint = "Review commits: octavo branch BASE, octavo commit A..B";
    throw new RepositoryError(`"${root}" is a bare repository: there is no working tree to review`, { hint });
  }
  const { branch, commit } = await readHead(repository);
  const place = branch ?? `detached at ${shortHash(commit ?? "")}`;
  return { title: titleOf(`${what} ${name} (${place})`), head: commit, tree: commit ?? await emptyTree(repository) };
}

interface PatchOptions {
  /** Untracked files to take in. */
  untracked?: Uint8Array[];
  /** Whose attributes say what is generated. @default the working tree */
  attributesOf?: string;
}

function patch(
  { git }: Repository,
  sides: Sides,
  about: Pick<GitPatch, "title" | "description" | "base" | "head" | "notices">,
  { untracked = [], attributesOf }: PatchOptions = {},
): GitPatch {
  const openIndex = async (): Promise<OwnIndex> =>
    untracked.length > 0 ? await untrackedIndex(git, untracked) : { git, remove: () => Promise.resolve() };

  async function read() {
    const index = await openIndex();
    try {
      return await readAttributes(index.git, sides, attributesOf);
    } finally {
      await index.remove();
    }
  }
  async function* chunks(): AsyncGenerator<Uint8Array> {
    const index = await openIndex();
    try {
      yield* piecesOf(index.git, diffArguments(["--patch"], sides));
      yield* hiddenPieces(index.git, sides, (await attributes).hidden);
    } finally {
      await index.remove();
    }
  }
  const attributes = read();
  return {
    ...about,
    chunks: chunks(),
    attributes: unheard(attributes.then(({ reasons }) => reasons)),
    hidden: unheard(attributes.then(({ hidden }) => hidden.names)),
  };
}

/** The promise; nobody needs to wait for it, whatever comes of it. */
function unheard<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {});
  return promise;
}

/** Columns of a title; who writes a longer one has forgotten the line end behind the subject. */
const TITLE_COLUMNS = 200;

function titleOf(text: string): string {
  return clip(visible(text.replace(/\s+/g, " ")).trim(), TITLE_COLUMNS);
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}

function isOrAre(number: number, noun: string): string {
  return `${count(number, noun)} ${number === 1 ? "is" : "are"}`;
}
