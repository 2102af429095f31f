/**
 * Unified diff, as text or bytes, to one record a file.
 *
 * @module
 */

/** What happened to a file. A type change is two records, as in git's text. */
export type FileStatus = "added" | "deleted" | "modified" | "renamed" | "copied";

/** One hunk of a file diff, without its text: `start` and `end` say where that is. */
export interface Hunk {
  oldStart: number;
  oldLines: number;
  newStart: number;
  newLines: number;
  /** What stands behind the second `@@`. */
  section: string;
  additions: number;
  deletions: number;
  /** Where its `@@` line starts in the file's whole text, in characters. */
  start: number;
  /** Where its last line ends in the file's whole text, in characters. */
  end: number;
  /** Lines of text it has, its header included. */
  lines: number;
}

/** One file of a patch. */
export interface FileDiff {
  /** The new path; the old one if the file was deleted. */
  path: string;
  /** The old path of a renamed or copied file. */
  oldPath?: string;
  status: FileStatus;
  oldMode?: string;
  newMode?: string;
  binary: boolean;
  additions: number;
  deletions: number;
  hunks: Hunk[];
  /** Its slice of the patch: all of it, or what `keep` asked for (the headers and whole hunks). */
  text: string;
  /** Size of its whole slice, in characters (UTF-16 units). */
  chars: number;
  /** Lines of its whole slice. */
  lines: number;
  /** How many of `hunks` are in `text` in full. */
  hunksKept: number;
}

/** Something in a patch that could not be read. */
export interface Problem {
  /** Line of the patch, from 1. */
  line: number;
  message: string;
}

/** A whole patch, read. */
export interface ParsedPatch {
  files: FileDiff[];
  problems: Problem[];
}

/** Options of {@linkcode PatchParser}. */
export interface PatchParserOptions {
  /** Asked once a file, when its headers are read: how many characters of its text to keep. @default everything */
  keep?: (file: FileDiff) => number;
}

/** Reads a whole patch. */
export function parseUnifiedDiff(_text: string): ParsedPatch {
  throw new Error("not there yet");
}

/** Reads a patch in pieces. */
export class PatchParser {
  readonly problems: Problem[] = [];

  constructor(_options: PatchParserOptions = {}) {}

  /** Takes the next piece; gives the files that became complete. */
  push(_piece: Uint8Array | string): FileDiff[] {
    throw new Error("not there yet");
  }

  /** Says that the patch is over; gives the files that became complete. */
  end(): FileDiff[] {
    throw new Error("not there yet");
  }
}
