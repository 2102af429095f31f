/**
 * A report as SARIF 2.1.0, the way GitHub's code scanning takes it.
 *
 * Sources: Static Analysis Results Interchange Format (SARIF) Version 2.1.0 (OASIS); GitHub Docs, "SARIF support for code
 * scanning".
 *
 * @module
 */

import { rules } from "./checks.ts";
import { closingLine, fileCoverage } from "./coverage.ts";
import { type Entry, jsonText, type Level, readEntries } from "./entries.ts";
import type { Report } from "./report.ts";
import { VERSION } from "./version.ts";

/** Results of a run that GitHub takes: with more it refuses the file. */
export const MAX_RESULTS = 25_000;

const INFORMATION_URI = "https://jsr.io/@octavo/octavo";

const MODEL_RULES: Readonly<Record<string, { level: Level; short: string; full: string }>> = {
  "model-bug": {
    level: "error",
    short: "Bug, says the model",
    full: "A model that reviewed the change says that it is wrong: it fails, corrupts or lets somebody in.",
  },
  "model-risk": {
    level: "warning",
    short: "Risk, says the model",
    full: "A model that reviewed the change says that it may go wrong.",
  },
  "model-nit": {
    level: "note",
    short: "Nit, says the model",
    full: "A model that reviewed the change says that it could be better.",
  },
};

const MODEL_HELP =
  "A model's remark, tied to the change by the code it quotes or by its line. Read it before you act on it.";

/** A report as SARIF. */
export function sarifReport(report: Report): string {
  const { entries, placeless } = readEntries(report.findings);
  const kept = entries.slice(0, MAX_RESULTS);
  const ids = [...new Set(kept.map(({ rule }) => rule))].sort();
  const log = {
    $schema: "https://json.schemastore.org/sarif-2.1.0.json",
    version: "2.1.0",
    runs: [{
      tool: {
        driver: {
          name: "octavo",
          version: VERSION,
          semanticVersion: VERSION,
          informationUri: INFORMATION_URI,
          rules: ids.map(describeRule),
        },
      },
      columnKind: "utf16CodeUnits",
      invocations: [{
        executionSuccessful: report.status !== "incomplete",
        toolExecutionNotifications: notifications(report, {
          cut: entries.length - kept.length,
          // GitHub refuses the whole file if one result has no place.
          placeless: placeless.map(({ severity, title, body }) => ["no file of the change", severity, title, body]),
        }),
      }],
      results: kept.map((entry) => result(entry, ids)),
      properties: properties(report),
    }],
  };
  return `${jsonText(log, 2)}\n`;
}

function result(entry: Entry, ids: readonly string[]) {
  const { rule, level, path, title, body, fingerprint, occurrence, finding } = entry;
  const { severity, grounded, anchor, source, parts } = finding;
  return {
    ruleId: rule,
    ruleIndex: ids.indexOf(rule),
    level,
    message: { text: body === "" ? title : `${title}\n\n${body}` },
    locations: [{ physicalLocation: { artifactLocation: { uri: pathUri(path) }, region: region(entry) } }],
    partialFingerprints: { primaryLocationLineHash: `${fingerprint}:${occurrence}` },
    properties: { severity, grounded, anchor, source, parts },
  };
}

/** Columns count UTF-16 units from 1; the end is the first column behind it (SARIF, section 3.30). */
function region({ line, endLine, code }: Entry) {
  if (line === undefined) return { startLine: 1, startColumn: 1 };
  const [first, last] = [code?.[0], code?.at(-1)];
  const startColumn = first === undefined ? 1 : first.length - first.trimStart().length + 1;
  return {
    startLine: line,
    startColumn,
    endLine: endLine ?? line,
    ...(last === undefined
      ? {}
      : { endColumn: Math.max(last.length + 1, (endLine ?? line) === line ? startColumn : 1) }),
  };
}

/** A path as a relative reference (RFC 3986, section 4.2): a colon in its first segment would make it a scheme. */
function pathUri(path: string): string {
  return path.toWellFormed().split("/").map(encodeURIComponent).join("/");
}

function describeRule(id: string) {
  const check = rules.find((rule) => rule.id === id);
  const model = MODEL_RULES[id];
  const short = model?.short ?? sentence(id);
  const help = check
    ? `${check.why}${check.ignorable === false ? "" : ` \`octavo-ignore ${id}\` on the line above silences it.`}`
    : MODEL_HELP;
  return {
    id,
    name: id,
    shortDescription: { text: short },
    fullDescription: { text: model?.full ?? check?.why ?? short },
    help: { text: help },
    defaultConfiguration: { level: model?.level ?? (check ? LEVELS[check.severity] : "warning") },
    properties: { tags: [check ? "check" : "model"] },
  };
}

const LEVELS = { bug: "error", risk: "warning", nit: "note" } as const;

/** `focused-test` as `Focused test`. */
function sentence(id: string): string {
  const words = id.replaceAll("-", " ");
  return words.slice(0, 1).toUpperCase() + words.slice(1);
}

/** What is no result: the coverage, what failed, and what could not be one. */
function notifications(report: Report, left: { cut: number; placeless: (readonly string[])[] }) {
  const note = (level: Level, text: string) => ({ level, message: { text } });
  const failed = [
    ...report.parts.map(({ number, status, error }) => ({ name: `Part ${number}`, status, error })),
    ...(report.summary ? [{ ...report.summary, name: "The summing up" }] : []),
  ].filter(({ status }) => status !== "done" && report.status === "incomplete");
  return [
    note(report.status === "incomplete" ? "error" : "note", closingLine(report)),
    ...failed.map(({ name, status, error }) => note("error", `${name}: ${status}${error ? ` (${error})` : ""}`)),
    ...left.placeless.map((words) => note("note", words.filter((word) => word !== "").join(": "))),
    ...(left.cut > 0 ? [note("warning", `${left.cut} more findings: GitHub takes ${MAX_RESULTS} results`)] : []),
  ];
}

function properties(report: Report) {
  const { title, model, status, files, source } = report;
  return {
    title,
    model,
    status,
    source,
    coverage: files.map((file) => ({
      path: file.path,
      coverage: file.coverage,
      hunks: file.hunks,
      hunksSent: file.hunksSent,
      linesOmitted: file.linesOmitted,
      ...(file.reason === undefined ? {} : { reason: file.reason }),
      text: fileCoverage(file, report),
    })),
  };
}
