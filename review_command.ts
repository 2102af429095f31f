/**
 * The commands that review: from a change over a plan and a model to what is printed, kept and returned.
 *
 * @module
 */

import { resolve } from "node:path";
import { type Context, notice, type Stopping, stopping } from "./command.ts";
import { type Options, withRepositoryFile } from "./config.ts";
import { DEFAULT_PART_CHARS, type FileDiff } from "./diff.ts";
import { EXIT, UsageError } from "./errors.ts";
import type { Severity } from "./finding.ts";
import type { Recipe } from "./keeper.ts";
import { chooseModel, withSavedModel } from "./model.ts";
import { configDir, stateDir } from "./paths.ts";
import { begin } from "./plan.ts";
import { charsForWindow } from "./prompts.ts";
import type { Repository } from "./git.ts";
import { BUILTIN, type Model } from "./providers.ts";
import type { Report } from "./report.ts";
import type { OpenReport } from "./report_files.ts";
import { type EarlierRun, review, type ReviewKeeper, type ReviewOptions } from "./review.ts";
import type { CollectedDiff } from "./shown_diff.ts";
import { openInRepository, openSource, type Source, type SourceContext, type SourceRequest } from "./sources.ts";
import { SEVERITIES } from "./settings.ts";
import type { Templates } from "./templates.ts";
import { createTerminal } from "./terminal.ts";
import { say } from "./world.ts";

/** Said where the built-in checks stand in for a model that nobody named. */
const NO_MODEL = "No model is configured and no local server answers: only the built-in checks review. " +
  "A model: --model PROVIDER/NAME, OCTAVO_MODEL, or a running Ollama";

/** `octavo tree`, `staged`, `branch`, `commit`, `pr`, `diff`. */
export async function reviewCommand(context: Context): Promise<number> {
  const stop = stopping(context.world);
  try {
    return await runReview({ ...context, stop, request: requestOf(context) });
  } finally {
    stop.done();
  }
}

/** `octavo resume` */
export async function resumeCommand(context: Context): Promise<number> {
  const { world, words } = context;
  const { findConversation } = await import("./conversation_commands.ts");
  const { conversationsDir } = await import("./conversation.ts");
  const { conversationKeeper, readRecipe } = await import("./keeper.ts");
  const conversation = await findConversation(context, words.words[0]);
  const { review: saved, messages } = conversation;
  if (!saved) throw new UsageError(`The conversation "${conversation.id}" holds no review`);
  const parts = saved.parts.map(({ status, message, stopReason, usage }, index) => ({
    number: index + 1,
    status,
    ...(message === undefined ? {} : { review: messages[message]!.content }),
    ...(stopReason === undefined ? {} : { stopReason }),
    ...(usage === undefined ? {} : { usage }),
  }));
  if (parts.every(({ status }) => status === "done") && (parts.length < 2 || saved.summary?.status === "done")) {
    await notice(context, `the review "${conversation.id}" is complete: there is nothing to go on with`);
    return EXIT.ok;
  }
  const recipe = readRecipe(conversation);
  const dir = conversation.repository ?? context.dir;
  const keeper = conversationKeeper({
    dir: conversationsDir(world.env),
    repository: conversation.repository,
    recipe,
    now: world.now,
    conversation,
  });
  const run = { hashes: saved.parts.map(({ hash }) => hash), parts };
  const stop = stopping(world);
  const earlier = { run, recipe, maxDiffChars: saved.maxDiffChars, title: conversation.title, keeper };
  try {
    const config = withSavedModel(context.config, saved.model);
    return await runReview({ ...context, config, dir, stop, request: recipe.source, earlier });
  } finally {
    stop.done();
  }
}

/** One review to run. */
export interface ReviewJob extends Context {
  stop: Stopping;
  request: SourceRequest;
  /** The repository, where it is being opened already. */
  repository?: Promise<Repository>;
  /** What an earlier run has done, and its keeper. */
  earlier?: { run: EarlierRun; recipe: Recipe; maxDiffChars: number; title: string; keeper: ReviewKeeper };
}

/** What the words of a command ask for. */
export function requestOf({ words: { command, words }, config, world }: Context): SourceRequest {
  const word = words[0];
  switch (command.name) {
    case "staged":
      return { kind: "staged" };
    case "branch":
      return { kind: "branch", ...(word === undefined ? {} : { base: word }) };
    case "commit":
      return { kind: "commit", ...(word === undefined ? {} : { rev: word }) };
    case "pr":
      return { kind: "pr", ...(word === undefined ? {} : { reference: word }) };
    case "diff":
      return { kind: "diff", file: word ?? (world.stdin.isTerminal ? "" : "-") };
    default:
      return { kind: "tree", untracked: config.options.untracked };
  }
}

/** Runs a review and gives its exit code. */
export async function runReview(job: ReviewJob): Promise<number> {
  const { world, stop, config: given } = job;
  const { signal } = stop;
  const choosing = given.options.plan ? undefined : chooseModel(given, world.env, signal);
  choosing?.catch(() => {}); // awaited below, behind what must be said first
  let opened: Source | undefined;
  try {
    const reports = await beginReports(job);
    opened = await beginSource(job);
    const source = await reports.collect(opened);
    const config = withRepositoryFile(given, await source.settings);
    for (const warning of config.warnings) await notice({ config, world }, warning);
    const model = await choosing;
    if (model === BUILTIN && job.earlier) {
      throw new UsageError("To go on with a review needs a model, and none is configured or found running", {
        hint: "--model PROVIDER/NAME, or OCTAVO_MODEL",
      });
    }
    if (model === BUILTIN && config.options.model === undefined) await notice({ config, world }, NO_MODEL);
    const options = await reviewOptions({ ...job, config }, source, model);
    const report = await watch({ ...job, config }, options.events, reports);
    const code = exitCode(report, config.options, stop);
    const written = await finishReports({ ...job, config }, reports.open);
    return !written && (code === EXIT.ok || code === EXIT.findings) ? EXIT.failed : code;
  } catch (error) {
    if (stop.reason === undefined) throw error;
    return stop.exitCode(); // stopped before anything was sent
  } finally {
    // Of a patch that nobody has read to its end: git is ended with the command.
    opened?.chunks[Symbol.asyncIterator]().return?.().catch(() => {});
  }
}

/** The source. git begins with the patch at once, and waits where nobody takes it. */
async function beginSource(job: ReviewJob): Promise<Source> {
  const { request, repository } = job;
  if (request.kind === "pr" || request.kind === "diff") return await openSource(request, sourceContext(job));
  const source = repository
    ? await openInRepository(request, await repository)
    : await openSource(request, sourceContext(job));
  return { ...source, chunks: begin(source.chunks) };
}

/** The reports of a run beside the one on stdout, and the diff that some of them show. */
interface Reports {
  open: OpenReport[];
  /** The source; its diff is kept on its way where a report shows it. */
  collect(source: Source): Promise<Source>;
  /** What of the diff may be shown, once it has been read. */
  diff: () => readonly FileDiff[];
}

/** Finds out that every report can be written, before anything is sent. */
async function beginReports({ config: { options }, world, words }: ReviewJob): Promise<Reports> {
  let collected: CollectedDiff | undefined;
  const diff = () => collected?.files() ?? [];
  let showsDiff = options.format === "html";
  let open: OpenReport[] = [];
  if (options.report.length > 0 || world.env.GITHUB_STEP_SUMMARY) {
    const { openReports, readReportFiles } = await import("./report_files.ts");
    const files = readReportFiles(options.report, resolve(world.dir, words.dir ?? "."));
    showsDiff ||= files.some(({ format }) => format === "html");
    open = await openReports({ files, env: world.env, diff });
  }
  return {
    open,
    diff,
    async collect(source) {
      if (!showsDiff) return source;
      const { collectDiff } = await import("./shown_diff.ts");
      collected = collectDiff(source.chunks, { clean: withoutSecrets });
      return { ...source, chunks: collected.chunks };
    },
  };
}

/** A report is handed on: no secret of the diff goes with it. */
async function withoutSecrets(text: string): Promise<string> {
  const { redact } = await import("./secrets.ts");
  return (await redact(text, "diff")).text;
}

/** Writes the reports; gives whether all that were asked for are there. */
async function finishReports({ world }: ReviewJob, reports: readonly OpenReport[]): Promise<boolean> {
  let written = true;
  for (const report of reports) {
    const failure = await report.finish();
    if (failure === undefined) continue;
    await say(world, failure);
    written &&= report.extra;
  }
  return written;
}

function sourceContext({ dir, world, config, stop }: ReviewJob): SourceContext {
  return {
    dir,
    env: world.env,
    signal: stop.signal,
    stdin: world.stdin.read,
    githubToken: config.options.githubToken,
  };
}

/** The events of the review, once everything that it needs is there. */
async function reviewOptions(
  job: ReviewJob,
  source: Source,
  model: Model | typeof BUILTIN | undefined,
): Promise<{ events: ReturnType<typeof review> }> {
  const { config: { options }, world, stop, earlier } = job;
  const asks = typeof model === "object";
  const templates = model === BUILTIN ? undefined : loadOwnTemplates(job);
  templates?.catch(() => {}); // awaited by the review
  const window = asks ? await windowOf(job, model) : undefined;
  const budget = await chooseBudget(job, model, window);
  const recipe: Recipe = earlier?.recipe ??
    { source: source.again, exclude: options.exclude, include: options.include };
  let release = () => Promise.resolve();
  const shared: ReviewOptions = {
    source: earlier ? { ...source, title: earlier.title } : source,
    model,
    plan: {
      maxDiffChars: budget,
      exclude: recipe.exclude,
      include: recipe.include,
      checksOff: options.checksOff,
    },
    planOnly: options.plan,
    sendSecrets: options.sendSecrets,
    templates,
    env: world.env,
    jobs: options.jobs,
    timeoutMs: options.timeout * 1_000,
    maxTokensTotal: options.maxTokensTotal,
    contextWindow: window,
    signal: stop.signal,
    keeper: asks && !options.noSave ? earlier?.keeper ?? await newKeeper(job, source, recipe) : undefined,
    earlier: earlier?.run,
    async beforeAsking() {
      const limit = await (await import("./http.ts")).runtimeLimit(world.env);
      if (limit !== undefined) await notice(job, limit);
      release = await lock(job, source);
    },
  };
  return {
    events: async function* () {
      try {
        yield* review(shared);
      } finally {
        await release();
      }
    }(),
  };
}

async function loadOwnTemplates({ world: { env } }: ReviewJob): Promise<Templates> {
  const { loadTemplates } = await import("./templates.ts");
  return await loadTemplates({ dir: `${configDir(env)}/templates` });
}

async function newKeeper({ world }: ReviewJob, source: Source, recipe: Recipe): Promise<ReviewKeeper> {
  const { conversationKeeper } = await import("./keeper.ts");
  const { conversationsDir } = await import("./conversation.ts");
  return conversationKeeper({
    dir: conversationsDir(world.env),
    repository: source.repository,
    recipe,
    now: world.now,
  });
}

/** One review of a repository at a time. */
async function lock(job: ReviewJob, source: Source): Promise<() => Promise<void>> {
  const { acquireLock } = await import("./lock.ts");
  const { env, pid, now } = job.world;
  const held = await acquireLock({ stateDir: stateDir(env), key: source.lockKey, pid, now });
  if (held.notice !== undefined) await notice(job, held.notice);
  return () => held.release();
}

/** The context window, where it is needed: to fill it, or because Ollama takes it from the request. */
async function windowOf({ config: { options }, world, stop }: ReviewJob, model: Model): Promise<number | undefined> {
  if (model.contextWindow !== undefined) return model.contextWindow;
  if (options.maxDiffChars !== "auto" && model.protocol !== "ollama") {
    return (await import("./presets.ts")).knownWindow(model.name);
  }
  const { contextWindow } = await import("./providers.ts");
  return await contextWindow(model, { env: world.env, signal: stop.signal });
}

/** Characters of diff in a part: as set, or what the window holds, and never more than that. */
async function chooseBudget(
  job: ReviewJob,
  model: Model | typeof BUILTIN | undefined,
  window: number | undefined,
): Promise<number> {
  const { config: { options: { maxDiffChars: asked } }, earlier } = job;
  if (earlier) return earlier.maxDiffChars;
  if (typeof model !== "object") return asked === "auto" ? DEFAULT_PART_CHARS : asked;
  const name = `${model.provider}/${model.name}`;
  if (window === undefined) {
    if (asked !== "auto") return asked;
    await notice(job, `The context window of ${name} is not known: a part is ${DEFAULT_PART_CHARS} characters`);
    return DEFAULT_PART_CHARS;
  }
  const fits = charsForWindow(window);
  if (asked === "auto") return fits;
  if (asked <= fits) return asked;
  await notice(
    job,
    `A part of ${asked} characters does not fit the window of ${name} (${window} tokens): ${fits} are taken`,
  );
  return fits;
}

/** Prints the events as they come; gives the report at their end. */
async function watch(job: ReviewJob, events: ReturnType<typeof review>, reports: Reports): Promise<Report> {
  const terminal = createTerminal(job.world, { ...job.config.options, diff: reports.diff });
  let report: Report | undefined;
  try {
    for await (const event of events) {
      await terminal.show(event);
      for (const open of reports.open) open.take(event);
      if (event.type === "end") report = event.report;
    }
  } finally {
    await terminal.close();
  }
  return report!; // the last event of every review that does not throw
}

/** The exit code of a finished review: a stop, then what is missing, then findings. */
export function exitCode(report: Report, options: Options, stop: Pick<Stopping, "reason" | "exitCode">): number {
  if (report.status === "incomplete") return stop.reason === undefined ? EXIT.failed : stop.exitCode();
  const left = report.files.some(({ coverage }) => coverage === "trimmed" || coverage === "unreviewed");
  if (options.requireCoverage && left) return EXIT.failed;
  return hasFindings(report, options.failOn) ? EXIT.findings : EXIT.ok;
}

function hasFindings({ findings }: Report, failOn: Severity | undefined): boolean {
  if (failOn === undefined) return false;
  const counted: readonly Severity[] = SEVERITIES.slice(0, SEVERITIES.indexOf(failOn) + 1);
  return findings.some(({ grounded, severity }) => grounded && counted.includes(severity));
}
