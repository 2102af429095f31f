/**
 * Events to machines, and to the Markdown that a pipe gets: each format is a function from an event to text.
 *
 * @module
 */

import { coverageLine, lineCounts, type PlannedFile } from "./diff.ts";
import type { PlannedPart, Report, ReviewEvent, Section } from "./report.ts";

/** Takes the events of a review in their order and gives what to write for each. */
export type Formatter = (event: ReviewEvent) => string;

/** A formatter for the name of a format. */
export function createFormatter(format: "markdown" | "json" | "jsonl"): Formatter {
  switch (format) {
    case "json":
      return (event) => event.type === "end" ? `${JSON.stringify(event.report, undefined, 2)}\n` : "";
    case "jsonl":
      return (event) => `${JSON.stringify(event)}\n`;
    case "markdown":
      return markdownFormatter();
  }
}

/** The review as Markdown, as it streams. */
function markdownFormatter(): Formatter {
  let planned: PlannedPart[] = [];
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
          ? write(planText(event.report, planned))
          : block(`${closingLine(event.report)}\n`);
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

function describeStatus(status: string): string {
  return status === "pending" ? "was not asked" : status === "failed" ? "has failed" : "is incomplete";
}

/** What was reviewed, and whether that is all of it. */
function closingLine(report: Report): string {
  if (report.status === "nothing") {
    return report.files.length === 0 ? "Nothing to review." : `Nothing to review: ${coverageLine(report)}.`;
  }
  const missing = report.parts.filter(({ status }) => status !== "done").length;
  const incomplete = report.status === "incomplete"
    ? ` The review is incomplete${
      missing > 0 ? `: ${missing} of ${report.parts.length} parts are missing or cut` : ""
    }.`
    : "";
  return `${coverageLine(report)}.${incomplete}`;
}

/** What would be sent, cut, skipped and left. */
function planText({ title, files, totals, findings }: Report, parts: readonly PlannedPart[]): string {
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
  const secrets = findings.filter(({ rule }) => rule === "private-key");
  if (secrets.length > 0) {
    lines.push(
      "",
      "## Secrets",
      "",
      ...secrets.map(({ path, line, title }) => `- ${path}:${line}: ${title}`),
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
