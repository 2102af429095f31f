/**
 * Text for a terminal: control characters made visible, columns counted, lines clipped.
 *
 * @module
 */

import { eastAsianWidth } from "get-east-asian-width";

/** Nothing to make visible in it: most text. */
const HARMLESS = /^[\n\t\x20-\x7e]*$/;

/** Scripts in which a joiner behind a letter changes how a word is written. */
const JOINING = "Arab Syrc Deva Beng Guru Gujr Orya Taml Telu Knda Mlym Sinh Khmr Mymr".split(" ").map((name) =>
  `\\p{sc=${name}}`
).join("");

/**
 * Invisible characters that stay, since the text would be wrong without them and they cannot stand alone: the joiner and
 * the selector behind an emoji, the selector behind a keycap's digit, the joiners behind a letter that may need them.
 */
const NEEDED = [
  String.raw`(?<=\p{Extended_Pictographic}[\ufe0f\u{1f3fb}-\u{1f3ff}]?)\u200d`,
  String.raw`(?<=[\p{Extended_Pictographic}0-9#*])[\ufe0e\ufe0f]`,
  `(?<=[${JOINING}])[\\u200c\\u200d]`,
].join("|");

/**
 * What could drive a terminal or hide in it: controls (C0 without `\n` and `\t`, DEL, C1), line separators, annotation
 * marks, and all that Unicode says to show as nothing (bidi controls, zero-width characters, tags, selectors, fillers).
 */
const HIDDEN = new RegExp(
  String.raw`\r\n?|(?![\n\t])\p{Cc}|[\u2028\u2029\ufff9-\ufffb]|(?!${NEEDED})\p{Default_Ignorable_Code_Point}`,
  "gu",
);

/** How many UTF-16 units HIDDEN looks back: an emoji and a modifier, both outside the basic plane. */
const LOOKS_BACK = 4;

/**
 * Text that is safe on a terminal, whoever wrote it.
 *
 * C0 controls except `\n` and `\t` become control pictures (ESC is `␛`), DEL `␡`; C1 controls, bidirectional controls,
 * zero-width and other invisible format characters become `<U+202E>`. CRLF is LF, a lone CR is `␍`, an unpaired surrogate
 * U+FFFD. What comes in pieces goes through {@linkcode VisibleStream}.
 *
 * ```ts
 * import { visible } from "./text.ts";
 * console.log(visible("\x1b[2Jgone")); // ␛[2Jgone
 * ```
 */
export function visible(text: string): string {
  return HARMLESS.test(text) ? text : text.toWellFormed().replace(HIDDEN, picture);
}

function picture(hidden: string): string {
  if (hidden === "\r\n") return "\n";
  const code = hidden.codePointAt(0) ?? 0;
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  if (code === 0x7f) return "\u2421";
  return `<U+${code.toString(16).toUpperCase().padStart(4, "0")}>`;
}

/**
 * {@linkcode visible} for text that comes in pieces, cut anywhere. All pieces give the same text as the whole: a CR and the
 * first half of a surrogate pair wait for what follows them, and the last characters are remembered for the joiners.
 */
export class VisibleStream {
  #held = "";
  #before = "";

  /** The visible form of what is certain now. */
  write(piece: string): string {
    const text = this.#held + piece;
    const last = text.charCodeAt(text.length - 1);
    const cut = last === 0x0d || (last >= 0xd800 && last <= 0xdbff) ? text.length - 1 : text.length;
    this.#held = text.slice(cut);
    return this.#show(text.slice(0, cut));
  }

  /** What was still held, at the end of the text. */
  end(): string {
    const held = this.#held;
    this.#held = "";
    return this.#show(held);
  }

  #show(text: string): string {
    const before = this.#before;
    if (text.length > 0) this.#before = (before + text).slice(-LOOKS_BACK);
    return HARMLESS.test(text) ? text : visible(before + text).slice(visible(before).length);
  }
}

/** One column a character: most lines. */
const NARROW = /^[\x20-\x7e]*$/;

/** Marks, joiners, selectors, and the vowels and finals that join a Hangul syllable: they take no column. */
const NO_COLUMN = /^[\p{Mn}\p{Me}\p{Default_Ignorable_Code_Point}\u1160-\u11ff\ud7b0-\ud7ff]/u;
const PICTOGRAPH = /^\p{Extended_Pictographic}/u;
const KEYCAP = /^[0-9#*]/;
const JOINER = "\u200d";
const EMOJI_SELECTOR = 0xfe0f;

/**
 * Columns that a character adds to a line, given the character before it.
 *
 * @param char One character (a whole surrogate pair where it is one).
 * @param before The character before it, or nothing at the start.
 */
export function charWidth(char: string, before = ""): number {
  const code = char.codePointAt(0) ?? 0;
  if (code < 0x300) return code < 0x20 || (code >= 0x7f && code < 0xa0) || code === 0xad ? 0 : 1;
  if (code >= 0x4e00 && code <= 0x9fff) return 2; // the common Han characters, without a search
  if (code === EMOJI_SELECTOR) return KEYCAP.test(before) || isNarrowPictograph(before) ? 1 : 0;
  if (NO_COLUMN.test(char)) return 0;
  if (before === JOINER && PICTOGRAPH.test(char)) return 0;
  if (code >= 0x1f3fb && code <= 0x1f3ff && PICTOGRAPH.test(before)) return 0; // a skin tone
  return eastAsianWidth(code);
}

function isNarrowPictograph(char: string): boolean {
  return PICTOGRAPH.test(char) && eastAsianWidth(char.codePointAt(0) ?? 0) === 1;
}

/**
 * Columns that one line of visible text takes on a terminal: wide characters and emoji sequences two, marks and joiners
 * none (Unicode Standard Annex #11 and UTS #51; ambiguous width counts as one). It knows no escape
 * sequences, and a tab counts as nothing: expand it first.
 */
export function displayWidth(text: string): number {
  if (NARROW.test(text)) return text.length;
  let width = 0;
  let before = "";
  for (const char of text) {
    width += charWidth(char, before);
    before = char;
  }
  return width;
}

let graphemes: Intl.Segmenter | undefined;

/**
 * The line, cut with `…` where it has more than `columns` columns, never inside a grapheme (what a reader takes for one
 * character).
 */
export function clip(line: string, columns: number): string {
  if (NARROW.test(line)) {
    if (line.length <= columns) return line;
    return columns < 1 ? "" : `${line.slice(0, columns - 1)}…`;
  }
  graphemes ??= new Intl.Segmenter("en", { granularity: "grapheme" });
  let width = 0;
  let kept = 0; // characters that fit beside the "…"
  for (const { segment, index } of graphemes.segment(line)) {
    if (width <= columns - 1) kept = index;
    width += displayWidth(segment);
    if (width > columns) return columns < 1 ? "" : `${line.slice(0, kept)}…`;
  }
  return line;
}
