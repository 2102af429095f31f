/**
 * Finds quoted code and stated lines in the diff of a file.
 *
 * @module
 */

import { hunkLines, type PartFile } from "./diff.ts";

/** A line of a file's diff. Context and additions are on the new side, deletions on the old one. */
export interface DiffLine {
  /** The side that `number` counts on. */
  side: "new" | "old";
  /** Whether it is an addition. */
  added: boolean;
  /** From 1. */
  number: number;
  /** The line without its marker. */
  text: string;
  /** What is compared of it. */
  key: string;
}

/** Where a quote is: `end` is the last of its lines. Indexes count the lines of the file's diff. */
export interface QuoteMatch {
  /** The first of its lines. */
  start: number;
  /** The last one. */
  end: number;
}

/** Lines that match a quote's first line and are compared: more is a line that says nothing. */
const MAX_CANDIDATES = 500;
/** Characters without spaces from which a whole line can be told from others. */
const MIN_LINE_KEY = 6;
/** Characters without spaces from which a piece of a line can be. */
const MIN_PIECE_KEY = 10;
/** Lines of the other side that may stand between two lines of a quote. */
const MAX_GAP = 12;

/** The lines of one file's diff, to look quotes and numbers up in. */
export class DiffLines {
  /** All lines, in the order of the diff. */
  readonly lines: DiffLine[] = [];
  readonly #byKey = new Map<string, number[]>();
  readonly #newAt = new Map<number, number>();
  readonly #oldAt = new Map<number, number>();
  /** All keys, a line each, and where each starts: for pieces of lines. */
  #text = "";
  #starts: number[] = [];

  /** Reads the lines of a file's hunks. */
  constructor({ text, hunks }: Pick<PartFile, "text" | "hunks">) {
    for (const hunk of hunks) {
      for (const line of hunkLines(text, hunk)) {
        if (line.newLine !== undefined) this.#add("new", line.kind === "addition", line.newLine, line.text);
        else if (line.oldLine !== undefined) this.#add("old", false, line.oldLine, line.text);
      }
    }
  }

  #add(side: "new" | "old", added: boolean, number: number, text: string): void {
    const key = keyOf(text);
    const index = this.lines.push({ side, added, number, text, key }) - 1;
    (side === "new" ? this.#newAt : this.#oldAt).set(number, index);
    const same = this.#byKey.get(key);
    if (!same) this.#byKey.set(key, [index]);
    else if (same.length < MAX_CANDIDATES) same.push(index);
  }

  /** The index of a numbered line. Old lines count where they were deleted. */
  at(side: "new" | "old", number: number): number | undefined {
    return (side === "new" ? this.#newAt : this.#oldAt).get(number);
  }

  /** Finds whole lines, as many as follow each other; of several places the one nearest to the stated line. */
  findLines(quote: readonly string[], stated: number | undefined): QuoteMatch | undefined {
    const wanted = quote.map(variantsOf);
    for (const [first, variants] of wanted.entries()) {
      const found = variants.filter(isTelling).map((key) => this.#byKey.get(key)).find((indexes) =>
        indexes !== undefined
      );
      if (!found) continue;
      const matches = found.map((start) => ({ start, end: this.#follow(start, wanted.slice(first + 1)) }));
      return this.#best(matches, stated, /^\s*-/.test(quote[first] ?? ""));
    }
    return undefined;
  }

  /** Finds a line that says too little to be looked for, such as "}", where it is stated to be. */
  findStated(quote: string, stated: number | undefined): QuoteMatch | undefined {
    const index = stated === undefined ? undefined : this.at("new", stated);
    return index !== undefined && variantsOf(quote).some((key) => key !== "" && key === this.lines[index]!.key)
      ? { start: index, end: index }
      : undefined;
  }

  /** Finds a piece of a line, whose parts may be left out by an ellipsis. */
  findPiece(quote: string, stated: number | undefined, sides: "new" | "both"): QuoteMatch | undefined {
    for (const key of variantsOf(quote)) {
      const whole = key.length >= MIN_PIECE_KEY ? this.#indexesOf(key) : [];
      const indexes = whole.length > 0 ? whole : this.#withEllipsis(key);
      const matches = indexes.filter((index) => sides === "both" || this.lines[index]!.side === "new");
      const best = this.#best(matches.map((start) => ({ start, end: start })), stated, /^\s*-/.test(quote));
      if (best) return best;
    }
    return undefined;
  }

  /** The last line of a run that goes on with the wanted ones. */
  #follow(start: number, wanted: readonly string[][]): number {
    const { side } = this.lines[start]!;
    let end = start;
    for (const variants of wanted) {
      if (variants.includes("")) continue;
      let next = end + 1;
      while (next <= end + MAX_GAP && next < this.lines.length) {
        const line = this.lines[next]!;
        if (line.side === side && line.key !== "") break;
        next++;
      }
      const line = this.lines[next];
      if (!line || line.side !== side || !variants.includes(line.key)) break;
      end = next;
    }
    return end;
  }

  /** New side first, unless the quote is marked as removed; then the longest, the nearest, an added line, the first. */
  #best(matches: readonly QuoteMatch[], stated: number | undefined, removed: boolean): QuoteMatch | undefined {
    const rank = ({ start, end }: QuoteMatch): number[] => {
      const { side, number, added } = this.lines[start]!;
      const otherSide = (side === "old") !== removed ? 1 : 0;
      return [otherSide, start - end, stated === undefined ? 0 : Math.abs(number - stated), added ? 0 : 1, start];
    };
    let best: { match: QuoteMatch; rank: number[] } | undefined;
    for (const match of matches) {
      const own = rank(match);
      if (!best || compare(own, best.rank) < 0) best = { match, rank: own };
    }
    return best?.match;
  }

  /** The lines that hold a piece. */
  #indexesOf(piece: string): number[] {
    if (this.#starts.length === 0 && this.lines.length > 0) this.#index();
    const found: number[] = [];
    for (let at = this.#text.indexOf(piece); at >= 0 && found.length < MAX_CANDIDATES;) {
      const index = lastNotAbove(this.#starts, at);
      found.push(index);
      const next = this.#starts[index + 1];
      at = next === undefined ? -1 : this.#text.indexOf(piece, next);
    }
    return found;
  }

  #index(): void {
    let at = 0;
    this.#starts = this.lines.map(({ key }) => {
      const start = at;
      at += key.length + 1;
      return start;
    });
    this.#text = this.lines.map(({ key }) => key).join("\n");
  }

  /** `foo(…, bar)`: the parts around the ellipsis, in order in one line. */
  #withEllipsis(key: string): number[] {
    const parts = key.split(/…|\.{3}/).filter((part) => part !== "");
    const longest = parts.reduce((a, b) => b.length > a.length ? b : a, "");
    const chars = parts.reduce((sum, part) => sum + part.length, 0);
    if (!/…|\.{3}/.test(key) || chars < MIN_PIECE_KEY || longest.length < MIN_LINE_KEY) return [];
    return this.#indexesOf(longest).filter((index) => {
      let at = 0;
      return parts.every((part) => {
        const found = this.lines[index]!.key.indexOf(part, at);
        at = found + part.length;
        return found >= 0;
      });
    });
  }
}

function compare(a: readonly number[], b: readonly number[]): number {
  const at = a.findIndex((value, i) => value !== b[i]);
  return at < 0 ? 0 : a[at]! - b[at]!;
}

/** The index of the last number that is not above `limit`, in a list that rises. */
function lastNotAbove(list: readonly number[], limit: number): number {
  let low = 0;
  let high = list.length - 1;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (list[middle]! <= limit) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** What is compared of a line: no spaces, plain quotes. */
export function keyOf(text: string): string {
  return text.replace(/\s+/g, "").replace(/[“”„]/g, '"').replace(/[‘’]/g, "'");
}

/** Whether a line can be told from others. */
function isTelling(key: string): boolean {
  return key.length >= MIN_LINE_KEY && /[\p{L}\p{N}]{2}/u.test(key);
}

/** The keys that a quoted line may stand for: as it is, without diff marker, line number, comment behind it. */
function variantsOf(line: string): string[] {
  const unmarked = line.replace(/^\s*[+-](?=\s|[^\s\d+-])/, "");
  const unnumbered = unmarked.replace(/^\s*L?\d{1,6}\s*[:|]\s?/, "");
  const uncommented = unnumbered.replace(/\s(?:\/\/|#|\/\*|--|<!--|←|<-|<=)\s[^"'`]*$/, "");
  return [...new Set([line, unmarked, unnumbered, uncommented].map(keyOf))];
}
