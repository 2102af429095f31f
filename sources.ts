/**
 * What is reviewed: a command's words become a title and a patch, whatever that takes.
 *
 * @module
 */

import { lstat, open, readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { EmptyKind } from "./alternatives.ts";
import { UsageError } from "./errors.ts";
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
import { repositoryOf, type Source, type SourceContext, type SourceRequest } from "./source.ts";

export type { Source, SourceContext, SourceKind, SourceRequest } from "./source.ts";

/** A repository's own settings. */
const SETTINGS_FILE = ".octavo.json";

/** Bytes of an `.octavo.json` beyond which it is not read. */
const MAX_SETTINGS_BYTES = 100_000;

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
      return await (await import("./pull_source.ts")).openPull(request, context);
    default:
      return await openInRepository(request, await openRepository(context.dir, context.env, context.signal));
  }
}

/** What a repository has to review. */
export type LocalRequest = Exclude<SourceRequest, { kind: "pr" | "diff" }>;

/** Opens a source in a repository that is open already. */
export async function openInRepository(request: LocalRequest, repository: Repository): Promise<Source> {
  return fromGit(request, repository, await gitPatch(request, repository));
}

function gitPatch(request: LocalRequest, repository: Repository): Promise<GitPatch> {
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

function fromGit(request: LocalRequest, repository: Repository, patch: GitPatch): Source {
  const { base, head } = patch;
  const isRange = request.kind === "branch" || request.kind === "commit";
  return {
    kind: request.kind,
    title: patch.title,
    description: patch.description,
    ...(base === undefined ? {} : { base }),
    ...(head === undefined ? {} : { head }),
    repository: repository.root,
    chunks: "range" in request || request.kind === "commit"
      ? patch.chunks
      : unlessEmpty(patch, repository, request.kind),
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

/** The patch; one with nothing in it leaves a notice that says what there would be instead. */
async function* unlessEmpty(
  { chunks, notices }: GitPatch,
  repository: Repository,
  kind: EmptyKind,
): AsyncGenerator<Uint8Array> {
  let empty = true;
  for await (const chunk of chunks) {
    empty &&= chunk.length === 0;
    yield chunk;
  }
  if (empty) notices.push(await (await import("./alternatives.ts")).sayAlternatives(repository, kind));
}

/** `.octavo.json` of the base side: a change cannot set the rules of its own review. */
async function settingsAt(repository: Repository, base: string | undefined): Promise<string | undefined> {
  return base === undefined ? undefined : await readBlob(repository, base, SETTINGS_FILE, MAX_SETTINGS_BYTES);
}

/** `.octavo.json` of the working tree: a regular file, which a link may not stand for. */
export async function settingsInTree({ root, bare }: Repository): Promise<string | undefined> {
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
  const place = await repositoryOf(context);
  return {
    kind: "diff",
    title: file === "-" ? "patch on standard input" : `patch ${file}`,
    description: "",
    ...(place === undefined ? {} : { repository: place.root }),
    lockKey: place?.gitDir ?? "",
    chunks: file === "-" ? context.stdin() : await openFile(resolve(context.dir, file), file),
    notices: [],
    attributes: Promise.resolve(new Map()),
    hidden: Promise.resolve(new Set()),
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
