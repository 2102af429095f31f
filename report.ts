/**
 * What a review comes to: the report, which is the JSON that `--format json` prints, and the events on the way to it.
 *
 * @module
 */

import type { Plan, PlannedFile } from "./diff.ts";
import type { PlacedSecret } from "./secrets.ts";
import type { Finding } from "./finding.ts";

/** A run of text in a review: the built-in checks, a part by its number, or the summing up. */
export type Section = "checks" | number | "summary";

/** How far the review of a part has come. `pending` has not been asked. */
export type PartStatus = "done" | "incomplete" | "failed" | "pending";

/** Tokens, as the provider counted them. */
export interface Usage {
  /** Tokens of what was sent. */
  promptTokens?: number;
  /** Tokens of the answer. */
  completionTokens?: number;
}

/** One part of a review. */
export interface ReportPart {
  /** From 1. */
  number: number;
  /** Paths. */
  files: string[];
  /** Size of its diff, in characters. */
  chars: number;
  /** How far it is. */
  status: PartStatus;
  /** Markdown. */
  review?: string;
  /** What it cost. */
  usage?: Usage;
  /** Why the model stopped. */
  stopReason?: string;
  /** What failed, or why the answer is not whole. */
  error?: string;
}

/** The summing up of a review with several parts. */
export interface ReportSummary {
  /** How far it is; skipped after a stop or a failure. */
  status: "done" | "incomplete" | "failed" | "skipped";
  /** Markdown. */
  review?: string;
  /** What it cost. */
  usage?: Usage;
  /** What failed, or why the answer is not whole. */
  error?: string;
}

/** A whole review, version 1 of the JSON. */
export interface Report {
  /** Version of this format. */
  version: 1;
  /** What was reviewed. */
  title: string;
  /** Where it came from; full hashes where there are any. */
  source: { kind: string; base?: string; head?: string };
  /** `PROVIDER/NAME`, or `builtin`. */
  model: string;
  /** `nothing` where all is noise or there is no change, `planned` where nobody was asked. */
  status: "complete" | "incomplete" | "nothing" | "planned";
  /** Of the whole change. */
  totals: { files: number; additions: number; deletions: number };
  /** Every file of the change, with its coverage. */
  files: PlannedFile[];
  /** Empty where no model is asked. */
  parts: ReportPart[];
  /** Absent where there is one part. */
  summary?: ReportSummary;
  /** Of the checks, the parts and the summing up; what was said twice is there once. */
  findings: Finding[];
  /** Id of the saved conversation. */
  conversation?: string;
}

/** What a plan says of a part without its diff. */
export interface PlannedPart {
  /** From 1. */
  number: number;
  /** Paths. */
  files: string[];
  /** Size of its diff, in characters. */
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
    /** Secrets in what is sent, replaced where that goes to another machine; absent where there are none. */
    secrets?: PlacedSecret[];
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
