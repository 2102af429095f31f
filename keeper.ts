/**
 * Keeps a review as a conversation while it runs.
 *
 * @module
 */

import { type Conversation, recordPart, recordSummary, saveConversation, startConversation } from "./conversation.ts";
import { summarizeReview } from "./diff.ts";
import { UsageError } from "./errors.ts";
import type { Report } from "./report.ts";
import type { ReviewKeeper } from "./review.ts";
import type { SourceRequest } from "./sources.ts";

/** What is needed to make the same plan again, beside the budget. */
export interface Recipe {
  source: SourceRequest;
  exclude: string[];
  include: string[];
}

/** Where and as what a review is kept. */
export interface KeeperOptions {
  /** Folder of the conversations. */
  dir: string;
  /** Real path of the repository's root, if there is one. */
  repository: string | undefined;
  recipe: Recipe;
  now: () => number;
  /** The conversation to go on with, for `resume`. */
  conversation?: Conversation | undefined;
}

/** A keeper that saves a conversation after each part. */
export function conversationKeeper({ dir, repository, recipe, now, conversation }: KeeperOptions): ReviewKeeper {
  let current = conversation;
  return {
    async keep({ report, plan, hashes }) {
      const time = new Date(now());
      current ??= startConversation({
        title: report.title,
        repository,
        summary: summarizeReview(plan, report.title),
        review: { source: recipe, model: report.model, maxDiffChars: plan.maxDiffChars, hashes },
        now: time,
      });
      current = recordReport(current, report, time);
      const failure = await saveConversation(dir, current);
      return failure ? { warning: [failure.message, failure.hint].filter(Boolean).join(". ") } : { id: current.id };
    },
  };
}

function recordReport(conversation: Conversation, report: Report, now: Date): Conversation {
  let recorded = conversation;
  for (const { number, review, status, stopReason, error, usage } of report.parts) {
    const outcome = { status, text: review, ...defined({ stopReason, error, usage }) };
    recorded = recordPart(recorded, number, outcome, now);
  }
  if (report.summary) {
    const { status, review, error, usage } = report.summary;
    recorded = recordSummary(recorded, { status, text: review, ...defined({ error, usage }) }, now);
  }
  const { review } = recorded;
  return review ? { ...recorded, review: { ...review, findings: report.findings } } : recorded;
}

/**
 * What a saved conversation says of how to make its plan again.
 *
 * @throws {UsageError} if this version does not understand it.
 */
export function readRecipe({ id, review }: Conversation): Recipe {
  const recipe = review?.source;
  if (isRecord(recipe) && isSourceRequest(recipe.source) && isTexts(recipe.exclude) && isTexts(recipe.include)) {
    return { source: recipe.source, exclude: recipe.exclude, include: recipe.include };
  }
  throw new UsageError(`The conversation "${id}" does not say how its patch was made`, {
    hint: "review the change anew",
  });
}

function isSourceRequest(value: unknown): value is SourceRequest {
  if (!isRecord(value)) return false;
  const { kind, range } = value;
  const isText = (field: unknown) => field === undefined || typeof field === "string";
  if (kind === "branch" || kind === "commit") {
    return range === undefined || (isRecord(range) && typeof range.base === "string" && typeof range.head === "string");
  }
  return kind === "tree" || kind === "staged" || (kind === "pr" && isText(value.reference)) ||
    (kind === "diff" && typeof value.file === "string");
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === "string");
}

/** The fields that have a value. */
function defined<T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>;
  };
}
