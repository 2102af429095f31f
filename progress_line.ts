/**
 * The progress line of a review, drawn on stderr while nothing else is shown.
 *
 * @module
 */

import { drawProgress, eraseProgress, type ProgressState, renderProgress } from "./progress.ts";
import type { ReviewEvent } from "./report.ts";
import type { Output } from "./world.ts";

/** Milliseconds between two drawings. */
const INTERVAL_MS = 200;

/** Characters of a model's text that are shown as a token. */
const CHARS_PER_TOKEN = 4;

/** What the line needs of the world. */
export interface ProgressLineOptions {
  stderr: Pick<Output, "write" | "columns">;
  color: boolean;
  /** Milliseconds of any clock. */
  now: () => number;
  /** The text of the review is on the same screen: the line is gone while it comes. */
  sharesScreen: boolean;
  /** Whether the screen is at the beginning of a line. */
  isFree: () => boolean;
}

/** Draws the progress of a review until it is closed. */
export class ProgressLine {
  readonly #options: ProgressLineOptions;
  readonly #timer: ReturnType<typeof setInterval>;
  readonly #chars = new Map<number, number>();
  #state: ProgressState;
  #shown = "";
  #hidden = false;

  constructor(options: ProgressLineOptions) {
    this.#options = options;
    const now = options.now();
    this.#state = {
      part: 0,
      parts: 0,
      files: 0,
      chars: 0,
      phase: "git",
      sinceMs: now,
      nowMs: now,
      doneParts: [],
      remainingChars: 0,
    };
    this.#timer = setInterval(() => void this.draw(), INTERVAL_MS);
  }

  /** Takes note of what happens. */
  take(event: ReviewEvent): void {
    const now = this.#options.now();
    const state = this.#state;
    switch (event.type) {
      case "plan":
        event.parts.forEach(({ number, chars }) => this.#chars.set(number, chars));
        this.#state = { ...state, parts: event.parts.length, remainingChars: this.#remaining() };
        break;
      case "section":
        if (event.section === "checks") break;
        this.#hidden = false;
        this.#state = {
          ...state,
          part: event.section === "summary" ? 0 : event.section,
          files: event.files.length,
          chars: event.chars,
          tokens: 0,
          partSinceMs: now,
        };
        this.#enter(event.section === "summary" ? "summing up" : "waiting");
        break;
      case "waiting":
        this.#enter("retrying");
        this.#state.reason = event.reason;
        break;
      case "reasoning":
      case "delta":
        if (event.section === "checks") break;
        if (event.type === "delta") this.#hidden = this.#options.sharesScreen;
        this.#enter(event.type === "delta" ? "streaming" : "thinking");
        this.#state.tokens = (this.#state.tokens ?? 0) + Math.max(1, Math.round(event.text.length / CHARS_PER_TOKEN));
        break;
      case "part": {
        const { number, chars } = event.part;
        const ms = now - (state.partSinceMs ?? now);
        this.#chars.delete(number);
        this.#state = {
          ...state,
          doneParts: [...state.doneParts, { chars, ms }],
          remainingChars: this.#remaining(),
        };
        break;
      }
      default:
    }
  }

  /** Draws the line as it is now, where there is room for it. */
  async draw(): Promise<void> {
    const { stderr, color, now, isFree } = this.#options;
    if (this.#hidden || !isFree()) return;
    this.#state.nowMs = now();
    const line = renderProgress(this.#state, { columns: stderr.columns, color });
    const text = drawProgress(line, this.#shown);
    this.#shown = line;
    await stderr.write(text);
  }

  /** Takes the line off the screen, so that something else can be written. */
  async erase(): Promise<void> {
    const text = eraseProgress(this.#shown);
    this.#shown = "";
    await this.#options.stderr.write(text);
  }

  /** Ends the drawing. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    this.#hidden = true;
    await this.erase();
  }

  #enter(phase: ProgressState["phase"]): void {
    if (this.#state.phase === phase) return;
    if (this.#state.phase === "summing up" && phase === "waiting") return;
    const now = this.#options.now();
    this.#state = { ...this.#state, phase, sinceMs: now, tokens: 0 };
  }

  #remaining(): number {
    return [...this.#chars.values()].reduce((sum, chars) => sum + chars, 0);
  }
}
