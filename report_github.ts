/**
 * A report as annotations of a GitHub Actions workflow.
 *
 * Sources: GitHub Docs, "Workflow commands for GitHub Actions"; actions/toolkit, `core/src/command.ts` (what is escaped).
 *
 * @module
 */

import { closingLine, count, fileCoverage, isPartial } from "./coverage.ts";
import { clipText, type Entry, type Level, oneLine, readEntries } from "./entries.ts";
import type { Report } from "./report.ts";

/** Annotations of each kind that GitHub shows of a step. */
export const MAX_OF_A_KIND = 10;
/** Characters of a title: one line beside the file's name. */
const MAX_TITLE_CHARS = 200;
/** Characters of a message, so that thirty of them can be read in a log; GitHub takes 64 KB. */
const MAX_MESSAGE_CHARS = 4_000;
/** Lines of the closing notice: files that were not reviewed in full, findings without a place. */
const MAX_LIST = 20;

const COMMANDS: { readonly [L in Level]: string } = { error: "error", warning: "warning", note: "notice" };

/** The most severe findings as annotations, then one notice with what is not among them and what was reviewed. */
export function githubReport(report: Report): string {
  const { entries, placeless } = readEntries(report.findings);
  const of = (level: Level, most: number) => entries.filter((entry) => entry.level === level).slice(0, most);
  // The closing notice is one of the ten.
  const shown = [...of("error", MAX_OF_A_KIND), ...of("warning", MAX_OF_A_KIND), ...of("note", MAX_OF_A_KIND - 1)];
  const left = entries.filter((entry) => !shown.includes(entry));
  const lines = [...shown.map(annotation), command("notice", { title: "octavo" }, closing(report, left, placeless))];
  return `${lines.join("\n")}\n`;
}

function annotation({ level, path, line, endLine, title, body, finding }: Entry): string {
  const properties = {
    file: path,
    ...(line === undefined ? {} : { line, endLine }),
    title: clipText(
      `${finding.severity}: ${title}${finding.rule === undefined ? "" : ` (${finding.rule})`}`,
      MAX_TITLE_CHARS,
    ),
  };
  return command(COMMANDS[level], properties, clipText(body === "" ? title : body, MAX_MESSAGE_CHARS));
}

function closing(report: Report, left: readonly Entry[], placeless: Report["findings"]): string {
  const kinds = (["bug", "risk", "nit"] as const).map((severity) => ({
    severity,
    n: left.filter(({ finding }) => finding.severity === severity).length,
  })).filter(({ n }) => n > 0).map(({ n, severity }) => count(n, severity));
  const partial = report.files.filter((file) => isPartial(file, report));
  return [
    ...(left.length > 0 ? [`${left.length} more (${kinds.join(", ")}): GitHub shows ${MAX_OF_A_KIND} of a kind.`] : []),
    closingLine(report),
    ...list(partial.map((file) => `${oneLine(file.path)}: ${fileCoverage(file, report)}`)),
    ...(placeless.length > 0 ? [`${count(placeless.length, "finding")} without a place in the change:`] : []),
    ...list(placeless.map(({ severity, title }) => `${severity}: ${oneLine(title)}`)),
  ].join("\n");
}

function list(items: readonly string[]): string[] {
  const shown = items.slice(0, MAX_LIST).map((item) => `- ${item}`);
  return items.length > MAX_LIST ? [...shown, `- and ${items.length - MAX_LIST} more`] : shown;
}

function command(name: string, properties: Record<string, string | number | undefined>, message: string): string {
  const pairs = Object.entries(properties).filter(([, value]) => value !== undefined)
    .map(([key, value]) => `${key}=${escapeProperty(String(value))}`);
  return `::${name} ${pairs.join(",")}::${escapeData(message)}`;
}

function escapeData(text: string): string {
  return text.toWellFormed().replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
}

function escapeProperty(text: string): string {
  return escapeData(text).replaceAll(":", "%3A").replaceAll(",", "%2C");
}
