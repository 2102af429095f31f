/**
 * A source to a plan: the patch is parsed as it streams, what is noise is dropped, the built-in checks see the rest
 * before it is cut.
 *
 * @module
 */

import type { FileChecker } from "./checks.ts";
import {
  type FileDiff,
  type Hunk,
  type HunkObserver,
  PatchParser,
  type Plan,
  type PlanOptions,
  ReviewPlanner,
} from "./diff.ts";
import { UsageError } from "./errors.ts";
import type { Finding } from "./findings.ts";
import type { Source } from "./sources.ts";

/** How a source is planned. */
export interface SourcePlanOptions {
  /** Characters of diff in a part. */
  maxDiffChars: number;
  /** Globs in .gitignore syntax of files to leave out. */
  exclude?: readonly string[];
  /** Globs in .gitignore syntax of files that are no noise, whatever else says so. */
  include?: readonly string[];
  /** No model is asked: the checks see everything, and there are no parts. */
  checksOnly?: boolean;
}

/** A plan, and what the built-in checks found in it. */
export interface SourcePlan {
  /** What is sent, cut, skipped and left. */
  plan: Plan;
  /** Findings of the built-in checks. */
  checks: Finding[];
}

/**
 * Reads a source to its end and plans it.
 *
 * @throws {UsageError} if the text is no patch, and what the source throws.
 */
export async function planSource(source: Source, options: SourcePlanOptions): Promise<SourcePlan> {
  const { PatchChecker } = await import("./checks.ts");
  const chunks = begin(source.chunks); // git works while it is asked about attributes
  const [hidden, skip] = await Promise.all([source.hidden, skipRule(source, options)]).catch(async (error: unknown) => {
    await chunks[Symbol.asyncIterator]().return?.();
    throw error;
  });
  const planner = new ReviewPlanner({ maxDiffChars: options.maxDiffChars, skip });
  const checker = new PatchChecker();
  const watched = new Map<FileDiff, FileChecker>();
  const parser = new PatchParser({
    keep: (file) => options.checksOnly ? 0 : planner.keep(file),
    // The checks see every file that is no noise, before it is cut and whatever of it is kept.
    observe(file) {
      if (planner.reason(file) !== undefined) return undefined;
      const fileChecker = checker.file(file);
      watched.set(file, fileChecker);
      return observer(fileChecker);
    },
  });
  const take = (file: FileDiff) => {
    // git says "Binary files differ" of a file that its attributes hide; its text stands at the end of the patch.
    if (file.binary && hidden.has(file.path)) return;
    planner.add(file);
    const fileChecker = watched.get(file);
    watched.delete(file);
    if (fileChecker) checker.done(fileChecker);
    else checker.add(file); // what its record says
  };
  for await (const chunk of chunks) parser.push(chunk).forEach(take);
  parser.end().forEach(take);
  const plan = planner.end();
  plan.problems.push(...parser.problems);
  if (plan.files.length === 0 && plan.problems.length > 0) {
    throw new UsageError(`This is no patch: ${plan.problems[0]!.message}`, { hint: "octavo reads unified diffs" });
  }
  return { plan: options.checksOnly ? withoutParts(plan) : plan, checks: checker.end() };
}

/** Hands the text of hunks to the checks as it streams. */
function observer(checker: FileChecker): HunkObserver {
  let current: Hunk | undefined;
  return (hunk, text) => {
    if (hunk !== current) checker.hunk(hunk.newStart, hunk.columns);
    current = hunk;
    checker.push(text);
  };
}

/** Asks for the first piece at once, and gives the pieces to whoever iterates. */
function begin<T>(pieces: AsyncIterable<T>): AsyncIterable<T> {
  const iterator = pieces[Symbol.asyncIterator]();
  let first: Promise<IteratorResult<T>> | undefined = iterator.next();
  first.catch(() => {}); // thrown to whoever iterates
  return {
    [Symbol.asyncIterator]: () => ({
      next() {
        const next = first ?? iterator.next();
        first = undefined;
        return next;
      },
      return: async () => await iterator.return?.() ?? { done: true, value: undefined },
    }),
  };
}

/** The plan of a review without a model: no parts and no limits, so every file that is no noise is seen in full. */
function withoutParts(plan: Plan): Plan {
  const files = plan.files.map((file) => {
    if (file.coverage === "skipped") return file;
    const { part: _, reason: __, ...rest } = file;
    return { ...rest, coverage: "full" as const, hunksSent: file.hunks, linesOmitted: 0 };
  });
  return { ...plan, files, parts: [] };
}

/** What is noise beyond the built-in list, and what is never noise. */
async function skipRule(source: Source, options: SourcePlanOptions): Promise<NonNullable<PlanOptions["skip"]>> {
  const attributes = await source.attributes;
  const excluded = await globs(options.exclude ?? []);
  const included = await globs(options.include ?? []);
  return ({ path }) => {
    if (included(path)) return false;
    return excluded(path) ? "excluded" : attributes.get(path);
  };
}

async function globs(patterns: readonly string[]): Promise<(path: string) => boolean> {
  if (patterns.length === 0) return () => false;
  const { default: ignore } = await import("ignore");
  const list = ignore().add([...patterns]);
  // A path in a patch from anywhere may be one that .gitignore rules cannot speak of (`../x`).
  return (path) => ignore.isPathValid(path) && list.ignores(path);
}
