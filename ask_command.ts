/**
 * `octavo ask`: goes on with a saved review.
 *
 * @module
 */

import { fstatSync } from "node:fs";
import { type Attachment, readAttachment } from "./attachments.ts";
import type { Message } from "./chat.ts";
import { type Context, notice, type Stopping, stopping } from "./command.ts";
import { type Conversation, conversationsDir, recordAnswer, saveConversation } from "./conversation.ts";
import { findConversation } from "./conversation_commands.ts";
import { DIFF_MARK, readDiffAttachments } from "./diff_attachments.ts";
import { describeError, EXIT, UsageError } from "./errors.ts";
import { guardedChat } from "./guarded_chat.ts";
import { chooseModel, withSavedModel } from "./model.ts";
import { secretMessages } from "./plan_notices.ts";
import { contextFor } from "./prompts.ts";
import { BUILTIN, contextWindow, type Model } from "./providers.ts";
import { makeQuestion } from "./question.ts";
import { Redactor, sendsSecrets } from "./secret_mask.ts";
import { createMarkdownOutput } from "./terminal.ts";

/** Characters of standard input that a question may bring. */
const MAX_STDIN_CHARS = 200_000;

/** Milliseconds after which one is told that standard input is being waited for. */
const STDIN_NOTICE_MS = 1_000;

/** Asks one question about a review, and keeps question and answer with it. */
export async function askCommand(context: Context): Promise<number> {
  const { words: { words }, world } = context;
  const text = words.filter((word) => !word.startsWith("@")).join(" ");
  const paths = words.filter((word) => word.startsWith("@")).map((word) => word.slice(1));
  const conversation = await conversationOf(context);
  const more = await readStdin(context);
  if (text === "" && paths.length === 0 && more === undefined) {
    throw new UsageError("octavo ask needs a question", { hint: 'octavo ask "Is the first finding real?"' });
  }
  const stop = stopping(world);
  try {
    const attachments = await readAttachments(context, conversation, paths, stop.signal);
    if (more !== undefined) attachments.push({ name: "standard input", text: more });
    const model = await modelFor(context, conversation, stop.signal);
    return (await ask(context, { conversation, text, attachments, model, stop })).code;
  } catch (error) {
    if (stop.reason === undefined) throw error;
    return stop.exitCode();
  } finally {
    stop.done();
  }
}

/** The conversation that is asked about: the one with the id, else the newest of the repository. */
export async function conversationOf(context: Context): Promise<Conversation> {
  const { id } = context.words.flags;
  return await findConversation(context, typeof id === "string" ? id : undefined);
}

/** The model to ask: as chosen, else the one that has reviewed. */
export async function modelFor(context: Context, { review }: Conversation, signal: AbortSignal): Promise<Model> {
  const { config, world } = context;
  const model = await chooseModel(withSavedModel(config, review?.model), world.env, signal);
  if (model !== BUILTIN) return model;
  throw new UsageError("A question needs a model, and none is configured or found running", {
    hint: "--model PROVIDER/NAME, or OCTAVO_MODEL",
  });
}

/** What a question brings along: files of the repository, and diffs of the reviewed change (`diff:path`). */
export async function readAttachments(
  context: Context,
  conversation: Conversation,
  paths: readonly string[],
  signal: AbortSignal,
): Promise<Attachment[]> {
  const root = conversation.repository ?? context.dir;
  const diffs = paths.filter((path) => path.startsWith(DIFF_MARK)).map((path) => path.slice(DIFF_MARK.length));
  const files = paths.filter((path) => !path.startsWith(DIFF_MARK));
  return [
    ...await Promise.all(files.map((path) => readAttachment(root, path))),
    ...await readDiffAttachments(context, conversation, diffs, signal),
  ];
}

/** One question, ready to be asked. */
export interface Asking {
  conversation: Conversation;
  text: string;
  attachments: readonly Attachment[];
  model: Model;
  stop: Stopping;
}

/** What came of a question. */
export interface Asked {
  /** The conversation with question and answer in it, as it is kept; the same one where no answer came. */
  conversation: Conversation;
  code: number;
}

/**
 * Asks a question, prints the answer as it comes, and keeps both.
 *
 * @throws {ProviderError} if there is no answer at all.
 */
export async function ask(context: Context, asking: Asking): Promise<Asked> {
  const { conversation, model, stop } = asking;
  const { world, config: { options } } = context;
  const redactor = new Redactor();
  const question = await makeQuestion(asking.text, asking.attachments, redactor);
  const sent = sendsSecrets(model, options.sendSecrets);
  const content = sent ? question.text : question.redacted;
  const messages = alternating([...conversation.messages, { role: "user", content }]);
  const window = model.protocol === "ollama"
    ? await contextWindow(model, { env: world.env, signal: stop.signal })
    : undefined;
  await notice(
    context,
    `asking ${new URL(model.baseUrl).host} (${model.provider}/${model.name}) about "${conversation.title}"`,
  );
  if (!model.local) { for (const said of secretMessages(question.secrets, { sent })) await notice(context, said); }
  const output = createMarkdownOutput(world, options);
  let answer = "";
  let failure: unknown;
  try {
    const request = {
      model,
      messages,
      env: world.env,
      signal: stop.signal,
      timeoutMs: options.timeout * 1_000,
      contextTokens: contextFor([messages.map((message) => message.content).join("\n")], window),
      sendSecrets: options.sendSecrets,
      redactor,
    };
    for await (const event of guardedChat(request)) {
      if (event.type === "discard") answer = "";
      if (event.type === "waiting") await notice(context, `${event.reason}: trying again`);
      if (event.type === "end" && event.stopReason !== "stop") {
        failure = new Error(`the answer ended early (${event.stopReason})`);
      }
      if (event.type !== "delta") continue;
      answer += event.text;
      await output.write(event.text);
    }
  } catch (error) {
    failure = error;
  } finally {
    await output.end();
  }
  const asked = answer === "" ? conversation : await keep(context, conversation, question.redacted, answer, redactor);
  if (stop.reason !== undefined) return { conversation: asked, code: stop.exitCode() };
  if (failure === undefined) return { conversation: asked, code: EXIT.ok };
  if (answer === "") throw failure;
  await notice(context, `the answer is incomplete: ${describeError(failure)}`);
  return { conversation: asked, code: EXIT.failed };
}

/** The conversation with question and answer in it, saved unless the user does not want that. */
async function keep(
  context: Context,
  conversation: Conversation,
  question: string,
  answer: string,
  redactor: Redactor,
): Promise<Conversation> {
  const { world, config: { options } } = context;
  const recorded = recordAnswer(conversation, question, answer, new Date(world.now()));
  const kept = { ...recorded, messages: await redactor.deep(recorded.messages) };
  const failed = options.noSave ? undefined : await saveConversation(conversationsDir(world.env), kept);
  if (failed) await notice(context, failed.message);
  return kept;
}

/** Neighbours of one role as one message: some servers insist that roles take turns. */
function alternating(messages: readonly Message[]): Message[] {
  const joined: Message[] = [];
  for (const { role, content } of messages) {
    const last = joined[joined.length - 1];
    if (last?.role === role) last.content += `\n\n${content}`;
    else joined.push({ role, content });
  }
  return joined;
}

/** Text that is piped in or redirected from a file; nothing from a terminal or /dev/null. */
async function readStdin(context: Context): Promise<string | undefined> {
  const { stdin } = context.world;
  if (!isPipeOrFile()) return undefined;
  const timer = setTimeout(() => {
    void notice(context, "reading standard input to its end, as part of the question");
  }, STDIN_NOTICE_MS);
  const decoder = new TextDecoder();
  let text = "";
  try {
    for await (const chunk of stdin.read()) {
      text += decoder.decode(chunk, { stream: true });
      if (text.length > MAX_STDIN_CHARS) {
        throw new UsageError(`Standard input has more than ${MAX_STDIN_CHARS} characters`, {
          hint: "ask about a smaller piece",
        });
      }
    }
  } finally {
    clearTimeout(timer);
  }
  text += decoder.decode();
  return text.trim() === "" ? undefined : text;
}

function isPipeOrFile(): boolean {
  try {
    const stat = fstatSync(0);
    return stat.isFIFO() || stat.isFile() || stat.isSocket();
  } catch {
    return false; // closed
  }
}
