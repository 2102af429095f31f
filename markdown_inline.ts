/**
 * Inline Markdown as it streams: text with its style, as soon as it is certain.
 *
 * It follows CommonMark where that can be known while the text comes, and else loses no text:
 *
 * - `**` shows bold at once. It opens only where it can hardly be anything else (not in `2**3` or `**` + `/`), closes on
 *   any `**` behind text, and ends with the block at the latest.
 * - `*`, `_` and `~~` are marks only where their closing mark follows on the same line, at most {@linkcode LOOKAHEAD}
 *   characters on; until that is known they wait. So `int *p`, `*.ts` and `_x` stay as they are. `__` is never a mark.
 * - A link is shown as it is written, its target in the style of a link: nobody's text hides where a link goes.
 *
 * @module
 */

/** How a piece of text looks: a sum of these. */
export const STYLE = {
  bold: 1,
  italic: 2,
  strike: 4,
  code: 8,
  link: 16,
  heading: 32,
  dim: 64,
  added: 128,
  removed: 256,
  hunk: 512,
} as const;

/** Takes a piece of text and its style. */
export type Sink = (text: string, style: number) => void;

/** How far ahead the closing mark of `*`, `_` and `~~` is looked for, in characters. */
export const LOOKAHEAD = 80;

/** A longer run of the same mark is text, in characters: it need not be held to be counted. */
const MAX_RUN = 32;

const SPECIAL = /[\\`*_~[\]&]/g;
const URL_SPECIAL = /[()\s]/g;
const SPACE = /\s/;
/** What stands in a word, in the scripts that part words by spaces: a mark between two of them is none. */
const WORD = /[\p{sc=Latn}\p{sc=Grek}\p{sc=Cyrl}\p{N}_]/u;
const PUNCTUATION = /[!-/:-@[-`{-~]/;

/** What `**` before it is no mark: the rest of a glob, or the end of something. */
const NOT_BOLD = /[/)\]},;]/;

/** Behind what a mark closes nothing: space, and a path whose glob goes on. */
const NOT_CLOSING = /[\s/]/;

const ENTITIES: Record<string, string> = {
  "&lt;": "<",
  "&gt;": ">",
  "&amp;": "&",
  "&quot;": '"',
  "&#39;": "'",
  "&nbsp;": "\u00a0",
};

/** Inline Markdown of one block after the other, line by line. */
export class InlineParser {
  /** Style of all text, beside what its marks say. */
  base = 0;
  readonly #sink: Sink;
  #held = "";
  #before = "\n";
  /** The mark of which a run too long to be one is being read. */
  #overlong = "";
  #bold = false;
  /** Backticks that opened the code span being read, 0 outside. */
  #ticks = 0;
  #brackets = 0;
  /** Open parentheses of the link target being read, 0 outside. */
  #parens = 0;

  /** Starts a block, in no style. */
  constructor(sink: Sink) {
    this.#sink = sink;
  }

  /** Takes more of the line; what is certain goes to the sink. */
  write(piece: string): void {
    this.#held = this.#parse(this.#held + this.#skipOverlong(piece), 0, false);
  }

  /** The line is complete. Bold and code go on in the next line of the block. */
  endLine(): void {
    this.#parse(this.#held, 0, true);
    this.#held = "";
    this.#before = "\n";
    this.#overlong = "";
    this.#parens = 0;
  }

  /** The block is complete: whatever was opened in it is closed. */
  endBlock(): void {
    this.#bold = false;
    this.#ticks = 0;
    this.#brackets = 0;
  }

  /** Parses as far as it can be known; gives back the rest, which is short. */
  #parse(text: string, style: number, complete: boolean): string {
    for (let at = 0; at < text.length;) {
      const mark = this.#nextMark(text, at);
      if (mark > at) this.#emit(text, at, mark, style);
      if (mark === text.length) break;
      const next = this.#read(text, mark, style, complete);
      if (next === undefined) return text.slice(mark);
      this.#before = text[next - 1] ?? this.#before;
      at = next;
    }
    return "";
  }

  /** Shows what goes on a run too long to be a mark; gives back what follows it. */
  #skipOverlong(piece: string): string {
    if (this.#overlong === "" || piece === "") return piece;
    const end = piece.startsWith(this.#overlong) ? runEnd(piece, 0) : 0;
    this.#emit(piece, 0, end, 0);
    if (end < piece.length) this.#overlong = "";
    return piece.slice(end);
  }

  #nextMark(text: string, at: number): number {
    if (this.#ticks > 0) {
      const tick = text.indexOf("`", at);
      return tick < 0 ? text.length : tick;
    }
    const marks = this.#parens > 0 ? URL_SPECIAL : SPECIAL;
    marks.lastIndex = at;
    return marks.exec(text)?.index ?? text.length;
  }

  #emit(text: string, from: number, to: number, style: number): void {
    const more = (this.#bold ? STYLE.bold : 0) | (this.#ticks > 0 ? STYLE.code : 0) |
      (this.#parens > 0 ? STYLE.link : 0);
    if (to > from) this.#sink(text.slice(from, to), this.base | style | more);
    this.#before = text[to - 1] ?? this.#before;
  }

  /** Reads the mark at a position: the position behind it, or nothing where more text must tell. */
  #read(text: string, at: number, style: number, complete: boolean): number | undefined {
    const mark = text[at] ?? "";
    if (this.#parens > 0) return this.#readTarget(text, at, style);
    if (mark === "\\") return this.#readEscape(text, at, style, complete);
    if (mark === "&") return this.#readEntity(text, at, style, complete);
    if (mark === "[" || mark === "]") return this.#readBracket(text, at, style, complete);
    const end = runEnd(text, at);
    if (end - at > MAX_RUN) {
      if (end === text.length && !complete) this.#overlong = mark;
      return this.#literal(text, at, end, style);
    }
    if (end === text.length && !complete) return undefined;
    if (mark === "`") return this.#readTicks(text, at, end, style);
    if (mark === "*" && end - at > 1) return this.#readBold(text, at, end, style);
    return this.#readSpan(text, at, end, style, complete);
  }

  #literal(text: string, at: number, end: number, style: number): number {
    this.#emit(text, at, end, style);
    return end;
  }

  #readEscape(text: string, at: number, style: number, complete: boolean): number | undefined {
    if (at + 1 === text.length && !complete) return undefined;
    if (!PUNCTUATION.test(text[at + 1] ?? "")) return this.#literal(text, at, at + 1, style);
    return this.#literal(text, at + 1, at + 2, style);
  }

  #readEntity(text: string, at: number, style: number, complete: boolean): number | undefined {
    const rest = text.slice(at, at + 6);
    for (const [entity, character] of Object.entries(ENTITIES)) {
      if (rest.startsWith(entity)) {
        this.#emit(character, 0, character.length, style);
        return at + entity.length;
      }
      if (!complete && entity.startsWith(rest)) return undefined;
    }
    return this.#literal(text, at, at + 1, style);
  }

  #readBracket(text: string, at: number, style: number, complete: boolean): number | undefined {
    if (text[at] === "[") {
      this.#brackets++;
      return this.#literal(text, at, at + 1, style);
    }
    if (at + 1 === text.length && !complete) return undefined;
    const isLink = this.#brackets > 0 && text[at + 1] === "(";
    this.#brackets = Math.max(0, this.#brackets - 1);
    const end = this.#literal(text, at, isLink ? at + 2 : at + 1, style);
    this.#parens = isLink ? 1 : 0;
    return end;
  }

  /** A parenthesis or a space in a link's target, which ends with the parenthesis of its own or with a space. */
  #readTarget(text: string, at: number, style: number): number {
    const char = text[at];
    const parens = char === "(" ? this.#parens + 1 : char === ")" ? this.#parens - 1 : 0;
    if (parens === 0) this.#parens = 0;
    const end = this.#literal(text, at, at + 1, style);
    this.#parens = parens;
    return end;
  }

  #readTicks(text: string, at: number, end: number, style: number): number {
    if (this.#ticks === end - at) {
      this.#ticks = 0;
      return end;
    }
    if (this.#ticks > 0) return this.#literal(text, at, end, style);
    this.#ticks = end - at;
    // The space that only parts the mark from a backtick (CommonMark, "Code spans")
    return this.#ticks > 1 && text[end] === " " ? end + 1 : end;
  }

  #readBold(text: string, at: number, end: number, style: number): number {
    if (end - at > 3) return this.#literal(text, at, end, style);
    const after = text[end] ?? "\n";
    if (this.#bold && !SPACE.test(this.#before)) this.#bold = false;
    else if (!this.#bold && this.#mayOpen(after) && !NOT_BOLD.test(after)) this.#bold = true;
    else return this.#literal(text, at, end, style);
    return at + 2; // the third of `***` is read as a mark of its own
  }

  /** Reads `*`, `_` or `~~` with all it spans. */
  #readSpan(text: string, at: number, end: number, style: number, complete: boolean): number | undefined {
    const mark = text.slice(at, end);
    const isMark = mark === "*" || mark === "_" || mark === "~~";
    if (!isMark || !this.#mayOpen(text[end] ?? "\n")) return this.#literal(text, at, end, style);
    const close = findClose(text, end, mark, complete);
    if (close === undefined) return undefined;
    if (close < 0) return this.#literal(text, at, end, style);
    this.#before = mark;
    this.#parse(text.slice(end, close), style | (mark === "~~" ? STYLE.strike : STYLE.italic), true);
    return close + mark.length;
  }

  #mayOpen(after: string): boolean {
    return !SPACE.test(after) && !WORD.test(this.#before) && this.#before !== ")" && this.#before !== "]";
  }
}

/** Where the run of the same character ends that starts at a position. */
function runEnd(text: string, at: number): number {
  let end = at + 1;
  while (end < text.length && text[end] === text[at]) end++;
  return end;
}

/**
 * Where the mark stands that closes one, from the text behind that: -1 where none does within LOOKAHEAD, nothing where
 * more text must tell. What is escaped or in a code span closes nothing.
 */
function findClose(text: string, from: number, mark: string, complete: boolean): number | undefined {
  const limit = from + LOOKAHEAD;
  const unknown = complete ? -1 : undefined;
  for (let at = from; at < limit;) {
    const char = text[at];
    if (char === undefined) return unknown;
    const end = char === "`" || char === mark[0] ? runEnd(text, at) : at + (char === "\\" ? 2 : 1);
    if (char === mark[0]) {
      if (end === text.length && end - at <= MAX_RUN && !complete) return undefined;
      if (closes(text, at, end, mark)) return at;
    }
    const next = char === "`" ? endOfCode(text, end, end - at, limit, complete) : end;
    if (next === undefined) return text.length > limit + MAX_RUN ? -1 : unknown;
    at = next;
  }
  return -1;
}

function closes(text: string, at: number, end: number, mark: string): boolean {
  const run = end - at;
  const isMark = mark === "*" ? run === 1 || run === 3 : run === mark.length;
  return isMark && !NOT_CLOSING.test(text[at - 1] ?? " ") && (mark === "~~" || !WORD.test(text[end] ?? "\n"));
}

/** Where a code span ends that was opened with so many backticks, if its end is sure and starts before `limit`. */
function endOfCode(text: string, from: number, ticks: number, limit: number, complete: boolean): number | undefined {
  for (let at = text.indexOf("`", from); at >= 0 && at < limit; at = text.indexOf("`", at)) {
    const end = runEnd(text, at);
    if (end - at === ticks && (end < text.length || complete)) return end;
    at = end;
  }
  return undefined;
}
