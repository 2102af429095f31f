/**
 * The format of a saved conversation: what its file holds, and the way from any JSON to it.
 *
 * @module
 */

import { UsageError } from "./errors.ts";

/** Version of the file format. A change that an older octavo could not read raises it; a field more does not. */
export const VERSION = 1;

/** One message. */
export interface ConversationMessage {
  /** The summary and the questions are the user's, the reviews and the answers the assistant's. */
  role: "user" | "assistant";
  /** Markdown. */
  content: string;
}

/** Model tokens of one request, as the provider counted them. */
export interface ConversationUsage {
  /** Model tokens of what was sent. */
  promptTokens?: number;
  /** Model tokens of the answer. */
  completionTokens?: number;
}

/** How one request of a review went. */
export interface Outcome<Status extends string> {
  /** How far it is. */
  status: Status;
  /** Why the model stopped. */
  stopReason?: string;
  /** What failed. */
  error?: string;
  /** What it cost. */
  usage?: ConversationUsage;
}

/** How far a part is: incomplete is one that broke off or was cut after some text. */
export type PartStatus = "done" | "incomplete" | "failed" | "pending";

/** How far the summing up is: skipped after a stop. */
export type SummaryStatus = "done" | "incomplete" | "failed" | "skipped";

/** A part of the review, without its text. */
export interface ConversationPart extends Outcome<PartStatus> {
  /** Hash of what was sent of it, to know it again. */
  hash: string;
  /** Where in the messages its review is, if there is any. */
  message?: number;
}

/** The summing up, without its text. */
export interface ConversationSummary extends Outcome<SummaryStatus> {
  /** Where in the messages it is, if there is any. */
  message?: number;
}

/** What is kept of a review, so that it can be resumed. */
export interface ConversationReview {
  /** How to make the same plan again, in plain JSON: its meaning is that of whoever resumes. */
  source: unknown;
  /** `provider/name`. */
  model: string;
  /** Characters of diff in a part. */
  maxDiffChars: number;
  /** In the order of the plan. */
  parts: ConversationPart[];
  /** Absent as long as nothing was summed up. */
  summary?: ConversationSummary;
  /** The findings so far, in plain JSON. */
  findings?: unknown[];
}

/** A conversation, as it is saved. Fields that this version does not know are kept. */
export interface Conversation {
  /** Version of the file format. */
  version: 1;
  /** Its name among the saved ones; sorts by time. */
  id: string;
  /** What was reviewed. */
  title: string;
  /** Real path of the root of the repository; absent outside any. */
  repository?: string;
  /** ISO 8601, UTC. */
  createdAt: string;
  /** ISO 8601, UTC. */
  updatedAt: string;
  /** The summary, the reviews of the parts in their order, the summing up; then questions and answers. */
  messages: ConversationMessage[];
  /** How far the review is. */
  review?: ConversationReview;
}

/**
 * Narrows what was in a file.
 *
 * @param id The id that the file is named after.
 * @throws {TypeError} If it is no conversation; the message names the field.
 * @throws {UsageError} If it is one of a newer octavo.
 */
export function readConversation(value: unknown, id: string): Conversation {
  const fields = record(value, "it");
  if (typeof fields["version"] === "number" && fields["version"] > VERSION) {
    throw new UsageError(`The conversation "${id}" was saved by a newer octavo (version ${fields["version"]})`, {
      hint: "update octavo",
    });
  }
  if (fields["version"] !== VERSION) throw new TypeError(`"version" is not ${VERSION}`);
  if (fields["id"] !== id) throw new TypeError(`"id" is not that of the file`);
  const messages = array(fields["messages"], "messages").map(readMessage);
  const { repository, review, ...rest } = fields;
  return {
    ...rest,
    version: VERSION,
    id,
    title: string(fields["title"], "title"),
    createdAt: time(fields["createdAt"], "createdAt"),
    updatedAt: time(fields["updatedAt"], "updatedAt"),
    messages,
    ...(repository === undefined ? {} : { repository: string(repository, "repository") }),
    ...(review === undefined ? {} : { review: readReview(review, messages) }),
  };
}

function readMessage(value: unknown, index: number): ConversationMessage {
  const name = `messages[${index}]`;
  const fields = record(value, name);
  const role = oneOf(fields["role"], ["user", "assistant"] as const, `${name}.role`);
  return { ...fields, role, content: string(fields["content"], `${name}.content`) };
}

function readReview(value: unknown, messages: readonly ConversationMessage[]): ConversationReview {
  const { summary, findings, ...fields } = record(value, "review");
  const parts = array(fields["parts"], "review.parts").map((part, index) => {
    const name = `review.parts[${index}]`;
    const statuses = ["done", "incomplete", "failed", "pending"] as const;
    return { ...readOutcome(part, statuses, name, messages), hash: string(record(part, name)["hash"], `${name}.hash`) };
  });
  const outcomes = ["done", "incomplete", "failed", "skipped"] as const;
  return {
    ...fields,
    source: fields["source"],
    model: string(fields["model"], "review.model"),
    maxDiffChars: number(fields["maxDiffChars"], "review.maxDiffChars"),
    parts,
    ...(summary === undefined ? {} : { summary: readOutcome(summary, outcomes, "review.summary", messages) }),
    ...(findings === undefined ? {} : { findings: array(findings, "review.findings") }),
  };
}

function readOutcome<Status extends string>(
  value: unknown,
  statuses: readonly Status[],
  name: string,
  messages: readonly ConversationMessage[],
): Outcome<Status> & { message?: number } {
  const { message, stopReason, error, usage, ...fields } = record(value, name);
  const index = message === undefined ? undefined : number(message, `${name}.message`);
  if (index !== undefined && messages[index]?.role !== "assistant") {
    throw new TypeError(`"${name}.message" is not the place of a review`);
  }
  return {
    ...fields,
    status: oneOf(fields["status"], statuses, `${name}.status`),
    ...(index === undefined ? {} : { message: index }),
    ...(stopReason === undefined ? {} : { stopReason: string(stopReason, `${name}.stopReason`) }),
    ...(error === undefined ? {} : { error: string(error, `${name}.error`) }),
    ...(usage === undefined ? {} : { usage: readUsage(usage, `${name}.usage`) }),
  };
}

function readUsage(value: unknown, name: string): ConversationUsage {
  const { promptTokens, completionTokens } = record(value, name);
  return {
    ...(promptTokens === undefined ? {} : { promptTokens: number(promptTokens, `${name}.promptTokens`) }),
    ...(completionTokens === undefined
      ? {}
      : { completionTokens: number(completionTokens, `${name}.completionTokens`) }),
  };
}

function record(value: unknown, name: string): Record<string, unknown> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new TypeError(`"${name}" is no object`);
  }
  return { ...value };
}

function array(value: unknown, name: string): unknown[] {
  if (!Array.isArray(value)) throw new TypeError(`"${name}" is no list`);
  return value;
}

function string(value: unknown, name: string): string {
  if (typeof value !== "string") throw new TypeError(`"${name}" is no text`);
  return value;
}

function number(value: unknown, name: string): number {
  if (typeof value !== "number") throw new TypeError(`"${name}" is no number`);
  return value;
}

function time(value: unknown, name: string): string {
  const text = string(value, name);
  if (Number.isNaN(Date.parse(text))) throw new TypeError(`"${name}" is no time`);
  return text;
}

function oneOf<T extends string>(value: unknown, allowed: readonly T[], name: string): T {
  const found = allowed.find((one) => one === value);
  if (found === undefined) throw new TypeError(`"${name}" is none of ${allowed.join(", ")}`);
  return found;
}
