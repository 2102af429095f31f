/**
 * A report as GitLab's code quality report.
 *
 * Source: GitLab Docs, "Code Quality", section "Code Quality report format". It has no room for what was left out.
 *
 * @module
 */

import type { Finding } from "./finding.ts";
import { clipText, type Entry, jsonText, oneLine, readEntries } from "./entries.ts";
import type { Report } from "./report.ts";

/** Characters of a description: it is one line of a list. */
const MAX_DESCRIPTION_CHARS = 1_000;

const SEVERITIES: { readonly [S in Finding["severity"]]: string } = { bug: "critical", risk: "major", nit: "minor" };

/** The findings that have a place, as a JSON array. */
export function gitlabReport(report: Report): string {
  return `${jsonText(readEntries(report.findings).entries.map(issue), 2)}\n`;
}

function issue({ rule, path, line = 1, endLine = line, title, body, fingerprint, occurrence, finding }: Entry) {
  const text = body === "" ? title : `${title}: ${oneLine(body)}`;
  return {
    description: clipText(text, MAX_DESCRIPTION_CHARS),
    check_name: rule,
    // GitLab shows one of those that have the same.
    fingerprint: occurrence === 1 ? fingerprint : `${fingerprint}-${occurrence}`,
    severity: finding.grounded ? SEVERITIES[finding.severity] : "info",
    location: { path, lines: { begin: line, end: endLine } },
  };
}
