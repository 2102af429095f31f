/**
 * The pipeline of a review, as a stream of events. It prints nothing and reads no environment.
 *
 * @module
 */

import process from "node:process";
import { Channel } from "./channel.ts";
import type { ChatEvent } from "./chat.ts";
import { coverageLine, type Part, type Plan } from "./diff.ts";
import { describeError, UsageError } from "./errors.ts";
import { type Finding, mergeFindings, readFindings } from "./findings.ts";
import type { Env } from "./paths.ts";
import { planSource, type SourcePlan, type SourcePlanOptions } from "./plan.ts";
import { ANSWER_TOKENS, contextFor, estimateTokens, partPrompt, summaryPrompt } from "./prompts.ts";
import { planNotices, secretNotices } from "./plan_notices.ts";
import type { BUILTIN, Model } from "./providers.ts";
import type { Report, ReportPart, ReportSummary, ReviewEvent, Section } from "./report.ts";
import { Redactor, sendsSecrets } from "./secret_mask.ts";
import type { Source } from "./sources.ts";
import type { Templates } from "./templates.ts";

/** Keeps a review while it runs. */
export interface ReviewKeeper {
  /**
   * Keeps the state after a part.
   *
   * @returns The id under which it is kept, or a sentence that says why it could not be.
   */
  keep(state: ReviewState): Promise<{ id: string } | { warning: string }>;
}

/** What is kept of a review while it runs. */
export interface ReviewState {
  /** How far it is. */
  report: Report;
  /** What it follows. */
  plan: Plan;
  /** Hash of what is sent of each part, in their order. */
  hashes: string[];
}

/** The parts of an earlier run of the same review. */
export interface EarlierRun {
  /** Hash of what was sent of each part, as it was kept. */
  hashes: readonly string[];
  /** How far each part is. */
  parts: readonly Pick<ReportPart, "number" | "status" | "review" | "usage" | "stopReason">[];
}

/** What {@linkcode review} needs. */
export interface ReviewOptions {
  /** What is reviewed. Its patch is read once. */
  source: Source;
  /** A model, or the built-in checks alone. With `planOnly` it may be unknown. */
  model: Model | typeof BUILTIN | undefined;
  /** How the patch is planned. */
  plan: SourcePlanOptions;
  /** Plan, and ask nobody. */
  planOnly?: boolean;
  /** Send secrets to another machine as they are. @default false */
  sendSecrets?: boolean;
  /** The prompts; awaited after the patch has been read. The built-in checks alone need none. */
  templates?: Promise<Templates> | undefined;
  /** Environment for proxies and certificates. */
  env: Env;
  /** Parts asked about at once. @default 1 */
  jobs?: number;
  /** Milliseconds that the model may be silent. */
  timeoutMs: number;
  /** Refuse a review that is estimated to need more tokens than this. */
  maxTokensTotal?: number | undefined;
  /** Tokens of the model's context window, if known. */
  contextWindow?: number | undefined;
  /** Stops the review; what has streamed by then is kept. */
  signal?: AbortSignal;
  /** Called before the first request, when it is certain that there will be one. What it throws ends the review. */
  beforeAsking?: () => Promise<void>;
  /** Where the review is kept; without it nothing is saved. */
  keeper?: ReviewKeeper | undefined;
  /** What an earlier run has done is not asked again. */
  earlier?: EarlierRun | undefined;
}

/**
 * Plans, asks about each part, sums up, keeps what came. What fails or is stopped once something has been sent is in the
 * report of the last event; before that it is thrown. No event has a secret in it, and none is kept.
 *
 * @throws {UsageError} if the source is no patch, the patch has changed since the earlier run, or the review would need
 * more tokens than allowed.
 */
export async function* review(options: ReviewOptions): AsyncGenerator<ReviewEvent> {
  const redactor = new Redactor();
  for await (const event of reviewEvents(options, redactor)) {
    // What streams is masked where it comes from: it is cut anywhere.
    yield event.type === "delta" || event.type === "reasoning" ? event : await redactor.deep(event);
  }
}

async function* reviewEvents(options: ReviewOptions, redactor: Redactor): AsyncGenerator<ReviewEvent> {
  const { source, model, plan: planOptions, planOnly, signal } = options;
  yield sourceEvent(source);
  const said = source.notices.length;
  for (const message of source.notices) yield { type: "notice", level: "info", message };
  const checksOnly = model === "builtin";
  const planned = await planSource(source, { ...planOptions, checksOnly }, redactor);
  signal?.throwIfAborted();
  // Some are known only when the patch has been read.
  for (const message of source.notices.slice(said)) yield { type: "notice", level: "warning", message };
  const raw = typeof model === "object" && sendsSecrets(model, options.sendSecrets);
  const sent = raw ? { ...planned, plan: planned.unredacted } : planned;
  const prompts = checksOnly ? new Map<number, string>() : renderPrompts(sent, source, await templatesOf(options));
  const report = startReport(source, planned, model);
  yield planEvent(report, planned, model, prompts);
  yield* planNotices(planned.plan);
  if (typeof model !== "object" || !model.local) yield* secretNotices(planned.secrets, { sent: raw });
  if (planOnly) report.status = "planned";
  else if (report.files.every(({ coverage }) => coverage === "skipped")) report.status = "nothing";
  else {
    yield* checksSection(planned, checksOnly);
    if (model === undefined || model === "builtin") report.status = "complete";
    else yield* new Run({ ...options, model, redactor }, planned, report, prompts).events();
  }
  for (const finding of report.findings) yield { type: "finding", finding };
  yield { type: "end", report };
}

function templatesOf({ templates }: ReviewOptions): Promise<Templates> {
  if (!templates) throw new TypeError("A review by a model needs templates");
  return templates;
}

/** The answer to one request. */
interface Answer {
  text: string;
  usage?: { promptTokens?: number; completionTokens?: number };
  stopReason?: string;
  /** Why the answer is not whole, although the stream ended as it should. */
  cut?: string;
  error?: unknown;
}

/** What a run needs. */
interface RunOptions extends ReviewOptions {
  model: Model;
  redactor: Redactor;
}

/** The asking of one review. */
class Run {
  readonly #options: RunOptions;
  readonly #planned: SourcePlan;
  readonly #report: Report;
  readonly #prompts: ReadonlyMap<number, string>;
  readonly #contextTokens: number;
  readonly #hashes: string[];
  readonly #stop = new AbortController();
  #workers: Promise<unknown> = Promise.resolve();
  #saving: Promise<unknown> = Promise.resolve();
  #broken = false;
  #warned = false;

  constructor(
    options: RunOptions,
    planned: SourcePlan,
    report: Report,
    prompts: ReadonlyMap<number, string>,
  ) {
    this.#options = options;
    this.#planned = planned;
    this.#report = report;
    this.#prompts = prompts;
    this.#contextTokens = contextFor([...prompts.values()], options.contextWindow);
    this.#hashes = planned.plan.parts.map(partHash);
  }

  async *events(): AsyncGenerator<ReviewEvent> {
    const { signal, earlier, beforeAsking } = this.#options;
    if (earlier) this.#takeOver(earlier);
    this.#refuseIfTooExpensive();
    await beforeAsking?.();
    const stop = () => this.#stop.abort(signal?.reason);
    signal?.addEventListener("abort", stop, { once: true });
    if (signal?.aborted) stop();
    try {
      yield* this.#askParts();
      yield* this.#sumUp();
    } finally {
      stop();
      signal?.removeEventListener("abort", stop);
      await this.#workers.catch(() => {}); // its error was thrown to whoever iterates
      await this.#saving;
    }
    this.#settle();
  }

  #takeOver({ hashes, parts }: EarlierRun): void {
    if (hashes.join() !== this.#hashes.join()) {
      throw new UsageError("The patch has changed since this review was made, so it cannot go on", {
        hint: "review it anew",
      });
    }
    for (const part of parts) if (part.status === "done") Object.assign(this.#part(part.number), part);
  }

  #refuseIfTooExpensive(): void {
    const { maxTokensTotal } = this.#options;
    const asked = this.#report.parts.filter(({ status }) => status !== "done");
    const estimate = estimateRun(asked.map(({ number }) => this.#prompts.get(number)!));
    if (maxTokensTotal === undefined || estimate <= maxTokensTotal) return;
    const [needs, allows] = [estimate, maxTokensTotal].map((tokens) => tokens.toLocaleString("en-US"));
    throw new UsageError(`This review is estimated at ${needs} tokens, and --max-tokens-total allows ${allows}`, {
      hint: "raise it, or review less: --exclude, a smaller range",
    });
  }

  /** Asks up to `jobs` parts at once, and yields their events part by part. */
  async *#askParts(): AsyncGenerator<ReviewEvent> {
    const parts = this.#planned.plan.parts.filter(({ number }) => this.#part(number).status !== "done");
    const channels = parts.map(() => new Channel<ReviewEvent>());
    let next = 0;
    const work = async () => {
      while (next < parts.length && !this.#broken && !this.#stop.signal.aborted) {
        const index = next++;
        await this.#askPart(parts[index]!, channels[index]!);
        channels[index]!.close();
      }
    };
    this.#workers = Promise.all(Array.from({ length: this.#options.jobs ?? 1 }, work))
      .finally(() => channels.forEach((channel) => channel.close()));
    for (const channel of channels) yield* channel;
    await this.#workers;
  }

  /** One last request over the reviews of all parts; not after a stop or a failure, and not for a single part. */
  async *#sumUp(): AsyncGenerator<ReviewEvent> {
    const { parts } = this.#report;
    if (parts.length < 2) return;
    if (this.#broken || this.#stop.signal.aborted || parts.some(({ review }) => review === undefined)) {
      this.#report.summary = { status: "skipped" };
      return;
    }
    const channel = new Channel<ReviewEvent>();
    channel.push({ type: "section", section: "summary", parts: parts.length, files: [], chars: 0 });
    this.#workers = this.#askSummary(channel).finally(() => channel.close());
    yield* channel;
    await this.#workers;
  }

  async #askSummary(channel: Channel<ReviewEvent>): Promise<void> {
    const answer = await this.#ask("summary", await this.#summaryPrompt(), channel);
    const { stopReason: _, ...rest } = this.#described(answer);
    const summary: ReportSummary = { status: this.#outcome(answer), ...rest };
    this.#report.summary = summary;
    channel.push({ type: "summary", summary });
    await this.#keep(channel);
  }

  async #askPart(part: Part, channel: Channel<ReviewEvent>): Promise<void> {
    const reported = this.#part(part.number);
    const { files, chars } = reported;
    channel.push({ type: "section", section: part.number, parts: this.#report.parts.length, files, chars });
    const answer = await this.#ask(part.number, this.#prompts.get(part.number)!, channel);
    Object.assign(reported, { status: this.#outcome(answer), ...this.#described(answer) });
    if (reported.status === "failed" && this.#stop.signal.aborted) reported.status = "pending";
    if (answer.error !== undefined) this.#broken = true;
    channel.push({ type: "part", part: reported });
    await this.#keep(channel);
  }

  async #ask(section: Section, content: string, channel: Channel<ReviewEvent>): Promise<Answer> {
    const { model, env, timeoutMs, redactor, sendSecrets = false } = this.#options;
    const answer: Answer = { text: "" };
    try {
      const { guardedChat } = await import("./guarded_chat.ts");
      const messages = [{ role: "user" as const, content }];
      const request = {
        model,
        env,
        timeoutMs,
        messages,
        contextTokens: this.#contextTokens,
        signal: this.#stop.signal,
        sendSecrets,
        redactor,
      };
      for await (const event of guardedChat(request)) take(event, answer, section, channel);
    } catch (error) {
      answer.error = error;
    }
    return answer;
  }

  #outcome({ text, cut, error }: Answer): "done" | "incomplete" | "failed" {
    if (text === "") return "failed";
    return error === undefined && cut === undefined ? "done" : "incomplete";
  }

  #part(number: number): ReportPart {
    return this.#report.parts[number - 1]!;
  }

  async #summaryPrompt(): Promise<string> {
    const { plan } = this.#planned;
    const reviews = this.#report.parts.map(({ number, files, review }) => ({ number, files, text: review ?? "" }));
    return summaryPrompt({
      title: this.#options.source.title,
      parts: plan.parts.length,
      reviews,
      findings: this.#findings().map(forPrompt),
      coverage: coverageLine(plan),
      templates: await templatesOf(this.#options),
      maxTokens: this.#contextTokens - ANSWER_TOKENS,
    });
  }

  /** Findings of the checks, of the parts and of the summing up, in this order; what is said twice is there once. */
  #findings(): Finding[] {
    const { plan, checks } = this.#planned;
    const found = plan.parts.flatMap((part) =>
      readFindings(this.#part(part.number).review ?? "", { number: part.number, files: part.files }, "model")
    );
    const all = { number: 0, files: plan.parts.flatMap(({ files }) => files) };
    return mergeFindings([...checks, ...found, ...readFindings(this.#report.summary?.review ?? "", all, "summary")]);
  }

  /** What follows from the parts so far. */
  #settle(): void {
    this.#report.findings = this.#findings();
    this.#report.status = statusOf(this.#report);
  }

  /** Settles, and keeps the state. Savings never overlap. */
  #keep(channel: Channel<ReviewEvent>): Promise<void> {
    this.#settle();
    const { keeper, redactor } = this.#options;
    // A review of which nothing has come yet is made anew, not resumed.
    if (!keeper || this.#report.parts.every(({ review }) => review === undefined)) return Promise.resolve();
    const saving = this.#saving.then(async () => {
      const report = await redactor.deep(this.#report);
      const kept = await keeper.keep({ report, plan: this.#planned.plan, hashes: this.#hashes });
      if ("warning" in kept) {
        if (!this.#warned) channel.push({ type: "notice", level: "warning", message: kept.warning });
        this.#warned = true;
      } else if (this.#report.conversation === undefined) {
        this.#report.conversation = kept.id;
        channel.push({ type: "saved", conversation: kept.id });
      }
    });
    this.#saving = saving;
    return saving;
  }

  /** What a report says of an answer. */
  #described({ text, usage, stopReason, cut, error }: Answer) {
    const reason = this.#stop.signal.aborted && error !== undefined
      ? "stopped"
      : error === undefined
      ? cut ?? (text === "" ? "the answer had no text" : undefined)
      : describeError(error);
    return {
      ...(text === "" ? {} : { review: text }),
      ...(usage === undefined ? {} : { usage }),
      ...(stopReason === undefined ? {} : { stopReason }),
      ...(reason === undefined ? {} : { error: reason }),
    };
  }
}

/** Hash of a part without its secrets, to know it again: the hash is kept. */
export function partHash(part: Part): string {
  const { createHash } = process.getBuiltinModule("node:crypto"); // a review without a model does without it
  return createHash("sha256").update(part.text).digest("hex");
}

function sourceEvent({ kind, title, description, base, head }: Source): ReviewEvent {
  return {
    type: "source",
    kind,
    title,
    description,
    ...(base === undefined ? {} : { base }),
    ...(head === undefined ? {} : { head }),
  };
}

function planEvent(
  { files, parts, totals, model: name }: Report,
  { plan: { maxDiffChars }, secrets }: SourcePlan,
  model: ReviewOptions["model"],
  prompts: ReadonlyMap<number, string>,
): ReviewEvent {
  const host = typeof model === "object" ? new URL(model.baseUrl).host : undefined;
  return {
    type: "plan",
    files,
    parts: parts.map(({ number, files, chars }) => ({
      number,
      files,
      chars,
      ...(prompts.has(number) ? { promptTokens: estimateTokens(prompts.get(number)!) } : {}),
    })),
    totals,
    maxDiffChars,
    ...(secrets.length > 0 ? { secrets } : {}),
    model: name,
    ...(host === undefined ? {} : { host }),
  };
}

/** What the built-in checks found, as text. Beside a model they speak only when there is something. */
function* checksSection({ plan, checks }: SourcePlan, checksOnly: boolean | undefined): Generator<ReviewEvent> {
  if (checks.length === 0 && !checksOnly) return;
  const files = plan.files.filter(({ coverage }) => coverage !== "skipped").map(({ path }) => path);
  yield { type: "section", section: "checks", parts: plan.parts.length, files, chars: 0 };
  const lines = checks.map(({ severity, path, line, title, body, quote, rule }) =>
    [
      `- ${ICONS[severity]} \`${path}${line === undefined ? "" : `:${line}`}\` — ${title} (${rule})`,
      ...(quote ? [`  ${inlineCode(quote)}`] : []),
      `  ${body}`,
    ].join("\n")
  );
  yield { type: "delta", section: "checks", text: lines.length > 0 ? `${lines.join("\n")}\n` : "Nothing found.\n" };
}

/** Code in a line of Markdown, whatever backticks are in it (CommonMark, section 6.1). */
function inlineCode(text: string): string {
  const longest = Math.max(0, ...(text.match(/`+/g) ?? []).map((run) => run.length));
  const mark = "`".repeat(longest + 1);
  return longest > 0 ? `${mark} ${text} ${mark}` : `${mark}${text}${mark}`;
}

/** A report in which nothing has been asked yet. */
function startReport(source: Source, { plan, checks }: SourcePlan, model: ReviewOptions["model"]): Report {
  const { base, head } = source;
  return {
    version: 1,
    title: source.title,
    source: { kind: source.kind, ...(base === undefined ? {} : { base }), ...(head === undefined ? {} : { head }) },
    model: modelName(model),
    status: "incomplete",
    totals: plan.totals,
    files: plan.files,
    parts: plan.parts.map(({ number, files, chars }) => ({
      number,
      files: files.map(({ path }) => path),
      chars,
      status: "pending",
    })),
    findings: checks,
  };
}

/** How a model is named in print: `PROVIDER/NAME`, `builtin`, or nothing where none is known. */
export function modelName(model: ReviewOptions["model"]): string {
  return typeof model === "object" ? `${model.provider}/${model.name}` : model ?? "";
}

/** The prompts of all parts, by number. */
function renderPrompts({ plan, checks }: SourcePlan, { title }: Source, templates: Templates): Map<number, string> {
  return new Map(plan.parts.map((part) => {
    const paths = new Set(part.files.map(({ path }) => path));
    const known = checks.filter(({ path }) => path !== undefined && paths.has(path))
      .map(({ path, line, title }) => `${path}:${line}: ${title}`);
    return [part.number, partPrompt(part, { plan, title, templates, known })];
  }));
}

/** Tokens that a run with these prompts is estimated to need: the prompts, an answer each, and the summing up. */
function estimateRun(prompts: readonly string[]): number {
  const TYPICAL_ANSWER_TOKENS = 1_000;
  const answers = prompts.length * TYPICAL_ANSWER_TOKENS;
  const summingUp = prompts.length > 1 ? answers + 2 * TYPICAL_ANSWER_TOKENS : 0;
  return prompts.reduce((sum, prompt) => sum + estimateTokens(prompt), 0) + answers + summingUp;
}

/** Takes one event of an answer: into the answer, and on to whoever watches. */
function take(event: ChatEvent, answer: Answer, section: Section, channel: Channel<ReviewEvent>): void {
  switch (event.type) {
    case "delta":
      answer.text += event.text;
      channel.push({ type: "delta", section, text: event.text });
      break;
    case "discard":
      answer.text = "";
      channel.push({ type: "discard", section });
      break;
    case "reasoning":
      channel.push({ type: "reasoning", section, text: event.text });
      break;
    case "waiting":
      channel.push({ type: "waiting", section, reason: event.reason, milliseconds: event.milliseconds });
      break;
    case "usage": {
      const { type: _, ...usage } = event;
      answer.usage = { ...answer.usage, ...usage };
      break;
    }
    case "end":
      answer.stopReason = event.stopReason;
      if (event.promptCut) answer.cut = "the server cut the prompt without saying so: lower --max-diff-chars";
      else if (event.stopReason === "length") answer.cut = "the answer was cut by the model's length limit";
      else if (event.stopReason !== "stop") answer.cut = `the provider ended the answer (${event.stopReason})`;
  }
}

function statusOf({ parts, summary }: Report): "complete" | "incomplete" {
  const done = parts.every(({ status }) => status === "done");
  return done && (parts.length < 2 || summary?.status === "done") ? "complete" : "incomplete";
}

const ICONS = { bug: "🔴", risk: "🟠", nit: "🟡" } as const;

function forPrompt({ severity, path, line, title, grounded }: Finding) {
  return { severity, icon: ICONS[severity], path: path ?? "", line: String(line ?? ""), title, grounded };
}
