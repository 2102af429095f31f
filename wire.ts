/**
 * What the wire protocols have in common: what is asked, what comes back, and how JSON of strangers is read.
 *
 * @module
 */

/** One message of a conversation. */
export interface Message {
  /** Who says it. */
  role: "user" | "assistant";
  /** What is said. */
  content: string;
}

/** What a request asks, before a protocol puts it into its own words. */
export interface Ask {
  /** The model's name at its provider. */
  model: string;
  /** The conversation, the newest message last. */
  messages: readonly Message[];
  /** Tokens of the answer, only if the user set it. */
  maxTokens?: number;
  /** Only if the user set it. */
  temperature?: number;
  /** Ollama's `num_ctx`, in tokens. */
  contextTokens?: number;
  /** How this endpoint wants it, learned from its refusals. */
  dialect: Dialect;
}

/** What an endpoint turned out not to take. */
export interface Dialect {
  /** What the limit of tokens is called; `undefined` leaves it out. */
  maxTokens: "max_tokens" | "max_completion_tokens" | undefined;
  /** The most tokens an answer may have, where the endpoint said so. */
  maxTokensLimit?: number;
  /** Whether it takes a temperature. */
  temperature: boolean;
  /** Whether it takes `stream_options`. */
  streamOptions: boolean;
}

/** How every endpoint is first spoken to. */
export const PLAIN_DIALECT: Dialect = { maxTokens: "max_tokens", temperature: true, streamOptions: true };

/** Why an answer ended. */
export type StopReason = "stop" | "length" | "filter" | "refusal" | "other";

/** What one payload of a stream says. */
export type WireEvent =
  | { type: "text"; text: string }
  | { type: "reasoning"; text: string }
  | { type: "usage"; promptTokens?: number; completionTokens?: number }
  | { type: "stop"; reason: StopReason }
  | {
    /** Nothing comes behind this. */
    type: "done";
  }
  | {
    type: "error";
    message: string;
    /** The provider is overloaded or limits the rate: another try may go better. */
    passing: boolean;
  };

/** Takes what a payload says, in order. */
export type Emit = (event: WireEvent) => void;

/** Reads the payloads of one stream. */
export interface PayloadReader {
  /**
   * Reads one payload (the data of a server-sent event, or a line).
   * Returns whether it counts as one: a ping does not.
   */
  read(data: string, emit: Emit, event?: string): boolean;
  /** Reads an answer that came as one JSON document. Returns false when it is not one of this protocol. */
  whole(document: unknown, emit: Emit): boolean;
}

/** A protocol, as far as one request needs it. */
export interface Wire {
  /** Behind the base URL. */
  path: string;
  /** How the answer is split into payloads. */
  framing: "sse" | "lines";
  /** The body of a request. */
  body(ask: Ask): Record<string, unknown>;
  /** A reader for one answer. */
  reader(): PayloadReader;
}

/** An object's fields, or `undefined` for anything else. */
export function fieldsOf(value: unknown): Record<string, unknown> | undefined {
  return isObject(value) ? value : undefined;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A list's items; none for anything else. */
export function itemsOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

/** A text that is not empty, or `undefined`. */
export function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** A count that says something, or `undefined`: servers that do not count send 0. */
export function countOf(value: unknown): number | undefined {
  return typeof value === "number" && value > 0 ? value : undefined;
}

/** A usage event, where there is anything in it. */
export function emitUsage(emit: Emit, promptTokens: number | undefined, completionTokens: number | undefined): void {
  if (promptTokens === undefined && completionTokens === undefined) return;
  emit({
    type: "usage",
    ...(promptTokens === undefined ? {} : { promptTokens }),
    ...(completionTokens === undefined ? {} : { completionTokens }),
  });
}

/** The value of a JSON text, or `undefined` when it is none. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // strangers' text: what it is instead, the caller says
  }
}

/** The JSON documents of one payload: one, or one a line (some proxies join events), or `undefined` if it is broken. */
export function documentsOf(data: string): unknown[] | undefined {
  const one = parseJson(data);
  if (one !== undefined) return [one];
  const lines = data.split("\n").filter((line) => line.trim() !== "");
  if (lines.length < 2) return undefined;
  const documents = lines.map(parseJson);
  return documents.includes(undefined) ? undefined : documents;
}

/** Whether an error's words or code say that it may pass: overload, a rate limit, a gateway. */
export function isPassing(error: unknown): boolean {
  const text = typeof error === "string" ? error : JSON.stringify(error) ?? "";
  if (/insufficient_quota|context|too long|too large|credit balance/i.test(text)) return false;
  return /overloaded|rate.?limit|unavailable|try again|capacity|"code":\s*"?(429|5\d\d)\b/i.test(text);
}
