/**
 * Ollama's own protocol: a line of JSON for each piece. Its OpenAI route ignores the context size and swallows errors.
 *
 * @module
 */

import { messageIn } from "./http.ts";
import {
  type Ask,
  countOf,
  documentsOf,
  type Emit,
  emitUsage,
  fieldsOf,
  isPassing,
  textOf,
  type Wire,
} from "./wire.ts";

/** `/api/chat`. */
export const ollama: Wire = { path: "/api/chat", framing: "lines", body, reader: () => ({ read, whole }) };

function body(ask: Ask): Record<string, unknown> {
  const options = {
    ...(ask.contextTokens === undefined ? {} : { num_ctx: ask.contextTokens }),
    ...(ask.maxTokens === undefined ? {} : { num_predict: ask.maxTokens }),
    ...(ask.temperature === undefined ? {} : { temperature: ask.temperature }),
  };
  return {
    model: ask.model,
    messages: ask.messages,
    stream: true,
    // a prompt that does not fit is an error, where Ollama would cut its front off and say nothing
    truncate: false,
    shift: false,
    ...(Object.keys(options).length > 0 ? { options } : {}),
  };
}

function read(data: string, emit: Emit): boolean {
  const documents = documentsOf(data);
  if (documents === undefined) {
    emit({ type: "error", message: `a line that is not JSON: ${data}`, passing: false });
    return true;
  }
  return documents.map((document) => whole(document, emit)).includes(true);
}

function whole(document: unknown, emit: Emit): boolean {
  const line = fieldsOf(document);
  if (line === undefined) return false;
  if (line.error !== undefined && line.error !== null) {
    emit({
      type: "error",
      message: messageIn(line.error) ?? "an error without words",
      passing: isPassing(line.error),
    });
    return true;
  }
  const message = fieldsOf(line.message);
  const thinking = textOf(message?.thinking);
  if (thinking !== undefined) emit({ type: "reasoning", text: thinking });
  const text = textOf(message?.content);
  if (text !== undefined) emit({ type: "text", text });
  if (line.done === true) {
    emitUsage(emit, countOf(line.prompt_eval_count), countOf(line.eval_count));
    const reason = line.done_reason ?? "stop";
    emit({ type: "stop", reason: reason === "stop" || reason === "length" ? reason : "other" });
    emit({ type: "done" });
  }
  return message !== undefined || line.done === true;
}
