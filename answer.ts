/**
 * One answer while it comes: payloads to events, reasoning kept apart, and what is known when it ends.
 *
 * @module
 */

import { ThinkFilter, type ThinkFilterOptions, type Thought } from "./think.ts";
import type { StopReason, WireEvent } from "./wire.ts";

/** What of an answer is for the reader: pieces of it, of the reasoning, and that all text so far was reasoning. */
export type AnswerEvent = { type: "delta"; text: string } | { type: "reasoning"; text: string } | { type: "discard" };

/** A stream that failed: what was given out before stands. */
export class BrokenAnswer extends Error {
  /** The name of the class. */
  override name = "BrokenAnswer";
  /** Another try may go better. */
  readonly passing: boolean;

  /** `message` is what the provider says. */
  constructor(message: string, options: { passing: boolean }) {
    super(message);
    this.passing = options.passing;
  }
}

/** Tokens as the provider counts them. */
export interface Usage {
  /** Of the prompt. */
  promptTokens?: number;
  /** Of the answer, reasoning included. */
  completionTokens?: number;
}

/** The state of one answer. */
export class Answer {
  /** Why it ended, once that is said. A stream that ends without is incomplete. */
  stopReason: StopReason | undefined;
  /** Nothing comes any more. */
  done = false;
  /** Tokens, once the provider has counted them. */
  usage: Usage | undefined;
  /** Whether the reader was given anything. */
  gave = false;
  /** Whether there was any text of an answer, reasoning aside. */
  hasText = false;
  /** Whether there was any reasoning. */
  hasReasoning = false;
  #filter: ThinkFilter;
  #events: WireEvent[] = [];

  /** For one request. */
  constructor(options: ThinkFilterOptions) {
    this.#filter = new ThinkFilter(options);
  }

  /** Notes what the wire said, until it is taken. Neighbours of a kind become one. */
  readonly add = (event: WireEvent): void => {
    const last = this.#events.at(-1);
    if ((event.type === "text" || event.type === "reasoning") && last?.type === event.type) last.text += event.text;
    else this.#events.push({ ...event });
  };

  /** What came since the last call. Throws {@linkcode BrokenAnswer} behind what came before it. */
  *take(): Generator<AnswerEvent> {
    for (const event of this.#events.splice(0)) {
      if (this.done) return;
      if (event.type === "text") yield* this.#give(this.#filter.push(event.text));
      else if (event.type === "reasoning") yield* this.#give([...this.#filter.settle(), event]);
      else this.#note(event);
    }
  }

  /** Whether a text or reasoning waits to be taken. */
  get hasNew(): boolean {
    return this.#events.some((event) => event.type === "text" || event.type === "reasoning");
  }

  /** Takes the end. */
  *end(): Generator<AnswerEvent> {
    yield* this.#give(this.#filter.end());
  }

  #note(event: Exclude<WireEvent, { text: string }>): void {
    switch (event.type) {
      case "usage":
        this.usage = {
          ...this.usage,
          ...(event.promptTokens === undefined ? {} : { promptTokens: event.promptTokens }),
          ...(event.completionTokens === undefined ? {} : { completionTokens: event.completionTokens }),
        };
        break;
      case "stop":
        this.stopReason = event.reason;
        break;
      case "done":
        this.done = true;
        this.stopReason ??= "stop";
        break;
      case "error":
        throw new BrokenAnswer(event.message, { passing: event.passing });
    }
  }

  *#give(thoughts: readonly Thought[]): Generator<AnswerEvent> {
    for (const thought of thoughts) {
      this.gave = true;
      if (thought.type === "discard") {
        this.hasText = false;
        yield thought;
      } else if (thought.type === "reasoning") {
        this.hasReasoning = true;
        yield thought;
      } else {
        this.hasText ||= thought.text.trim() !== "";
        yield { type: "delta", text: thought.text };
      }
    }
  }
}
