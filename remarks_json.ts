/**
 * The remarks of a review that is JSON, which nobody asked for and small models write all the same.
 *
 * @module
 */

import { DEFAULT_SEVERITY, MAX_REMARKS, peel, plainInline, type Remark, severityIn, splitTitle } from "./phrases.ts";
import { PathIndex, placeAtStart } from "./places.ts";

const LISTS = ["issues", "findings", "problems", "bugs", "comments", "review", "reviews", "results", "risks"];
const PATHS = ["path", "file", "filename", "file_path", "filePath", "relevant_file", "location"];
const LINES = ["line", "start_line", "startLine", "line_number", "lineNumber", "lines", "line_start"];
const END_LINES = ["end_line", "endLine", "line_end"];
const TITLES = ["title", "summary", "message", "issue", "problem", "comment", "description", "body", "text", "review"];
const BODIES = ["description", "explanation", "details", "body", "impact", "failure", "reason", "comment", "message"];
const CODES = ["quote", "code", "existing_code", "existingCode", "current_code", "snippet", "line_content"];
const SEVERITIES = ["severity", "level", "priority", "type", "kind"];

type Json = { readonly [name: string]: unknown };

/** Reads the remarks of a review in JSON; `undefined` if it is none. */
export function readJsonRemarks(
  review: string,
  files: readonly { path: string; oldPath?: string }[],
): Remark[] | undefined {
  for (const text of candidates(review)) {
    const value = parse(text);
    const list = value === undefined ? undefined : listOf(value);
    if (!list) continue;
    const paths = new PathIndex(files);
    return list.slice(0, MAX_REMARKS).flatMap((entry) => isObject(entry) ? toRemark(entry, paths) ?? [] : []);
  }
  return undefined;
}

/** Where JSON may stand: in the first fence, else from the first bracket that starts a line to the last one. */
function candidates(review: string): string[] {
  const fence = /^[ \t]*```(?:[ \t]*json[a-z]*)?[ \t]*\n(?=\s*[[{])/im.exec(review);
  const found: string[] = [];
  if (fence) {
    const start = fence.index + fence[0].length;
    const end = review.indexOf("```", start);
    found.push(review.slice(start, end < 0 ? undefined : end));
  }
  const bare = /^[ \t]*[[{]/m.exec(review);
  const last = Math.max(review.lastIndexOf("}"), review.lastIndexOf("]"));
  if (bare && last > bare.index) found.push(review.slice(bare.index, last + 1));
  return found;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // no JSON: the review is read as Markdown
  }
}

/** The list of issues in a value: the value itself, or a field that is named so. */
function listOf(value: unknown): readonly unknown[] | undefined {
  if (Array.isArray(value)) return value.some((entry) => isObject(entry) && isIssue(entry)) ? value : undefined;
  if (!isObject(value)) return undefined;
  for (const name of LISTS) {
    const list = value[name];
    if (Array.isArray(list)) return list;
    if (isObject(list)) return listOf(list);
  }
  return isIssue(value) ? [value] : undefined;
}

function isIssue(entry: Json): boolean {
  return text(entry, PATHS) !== undefined && text(entry, TITLES) !== undefined;
}

function toRemark(entry: Json, paths: PathIndex): Remark | undefined {
  const said = text(entry, TITLES);
  if (said === undefined) return undefined;
  const peeled = peel(plainInline(said), paths);
  const { title, body } = splitTitle(peeled.title);
  if (title === "" || peeled.good) return undefined;
  const path = text(entry, PATHS);
  const named = path === undefined ? undefined : placeAtStart(`\`${path}\``, paths)?.place ?? { said: path };
  const only = paths.only === undefined ? {} : { said: paths.only, path: paths.only };
  const code = text(entry, CODES);
  const more = text(entry, BODIES);
  return {
    severity: severityIn(text(entry, SEVERITIES) ?? "") ?? peeled.severity ?? DEFAULT_SEVERITY,
    place: { ...(named ? {} : only), ...named, ...linesOf(entry, paths) },
    title,
    body: more === undefined || more === said ? body : more,
    quotes: code === undefined ? [] : [{ lines: code.split("\n"), sure: true }],
  };
}

function linesOf(entry: Json, paths: PathIndex): { line?: number; endLine?: number } {
  const said = text(entry, LINES);
  const end = text(entry, END_LINES);
  if (said === undefined) return {};
  const { line, endLine } = placeAtStart(`lines ${said}${end === undefined ? "" : `-${end}`}`, paths)?.place ?? {};
  return { ...(line !== undefined && { line }), ...(endLine !== undefined && { endLine }) };
}

/** The first of the fields that holds text or a number. */
function text(entry: Json, names: readonly string[]): string | undefined {
  for (const name of names) {
    const value = Object.hasOwn(entry, name) ? entry[name] : undefined;
    if (typeof value === "string" && value.trim() !== "") return value;
    if (typeof value === "number" && Number.isFinite(value)) return String(value);
    if (Array.isArray(value) && value.length > 0 && value.every((item) => typeof item === "number")) {
      return value.join("-");
    }
  }
  return undefined;
}

function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
