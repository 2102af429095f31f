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
  oldLines: number;
  /** First line on the new side, from 1. */
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
  /** As git writes it, such as `100644`. */
  oldMode?: string;
  /** As git writes it, such as `100755`. */
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
  /**
   * Asked once a file, when its headers are read: how many characters of its text to keep. The headers and as many
   * whole hunks as fit are kept; the first hunk always, up to {@linkcode MAX_HUNK_CHARS}. With 0 nothing is kept. What
   * is not kept is counted and dropped.
   *
   * @default everything
   */
  keep?: (file: FileDiff) => number;
}

/** Characters of a file's first hunk beyond which it is cut too, at a line end, where `keep` sets a limit. */
export const MAX_HUNK_CHARS = 1_000_000;

/** Problems beyond this many are counted in one last entry, so that hostile text cannot fill the memory. */
const MAX_PROBLEMS = 1_000;

/** Characters of a header line beyond which it is no header: Linux allows 4,096 bytes for a path, quoted 4 times that. */
const MAX_HEADER_CHARS = 70_000;

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
const PLUS = 43;
const MINUS = 45;
const BACKSLASH = 92;

/** Colour codes (ECMA-48 SGR), and the "erase to the end of the line" that git may put behind them. */
// deno-lint-ignore no-control-regex
const COLORS = /\x1b\[[0-9;]*[mK]/g;

/** Where the scanner is, between two lines. */
const OUTSIDE = 0; // headers, hunk headers, other text
const IN_BODY = 1;
const IN_COMBINED_BODY = 2;
const BEHIND_BODY = 3; // the body is complete, but a "\ No newline" line still belongs to it

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
  inBinary: boolean;
  /** Characters to keep. */
  room: number;
  /** Nothing more is kept. */
  full: boolean;
  /** What is kept, as it came. */
  kept: string[];
  /** The hunk that is being read: kept if the whole of it fits. */
  held: string[];
  /** The beginning of a first hunk that is too large, decoded. */
  cut: string;
}

/** Lines that are the beginning of a file if the next line goes on so. */
interface Pending {
  text: string;
  /** Where they begin in the current piece; -1 if that was an earlier one. */
  position: number;
  lines: number;
  /** What stands behind `--- `. */
  old: string | undefined;
  /** What stands behind `Index: `. */
  index: string | undefined;
}

/** Reads a patch in pieces, however they are cut. */
export class PatchParser {
  /** What could not be read so far. */
  readonly problems: Problem[] = [];

  readonly #keep: ((file: FileDiff) => number) | undefined;
  #done: FileDiff[] = [];
  #draft: Draft | undefined;
  #hunk: Hunk | undefined;
  #state = OUTSIDE;
  /** Lines that the body still owes, by the hunk's header. */
  #oldLeft = 0;
  #newLeft = 0;
  /** The same for each parent of a combined diff. */
  #parentsLeft: number[] = [];

  /** Number of the next line, from 1. */
  #line = 1;
  #moreProblems = 0;
  /** The beginning of a line that goes on in the next piece. */
  #tail = "";
  /** The next piece begins inside a line that has been seen to: one of a body, or one too long for a header. */
  #midLine = false;
  #bytes = false;
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
  /** A character of the current piece is a UTF-16 unit. */
  #plain = true;
  readonly #counter = new UnitCounter();

  constructor(options: PatchParserOptions = {}) {
    this.#keep = options.keep;
  }

  /** Takes the next piece; gives the files that became complete. Bytes and text must not be mixed. */
  push(piece: Uint8Array | string): FileDiff[] {
    if (typeof piece !== "string") {
      this.#bytes = true;
      piece = latin1(piece);
    }
    if (piece !== "") this.#feed(piece);
    return this.#take();
  }

  /** Says that the patch is over; gives the files that became complete. */
  end(): FileDiff[] {
    const tail = this.#tail;
    this.#tail = "";
    if (tail !== "") this.#scan(tail, 0, true);
    this.#startPiece("", 0);
    if (this.#draft) this.#draft.file.chars += this.#counter.flush();
    if (this.#state === IN_BODY || this.#state === IN_COMBINED_BODY) this.#breakBody();
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
  #feed(piece: string): void {
    if (!this.#begun) {
      piece = this.#tail + piece;
      this.#tail = "";
      const mark = this.#bytes ? "\xef\xbb\xbf" : "\ufeff";
      if (piece.length < mark.length && mark.startsWith(piece)) {
        this.#tail = piece;
        return;
      }
      this.#begun = true;
      if (piece.startsWith(mark)) piece = piece.slice(mark.length);
    }
    if (this.#colored) piece = this.#withoutColors(piece);
    if (this.#tail === "") return this.#scan(piece, 0, false);
    const newline = piece.indexOf("\n");
    if (newline < 0) {
      this.#tail += piece;
      if (this.#tail.length > MAX_HEADER_CHARS) this.#dropTail();
      return;
    }
    const line = this.#tail + piece.slice(0, newline + 1);
    this.#tail = "";
    const wasColored = this.#colored;
    this.#scan(line, 0, false);
    if (this.#colored === wasColored) this.#scan(piece, newline + 1, false);
    else this.#feed(piece.slice(newline + 1));
  }

  /** A line that is too long for a header says nothing, however it begins. */
  #dropTail(): void {
    this.#tail = "";
    this.#midLine = true;
    this.#open = false;
    this.#pending = undefined;
    this.#sawText = true;
  }

  /** Takes colour codes out (`git diff --color`); one that is cut waits for the next piece. */
  #withoutColors(piece: string): string {
    piece = this.#escape + piece;
    this.#escape = "";
    const escape = piece.lastIndexOf("\x1b");
    // deno-lint-ignore no-control-regex
    if (escape >= 0 && /^\x1b(\[[0-9;]{0,30})?$/.test(piece.slice(escape))) {
      this.#escape = piece.slice(escape);
      piece = piece.slice(0, escape);
    }
    return piece.replace(COLORS, "");
  }

  #startPiece(text: string, position: number): void {
    this.#runStart = position;
    this.#mark = position;
    this.#plain = !this.#bytes || !/[\x80-\xff]/.test(text);
  }

  /** Reads a piece from a position on. `last`: the line at its end is whole, although no newline ends it. */
  #scan(text: string, position: number, last: boolean): void {
    this.#startPiece(text, position);
    if (this.#midLine) {
      const newline = text.indexOf("\n", position);
      if (newline < 0) return this.#endPiece(text, text.length);
      this.#midLine = false;
      this.#line++;
      position = newline + 1;
      if (!this.#open) this.#runStart = this.#mark = position;
    }
    while (position < text.length) {
      if (this.#state === IN_BODY) position = this.#readBody(text, position, last);
      else if (this.#state === IN_COMBINED_BODY) position = this.#readCombinedBody(text, position);
      else if (this.#state === BEHIND_BODY) position = this.#readBehindBody(text, position);
      else {
        const newline = text.indexOf("\n", position);
        if (newline < 0 && !last) {
          this.#waitFor(text, position);
          if (this.#tail.length > MAX_HEADER_CHARS) this.#dropTail();
          return;
        }
        const next = newline < 0 ? text.length : newline + 1;
        if (this.#colored || text.charCodeAt(position) !== ESCAPE) this.#readLine(text, position, next);
        else {
          this.#endPiece(text, position);
          this.#colored = true;
          return last
            ? this.#scan(text.slice(position).replace(COLORS, ""), 0, true)
            : this.#feed(text.slice(position));
        }
        position = next;
      }
      if (position < 0) return this.#waitFor(text, ~position);
    }
    this.#endPiece(text, text.length);
  }

  /** The line at `position` can be read only with what comes next. */
  #waitFor(text: string, position: number): void {
    this.#endPiece(text, position);
    this.#tail = text.slice(position);
  }

  #endPiece(text: string, end: number): void {
    if (this.#pending) this.#pending.position = -1;
    if (this.#open) this.#commit(text, end);
    if (this.#draft && this.#hunk) this.#limitHeld(this.#draft, this.#hunk);
  }

  /** The characters of the file up to a position of the piece. */
  #charsAt(text: string, position: number): number {
    const file = this.#draft!.file;
    const from = this.#mark;
    if (position > from) {
      file.chars += this.#plain ? position - from : this.#counter.count(text, from, position);
      this.#mark = position;
    }
    return file.chars;
  }

  /** Puts the open text up to a position where it belongs. */
  #commit(text: string, end: number): void {
    const draft = this.#draft!;
    this.#charsAt(text, end);
    if (end > this.#runStart && !draft.full) {
      const list = this.#hunk && this.#keep ? draft.held : draft.kept;
      list.push(text.slice(this.#runStart, end));
      if (draft.settled && !this.#hunk && draft.file.chars > draft.room) draft.full = true;
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

  /** Reads lines of a body from a position on; gives the position behind the last one, `~` of it to wait for more. */
  #readBody(text: string, position: number, last: boolean): number {
    const end = text.length;
    let oldLeft = this.#oldLeft;
    let newLeft = this.#newLeft;
    let additions = 0;
    let deletions = 0;
    let others = 0;
    let broken = false;
    let waits = false;
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
      } else if (marker === RETURN && position + 1 === end && !last) {
        waits = true;
        break;
      } else if (oldLeft > 0 && newLeft > 0 && isBlankLine(text, position)) {
        // An empty context line whose space was lost (diff.suppressBlankEmpty, mail programs).
        oldLeft--;
        newLeft--;
        others++;
      } else {
        broken = true;
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
    if (broken) {
      this.#breakBody();
      this.#endHunk(text, position);
    } else if (oldLeft === 0 && newLeft === 0) this.#state = BEHIND_BODY;
    return waits ? ~position : position;
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
  #readCombinedBody(text: string, position: number): number {
    const left = this.#parentsLeft;
    while (this.#newLeft > 0 || left.some((lines) => lines > 0)) {
      if (position >= text.length) return position;
      const newline = text.indexOf("\n", position);
      const columns = text.slice(position, position + left.length);
      if (newline < 0 && columns.length < left.length) {
        return ~position;
      }
      const isNote = columns.startsWith("\\");
      if (!isNote && !/^[-+ ]*$/.test(columns)) {
        this.#breakBody();
        this.#endHunk(text, position);
        return position;
      }
      const isDeletion = columns.includes("-");
      if (!isNote) {
        for (let i = 0; i < left.length; i++) if (columns[i] === (isDeletion ? "-" : " ")) left[i]!--;
        if (!isDeletion) this.#newLeft--;
      }
      this.#midLine = newline < 0;
      const isAddition = !isDeletion && columns.includes("+");
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
      return position;
    }
    const newline = text.indexOf("\n", position);
    this.#midLine = newline < 0;
    this.#countLines(0, 0, 1);
    return newline < 0 ? text.length : newline + 1;
  }

  /** The body ends before its header says so. */
  #breakBody(): void {
    const missing = Math.max(this.#oldLeft, this.#newLeft, ...this.#parentsLeft);
    this.#problem(this.#line, `the hunk ends ${missing} line${missing === 1 ? "" : "s"} before its header says`);
  }

  #endHunk(text: string, position: number): void {
    const [draft, hunk] = [this.#draft, this.#hunk];
    this.#state = OUTSIDE;
    this.#parentsLeft = [];
    if (!draft || !hunk) return;
    hunk.end = this.#charsAt(text, position);
    const { file } = draft;
    if (!this.#keep) {
      file.hunksKept++;
      this.#hunk = undefined;
      return;
    }
    this.#commit(text, position);
    this.#limitHeld(draft, hunk);
    this.#hunk = undefined;
    if (draft.full) return;
    draft.kept.push(...draft.held);
    draft.held = [];
    file.hunksKept++;
  }

  /** Gives up a hunk as soon as it is clear that it does not fit. The first one is kept whole, or as much as may be. */
  #limitHeld(draft: Draft, hunk: Hunk): void {
    if (!this.#keep || draft.full) return;
    const { file } = draft;
    if (file.hunks.length > 1) draft.full = file.chars > draft.room;
    else if (file.chars - hunk.start > MAX_HUNK_CHARS) {
      draft.cut = cutHunk(this.#decode(draft.held.join("")));
      draft.full = true;
    }
    if (draft.full) draft.held = [];
  }

  #decode(text: string): string {
    return this.#bytes ? decodeUtf8(text) : text;
  }

  /** A line outside any body. */
  #readLine(text: string, position: number, next: number): void {
    const line = this.#line++;
    let end = next;
    if (end > position && text.charCodeAt(end - 1) === NEWLINE) end--;
    if (end > position && text.charCodeAt(end - 1) === RETURN) end--;
    if (end > position) this.#sawText = true;
    const content = end - position > MAX_HEADER_CHARS ? "" : text.slice(position, end);
    const pending = this.#pending;
    this.#pending = undefined;
    const begun = this.#beginning(content, pending, line);
    if (begun === "pending") {
      const { position: from, text: before } = pending ?? { position, text: "" };
      this.#pending = { ...this.#pending!, position: from, text: before + text.slice(position, next) };
      this.#belongs(text, position, false);
    } else if (begun) {
      this.#belongs(text, position, false);
      this.#finish();
      this.#draft = begun;
      this.#takePending(begun.file, pending, position);
      if (begun.file.binary || begun.kind === "submodule") this.#settle(begun, undefined);
    } else {
      const draft = this.#draft;
      const belongs = draft !== undefined && this.#readHeader(content, draft, text, position);
      if (draft) this.#belongs(text, position, belongs);
      if (!belongs) this.#strayLine(content, line);
    }
  }

  /** The lines before the one that made clear that a file begins belong to it. */
  #takePending(file: FileDiff, pending: Pending | undefined, position: number): void {
    const isHere = pending !== undefined && pending.position >= 0;
    this.#open = true;
    this.#runStart = this.#mark = isHere ? pending.position : position;
    file.lines = 1 + (pending?.lines ?? 0);
    if (!pending || isHere) return;
    file.chars = this.#bytes ? this.#counter.count(pending.text, 0, pending.text.length) : pending.text.length;
    this.#draft!.kept.push(pending.text);
  }

  /** The file that begins with this line; `pending` if that depends on the next one. */
  #beginning(content: string, pending: Pending | undefined, line: number): Draft | "pending" | undefined {
    const wait = (more: Partial<Pending>) => {
      this.#pending = {
        text: "",
        position: -1,
        lines: (pending?.lines ?? 0) + 1,
        old: undefined,
        index: pending?.index,
        ...more,
      };
      return "pending" as const;
    };
    if (content.startsWith("diff --git ")) return newDraft("git", line, content.slice(11));
    if (content.startsWith("diff --cc ")) return newDraft("combined", line, content.slice(10));
    if (content.startsWith("diff --combined ")) return newDraft("combined", line, content.slice(16));
    const awaitsNames = this.#draft !== undefined && !this.#draft.settled && this.#draft.newName === undefined;
    if (content.startsWith("--- ") && !awaitsNames) return wait({ old: content.slice(4) });
    if (content.startsWith("+++ ") && pending?.old !== undefined) {
      const draft = newDraft("plain", line, "");
      this.#nameSide(draft, "old", pending.old);
      this.#nameSide(draft, "new", content.slice(4));
      return draft;
    }
    if (content.startsWith("Index: ")) return wait({ index: content.slice(7) });
    if (pending?.index !== undefined && /^={60,}$/.test(content)) return newDraft("svn", line, pending.index);
    if (content.startsWith("diff ") && !awaitsNames) return wait({});
    if (content.startsWith("Submodule ")) return this.#submodule(content.slice(10), line);
    if (/^Binary files? /.test(content) && !awaitsNames) return binaryDraft(content, line, this.#bytes);
    return undefined;
  }

  /** `Submodule PATH OLD..NEW:` (git diff --submodule=log). */
  #submodule(words: string, line: number): Draft | undefined {
    const match = /^(.*) [0-9a-f]{7,64}\.{2,3}[0-9a-f]{7,64}(:| \(.*\):?)$/.exec(words);
    if (!match) return undefined;
    const draft = newDraft("submodule", line, match[1]!);
    draft.changed = true;
    if (words.includes("(new submodule)")) draft.file.status = "added";
    if (words.includes("(submodule deleted)")) draft.file.status = "deleted";
    return draft;
  }

  #nameSide(draft: Draft, side: "old" | "new", text: string): void {
    const { name, rest } = readName(text, this.#bytes);
    // svn says it in words, GNU diff -N with the beginning of time.
    const missing = name === NO_FILE || rest.includes("(nonexistent)") || /\b(1970-01-01|1969-12-31) /.test(rest);
    if (side === "old") [draft.oldName, draft.oldMissing] = [name, missing];
    else [draft.newName, draft.newMissing] = [name, missing];
    draft.changed = true;
  }

  /** A line that goes on with a file: whether it is one. */
  #readHeader(content: string, draft: Draft, text: string, position: number): boolean {
    const { file } = draft;
    if (content.startsWith("@@")) return this.#startHunk(content, draft, text, position);
    if (draft.kind === "submodule") return /^ {2}[<>] /.test(content);
    if (draft.inBinary) return isBinaryData(content);
    if (draft.settled) return false;
    if (content.startsWith("--- ") && draft.oldName === undefined) {
      this.#nameSide(draft, "old", content.slice(4));
      return true;
    }
    if (content.startsWith("+++ ") && draft.oldName !== undefined && draft.newName === undefined) {
      this.#nameSide(draft, "new", content.slice(4));
      return true;
    }
    if (draft.kind === "svn") {
      if (content !== "Cannot display: file marked as a binary type." && !content.startsWith("diff ")) return false;
      if (content.startsWith("Cannot")) file.binary = draft.changed = true;
      return true;
    }
    if (/^Binary files? /.test(content) || content === "GIT binary patch") {
      file.binary = draft.changed = true;
      draft.inBinary = content.startsWith("GIT");
      this.#settle(draft, undefined);
      return true;
    }
    return draft.kind !== "plain" && readExtendedHeader(content, draft, this.#bytes);
  }

  #startHunk(content: string, draft: Draft, text: string, position: number): boolean {
    const hunk = readHunkHeader(content);
    const parents = hunk ? undefined : readCombinedHeader(content);
    if ((!hunk && !parents) || draft.kind === "submodule" || draft.inBinary) return false;
    const started = hunk ?? parents!.hunk;
    if (this.#bytes) started.section = decodeUtf8(started.section);
    else if (this.#keep) started.section = unpinned(started.section);
    draft.changed = true;
    draft.file.hunks.push(started);
    if (!draft.settled) this.#settle(draft, started);
    if (this.#open) {
      if (this.#keep) this.#commit(text, position);
    } else {
      this.#runStart = this.#mark = position;
    }
    started.start = this.#charsAt(text, position);
    this.#hunk = started;
    this.#oldLeft = started.oldLines;
    this.#newLeft = started.newLines;
    this.#parentsLeft = parents?.left ?? [];
    this.#state = parents ? IN_COMBINED_BODY : started.oldLines > 0 || started.newLines > 0 ? IN_BODY : BEHIND_BODY;
    return true;
  }

  /** Text that belongs to no file: said where it means that something is missing. */
  #strayLine(content: string, line: number): void {
    if (content.startsWith("@@ -")) {
      this.#problem(
        line,
        readHunkHeader(content) ? "a hunk without a file header" : "a hunk header that cannot be read",
      );
    } else if (content.startsWith("Only in ")) this.#problem(line, `not in the patch: ${content}`);
    else if (/^\*{3} /.test(content)) this.#isContextDiff = true;
  }

  /** Path and status become final; what is kept is decided. */
  #settle(draft: Draft, firstHunk: Hunk | undefined): void {
    draft.settled = true;
    const { file } = draft;
    nameFile(draft, firstHunk, this.#bytes);
    if (!this.#keep) return;
    draft.room = this.#keep(file);
    draft.full = !(draft.room > 0);
    if (draft.full) draft.kept = [];
  }

  #finish(): void {
    const draft = this.#draft;
    this.#draft = undefined;
    this.#open = false;
    if (!draft) return;
    if (!draft.changed) return this.#problem(draft.line, "a file header without a change");
    if (draft.kind === "plain" && draft.file.hunks.length === 0 && !draft.file.binary) {
      return this.#problem(draft.line, "a file header without a hunk");
    }
    if (!draft.settled) this.#settle(draft, undefined);
    const { file } = draft;
    const text = draft.kept.length === 1 ? draft.kept[0]! : draft.kept.join("");
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

/** Characters of a too large hunk that are kept: whole lines, within {@linkcode MAX_HUNK_CHARS}. */
export function cutHunk(hunk: string): string {
  if (hunk.length <= MAX_HUNK_CHARS) return hunk;
  return hunk.slice(0, hunk.lastIndexOf("\n", MAX_HUNK_CHARS - 1) + 1);
}

/** A copy that does not hold a whole piece alive, as a slice would. */
function unpinned(text: string): string {
  return (" " + text).slice(1);
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
    inBinary: false,
    room: Infinity,
    full: false,
    kept: [],
    held: [],
    cut: "",
  };
}

/** `Binary files A and B differ` without a header before it (GNU diff -r), `Binary file A has changed` (hg). */
function binaryDraft(content: string, line: number, bytes: boolean): Draft | undefined {
  const names = /^Binary files (.*) differ$/.exec(content)?.[1];
  const path = names === undefined
    ? /^Binary file (.*) has changed$/.exec(content)?.[1]
    : pathInHeader(names, bytes, " and ");
  if (path === undefined) return undefined;
  const draft = newDraft("plain", line, "");
  draft.to = draft.from = path;
  draft.file.binary = draft.changed = true;
  return draft;
}

/** The lines between `diff --git` and `---` (git-diff, "Generating patch text with -p"). */
function readExtendedHeader(content: string, draft: Draft, bytes: boolean): boolean {
  const { file } = draft;
  const after = (words: string) => content.startsWith(words) ? content.slice(words.length) : undefined;
  let value: string | undefined;
  if ((value = after("index ")) !== undefined) {
    const mode = /^[0-9a-f,]+\.\.[0-9a-f]+ (\d+)$/.exec(value)?.[1];
    if (mode) file.oldMode = file.newMode = mode;
  } else if ((value = after("old mode ")) !== undefined) file.oldMode = value;
  else if ((value = after("new mode ")) !== undefined) file.newMode = value;
  else if ((value = after("new file mode ")) !== undefined) [file.status, file.newMode] = ["added", value];
  else if ((value = after("deleted file mode ")) !== undefined) [file.status, file.oldMode] = ["deleted", value];
  else if ((value = after("rename from ") ?? after("copy from ")) !== undefined) {
    file.status = content.startsWith("rename") ? "renamed" : "copied";
    draft.from = readName(value, bytes).name;
  } else if ((value = after("rename to ") ?? after("copy to ")) !== undefined) draft.to = readName(value, bytes).name;
  else if (!/^(dis)?similarity index \d+%$/.test(content) && !content.startsWith("mode ")) return false;
  draft.changed = true;
  return true;
}

/** Path, old path and status of a file, from the most reliable line that says them. */
function nameFile(draft: Draft, firstHunk: Hunk | undefined, bytes: boolean): void {
  const { file, from, to } = draft;
  const noOldLines = firstHunk === undefined || (firstHunk.oldStart === 0 && firstHunk.oldLines === 0);
  const noNewLines = firstHunk === undefined || (firstHunk.newStart === 0 && firstHunk.newLines === 0);
  if (draft.oldMissing && noOldLines) file.status = "added";
  if (draft.newMissing && noNewLines) file.status = "deleted";
  if (from !== undefined && to !== undefined) {
    file.path = to;
    if (from !== to) file.oldPath = from;
  } else if (draft.kind === "submodule") file.path = bytes ? decodeUtf8(draft.header) : draft.header;
  else file.path = pathOf(draft, bytes);
}

function pathOf({ kind, header, oldName, newName }: Draft, bytes: boolean): string {
  const [old, now] = [oldName, newName].map((name) => name === NO_FILE ? undefined : name);
  if (old !== undefined && now !== undefined) return stripPrefixes(old, now).now;
  const inHeader = kind === "git"
    ? pathInHeader(header, bytes)
    : kind === "plain"
    ? undefined
    : readName(header, bytes).name;
  const one = old ?? now;
  if (one === undefined) return inHeader ?? readName(header, bytes).name;
  if (inHeader !== undefined && one.endsWith(inHeader)) return inHeader;
  return old === undefined ? one.replace(/^b\//, "") : one.replace(/^a\//, "");
}

/** Reads `@@ -1,2 +3,4 @@ section`; an omitted count is 1. `undefined` if it is none. */
function readHunkHeader(content: string): Hunk | undefined {
  const match = /^@@ -(\d{1,20})(?:,(\d{1,20}))? \+(\d{1,20})(?:,(\d{1,20}))? @@(?: (.*))?$/s.exec(content);
  return match ? newHunk(match[1]!, match[2], match[3]!, match[4], match[5]) : undefined;
}

function newHunk(oldStart: string, oldLines = "1", newStart: string, newLines = "1", section = ""): Hunk {
  return {
    oldStart: Number(oldStart),
    oldLines: Number(oldLines),
    newStart: Number(newStart),
    newLines: Number(newLines),
    section,
    additions: 0,
    deletions: 0,
    start: 0,
    end: 0,
    lines: 1,
  };
}

/** Reads `@@@ -1,2 -1,2 +3,4 @@@ section` of a combined diff with any number of parents. */
function readCombinedHeader(content: string): { hunk: Hunk; left: number[] } | undefined {
  const match = /^(@{3,}) ((?:-\d{1,20}(?:,\d{1,20})? )+)\+(\d{1,20})(?:,(\d{1,20}))? @{3,}(?: (.*))?$/s.exec(content);
  if (!match) return undefined;
  const old = match[2]!.trim().split(" ").map((range) => range.slice(1).split(","));
  if (old.length !== match[1]!.length - 1) return undefined;
  return {
    hunk: newHunk(old[0]![0]!, old[0]![1], match[3]!, match[4], match[5]),
    left: old.map(([, lines]) => Number(lines ?? "1")),
  };
}

/** A line of a `GIT binary patch`: the size of a block, base 85 with its length before it, the line that ends a block. */
function isBinaryData(content: string): boolean {
  return content === "" || /^(literal|delta) \d+$/.test(content) || /^[A-Za-z][!-~]{1,65}$/.test(content);
}

/** Counts the UTF-16 units of UTF-8 that comes in pieces (WHATWG Encoding, "UTF-8 decoder"). */
class UnitCounter {
  #needed = 0;
  #lower = 0x80;
  #upper = 0xbf;
  #units = 0;

  /** Units of the bytes from one position to another; those of a character that is not whole come with its end. */
  count(bytes: string, from: number, to: number): number {
    let units = 0;
    let needed = this.#needed;
    for (let i = from; i < to; i++) {
      const byte = bytes.charCodeAt(i);
      if (needed === 0) {
        if (byte < 0x80) units++;
        else needed = this.#lead(byte);
        if (needed < 0) {
          units++;
          needed = 0;
        }
      } else if (byte < this.#lower || byte > this.#upper) {
        units++; // U+FFFD for what came so far; this byte is looked at again
        needed = 0;
        i--;
      } else {
        this.#lower = 0x80;
        this.#upper = 0xbf;
        if (--needed === 0) units += this.#units;
      }
    }
    this.#needed = needed;
    return units;
  }

  /** Units of a character that the end of the text has cut. */
  flush(): number {
    const units = this.#needed > 0 ? 1 : 0;
    this.#needed = 0;
    return units;
  }

  /** How many bytes follow a first byte; -1 if none can. */
  #lead(byte: number): number {
    this.#lower = byte === 0xe0 ? 0xa0 : byte === 0xf0 ? 0x90 : 0x80;
    this.#upper = byte === 0xed ? 0x9f : byte === 0xf4 ? 0x8f : 0xbf;
    this.#units = byte >= 0xf0 ? 2 : 1;
    if (byte >= 0xc2 && byte <= 0xdf) return 1;
    if (byte >= 0xe0 && byte <= 0xef) return 2;
    return byte >= 0xf0 && byte <= 0xf4 ? 3 : -1;
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

/** A string with one character a byte, decoded as UTF-8; what is not UTF-8 becomes U+FFFD. */
function decodeUtf8(bytes: string): string {
  return UTF8.decode(toBytes(bytes));
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

/**
 * Reads the name at the beginning of a text: C-quoted (core.quotePath in git-config), else up to a TAB or the end.
 *
 * @param bytes Whether each character of the text is a byte of UTF-8.
 */
function readName(text: string, bytes: boolean): ReadName {
  if (!text.startsWith('"')) {
    const tab = text.indexOf("\t");
    const name = tab < 0 ? text : text.slice(0, tab);
    return { name: bytes ? decodeUtf8(name) : name, rest: tab < 0 ? "" : text.slice(tab + 1) };
  }
  const encoder = new TextEncoder();
  let raw = "";
  let i = 1;
  for (; i < text.length && text[i] !== '"'; i++) {
    const char = text[i]!;
    if (char === "\\") {
      const octal = /^[0-3][0-7]{2}/.exec(text.slice(i + 1, i + 4))?.[0];
      if (octal) raw += String.fromCharCode(parseInt(octal, 8));
      else raw += ESCAPES[text[i + 1] ?? ""] ?? text[i + 1] ?? "";
      i += octal ? 3 : 1;
    } else if (bytes || char < "\x80") {
      raw += char;
    } else {
      const whole = String.fromCodePoint(text.codePointAt(i)!);
      raw += latin1(encoder.encode(whole));
      i += whole.length - 1;
    }
  }
  return { name: decodeUtf8(raw), rest: text.slice(i + 1) };
}

/** The letters git puts before a path: `a/` and `b/`, and those of diff.mnemonicPrefix. */
const LETTERS = /^[abciow12]\//;

/**
 * The old and the new path in two names of one file, without the prefixes that a tool puts before them; none is assumed.
 *
 * @returns The two paths, which are the same unless the names cannot be brought together.
 */
function stripPrefixes(old: string, now: string): { old: string; now: string; agree: boolean } {
  if (old === now) return { old, now, agree: true };
  if (LETTERS.test(old) && LETTERS.test(now) && old[0] !== now[0]) {
    const [p, q] = [old.slice(2), now.slice(2)];
    if (p !== "" && q !== "") return { old: p, now: q, agree: p === q };
  }
  const path = commonPath(old, now);
  return path === undefined ? { old, now, agree: false } : { old: path, now: path, agree: true };
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
function pathInHeader(header: string, bytes: boolean, separator = " "): string | undefined {
  if (header.startsWith('"')) {
    const { name, rest } = readName(header, bytes);
    if (!rest.startsWith(separator)) return undefined;
    return agreed(name, readName(rest.slice(separator.length), bytes).name);
  }
  const middle = (header.length - separator.length) / 2;
  const at = (index: number) => {
    const [old, now] = [header.slice(0, index), header.slice(index + separator.length)];
    if (now.startsWith('"')) return agreed(bytes ? decodeUtf8(old) : old, readName(now, bytes).name);
    return agreed(bytes ? decodeUtf8(old) : old, bytes ? decodeUtf8(now) : now);
  };
  // Both names have the same length unless the prefixes differ in theirs.
  if (Number.isInteger(middle) && header.startsWith(separator, middle)) {
    const path = at(middle);
    if (path !== undefined) return path;
  }
  let index = header.indexOf(separator);
  for (let tries = 0; index >= 0 && tries < MAX_SPLITS; tries++) {
    const path = at(index);
    if (path !== undefined) return path;
    index = header.indexOf(separator, index + 1);
  }
  return undefined;
}

function agreed(old: string, now: string): string | undefined {
  const names = stripPrefixes(old, now);
  return names.agree ? names.now : undefined;
}
