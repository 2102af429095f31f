/**
 * Findings as the formats of other tools take them: with a place, a level, a stable category and a fingerprint.
 *
 * @module
 */

import { createHash } from "node:crypto";
import type { Finding } from "./finding.ts";
import { visible } from "./text.ts";

/** How loud a finding is. One that the change does not bear out is never more than a note. */
export type Level = "error" | "warning" | "note";

/** A finding with a place. */
export interface Entry {
  /** What it is made of. */
  finding: Finding;
  /** Category that stays the same between runs: the rule of a check, else `model-bug`, `model-risk`, `model-nit`. */
  rule: string;
  level: Level;
  path: string;
  /** First line on the new side, from 1; absent where it is about the whole file or about a removed line. */
  line?: number;
  /** Last line on the new side. */
  endLine?: number;
  /** The lines of code from `line` to `endLine`, where they are known. */
  code?: string[];
  /** One line. */
  title: string;
  /** What is to be said beside the title, Markdown; may be empty. */
  body: string;
  /** Hash of what stays the same when lines move: path, category and quote, or the title where there is no quote. */
  fingerprint: string;
  /** How many findings before it have the same fingerprint, from 1: the first is 1. */
  occurrence: number;
}

/** The findings of a report, most severe first. */
export interface Entries {
  entries: Entry[];
  /** Those that name no file of the change: a format in which everything has a place cannot hold them. */
  placeless: Finding[];
}

const RANKS: { readonly [L in Level]: number } = { error: 0, warning: 1, note: 2 };
const LEVELS: { readonly [S in Finding["severity"]]: Level } = { bug: "error", risk: "warning", nit: "note" };

/** Reads the findings of a report for the formats of other tools. */
export function readEntries(findings: readonly Finding[]): Entries {
  const seen = new Map<string, number>();
  const entries: Entry[] = [];
  const placeless: Finding[] = [];
  for (const finding of findings) {
    if (finding.path === undefined || finding.anchor === "none") placeless.push(finding);
    else {
      const fingerprint = fingerprintOf(finding, finding.path);
      const occurrence = (seen.get(fingerprint) ?? 0) + 1;
      seen.set(fingerprint, occurrence);
      entries.push(entryOf(finding, finding.path, fingerprint, occurrence));
    }
  }
  return { entries: entries.sort((a, b) => RANKS[a.level] - RANKS[b.level]), placeless };
}

function entryOf(finding: Finding, path: string, fingerprint: string, occurrence: number): Entry {
  const { severity, side, line, endLine = line, quote, grounded, title, body } = finding;
  const removed = side === "old" && line !== undefined;
  const notes = [
    ...(removed ? [`It is about a removed line: line ${line} of the old file.`] : []),
    ...(grounded ? [] : ["No line of the change bears this out: it names only the file."]),
  ];
  const code = removed ? undefined : quote?.split("\n");
  return {
    finding,
    rule: finding.rule ?? `model-${severity}`,
    level: grounded ? LEVELS[severity] : "note",
    path,
    ...(removed || line === undefined ? {} : { line }),
    ...(removed || endLine === undefined ? {} : { endLine }),
    ...(code !== undefined && code.length === endLine! - line! + 1 ? { code } : {}),
    title: oneLine(title),
    body: visible([body, ...notes].filter((text) => text !== "").join("\n\n")),
    fingerprint,
    occurrence,
  };
}

/** The words of a model change from run to run; what it quotes does not. */
function fingerprintOf({ rule = "model", quote, title }: Finding, path: string): string {
  const what = (quote?.trim() ? quote : title).replace(/\s+/g, " ").trim();
  return createHash("sha256").update(JSON.stringify([path, rule, what])).digest("hex").slice(0, 32);
}

/** Text in one line, with what is not visible in it made visible. */
export function oneLine(text: string): string {
  return visible(text.replace(/\s+/g, " ").trim());
}

/** Text of at most `most` characters; what is cut is said. */
export function clipText(text: string, most: number): string {
  const mark = " … (cut)";
  return text.length <= most ? text : text.slice(0, most - mark.length).toWellFormed() + mark;
}

/**
 * A value as JSON. What a GitHub runner could take for a command of the older kind (`##[`, anywhere in a line) is escaped:
 * it means the same as JSON.
 */
export function jsonText(value: unknown, indent?: number): string {
  return JSON.stringify(value, undefined, indent).replaceAll("##[", "#\\u0023[");
}
