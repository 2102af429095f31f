/**
 * The list of a pull request's files as GitHub gives it, turned into a patch.
 *
 * A row holds the hunks of a file and no header, and no hunks at all where GitHub finds them too large or the file is
 * binary. What is not there is told, never passed over.
 *
 * @module
 */

/** Files that GitHub lists of a pull request (docs.github.com, "List pull requests files"). */
const MAX_LISTED_FILES = 3_000;

/** A row of the list, narrowed. */
export interface FileRow {
  /** Path of the file, the new one of a rename. */
  filename: string;
  /** `added`, `removed`, `modified`, `renamed`, `copied`, `changed`, `unchanged`. */
  status: string;
  /** Path before a rename. */
  previousFilename: string | undefined;
  /** Lines added. */
  additions: number;
  /** Lines removed. */
  deletions: number;
  /** Its hunks. */
  patch: string | undefined;
}

/** A file of which something is not in the patch. */
export interface UnreviewedFile {
  /** Path of the file. */
  path: string;
  /** Changed lines that are not in the patch; 0 where GitHub counts none, as for a binary file. */
  lines: number;
}

/** What a row gives. */
export interface RowPatch {
  /** Its part of the patch; empty where the row has no hunks. */
  text: string;
  /** What is not in it. */
  unreviewed?: UnreviewedFile;
}

/** Narrows an answer to the rows in it; `undefined` when it is no list of files. */
export function readFileRows(value: unknown): FileRow[] | undefined {
  if (!Array.isArray(value)) return undefined;
  const rows = value.map(readFileRow);
  return rows.every((row) => row !== undefined) ? rows : undefined;
}

function readFileRow(value: unknown): FileRow | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const row: Record<string, unknown> = { ...value };
  const { filename, status } = row;
  if (typeof filename !== "string" || filename === "" || typeof status !== "string") return undefined;
  return {
    filename,
    status,
    previousFilename: textOf(row["previous_filename"]),
    additions: countOf(row["additions"]),
    deletions: countOf(row["deletions"]),
    patch: textOf(row["patch"]),
  };
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

function countOf(value: unknown): number {
  return typeof value === "number" && value > 0 ? value : 0;
}

/** The patch of one row, in git's form. Only whole hunks are in it. */
export function patchOfRow(row: FileRow): RowPatch {
  const changed = row.additions + row.deletions;
  const hunks = wholeHunks(row.patch ?? "");
  if (hunks.text === "") {
    // A mere rename has no hunks, and nothing that could be reviewed.
    if (row.status === "renamed" && changed === 0) return { text: header(row) };
    return row.status === "unchanged" ? { text: "" } : { text: "", unreviewed: { path: row.filename, lines: changed } };
  }
  const text = header(row) + sides(row) + hunks.text;
  const missing = changed - hunks.changed;
  return missing > 0 ? { text, unreviewed: { path: row.filename, lines: missing } } : { text };
}

/** The lines of git's header that say which file it is and what happened to it (git-diff, "Generating patch text"). */
function header({ filename, previousFilename = filename, status }: FileRow): string {
  const lines = [`diff --git ${quoted(`a/${previousFilename}`)} ${quoted(`b/${filename}`)}`];
  if (status === "added") lines.push("new file mode 100644"); // GitHub does not tell the mode
  if (status === "removed") lines.push("deleted file mode 100644");
  if (status === "renamed") lines.push(`rename from ${quoted(previousFilename)}`, `rename to ${quoted(filename)}`);
  if (status === "copied") lines.push(`copy from ${quoted(previousFilename)}`, `copy to ${quoted(filename)}`);
  return `${lines.join("\n")}\n`;
}

function sides({ filename, previousFilename = filename, status }: FileRow): string {
  const old = status === "added" ? "/dev/null" : side(`a/${previousFilename}`);
  return `--- ${old}\n+++ ${status === "removed" ? "/dev/null" : side(`b/${filename}`)}\n`;
}

/** A path in a `---` or `+++` line: git ends one that has a space in it with a tab. */
function side(path: string): string {
  const text = quoted(path);
  return text === path && path.includes(" ") ? `${path}\t` : text;
}

const ESCAPES: ReadonlyMap<string, string> = new Map([
  ["\t", "\\t"],
  ["\n", "\\n"],
  ["\r", "\\r"],
  ['"', '\\"'],
  ["\\", "\\\\"],
]);

/** A path as git writes it: in quotes where it holds a control character, a quote or a backslash. */
function quoted(path: string): string {
  // deno-lint-ignore no-control-regex
  const special = /[\x00-\x1f\x7f"\\]/g;
  if (!special.test(path)) return path;
  const octal = (character: string) => `\\${character.charCodeAt(0).toString(8).padStart(3, "0")}`;
  return `"${path.replace(special, (character) => ESCAPES.get(character) ?? octal(character))}"`;
}

/**
 * The hunks of a patch that are there in full, by the counts in their headers: behind a hunk that was cut, the header of
 * the next file would be read as its lines.
 */
function wholeHunks(patch: string): { text: string; changed: number } {
  const lines = patch.replace(/\n$/, "").split("\n");
  let [end, changed, at] = [0, 0, 0];
  while (at < lines.length) {
    const counts = /^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@/.exec(lines[at]!);
    if (!counts) break;
    // git omits the count when it is 1 (git-diff, "Generating patch text").
    const body = hunkBody(lines, at + 1, Number(counts[1] ?? 1), Number(counts[2] ?? 1));
    if (!body) break;
    changed += body.changed;
    end = at = body.end;
  }
  return { text: end === 0 ? "" : lines.slice(0, end).join("\n") + "\n", changed };
}

/** Where the hunk that starts at line `start` ends; `undefined` when it does before its counts are used up. */
function hunkBody(lines: readonly string[], start: number, old: number, now: number) {
  let [at, changed] = [start, 0];
  for (; old > 0 || now > 0; at++) {
    const sign = lines[at]?.[0] ?? (lines[at] === "" ? " " : undefined);
    if (sign === "\\") continue;
    if (sign !== " " && sign !== "-" && sign !== "+") return undefined;
    if (sign !== "+") old--;
    if (sign !== "-") now--;
    if (sign !== " ") changed++;
  }
  if (lines[at]?.startsWith("\\")) at++; // "\ No newline at end of file" behind the last line
  return old === 0 && now === 0 ? { end: at, changed } : undefined;
}

/** Files that a notice names; the rest are counted. */
const MAX_NAMED = 12;

/** What is to be said of files that are not in the patch, or not in full. */
export function unreviewedNotices(files: readonly UnreviewedFile[]): string[] {
  if (files.length === 0) return [];
  const names = files.slice(0, MAX_NAMED).map(({ path, lines }) => lines ? `${path} (${count(lines)} lines)` : path);
  const more = files.length > MAX_NAMED ? `, and ${count(files.length - MAX_NAMED)} more` : "";
  const what = files.length === 1 ? "1 file is not reviewed" : `${count(files.length)} files are not reviewed`;
  return [`${what}, or not in full: GitHub leaves out large and binary diffs: ${names.join(", ")}${more}`];
}

/**
 * What is to be said of files that are not in the list.
 *
 * @param listed How many are.
 * @param files How many there are, if that is known.
 */
export function unlistedNotices(listed: number, files: number | undefined): string[] {
  if (files !== undefined && files > listed) {
    const rest = count(files - listed);
    return [`${rest} of ${count(files)} files are not reviewed: GitHub lists ${count(MAX_LISTED_FILES)} at most`];
  }
  if (files !== undefined || listed < MAX_LISTED_FILES) return [];
  return [`GitHub lists ${count(MAX_LISTED_FILES)} files at most: whatever changes beyond them is not reviewed`];
}

function count(number: number): string {
  return number.toLocaleString("en-US");
}
