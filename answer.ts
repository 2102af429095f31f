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
  override name = "BrokenAnswer";
  /** Another try may go better. */
  readonly passing: boolean;

  constructor(message: string, options: { passing: boolean }) {
    super(message);
    this.passing = options.passing;
  }
}

/** Tokens as the provider counts them. */
export interface Usage {
  promptTokens?: number;
  completionTokens?: number;
}

/** The state of one answer. */
export class Answer {
  /** Why it ended, once that is said. A stream that ends without is incomplete. */
  stopReason: StopReason | undefined;
  /** Nothing comes any more. */
  done = false;
  usage: Usage | undefined;
  /** Whether the reader was given anything. */
  gave = false;
  /** Whether there was any text of an answer, reasoning aside. */
  hasText = false;
  /** Whether there was any reasoning. */
  hasReasoning = false;
  #filter: ThinkFilter;

  constructor(options: ThinkFilterOptions) {
    this.#filter = new ThinkFilter(options);
  }

  /** Takes what the wire said. Neighbours become one event. Throws {@linkcode BrokenAnswer} behind what came before it. */
  *take(events: readonly WireEvent[]): Generator<AnswerEvent> {
    for (let at = 0; at < events.length && !this.done; at++) {
      const event = events[at];
      if (event?.type === "text" || event?.type === "reasoning") {
        const from = at;
        while (events[at + 1]?.type === event.type) at++;
        const text = textOf(events.slice(from, at + 1));
        if (event.type === "text") yield* this.#give(this.#filter.push(text));
        else yield* this.#give([...this.#filter.settle(), { type: "reasoning", text }]);
      } else if (event !== undefined) {
        this.#note(event);
      }
    }
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

function textOf(events: readonly WireEvent[]): string {
  return events.map((event) => "text" in event ? event.text : "").join("");
}
