/**
 * The diff of one file as HTML, with what was found beside its lines.
 *
 * @module
 */

import { type FileDiff, type HunkLine, hunkLines, MAX_FILE_CHARS, truncateFileDiff } from "./diff.ts";
import type { Finding } from "./finding.ts";
import { escapeHtml } from "./html.ts";

/** Lines of one file that are shown, beside those near a finding. */
const MAX_ROWS = 1_000;
/** Lines around a finding that are shown of what is otherwise left out. */
const NEAR_ROWS = 8;
/** Characters of a line that are shown. */
const MAX_LINE_CHARS = 2_000;

/** A finding as it stands in the page. */
export interface PlacedFinding {
  finding: Finding;
  /** The whole of it. */
  html: string;
}

/** A file's diff on the page. */
export interface DiffHtml {
  /** The lines, with the findings that are about one of them. */
  html: string;
  /** Lines there are, with the headers of hunks. */
  rows: number;
  /** Hunks there are. */
  hunks: number;
  /** Findings whose line is not among those shown. */
  elsewhere: PlacedFinding[];
}

/** A row: a line, or the header of a hunk. */
type Row = { kind: "hunk"; text: string } | HunkLine;

/**
 * The diff of a file.
 *
 * @param hunks Hunks of it that were reviewed; more are not shown.
 */
export function diffHtml(file: FileDiff, hunks: number, findings: readonly PlacedFinding[]): DiffHtml {
  const rows = [...rowsOf(file, hunks)];
  const behind = new Map<number, PlacedFinding[]>(); // findings by the row they stand behind
  const hit = new Set<number>();
  const elsewhere: PlacedFinding[] = [];
  for (const placed of findings) {
    const indexes = indexesOf(rows, placed.finding);
    if (indexes.length === 0) elsewhere.push(placed);
    else behind.set(indexes.at(-1)!, [...behind.get(indexes.at(-1)!) ?? [], placed]);
    for (const index of indexes) hit.add(index);
  }
  const shown = shownRows(rows.length, hit);
  const html: string[] = [];
  let left = 0;
  const flush = () => {
    if (left > 0) html.push(gapHtml(left));
    left = 0;
  };
  rows.forEach((row, index) => {
    if (!shown(index)) return void left++;
    flush();
    html.push(rowHtml(row, hit.has(index)));
    for (const placed of behind.get(index) ?? []) {
      html.push(`<div class="remark">${placed.html}</div>`);
    }
  });
  flush();
  return {
    html: rows.length === 0 ? "" : `<div class="diff">\n${html.join("\n")}\n</div>`,
    rows: rows.length,
    hunks: rows.filter(({ kind }) => kind === "hunk").length,
    elsewhere,
  };
}

function* rowsOf(file: FileDiff, most: number): Generator<Row> {
  const { text, hunks } = truncateFileDiff(file, MAX_FILE_CHARS);
  for (const hunk of hunks.slice(0, most)) {
    const { oldStart, oldLines, newStart, newLines, section } = hunk;
    yield { kind: "hunk", text: `@@ -${oldStart},${oldLines} +${newStart},${newLines} @@ ${section}`.trimEnd() };
    yield* hunkLines(text, hunk);
  }
}

/** The rows that a finding is about. */
function indexesOf(rows: readonly Row[], { line, endLine = line, side }: Finding): number[] {
  if (line === undefined || endLine === undefined) return [];
  const number = (row: Row) => row.kind === "hunk" ? undefined : side === "old" ? row.oldLine : row.newLine;
  return rows.flatMap((row, index) => {
    const at = number(row);
    return at !== undefined && at >= line && at <= endLine ? [index] : [];
  });
}

/** Whether a row is shown: the first ones, and those near a finding. */
function shownRows(total: number, hit: ReadonlySet<number>): (index: number) => boolean {
  if (total <= MAX_ROWS) return () => true;
  const near = new Set<number>();
  for (const index of hit) for (let i = index - NEAR_ROWS; i <= index + NEAR_ROWS; i++) near.add(i);
  return (index) => index < MAX_ROWS || near.has(index);
}

function gapHtml(rows: number): string {
  return `<div class="gap">${rows} line${rows === 1 ? "" : "s"} not shown here</div>`;
}

const MARKS = { addition: "+", deletion: "−", context: "" } as const;

function rowHtml(row: Row, isHit: boolean): string {
  if (row.kind === "hunk") return `<div class="hunk">${escapeHtml(row.text)}</div>`;
  const { kind, oldLine = "", newLine = "" } = row;
  const cut = row.text.length > MAX_LINE_CHARS;
  const text = escapeHtml(cut ? row.text.slice(0, MAX_LINE_CHARS) : row.text) +
    (cut ? ` <i>… ${row.text.length - MAX_LINE_CHARS} more characters</i>` : "");
  // A phone has room for one number.
  const one = kind === "deletion" ? `<span class="one">${oldLine}</span>` : newLine;
  return `<div class="row ${kind}${isHit ? " hit" : ""}"><span class="old">${oldLine}</span>` +
    `<span class="new">${one}</span><span class="text"><b>${MARKS[kind]}</b>${text}</span></div>`;
}
