/**
 * What a review comes to: the report, which is the JSON that `--format json` prints, and the events on the way to it.
 *
 * @module
 */

import type { Plan, PlannedFile } from "./diff.ts";
import type { Finding } from "./findings.ts";

/** A run of text in a review: the built-in checks, a part by its number, or the summing up. */
export type Section = "checks" | number | "summary";

/** How far the review of a part has come. `pending` has not been asked. */
export type PartStatus = "done" | "incomplete" | "failed" | "pending";

/** Tokens, as the provider counted them. */
export interface Usage {
  promptTokens?: number;
  completionTokens?: number;
}

/** One part of a review. */
export interface ReportPart {
  number: number;
  files: string[];
  /** Size of its diff, in characters. */
  chars: number;
  status: PartStatus;
  /** Markdown. */
  review?: string;
  usage?: Usage;
  stopReason?: string;
  error?: string;
}

/** The summing up of a review with several parts. */
export interface ReportSummary {
  status: "done" | "incomplete" | "failed" | "skipped";
  /** Markdown. */
  review?: string;
  usage?: Usage;
  error?: string;
}

/** A whole review, version 1 of the JSON. */
export interface Report {
  version: 1;
  title: string;
  source: { kind: string; base?: string; head?: string };
  /** `PROVIDER/NAME`, or `builtin`. */
  model: string;
  status: "complete" | "incomplete" | "nothing" | "planned";
  totals: { files: number; additions: number; deletions: number };
  files: PlannedFile[];
  parts: ReportPart[];
  summary?: ReportSummary;
  findings: Finding[];
  /** Id of the saved conversation. */
  conversation?: string;
}

/** What a plan says of a part without its diff. */
export interface PlannedPart {
  number: number;
  files: string[];
  chars: number;
  /** Tokens of its prompt, estimated; absent where no model is asked. */
  promptTokens?: number;
}

/** What happens in a review, in this order; deltas of parts that are asked at once still come part by part. */
export type ReviewEvent =
  | { type: "source"; kind: string; title: string; description: string; base?: string; head?: string }
  | { type: "notice"; level: "info" | "warning"; message: string }
  | {
    type: "plan";
    files: PlannedFile[];
    parts: PlannedPart[];
    totals: Plan["totals"];
    maxDiffChars: number;
    model: string;
    /** Host that the diff is sent to; absent for the built-in checks. */
    host?: string;
  }
  | { type: "section"; section: Section; parts: number; files: string[]; chars: number }
  | { type: "waiting"; section: Section; reason: string; milliseconds: number }
  | { type: "reasoning"; section: Section; text: string }
  | { type: "delta"; section: Section; text: string }
  /** The section's deltas so far were the model's reasoning, not its answer. */
  | { type: "discard"; section: Section }
  | { type: "part"; part: ReportPart }
  | { type: "summary"; summary: ReportSummary }
  | { type: "saved"; conversation: string }
  | { type: "finding"; finding: Finding }
  | { type: "end"; report: Report };
