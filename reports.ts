/**
 * Events to machines, and to the Markdown that a pipe gets: each format is a function from an event to text. What one of
 * them needs is loaded with it.
 *
 * @module
 */

import { closingLine, count, fileCoverage, isPartial } from "./coverage.ts";
import type { FileDiff } from "./diff.ts";
import { jsonText, oneLine, readEntries } from "./entries.ts";
import type { Report, ReviewEvent } from "./report.ts";
import type { Format } from "./settings.ts";

export { type Format, FORMATS } from "./settings.ts";

/** Takes the events of a review in their order and gives what to write for each. */
export type Formatter = (event: ReviewEvent) => string;

/** What a format may need beside the events. */
export interface FormatterOptions {
  /**
   * The files of the change with the text that may be shown of them, asked for at the end; only `html` shows any.
   * @default none
   */
  diff?: (() => readonly FileDiff[]) | undefined;
}

/** A formatter for the name of a format. */
export async function createFormatter(format: Format, options: FormatterOptions = {}): Promise<Formatter> {
  switch (format) {
    case "markdown":
      return (await import("./report_markdown.ts")).markdownFormatter();
    case "json":
      return atEnd((report) => `${jsonText(report, 2)}\n`);
    case "jsonl":
      return (event) => `${jsonText(event)}\n`;
    case "sarif":
      return atEnd((await import("./report_sarif.ts")).sarifReport);
    case "github":
      return atEnd((await import("./report_github.ts")).githubReport);
    case "gitlab":
      return atEnd((await import("./report_gitlab.ts")).gitlabReport);
    case "rdjsonl":
      return atEnd((await import("./report_rdjsonl.ts")).rdjsonlReport);
    case "unix":
      return atEnd((await import("./report_unix.ts")).unixReport);
    case "html": {
      const { htmlReport } = await import("./report_html.ts");
      return atEnd((report) => htmlReport(report, options.diff?.() ?? []));
    }
  }
}

function atEnd(write: (report: Report) => string): Formatter {
  return (event) => event.type === "end" ? write(event.report) : "";
}

/** Formats that hold findings and nothing else. */
const WITHOUT_ROOM: readonly Format[] = ["gitlab", "rdjsonl", "unix"];

/** Files that are named one by one. */
const MAX_NOTES = 100;

/** What a format has no room for, to be said beside it: what was not reviewed in full, findings without a place. */
export function notesBeside(format: Format, report: Report): string[] {
  if (!WITHOUT_ROOM.includes(format)) return [];
  const partial = report.files.filter((file) => isPartial(file, report)).map((file) =>
    `${oneLine(file.path)}: ${fileCoverage(file, report)}`
  );
  const { placeless } = readEntries(report.findings);
  return [
    ...partial.slice(0, MAX_NOTES),
    ...(partial.length > MAX_NOTES ? [`${count(partial.length - MAX_NOTES, "more file")} not reviewed in full`] : []),
    ...placeless.map(({ severity, title }) =>
      `Not in ${format}, which takes no finding without a file: ${severity}: ${title}`
    ),
    closingLine(report),
  ];
}
