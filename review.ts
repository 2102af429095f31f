/**
 * The pipeline of a review, as a stream of events. It prints nothing and reads no environment.
 *
 * @module
 */

import { createHash } from "node:crypto";
import { Channel } from "./channel.ts";
import type { ChatEvent } from "./chat.ts";
import { coverageLine, type Part, type Plan } from "./diff.ts";
import { describeError, UsageError } from "./errors.ts";
import { type Finding, mergeFindings, readFindings } from "./findings.ts";
import type { SourcePlan } from "./plan.ts";
import type { Env } from "./paths.ts";
import { ANSWER_TOKENS, contextFor, estimateTokens, partPrompt, summaryPrompt } from "./prompts.ts";
import type { Model } from "./providers.ts";
import type { Report, ReportPart, ReportSummary, ReviewEvent, Section } from "./report.ts";
import type { Source } from "./sources.ts";
import type { Templates } from "./templates.ts";

/** Keeps a review while it runs. */
export interface ReviewKeeper {
  /**
   * Keeps the state after a part.
   *
   * @returns The id under which it is kept, or a sentence that says why it could not be.
   */
  keep(report: Report): Promise<{ id: string } | { warning: string }>;
}

/** What {@linkcode review} needs. */
export interface ReviewOptions {
  source: Source;
  planned: SourcePlan;
  model: Model;
  templates: Templates;
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
  /** Where the review is kept; without it nothing is saved. */
  keeper?: ReviewKeeper | undefined;
  /** Parts that an earlier run has done, by number: they are not asked again. */
  earlier?: ReadonlyMap<number, ReportPart>;
}

/** Hash of what is sent of a part, to know it again. */
export function partHash(part: Part): string {
  return createHash("sha256").update(part.text).digest("hex");
}

/**
 * Asks the model about each part, sums up, keeps what came. Ends with an `end` event in any case but one: an error
 * before anything was sent is thrown.
 *
 * @throws {UsageError} if the review would need more tokens than allowed.
 */
export async function* review(options: ReviewOptions): AsyncGenerator<ReviewEvent> {
  const run = new Run(options);
  run.refuseIfTooExpensive();
  try {
    yield* run.askParts();
    yield* run.sumUp();
  } finally {
    await run.finish();
  }
  for (const finding of run.report.findings) yield { type: "finding", finding };
  yield { type: "end", report: run.report };
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

/** The state of one review. */
class Run {
  readonly report: Report;
  readonly #options: ReviewOptions;
  readonly #prompts: ReadonlyMap<number, string>;
  readonly #contextTokens: number;
  readonly #stop = new AbortController();
  readonly #checks: Finding[];
  #workers: Promise<unknown> = Promise.resolve();
  #broken = false;
  #saved = false;
  #warned = false;
  #saving: Promise<unknown> = Promise.resolve();

  constructor(options: ReviewOptions) {
    this.#options = options;
    const { planned: { plan, checks }, earlier } = options;
    this.#checks = checks;
    this.report = startReport(options.source, plan, checks, modelName(options.model));
    for (const part of this.report.parts) Object.assign(part, earlier?.get(part.number));
    this.#prompts = renderPrompts(options);
    this.#contextTokens = contextFor([...this.#prompts.values()], options.contextWindow);
    options.signal?.addEventListener("abort", () => this.#stop.abort(options.signal?.reason), { once: true });
    if (options.signal?.aborted) this.#stop.abort(options.signal.reason);
  }

  refuseIfTooExpensive(): void {
    const { maxTokensTotal } = this.#options;
    const estimate = estimateRun([...this.#prompts.values()]);
    if (maxTokensTotal === undefined || estimate <= maxTokensTotal) return;
    throw new UsageError(
      `This review is estimated at ${estimate.toLocaleString("en-US")} tokens, more than ${
        maxTokensTotal.toLocaleString("en-US")
      }`,
      { hint: "raise --max-tokens-total, or review less: --exclude, a smaller range" },
    );
  }

  /** Asks up to `jobs` parts at once, and yields their events part by part. */
  async *askParts(): AsyncGenerator<ReviewEvent> {
    const parts = this.#options.planned.plan.parts.filter(({ number }) => this.#part(number).status !== "done");
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
  async *sumUp(): AsyncGenerator<ReviewEvent> {
    const { parts } = this.report;
    if (parts.length < 2) return;
    if (this.#broken || this.#stop.signal.aborted || parts.some(({ review }) => review === undefined)) {
      this.report.summary = { status: "skipped" };
      return;
    }
    const channel = new Channel<ReviewEvent>();
    const events = channel[Symbol.asyncIterator]();
    channel.push({ type: "section", section: "summary", parts: parts.length, files: [], chars: 0 });
    this.#workers = this.#ask("summary", this.#summaryPrompt(), channel).then(async (answer) => {
      const summary: ReportSummary = { status: this.#outcome(answer), ...described(answer) };
      this.report.summary = summary;
      channel.push({ type: "summary", summary });
      await this.#keep(channel);
    }).finally(() => channel.close());
    yield* events;
    await this.#workers;
  }

  /** Ends what is still under way, and settles the report. */
  async finish(): Promise<void> {
    this.#stop.abort();
    await this.#workers.catch(() => {}); // its error was thrown to whoever iterates
    await this.#saving;
  }

  async #askPart(part: Part, channel: Channel<ReviewEvent>): Promise<void> {
    const reported = this.#part(part.number);
    const { files, chars } = reported;
    channel.push({ type: "section", section: part.number, parts: this.report.parts.length, files, chars });
    const answer = await this.#ask(part.number, this.#prompts.get(part.number)!, channel);
    Object.assign(reported, { status: this.#outcome(answer), ...described(answer) });
    if (reported.status === "failed" && this.#stop.signal.aborted) reported.status = "pending";
    if (answer.error !== undefined) this.#broken = true;
    channel.push({ type: "part", part: reported });
    await this.#keep(channel);
  }

  async #ask(section: Section, content: string, channel: Channel<ReviewEvent>): Promise<Answer> {
    const { model, env, timeoutMs } = this.#options;
    const answer: Answer = { text: "" };
    try {
      const { chat } = await import("./chat.ts");
      const messages = [{ role: "user" as const, content }];
      const request = { model, env, timeoutMs, messages, contextTokens: this.#contextTokens, signal: this.#stop.signal };
      for await (const event of chat(request)) take(event, answer, section, channel);
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
    return this.report.parts[number - 1]!;
  }

  #summaryPrompt(): string {
    const { source, planned: { plan }, templates } = this.#options;
    const reviews = this.report.parts.map(({ number, files, review }) => ({ number, files, text: review ?? "" }));
    return summaryPrompt({
      title: source.title,
      parts: plan.parts.length,
      reviews,
      findings: this.#findings().map(forPrompt),
      coverage: coverageLine(plan),
      templates,
      maxTokens: this.#contextTokens - ANSWER_TOKENS,
    });
  }

  /** Findings of the checks, of the parts and of the summing up, in this order; what is said twice is there once. */
  #findings(): Finding[] {
    const { plan } = this.#options.planned;
    const found = plan.parts.flatMap((part) =>
      readFindings(this.#part(part.number).review ?? "", { number: part.number, files: part.files }, "model")
    );
    const all = { number: 0, files: plan.parts.flatMap(({ files }) => files) };
    return mergeFindings([...this.#checks, ...found, ...readFindings(this.report.summary?.review ?? "", all, "summary")]);
  }

  /** Settles what follows from the parts so far, and keeps it. Savings never overlap. */
  #keep(channel: Channel<ReviewEvent>): Promise<void> {
    this.report.findings = this.#findings();
    this.report.status = statusOf(this.report);
    const { keeper } = this.#options;
    if (!keeper) return Promise.resolve();
    const saving = this.#saving.then(async () => {
      const kept = await keeper.keep(this.report);
      if ("warning" in kept) {
        if (!this.#warned) channel.push({ type: "notice", level: "warning", message: kept.warning });
        this.#warned = true;
        return;
      }
      this.report.conversation = kept.id;
      if (!this.#saved) channel.push({ type: "saved", conversation: kept.id });
      this.#saved = true;
    });
    this.#saving = saving;
    return saving;
  }
}

/** A report in which nothing has been asked yet. */
export function startReport(source: Source, plan: Plan, checks: Finding[], model: string): Report {
  return {
    version: 1,
    title: source.title,
    source: {
      kind: source.kind,
      ...(source.base === undefined ? {} : { base: source.base }),
      ...(source.head === undefined ? {} : { head: source.head }),
    },
    model,
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

/** How a model is named in print. */
export function modelName({ provider, name }: Model): string {
  return `${provider}/${name}`;
}

/** The prompts of all parts, by number. */
export function renderPrompts(
  { planned: { plan, checks }, source, templates }: Pick<ReviewOptions, "planned" | "source" | "templates">,
): Map<number, string> {
  return new Map(plan.parts.map((part) => {
    const paths = new Set(part.files.map(({ path }) => path));
    const known = checks.filter(({ path }) => path !== undefined && paths.has(path))
      .map(({ path, line, title }) => `${path}:${line}: ${title}`);
    return [part.number, partPrompt(part, { plan, title: source.title, templates, known })];
  }));
}

/** Tokens that a run with these prompts is estimated to need: the prompts, an answer each, and the summing up. */
export function estimateRun(prompts: readonly string[]): number {
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

/** What a report says of an answer. */
function described({ text, usage, stopReason, cut, error }: Answer) {
  const reason = error === undefined ? cut ?? (text === "" ? "the answer had no text" : undefined) : describeError(error);
  return {
    ...(text === "" ? {} : { review: text }),
    ...(usage === undefined ? {} : { usage }),
    ...(stopReason === undefined ? {} : { stopReason }),
    ...(reason === undefined ? {} : { error: reason }),
  };
}

function statusOf({ parts, summary }: Report): "complete" | "incomplete" {
  const done = parts.every(({ status }) => status === "done");
  return done && (parts.length < 2 || summary?.status === "done") ? "complete" : "incomplete";
}

const ICONS = { bug: "🔴", risk: "🟠", nit: "🟡" } as const;

function forPrompt({ severity, path, line, title, grounded }: Finding) {
  return { severity, icon: ICONS[severity], path: path ?? "", line: String(line ?? ""), title, grounded };
}
