/**
 * A report as `path:line:column: severity: message`, a line each, as compilers write: Vim's default `errorformat`, Emacs
 * and `grep` read it. It has no room for what was left out.
 *
 * @module
 */

import { clipText, type Entry, oneLine, readEntries } from "./entries.ts";
import type { Report } from "./report.ts";
import { visible } from "./text.ts";

/** Characters of a message: a line of a list. */
const MAX_MESSAGE_CHARS = 1_000;

/** The findings that have a place, as lines. What is about a whole file or a removed line is at line 1. */
export function unixReport(report: Report): string {
  return readEntries(report.findings).entries.map((entry) => `${describe(entry)}\n`).join("");
}

function describe({ path, line = 1, code, level, title, body, rule }: Entry): string {
  const text = clipText(body === "" ? title : `${title}: ${oneLine(body)}`, MAX_MESSAGE_CHARS);
  return harmless(`${visible(path).replaceAll("\n", "␊")}:${line}:${column(code?.[0])}: ${level}: ${text} [${rule}]`);
}

/** Column of the first character that is no space, in bytes from 1, as Vim and compilers count. */
function column(text = ""): number {
  const indent = text.slice(0, text.length - text.trimStart().length);
  return text.trim() === "" ? 1 : new TextEncoder().encode(indent).length + 1;
}

/** A line that a GitHub runner does not take for a command: one begins with `::` or holds `##[`. */
function harmless(line: string): string {
  return (/^\s*::/.test(line) ? `./${line}` : line).replaceAll("##[", "## [");
}
