/**
 * Markdown for a terminal, live: takes it as it streams, in any pieces, and gives what to write now.
 *
 * What is written is never taken back: there is no cursor movement in it, only text, line ends, colours and links. So a
 * delta is shown at once, with these exceptions: a few characters at the start of a line that may be marks; a mark whose
 * meaning depends on what follows (see markdown_inline.ts); an unfinished word near the end of the line (see
 * markdown_wrap.ts); a line that may be a rule, a fence, or a row of a table.
 *
 * A line of the source is a line on the screen, wrapped where it is too long: a model's line breaks mean something.
 * Everything goes through `visible()` first. Without colour the layout is the same.
 *
 * @module
 */

import { InlineParser, STYLE } from "./markdown_inline.ts";
import { type Block, type Container, type Item, type Line, readLine } from "./markdown_lines.ts";
import { Table } from "./markdown_table.ts";
import { type LinkResolver, type Paint, painter, type Prefix, type WrappedLine, Wrapper } from "./markdown_wrap.ts";
import { displayWidth, VisibleStream } from "./text.ts";

export type { LinkResolver };

/** Options for {@linkcode createMarkdown}. */
export interface MarkdownOptions {
  /** Columns of the terminal; a function is asked before every line, for a terminal whose size changes. */
  columns: number | (() => number);
  /** Whether to style the text. */
  color: boolean;
  /**
   * The address that `path:line` links to, for paths that are known from a trusted source; a model's text is none. What
   * has no address, or one with other characters than visible ASCII, is plain text.
   *
   * @default no links
   */
  hyperlinks?: LinkResolver | undefined;
  /**
   * Draw with ASCII, where the locale has no other characters.
   *
   * @default false
   */
  ascii?: boolean | undefined;
}

/** Markdown being shown. */
export interface Markdown {
  /** Takes the next piece of Markdown; what to write to the terminal now. */
  write(delta: string): string;
  /** The Markdown is complete: the rest of what to write. It ends with a line end if anything was written. */
  end(): string;
  /** The column the terminal's cursor is in, from 0: where it is not 0, a line is unfinished. */
  readonly column: number;
}

/**
 * Shows Markdown as it streams. All ways to cut the same text give the same screen.
 *
 * ```ts
 * import { createMarkdown } from "./markdown.ts";
 *
 * const markdown = createMarkdown({ columns: 80, color: true });
 * for (const delta of ["## Sum", "mary\n\n- **fi", "ne**\n"]) console.log(JSON.stringify(markdown.write(delta)));
 * console.log(JSON.stringify(markdown.end()));
 * ```
 */
export function createMarkdown(options: MarkdownOptions): Markdown {
  const stream = new VisibleStream();
  const screen = new Screen(options);
  return {
    write: (delta) => screen.write(stream.write(delta)),
    end: () => screen.write(stream.end()) + screen.end(),
    get column() {
      return screen.column;
    },
  };
}

/** A whole text as {@linkcode createMarkdown} shows it. */
export function renderMarkdown(text: string, options: MarkdownOptions): string {
  const markdown = createMarkdown(options);
  return markdown.write(text) + markdown.end();
}

/** So much of a line is looked at again for each piece, in characters: a longer beginning waits for the line's end. */
const MAX_MARKS = 64;

/** Longest beginning of a line that is held, in characters: where so much does not tell what it is, it is text. */
const MAX_HELD = 4096;

/** Narrowest terminal that is laid out for, in columns: a narrower one breaks the lines itself. */
const MIN_COLUMNS = 12;

/** Columns before a line of code, and those more before the lines that it is wrapped to. */
const CODE_INDENT = 2;

/** Languages of a fence whose lines are coloured by their first character. */
const DIFF_LANGUAGES = ["diff", "patch", "udiff"];

const GLYPHS = {
  bullets: ["•", "◦", "▪"],
  boxes: { open: "☐", done: "☑" },
  lines: { bar: "│", rule: "─", cross: "┼" },
};

const ASCII_GLYPHS: typeof GLYPHS = {
  bullets: ["-", "*", "+"],
  boxes: { open: "[ ]", done: "[x]" },
  lines: { bar: "|", rule: "-", cross: "+" },
};

const NO_PREFIX: Prefix = { text: "", width: 0 };

/** What is on the screen, and what of the source is not on it yet. */
class Screen {
  readonly #options: MarkdownOptions;
  readonly #glyphs: typeof GLYPHS;
  readonly #paint: Paint;
  readonly #wrapper: Wrapper;
  readonly #inline: InlineParser;

  /** The beginning of a line that does not tell yet what it is. */
  #held = "";
  /** Takes the rest of a line that has told. */
  #rest: ((piece: string) => void) | undefined;

  #containers: Container[] = [];
  #block: Block | undefined;
  /** A row that is a table's header if the next line says so. */
  #header: string | undefined;
  #table: Table | undefined;

  /** What stands before the next line, and before the ones after it. */
  #prefix = NO_PREFIX;
  #plainPrefix = NO_PREFIX;
  /** Whether lines were shown, and whether blank ones came after them. */
  #isStarted = false;
  #isBlank = false;

  constructor(options: MarkdownOptions) {
    this.#options = options;
    this.#glyphs = options.ascii ? ASCII_GLYPHS : GLYPHS;
    this.#paint = painter(options.color);
    this.#wrapper = new Wrapper({ columns: this.#columns(), paint: this.#paint, links: options.hyperlinks });
    this.#inline = new InlineParser((text, style) => this.#wrapper.text(text, style));
  }

  get column(): number {
    return this.#wrapper.column;
  }

  write(text: string): string {
    let from = 0;
    for (let to = text.indexOf("\n"); to >= 0; to = text.indexOf("\n", from)) {
      this.#addPiece(text.slice(from, to));
      this.#endLine();
      from = to + 1;
    }
    this.#addPiece(text.slice(from));
    return this.#wrapper.take();
  }

  end(): string {
    if (this.#rest || this.#held !== "") this.#endLine();
    this.#endBlock();
    return this.#wrapper.take();
  }

  #columns(): number {
    const { columns } = this.#options;
    return Math.max(MIN_COLUMNS, typeof columns === "number" ? columns : columns());
  }

  #addPiece(piece: string): void {
    if (piece === "") return;
    if (this.#rest) return this.#rest(piece);
    const isLong = this.#held.length > MAX_MARKS;
    this.#held += piece;
    if (this.#held.length > MAX_HELD) return this.#endHolding();
    const line = isLong ? undefined : this.#read(false);
    if (line) this.#startLine(line);
  }

  /** The beginning of a line is as long as may be held. */
  #endHolding(): void {
    const isPair = /[\ud800-\udbff]/.test(this.#held[MAX_HELD - 1] ?? "");
    const rest = this.#held.slice(isPair ? MAX_HELD + 1 : MAX_HELD);
    this.#held = this.#held.slice(0, this.#held.length - rest.length);
    const line = this.#read(false) ?? this.#read(true);
    if (line) this.#startLine(asText(line));
    this.#rest?.(rest);
  }

  #endLine(): void {
    const line = this.#rest ? undefined : this.#read(true);
    if (line) this.#startLine(line);
    if (this.#rest) {
      this.#inline.endLine();
      this.#wrapper.endLine();
    }
    this.#rest = undefined;
    this.#held = "";
  }

  #read(complete: boolean): Line | undefined {
    return readLine(this.#held, complete, { containers: this.#containers, block: this.#block });
  }

  /** Shows what is known of a line, and says what takes the rest. */
  #startLine(line: Line): void {
    if (line.kind === "fenced") return this.#showCode(line.text, this.#block);
    if (line.kind === "fence end") return this.#endBlock();
    const isInside = line.depth === this.#containers.length && line.opened.length === 0;
    if (isInside && line.kind === "row" && this.#addRow(line.text)) return;
    const goesOn = isInside && line.kind === "text" && this.#block?.kind === "paragraph";
    if (!goesOn) this.#endBlock();
    this.#enter(line);
    switch (line.kind) {
      case "blank":
        this.#isBlank = true;
        return;
      case "row":
        this.#header = line.text;
        return;
      case "fence":
        this.#block = line.fence && { kind: "fence", fence: line.fence };
        return;
      case "rule":
        return this.#showRule();
      case "code":
        return this.#showCode(line.text, undefined);
      case "heading":
        return this.#showHeading(line.text, line.level ?? 1);
      default:
        this.#block = { kind: "paragraph" };
        return this.#showText(line.text);
    }
  }

  /** Takes over a line's containers, after the blank line that came before it. */
  #enter({ kind, depth, opened }: Line): void {
    const kept = this.#containers.slice(0, depth);
    if (kind !== "blank" && this.#isBlank && this.#isStarted) {
      this.#prefix = this.#plainPrefix = this.#prefixOf(kept, depth);
      this.#startScreenLine();
      this.#wrapper.endLine();
    }
    this.#containers = [...kept, ...opened];
    this.#prefix = this.#prefixOf(this.#containers, depth);
    this.#plainPrefix = this.#prefixOf(this.#containers, this.#containers.length);
    if (kind === "blank") return;
    this.#isBlank = false;
    this.#isStarted = true;
  }

  /** Ends the block that lines were added to: what still waited is shown, what was opened in it is closed. */
  #endBlock(): void {
    const header = this.#header;
    this.#header = undefined;
    if (header !== undefined) {
      this.#showText(header);
      this.#rest = undefined;
      this.#inline.endLine();
      this.#wrapper.endLine();
    }
    this.#showRows(this.#table?.end() ?? []);
    this.#table = undefined;
    // An empty fence that a list item began with: its mark is still to be shown
    if (this.#block?.kind === "fence" && this.#prefix !== this.#plainPrefix) {
      this.#startScreenLine();
      this.#wrapper.endLine();
    }
    this.#block = undefined;
    this.#inline.endBlock();
  }

  #showText(text: string): void {
    this.#startScreenLine();
    this.#showInline(text, 0);
  }

  #showHeading(text: string, level: number): void {
    this.#startScreenLine({ text: `${this.#paint("#".repeat(level), STYLE.heading)} `, width: level + 1 });
    this.#showInline(text, STYLE.heading);
  }

  #showInline(text: string, style: number): void {
    this.#inline.base = style;
    this.#rest = (piece) => this.#inline.write(piece);
    this.#rest(text);
  }

  #showCode(text: string, block: Block | undefined): void {
    this.#startScreenLine({ text: " ".repeat(CODE_INDENT), width: CODE_INDENT }, 2 * CODE_INDENT);
    const isDiff = block?.kind === "fence" && DIFF_LANGUAGES.includes(block.fence.language.toLowerCase());
    const style = isDiff ? diffStyle(text) : STYLE.code;
    this.#rest = (piece) => this.#wrapper.code(piece, style);
    this.#rest(text);
  }

  #showRule(): void {
    const width = this.#columns() - this.#prefix.width;
    this.#showRows([{ text: this.#paint(this.#glyphs.lines.rule.repeat(width), STYLE.dim), width }]);
  }

  /** Adds a row to the table, or starts one with the row before and this one; false where that is none. */
  #addRow(row: string): boolean {
    if (this.#table) {
      this.#showRows(this.#table.addRow(row));
      return true;
    }
    if (this.#header === undefined) return false;
    this.#table = Table.start(this.#header, row, {
      columns: this.#columns() - this.#prefix.width,
      paint: this.#paint,
      links: this.#options.hyperlinks,
      lines: this.#glyphs.lines,
    });
    if (this.#table === undefined) return false;
    this.#header = undefined;
    this.#block = { kind: "table" };
    return true;
  }

  #showRows(lines: readonly WrappedLine[]): void {
    for (const line of lines) {
      this.#startScreenLine();
      if (line.text !== "") this.#wrapper.painted(line);
      this.#wrapper.endLine();
    }
  }

  /** Starts a line on the screen: its containers' prefix, then its own mark, which is space in the lines it wraps to. */
  #startScreenLine(mark: Prefix = NO_PREFIX, hanging = mark.width): void {
    const { text, width } = this.#prefix;
    const plain = this.#plainPrefix;
    this.#prefix = plain;
    this.#wrapper.columns = this.#columns();
    this.#wrapper.startLine(
      { text: text + mark.text, width: width + mark.width },
      { text: plain.text + " ".repeat(hanging), width: plain.width + hanging },
    );
  }

  /** What stands before a line in containers, with the marks of the items from `fresh` on. */
  #prefixOf(containers: readonly Container[], fresh: number): Prefix {
    let items = 0;
    const parts = containers.map((container, index) => {
      if (container.kind === "quote") return { text: `${this.#paint(this.#glyphs.lines.bar, STYLE.dim)} `, width: 2 };
      const mark = this.#markOf(container, items++);
      const width = displayWidth(mark) + 1;
      return { text: index < fresh ? " ".repeat(width) : `${this.#paint(mark, STYLE.dim)} `, width };
    });
    // Deep nesting must leave room for text: what is outermost gives way
    const widest = Math.floor(this.#columns() / 2);
    let width = parts.reduce((sum, part) => sum + part.width, 0);
    while (width > widest) width -= parts.shift()?.width ?? width;
    return { text: parts.map(({ text }) => text).join(""), width };
  }

  #markOf({ mark }: Item, level: number): string {
    const { bullets, boxes } = this.#glyphs;
    const [sign = "", box] = mark.split(/ (?=\[)/);
    const shownBox = box === undefined ? undefined : box === "[ ]" ? boxes.open : boxes.done;
    if (/\d/.test(sign)) return shownBox ? `${sign} ${shownBox}` : sign;
    return shownBox ?? bullets[level % bullets.length] ?? sign;
  }
}

/** A line of which only the beginning is known: what needs its end to be something else is text. */
function asText(line: Line): Line {
  switch (line.kind) {
    case "fence end":
      return { ...line, kind: "fenced" };
    case "blank":
    case "row":
    case "rule":
    case "fence":
      return { ...line, kind: "text" };
    default:
      return line;
  }
}

/** The style of a diff's line. */
function diffStyle(line: string): number {
  switch (line[0]) {
    case "+":
      return STYLE.added;
    case "-":
      return STYLE.removed;
    case "@":
      return STYLE.hunk;
    default:
      return 0;
  }
}
