/**
 * The one way to a model: no secret goes to another machine unless the user says so, and none comes back from any.
 *
 * @module
 */

import { chat, type ChatEvent, type ChatRequest } from "./chat.ts";
import { type Redactor, sendsSecrets } from "./secret_mask.ts";
import { kindOf, redact } from "./secrets.ts";

/** What is asked, and what is known of secrets. */
export interface GuardedRequest extends ChatRequest {
  /** Send secrets to another machine as they are. */
  sendSecrets: boolean;
  /** Learns the secrets that are sent. */
  redactor: Redactor;
}

/**
 * Like {@linkcode chat}. The messages are sent without secrets, unless {@linkcode sendsSecrets}; what comes back, errors
 * included, holds none of those that were sent. A delta is held back as far as it may be the beginning of one.
 */
export async function* guardedChat(
  { sendSecrets, redactor, ...request }: GuardedRequest,
): AsyncGenerator<ChatEvent> {
  const messages = await Promise.all(request.messages.map(async (message) => {
    const { text, secrets } = await redact(message.content, kindOf(message.content));
    redactor.learn(secrets);
    return sendsSecrets(request.model, sendSecrets) ? message : { ...message, content: text };
  }));
  try {
    yield* masked(chat({ ...request, messages }), redactor);
  } catch (error) {
    if (error instanceof Error) maskError(error, redactor);
    throw error;
  }
}

/** A provider's words may quote what was sent; the stack begins with them. */
function maskError(error: Error, redactor: Redactor): void {
  const message = redactor.mask(error.message);
  if (message === error.message) return;
  error.message = message;
  if (error.stack !== undefined) error.stack = redactor.mask(error.stack);
}

async function* masked(events: AsyncIterable<ChatEvent>, redactor: Redactor): AsyncGenerator<ChatEvent> {
  const streams = { delta: redactor.stream(), reasoning: redactor.stream() };
  function* rest(): Generator<ChatEvent> {
    for (const type of ["reasoning", "delta"] as const) {
      const text = streams[type].end();
      if (text !== "") yield { type, text };
    }
  }
  try {
    for await (const event of events) {
      if (event.type === "delta" || event.type === "reasoning") {
        const text = streams[event.type].push(event.text);
        if (text !== "") yield { type: event.type, text };
        continue;
      }
      if (event.type === "discard") streams.delta.end();
      if (event.type === "end") yield* rest();
      yield event;
    }
  } catch (error) {
    yield* rest(); // what came before it broke
    throw error;
  }
}
