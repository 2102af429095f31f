/**
 * Rows of cells as lines of text.
 *
 * @module
 */

import { clip, displayWidth } from "./text.ts";

/** How a table is laid out. */
export interface TableOptions {
  /** Width of the terminal. @default none: nothing is wrapped or cut */
  columns?: number | undefined;
  /** What becomes of a last cell that is too long for the terminal. @default "clip" */
  last?: "clip" | "wrap";
  /** Indexes of the columns that are aligned at their right. */
  right?: readonly number[];
}

/** Columns that the last cell is left with; where there are less, it gets lines of its own. */
const MIN_LAST_COLUMNS = 24;

/** Columns between two cells. */
const GAP = 2;

/**
 * A table, a line a row. On a terminal that is too narrow for that the last cell of a row stands below the others.
 *
 * @param rows Cells of visible text without line ends; each row has the same number of them.
 */
export function table(rows: readonly (readonly string[])[], options: TableOptions = {}): string {
  const { columns = Infinity, last = "clip", right = [] } = options;
  const widths = (rows[0] ?? []).map((_, at) => Math.max(...rows.map((row) => displayWidth(row[at] ?? ""))));
  const indent = widths.slice(0, -1).reduce((sum, width) => sum + width + GAP, 0);
  const narrow = columns - indent < Math.min(MIN_LAST_COLUMNS, widths.at(-1) ?? 0);
  const lay = (text: string, width: number) => last === "wrap" ? wrap(text, width) : [clip(text, width)];
  return rows.map((row) => {
    const front = row.slice(0, -1).map((cell, at) => pad(cell, widths[at] ?? 0, right.includes(at))).join("  ");
    const lines = lay(row.at(-1) ?? "", narrow ? columns - GAP : columns - indent);
    if (narrow) return [clip(front.trimEnd(), columns), ...lines.map((line) => `  ${line}`)];
    const [first = "", ...more] = lines;
    return [row.length > 1 ? `${front}  ${first}`.trimEnd() : first, ...more.map((line) => " ".repeat(indent) + line)];
  }).flat().map((line) => `${line}\n`).join("");
}

function pad(cell: string, width: number, right: boolean): string {
  const space = " ".repeat(width - displayWidth(cell));
  return right ? space + cell : cell + space;
}

/**
 * Text in lines of at most so many columns, broken between words; a word that is longer has a line to itself.
 *
 * @param columns At least 1.
 */
export function wrap(text: string, columns: number): string[] {
  const lines: string[] = [];
  let width = 0;
  for (const word of text.split(" ")) {
    const more = displayWidth(word);
    if (lines.length > 0 && width + 1 + more <= columns) {
      lines[lines.length - 1] += ` ${word}`;
      width += 1 + more;
    } else {
      lines.push(word);
      width = more;
    }
  }
  return lines;
}
