/**
 * A report as reviewdog's diagnostics, a line each.
 *
 * Source: reviewdog, `proto/rdf/reviewdog.proto`. It has no room for what was left out.
 *
 * @module
 */

import { type Entry, jsonText, type Level, readEntries } from "./entries.ts";
import type { Report } from "./report.ts";

const SEVERITIES: { readonly [L in Level]: string } = { error: "ERROR", warning: "WARNING", note: "INFO" };

/** The findings that have a place, as lines of JSON. */
export function rdjsonlReport(report: Report): string {
  return readEntries(report.findings).entries.map((entry) => `${jsonText(diagnostic(entry))}\n`).join("");
}

function diagnostic(entry: Entry) {
  const { rule, level, path, title, body } = entry;
  return {
    message: body === "" ? title : `${title}\n\n${body}`,
    location: { path, ...range(entry) },
    severity: SEVERITIES[level],
    source: { name: "octavo" },
    code: { value: rule },
  };
}

/** Columns count bytes of UTF-8 from 1. Without an end the range has no length, and with lines alone it is whole lines. */
function range({ line, endLine = line, code }: Entry) {
  if (line === undefined) return {};
  const [first, last] = [code?.[0], code?.at(-1)];
  if (first === undefined || last === undefined) {
    return { range: endLine === line ? { start: { line, column: 1 } } : { start: { line }, end: { line: endLine } } };
  }
  const start = byteLength(first) - byteLength(first.trimStart()) + 1;
  return { range: { start: { line, column: start }, end: { line: endLine, column: byteLength(last) + 1 } } };
}

function byteLength(text: string): number {
  return new TextEncoder().encode(text).length;
}
