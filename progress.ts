/**
 * The progress line: what is being done, for how long, and how long the rest may take. One line on stderr, drawn over and
 * over and gone when text comes. The line is a function of the state; the caller owns the clock and the stream.
 *
 * @module
 */

import { cyan, dim } from "@std/fmt/colors";
import { clip, displayWidth, visible } from "./text.ts";

/** What is being done. */
export type ProgressPhase = "git" | "waiting" | "thinking" | "streaming" | "retrying" | "summing up";

/** What the progress line tells. Times are milliseconds of one clock, characters those of the diff. */
export interface ProgressState {
  /** Number of the part being asked for, from 1; 0 before the first. */
  part: number;
  /** How many parts there are; 0 while that is not known. */
  parts: number;
  /** Files of the part; before the first part, those read so far. */
  files: number;
  /** Characters of the part; before the first part, those read so far. */
  chars: number;
  /** What is being done. */
  phase: ProgressPhase;
  /** When the phase began. */
  sinceMs: number;
  /** What the clock says. */
  nowMs: number;
  /** When the part was sent, where the estimate is to take off what it has taken already. */
  partSinceMs?: number | undefined;
  /** Tokens that came in this phase. */
  tokens?: number | undefined;
  /** Tokens a second. @default measured over the phase, from its first second on */
  rate?: number | undefined;
  /** What the parts that are done have cost. */
  doneParts: readonly { chars: number; ms: number }[];
  /** Characters of all parts that are not done, this one included. */
  remainingChars: number;
  /** Why it is tried again; anybody's text. */
  reason?: string | undefined;
}

/** Options for {@linkcode renderProgress}. */
export interface ProgressOptions {
  /** Columns of the terminal. */
  columns: number;
  /** Whether to style the line. In Deno, `@std/fmt/colors` leaves it plain where `NO_COLOR` is set. */
  color: boolean;
}

/** Longest reason that is shown, in columns. */
const MAX_REASON = 60;

/** Time before a measured rate says anything, in milliseconds. */
const MIN_MEASURED_MS = 1_000;

const SEPARATOR = " · ";

/**
 * A piece of the line, and how readily it is left out of a narrow terminal: the highest goes first, 0 stays.
 */
interface Segment {
  text: string;
  rank: number;
}

/**
 * The progress line, without line end. Where it is too long, the least important pieces are left out, and what is left is
 * cut with `…`. It leaves the last column free, so that no terminal goes on to the next line.
 *
 * ```ts
 * import { renderProgress } from "./progress.ts";
 *
 * console.log(renderProgress({
 *   part: 2, parts: 5, files: 3, chars: 12_431, phase: "waiting", sinceMs: 0, nowMs: 41_000, doneParts: [], remainingChars: 0,
 * }, { columns: 80, color: false })); // part 2 of 5 · 3 files · 12,431 characters · waiting for the first token 0:41
 * ```
 */
export function renderProgress(state: ProgressState, { columns, color }: ProgressOptions): string {
  const room = Math.max(0, columns - 1);
  let segments = segmentsOf(state);
  while (segments.length > 1 && widthOf(segments) > room) {
    const least = Math.max(...segments.map(({ rank }) => rank));
    segments = segments.filter(({ rank }) => rank !== least);
  }
  const [first] = segments;
  if (segments.length === 1 && first) segments = [{ ...first, text: clip(first.text, room) }];
  if (!color) return segments.map(({ text }) => text).join(SEPARATOR);
  return segments.map(({ text, rank }) => rank === 0 ? cyan(text) : dim(text)).join(dim(SEPARATOR));
}

/** What to write to draw a line over the one that is shown; nothing where they are the same. */
export function drawProgress(line: string, shown = ""): string {
  return line === shown ? "" : `\r\x1b[K${line}`;
}

/** What to write to take the line that is shown off the screen; nothing where none is. */
export function eraseProgress(shown: string): string {
  return shown === "" ? "" : "\r\x1b[K";
}

/** Milliseconds that the parts that are not done may take, from what those that are done took; nothing before the first. */
export function estimateRest(state: ProgressState): number | undefined {
  const { doneParts, chars, remainingChars, nowMs, partSinceMs = nowMs } = state;
  const doneChars = doneParts.reduce((sum, part) => sum + part.chars, 0);
  const doneMs = doneParts.reduce((sum, part) => sum + part.ms, 0);
  if (doneChars === 0) return undefined;
  const msPerChar = doneMs / doneChars;
  const current = Math.min(chars, remainingChars) * msPerChar - (nowMs - partSinceMs);
  return Math.max(0, current) + Math.max(0, remainingChars - chars) * msPerChar;
}

function segmentsOf(state: ProgressState): Segment[] {
  const { part, parts, files, chars, phase, tokens } = state;
  const isPart = phase !== "git" && phase !== "summing up";
  const segments: Segment[] = [];
  if (isPart && parts > 1) segments.push({ text: `part ${part} of ${parts}`, rank: 1 });
  if (phase !== "summing up" && files > 0) segments.push({ text: counted(files, "file"), rank: 5 });
  if (phase !== "summing up" && chars > 0) segments.push({ text: counted(chars, "character"), rank: 6 });
  segments.push({ text: `${doing(state)} ${clock(state.nowMs - state.sinceMs)}`, rank: 0 });
  if (tokens !== undefined && tokens > 0) segments.push({ text: counted(tokens, "token"), rank: 4 });
  const rate = tokenRate(state);
  if (rate !== undefined) segments.push({ text: `${rate} tokens/s`, rank: 3 });
  const rest = isPart ? estimateRest(state) : undefined;
  if (rest !== undefined && rest > 0) segments.push({ text: `about ${roughly(rest)} left`, rank: 2 });
  return segments;
}

function doing({ phase, reason = "" }: ProgressState): string {
  switch (phase) {
    case "git":
      return "reading the change";
    case "waiting":
      return "waiting for the first token";
    case "streaming":
      return "writing";
    case "retrying": {
      const why = clip(visible(reason).replaceAll(/\s+/g, " ").trim(), MAX_REASON);
      return why === "" ? "trying again" : `trying again: ${why}`;
    }
    default:
      return phase;
  }
}

/** Tokens a second, while some come. */
function tokenRate({ phase, rate, tokens = 0, sinceMs, nowMs }: ProgressState): string | undefined {
  if (phase === "git" || phase === "waiting" || phase === "retrying") return undefined;
  const elapsed = nowMs - sinceMs;
  const measured = rate ?? (tokens > 0 && elapsed >= MIN_MEASURED_MS ? tokens / (elapsed / 1_000) : undefined);
  if (measured === undefined || measured <= 0) return undefined;
  return measured < 10 ? measured.toFixed(1) : grouped(Math.round(measured));
}

function widthOf(segments: readonly Segment[]): number {
  return displayWidth(segments.map(({ text }) => text).join(SEPARATOR));
}

function counted(count: number, noun: string): string {
  return `${grouped(count)} ${noun}${count === 1 ? "" : "s"}`;
}

/** `12431` as `12,431`. */
function grouped(count: number): string {
  return String(count).replaceAll(/\B(?=(?:\d{3})+$)/g, ",");
}

/** Minutes and seconds, with hours where there are some: `0:41`, `1:02:03`. */
function clock(milliseconds: number): string {
  const seconds = Math.max(0, Math.floor(milliseconds / 1_000));
  const [h, m, s] = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60, seconds % 60];
  return h > 0 ? `${h}:${padded(m)}:${padded(s)}` : `${m}:${padded(s)}`;
}

function padded(number: number): string {
  return String(number).padStart(2, "0");
}

/** A time that claims no more than it knows: in steps of 5 s below a minute and a half, else in minutes. */
function roughly(milliseconds: number): string {
  const seconds = Math.max(5, Math.ceil(milliseconds / 5_000) * 5);
  return seconds < 90 ? `${seconds} s` : `${grouped(Math.round(seconds / 60))} min`;
}
