/**
 * `octavo ask`: goes on with a saved review.
 *
 * @module
 */

import { fstatSync } from "node:fs";
import { readAttachment } from "./attachments.ts";
import type { Message } from "./chat.ts";
import { type Context, notice, type Stopping, stopping } from "./command.ts";
import { type Conversation, conversationsDir, recordAnswer, saveConversation } from "./conversation.ts";
import { findConversation } from "./conversation_commands.ts";
import { describeError, EXIT, UsageError } from "./errors.ts";
import { guardedChat } from "./guarded_chat.ts";
import { chooseModel, withSavedModel } from "./model.ts";
import { secretMessages } from "./plan_notices.ts";
import { contextFor } from "./prompts.ts";
import { BUILTIN, contextWindow, type Model } from "./providers.ts";
import { makeQuestion, type Question } from "./question.ts";
import { Redactor, sendsSecrets } from "./secret_mask.ts";
import { createMarkdownOutput } from "./terminal.ts";

/** Characters of standard input that a question may bring. */
const MAX_STDIN_CHARS = 200_000;

/** Milliseconds after which one is told that standard input is being waited for. */
const STDIN_NOTICE_MS = 1_000;

/** Asks on about a review, and keeps question and answer with it. */
export async function askCommand(context: Context): Promise<number> {
  const { words: { words, flags }, world, config } = context;
  const question = words.filter((word) => !word.startsWith("@")).join(" ");
  const conversation = await findConversation(context, typeof flags.id === "string" ? flags.id : undefined);
  const root = conversation.repository ?? context.dir;
  const attachments = await Promise.all(
    words.filter((word) => word.startsWith("@")).map((word) => readAttachment(root, word.slice(1))),
  );
  const more = await readStdin(context);
  if (more !== undefined) attachments.push({ name: "standard input", text: more });
  if (question === "" && attachments.length === 0) {
    throw new UsageError("octavo ask needs a question", { hint: 'octavo ask "Is the first finding real?"' });
  }
  const stop = stopping(world);
  try {
    const model = await chooseModel(withSavedModel(config, conversation.review?.model), world.env, stop.signal);
    if (model === BUILTIN) {
      throw new UsageError("A question needs a model, and none is configured or found running", {
        hint: "--model PROVIDER/NAME, or OCTAVO_MODEL",
      });
    }
    const redactor = new Redactor();
    return await ask(context, {
      conversation,
      question: await makeQuestion(question, attachments, redactor),
      model,
      redactor,
      stop,
    });
  } catch (error) {
    if (stop.reason === undefined) throw error;
    return stop.exitCode();
  } finally {
    stop.done();
  }
}

interface Asking {
  conversation: Conversation;
  question: Question;
  model: Model;
  redactor: Redactor;
  stop: Stopping;
}

async function ask(context: Context, asking: Asking): Promise<number> {
  const { conversation, question, model, redactor, stop } = asking;
  const { world, config: { options } } = context;
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
  if (answer !== "" && !options.noSave) {
    const recorded = recordAnswer(conversation, question.redacted, answer, new Date(world.now()));
    const kept = { ...recorded, messages: await redactor.deep(recorded.messages) };
    const failed = await saveConversation(conversationsDir(world.env), kept);
    if (failed) await notice(context, failed.message);
  }
  if (stop.reason !== undefined) return stop.exitCode();
  if (failure === undefined) return EXIT.ok;
  if (answer === "") throw failure;
  await notice(context, `the answer is incomplete: ${describeError(failure)}`);
  return EXIT.failed;
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
