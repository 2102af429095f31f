/**
 * What a review makes of a patch: noise, cut, pack, coverage, summary.
 *
 * @module
 */
import type { FileDiff, FileStatus, Hunk, Problem } from "./patch.ts";

export * from "./patch.ts";

/** Most parts of a review. */
export const MAX_PARTS = 8;
/** Characters of diff in a part, unless set. */
export const DEFAULT_PART_CHARS = 16_000;
/** The least that a part may be set to, in characters. */
export const MIN_PART_CHARS = 2_000;
/** Most characters of one file, if half a part is not less. */
export const MAX_FILE_CHARS = 8_000;
/** Characters of a file's first hunk beyond which it is cut too. */
export const MAX_HUNK_CHARS = 1_000_000;

/** How much of a file is reviewed. */
export type Coverage = "full" | "trimmed" | "skipped" | "unreviewed";

/** What a plan says of a file. */
export interface PlannedFile {
  path: string;
  oldPath?: string;
  status: FileStatus;
  additions: number;
  deletions: number;
  binary: boolean;
  hunks: number;
  /** Size of its whole diff, in characters. */
  chars: number;
  coverage: Coverage;
  /** Why it is not covered in full. */
  reason?: string;
  hunksSent: number;
  /** Lines of its diff that are not sent, hunk headers included. */
  linesOmitted: number;
  /** Number of the part it is in, from 1. */
  part?: number;
}

/** A file in a part. */
export interface PartFile {
  path: string;
  oldPath?: string;
  status: FileStatus;
  /** Its diff as it is in the part: for a trimmed one with a last line that says what is omitted. */
  text: string;
  /** The hunks in `text`. */
  hunks: Hunk[];
  trimmed: boolean;
}

/** The files of one request. */
export interface Part {
  /** From 1. */
  number: number;
  files: PartFile[];
  /** Size of `text`, in characters. */
  chars: number;
  text: string;
}

/** What is sent, cut, skipped and left. */
export interface Plan {
  files: PlannedFile[];
  parts: Part[];
  totals: { files: number; additions: number; deletions: number };
  /** Characters of diff in a part. */
  maxDiffChars: number;
  /** Characters of one file beyond which it is cut. */
  maxFileChars: number;
  /** The budget that was asked for, if the floor raised it. */
  raisedFrom?: number;
  problems: Problem[];
}

/** Options of a plan. */
export interface PlanOptions {
  /** Characters of diff in a part. @default 16000 */
  maxDiffChars?: number;
  /** Further noise: its reason; `false`: never noise, whatever the lists say. */
  skip?: (
    file: { path: string; oldPath?: string; status: FileStatus; binary: boolean },
  ) => string | false | undefined;
}

/** Why a file is not worth a model's attention, or `undefined` if it is. */
export function noiseReason(_file: FileDiff): string | undefined {
  throw new Error("not there yet");
}

/** Whole hunks of a file, up to `maxChars`. */
export function truncateFileDiff(
  _file: FileDiff,
  _maxChars: number,
): { text: string; hunks: Hunk[]; hunksSent: number; linesOmitted: number } {
  throw new Error("not there yet");
}

/** Plans a review of whole records. */
export function planReview(_files: Iterable<FileDiff>, _options: PlanOptions = {}): Plan {
  throw new Error("not there yet");
}

/** Plans a review of a patch that comes in pieces. */
export class ReviewPlanner {
  constructor(_options: PlanOptions & { onFile?: (file: FileDiff) => void } = {}) {}

  /** How much of a file the plan needs, in characters. */
  keep(_file: FileDiff): number {
    throw new Error("not there yet");
  }

  /** Takes the next piece of the patch. */
  push(_piece: Uint8Array | string): void {
    throw new Error("not there yet");
  }

  /** Takes a file that was parsed elsewhere. */
  add(_file: FileDiff): void {
    throw new Error("not there yet");
  }

  /** Says that the patch is over. */
  end(): Plan {
    throw new Error("not there yet");
  }
}

/** The conversation's first message, in Markdown. */
export function summarizeReview(_plan: Plan, _title: string): string {
  throw new Error("not there yet");
}

/** One line of a hunk. */
export interface HunkLine {
  kind: "context" | "addition" | "deletion";
  /** The line without its marker and line end. */
  text: string;
  /** Its number on the old side, if it is there. */
  oldLine?: number;
  /** Its number on the new side, if it is there. */
  newLine?: number;
}

/** The lines of a hunk, with their numbers on both sides. `text` is the text of the hunk's file. */
export function* hunkLines(_text: string, _hunk: Hunk): Generator<HunkLine> {
  throw new Error("not there yet");
}

/** A Markdown fence around `text` that nothing in it can close. */
export function fence(_text: string, _language = "diff"): string {
  throw new Error("not there yet");
}
