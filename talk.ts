/**
 * `octavo ask` without a question, at a terminal: one question after the other.
 *
 * @module
 */

import { createInterface } from "node:readline";
import { setTimeout } from "node:timers";
import { ask, conversationOf, modelFor, readAttachments } from "./ask_command.ts";
import { type Context, notice, stopping } from "./command.ts";
import type { Conversation } from "./conversation.ts";
import { describeError, EXIT, OctavoError } from "./errors.ts";
import { personAt } from "./prompt.ts";
import type { Model } from "./providers.ts";
import { type Dialogue, say } from "./world.ts";

/** Whether a question is to be asked for: none was given, and there is somebody to ask. */
export function canTalk({ words: { words }, world }: Pick<Context, "words" | "world">): boolean {
  return words.length === 0 && personAt(world) !== undefined;
}

/** Talks about a review until Ctrl-D, or Ctrl-C on an empty line. */
export async function talkCommand(context: Context): Promise<number> {
  const { world } = context;
  const person = personAt(world);
  if (!person) return EXIT.usage;
  let conversation = await conversationOf(context);
  const starting = stopping(world);
  const model = await modelFor(context, conversation, starting.signal).finally(() => starting.done());
  await notice(context, `about "${conversation.title}"; @FILE and @diff:FILE bring text along; Ctrl-D ends`);
  const history = earlierQuestions(conversation);
  while (true) {
    const line = await readLine(person, history);
    if (line === undefined || line === INTERRUPTED) return line === INTERRUPTED ? EXIT.interrupted : EXIT.ok;
    if (line.trim() === "") continue;
    history.unshift(...line.split("\n").reverse());
    const asked = await askOne(context, conversation, model, line);
    conversation = asked.conversation;
    if (asked.code === EXIT.interrupted) await notice(context, "stopped; what came of the answer is kept");
    if (asked.code === EXIT.terminated) return asked.code;
  }
}

/** A question and its answer. What is wrong with one is said, and does not end the conversation. */
async function askOne(
  context: Context,
  conversation: Conversation,
  model: Model,
  line: string,
): Promise<{ conversation: Conversation; code: number }> {
  const stop = stopping(context.world);
  try {
    const { text, paths } = splitQuestion(line);
    const attachments = await readAttachments(context, conversation, paths, stop.signal);
    const asked = await ask(context, { conversation, text, attachments, model, stop });
    await context.world.stdout.write("\n");
    return asked;
  } catch (error) {
    if (stop.reason === undefined && !(error instanceof OctavoError)) throw error;
    if (stop.reason === undefined) await say(context.world, describeError(error));
    return { conversation, code: stop.reason === undefined ? EXIT.failed : stop.exitCode() };
  } finally {
    stop.done();
  }
}

/** What is attached in a line: `@path`, or `@"a path"`; in the question it stands without its mark. */
export function splitQuestion(line: string): { text: string; paths: string[] } {
  const paths: string[] = [];
  const text = line.replace(/(?<!\S)@(?:"([^"\n]+)"|(\S+))/g, (_, quoted?: string, plain?: string) => {
    const path = quoted ?? plain?.replace(/[?!,;]+$/, "") ?? "";
    paths.push(path);
    return quoted ?? plain ?? "";
  });
  return { text: text.trim(), paths };
}

/** The questions of earlier days, newest first, as the arrow keys bring them back. */
function earlierQuestions({ messages }: Conversation): string[] {
  const questions = messages.slice(1).filter(({ role }) => role === "user").map(({ content }) => content);
  return questions.map((question) => question.split("\n")[0] ?? "").filter(Boolean).reverse();
}

/** Ctrl-C on an empty line. */
const INTERRUPTED = Symbol("interrupted");

/** Milliseconds in which the lines of a pasted text follow each other. */
const PASTE_MS = 30;

/**
 * Reads a line with the editing keys that people know; several at once when they are pasted. A reader of its own for
 * each, so that Ctrl-C during an answer is a signal.
 *
 * @returns `undefined` at the end (Ctrl-D).
 */
function readLine(
  { input, output }: Dialogue,
  history: readonly string[],
): Promise<string | typeof INTERRUPTED | undefined> {
  const { promise, resolve } = Promise.withResolvers<string | typeof INTERRUPTED | undefined>();
  const reader = createInterface({ input, output, history: [...history], terminal: true, prompt: "> " });
  const lines: string[] = [];
  const end = (answer: string | typeof INTERRUPTED) => {
    resolve(answer);
    reader.close();
  };
  reader.on("line", (line) => {
    if (lines.push(line) === 1) setTimeout(() => end(lines.join("\n")), PASTE_MS);
  });
  reader.on("SIGINT", () => {
    if (reader.line === "") return end(INTERRUPTED);
    output.write("\n");
    reader.write(null, { ctrl: true, name: "u" });
    reader.prompt();
  });
  reader.on("close", () => {
    if (lines.length === 0) output.write("\n");
    resolve(undefined);
  });
  reader.prompt();
  return promise;
}
