/**
 * A question with what is attached to it: as it is, and without the secrets in it.
 *
 * @module
 */

import type { Attachment } from "./attachments.ts";
import { fenceMarker } from "./diff.ts";
import type { Redactor } from "./secret_mask.ts";
import { kindOf, type PlacedSecret, redact } from "./secrets.ts";

/** A question, to be sent and to be kept. */
export interface Question {
  /** As it is. */
  text: string;
  /** Without secrets. */
  redacted: string;
  /** What was replaced; `path` is the name of the attachment, or "the question". */
  secrets: PlacedSecret[];
}

/** Puts a question and its attachments into one message. The redactor learns the secrets in it. */
export async function makeQuestion(
  question: string,
  attachments: readonly Attachment[],
  redactor: Redactor,
): Promise<Question> {
  const secrets: PlacedSecret[] = [];
  const without = async (text: string, name: string) => {
    const redacted = await redact(text, kindOf(text));
    redactor.learn(redacted.secrets);
    // An attachment of some lines is named `path:10-40`.
    const [, path = name, first = "1"] = /^(.*?)(?::(\d+)-\d+)?$/s.exec(name) ?? [];
    for (const { id, title, line } of redacted.secrets) {
      secrets.push({ id, title, path: await redactor.text(path), line: Number(first) + line - 1, side: "new" });
    }
    return redacted.text;
  };
  const redactedQuestion = await without(question, "the question");
  const redactedAttachments: Attachment[] = [];
  for (const { name, text } of attachments) {
    redactedAttachments.push({ name: await redactor.text(name), text: await without(text, name) });
  }
  return {
    text: message(question, attachments),
    redacted: message(redactedQuestion, redactedAttachments),
    secrets,
  };
}

function message(question: string, attachments: readonly Attachment[]): string {
  return [
    question,
    ...attachments.map(({ name, text }) => {
      const fence = fenceMarker(text);
      return `${name}:\n${fence}\n${text.replace(/\n$/, "")}\n${fence}`;
    }),
  ].filter(Boolean).join("\n\n");
}
