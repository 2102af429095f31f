/**
 * Anthropic's messages: server-sent events that name their type.
 *
 * @module
 */

import { messageIn } from "./http.ts";
import {
  type Ask,
  countOf,
  documentsOf,
  type Emit,
  emitUsage,
  fieldsOf,
  isPassing,
  itemsOf,
  type StopReason,
  textOf,
  type Wire,
} from "./wire.ts";

/**
 * Tokens of an answer where the user set none: the protocol wants a number. A review of one part has eight issues at
 * most, about 2,000 tokens; the rest is room for the reasoning, which counts as well. Models that allow less say so,
 * and get what they allow.
 */
export const DEFAULT_MAX_TOKENS = 32_000;

/** Messages. */
export const anthropic: Wire = { path: "/v1/messages", framing: "sse", body, reader: () => ({ read, whole }) };

function body(ask: Ask): Record<string, unknown> {
  const limit = ask.dialect.maxTokensLimit ?? Infinity;
  return {
    model: ask.model,
    messages: ask.messages,
    stream: true,
    max_tokens: Math.min(ask.maxTokens ?? DEFAULT_MAX_TOKENS, limit),
    ...(ask.dialect.temperature && ask.temperature !== undefined ? { temperature: ask.temperature } : {}),
  };
}

const STOP_REASONS: Readonly<Record<string, StopReason>> = {
  end_turn: "stop",
  stop_sequence: "stop",
  max_tokens: "length",
  model_context_window_exceeded: "length",
  refusal: "refusal",
};

function read(data: string, emit: Emit, event?: string): boolean {
  if (event === "ping") return false;
  const documents = documentsOf(data);
  if (documents === undefined) {
    emit({ type: "error", message: event === "error" ? data : `an event that is not JSON: ${data}`, passing: false });
    return true;
  }
  return documents.map((document) => readEvent(document, emit, event)).includes(true);
}

function readEvent(document: unknown, emit: Emit, name?: string): boolean {
  const event = fieldsOf(document);
  const type = textOf(event?.type) ?? name;
  if (event === undefined || type === "ping") return false;
  switch (type) {
    case "message_start":
      readUsage(fieldsOf(event.message)?.usage, emit);
      return true;
    case "content_block_start":
      readBlock(event.content_block, emit);
      return true;
    case "content_block_delta":
      readBlock(event.delta, emit);
      return true;
    case "message_delta":
      readUsage(event.usage, emit);
      readStop(fieldsOf(event.delta)?.stop_reason, emit);
      return true;
    case "message_stop":
      emit({ type: "done" });
      return true;
    case "error":
      readError(event.error ?? event, emit);
      return true;
    default:
      if (event.error !== undefined && event.error !== null) readError(event.error, emit);
      return type !== undefined || event.error !== undefined;
  }
}

/** A block or a piece of one: `text` and `text_delta`, `thinking` and `thinking_delta`; signatures and tools are nothing. */
function readBlock(block: unknown, emit: Emit): void {
  const text = textOf(fieldsOf(block)?.text);
  const thinking = textOf(fieldsOf(block)?.thinking);
  if (thinking !== undefined) emit({ type: "reasoning", text: thinking });
  if (text !== undefined) emit({ type: "text", text });
}

/** What was read from or written to the cache is not in `input_tokens`. */
function readUsage(value: unknown, emit: Emit): void {
  const usage = fieldsOf(value);
  const read = [usage?.input_tokens, usage?.cache_creation_input_tokens, usage?.cache_read_input_tokens];
  const prompt = read.map(countOf).reduce<number>((sum, count) => sum + (count ?? 0), 0);
  emitUsage(emit, countOf(prompt), countOf(usage?.output_tokens));
}

function readStop(value: unknown, emit: Emit): void {
  const reason = textOf(value);
  if (reason !== undefined) emit({ type: "stop", reason: STOP_REASONS[reason] ?? "other" });
}

function readError(error: unknown, emit: Emit): void {
  emit({ type: "error", message: messageIn(error) ?? "an error without words", passing: isPassing(error) });
}

function whole(document: unknown, emit: Emit): boolean {
  const message = fieldsOf(document);
  if (message?.type !== "message") return readEvent(document, emit);
  for (const block of itemsOf(message.content)) readBlock(block, emit);
  readUsage(message.usage, emit);
  readStop(message.stop_reason, emit);
  emit({ type: "done" });
  return true;
}
