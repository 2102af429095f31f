/**
 * What a refusal means and what is right to do about it: wait, ask differently, or give up and say why.
 *
 * @module
 */

import { OctavoError, ProviderError } from "./errors.ts";
import { displayUrl, errorDetail, errorText, parseBody } from "./http.ts";
import type { Dialect } from "./wire.ts";

/** What to do about a response that is no answer. */
export type Verdict =
  | { do: "fail" }
  | {
    /** The prompt does not fit. */
    do: "shrink";
    /** The context window in tokens, where the server named it. */
    window?: number;
  }
  | { do: "wait"; milliseconds: number; reason: string; rateLimited: boolean }
  | { do: "give up waiting"; milliseconds: number }
  | {
    /** The server is still loading its model. */
    do: "await health";
  }
  | { do: "adapt"; dialect: Dialect; reason: string }
  | { do: "list models" }
  | { do: "check key" }
  | { do: "check address" };

/** A response that is no answer. */
export interface Refusal {
  /** The HTTP status. */
  status: number;
  /** The response's headers. */
  headers: Headers;
  /** The response's text. */
  body: string;
}

/** How often a request is sent in all, waits for rate limits and overload included. */
export const MAX_TRIES = 4;

/** Milliseconds a provider may ask to wait; beyond that the person should decide. */
export const MAX_WAIT_MS = 60_000;

/** Milliseconds before the second try, where the provider names none; doubled each time. */
const FIRST_WAIT_MS = 1_000;

/** Judges a refusal. `tries` counts the requests so far, this one included; `now` is in milliseconds since 1970. */
export function judge(refusal: Refusal, state: { tries: number; dialect: Dialect; now: number }): Verdict {
  const { status, body } = refusal;
  if (isOverflow(body) || status === 413) return { do: "shrink", ...windowIn(body) };
  if (status === 503 && /loading model/i.test(body)) return { do: "await health" };
  if (isWaitable(status, body)) return waitFor(refusal, state);
  if (status === 400 || status === 422) {
    const adapted = adapt(body, state.dialect);
    if (adapted) return { do: "adapt", ...adapted };
  }
  if (isMissingModel(status, body)) return { do: "list models" };
  if (status === 401 || status === 403) return { do: "check key" };
  if (status === 404 || status === 405) return { do: "check address" };
  return { do: "fail" };
}

const OVERFLOW = new RegExp(
  [
    "prompt is too long",
    "request.too.large",
    "exceeds? the (model'?s? )?(available |maximum )?context",
    "exceed_context_size",
    "exceed context limit",
    "maximum context (length|window|size)",
    "(greater|longer|larger) than the (model'?s )?(maximum )?context",
    "context.(length|window|size).exceeded",
    "input token count",
    "reduce the length",
    "too large for model with",
    "input (is )?too long",
    "too many (input |prompt )?tokens",
  ].join("|"),
  "i",
);

/** Whether a text says that the prompt does not fit into the model. */
export function isOverflow(text: string): boolean {
  return OVERFLOW.test(text);
}

const WINDOWS: readonly RegExp[] = [
  /"n_ctx":\s*(\d+)/i,
  /maximum context (?:length|window|size)(?: of| is)?[^\d]{0,20}([\d,]+)/i,
  /> ([\d,]+) maximum/i,
  /context limit: [\d,+ ]+ > ([\d,]+)/i,
  /maximum number of (?:input )?tokens allowed \(?([\d,]+)/i,
  /context (?:length|window|size)(?: of)?(?: only)?[^\d]{0,12}([\d,]+)/i,
  /too large for model with ([\d,]+)/i,
  /limit:? ([\d,]+)/i,
];

/** The context window that an overflow's words name. */
export function windowIn(text: string): { window?: number } {
  for (const pattern of WINDOWS) {
    const window = Number(pattern.exec(text)?.[1]?.replaceAll(",", ""));
    if (window > 0) return { window };
  }
  return {};
}

/** Whether the same request may go through later. Out of money and out of memory it will not. */
function isWaitable(status: number, body: string): boolean {
  if (status === 429) return !/insufficient_quota|billing|credit balance/i.test(body);
  if (status === 500) return !/\bmemory\b/i.test(body);
  return [502, 503, 504, 529].includes(status);
}

function waitFor(refusal: Refusal, state: { tries: number; now: number }): Verdict {
  const rateLimited = refusal.status === 429;
  const asked = retryAfter(refusal, state.now);
  if (asked !== undefined && asked > MAX_WAIT_MS) return { do: "give up waiting", milliseconds: asked };
  if (state.tries >= MAX_TRIES) return { do: "fail" };
  const milliseconds = asked ?? backOff(state.tries);
  return { do: "wait", milliseconds, reason: errorText(refusal.status, refusal.body), rateLimited };
}

/** Milliseconds to wait before another try where nobody names a time: 1, 2, 4 seconds. */
export function backOff(tries: number): number {
  return FIRST_WAIT_MS * 2 ** (tries - 1);
}

/** Milliseconds that a refusal asks to wait, rounded up to seconds (RFC 9110, 10.2.3: seconds or a date). */
export function retryAfter(refusal: Refusal, now: number): number | undefined {
  const header = refusal.headers.get("retry-after")?.trim() ?? "";
  const precise = Number(refusal.headers.get("retry-after-ms") ?? NaN);
  if (precise >= 0) return ceilSecond(precise);
  if (/^\d+(\.\d+)?$/.test(header)) return ceilSecond(Number(header) * 1000);
  const date = Date.parse(header);
  if (header !== "" && !Number.isNaN(date)) return ceilSecond(Math.max(0, date - now));
  // Gemini has no header, and says it in the body
  const told = /"retryDelay":\s*"(\d+(?:\.\d+)?)s"/.exec(refusal.body)?.[1];
  return told === undefined ? undefined : ceilSecond(Number(told) * 1000);
}

function ceilSecond(milliseconds: number): number {
  return Math.ceil(milliseconds / 1000) * 1000;
}

/** How to ask again after a parameter was refused; `undefined` when no parameter of ours is named. */
function adapt(body: string, dialect: Dialect): { dialect: Dialect; reason: string } | undefined {
  const limit = Number(/max_tokens: \d+ > (\d+)/.exec(body)?.[1]);
  if (limit > 0 && dialect.maxTokensLimit === undefined) {
    return { dialect: { ...dialect, maxTokensLimit: limit }, reason: `an answer there has at most ${limit} tokens` };
  }
  const param = fieldNamed(body);
  const names = (name: string) => param === name || (param === undefined && body.includes(name));
  if (names("max_tokens") && dialect.maxTokens === "max_tokens") {
    return { dialect: { ...dialect, maxTokens: "max_completion_tokens" }, reason: "max_tokens is not taken there" };
  }
  if (names("max_completion_tokens") && dialect.maxTokens === "max_completion_tokens") {
    return { dialect: { ...dialect, maxTokens: undefined }, reason: "no limit of tokens is taken there" };
  }
  if (names("temperature") && dialect.temperature) {
    return { dialect: { ...dialect, temperature: false }, reason: "no temperature is taken there" };
  }
  if ((names("stream_options") || names("include_usage")) && dialect.streamOptions) {
    return { dialect: { ...dialect, streamOptions: false }, reason: "stream_options is not taken there" };
  }
  return undefined;
}

/** `error.param`, where a body has it. */
function fieldNamed(body: string): string | undefined {
  const param = parseBody(body)?.param;
  return typeof param === "string" && param !== "" ? param.replace(/^.*\./, "") : undefined;
}

function isMissingModel(status: number, body: string): boolean {
  if (status !== 404 && status !== 400) return false;
  if (/model_not_found/i.test(body)) return true;
  return /\bmodel\b/i.test(body) &&
    /not found|does not exist|not exist|unknown model|invalid model|not a valid model/i.test(body);
}

// --- how it is said -------------------------------------------------------------------------------------------------

/** Whom a request went to, for the words of an error. */
export interface Asked {
  /** The provider's id. */
  provider: string;
  /** The model's name at its provider. */
  name: string;
  /** Its endpoint, normalised. */
  baseUrl: string;
  /** The variable or setting that the key came from. */
  apiKeyFrom?: string;
  /** Tokens, where known. */
  contextWindow?: number;
}

/** Models named in an error. */
const MAX_NAMED_MODELS = 12;

/** The error for a refusal that nothing more is tried about. `models`: those that are served, where that was asked. */
export function refusalError(
  asked: Asked,
  verdict: Verdict,
  refusal: Refusal,
  models?: readonly string[],
): ProviderError {
  const answers = `${who(asked)} answers ${errorText(refusal.status, refusal.body)}`;
  switch (verdict.do) {
    case "shrink":
      return overflowError(asked, refusal.body, verdict.window);
    case "give up waiting":
      return new ProviderError(`${answers}; it asks to wait ${Math.ceil(verdict.milliseconds / 1000)} seconds`, {
        hint: "octavo waits a minute at most: run it again later",
      });
    case "list models":
      return new ProviderError(answers, { hint: modelsHint(asked, models) });
    case "check key":
      return new ProviderError(answers, {
        hint: asked.apiKeyFrom ? `check the key in ${asked.apiKeyFrom}` : "it wants an API key, and none is set",
      });
    case "check address":
      return new ProviderError(answers, { hint: addressHint(asked) });
    default:
      return new ProviderError(answers);
  }
}

/** The error for a prompt that does not fit; `text` is what the server said. */
export function overflowError(asked: Asked, text: string, window = asked.contextWindow): ProviderError {
  const size = window === undefined ? "the context window" : `the context window of ${window} tokens`;
  const said = errorDetail(text);
  return new ProviderError(`The prompt does not fit into ${size} of ${who(asked)}${said === "" ? "" : `: ${said}`}`, {
    hint: "send less at a time with a smaller --max-diff-chars, or take a model with a larger window",
  });
}

/** The error for a stream that was given up because nothing came. */
export function silenceError(asked: Asked, timeoutMs: number): ProviderError {
  return new ProviderError(`Nothing came from ${who(asked)} for ${timeoutMs / 1000} seconds`, {
    hint: "a longer --timeout waits longer",
  });
}

/** The error for an answer that broke off, or came without its end. */
export function brokenError(asked: Asked, reason: string): ProviderError {
  if (isOverflow(reason)) return overflowError(asked, reason, windowIn(reason).window ?? asked.contextWindow);
  const misplaced = /unexpected endpoint/i.test(reason);
  return new ProviderError(`The answer of ${who(asked)} broke off: ${errorDetail(reason)}`, {
    hint: misplaced ? addressHint(asked) : undefined,
  });
}

/** The error for a response that is no answer at all, such as a page. */
export function foreignError(asked: Asked, text: string): ProviderError {
  const said = errorDetail(text);
  return new ProviderError(`${who(asked)} sends no answer of a chat model${said === "" ? "" : `: ${said}`}`, {
    hint: addressHint(asked),
  });
}

/** The error for an answer without any text. */
export function emptyError(asked: Asked, facts: { stopReason: string; hasReasoning: boolean }): ProviderError {
  const empty = `${who(asked)} answers without any text`;
  if (facts.stopReason === "filter") return new ProviderError(`${empty}: its content filter stopped it`);
  if (facts.stopReason === "refusal") return new ProviderError(`${empty}: the model refuses`);
  if (facts.hasReasoning) {
    return new ProviderError(`${empty}: its reasoning took all the room`, {
      hint: "raise the cap on the answer's tokens, or the context window, at the provider",
    });
  }
  const window = asked.contextWindow === undefined ? "" : ` (${asked.contextWindow} tokens)`;
  return new ProviderError(empty, {
    hint: `the prompt may not fit into its context window${window}: try a smaller --max-diff-chars`,
  });
}

/** The error for an endpoint that gives no response. */
export function unreachableError(asked: Asked, error: Error): ProviderError {
  return new ProviderError(`${who(asked)} does not answer: ${error.message}`, {
    hint: error instanceof OctavoError && error.hint ? error.hint : "is it running, and is the base URL right?",
    cause: error,
  });
}

function who(asked: Asked): string {
  return `"${asked.provider}/${asked.name}" at ${URL.parse(asked.baseUrl)?.host ?? asked.baseUrl}`;
}

function addressHint(asked: Asked): string {
  return `there is no such endpoint: check the base URL, ${displayUrl(asked.baseUrl)}`;
}

function modelsHint(asked: Asked, models: readonly string[] | undefined): string {
  const pull = asked.provider === "ollama" ? `; ollama pull ${asked.name} fetches it` : "";
  if (models === undefined || models.length === 0) return `its list of models is empty or cannot be had${pull}`;
  const prefixed = `${asked.provider}/${asked.name}`;
  if (models.includes(prefixed)) return `it is called ${asked.provider}/${prefixed} there`;
  const more = models.length - MAX_NAMED_MODELS;
  const named = models.slice(0, MAX_NAMED_MODELS).join(", ");
  return `it has: ${named}${more > 0 ? `, and ${more} more` : ""}${pull}`;
}
