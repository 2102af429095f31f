/**
 * One request in, an async iterable of events out, whatever the provider speaks.
 *
 * @module
 */

import { ProviderError } from "./errors.ts";
import type { Env } from "./http.ts";
import type { Model } from "./providers.ts";

/** One message of a conversation. */
export interface Message {
  role: "user" | "assistant";
  content: string;
}

/** What is asked, and how long it may take. */
export interface ChatRequest {
  model: Model;
  messages: Message[];
  env: Env;
  signal?: AbortSignal;
  /** Milliseconds without any payload after which the stream is given up. */
  timeoutMs: number;
  /** Tokens of the answer, only if the user set it. */
  maxTokens?: number;
  /** Only if the user set it. */
  temperature?: number;
  /** Ollama's `num_ctx`: one value for the whole run, because a change reloads the model. */
  contextTokens?: number;
  /** Replaces the waiting before another try, for tests. Rejects when the signal aborts. */
  sleep?: (milliseconds: number, signal: AbortSignal) => Promise<void>;
}

/** Why an answer ended. */
export type StopReason = "stop" | "length" | "filter" | "refusal" | "other";

/** What happens while a model answers. */
export type ChatEvent =
  | { type: "delta"; text: string }
  | { type: "reasoning"; text: string }
  | {
    /** All deltas so far were reasoning, and are to be dropped: a `</think>` came without its `<think>`. */
    type: "discard";
  }
  | {
    /** Before another try. */
    type: "waiting";
    reason: string;
    milliseconds: number;
    /** The server limits the rate: whoever else asks it should wait as long. */
    rateLimited?: boolean;
  }
  | { type: "usage"; promptTokens?: number; completionTokens?: number }
  | {
    type: "end";
    stopReason: StopReason;
    firstByteMs?: number;
    firstTokenMs?: number;
    totalMs: number;
    /** The server counted far fewer prompt tokens than were sent: it cut the prompt in silence. */
    promptCut?: boolean;
  };

/**
 * Asks a model and yields what comes, at the consumer's pace. Throws ProviderError when it fails; the text so far was
 * already yielded. Leaving the loop closes the connection.
 */
// deno-lint-ignore require-yield
export async function* chat(_request: ChatRequest): AsyncGenerator<ChatEvent> {
  await Promise.resolve();
  throw new ProviderError("not there yet");
}
