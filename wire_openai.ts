/**
 * The protocol of OpenAI's chat completions, as OpenAI and everybody who copies it speaks it: server-sent events with
 * `choices[0].delta`.
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
  parseJson,
  type PayloadReader,
  type StopReason,
  textOf,
  type Wire,
} from "./wire.ts";

/** Chat completions. */
export const openai: Wire = { path: "/chat/completions", framing: "sse", body, reader: () => new OpenAIReader() };

function body(ask: Ask): Record<string, unknown> {
  const { dialect } = ask;
  return {
    model: ask.model,
    messages: ask.messages,
    stream: true,
    ...(dialect.streamOptions ? { stream_options: { include_usage: true } } : {}),
    ...(dialect.maxTokens && ask.maxTokens !== undefined ? { [dialect.maxTokens]: ask.maxTokens } : {}),
    ...(dialect.temperature && ask.temperature !== undefined ? { temperature: ask.temperature } : {}),
  };
}

const STOP_REASONS: Readonly<Record<string, StopReason>> = {
  stop: "stop",
  length: "length",
  // names of their own: Mistral, Together, and gateways that pass on what is behind them
  model_length: "length",
  max_tokens: "length",
  eos: "stop",
  end_turn: "stop",
  content_filter: "filter",
  tool_calls: "other",
  function_call: "other",
};

/**
 * A stream's chunks differ in their text alone: what stands around it in all of them. OpenAI pads each chunk so that its
 * length tells nothing; that string, which nobody reads, then stands between `padding` and `behind`.
 */
interface Frame {
  before: string;
  padding: string | undefined;
  behind: string;
}

/** Chunks in a row without a use of the frame after which no other is looked for. */
const MAX_MISSES = 20;

class OpenAIReader implements PayloadReader {
  #frame: Frame | undefined;
  /** Chunks since the frame was of use. */
  #misses = 0;
  #refused = false;

  read(data: string, emit: Emit, event?: string): boolean {
    if (this.#readFramed(data, emit)) return true;
    if (data.trim() === "[DONE]") {
      emit({ type: "done" });
      return true;
    }
    const documents = documentsOf(data);
    if (documents === undefined) {
      // a plain text behind `event: error`, or a broken chunk, whose text would be lost if it were passed over
      emit({ type: "error", message: event === "error" ? data : `a chunk that is not JSON: ${data}`, passing: false });
      return true;
    }
    // a stream in which every chunk is another is not worth the search
    if (documents.length === 1 && this.#misses++ < MAX_MISSES) this.#frame = frameOf(data, documents[0]) ?? this.#frame;
    return documents.map((document) => this.#readChunk(document, emit, event)).includes(true);
  }

  /**
   * The short way, which most of a long answer goes: the text of a chunk whose rest is, byte for byte, that of a chunk
   * before. Without a quote in it that text is exactly one JSON string, and so is the padding.
   */
  #readFramed(data: string, emit: Emit): boolean {
    const frame = this.#frame;
    if (frame === undefined) return false;
    const end = data.length - frame.behind.length;
    // slices are compared ten times as fast as startsWith() is in V8
    if (end < frame.before.length || data.slice(0, frame.before.length) !== frame.before) return false;
    if (data.slice(end) !== frame.behind) return false;
    const textEnd = frame.padding === undefined ? end : data.indexOf(frame.padding, frame.before.length);
    if (textEnd < 0 || textEnd < end && !isPlain(data, textEnd + (frame.padding ?? "").length, end)) return false;
    const text = stringBody(data, frame.before.length, textEnd);
    if (text === undefined) return false;
    this.#misses = 0;
    if (text !== "") emit({ type: "text", text });
    return true;
  }

  #readChunk(document: unknown, emit: Emit, event?: string): boolean {
    const chunk = fieldsOf(document);
    if (chunk === undefined) return false;
    const choice = fieldsOf(itemsOf(chunk.choices)[0]);
    const usage = fieldsOf(chunk.usage) ?? fieldsOf(fieldsOf(chunk.x_groq)?.usage);
    const failed = chunk.error ?? (event === "error" ? document : undefined);
    if (choice !== undefined) this.#readChoice(choice, fieldsOf(choice.delta) ?? fieldsOf(choice.message), emit);
    if (usage !== undefined) emitUsage(emit, countOf(usage.prompt_tokens), countOf(usage.completion_tokens));
    if (failed !== undefined && failed !== null && failed !== "") {
      emit({ type: "error", message: messageIn(failed) ?? "an error without words", passing: isPassing(failed) });
    } else if (choice?.finish_reason === "error") {
      emit({ type: "error", message: "the provider broke the answer off", passing: false });
    }
    return choice !== undefined || usage !== undefined || failed !== undefined;
  }

  #readChoice(choice: Record<string, unknown>, delta: Record<string, unknown> | undefined, emit: Emit): void {
    if (delta !== undefined) {
      const reasoning = textOf(delta.reasoning_content) ?? textOf(delta.reasoning);
      if (reasoning !== undefined) emit({ type: "reasoning", text: reasoning });
      readContent(delta.content, emit);
      const refusal = textOf(delta.refusal);
      if (refusal !== undefined) {
        this.#refused = true;
        emit({ type: "text", text: refusal });
      }
    }
    const reason = textOf(choice.finish_reason);
    if (reason === undefined || reason === "error") return;
    emit({ type: "stop", reason: this.#refused ? "refusal" : STOP_REASONS[reason] ?? "other" });
  }

  whole(document: unknown, emit: Emit): boolean {
    const understood = this.#readChunk(document, emit);
    if (understood && fieldsOf(fieldsOf(document)?.error) === undefined) emit({ type: "done" });
    return understood;
  }
}

/** A content that is a text, or a list of typed pieces (Mistral), of which `thinking` is a list again. */
function readContent(content: unknown, emit: Emit): void {
  if (typeof content === "string") {
    if (content !== "") emit({ type: "text", text: content });
    return;
  }
  for (const item of itemsOf(content)) {
    const piece = fieldsOf(item);
    if (piece?.type === "text") {
      const text = textOf(piece.text);
      if (text !== undefined) emit({ type: "text", text });
    } else if (piece?.type === "thinking") {
      readContent(piece.thinking, (event) => emit(event.type === "text" ? { ...event, type: "reasoning" } : event));
    }
  }
}

const FIELD = '"content"';

/** The frame of a chunk that carries a text and nothing else that matters. */
function frameOf(data: string, document: unknown): Frame | undefined {
  const chunk = fieldsOf(document);
  const choices = itemsOf(chunk?.choices);
  const choice = fieldsOf(choices[0]);
  const delta = fieldsOf(choice?.delta);
  const text = textOf(delta?.content);
  if (choices.length !== 1 || chunk?.error || chunk?.usage || choice?.finish_reason || text === undefined) {
    return undefined;
  }
  if (delta?.reasoning_content || delta?.reasoning || delta?.refusal) return undefined;
  // once, so that it is the field that was read: inside a string its quotes would be escaped
  const at = data.indexOf(FIELD);
  if (at < 0 || data.indexOf(FIELD, at + 1) >= 0) return undefined;
  const value = at + FIELD.length + (data.startsWith(": ", at + FIELD.length) ? 2 : 1);
  const quoted = JSON.stringify(text);
  if (!data.startsWith(quoted, value)) return undefined; // written in another way, such as with \u00e9
  const before = data.slice(0, value + 1);
  const rest = data.slice(value + quoted.length - 1);
  const padding = rest.indexOf(PADDING);
  if (padding < 0) return { before, padding: undefined, behind: rest };
  const inside = padding + PADDING.length;
  return { before, padding: rest.slice(0, inside), behind: rest.slice(rest.indexOf('"', inside)) };
}

const PADDING = '"obfuscation":"';

/** The text that the inside of a JSON string stands for, or `undefined` when it is more than one string's inside. */
function stringBody(data: string, from: number, to: number): string | undefined {
  const inside = data.slice(from, to);
  if (isPlain(data, from, to)) return inside;
  const value = parseJson(`"${inside}"`);
  return typeof value === "string" ? value : undefined;
}

/** Whether a stretch is a string's inside that stands for itself; `false` for one that ends before it begins. */
function isPlain(data: string, from: number, to: number): boolean {
  for (let at = from; at < to; at++) {
    const code = data.charCodeAt(at);
    if (code === QUOTE || code === BACKSLASH || code < SPACE) return false;
  }
  return from <= to;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const SPACE = 0x20;
