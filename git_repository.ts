/**
 * A repository: opening it, if it is one that may be read; its revisions, branches, remotes and files.
 *
 * @module
 */

import { Buffer } from "node:buffer";
import { readFile, realpath, stat } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { GitError, RepositoryError, UsageError } from "./errors.ts";
import {
  attempt,
  bytesOf,
  complaint,
  failure,
  type Git,
  gitEnvironment,
  line,
  piecesOf,
  splitList,
  textOf,
  withoutDrivers,
} from "./git_command.ts";
import { type Env, ProcessError } from "./process.ts";
import { visible } from "./text.ts";

/** A repository that may be read. */
export interface Repository {
  /** How git is run in it. */
  git: Git;
  /** Real path of the working tree's root; of the git folder where there is no working tree. */
  root: string;
  /** Real path of the git folder; a linked working tree has its own. */
  gitDir: string;
  /** Name of its folder. */
  name: string;
  /** Whether it has no working tree. */
  bare: boolean;
  /** Whether its history is cut off. */
  shallow: boolean;
}

/** Hexadecimal digits of a commit that are shown. */
const SHORT_HASH_DIGITS = 10;

/** Bytes of a `.git` file above which it is none: a path, and the word before it. */
const MAX_GIT_FILE_BYTES = 65_536;

/** Branches that the hint to an unknown revision names. */
const MAX_BRANCHES_SHOWN = 8;

const SHALLOW_HINT =
  "The clone is shallow: set fetch-depth: 0 where it is checked out, or review the pull request with octavo pr N";

/**
 * Opens the repository that a folder is in.
 *
 * @param dir The folder; it may be anywhere in the working tree.
 * @param env The environment octavo runs in.
 * @throws {RepositoryError} if there is none, if git refuses it, or if it is made to show files from outside of it
 * @throws {GitError} if its configuration cannot be read
 */
export async function openRepository(dir: string, env: Env, signal?: AbortSignal): Promise<Repository> {
  const start: Git = { cwd: dir, env: gitEnvironment(env, dir), ...(signal ? { signal } : {}) };
  try {
    return await open(start, dir);
  } catch (error) {
    if (!(error instanceof ProcessError) || error.failure === "bytes") throw error;
    throw new RepositoryError(error.message, { cause: error, hint: error.hint });
  }
}

async function open(start: Git, dir: string): Promise<Repository> {
  // git is asked first whether this is a repository: other commands do something else outside of one, or hide why not.
  const about = ["--is-bare-repository", "--is-shallow-repository", "--absolute-git-dir", "--show-toplevel"];
  const [answer, git] = await Promise.all([attempt(start, ["rev-parse", ...about]), settle(withoutDrivers(start))]);
  const [isBare, isShallow, ...paths] = line(answer.stdout).split("\n");
  const bare = isBare === "true"; // then git fails, since there is no working tree to name, but has said the rest
  if (answer.code !== 0 && !bare) throw noRepository(answer.stderr, dir);
  // Two paths on two lines; if there are more, a path has a line end in it.
  const [gitPath, top] = bare || paths.length === 2
    ? [bare ? paths.join("\n") : paths[0]!, paths[1]!]
    : await Promise.all(about.slice(2).map((name) => textOf(start, ["rev-parse", name])));
  const gitDir = await realpath(gitPath!);
  // git before 2.38 does not know safe.bareRepository.
  if (bare && !start.env["GIT_DIR"] && basename(gitDir) !== ".git") throw bareRepository(gitDir);
  const root = bare ? gitDir : await realpath(top!).catch(() => top!);
  if (!bare && !start.env["GIT_WORK_TREE"]) await checkWorkingTree(root, gitDir);
  const name = basename(bare ? gitDir.replace(/[\\/]?\.git$/, "") : root) || root;
  return { git: { ...git(), cwd: bare ? dir : root }, root, gitDir, name, bare, shallow: isShallow === "true" };
}

/** Waits for a promise without throwing: the function it gives throws, or gives the value. */
function settle<T>(promise: Promise<T>): Promise<() => T> {
  return promise.then((value) => () => value, (error) => () => {
    throw error;
  });
}

function noRepository(stderr: string, dir: string): RepositoryError {
  const { message, rest } = complaint(stderr);
  if (message.startsWith("not a git repository (or any")) {
    const hint = "Go to one, name one with -C DIR, or review a patch: octavo diff FILE";
    return new RepositoryError(`"${dir}" is in no git repository`, { hint });
  }
  const bare = /^cannot use bare repository '(.*)' \(safe\.bareRepository/.exec(message)?.[1];
  if (bare !== undefined) return bareRepository(bare);
  return new RepositoryError(`git does not read this repository: ${message}`, { hint: rest });
}

function bareRepository(gitDir: string): RepositoryError {
  if (basename(gitDir) === ".git") {
    const hint = `Go to its working tree: ${dirname(gitDir)}`;
    return new RepositoryError(`"${gitDir}" is the inside of a repository`, { hint });
  }
  const hint = `If it is yours and not a part of another repository, name it: GIT_DIR=${gitDir}`;
  return new RepositoryError(`"${gitDir}" is a bare repository, whose configuration may not be yours`, { hint });
}

/**
 * `core.worktree` lets a repository say that any folder is its working tree, and a diff would show what is in there.
 * That folder has to know of it: its `.git` leads back here. Subfolders, submodules and linked working trees pass.
 */
async function checkWorkingTree(root: string, gitDir: string): Promise<void> {
  if (await followGitFile(join(root, ".git")) === gitDir) return;
  throw new RepositoryError(`This repository says that its files are in "${root}", which knows nothing of it`, {
    hint: `Remove core.worktree from its configuration, or, if it is right, set GIT_WORK_TREE=${root}`,
  });
}

/** The git folder that `.git` is, or that it names (gitrepository-layout(5)). */
async function followGitFile(path: string): Promise<string | undefined> {
  const info = await stat(path).catch(() => undefined);
  if (info?.isDirectory()) return await realpath(path);
  if (!info?.isFile() || info.size > MAX_GIT_FILE_BYTES) return undefined;
  const target = /^gitdir: ([^]*?)[\r\n]*$/.exec(await readFile(path, "utf8"))?.[1];
  return target && await realpath(resolve(path, "..", target)).catch(() => undefined);
}

/** Where HEAD is. */
export interface Head {
  /** The branch one is on, such as `main` or `fix/x`; `undefined` where HEAD is detached. */
  branch: string | undefined;
  /** Full hash of the last commit; `undefined` before the first one. */
  commit: string | undefined;
}

/**
 * Reads where HEAD is.
 *
 * @throws {GitError} if it names a commit that is not there
 */
export async function readHead({ git }: Repository): Promise<Head> {
  const both = await attempt(git, ["rev-parse", "--quiet", "HEAD^{commit}", "--symbolic-full-name", "HEAD", "--"]);
  if (both.code === 0) {
    const [commit, ref] = line(both.stdout).split("\n");
    return { commit, branch: ref === "HEAD" ? undefined : branchName(ref!) };
  }
  if ((await attempt(git, ["rev-parse", "--verify", "--quiet", "HEAD"])).code === 0) {
    throw new GitError("HEAD names a commit that is not there", { hint: "git fsck says what else is missing" });
  }
  const { code, stdout } = await attempt(git, ["symbolic-ref", "--quiet", "HEAD"]);
  return { commit: undefined, branch: code === 0 ? branchName(line(stdout)) : undefined };
}

/** As one would write the full name of a branch: `main`, `origin/main`. */
function branchName(ref: string): string {
  return ref.replace(/^refs\/(heads|remotes)\//, "");
}

/** A commit's hash as it is shown. */
export function shortHash(hash: string): string {
  return hash.slice(0, SHORT_HASH_DIGITS);
}

/**
 * The full hash of what a revision names, or `undefined` if it names nothing of the kind.
 *
 * @param kind `commit`, also behind a tag, or `tree`, also that of a commit.
 */
export async function resolveRevision(
  { git }: Repository,
  rev: string,
  kind: "commit" | "tree",
): Promise<string | undefined> {
  if (!isRevision(rev)) return undefined;
  const args = ["rev-parse", "--verify", "--quiet", "--end-of-options", `${rev}^{${kind}}`];
  const { code, stdout } = await attempt(git, args);
  const hash = line(stdout);
  return code === 0 && /^[0-9a-f]{40,}$/.test(hash) ? hash : undefined;
}

/** Whether a text can name something, and be passed on. */
function isRevision(rev: string): boolean {
  return !rev.startsWith("-") && !rev.includes("\0");
}

/** Whether a text is the full hash of an object: no name of a branch or tag stands for another one then. */
function isFullHash(text: string): boolean {
  return /^[0-9a-f]{40}(?:[0-9a-f]{24})?$/.test(text);
}

/**
 * The full hash of the commit that a revision names.
 *
 * @throws {UsageError} if it names none
 */
export async function resolveCommit(repository: Repository, rev: string): Promise<string> {
  return await resolveRevision(repository, rev, "commit") ?? await unknownRevision(repository, rev);
}

async function unknownRevision(repository: Repository, rev: string): Promise<never> {
  const name = visible(rev);
  if (rev.startsWith("-")) {
    const hint = "A revision does not begin with a dash; a branch of such a name is refs/heads/NAME";
    throw new UsageError(`"${name}" is no revision`, { hint });
  }
  if (await resolveRevision(repository, "HEAD", "commit") === undefined) {
    const hint = "Review what is there with octavo tree or octavo staged";
    throw new UsageError("There are no commits yet", { hint });
  }
  if (await resolveRevision(repository, rev, "tree") !== undefined) {
    throw new UsageError(`"${name}" is a tree, not a commit`);
  }
  throw new UsageError(`Unknown revision "${name}"`, { hint: await branchesHint(repository) });
}

/** What to say where a revision was wrong: the branches there are, or that the clone is shallow. */
export async function branchesHint({ git, shallow }: Repository): Promise<string | undefined> {
  if (shallow) return SHALLOW_HINT;
  const args = ["for-each-ref", `--count=${MAX_BRANCHES_SHOWN + 1}`, "--sort=-committerdate"];
  const list = await textOf(git, [...args, "--format=%(refname:lstrip=2)", "refs/heads", "refs/remotes"]);
  const names = visible(list).split("\n").filter((name) => name !== "");
  if (names.length === 0) return undefined;
  return `Branches here: ${names.slice(0, MAX_BRANCHES_SHOWN).join(", ")}${
    names.length > MAX_BRANCHES_SHOWN ? " …" : ""
  }`;
}

/**
 * The best common ancestor of two commits.
 *
 * @param base Full hash.
 * @param head Full hash.
 * @param names How the two are called in an error.
 * @throws {UsageError} if there is none
 */
export async function mergeBase(
  { git, shallow }: Repository,
  base: string,
  head: string,
  names: { base: string; head: string },
): Promise<string> {
  const args = ["merge-base", base, head];
  const result = await attempt(git, args);
  if (result.code === 0) return line(result.stdout);
  if (result.code !== 1) throw failure(args, result);
  const hint = shallow ? SHALLOW_HINT : `Compare them as they are: octavo commit ${names.base}..${names.head}`;
  throw new UsageError(`"${names.base}" and "${names.head}" have no common commit here`, { hint });
}

/** What a commit is made of. */
export interface Commit {
  /** Its full hash. */
  hash: string;
  /** Full hashes of its parents, those included that a shallow clone does not have. */
  parents: string[];
  /** The first paragraph of its message, on one line. */
  subject: string;
}

/** Bytes of the line in front of an object in a batch: a hash, a type, a size. */
const MAX_BATCH_HEADER_BYTES = 200;

/** Bytes of a commit that are read: its parents and its subject are at its beginning, behind signatures at most. */
const MAX_COMMIT_BYTES = 100_000;

/**
 * Reads the commit that a revision names.
 *
 * Not `git log`, which runs `gpg.program` where `log.showSignature` is set, and takes the oldest commit of a shallow
 * clone for the first of all.
 *
 * @throws {UsageError} if it names none
 * @throws {GitError} if git cannot read it
 */
export async function readCommit(repository: Repository, rev: string): Promise<Commit> {
  if (!isRevision(rev) || rev.includes("\n")) return await unknownRevision(repository, rev);
  let bytes = Buffer.alloc(0);
  // It also resolves the revision, which takes git longer to start for than to do.
  for await (const piece of piecesOf(repository.git, ["cat-file", "--batch"], { input: `${rev}^{commit}\n` })) {
    bytes = Buffer.concat([bytes, piece]);
    if (bytes.length > MAX_COMMIT_BYTES) break;
  }
  const found = /^([0-9a-f]{40,}) commit (\d+)\n/.exec(bytes.toString("latin1", 0, MAX_BATCH_HEADER_BYTES));
  if (!found) return await unknownRevision(repository, rev);
  const [first, hash, size] = found;
  return { hash: hash!, ...parseCommit(bytes.subarray(first.length, first.length + Number(size))) };
}

function parseCommit(bytes: Buffer): Omit<Commit, "hash"> {
  const header = bytes.toString("latin1").split("\n\n", 1)[0]!;
  const parents = [...header.matchAll(/^parent ([0-9a-f]+)$/gm)].map((match) => match[1]!);
  const message = decoderFor(/^encoding (.*)$/m.exec(header)?.[1]).decode(bytes.subarray(header.length + 2));
  return { parents, subject: message.trimStart().split(/\n\s*\n/, 1)[0]!.replace(/\s+/g, " ").trim() };
}

/** git-commit(1), "Discussion": UTF-8 unless the header says otherwise. */
function decoderFor(encoding = "utf-8"): TextDecoder {
  try {
    return new TextDecoder(encoding as "utf-8");
  } catch {
    return new TextDecoder(); // an encoding that nobody knows
  }
}

/**
 * A parent of a commit, if this clone has it.
 *
 * @throws {UsageError} if a shallow clone has left it out
 */
export async function checkParent(repository: Repository, commit: string, parent: string): Promise<void> {
  if (!repository.shallow || await resolveRevision(repository, parent, "commit") !== undefined) return;
  throw new UsageError(`The parent of ${shortHash(commit)} is not in this clone`, { hint: SHALLOW_HINT });
}

/**
 * How many commits one has that the other has not. A tree has none.
 *
 * @param base Full hash.
 * @param head Full hash.
 * @throws {GitError} if git fails
 */
export async function countCommits({ git }: Repository, base: string, head: string): Promise<number> {
  return Number(await textOf(git, ["rev-list", "--count", `${base}..${head}`, "--"]));
}

/** The hash of a tree with nothing in it, which is in no repository and known to every git. */
export function emptyTree({ git }: Repository): Promise<string> {
  return textOf(git, ["hash-object", "-t", "tree", "--stdin"], { input: "" });
}

/** Branches that changes usually are compared with, where the remote's default is not known. */
const USUAL_BASES = ["main", "master", "develop", "development"];

/** A branch to compare with. */
export interface Base {
  /** As one would write it: `origin/main`, `main`. */
  name: string;
  /** Its full name, which no tag or branch of another kind can stand for. */
  ref: string;
}

/**
 * The branch that a branch is compared with: the default branch of `origin`, else the first of origin/main, main,
 * origin/master, master, origin/develop, develop, origin/development, development; never the branch one is on, be it
 * here or in `origin`. `undefined` if there is none.
 *
 * @throws {GitError} if git fails
 */
export async function findBase(repository: Repository): Promise<Base | undefined> {
  const refs = USUAL_BASES.flatMap((name) => [`refs/remotes/origin/${name}`, `refs/heads/${name}`]);
  const format = "--format=%(refname) %(objecttype) %(symref)";
  const [{ branch }, list] = await Promise.all([
    readHead(repository),
    // One that points at nothing (the branch was renamed or removed) is not listed.
    textOf(repository.git, ["for-each-ref", format, "refs/remotes/origin/HEAD", ...refs]),
  ]);
  const there = new Map(
    list.split("\n").map((row) => row.split(" ")).map(([ref, type, target]) => [ref, { type, target }]),
  );
  const preferred = there.get("refs/remotes/origin/HEAD")?.target;
  return [...preferred ? [preferred] : [], ...refs.filter((ref) => there.get(ref)?.type === "commit")]
    .map((ref) => ({ ref, name: branchName(ref) }))
    .find(({ name }) => name.replace(/^origin\//, "") !== branch);
}

/** A remote of a repository. */
export interface Remote {
  /** Its name, such as `origin`. */
  name: string;
  /** Where it is fetched from, with the user's `url.*.insteadOf` applied. */
  url: string;
}

/**
 * The remotes: `origin` first, the others by name.
 *
 * @throws {GitError} if git fails
 */
export async function remotes({ git }: Repository): Promise<Remote[]> {
  const found: Remote[] = [];
  for (const row of (await textOf(git, ["remote", "-v"])).split("\n")) {
    const [, name, url] = /^(.*?)\t(.*) \(fetch\)/.exec(row) ?? [];
    if (name && url && !found.some((remote) => remote.name === name)) found.push({ name, url });
  }
  return found.sort((a, b) => Number(b.name === "origin") - Number(a.name === "origin"));
}

/**
 * A file as it is at a revision; `undefined` if there is none, or if it is a folder, a submodule or a symbolic link.
 *
 * @param rev A revision or a hash, of a commit or of a tree.
 * @param path From the root of the repository.
 * @param maxBytes What it may have at most, in bytes.
 * @throws {UsageError} if there is no such revision, or the file is larger
 * @throws {GitError} if git fails
 */
export async function readBlob(
  repository: Repository,
  rev: string,
  path: string,
  maxBytes: number,
): Promise<string | undefined> {
  const tree = isFullHash(rev)
    ? rev
    : await resolveRevision(repository, rev, "tree") ?? await unknownRevision(repository, rev);
  const list = await textOf(repository.git, ["ls-tree", "-l", "-z", "--full-tree", tree, "--", path]);
  const [, hash, size, found] = /^100[0-7]{3} blob ([0-9a-f]+) +(\S+)\t([^\0]*)\0$/.exec(list) ?? [];
  if (hash === undefined || found !== path) return undefined;
  if (Number(size) > maxBytes) {
    throw new UsageError(`"${path}" in ${shortHash(tree)} has ${size} bytes, more than ${maxBytes}`);
  }
  return new TextDecoder().decode(await bytesOf(repository.git, ["cat-file", "blob", hash]));
}

/**
 * Files that are neither tracked nor ignored, as `git ls-files -z` lists them from the root; a nested repository is one
 * entry that ends in `/`.
 *
 * @throws {GitError} if git fails
 */
export async function untrackedFiles({ git, bare }: Repository, paths: string[] = []): Promise<Uint8Array[]> {
  if (bare) return [];
  return splitList(await bytesOf(git, ["ls-files", "--others", "--exclude-standard", "-z", "--", ...paths]));
}
