/**
 * Unified diff, as text or bytes, to one record a file. One file, although long: scripts import it from a URL.
 *
 * One scanner over strings serves both: bytes come in as latin1, so that finding lines costs nothing, and only what is
 * kept is decoded as UTF-8. The counts in a hunk's header decide where its body ends, so nothing inside a body can be
 * taken for a header.
 *
 * The format is that of git (gitformat-diff, "Generating patch text with -p" in git-diff(1)) and of POSIX `diff -u`,
 * with the dialects of hg, svn, jj and the forges.
 *
 * @module
 */

/** What happened to a file. A type change is two records, as in git's text. */
export type FileStatus = "added" | "deleted" | "modified" | "renamed" | "copied";

/** One hunk of a file diff, without its text: `start` and `end` say where that is. */
export interface Hunk {
  /** First line on the old side, from 1; of a combined diff, on the first parent's. */
  oldStart: number;
  /** How many lines it has on the old side, by its header. */
  oldLines: number;
  /** First line on the new side, from 1. */
  newStart: number;
  /** How many lines it has on the new side, by its header. */
  newLines: number;
  /** What stands behind the second `@@`. */
  section: string;
  /** Lines added, counted. */
  additions: number;
  /** Lines removed, counted. */
  deletions: number;
  /** Where its `@@` line starts in the file's whole text, in characters. */
  start: number;
  /** Where its last line ends in the file's whole text, in characters. */
  end: number;
  /** Lines of text it has, its header included. */
  lines: number;
  /** Columns of marks in front of each line, if there is more than one: those of a combined diff, one a parent. */
  columns?: number;
}

/** One file of a patch. */
export interface FileDiff {
  /** The new path; the old one if the file was deleted. */
  path: string;
  /** The old path of a renamed or copied file. */
  oldPath?: string;
  /** What happened to it. */
  status: FileStatus;
  /** As git writes it, such as `100644`. */
  oldMode?: string;
  /** As git writes it, such as `100755`. */
  newMode?: string;
  /** Whether the patch says that it is binary; then it has no hunks. */
  binary: boolean;
  /** Lines added, in all hunks. */
  additions: number;
  /** Lines removed, in all hunks. */
  deletions: number;
  /** All hunks; where `keep` sets a limit only those in `text`, so that what is dropped takes no memory. */
  hunks: Hunk[];
  /** Its slice of the patch: all of it, or what `keep` asked for (the headers and whole hunks). */
  text: string;
  /** Size of its whole slice, in characters (UTF-16 units). */
  chars: number;
  /** Lines of its whole slice. */
  lines: number;
  /** How many hunks it has, in `text` or not. */
  hunkCount: number;
  /** How many of its hunks are in `text` in full: all in `hunks`, but for a first one that was cut. */
  hunksKept: number;
}

/** Something in a patch that could not be read. */
export interface Problem {
  /** Line of the patch, from 1. */
  line: number;
  /** What is wrong with it. */
  message: string;
}

/** A whole patch, read. */
export interface ParsedPatch {
  /** Its files, in their order; one that it has twice is two records. */
  files: FileDiff[];
  /** What could not be read. The rest is in `files`. */
  problems: Problem[];
}

/** Sees the text of a file's hunks, in order. Each piece belongs to `hunk`; its `@@` line is not in it. */
export type HunkObserver = (hunk: Hunk, text: string) => void;

/** Options of {@linkcode PatchParser}. */
export interface PatchParserOptions {
  /**
   * Asked once a file, when its headers are read: how many characters of its text to keep. The headers and as many
   * whole hunks as end within are kept; the first hunk always, but of one that does not end within, no more than
   * {@linkcode MAX_HUNK_CHARS}. With 0 nothing is kept. What is not kept is counted and dropped.
   *
   * @default everything
   */
  keep?: (file: FileDiff) => number;
  /**
   * Asked once a file, behind `keep`: who sees the text of all its hunks as it comes, however little of it is kept.
   *
   * A piece of text ends at a line's end, unless the line is longer than {@linkcode MAX_OBSERVED_LINE} characters: such
   * a line comes in several pieces. No piece ends inside a character of UTF-8.
   *
   * @default nobody
   */
  observe?: (file: FileDiff) => HunkObserver | undefined;
}

/** Characters of a file's first hunk beyond which it is cut too, at a line end, if `keep` has no room for it. */
export const MAX_HUNK_CHARS = 1_000_000;

/** Characters of an unfinished line that wait for its end before an observer sees them. */
export const MAX_OBSERVED_LINE = 65_536;

/** Problems beyond this many are counted in one last entry, so that hostile text cannot fill the memory. */
const MAX_PROBLEMS = 1_000;

/** Characters of a line that a problem quotes. */
const MAX_QUOTED_CHARS = 200;

/** Characters of a header line beyond which it is no header: Linux allows 4,096 bytes for a path, quoted 4 times that. */
const MAX_HEADER_CHARS = 70_000;

/** Lines in front of a file's first hunk. git writes at most eight, CVS a few more. */
const MAX_HEADER_LINES = 64;

/** Parents of a combined diff. The largest merge of Linux has 66. */
const MAX_PARENTS = 256;

/**
 * Reads a whole patch.
 *
 * @example
 * ```ts
 * import { parseUnifiedDiff } from "./patch.ts";
 *
 * const { files } = parseUnifiedDiff("--- a/x\n+++ b/x\n@@ -1 +1,2 @@\n 1\n+2\n");
 * console.log(files[0]?.path, files[0]?.additions); // x 1
 * ```
 *
 * @returns The files in their order, and what could not be read. It never throws for what the text holds.
 */
export function parseUnifiedDiff(text: string): ParsedPatch {
  const parser = new PatchParser();
  const files = parser.push(text);
  for (const file of parser.end()) files.push(file);
  return { files, problems: parser.problems };
}

const NEWLINE = 10;
const RETURN = 13;
const ESCAPE = 27;
const SPACE = 32;
const QUOTE = 34;
const PLUS = 43;
const COMMA = 44;
const MINUS = 45;
const SLASH = 47;
const AT = 64;
const BACKSLASH = 92;
const LETTER_M = 109;

/** Colour codes (ECMA-48 SGR), and the "erase to the end of the line" that git may put behind them. */
// deno-lint-ignore no-control-regex
const COLORS = /\x1b\[[0-9;]{0,30}[mK]/g;
/** What may become a colour code with what comes next. */
// deno-lint-ignore no-control-regex
const COLOR_START = /^\x1b(\[[0-9;]{0,30})?$/;

/** Where the scanner is, between two lines. */
const OUTSIDE = 0; // headers, hunk headers, other text
const IN_BODY = 1;
const IN_COMBINED_BODY = 2;
const BEHIND_BODY = 3; // the body is complete, but a "\ No newline" line still belongs to it

/** Where a `GIT binary patch` is. */
const BEFORE_BLOCK = 1;
const IN_BLOCK = 2;

/** A file that is being read. */
interface Draft {
  file: FileDiff;
  /** How it began. */
  kind: "git" | "combined" | "plain" | "svn" | "submodule";
  /** The line it began on. */
  line: number;
  /** The names of its first line, as they stand there. */
  header: string;
  oldName: string | undefined;
  newName: string | undefined;
  /** From `rename from`, `copy to` and so on: without prefixes. */
  from: string | undefined;
  to: string | undefined;
  /** What stands behind a name says that there is no such file on that side. */
  oldMissing: boolean;
  newMissing: boolean;
  /** Some line says what has changed. */
  changed: boolean;
  /** Path and status are final, and `keep` has been asked. */
  settled: boolean;
  /** Some line did not belong to it: no header can follow, only hunks. */
  over: boolean;
  /** Nothing says which file it is. */
  nameless: boolean;
  /** 0, or where its binary patch is. */
  block: number;
  /** Characters to keep. */
  room: number;
  /** Nothing more is kept. */
  full: boolean;
  /** What is kept, as it came. */
  kept: string;
  /** The hunk or the binary data that is being read: kept if the whole of it fits. */
  held: string;
  /** The beginning of a first hunk that is too large, decoded. */
  cut: string;
  observer: HunkObserver | undefined;
}

/** Lines that are the beginning of a file if the next line goes on so. */
interface Pending {
  text: string;
  /** Where they begin in the current piece; -1 if that was an earlier one. */
  position: number;
  lines: number;
  /** How far the beginning has come: each kind of line stands behind those of a lower rank. */
  rank: number;
  /** What stands behind `--- `. */
  old: string | undefined;
  /** What stands behind `Index: `. */
  index: string | undefined;
}

const RANK_INDEX = 1;
const RANK_DIFF = 2;
const RANK_OLD = 3;

/**
 * Reads a patch in pieces, however they are cut.
 *
 * @example
 * ```ts
 * import { PatchParser } from "./patch.ts";
 *
 * const parser = new PatchParser({ keep: (file) => file.path.endsWith(".lock") ? 0 : 8_000 });
 * for (const piece of ["--- a/x\n+++ b", "/x\n@@ -1 +1,2 @@\n 1", "\n+2\n"]) {
 *   for (const file of parser.push(piece)) console.log(file.path, file.text.length);
 * }
 * for (const file of parser.end()) console.log(file.path, file.text.length); // x 36
 * ```
 */
export class PatchParser {
  /** What could not be read so far. */
  readonly problems: Problem[] = [];

  readonly #keep: PatchParserOptions["keep"];
  readonly #observe: PatchParserOptions["observe"];
  /** Records hold copies, not slices: what is not kept of a piece must not live on. */
  get #copies(): boolean {
    return this.#bytes || this.#keep !== undefined;
  }
  #done: FileDiff[] = [];
  #draft: Draft | undefined;
  #hunk: Hunk | undefined;
  #state = OUTSIDE;
  /** Lines that the body still owes, by the hunk's header. */
  #oldLeft = 0;
  #newLeft = 0;
  /** The same for each parent of a combined diff. */
  #parentsLeft: number[] = [];
  /** The line before was the last of a hunk. */
  #isBehindHunk = false;

  /** Number of the next line, from 1. */
  #line = 1;
  #moreProblems = 0;
  /** The beginning of a line that goes on in the next piece. */
  #tail = "";
  /** The next piece begins inside a line that has been seen to: one of a body, or one too long for a header. */
  #midLine = false;
  #input: "bytes" | "text" | undefined;
  /** A character of the scanned text is a byte of UTF-8. */
  #bytes = false;
  /** Decodes bytes that turned out to be UTF-16. */
  #utf16: TextDecoder | undefined;
  #begun = false;
  #colored = false;
  /** The beginning of a colour code that goes on in the next piece. */
  #escape = "";
  #sawText = false;
  #sawFile = false;
  #isContextDiff = false;

  /** Lines that may turn out to be the beginning of a file without a `diff --git` line. */
  #pending: Pending | undefined;

  /** The current file's text goes on with the next line. */
  #open = false;
  /** Where in the current piece the open text begins. */
  #runStart = 0;
  /** Up to where in the current piece `file.chars` counts. */
  #mark = 0;
  readonly #counter = new UnitCounter();

  /** From where in the current piece the observer has seen nothing yet. */
  #unseenStart = 0;
  /** The beginning of a line that the observer has not seen yet. */
  #unseen = "";
  #observed: TextDecoder | undefined;

  /** Begins a patch. */
  constructor(options: PatchParserOptions = {}) {
    this.#keep = options.keep;
    this.#observe = options.observe;
  }

  /**
   * Takes the next piece; gives the files that became complete. It never throws for what the piece holds.
   *
   * @throws {TypeError} If bytes follow text or the other way round.
   */
  push(piece: Uint8Array | string): FileDiff[] {
    const input = typeof piece === "string" ? "text" : "bytes";
    if (this.#input === undefined) {
      this.#input = input;
      this.#bytes = input === "bytes";
    } else if (this.#input !== input) throw new TypeError("A patch cannot be pushed as bytes and as text");
    if (piece.length === 0) return [];
    if (typeof piece === "string") this.#feed(piece);
    else if (this.#utf16) this.#feed(this.#utf16.decode(piece, { stream: true }));
    else this.#feed(latin1(piece), piece);
    return this.#take();
  }

  /** Says that the patch is over; gives the files that became complete. */
  end(): FileDiff[] {
    if (this.#utf16) this.#feed(this.#utf16.decode(new Uint8Array()));
    if (!this.#begun) this.#begin(this.#tail);
    const tail = this.#tail + this.#escape;
    this.#tail = this.#escape = "";
    if (tail !== "") this.#scan(tail, 0, undefined, true);
    this.#startPiece(0, undefined);
    if (this.#draft) this.#draft.file.chars += this.#counter.flush();
    if (this.#state === IN_BODY || this.#state === IN_COMBINED_BODY) this.#breakBody("", 0);
    this.#endHunk("", 0);
    this.#finish();
    if (!this.#sawFile && this.#sawText && this.problems.length === 0) {
      this.#problem(1, this.#isContextDiff ? "a context diff, not a unified one" : "no unified diff in it");
    }
    if (this.#moreProblems > 0) {
      this.problems.push({ line: this.#line, message: `${this.#moreProblems} more problems` });
      this.#moreProblems = 0;
    }
    return this.#take();
  }

  #take(): FileDiff[] {
    const done = this.#done;
    this.#done = [];
    return done;
  }

  #problem(line: number, message: string): void {
    if (this.problems.length < MAX_PROBLEMS) this.problems.push({ line, message });
    else this.#moreProblems++;
  }

  /** Joins the beginning of an unfinished line with its end, without copying the whole piece. */
  #feed(piece: string, bytes?: Uint8Array): void {
    if (!this.#begun) {
      this.#tail += piece;
      if (!this.#bytes || this.#tail.length >= BYTE_ORDER_MARK.length) this.#begin(this.#tail);
      return;
    }
    if (this.#colored) [piece, bytes] = [this.#withoutColors(piece), undefined];
    if (this.#tail === "") return this.#scan(piece, 0, bytes, false);
    const newline = piece.indexOf("\n");
    if (newline < 0) {
      this.#tail += piece;
      if (this.#tail.length > MAX_HEADER_CHARS) this.#dropTail();
      return;
    }
    const line = this.#tail + piece.slice(0, newline + 1);
    this.#tail = "";
    const wasColored = this.#colored;
    this.#scan(line, 0, undefined, false);
    if (this.#colored === wasColored) this.#scan(piece, newline + 1, bytes, false);
    else this.#feed(piece.slice(newline + 1));
  }

  /** Takes the beginning of the patch: without a byte order mark, which may say that it is UTF-16. */
  #begin(start: string): void {
    this.#begun = true;
    this.#tail = "";
    if (!this.#bytes) return this.#feed(start.charCodeAt(0) === 0xfeff ? start.slice(1) : start);
    const utf16 = start.startsWith("\xff\xfe") ? "utf-16le" : start.startsWith("\xfe\xff") ? "utf-16be" : undefined;
    if (utf16 === undefined) return this.#feed(start.startsWith(BYTE_ORDER_MARK) ? start.slice(3) : start);
    this.#bytes = false;
    this.#utf16 = new TextDecoder(utf16);
    this.#feed(this.#utf16.decode(toBytes(start), { stream: true }));
  }

  /** A line that is too long for a header says nothing, however it begins. */
  #dropTail(): void {
    this.#tail = "";
    this.#midLine = true;
    this.#open = false;
    this.#skipLine();
  }

  #skipLine(): void {
    this.#pending = undefined;
    this.#isBehindHunk = false;
    this.#sawText = true;
    if (this.#draft) this.#draft.over = true;
  }

  /** Takes colour codes out (`git diff --color`); one that is cut waits for the next piece. */
  #withoutColors(piece: string): string {
    piece = this.#escape + piece;
    this.#escape = "";
    const escape = piece.lastIndexOf("\x1b");
    if (escape >= 0 && piece.length - escape < 40 && COLOR_START.test(piece.slice(escape))) {
      this.#escape = piece.slice(escape);
      piece = piece.slice(0, escape);
    }
    return piece.replace(COLORS, "");
  }

  /** A line begins with a colour code: from here on they are taken out. */
  #startColors(text: string, position: number): void {
    this.#endPiece(text, position);
    this.#colored = true;
    this.#feed(text.slice(position));
  }

  #startPiece(position: number, bytes: Uint8Array | undefined): void {
    this.#runStart = this.#mark = this.#unseenStart = position;
    this.#counter.bytes = bytes;
  }

  /**
   * Reads a piece from a position on.
   *
   * @param bytes What the piece was decoded from, if its positions are those of the text.
   * @param last The line at its end is whole, although no newline ends it.
   */
  #scan(text: string, position: number, bytes: Uint8Array | undefined, last: boolean): void {
    this.#startPiece(position, bytes);
    if (this.#midLine) {
      const newline = text.indexOf("\n", position);
      if (newline < 0) return this.#endPiece(text, text.length);
      this.#midLine = false;
      this.#line++;
      position = newline + 1;
      if (!this.#open) this.#runStart = this.#mark = position;
    }
    while (position < text.length) {
      if (this.#state === BEHIND_BODY) position = this.#readBehindBody(text, position);
      else if (this.#state !== OUTSIDE) {
        position = this.#state === IN_BODY
          ? this.#readBody(text, position, last)
          : this.#readCombinedBody(text, position, last);
        const isStuck = position < text.length && (this.#state === IN_BODY || this.#state === IN_COMBINED_BODY);
        if (isStuck) return this.#leave(text, position);
      } else {
        if (text.charCodeAt(position) === ESCAPE && !this.#colored) return this.#leave(text, position);
        const newline = text.indexOf("\n", position);
        if (newline < 0 && !last) return this.#leave(text, position);
        const end = newline < 0 ? text.length : newline;
        if (!this.#colored && !last && endsInColor(text, position, end)) return this.#startColors(text, position);
        if (end - position <= MAX_HEADER_CHARS) this.#readLine(text, position, end);
        else {
          this.#line++;
          if (this.#draft) this.#belongs(text, position, false);
          this.#skipLine();
        }
        position = end + 1;
      }
    }
    this.#endPiece(text, text.length);
  }

  /** The line at `position` cannot be read as it stands: it goes on in the next piece, or has colours. */
  #leave(text: string, position: number): void {
    if (text.charCodeAt(position) === ESCAPE && !this.#colored) return this.#startColors(text, position);
    this.#endPiece(text, position);
    this.#tail = text.slice(position);
    if (this.#state === OUTSIDE && this.#tail.length > MAX_HEADER_CHARS) this.#dropTail();
  }

  #endPiece(text: string, end: number): void {
    if (this.#pending) this.#pending.position = -1;
    if (this.#open) this.#commit(text, end);
    if (this.#hunk && this.#draft!.observer) this.#show(text, end, false);
    if (this.#draft) this.#limitHeld(this.#draft);
  }

  /** The characters of the file up to a position of the piece. */
  #charsAt(text: string, position: number): number {
    const file = this.#draft!.file;
    if (position > this.#mark) {
      file.chars += this.#bytes ? this.#counter.count(text, this.#mark, position) : position - this.#mark;
      this.#mark = position;
    }
    return file.chars;
  }

  /** Puts the open text up to a position where it belongs. */
  #commit(text: string, end: number): void {
    const draft = this.#draft!;
    this.#charsAt(text, end);
    if (end > this.#runStart && !draft.full) {
      const piece = text.slice(this.#runStart, end);
      if (this.#keep && (this.#hunk || draft.block !== 0)) draft.held += piece;
      else draft.kept += piece;
    }
    this.#runStart = end;
  }

  /** The line at `position` belongs to the file, or not. */
  #belongs(text: string, position: number, does: boolean): void {
    if (does) {
      if (!this.#open) this.#runStart = this.#mark = position;
      this.#open = true;
      this.#draft!.file.lines++;
    } else if (this.#open) {
      this.#commit(text, position);
      this.#open = false;
    }
  }

  /**
   * Reads lines of a body from a position on; gives the position behind the last one. Where the state is still that of
   * a body, the line there cannot be read as it stands.
   *
   * Over a screen: every line of every patch passes through this one loop, whose counters are local for that reason.
   */
  #readBody(text: string, position: number, last: boolean): number {
    const end = text.length;
    let oldLeft = this.#oldLeft;
    let newLeft = this.#newLeft;
    let additions = 0;
    let deletions = 0;
    let others = 0;
    let isBroken = false;
    while (position < end && (oldLeft > 0 || newLeft > 0)) {
      const marker = text.charCodeAt(position);
      if (marker === SPACE && oldLeft > 0 && newLeft > 0) {
        oldLeft--;
        newLeft--;
        others++;
      } else if (marker === PLUS && newLeft > 0) {
        newLeft--;
        additions++;
      } else if (marker === MINUS && oldLeft > 0) {
        oldLeft--;
        deletions++;
      } else if (marker === BACKSLASH) {
        others++;
      } else if (marker === ESCAPE && !this.#colored) {
        break;
      } else if (marker === RETURN && position + 1 === end && !last) {
        break; // a blank line, or not: the next piece says it
      } else if (oldLeft > 0 && newLeft > 0 && isBlankLine(text, position)) {
        // An empty context line whose space was lost (diff.suppressBlankEmpty, mail programs).
        oldLeft--;
        newLeft--;
        others++;
      } else {
        isBroken = true;
        break;
      }
      const newline = text.indexOf("\n", position);
      if (newline < 0) {
        this.#midLine = true;
        position = end;
        break;
      }
      position = newline + 1;
    }
    this.#oldLeft = oldLeft;
    this.#newLeft = newLeft;
    this.#countLines(additions, deletions, others);
    if (isBroken) this.#breakBody(text, position);
    else if (oldLeft === 0 && newLeft === 0) this.#state = BEHIND_BODY;
    return position;
  }

  #countLines(additions: number, deletions: number, others: number): void {
    const hunk = this.#hunk!;
    const file = this.#draft!.file;
    hunk.additions += additions;
    hunk.deletions += deletions;
    file.additions += additions;
    file.deletions += deletions;
    const lines = additions + deletions + others;
    hunk.lines += lines;
    file.lines += lines;
    this.#line += lines - (this.#midLine ? 1 : 0);
  }

  /** The same for a combined diff: a column for each parent (git-diff-tree, "Combined diff format"). */
  #readCombinedBody(text: string, position: number, last: boolean): number {
    const left = this.#parentsLeft;
    while (this.#newLeft > 0 || left.some((lines) => lines > 0)) {
      if (position >= text.length) return position;
      const newline = text.indexOf("\n", position);
      const columns = text.slice(position, position + left.length);
      if (newline < 0 && !last && columns.length < left.length) return position;
      if (columns.startsWith("\x1b") && !this.#colored) return position;
      const isNote = columns.startsWith("\\");
      const isDeletion = !isNote && columns.includes("-");
      if (!isNote && (!/^[-+ ]+$/.test(columns) || (!isDeletion && this.#newLeft === 0))) {
        this.#breakBody(text, position);
        return position;
      }
      if (!isNote) {
        for (let i = 0; i < left.length; i++) if (columns[i] === (isDeletion ? "-" : " ")) left[i]!--;
        if (!isDeletion) this.#newLeft--;
      }
      this.#midLine = newline < 0;
      const isAddition = !isNote && !isDeletion && columns.includes("+");
      this.#countLines(isAddition ? 1 : 0, isDeletion ? 1 : 0, isAddition || isDeletion ? 0 : 1);
      position = newline < 0 ? text.length : newline + 1;
    }
    this.#state = BEHIND_BODY;
    return position;
  }

  /** Behind a complete body: a `\ No newline at end of file` line is its last. */
  #readBehindBody(text: string, position: number): number {
    if (text.charCodeAt(position) !== BACKSLASH) {
      this.#endHunk(text, position);
      this.#isBehindHunk = true;
      return position;
    }
    const newline = text.indexOf("\n", position);
    this.#midLine = newline < 0;
    this.#countLines(0, 0, 1);
    return newline < 0 ? text.length : newline + 1;
  }

  /** The body ends before its header says so. */
  #breakBody(text: string, position: number): void {
    // git itself counts lines of a parent that it then shows as another parent's (combine-diff.c, coalesce_lines).
    const missing = this.#hunk?.columns ? this.#newLeft : Math.max(this.#oldLeft, this.#newLeft);
    if (missing > 0) {
      this.#problem(this.#line, `the hunk ends ${missing} line${missing === 1 ? "" : "s"} before its header says`);
    }
    this.#endHunk(text, position);
  }

  #endHunk(text: string, position: number): void {
    const [draft, hunk] = [this.#draft, this.#hunk];
    this.#state = OUTSIDE;
    if (!draft || !hunk) return;
    hunk.end = this.#charsAt(text, position);
    if (draft.observer) this.#show(text, position, true);
    if (this.#keep) {
      this.#commit(text, position);
      this.#limitHeld(draft);
      draft.kept += draft.held;
      draft.held = "";
    }
    this.#hunk = undefined;
    if (!draft.full) draft.file.hunksKept++;
  }

  /** Gives up a hunk as soon as it is clear that it does not fit. The first one is kept whole, or as much as may be. */
  #limitHeld(draft: Draft): void {
    const { file, room } = draft;
    const hunk = this.#hunk;
    if (draft.full || file.chars <= room || (!hunk && draft.block === 0)) return;
    if (hunk && file.hunkCount === 1) {
      if (file.chars - hunk.start <= MAX_HUNK_CHARS) return;
      draft.cut = cutHunk(this.#bytes ? decodeUtf8(draft.held) : draft.held);
    } else if (hunk) file.hunks.pop();
    draft.full = true;
    draft.held = "";
  }

  /** Shows the observer the whole lines up to a position, and what is left of them at the end of the hunk. */
  #show(text: string, end: number, isEnd: boolean): void {
    const lastLine = isEnd ? end : text.lastIndexOf("\n", end - 1) + 1;
    if (lastLine > this.#unseenStart || isEnd) {
      this.#tell(this.#unseen + text.slice(this.#unseenStart, lastLine), isEnd);
      this.#unseen = "";
      this.#unseenStart = lastLine;
    }
    this.#unseen += text.slice(this.#unseenStart, end);
    this.#unseenStart = end;
    if (this.#unseen.length <= MAX_OBSERVED_LINE) return;
    this.#tell(this.#unseen, false);
    this.#unseen = "";
  }

  #tell(text: string, isEnd: boolean): void {
    if (this.#bytes) {
      this.#observed ??= new TextDecoder("utf-8", { ignoreBOM: true });
      text = this.#observed.decode(toBytes(text), { stream: !isEnd });
    }
    if (text !== "") this.#draft!.observer!(this.#hunk!, text);
  }

  /** A line outside any body. */
  #readLine(text: string, position: number, newline: number): void {
    const line = this.#line++;
    const end = newline > position && text.charCodeAt(newline - 1) === RETURN ? newline - 1 : newline;
    if (end > position) this.#sawText = true;
    const isBehindHunk = this.#isBehindHunk;
    this.#isBehindHunk = false;
    const pending = this.#pending;
    this.#pending = undefined;
    const draft = this.#draft;
    if (draft && this.#readHeader(draft, text, position, end)) return this.#belongs(text, position, true);
    const begun = this.#beginning(text, position, end, line, pending);
    if (draft) {
      this.#belongs(text, position, false);
      draft.over = true;
    }
    if (begun === "pending") {
      const before = this.#pending!.lines > 1 ? pending! : { position, text: "" };
      this.#pending!.position = before.position;
      this.#pending!.text = before.text + text.slice(position, newline + 1);
    } else if (begun) this.#startFile(begun, position, pending);
    else this.#strayLine(text, position, end, line, isBehindHunk);
  }

  /** The file that begins with this line; `pending` if that depends on the next one. */
  #beginning(
    text: string,
    position: number,
    end: number,
    line: number,
    pending: Pending | undefined,
  ): Draft | "pending" | undefined {
    const after = (words: string) => {
      const value = behind(text, position, end, words);
      return value === undefined ? undefined : decoded(value, this.#bytes);
    };
    let value: string | undefined;
    switch (text[position]) {
      case "d":
        if ((value = after("diff --git ")) !== undefined) return newDraft("git", line, value);
        if ((value = after("diff --cc ") ?? after("diff --combined ")) !== undefined) {
          return newDraft("combined", line, value);
        }
        return after("diff ") === undefined ? undefined : this.#wait(RANK_DIFF, pending);
      case "-":
        return (value = after("--- ")) === undefined ? undefined : this.#wait(RANK_OLD, pending, { old: value });
      case "+":
        if (pending?.old === undefined || (value = after("+++ ")) === undefined) return undefined;
        return plainDraft(line, pending.old, value);
      case "I":
        return (value = after("Index: ")) === undefined ? undefined : this.#wait(RANK_INDEX, pending, { index: value });
      case "=":
        if (pending?.rank !== RANK_INDEX || !/^={60,}$/.test(text.slice(position, end))) return undefined;
        return newDraft("svn", line, pending.index!);
      case "S":
        return (value = after("Submodule ")) === undefined ? undefined : submoduleDraft(value, line);
      case "B":
        return (value = after("Binary file")) === undefined ? undefined : binaryDraft(value, line);
    }
    return undefined;
  }

  #wait(rank: number, before: Pending | undefined, more: { old?: string; index?: string } = {}): "pending" {
    const goesOn = before !== undefined && before.rank < rank;
    this.#pending = {
      text: "",
      position: -1,
      lines: goesOn ? before.lines + 1 : 1,
      rank,
      old: more.old,
      index: more.index ?? (goesOn ? before.index : undefined),
    };
    return "pending";
  }

  /** A file begins, with the lines that waited for it. */
  #startFile(draft: Draft, position: number, pending: Pending | undefined): void {
    this.#finish();
    this.#draft = draft;
    const { file } = draft;
    const isHere = pending !== undefined && pending.position >= 0;
    this.#open = true;
    this.#runStart = this.#mark = isHere ? pending.position : position;
    file.lines = 1 + (pending?.lines ?? 0);
    if (pending && !isHere) {
      file.chars = this.#bytes ? decodeUtf8(pending.text).length : pending.text.length;
      draft.kept = pending.text;
    }
    if (file.binary || draft.kind === "submodule") this.#settle(draft, undefined);
  }

  /** A line that goes on with a file: whether it is one. */
  #readHeader(draft: Draft, text: string, position: number, end: number): boolean {
    const first = text.charCodeAt(position);
    if (first === AT) return this.#startHunk(draft, text, position, end);
    if (draft.over) return false;
    if (draft.block !== 0) return readBinaryData(draft, text, position, end);
    if (draft.kind === "submodule") return /^ {2}[<>] /.test(text.slice(position, position + 4));
    if (draft.settled || draft.file.lines > MAX_HEADER_LINES) return false;
    if (first === MINUS && draft.oldName === undefined) return this.#nameSide(draft, "old", text, position, end);
    if (first === PLUS && draft.oldName !== undefined && draft.newName === undefined) {
      return this.#nameSide(draft, "new", text, position, end);
    }
    if (draft.kind === "plain") return false;
    if (draft.kind === "svn") return readSvnHeader(draft, text, position, end, this.#bytes);
    if (first === 66 || first === 71) return this.#startBinary(draft, text, position, end);
    return readExtendedHeader(draft, text, position, end, this.#bytes);
  }

  #nameSide(draft: Draft, side: "old" | "new", text: string, position: number, end: number): boolean {
    const value = behind(text, position, end, side === "old" ? "--- " : "+++ ");
    if (value === undefined) return false;
    readSide(draft, side, decoded(value, this.#bytes));
    return true;
  }

  #startBinary(draft: Draft, text: string, position: number, end: number): boolean {
    const isPatch = text.startsWith("GIT binary patch", position);
    if (!isPatch && !text.startsWith("Binary file", position)) return false;
    draft.file.binary = draft.changed = true;
    this.#settle(draft, undefined);
    if (isPatch) {
      this.#commit(text, nextLine(text, end));
      draft.block = BEFORE_BLOCK;
    }
    return true;
  }

  #startHunk(draft: Draft, text: string, position: number, end: number): boolean {
    if (draft.kind === "submodule" || draft.file.binary) return false;
    const parentsLeft: number[] = [];
    const hunk = readHunkHeader(text, position, end) ?? readCombinedHeader(text.slice(position, end), parentsLeft);
    if (!hunk) return false;
    const { file } = draft;
    if (this.#copies) hunk.section = unpinned(decoded(hunk.section, this.#bytes));
    draft.changed = true;
    file.hunkCount++;
    if (!draft.settled) this.#settle(draft, hunk);
    if (!this.#open) this.#runStart = this.#mark = position;
    else if (this.#keep) this.#commit(text, position);
    hunk.start = this.#charsAt(text, position);
    if (file.hunkCount === 1 && !draft.full) file.hunks = [hunk]; // which takes less room than one that was pushed to
    else if (!draft.full) file.hunks.push(hunk);
    this.#hunk = hunk;
    this.#unseenStart = nextLine(text, end);
    this.#oldLeft = hunk.oldLines;
    this.#newLeft = hunk.newLines;
    this.#parentsLeft = parentsLeft;
    this.#state = hunk.columns ? IN_COMBINED_BODY : hunk.oldLines > 0 || hunk.newLines > 0 ? IN_BODY : BEHIND_BODY;
    return true;
  }

  /** Text that belongs to no file: said where it means that something is missing. */
  #strayLine(text: string, position: number, end: number, line: number, isBehindHunk: boolean): void {
    switch (text[position]) {
      case "@":
        if (!text.startsWith("@@ -", position)) return;
        if (readHunkHeader(text, position, end)) this.#problem(line, "a hunk without a file header");
        else {this.#problem(
            line,
            `a hunk header that cannot be read: ${quoted(decoded(text.slice(position, end), this.#bytes))}`,
          );}
        return;
      case "O":
        if (text.startsWith("Only in ", position)) {
          this.#problem(line, `not in the patch: ${quoted(decoded(text.slice(position, end), this.#bytes))}`);
        }
        return;
      case "*":
        if (text.startsWith("*** ", position)) this.#isContextDiff = true;
        return;
      case "+":
      case "-": // but for a mail's signature and its like
        if (isBehindHunk && !text.startsWith("--", position)) {
          this.#problem(line, "lines behind a hunk that its header does not count");
        }
    }
  }

  /** Path and status become final; what is kept is decided. */
  #settle(draft: Draft, firstHunk: Hunk | undefined): void {
    draft.settled = true;
    const { file } = draft;
    nameFile(draft, firstHunk, this.#copies);
    if (draft.nameless) draft.full = true;
    else {
      if (this.#keep) this.#limit(draft, this.#keep(file));
      draft.observer = this.#observe?.(file);
    }
  }

  #limit(draft: Draft, room: number): void {
    draft.room = room;
    draft.full = !(room > 0);
    if (draft.full) draft.kept = "";
  }

  #finish(): void {
    const draft = this.#draft;
    this.#draft = undefined;
    this.#open = false;
    if (!draft) return;
    if (!draft.changed) return this.#problem(draft.line, "a file header without a change");
    const { file } = draft;
    if (draft.kind === "plain" && file.hunkCount === 0 && !file.binary) {
      return this.#problem(draft.line, "a file header without a hunk");
    }
    if (!draft.settled) this.#settle(draft, undefined);
    if (draft.nameless) {
      const names = quoted(draft.header);
      return this.#problem(draft.line, `the names in a file header do not agree: ${names}`);
    }
    this.#limitHeld(draft);
    const text = draft.kept + draft.held;
    file.text = (this.#bytes ? decodeUtf8(text) : this.#keep ? unpinned(text) : text) + draft.cut;
    this.#sawFile = true;
    this.#done.push(file);
  }
}

/** Whether a line is empty, in a patch with either kind of line end. */
function isBlankLine(text: string, position: number): boolean {
  const at = text.charCodeAt(position) === RETURN ? position + 1 : position;
  return at >= text.length || text.charCodeAt(at) === NEWLINE;
}

/**
 * Whether a line ends with the colour code that git puts behind all its lines, also where color.diff.meta is "normal".
 * An escape in a name would be quoted.
 */
function endsInColor(text: string, position: number, end: number): boolean {
  return text.charCodeAt(end - 1) === LETTER_M && text.startsWith("\x1b[m", end - 3) &&
    text.startsWith("diff ", position);
}

/** Where the next line starts, by where a line's content ends. */
function nextLine(text: string, end: number): number {
  return Math.min(text.length, end + (text.charCodeAt(end) === RETURN ? 2 : 1));
}

/** What stands behind these words in a line that begins with them. */
function behind(text: string, position: number, end: number, words: string): string | undefined {
  if (!text.startsWith(words, position)) return undefined;
  return text.slice(position + words.length, end);
}

/** Characters of a too large hunk that are kept: whole lines, within {@linkcode MAX_HUNK_CHARS}. */
export function cutHunk(hunk: string): string {
  if (hunk.length <= MAX_HUNK_CHARS) return hunk;
  return hunk.slice(0, hunk.lastIndexOf("\n", MAX_HUNK_CHARS - 1) + 1);
}

/** Text of a patch, to be quoted in a problem. */
function quoted(text: string): string {
  return text.length > MAX_QUOTED_CHARS ? `${unpinned(text.slice(0, MAX_QUOTED_CHARS))}…` : unpinned(text);
}

/** A copy that does not hold a whole piece alive, as a slice would. */
function unpinned(text: string): string {
  const copy = " " + text;
  // JavaScriptCore makes the copy when a character is read, V8 when a part is taken.
  return copy.charCodeAt(0) === SPACE ? copy.slice(1) : copy;
}

function newDraft(kind: Draft["kind"], line: number, header: string): Draft {
  return {
    file: {
      path: "",
      status: "modified",
      binary: false,
      additions: 0,
      deletions: 0,
      hunks: [],
      text: "",
      chars: 0,
      lines: 0,
      hunkCount: 0,
      hunksKept: 0,
    },
    kind,
    line,
    header,
    oldName: undefined,
    newName: undefined,
    from: undefined,
    to: undefined,
    oldMissing: false,
    newMissing: false,
    changed: false,
    settled: false,
    over: false,
    nameless: false,
    block: 0,
    room: Infinity,
    full: false,
    kept: "",
    held: "",
    cut: "",
    observer: undefined,
  };
}

/** A file that begins with the names of its sides. */
function plainDraft(line: number, old: string, now: string): Draft {
  const draft = newDraft("plain", line, "");
  readSide(draft, "old", old);
  readSide(draft, "new", now);
  return draft;
}

/** `Binary files A and B differ` without a header before it (GNU diff -r), `Binary file A has changed` (hg). */
function binaryDraft(words: string, line: number): Draft | undefined {
  const names = /^s (.*) differ$/s.exec(words)?.[1];
  const path = names === undefined ? /^ (.*) has changed$/s.exec(words)?.[1] : pathInHeader(names, " and ");
  if (path === undefined) return undefined;
  const draft = newDraft("plain", line, "");
  draft.to = draft.from = path;
  draft.file.binary = draft.changed = true;
  return draft;
}

/** `Submodule PATH OLD..NEW:`, also with a note such as `(new submodule)` (git diff --submodule=log). */
function submoduleDraft(words: string, line: number): Draft | undefined {
  // Two hashes and a note are short; looking for them in the whole of a long line could take its square.
  const range = / [0-9a-f]{7,64}\.{2,3}[0-9a-f]{7,64}(:| \([a-z ]+\):?)$/.exec(words.slice(-MAX_QUOTED_CHARS));
  if (!range) return undefined;
  const draft = newDraft("submodule", line, "");
  draft.changed = true;
  draft.to = draft.from = words.slice(0, -range[0].length);
  if (words.includes("(new submodule)")) draft.file.status = "added";
  if (words.includes("(submodule deleted)")) draft.file.status = "deleted";
  return draft;
}

/** Reads what stands behind `--- ` or `+++ `. */
function readSide(draft: Draft, side: "old" | "new", text: string): void {
  const { name, rest } = readName(text);
  const missing = name === NO_FILE || (rest !== "" && saysMissing(rest));
  if (side === "old") {
    draft.oldName = name;
    draft.oldMissing = missing;
  } else {
    draft.newName = name;
    draft.newMissing = missing;
  }
  draft.changed = true;
}

/** svn says it in words, GNU diff -N with the beginning of time. */
function saysMissing(text: string): boolean {
  return text.includes("(nonexistent)") || /\b(1970-01-01|1969-12-31) /.test(text);
}

/** The lines between `diff --git` and `---` (git-diff, "Generating patch text with -p"). */
function readExtendedHeader(draft: Draft, text: string, position: number, end: number, bytes: boolean): boolean {
  const { file } = draft;
  switch (text.charCodeAt(position)) {
    case 105: // index 12ab..34cd 100644
      if (!text.startsWith("index ", position)) return false;
      if (text.charCodeAt(end - 7) === SPACE) readModes(file, text, end - 6, end, "both");
      break;
    case 111:
      if (!text.startsWith("old mode ", position)) return false;
      readModes(file, text, position + 9, end, "old");
      break;
    case 110:
      if (text.startsWith("new mode ", position)) readModes(file, text, position + 9, end, "new");
      else if (text.startsWith("new file mode ", position)) {
        file.status = "added";
        readModes(file, text, position + 14, end, "new");
      } else return false;
      break;
    case 100:
      if (text.startsWith("deleted file mode ", position)) {
        file.status = "deleted";
        readModes(file, text, position + 18, end, "old");
      } else if (!text.startsWith("dissimilarity index ", position)) return false;
      break;
    case 114: // rename from x
    case 99: // copy from x
      return readMove(draft, text.slice(position, end), bytes);
    default: // "mode " is of combined diffs
      if (!text.startsWith("similarity index ", position) && !text.startsWith("mode ", position)) return false;
  }
  draft.changed = true;
  return true;
}

function readMove(draft: Draft, content: string, bytes: boolean): boolean {
  const [, how, side, name] = /^(rename|copy) (from|to) (.*)$/s.exec(content) ?? [];
  if (name === undefined) return false;
  if (side === "from") draft.from = readName(decoded(name, bytes)).name;
  else draft.to = readName(decoded(name, bytes)).name;
  draft.file.status = how === "rename" ? "renamed" : "copied";
  return draft.changed = true;
}

/** Modes that git writes; each is one string, however many files have it. */
const MODES = ["100644", "100755", "120000", "160000", "040000"];

/** Modes of the parents of a combined diff stand in one word. */
const MAX_MODE_CHARS = 7 * MAX_PARENTS;

function readModes(file: FileDiff, text: string, position: number, end: number, side: "old" | "new" | "both"): void {
  const known = MODES.find((mode) => text.startsWith(mode, position) && position + mode.length === end);
  if (known === undefined && end - position > MAX_MODE_CHARS) return;
  const mode = known ?? unpinned(text.slice(position, end));
  if (known === undefined && !/^[0-7]+(,[0-7]+)*$/.test(mode)) return;
  if (side !== "new") file.oldMode = mode;
  if (side !== "old") file.newMode = mode;
}

/** The lines behind the `====` of svn and CVS. */
function readSvnHeader(draft: Draft, text: string, position: number, end: number, bytes: boolean): boolean {
  const header = draft.changed ? undefined : behind(text, position, end, "diff --git ");
  if (header !== undefined) {
    draft.kind = "git"; // svn diff --git
    draft.header = decoded(header, bytes);
    return true;
  }
  if (text.startsWith("Cannot display: file marked as a binary type.", position)) {
    return draft.file.binary = draft.changed = true;
  }
  return SVN_LINES.some((words) => text.startsWith(words, position));
}

const SVN_LINES = ["diff ", "RCS file: ", "retrieving revision ", "svn:mime-type = "];

/** A line of a `GIT binary patch`: the size of a block, base 85 with its length before it, the line that ends a block. */
function readBinaryData(draft: Draft, text: string, position: number, end: number): boolean {
  if (draft.block === BEFORE_BLOCK) {
    if (!/^(literal|delta) \d+$/.test(text.slice(position, end))) return false;
    draft.block = IN_BLOCK;
    return true;
  }
  if (position === end) {
    draft.block = BEFORE_BLOCK;
    return true;
  }
  const first = text.charCodeAt(position);
  const size = first >= 65 && first <= 90 ? first - 64 : first >= 97 && first <= 122 ? first - 70 : 0;
  return size > 0 && end - position === 1 + 5 * Math.ceil(size / 4);
}

/** Path, old path and status of a file, from the most reliable line that says them. */
function nameFile(draft: Draft, firstHunk: Hunk | undefined, copies: boolean): void {
  const { file, from, to } = draft;
  const noOldLines = firstHunk === undefined || (firstHunk.oldStart === 0 && firstHunk.oldLines === 0);
  const noNewLines = firstHunk === undefined || (firstHunk.newStart === 0 && firstHunk.newLines === 0);
  if (draft.oldMissing && noOldLines) file.status = "added";
  if (draft.newMissing && noNewLines) file.status = "deleted";
  const path = from !== undefined && to !== undefined ? to : pathOf(draft);
  draft.nameless = path === undefined || path === "";
  if (draft.nameless) return;
  file.path = copies ? unpinned(path!) : path!;
  if (from !== undefined && to !== undefined && from !== to) file.oldPath = copies ? unpinned(from) : from;
}

function pathOf({ kind, header, oldName, newName }: Draft): string | undefined {
  const old = oldName === NO_FILE ? undefined : oldName;
  const now = newName === NO_FILE ? undefined : newName;
  if (old !== undefined && now !== undefined) return agreedPath(old, now) ?? withoutLetter(now);
  const inHeader = kind === "git" ? pathInHeader(header) : kind === "plain" ? undefined : readName(header).name;
  const one = old ?? now;
  if (one === undefined) return inHeader ?? (kind === "git" ? newPathInHeader(header) : undefined);
  if (inHeader !== undefined && one.endsWith(inHeader)) return inHeader;
  return old === undefined ? one.replace(/^b\//, "") : one.replace(/^a\//, "");
}

/**
 * Reads `@@ -1,2 +3,4 @@ section` from a position; an omitted count is 1. `undefined` if it is none. A cursor, because a
 * patch may have more hunks than anything else.
 */
function readHunkHeader(text: string, position: number, end: number): Hunk | undefined {
  if (!text.startsWith("@@ -", position)) return undefined;
  const oldStart = readNumber(text, position + 4);
  const oldLines = text.charCodeAt(behindNumber) === COMMA ? readNumber(text, behindNumber + 1) : 1;
  if (oldStart < 0 || oldLines < 0 || !text.startsWith(" +", behindNumber)) return undefined;
  const newStart = readNumber(text, behindNumber + 2);
  const newLines = text.charCodeAt(behindNumber) === COMMA ? readNumber(text, behindNumber + 1) : 1;
  if (newStart < 0 || newLines < 0 || !text.startsWith(" @@", behindNumber)) return undefined;
  let at = behindNumber + 3;
  if (text.charCodeAt(at) === SPACE) at++;
  return newHunk(oldStart, oldLines, newStart, newLines, at < end ? text.slice(at, end) : "");
}

/** Where the number ends that was read last. */
let behindNumber = 0;

/** Reads a number of at most 20 digits, -1 if there is none; leaves {@linkcode behindNumber} behind it. */
function readNumber(text: string, position: number): number {
  let number = 0;
  let at = position;
  for (; at <= position + MAX_DIGITS; at++) {
    const digit = text.charCodeAt(at) - 48;
    if (!(digit >= 0 && digit <= 9)) break;
    number = 10 * number + digit;
  }
  behindNumber = at;
  return at === position || at > position + MAX_DIGITS ? -1 : number;
}

const MAX_DIGITS = 20;

function newHunk(oldStart: number, oldLines: number, newStart: number, newLines: number, section: string): Hunk {
  return {
    oldStart,
    oldLines,
    newStart,
    newLines,
    section,
    additions: 0,
    deletions: 0,
    start: 0,
    end: 0,
    lines: 1,
  };
}

/**
 * Reads `@@@ -1,2 -1,2 +3,4 @@@ section` of a combined diff with any number of parents.
 *
 * @param parentsLeft Takes the lines of each parent.
 */
function readCombinedHeader(content: string, parentsLeft: number[]): Hunk | undefined {
  const match = /^(@{3,}) ((?:-\d{1,20}(?:,\d{1,20})? )+)\+(\d{1,20})(?:,(\d{1,20}))? @{3,}(?: (.*))?$/s.exec(content);
  if (!match) return undefined;
  const old = match[2]!.trim().split(" ").map((range) => range.slice(1).split(",").map(Number));
  if (old.length !== match[1]!.length - 1 || old.length > MAX_PARENTS) return undefined;
  for (const [, lines] of old) parentsLeft.push(lines ?? 1);
  const hunk = newHunk(old[0]![0]!, parentsLeft[0]!, Number(match[3]), Number(match[4] ?? 1), match[5] ?? "");
  hunk.columns = old.length;
  return hunk;
}

/** How the UTF-8 byte order mark looks as latin1. */
const BYTE_ORDER_MARK = "\xef\xbb\xbf";

/** Counts the UTF-16 units of UTF-8 that comes in pieces (WHATWG Encoding, "UTF-8 decoder"). */
class UnitCounter {
  /** The current piece; made from its text where it is `undefined`. */
  bytes: Uint8Array | undefined;
  #words: Uint32Array = new Uint32Array();
  #wordsOf: Uint8Array | undefined;
  /** Bytes in front of the first word. */
  #shift = 0;
  /** Bytes that the current character still needs. */
  #needed = 0;
  #lower = 0x80;
  #upper = 0xbf;
  #units = 0;

  /** Units from one position of the piece to another; those of a character that is not whole come with its end. */
  count(text: string, from: number, to: number): number {
    const bytes = this.bytes ??= toBytes(text);
    let units = 0;
    let needed = this.#needed;
    for (let i = from; i < to;) {
      const byte = bytes[i]!;
      if (needed === 0 && byte < 0x80) {
        const end = this.#asciiEnd(bytes, i, to);
        units += end - i;
        i = end;
      } else if (needed === 0) {
        needed = this.#lead(byte);
        if (needed === 0) units++; // U+FFFD for a byte that begins nothing
        i++;
      } else if (byte < this.#lower || byte > this.#upper) {
        units++; // U+FFFD for what came so far; this byte is looked at again
        needed = 0;
      } else {
        this.#lower = 0x80;
        this.#upper = 0xbf;
        if (--needed === 0) units += this.#units;
        i++;
      }
    }
    this.#needed = needed;
    return units;
  }

  /** Where the ASCII characters end that begin at a position: most of most patches, so four at a time. */
  #asciiEnd(bytes: Uint8Array, position: number, to: number): number {
    if (this.#wordsOf !== bytes) this.#setWords(bytes);
    const [words, shift] = [this.#words, this.#shift];
    while (position < to && ((position - shift) & 3) !== 0) if (bytes[position++]! >= 0x80) return position - 1;
    let word = (position - shift) >> 2;
    const last = (to - shift) >> 2;
    while (word < last && (words[word]! & 0x80808080) === 0) word++;
    position = Math.max(position, shift + (word << 2));
    while (position < to && bytes[position]! < 0x80) position++;
    return position;
  }

  #setWords(bytes: Uint8Array): void {
    this.#wordsOf = bytes;
    this.#shift = -bytes.byteOffset & 3;
    const length = Math.max(0, bytes.length - this.#shift) >> 2;
    this.#words = new Uint32Array(bytes.buffer, length > 0 ? bytes.byteOffset + this.#shift : 0, length);
  }

  /** Units of a character that the end of the text has cut. */
  flush(): number {
    const units = this.#needed > 0 ? 1 : 0;
    this.#needed = 0;
    return units;
  }

  /** How many bytes follow a first byte that is not ASCII; 0 if it can begin nothing. */
  #lead(byte: number): number {
    this.#lower = byte === 0xe0 ? 0xa0 : byte === 0xf0 ? 0x90 : 0x80;
    this.#upper = byte === 0xed ? 0x9f : byte === 0xf4 ? 0x8f : 0xbf;
    this.#units = byte >= 0xf0 ? 2 : 1;
    if (byte >= 0xc2 && byte <= 0xdf) return 1;
    if (byte >= 0xe0 && byte <= 0xef) return 2;
    return byte >= 0xf0 && byte <= 0xf4 ? 3 : 0;
  }
}

/** What a patch calls the missing side of an added or deleted file. */
const NO_FILE = "/dev/null";

const UTF8 = new TextDecoder("utf-8", { ignoreBOM: true });

declare const Buffer: undefined | {
  from(text: string, encoding: "latin1"): Uint8Array;
  from(bytes: ArrayBufferLike, offset: number, length: number): { latin1Slice(): string };
};

/** Bytes as a string with one character a byte: what the scanner reads. */
function latin1(bytes: Uint8Array): string {
  // TextDecoder("latin1") is windows-1252 (WHATWG Encoding, section 4.2), which is something else.
  if (typeof Buffer !== "undefined") return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).latin1Slice();
  let text = "";
  const STEP = 8_192; // an engine takes only so many arguments
  for (let i = 0; i < bytes.length; i += STEP) text += String.fromCharCode(...bytes.subarray(i, i + STEP));
  return text;
}

/** Text of a patch, decoded if it is bytes and there is something to decode. */
function decoded(text: string, bytes: boolean): string {
  return bytes && NON_ASCII.test(text) ? decodeUtf8(text) : text;
}

const NON_ASCII = /[\x80-\xff]/;

/** A string with one character a byte, decoded as UTF-8; what is not UTF-8 becomes U+FFFD. */
function decodeUtf8(bytes: string): string {
  return bytes === "" ? "" : UTF8.decode(toBytes(bytes));
}

function toBytes(latin1: string): Uint8Array {
  if (typeof Buffer !== "undefined") return Buffer.from(latin1, "latin1");
  const bytes = new Uint8Array(latin1.length);
  for (let i = 0; i < latin1.length; i++) bytes[i] = latin1.charCodeAt(i);
  return bytes;
}

/** A name, and what stands behind it on its line. */
interface ReadName {
  name: string;
  rest: string;
}

const ESCAPES: { readonly [letter: string]: string } = {
  a: "\x07",
  b: "\b",
  t: "\t",
  n: "\n",
  v: "\v",
  f: "\f",
  r: "\r",
  '"': '"',
  "\\": "\\",
};

/** Reads the name at the beginning of a text: C-quoted (core.quotePath in git-config), else up to a TAB or the end. */
function readName(text: string): ReadName {
  if (text.charCodeAt(0) !== QUOTE) {
    const tab = text.indexOf("\t");
    return tab < 0 ? { name: text, rest: "" } : { name: text.slice(0, tab), rest: text.slice(tab + 1) };
  }
  const encoder = new TextEncoder();
  let bytes = "";
  let i = 1;
  for (; i < text.length && text[i] !== '"'; i++) {
    const char = text[i]!;
    if (char === "\\") {
      const octal = /^[0-3][0-7]{2}/.exec(text.slice(i + 1, i + 4))?.[0];
      if (octal) bytes += String.fromCharCode(parseInt(octal, 8));
      else bytes += ESCAPES[text[i + 1] ?? ""] ?? text[i + 1] ?? "";
      i += octal ? 3 : 1;
    } else if (char < "\x80") {
      bytes += char;
    } else {
      const whole = String.fromCodePoint(text.codePointAt(i)!);
      bytes += latin1(encoder.encode(whole));
      i += whole.length - 1;
    }
  }
  return { name: decodeUtf8(bytes), rest: text.slice(i + 1) };
}

/** The letters that git puts before a path with a slash: `a` and `b`, and those of diff.mnemonicPrefix. */
const LETTERS = "abciow12";

function hasLetter(name: string): boolean {
  return name.length > 2 && name.charCodeAt(1) === SLASH && LETTERS.includes(name[0]!);
}

function withoutLetter(name: string): string {
  return hasLetter(name) ? name.slice(2) : name;
}

/**
 * The path that two names of one file agree on, without the prefixes that a tool puts before them; none is assumed.
 *
 * @returns `undefined` if the names cannot be brought together.
 */
function agreedPath(old: string, now: string): string | undefined {
  if (old === now) return now;
  if (!hasLetter(old) || !hasLetter(now) || old[0] === now[0]) return commonPath(old, now);
  const path = now.slice(2);
  return old.length === now.length && old.endsWith(path) ? path : undefined;
}

/** The longest path that both names end with, each behind a slash. */
function commonPath(a: string, b: string): string | undefined {
  let same = 0;
  while (same < a.length && same < b.length && a[a.length - 1 - same] === b[b.length - 1 - same]) same++;
  for (let length = same; length > 0; length--) {
    const isWhole = (name: string) => name.length > length && name[name.length - length - 1] === "/";
    if (isWhole(a) && isWhole(b) && a[a.length - length] !== "/") return a.slice(a.length - length);
  }
  return undefined;
}

/** Places where two names are tried to be told apart, in a header with many spaces. */
const MAX_SPLITS = 64;

/**
 * The path in the two names of a `diff --git` line.
 *
 * @param separator What stands between the names.
 * @returns `undefined` if no way of telling the names apart makes them agree.
 */
function pathInHeader(header: string, separator = " "): string | undefined {
  if (header.startsWith('"')) {
    const { name, rest } = readName(header);
    return rest.startsWith(separator) ? agreedPath(name, readName(rest.slice(separator.length)).name) : undefined;
  }
  const splitAt = (index: number) => {
    const now = header.slice(index + separator.length);
    return agreedPath(header.slice(0, index), now.startsWith('"') ? readName(now).name : now);
  };
  // Both names have the same length unless the prefixes differ in theirs.
  const middle = (header.length - separator.length) / 2;
  const path = Number.isInteger(middle) && header.startsWith(separator, middle) ? splitAt(middle) : undefined;
  if (path !== undefined) return path;
  let index = header.indexOf(separator);
  for (let tries = 0; index >= 0 && tries < MAX_SPLITS; tries++) {
    const path = splitAt(index);
    if (path !== undefined) return path;
    index = header.indexOf(separator, index + 1);
  }
  return undefined;
}

/** The second name of a `diff --git` line whose names do not agree (git diff --no-index), if there is one way to read it. */
function newPathInHeader(header: string): string | undefined {
  if (header.startsWith('"')) {
    const { rest } = readName(header);
    return rest.length > 1 ? withoutLetter(readName(rest.slice(1)).name) : undefined;
  }
  for (const separator of [' "', " b/", " "]) {
    const index = header.indexOf(separator);
    if (index < 0 || header.indexOf(separator, index + 1) >= 0) continue;
    return withoutLetter(readName(header.slice(index + 1)).name);
  }
  return undefined;
}
