/** What tests of chat() share: models at a test server, an answer with all that came of it. */
import { chat, type ChatEvent, type ChatRequest } from "../chat.ts";
import type { Model } from "../endpoint.ts";
import { ProviderError } from "../errors.ts";
import { cutUp, type Reply, type TestServer, withServer } from "./support_server.ts";

/** A model behind a test server. */
export function modelAt(server: { url: string }, protocol: Model["protocol"], more: Partial<Model> = {}): Model {
  return {
    provider: protocol === "openai" ? "custom" : protocol,
    name: "test-model",
    protocol,
    baseUrl: protocol === "openai" ? `${server.url}/v1` : server.url,
    local: true,
    from: "a test",
    ...more,
  };
}

/** What came of one call. */
export interface Outcome {
  events: ChatEvent[];
  /** The answer: the deltas, without what was discarded. */
  text: string;
  reasoning: string;
  usage: ChatEvent | undefined;
  end: Extract<ChatEvent, { type: "end" }> | undefined;
  waiting: Extract<ChatEvent, { type: "waiting" }>[];
  error: ProviderError | undefined;
}

/** Milliseconds in which a stream that is not silent on purpose says something, on any machine. */
export const PATIENT_MS = 20_000;

/** Asks, waits for nothing, and gathers what comes. Errors other than a ProviderError are thrown. */
export async function ask(model: Model, more: Partial<ChatRequest> = {}): Promise<Outcome> {
  const outcome: Outcome = {
    events: [],
    text: "",
    reasoning: "",
    usage: undefined,
    end: undefined,
    waiting: [],
    error: undefined,
  };
  const request: ChatRequest = {
    model,
    messages: [{ role: "user", content: "Review this" }],
    env: {},
    timeoutMs: PATIENT_MS,
    sleep: () => Promise.resolve(),
    ...more,
  };
  try {
    for await (const event of chat(request)) note(outcome, event);
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    outcome.error = error;
  }
  return outcome;
}

function note(outcome: Outcome, event: ChatEvent): void {
  outcome.events.push(event);
  if (event.type === "delta") outcome.text += event.text;
  if (event.type === "discard") outcome.text = "";
  if (event.type === "reasoning") outcome.reasoning += event.text;
  if (event.type === "usage") outcome.usage = event;
  if (event.type === "end") outcome.end = event;
  if (event.type === "waiting") outcome.waiting.push(event);
}

/** A body with its content type, before it is cut. */
export interface Body {
  type: string;
  text: string;
}

/** Server-sent events, each text or object one `data:` field. */
export function events(...data: (string | object)[]): Body {
  const text = data.map((one) => `data: ${typeof one === "string" ? one : JSON.stringify(one)}\n\n`).join("");
  return { type: "text/event-stream", text };
}

/** Server-sent events that name their type, as Anthropic sends them. */
export function typedEvents(...data: { type: string }[]): Body {
  const text = data.map((one) => `event: ${one.type}\ndata: ${JSON.stringify(one)}\n\n`).join("");
  return { type: "text/event-stream", text };
}

/** Lines of JSON. */
export function lines(...data: object[]): Body {
  return { type: "application/x-ndjson", text: data.map((one) => `${JSON.stringify(one)}\n`).join("") };
}

/** One JSON document. */
export function document(value: unknown): Body {
  return { type: "application/json", text: JSON.stringify(value) };
}

/** A body as an answer, in one of its cuts. */
export function replyOf(body: Body, pieces: readonly Uint8Array[] = [new TextEncoder().encode(body.text)]): Reply {
  return { headers: { "content-type": body.type }, body: pieces };
}

/** Asks a server that sends one answer whole, byte by byte, and cut inside its characters; `check` sees what came of each. */
export async function inAllCuts(
  protocol: Model["protocol"],
  body: Body,
  check: (outcome: Outcome, how: string) => void | Promise<void>,
  more: { model?: Partial<Model>; request?: Partial<ChatRequest> } = {},
): Promise<void> {
  for (const [how, pieces] of cutUp(body.text)) {
    await withServer([replyOf(body, pieces)], async (server) => {
      await check(await ask(modelAt(server, protocol, more.model), more.request), how);
    });
  }
}

/** Asks a server that plays `replies` one after the other. */
export async function askServer(
  protocol: Model["protocol"],
  replies: readonly Reply[],
  more: { model?: Partial<Model>; request?: Partial<ChatRequest> } = {},
): Promise<Outcome & { server: TestServer }> {
  return await withServer(replies, async (server) => {
    return { ...await ask(modelAt(server, protocol, more.model), more.request), server };
  });
}

/** One chunk of an OpenAI stream. */
export function chunk(delta: object | null, finish_reason: string | null = null): object {
  return {
    id: "chatcmpl-1",
    object: "chat.completion.chunk",
    created: 1,
    model: "m",
    choices: [{ index: 0, ...(delta === null ? {} : { delta }), finish_reason }],
  };
}

/** One piece of an Anthropic stream. */
export function textDelta(text: string): { type: string } {
  return Object.assign({ type: "content_block_delta" }, { index: 0, delta: { type: "text_delta", text } });
}

/** The end of an Anthropic stream. */
export function messageDelta(stop_reason: string, output_tokens = 7): { type: string } {
  return Object.assign({ type: "message_delta" }, { delta: { stop_reason }, usage: { output_tokens } });
}

/** The end of an OpenAI stream. */
export const DONE = "[DONE]";

/** The chunk that carries the usage. */
export const USAGE = { choices: [], usage: { prompt_tokens: 11, completion_tokens: 7 } };

/** A good answer in each protocol: "Grüße 🎉". */
export const GOOD: Record<Model["protocol"], Body> = {
  openai: events(
    chunk({ role: "assistant", content: "" }),
    chunk({ content: "Grü" }),
    chunk({ content: "ße 🎉" }),
    chunk({}, "stop"),
    USAGE,
    DONE,
  ),
  ollama: lines(
    { message: { role: "assistant", content: "Grü" }, done: false },
    { message: { content: "ße 🎉" }, done: false },
    { message: { content: "" }, done: true, done_reason: "stop", prompt_eval_count: 11, eval_count: 7 },
  ),
  anthropic: typedEvents(
    Object.assign({ type: "message_start" }, {
      message: {
        usage: { input_tokens: 4, cache_read_input_tokens: 5, cache_creation_input_tokens: 2, output_tokens: 1 },
      },
    }),
    Object.assign({ type: "content_block_start" }, { index: 0, content_block: { type: "text", text: "" } }),
    textDelta("Grü"),
    textDelta("ße 🎉"),
    Object.assign({ type: "content_block_stop" }, { index: 0 }),
    messageDelta("end_turn"),
    { type: "message_stop" },
  ),
};

/** All of them. */
export const PROTOCOLS = ["openai", "ollama", "anthropic"] as const;
