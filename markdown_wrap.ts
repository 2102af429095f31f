/**
 * Styled text as it streams, wrapped to a width: what to write to the terminal, and never anything to take back.
 *
 * Text is given out at once, except an unfinished word near the end of the line: until its end is known it may have to go
 * to the next one. {@linkcode ROOM} says how near. A word that was begun with that much room and does not fit is broken at
 * the edge. Where paths are links, a word waits for its end wherever it stands, since the link begins before it.
 *
 * Every piece carries its own escape codes and ends them, so that nothing printed between two pieces, or after the last,
 * is styled by accident. A line's prefix is written with its first text.
 *
 * @module
 */

import { STYLE } from "./markdown_inline.ts";
import { charWidth } from "./text.ts";

/** The address of a path and line, where there is one to link to. */
export type LinkResolver = (path: string, line: number) => string | undefined;

/** Writes text in a style, a sum of {@linkcode STYLE}. */
export type Paint = (text: string, style: number) => string;

/** What stands before a line's text. Only spaces at its end are unpainted. */
export interface Prefix {
  /** With its escape codes. */
  text: string;
  /** Its columns. */
  width: number;
}

/** A line as it is written, and its columns. */
export interface WrappedLine {
  /** With its escape codes. */
  text: string;
  /** Its columns. */
  width: number;
}

/** Options for {@linkcode Wrapper}. */
export interface WrapperOptions {
  /** Columns of a line. */
  columns: number;
  /** How its styles are written. */
  paint: Paint;
  /** The addresses that words link to. @default none */
  links?: LinkResolver | undefined;
}

/** Room in which a word is begun without knowing its end, in columns: longer words are rare, and are then broken. */
export const ROOM = 40;

/** Longest word that may be a link, in characters: so much is held at most. */
const MAX_LINK = 256;

/** Columns of a tab stop in code. */
const TAB = 4;

const EMOJI_SELECTOR = "\ufe0f";
const NARROW = /^[\x20-\x7e]*$/;

/** A path and a line, maybe a range; the line is the first group. */
const PATH_AND_LINE = /[^\s:`'"()<>[\]{},;|]+:(\d{1,9})(?:[-–:]\d+)?/gu;

/** What may stand in an address that is written to a terminal. */
const ADDRESS = /^[\x21-\x7e]+$/;

/** Characters between which a line may be broken without a space. */
const IDEOGRAPH = /[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\u3000-\u303f\uff01-\uff60]/u;
/** Of those and their neighbours: what starts no line, and what ends none. */
const STARTS_NO_LINE = /[\p{Pe}\p{Pf}!%,.:;?、。！％，．：；？・ー々〜…‥]/u;
const ENDS_NO_LINE = /[\p{Ps}\p{Pi}]/u;

/**
 * The parameters of ECMA-48's SGR that start and end each style. They are not taken from `@std/fmt/colors`, which gives none
 * in Deno where NO_COLOR is set, also to who asks for `--color=always`, and has one switch for the whole process.
 */
const CODES: [style: number, start: string, end: string][] = [
  [STYLE.heading, "1;35", "22;39"], // bold, magenta
  [STYLE.bold, "1", "22"],
  [STYLE.italic, "3", "23"],
  [STYLE.strike, "9", "29"],
  [STYLE.dim, "2", "22"],
  [STYLE.code, "36", "39"], // cyan
  [STYLE.link, "4;34", "24;39"], // underlined, blue
  [STYLE.added, "32", "39"], // green
  [STYLE.removed, "31", "39"], // red
  [STYLE.hunk, "36", "39"], // cyan
];

/** A function that writes text in a style; without colour it writes the text alone. */
export function painter(color: boolean): Paint {
  if (!color) return (text) => text;
  const known = new Map<number, { start: string; end: string }>();
  return (text, style) => {
    if (style === 0) return text;
    let code = known.get(style);
    if (code === undefined) known.set(style, code = codeOf(style));
    return code.start + text + code.end;
  };
}

function codeOf(style: number): { start: string; end: string } {
  const parts = CODES.filter(([part]) => (style & part) !== 0);
  const ends = new Set(parts.flatMap(([, , end]) => end.split(";")));
  return { start: `\x1b[${parts.map(([, start]) => start).join(";")}m`, end: `\x1b[${[...ends].join(";")}m` };
}

interface Piece {
  text: string;
  style: number;
}

/** Lines of one width; their text comes in pieces. */
export class Wrapper {
  /** Columns of a line. */
  columns: number;
  readonly #paint: Paint;
  readonly #links: LinkResolver | undefined;
  #out = "";
  /** Columns of the lines that ended in `#out`. */
  #widths: number[] = [];
  /** Text of one style and address that is not in `#out` yet. */
  #run: Piece & { address: string } = { text: "", style: 0, address: "" };

  /** What is to be written before the line's first text, and before the first text of the next one. */
  #prefix = "";
  #nextPrefix: Prefix = { text: "", width: 0 };
  #column = 0;
  /** Where the line's text starts. */
  #indent = 0;
  #isEmpty = true;
  /** The last character written. */
  #last = "";

  /** The space before the word. */
  #space: Piece = { text: "", style: 0 };
  /** The word being read: held, or placed and written as it comes. */
  #word: Piece[] = [];
  #wordWidth = 0;
  #wordLength = 0;
  #isPlaced = false;
  /** The last character read, nothing after a space. */
  #before = "";

  /** Starts without a prefix. */
  constructor({ columns, paint, links }: WrapperOptions) {
    this.columns = columns;
    this.#paint = paint;
    this.#links = links;
  }

  /** The column that the next text is written at, from 0. */
  get column(): number {
    return this.#prefix === "" ? this.#column : 0;
  }

  /** Starts a line; `next` stands before those that it is wrapped to. */
  startLine(first: Prefix, next: Prefix): void {
    this.#prefix = first.text;
    this.#column = this.#indent = first.width;
    this.#nextPrefix = next;
  }

  /** Adds text, wrapped between words. */
  text(text: string, style: number): void {
    for (const [token] of text.matchAll(/[ \t\n]+|[^ \t\n]+/g)) {
      if (/^[ \t\n]/.test(token)) this.#addSpace(token, style);
      else this.#addWord(token, style);
    }
  }

  /** Adds code: every space counts, and a line is broken at the edge. */
  code(text: string, style: number): void {
    text.split("\t").forEach((part, index) => {
      if (index > 0) this.#write(" ".repeat(TAB - (this.#column - this.#indent) % TAB), style);
      this.#write(part, style);
    });
  }

  /** Adds text that is painted already and fits. */
  painted({ text, width }: WrappedLine): void {
    this.#put("", 0, "");
    this.#endRun();
    this.#out += text;
    this.#column += width;
    this.#isEmpty = false;
  }

  /** Ends the line. */
  endLine(): void {
    this.#endWord();
    this.#before = "";
    this.#last = "";
    this.#nextPrefix = { text: "", width: 0 };
    this.#break();
  }

  /** What is to be written since this was last asked. */
  take(): string {
    this.#endRun();
    const out = this.#out;
    this.#out = "";
    this.#widths = [];
    return out;
  }

  /** {@linkcode take} as lines, each with its width. */
  takeLines(): WrappedLine[] {
    const widths = this.#widths;
    return this.take().split("\n").slice(0, -1).map((text, index) => ({ text, width: widths[index] ?? 0 }));
  }

  #addSpace(space: string, style: number): void {
    this.#endWord();
    this.#before = "";
    if (this.#isEmpty) return;
    const { text } = this.#space;
    if (text === "") this.#space.style = style;
    if ((style & STYLE.code) !== 0) this.#space.text += " ".repeat(space.length);
    else if (text === "") this.#space.text = " ";
  }

  #addWord(token: string, style: number): void {
    if (NARROW.test(token)) return this.#addUnbroken(token, style, token.length, token[0] ?? "", token.at(-1) ?? "");
    for (const char of token) this.#addUnbroken(char, style, charWidth(char, this.#before), char, char);
  }

  #addUnbroken(text: string, style: number, width: number, first: string, last: string): void {
    if (width > 0 && mayBreak(this.#before, first)) this.#endWord();
    this.#before = last;
    if (this.#isPlaced) return this.#write(text, style);
    const piece = this.#word.at(-1);
    if (piece?.style === style) piece.text += text;
    else this.#word.push({ text, style });
    this.#wordWidth += width;
    this.#wordLength += text.length;
    if (this.#links && this.#wordLength <= MAX_LINK) return;
    const room = this.#room();
    if (this.#isEmpty || room >= ROOM || this.#wordWidth > room) this.#place();
  }

  /** Columns that the line has for the word. */
  #room(): number {
    return this.columns - this.#column - this.#space.text.length;
  }

  #endWord(): void {
    if (!this.#isPlaced && this.#word.length > 0) this.#place();
    this.#word = [];
    this.#wordWidth = 0;
    this.#wordLength = 0;
    this.#isPlaced = false;
  }

  /** Writes the word as far as it is known, on this line or the next. */
  #place(): void {
    const room = this.#room();
    if (!this.#isEmpty && room < ROOM && this.#wordWidth > room) this.#break();
    if (this.#space.text !== "") this.#write(this.#space.text, this.#space.style);
    this.#space = { text: "", style: 0 };
    this.#isPlaced = true;
    const links = this.#wordLength <= MAX_LINK ? this.#links : undefined;
    for (const { text, style, address } of linked(this.#word, links)) this.#write(text, style, address);
  }

  /** Writes text where the line stands, broken at the edge. */
  #write(text: string, style: number, address = ""): void {
    if (!NARROW.test(text)) {
      for (const char of text) this.#writeChar(char, style, address);
      return;
    }
    for (let at = 0; at < text.length;) {
      if (this.#column >= this.columns && !this.#isEmpty) this.#break();
      const piece = text.slice(at, at + Math.max(1, this.columns - this.#column));
      this.#put(piece, style, address);
      this.#column += piece.length;
      this.#isEmpty = false;
      at += piece.length;
    }
    this.#last = text.at(-1) ?? this.#last;
  }

  #writeChar(char: string, style: number, address: string): void {
    const width = charWidth(char, this.#last);
    if (width > 0 && this.#column + width > this.columns && !this.#isEmpty) {
      if (char === EMOJI_SELECTOR) return; // it would widen a character that has been written: this one stays narrow
      this.#break();
    }
    this.#put(char, style, address);
    this.#column += width;
    this.#isEmpty = false;
    this.#last = char;
  }

  #put(text: string, style: number, address: string): void {
    if (this.#run.style !== style || this.#run.address !== address) this.#endRun();
    if (this.#prefix !== "") this.#out += this.#prefix;
    this.#prefix = "";
    this.#run.style = style;
    this.#run.address = address;
    this.#run.text += text;
  }

  #endRun(): void {
    const { text, style, address } = this.#run;
    if (text === "") return;
    const painted = this.#paint(text, style);
    this.#out += address === "" ? painted : `\x1b]8;;${address}\x1b\\${painted}\x1b]8;;\x1b\\`;
    this.#run.text = "";
  }

  #break(): void {
    this.#endRun();
    this.#out += `${this.#prefix.trimEnd()}\n`;
    this.#widths.push(this.#column);
    this.#prefix = this.#nextPrefix.text;
    this.#column = this.#indent = this.#nextPrefix.width;
    this.#isEmpty = true;
    this.#space = { text: "", style: 0 };
  }
}

function mayBreak(before: string, char: string): boolean {
  if (before === "" || (before < "\u2e80" && char < "\u2e80")) return false;
  return (IDEOGRAPH.test(before) || IDEOGRAPH.test(char)) && !ENDS_NO_LINE.test(before) && !STARTS_NO_LINE.test(char);
}

/** A word's pieces, with the address of each path and line in it. */
function linked(word: readonly Piece[], links: LinkResolver | undefined): (Piece & { address: string })[] {
  const text = links ? word.map((piece) => piece.text).join("") : "";
  const found = Array.from(text.matchAll(PATH_AND_LINE), (match) => {
    const [whole, line = ""] = match;
    const address = links?.(whole.slice(0, whole.indexOf(":")), Number(line)) ?? "";
    return { start: match.index, end: match.index + whole.length, address: ADDRESS.test(address) ? address : "" };
  });
  const pieces: (Piece & { address: string })[] = [];
  let at = 0;
  for (const { text, style } of word) {
    const end = at + text.length;
    const edges = [
      at,
      ...found.flatMap(({ start, end }) => [start, end]).filter((edge) => edge > at && edge < end),
      end,
    ];
    for (let index = 1; index < edges.length; index++) {
      const [from = at, to = end] = edges.slice(index - 1, index + 1);
      const address = found.find(({ start, end }) => start <= from && to <= end)?.address ?? "";
      pieces.push({ text: text.slice(from - at, to - at), style, address });
    }
    at = end;
  }
  return pieces;
}
