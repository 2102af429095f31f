/** A small terminal: what a person sees of text that only has lines, styles and links in it. */
import { charWidth } from "../text.ts";

/** Text of one look. */
export interface Run {
  text: string;
  /** Its escape codes, sorted: "1" is bold, "36" cyan. */
  style: string;
  link: string;
}

/** What each code ends, of those that end one. */
const ENDS: Record<string, RegExp> = { 22: /^[12]$/, 23: /^3$/, 24: /^4$/, 29: /^9$/, 39: /^3\d$/ };

/** A terminal that refuses every escape sequence but colours and OSC 8, and remembers if a line ran over its edge. */
export class Terminal {
  readonly rows: Run[][] = [[]];
  /** Rows that the terminal had to break itself. */
  readonly overflows: string[] = [];
  readonly #columns: number;
  #column = 0;
  #before = "";
  #codes: string[] = [];
  #link = "";

  constructor(columns: number) {
    this.#columns = columns;
  }

  /** Shows text, which may be cut anywhere but inside an escape sequence. */
  write(text: string): this {
    // deno-lint-ignore no-control-regex
    for (const [token] of text.matchAll(/\x1b\[[\d;]*m|\x1b\]8;;[^\x1b]*\x1b\\|[^]/gu)) {
      if (token.startsWith("\x1b]8;;")) this.#link = token.slice(5, -2);
      else if (token.startsWith("\x1b[")) this.#style(token.slice(2, -1));
      else if (token === "\n") this.#newRow();
      else this.#put(token);
    }
    return this;
  }

  /** The rows as text. */
  get text(): string {
    return this.rows.map((row) => row.map(({ text }) => text).join("").trimEnd()).join("\n");
  }

  /** Whether nothing is styled any more. */
  get isPlain(): boolean {
    return this.#codes.length === 0 && this.#link === "";
  }

  /** The text shown in a style, run by run. */
  styled(code: string): string[] {
    return this.rows.flat().filter(({ style }) => style.split(";").includes(code)).map(({ text }) => text);
  }

  #style(codes: string): void {
    for (const code of codes.split(";")) {
      const ends = ENDS[code];
      const others = this.#codes.filter((other) => !(ends ?? (/^3\d$/.test(code) ? ENDS[39] : undefined))?.test(other));
      this.#codes = ends ? others : [...others, code];
    }
  }

  #newRow(): void {
    this.rows.push([]);
    this.#column = 0;
    this.#before = "";
  }

  #put(char: string): void {
    if (/\p{Cc}/u.test(char)) throw new Error(`A terminal got ${JSON.stringify(char)}`);
    this.#column += charWidth(char, this.#before);
    this.#before = char;
    const row = this.rows.at(-1) ?? [];
    const style = [...new Set(this.#codes)].sort().join(";");
    const run = row.at(-1);
    if (run?.style === style && run.link === this.#link) run.text += char;
    else row.push({ text: char, style, link: this.#link });
    if (this.#column > this.#columns) this.overflows.push(row.map(({ text }) => text).join(""));
  }
}
