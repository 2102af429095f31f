/**
 * Saved conversations: one JSON file each, in a folder that only its owner can read.
 *
 * A conversation is plain data. The functions that add to it return a new one and touch no file; {@linkcode
 * saveConversation} is the only one that writes. Its messages are the summary of the change, the reviews of its parts
 * in the order of the parts, the summing up, then questions and answers. The diff is not in it.
 *
 * @module
 */

import { randomBytes } from "node:crypto";
import { mkdir, readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import {
  type Conversation,
  type ConversationMessage,
  type ConversationReview,
  type Outcome,
  type PartStatus,
  readConversation,
  type SummaryStatus,
  VERSION,
} from "./conversation_format.ts";
import { OctavoError, UsageError } from "./errors.ts";
import { replaceFile } from "./files.ts";
import { type Env, stateDir } from "./paths.ts";

export type {
  Conversation,
  ConversationMessage,
  ConversationPart,
  ConversationReview,
  ConversationSummary,
  ConversationUsage,
  Outcome,
  PartStatus,
  SummaryStatus,
} from "./conversation_format.ts";

/** A file that is not readable as a conversation. */
export interface BrokenConversation {
  /** Its path. */
  file: string;
  /** What is wrong: a sentence to print that names the file. */
  message: string;
}

/** Conversations, newest first, and the files that were passed over. */
export interface ConversationList {
  /** Newest first. */
  conversations: Conversation[];
  /** What was passed over. */
  broken: BrokenConversation[];
}

/** The folder of the conversations: `conversations` in {@linkcode stateDir}. It need not exist. */
export function conversationsDir(env: Env, platform: string = process.platform): string {
  return join(stateDir(env, platform), "conversations");
}

// --- data ----------------------------------------------------------------------------------------------------------

/** What a conversation starts with. */
export interface ConversationStart {
  /** What is reviewed. */
  title: string;
  /** Real path of the root of the repository; absent outside any. */
  repository?: string | undefined;
  /** The first message: the summary of the change. */
  summary: string;
  /** The review; for each part, in order, a hash of what is sent of it. */
  review?: { source: unknown; model: string; maxDiffChars: number; hashes: readonly string[] };
  /** The time. */
  now: Date;
}

/** Starts a conversation about a change, with no part asked about yet. */
export function startConversation({ title, repository, summary, review, now }: ConversationStart): Conversation {
  const conversation: Conversation = {
    version: VERSION,
    id: conversationId(now),
    title,
    createdAt: now.toISOString(),
    updatedAt: now.toISOString(),
    messages: [{ role: "user", content: summary }],
  };
  if (repository !== undefined) conversation.repository = repository;
  if (review) {
    const { hashes, ...rest } = review;
    conversation.review = { ...rest, parts: hashes.map((hash) => ({ hash, status: "pending" })) };
  }
  return conversation;
}

/**
 * Records how a part went. Its review, if it has text, stands behind those of the parts before it, whichever came first;
 * recorded again, it takes the place of the earlier one. Without text the earlier one stays.
 *
 * @param number Which part, from 1.
 * @param outcome How it went, and the review's Markdown.
 * @throws {RangeError} If the conversation has no such part.
 */
export function recordPart(
  conversation: Conversation,
  number: number,
  outcome: Outcome<PartStatus> & { text?: string | undefined },
  now: Date,
): Conversation {
  const part = conversation.review?.parts[number - 1];
  if (!part) throw new RangeError(`The conversation has no part ${number}`);
  const { text = "", ...rest } = outcome;
  const placed = place(conversation, text, { earlier: part.message, behind: number - 1 });
  const parts = placed.review.parts.with(number - 1, { ...rest, hash: part.hash, ...at(placed.message) });
  return touched(conversation, now, { messages: placed.messages, review: { ...placed.review, parts } });
}

/** Records how the summing up went. Its text stands behind the reviews of all parts, and is replaced like theirs. */
export function recordSummary(
  conversation: Conversation,
  outcome: Outcome<SummaryStatus> & { text?: string | undefined },
  now: Date,
): Conversation {
  const { review } = conversation;
  if (!review) throw new RangeError("The conversation has no review");
  const { text = "", ...rest } = outcome;
  const placed = place(conversation, text, { earlier: review.summary?.message, behind: review.parts.length });
  const summary = { ...rest, ...at(placed.message) };
  return touched(conversation, now, { messages: placed.messages, review: { ...placed.review, summary } });
}

/** Records a question and its answer, at the end. */
export function recordAnswer(conversation: Conversation, question: string, answer: string, now: Date): Conversation {
  const messages: ConversationMessage[] = [
    ...conversation.messages,
    { role: "user", content: question },
    { role: "assistant", content: answer },
  ];
  return touched(conversation, now, { messages });
}

/** The parts that `resume` asks about, by number from 1: all that are not done. */
export function missingParts({ review }: Conversation): number[] {
  return (review?.parts ?? []).flatMap(({ status }, index) => status === "done" ? [] : [index + 1]);
}

interface Placed {
  messages: ConversationMessage[];
  review: ConversationReview;
  /** Where the text is; `undefined` where there is none. */
  message: number | undefined;
}

/** Puts a review into the messages: over its earlier version, else behind the reviews of the first `behind` parts. */
function place(
  { messages, review }: Conversation,
  content: string,
  { earlier, behind }: { earlier: number | undefined; behind: number },
): Placed {
  if (!review) throw new RangeError("The conversation has no review");
  const message: ConversationMessage = { role: "assistant", content };
  if (content === "") return { messages, review, message: earlier };
  if (earlier !== undefined) return { messages: messages.with(earlier, message), review, message: earlier };
  const index = 1 + Math.max(0, ...review.parts.slice(0, behind).map(({ message = 0 }) => message));
  return { messages: messages.toSpliced(index, 0, message), review: makeRoom(review, index), message: index };
}

/** The review after a message was put in at `index`: what stood there and behind it has moved on by one. */
function makeRoom(review: ConversationReview, index: number): ConversationReview {
  const move = <T extends { message?: number }>(item: T): T =>
    item.message === undefined || item.message < index ? item : { ...item, message: item.message + 1 };
  const parts = review.parts.map(move);
  return review.summary ? { ...review, parts, summary: move(review.summary) } : { ...review, parts };
}

function at(message: number | undefined): { message?: number } {
  return message === undefined ? {} : { message };
}

function touched(conversation: Conversation, now: Date, change: Partial<Conversation>): Conversation {
  return { ...conversation, ...change, updatedAt: now.toISOString() };
}

// --- ids -----------------------------------------------------------------------------------------------------------

/** Digits and letters in their order, without those that are taken for others (Crockford's base 32). */
const DIGITS = "0123456789abcdefghjkmnpqrstvwxyz";

/** Random digits of an id: 25 bits, for reviews that start in the same millisecond and for ids that nobody guesses. */
const RANDOM_DIGITS = 5;

const ID = /^\d{8}-\d{6}-[0-9a-z]{4,16}$/;

/** An id that sorts by time: `20261201-155201-` (UTC), two digits for the milliseconds, five by chance. */
function conversationId(now: Date): string {
  const [date = "", time = ""] = now.toISOString().replace(/[-:]/g, "").split("T");
  const milliseconds = now.getUTCMilliseconds();
  const chance = Array.from(randomBytes(RANDOM_DIGITS), (byte) => DIGITS[byte % DIGITS.length]);
  const tail = [DIGITS[milliseconds >> 5], DIGITS[milliseconds & 31], ...chance].join("");
  return `${date}-${time.slice(0, 6)}-${tail}`;
}

/** The ids in the folder, newest first. Whatever else lies there is none of ours. */
async function conversationIds(dir: string): Promise<string[]> {
  let names: string[];
  try {
    names = await readdir(dir);
  } catch (error) {
    if (codeOf(error) === "ENOENT") return [];
    throw new OctavoError(`Could not read the conversations in "${dir}": ${messageOf(error)}`, { cause: error });
  }
  const ids = names.filter((name) => name.endsWith(".json")).map((name) => name.slice(0, -".json".length));
  return ids.filter((id) => ID.test(id)).sort().reverse();
}

/** The id that is meant by an id or the unambiguous beginning of one. Only what is in the folder can be meant. */
async function resolveId(dir: string, wanted: string): Promise<string> {
  const ids = await conversationIds(dir);
  if (ids.includes(wanted)) return wanted;
  const matching = wanted === "" ? [] : ids.filter((id) => id.startsWith(wanted));
  const [id, ...others] = matching;
  if (id === undefined) throw unknownId(wanted, ids);
  if (others.length === 0) return id;
  throw new UsageError(`"${wanted}" is the beginning of ${matching.length} conversations`, {
    hint: `one of: ${listed(matching)}`,
  });
}

function unknownId(wanted: string, ids: readonly string[]): UsageError {
  const nearest = ids.toSorted((a, b) => commonLength(b, wanted) - commonLength(a, wanted));
  const hint = ids.length === 0 ? "none is saved yet" : `the nearest: ${listed(nearest)}`;
  return new UsageError(`Unknown conversation "${wanted}"`, { hint });
}

function listed(ids: readonly string[]): string {
  return ids.slice(0, 3).join(", ") + (ids.length > 3 ? `, and ${ids.length - 3} more: octavo log` : "");
}

function commonLength(a: string, b: string): number {
  let length = 0;
  while (length < a.length && a[length] === b[length]) length++;
  return length;
}

// --- files ---------------------------------------------------------------------------------------------------------

/**
 * Saves a conversation: whole or not at all, whatever happens meanwhile, readable only by its owner.
 *
 * @returns What kept it from being saved, to say and go on: a full disk or a read-only home end no review.
 * @throws {RangeError} If its id is none of ours.
 */
export async function saveConversation(dir: string, conversation: Conversation): Promise<OctavoError | undefined> {
  const { id } = conversation;
  if (!ID.test(id)) throw new RangeError(`"${id}" is not the id of a conversation`);
  try {
    await mkdir(dir, { recursive: true, mode: 0o700 });
    await replaceFile(fileOf(dir, id), JSON.stringify(conversation, undefined, 1) + "\n");
    return undefined;
  } catch (error) {
    return new OctavoError(`Could not save the conversation "${id}": ${messageOf(error)}`, {
      hint: `make room or give access to ${dir}, or set XDG_STATE_HOME to another folder`,
      cause: error,
    });
  }
}

/**
 * Loads a conversation by its id or the unambiguous beginning of one.
 *
 * @throws {UsageError} If there is no such conversation, or its file is broken or of a newer octavo.
 * @throws {OctavoError} If it cannot be read.
 */
export async function loadConversation(dir: string, id: string): Promise<Conversation> {
  return await load(dir, await resolveId(dir, id));
}

/** Which conversations to list. */
export interface ListOptions {
  /**
   * Which of them.
   * @default all
   */
  where?: (conversation: Conversation) => boolean;
  /**
   * At most this many: the newest.
   * @default all
   */
  limit?: number;
}

/**
 * The conversations in a folder, newest first. Files that are broken are passed over, and told of.
 *
 * @throws {OctavoError} If the folder cannot be read; one that does not exist is empty.
 */
export async function listConversations(dir: string, options: ListOptions = {}): Promise<ConversationList> {
  const { where = () => true, limit = Infinity } = options;
  const list: ConversationList = { conversations: [], broken: [] };
  for (const id of await conversationIds(dir)) {
    if (list.conversations.length >= limit) break;
    try {
      const conversation = await load(dir, id);
      if (where(conversation)) list.conversations.push(conversation);
    } catch (error) {
      if (!(error instanceof OctavoError)) throw error;
      if (codeOf(error.cause) !== "ENOENT") list.broken.push({ file: fileOf(dir, id), message: error.message });
    }
  }
  return list;
}

/**
 * The newest conversation of a repository, and newer files that are broken: one of them may be what is meant.
 *
 * @param repository Real path of its root; `undefined` for the conversations outside any.
 * @throws {OctavoError} If the folder cannot be read.
 */
export async function newestConversation(
  dir: string,
  repository: string | undefined,
): Promise<{ conversation: Conversation | undefined; broken: BrokenConversation[] }> {
  const where = (conversation: Conversation) => conversation.repository === repository;
  const { conversations, broken } = await listConversations(dir, { where, limit: 1 });
  return { conversation: conversations[0], broken };
}

/**
 * Removes a conversation, broken or not, and what a killed process has left of it.
 *
 * @param id Its id, or the unambiguous beginning of one.
 * @returns The whole id.
 * @throws {UsageError} If there is no such conversation.
 * @throws {OctavoError} If it cannot be removed.
 */
export async function removeConversation(dir: string, id: string): Promise<string> {
  const found = await resolveId(dir, id);
  try {
    const names = await readdir(dir);
    const leftovers = names.filter((name) => name.startsWith(`${found}.`) && name.endsWith(".tmp"));
    for (const name of [`${found}.json`, ...leftovers]) await rm(join(dir, name), { force: true });
  } catch (error) {
    throw new OctavoError(`Could not remove the conversation "${found}": ${messageOf(error)}`, { cause: error });
  }
  return found;
}

function fileOf(dir: string, id: string): string {
  return join(dir, `${id}.json`);
}

async function load(dir: string, id: string): Promise<Conversation> {
  const file = fileOf(dir, id);
  let text: string;
  try {
    text = await readFile(file, "utf8");
  } catch (error) {
    throw new OctavoError(`Could not read the conversation "${file}": ${messageOf(error)}`, { cause: error });
  }
  try {
    return readConversation(JSON.parse(text), id);
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(`The saved conversation "${file}" is broken: ${messageOf(error)}`, {
      hint: `remove it with: octavo rm ${id}`,
      cause: error,
    });
  }
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && "code" in error ? error.code : undefined;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
