/**
 * A review as Markdown, as it streams: what a pipe gets, and what a terminal lays out.
 *
 * @module
 */

import { closingLine, describeStatus, fileCoverage, inlineCode, isPartial } from "./coverage.ts";
import { coverageLine, lineCounts, type PlannedFile } from "./diff.ts";
import type { PlannedPart, Report, ReviewEvent, Section } from "./report.ts";
import type { PlacedSecret } from "./secrets.ts";

/** The review as Markdown, as it streams. */
export function markdownFormatter(): (event: ReviewEvent) => string {
  let planned: PlannedPart[] = [];
  let secrets: PlacedSecret[] = [];
  let empty = true;
  let end = "\n"; // the last characters written
  const write = (text: string) => {
    if (text === "") return "";
    empty = false;
    end = (end + text).slice(-2);
    return text;
  };
  /** Text that stands apart from what is before it. */
  const block = (text: string) => write((empty ? "" : end === "\n\n" ? "" : end.endsWith("\n") ? "\n" : "\n\n") + text);
  return (event) => {
    switch (event.type) {
      case "plan":
        planned = event.parts;
        secrets = event.secrets ?? [];
        return "";
      case "section":
        return hasHeading(event.section, event.parts) ? block(`${heading(event.section, event.parts)}\n\n`) : block("");
      case "delta":
        return write(event.text);
      case "discard":
        return block("*(What stands above was the model's reasoning, not its answer.)*\n\n");
      case "part":
      case "summary": {
        const { status, error } = event.type === "part" ? event.part : event.summary;
        return status === "done"
          ? ""
          : block(`> **${nameOf(event)} ${describeStatus(status)}**: ${error ?? "no reason given"}\n`);
      }
      case "end":
        return event.report.status === "planned"
          ? write(planText(event.report, planned, secrets))
          : block(`${partialFiles(event.report)}${closingLine(event.report)}\n`);
      default:
        return "";
    }
  };
}

/** One part alone needs no heading, unless the checks stand before it. */
function hasHeading(section: Section, parts: number): boolean {
  return typeof section !== "number" || parts > 1;
}

function heading(section: Section, parts: number): string {
  if (section === "checks") return "# Built-in checks";
  return section === "summary" ? "# Summing up" : `# Part ${section} of ${parts}`;
}

function nameOf(event: Extract<ReviewEvent, { type: "part" | "summary" }>): string {
  return event.type === "part" ? `Part ${event.part.number}` : "The summing up";
}

/** Files that are named one by one. */
const MAX_PARTIAL_FILES = 40;
/** Skipped files that are named. */
const MAX_SKIPPED_FILES = 12;

/** What was not reviewed in full, a line for each file; what was skipped as noise in one line. */
function partialFiles(report: Report): string {
  if (report.status === "nothing") return "";
  const partial = report.files.filter((file) => file.coverage !== "skipped" && isPartial(file, report));
  const items = partial.slice(0, MAX_PARTIAL_FILES).map((file) =>
    `- ${inlineCode(file.path)}: ${fileCoverage(file, report)}\n`
  );
  if (partial.length > items.length) items.push(`- and ${partial.length - items.length} more\n`);
  const list = items.length > 0 ? `Not reviewed in full:\n\n${items.join("")}\n` : "";
  const skipped = report.files.filter(({ coverage }) => coverage === "skipped");
  if (skipped.length === 0) return list;
  const names = skipped.slice(0, MAX_SKIPPED_FILES).map(({ path, reason }) => `${inlineCode(path)} (${reason})`);
  const more = skipped.length > names.length ? ` and ${skipped.length - names.length} more` : "";
  return `${list}Skipped: ${names.join(", ")}${more}\n\n`;
}

/** What would be sent, cut, skipped and left. */
function planText(
  { title, files, totals }: Report,
  parts: readonly PlannedPart[],
  secrets: readonly PlacedSecret[],
): string {
  const number = (n: number) => n.toLocaleString("en-US");
  const sum = (key: "chars" | "promptTokens") => number(parts.reduce((total, part) => total + (part[key] ?? 0), 0));
  const lines = [
    `# ${title}`,
    "",
    `${coverageLine({ files })}; ${lineCounts(totals)}.`,
    `${parts.length === 1 ? "1 part" : `${parts.length} parts`}: ${sum("chars")} characters of diff, about ${
      sum("promptTokens")
    } tokens to send.`,
  ];
  for (const part of parts) {
    const tokens = part.promptTokens === undefined ? "" : `, about ${number(part.promptTokens)} tokens`;
    lines.push("", `## Part ${part.number}: ${number(part.chars)} characters${tokens}`, "");
    lines.push(...files.filter((file) => file.part === part.number).map(plannedLine));
  }
  for (const [name, coverage] of [["Skipped", "skipped"], ["Not reviewed", "unreviewed"]] as const) {
    const left = files.filter((file) => file.coverage === coverage);
    if (left.length > 0) lines.push("", `## ${name}`, "", ...left.map((file) => `- ${file.path}: ${file.reason}`));
  }
  if (secrets.length > 0) {
    lines.push("", "## Secrets", "", "Replaced before anything is sent to another machine:", "");
    lines.push(
      ...secrets.map(({ path, line, side, title }) =>
        `- ${path}${line === undefined ? "" : `:${line}`}${side === "old" ? " (removed)" : ""}: ${title}`
      ),
    );
  }
  return `${lines.join("\n")}\n`;
}

function plannedLine(file: PlannedFile): string {
  const { path, oldPath, status, chars, coverage, hunks, hunksSent, linesOmitted } = file;
  const trimmed = coverage === "trimmed"
    ? ` (trimmed: ${hunksSent} of ${hunks} hunks, ${linesOmitted} lines omitted)`
    : "";
  const name = oldPath === undefined ? path : `${oldPath} → ${path}`;
  return `- ${name}: ${status}, ${lineCounts(file)}, ${chars.toLocaleString("en-US")} characters${trimmed}`;
}
