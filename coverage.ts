/**
 * What of a change was reviewed, in words: one line for all of it, one for each file.
 *
 * @module
 */

import { coverageLine, type PlannedFile } from "./diff.ts";
import type { Report } from "./report.ts";

/** What was reviewed, and whether that is all of it: one line. */
export function closingLine(report: Report): string {
  if (report.status === "nothing") {
    return report.files.length === 0 ? "Nothing to review." : `Nothing to review: ${coverageLine(report)}.`;
  }
  const missing = report.parts.filter(({ status }) => status !== "done").length;
  const incomplete = report.status === "incomplete"
    ? ` The review is incomplete${
      missing > 0 ? `: ${missing} of ${report.parts.length} parts are missing or cut` : ""
    }.`
    : "";
  return `${coverageLine({ files: report.files.map((file) => asReviewed(file, report)) })}.${incomplete}`;
}

/** A file as it was reviewed, not as it was planned: one whose part is missing or cut was not. */
function asReviewed(file: PlannedFile, report: Report): PlannedFile {
  const part = report.parts.find(({ number }) => number === file.part);
  if (report.status === "planned" || part === undefined || part.status === "done") return file;
  return {
    ...file,
    coverage: "unreviewed",
    reason: part.status === "incomplete" ? "their part is cut" : "their part is missing",
  };
}

/**
 * How much of a file was reviewed.
 *
 * @returns Such as `3 of 5 hunks reviewed, 341 lines left out`.
 */
export function fileCoverage(file: PlannedFile, { parts, status }: Pick<Report, "parts" | "status">): string {
  const { hunks, hunksSent, linesOmitted, reason } = file;
  const part = parts.find(({ number }) => number === file.part);
  const isAsked = status !== "planned" && part !== undefined;
  const done = status === "planned" ? "to review" : isAsked && part.status !== "done" ? "in the part" : "reviewed";
  const words = [`${hunksSent} of ${count(hunks, "hunk")} ${done}`];
  if (linesOmitted > 0) words.push(`${count(linesOmitted, "line")} left out`);
  if (isAsked && part.status !== "done") words.push(`but part ${part.number} ${describeStatus(part.status)}`);
  return `${words.join(", ")}${reason === undefined ? "" : ` (${reason})`}`;
}

/** Whether less than all of a file was reviewed. */
export function isPartial(file: PlannedFile, { parts, status }: Pick<Report, "parts" | "status">): boolean {
  if (file.coverage !== "full") return true;
  return status === "incomplete" && parts.some((part) => part.number === file.part && part.status !== "done");
}

/** What happened to a part or to the summing up that is not done. */
export function describeStatus(status: string): string {
  const words: Record<string, string> = { pending: "was not asked", failed: "has failed", skipped: "was skipped" };
  return words[status] ?? `is ${status}`;
}

/** A number with its noun. */
export function count(n: number, noun: string): string {
  return `${n} ${noun}${n === 1 ? "" : "s"}`;
}

/** Text in one line as code in Markdown, whatever is in it (CommonMark, section 6.1). */
export function inlineCode(text: string): string {
  const content = text.replace(/\s+/g, " ");
  const longest = Math.max(0, ...(content.match(/`+/g) ?? []).map((run) => run.length));
  const mark = "`".repeat(longest + 1);
  return longest > 0 ? `${mark} ${content} ${mark}` : `${mark}${content}${mark}`;
}
