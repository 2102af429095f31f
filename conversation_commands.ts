/**
 * The commands about saved reviews: `log`, `show`, `rm`.
 *
 * @module
 */

import { type Context, notice } from "./command.ts";
import {
  type Conversation,
  conversationsDir,
  listConversations,
  loadConversation,
  newestConversation,
  removeConversation,
} from "./conversation.ts";
import { EXIT, UsageError } from "./errors.ts";
import { shortPath } from "./paths.ts";
import { table } from "./table.ts";
import { visible } from "./text.ts";

/** `octavo log`, `octavo show`, `octavo rm`. */
export async function conversationCommand(context: Context): Promise<number> {
  switch (context.words.command.name) {
    case "log":
      return await log(context);
    case "show":
      return await show(context);
    case "rm":
      return await remove(context);
    default:
      throw new UsageError(`"octavo ${context.words.command.name}" is not built yet`);
  }
}

/**
 * The conversation with an id, else the newest of the repository one is in.
 *
 * @throws {UsageError} if there is none.
 */
export async function findConversation(context: Context, id: string | undefined): Promise<Conversation> {
  const dir = conversationsDir(context.world.env);
  if (id !== undefined) return await loadConversation(dir, id);
  const repository = await repositoryRoot(context);
  const { conversation, broken } = await newestConversation(dir, repository);
  for (const { message } of broken) await notice(context, message);
  if (conversation) return conversation;
  throw new UsageError(
    repository === undefined ? "No review is saved outside any repository" : `No review of "${repository}" is saved`,
    { hint: "octavo log --all lists the saved ones of every repository" },
  );
}

async function repositoryRoot({ dir, world }: Context): Promise<string | undefined> {
  const { repositoryOf } = await import("./source.ts");
  return (await repositoryOf({ dir, env: world.env }))?.root;
}

async function log(context: Context): Promise<number> {
  const { words: { flags }, world } = context;
  const repository = flags.all ? undefined : await repositoryRoot(context);
  const { conversations: all, broken } = await listConversations(conversationsDir(world.env));
  for (const { message } of broken) await notice(context, message);
  const rows = all.filter((one) => flags.all === true || one.repository === repository).map(describe);
  if (flags.json) await world.stdout.write(`${JSON.stringify(rows, undefined, 2)}\n`);
  else if (rows.length === 0) await notice(context, "no review is saved here; octavo log --all lists all");
  else await world.stdout.write(logTable(rows, all.map(({ id }) => id), context));
  return EXIT.ok;
}

/** A row of the log. */
interface Row {
  id: string;
  createdAt: string;
  repository: string | null;
  title: string;
  status: string;
  parts: number;
  done: number;
  findings: number;
}

function describe({ id, createdAt, repository, title, review }: Conversation): Row {
  const parts = review?.parts ?? [];
  const done = parts.filter(({ status }) => status === "done").length;
  const complete = done === parts.length && (parts.length < 2 || review?.summary?.status === "done");
  return {
    id,
    createdAt,
    repository: repository ?? null,
    title,
    status: complete ? "complete" : "incomplete",
    parts: parts.length,
    done,
    findings: review?.findings?.length ?? 0,
  };
}

function logTable(rows: readonly Row[], ids: readonly string[], { words: { flags }, world }: Context): string {
  const { isTerminal, columns } = world.stdout;
  const cells = rows.map(({ id, createdAt, repository, title, status, parts, done, findings }) => [
    isTerminal ? shortId(id, ids) : id,
    localTime(createdAt),
    status === "complete" ? count(parts, "part") : `${done} of ${count(parts, "part")}`,
    count(findings, "finding"),
    // all the same without --all
    ...(flags.all ? [visible(repository === null ? "-" : shortPath(repository, world.env))] : []),
    visible(title).replaceAll("\n", " "),
  ]);
  return table(cells, { columns: isTerminal ? columns : undefined });
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}

/** Date and time of an id, without which it is none. */
const SHORT_ID = "20261201-155201".length;

/** As much of an id as tells it from all others. */
function shortId(id: string, ids: readonly string[]): string {
  const short = id.slice(0, SHORT_ID);
  return ids.some((other) => other !== id && other.startsWith(short)) ? id : short;
}

/** A time as clocks show it where the person is: `2026-12-01 16:52`. */
function localTime(iso: string): string {
  const time = new Date(iso);
  const [month, day, hours, minutes] = [time.getMonth() + 1, time.getDate(), time.getHours(), time.getMinutes()]
    .map((number) => String(number).padStart(2, "0"));
  return `${time.getFullYear()}-${month}-${day} ${hours}:${minutes}`;
}

async function show(context: Context): Promise<number> {
  const { words: { words, flags }, world, config } = context;
  const conversation = await findConversation(context, words[0]);
  if (flags.json) {
    await world.stdout.write(`${JSON.stringify(conversation, undefined, 2)}\n`);
    return EXIT.ok;
  }
  const { showMarkdown } = await import("./terminal.ts");
  await showMarkdown(world, config.options, conversationText(conversation));
  return EXIT.ok;
}

/** A whole conversation as Markdown. */
function conversationText({ messages, review }: Conversation): string {
  const headings = new Map<number, string>();
  review?.parts.forEach(({ message, status }, index) => {
    const ending = status === "done" ? "" : ` (${status})`;
    if (message !== undefined) headings.set(message, `# Part ${index + 1} of ${review.parts.length}${ending}`);
  });
  if (review?.summary?.message !== undefined) headings.set(review.summary.message, "# Summing up");
  return messages.map(({ role, content }, index) => {
    if (index === 0) return content.trim();
    return `${headings.get(index) ?? (role === "user" ? "# Question" : "# Answer")}\n\n${content.trim()}`;
  }).join("\n\n") + "\n";
}

async function remove(context: Context): Promise<number> {
  const { words: { words }, world } = context;
  if (words.length === 0) throw new UsageError("octavo rm needs the id of a review", { hint: "octavo log lists them" });
  for (const id of words) {
    const removed = await removeConversation(conversationsDir(world.env), id);
    await notice(context, `removed ${removed}`);
  }
  return EXIT.ok;
}
