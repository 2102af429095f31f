/**
 * A Markdown table, row by row: a row is shown when it is complete, the header with the first row, whose texts say how wide
 * the columns are to be. Where the columns would be too narrow to read, each row is a list of its cells instead.
 *
 * @module
 */

import { InlineParser, STYLE } from "./markdown_inline.ts";
import { type LinkResolver, type Paint, type WrappedLine, Wrapper } from "./markdown_wrap.ts";
import { displayWidth } from "./text.ts";

/** Options for {@linkcode Table}. */
export interface TableOptions {
  /** Columns of the terminal that it may take. */
  columns: number;
  /** How its styles are written. */
  paint: Paint;
  /** The addresses that words link to. @default none */
  links?: LinkResolver | undefined;
  /** What lines are drawn with: between columns, under the header, where both meet. */
  lines: { bar: string; rule: string; cross: string };
}

type Alignment = "left" | "center" | "right";

/** Most columns of a table; what has more is text. It keeps the cost of a short row small. */
const MAX_CELLS = 64;

/** Narrowest column that can be read. */
const MIN_WIDTH = 6;

/** What any column has at least: room for a wide character. */
const ROOM_FOR_WIDE = 2;

/** What a column may grow beyond the first row's text, for later rows: as much again and a little, in columns. */
const GROWTH = { share: 1, least: 8 };

/** The cells of a row (GitHub Flavored Markdown, "Tables"): a bar that is escaped is text. */
export function splitRow(row: string): string[] {
  const inner = row.trim().replace(/^\|/, "");
  const cells: string[] = [];
  let cell = "";
  for (const [piece] of inner.matchAll(/\\\||\\|\||[^\\|]+/g)) {
    if (piece !== "|") {
      cell += piece === "\\|" ? "|" : piece;
      continue;
    }
    cells.push(cell.trim());
    cell = "";
  }
  if (cell !== "" || cells.length === 0) cells.push(cell.trim());
  return cells;
}

/** A table: each of its methods gives the lines to show. */
export class Table {
  readonly #header: string[];
  readonly #alignments: Alignment[];
  /** Columns that the header and the line below it ask for. */
  readonly #asked: number[];
  readonly #options: TableOptions;
  #widths: number[] | undefined;
  #rows = 0;

  private constructor(header: string[], delimiters: string[], options: TableOptions) {
    this.#header = header;
    this.#alignments = delimiters.map((cell) =>
      !cell.endsWith(":") ? "left" : cell.startsWith(":") ? "center" : "right"
    );
    this.#asked = header.map((cell, index) => Math.max(ROOM_FOR_WIDE, cellWidth(cell), delimiters[index]?.length ?? 0));
    this.#options = options;
  }

  /** The table that starts with these two lines, or nothing where they start none. */
  static start(headerRow: string, delimiterRow: string, options: TableOptions): Table | undefined {
    const delimiters = splitRow(delimiterRow);
    if (delimiters.length > MAX_CELLS || !delimiters.every((cell) => /^:?-+:?$/.test(cell))) return undefined;
    const header = splitRow(headerRow);
    return header.length === delimiters.length ? new Table(header, delimiters, options) : undefined;
  }

  /** Lines of a row, with the header before the first. */
  addRow(row: string): WrappedLine[] {
    const cells = splitRow(row);
    // A row with more cells than the header has: nothing is left out, the last column takes them
    const last = this.#header.length - 1;
    const texts = this.#header.map((_, index) => index < last ? cells[index] ?? "" : cells.slice(last).join(" | "));
    const start = this.#rows === 0 ? this.#start(texts) : [];
    this.#rows++;
    return [...start, ...(this.#widths ? this.#layOut(texts, this.#widths, 0) : this.#list(texts))];
  }

  /** Lines of the header, if no row came. */
  end(): WrappedLine[] {
    if (this.#rows > 0) return [];
    const start = this.#start(this.#header);
    return this.#widths ? start : this.#list(this.#header.map(() => ""));
  }

  /** Decides the widths; the header's lines. */
  #start(firstRow: readonly string[]): WrappedLine[] {
    const ideal = this.#asked.map((asked, index) => Math.max(asked, cellWidth(firstRow[index] ?? "")));
    this.#widths = chooseWidths(ideal, this.#options.columns - 3 * (ideal.length - 1));
    if (this.#widths === undefined) return [];
    const { rule, cross } = this.#options.lines;
    const line = this.#widths.map((width) => rule.repeat(width)).join(rule + cross + rule);
    return [
      ...this.#layOut(this.#header, this.#widths, STYLE.bold),
      { text: this.#options.paint(line, STYLE.dim), width: displayWidth(line) },
    ];
  }

  #layOut(texts: readonly string[], widths: readonly number[], style: number): WrappedLine[] {
    const cells = texts.map((text, index) => this.#wrap(text, widths[index] ?? MIN_WIDTH, style));
    const height = Math.max(...cells.map((lines) => lines.length));
    const bar = ` ${this.#options.paint(this.#options.lines.bar, STYLE.dim)} `;
    return Array.from({ length: height }, (_, line) => {
      const parts = cells.map((lines, index) => this.#align(lines[line], widths[index] ?? 0, index));
      return { text: parts.join(bar).trimEnd(), width: widths.reduce((sum, width) => sum + width + 3, -3) };
    });
  }

  #align(line: WrappedLine = { text: "", width: 0 }, width: number, column: number): string {
    const space = Math.max(0, width - line.width);
    const alignment = this.#alignments[column];
    const before = alignment === "right" ? space : alignment === "center" ? Math.floor(space / 2) : 0;
    return " ".repeat(before) + line.text + " ".repeat(space - before);
  }

  /** A row as a list: `header: text`, a line for each cell that says something. */
  #list(texts: readonly string[]): WrappedLine[] {
    const lines = texts.flatMap((text, index) => {
      const header = this.#header[index] ?? "";
      if (text === "" && texts.some((other) => other !== "")) return [];
      return this.#wrap(header === "" ? text : `**${header}:** ${text}`, this.#options.columns, 0);
    });
    return this.#rows > 1 ? [{ text: "", width: 0 }, ...lines] : lines;
  }

  #wrap(text: string, columns: number, style: number): WrappedLine[] {
    const { paint, links } = this.#options;
    const wrapper = new Wrapper({ columns, paint, links });
    const inline = new InlineParser((piece, pieceStyle) => wrapper.text(piece, pieceStyle));
    inline.base = style;
    for (const line of text.split(BREAK)) {
      inline.write(line);
      inline.endLine();
      wrapper.endLine();
    }
    return wrapper.takeLines();
  }
}

const BREAK = /<br ?\/?>/i;

/** Columns of a cell's text as it is shown. */
function cellWidth(cell: string): number {
  let width = 0;
  for (const line of cell.split(BREAK)) {
    let text = "";
    const inline = new InlineParser((piece) => text += piece);
    inline.write(line);
    inline.endLine();
    width = Math.max(width, displayWidth(text));
  }
  return width;
}

/**
 * Widths for columns that would like to be as wide as `ideal`: with room to grow where there is more, else the widest are
 * cut to the same width. Nothing where a column would be too narrow to read.
 */
function chooseWidths(ideal: readonly number[], available: number): number[] | undefined {
  if (available < ideal.length * MIN_WIDTH && available < sum(ideal)) return undefined;
  const spare = available - sum(ideal);
  if (spare >= 0) {
    return ideal.map((width) =>
      width + Math.min(Math.floor(spare * width / sum(ideal)), Math.floor(width * GROWTH.share) + GROWTH.least)
    );
  }
  let left = available;
  const widths = ideal.map(() => 0);
  const narrowFirst = ideal.map((width, index) => ({ width, index })).sort((a, b) => a.width - b.width);
  narrowFirst.forEach(({ width, index }, rank) => {
    const fair = Math.floor(left / (ideal.length - rank));
    widths[index] = Math.min(width, fair);
    left -= Math.min(width, fair);
  });
  return widths;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
