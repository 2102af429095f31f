/**
 * A source to a plan: the patch is parsed as it streams, what is noise is dropped, the built-in checks see the rest
 * before it is cut.
 *
 * @module
 */

import { AddedSecrets } from "./added_secrets.ts";
import { type FileDiff, PatchParser, type Plan, type PlanOptions, ReviewPlanner } from "./diff.ts";
import { UsageError } from "./errors.ts";
import type { Finding } from "./findings.ts";
import { HunkWatch } from "./hunk_watch.ts";
import { redactPlan } from "./redacted_plan.ts";
import { Redactor } from "./secret_mask.ts";
import { type PlacedSecret, redact } from "./secrets.ts";
import { nearest } from "./settings.ts";
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
  /** Ids of rules of the built-in checks that are switched off. Secrets are kept from leaving in any case. */
  checksOff?: readonly string[];
}

/** A plan, and what the built-in checks found in it. */
export interface SourcePlan {
  /** What is sent, cut, skipped and left, without the secrets in it. */
  plan: Plan;
  /** The same plan with them. */
  unredacted: Plan;
  /** The secrets in what is sent. */
  secrets: PlacedSecret[];
  /** Findings of the built-in checks, without secrets. */
  checks: Finding[];
}

/**
 * Reads a source to its end and plans it.
 *
 * @param redactor Learns the secrets that are found.
 * @throws {UsageError} if the text is no patch, or a rule is to be switched off that is none; and what the source
 * throws.
 */
export async function planSource(
  source: Source,
  options: SourcePlanOptions,
  redactor: Redactor = new Redactor(),
): Promise<SourcePlan> {
  const { PatchChecker, rules } = await import("./checks.ts");
  const off = await knownRules(options.checksOff ?? [], rules);
  const chunks = begin(source.chunks); // git works while it is asked about attributes
  const [hidden, skip] = await Promise.all([source.hidden, skipRule(source, options)]).catch(async (error: unknown) => {
    await chunks[Symbol.asyncIterator]().return?.();
    throw error;
  });
  const planner = new ReviewPlanner({ maxDiffChars: options.maxDiffChars, skip });
  const checker = new PatchChecker({ off });
  const secrets = new AddedSecrets();
  const watched = new Map<FileDiff, HunkWatch>();
  const parser = new PatchParser({
    keep: (file) => options.checksOnly ? 0 : planner.keep(file),
    // The checks see every file that is no noise, before it is cut and whatever of it is kept.
    observe(file) {
      if (planner.reason(file) !== undefined) return undefined;
      const watch = new HunkWatch(file.path, checker.file(file), secrets);
      watched.set(file, watch);
      return (hunk, text) => watch.see(hunk, text);
    },
  });
  const take = (file: FileDiff) => {
    // git says "Binary files differ" of a file that its attributes hide; its text stands at the end of the patch.
    if (file.binary && hidden.has(file.path)) return;
    planner.add(file);
    const watch = watched.get(file);
    watched.delete(file);
    watch?.end();
    if (watch) checker.done(watch.checker);
    else checker.add(file); // what its record says
  };
  for await (const chunk of chunks) {
    parser.push(chunk).forEach(take);
    await secrets.flush();
  }
  parser.end().forEach(take);
  const plan = planner.end();
  plan.problems.push(...parser.problems);
  if (plan.files.length === 0 && plan.problems.length > 0) {
    throw new UsageError(`This is no patch: ${plan.problems[0]!.message}`, { hint: "octavo reads unified diffs" });
  }
  const unredacted = options.checksOnly ? withoutParts(plan) : plan;
  const redacted = await redactPlan(unredacted, redactor);
  const checks = await redactor.deep(
    joined(checker.end(), (await secrets.end()).filter(({ rule = "" }) => !off.has(rule))),
  );
  const inTitle = options.checksOnly ? [] : await secretsOfTitle(source.title, redactor);
  return { unredacted, plan: redacted.plan, secrets: [...inTitle, ...redacted.secrets], checks };
}

async function secretsOfTitle(text: string, redactor: Redactor): Promise<PlacedSecret[]> {
  const { secrets } = await redact(text);
  redactor.learn(secrets);
  return secrets.map(({ id, title }) => ({ id, title, path: "the title" }));
}

/** Rules by their ids; a wrong one is a mistake, and not passed over. */
async function knownRules(ids: readonly string[], checks: readonly { id: string }[]): Promise<ReadonlySet<string>> {
  if (ids.length === 0) return new Set();
  const { SECRET_RULES } = await import("./secret_rules.ts");
  const known = [...checks, ...SECRET_RULES].map(({ id }) => id);
  const wrong = ids.find((id) => !known.includes(id));
  if (wrong === undefined) return new Set(ids);
  const near = nearest(wrong, known);
  throw new UsageError(`The built-in checks have no rule "${wrong}"`, {
    hint: near ? `did you mean "${near}"?` : "octavo checks lists them",
  });
}

/** Findings of the checks and secrets, file by file; a private key, which both find, is there once. */
function joined(checks: Finding[], secrets: Finding[]): Finding[] {
  const key = ({ rule, path, line }: Finding) => JSON.stringify([rule, path, line]);
  const known = new Set(checks.map(key));
  const added = secrets.filter((finding) => !known.has(key(finding)));
  if (added.length === 0) return checks;
  const order = new Map<string | undefined, number>();
  for (const { path } of [...checks, ...added]) if (!order.has(path)) order.set(path, order.size);
  const place = ({ path, line = 0 }: Finding) => [order.get(path)!, line] as const;
  return [...checks, ...added].sort((a, b) => place(a)[0] - place(b)[0] || place(a)[1] - place(b)[1]);
}

/** Asks for the first piece at once, and gives the pieces to whoever iterates. */
export function begin<T>(pieces: AsyncIterable<T>): AsyncIterable<T> {
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
