/**
 * One request in, an async iterable of events out, whatever the provider speaks.
 *
 * @module
 */

import { Answer, BrokenAnswer } from "./answer.ts";
import { ProviderError } from "./errors.ts";
import { lineSplitter, type Pieces, piecesOf, sseSplitter } from "./framing.ts";
import { type Env, errorText, failureOf, HttpError, readText, request, scrub } from "./http.ts";
import type { Protocol } from "./presets.ts";
import { isPromptCut } from "./promptcut.ts";
import { authHeaders, endpoint, listModels, type Model, secretsOf } from "./endpoint.ts";
import {
  brokenError,
  emptyError,
  foreignError,
  judge,
  MAX_TRIES,
  type Refusal,
  refusalError,
  silenceError,
  unreachableError,
} from "./verdict.ts";
import {
  type Dialect,
  type Message,
  parseJson,
  type PayloadReader,
  PLAIN_DIALECT,
  type StopReason,
  type Wire,
} from "./wire.ts";
import { anthropic } from "./wire_anthropic.ts";
import { ollama } from "./wire_ollama.ts";
import { openai } from "./wire_openai.ts";

export type { Message, StopReason };

/** What is asked, and how long it may take. */
export interface ChatRequest {
  /** Whom it asks. */
  model: Model;
  /** The conversation, the newest message last. */
  messages: Message[];
  /** The environment. */
  env: Env;
  /** Ends it, at any point. */
  signal?: AbortSignal;
  /** Milliseconds without any payload after which the stream is given up. */
  timeoutMs: number;
  /** Tokens of the answer, only if the user set it. Anthropic, which wants a number, gets 32,000 without. */
  maxTokens?: number;
  /** Only if the user set it. */
  temperature?: number;
  /** Ollama's `num_ctx`, in tokens: one value for the whole run, because a change reloads the model. */
  contextTokens?: number;
  /** Replaces the waiting before another try, for tests. Rejects when the signal aborts. */
  sleep?: (milliseconds: number, signal: AbortSignal) => Promise<void>;
}

/** What happens while a model answers. */
export type ChatEvent =
  | { type: "delta"; text: string }
  | { type: "reasoning"; text: string }
  | {
    /** All deltas so far were reasoning, and are to be dropped: a `</think>` came without its `<think>`. */
    type: "discard";
  }
  | {
    /** Before another try. */
    type: "waiting";
    reason: string;
    milliseconds: number;
    /** The server limits the rate: whoever else asks it should wait as long. */
    rateLimited?: boolean;
  }
  | {
    /** Once, when the answer is over, also when it failed. */
    type: "usage";
    promptTokens?: number;
    completionTokens?: number;
  }
  | {
    /** The answer is whole. Milliseconds count from the call; the first two are of the request that succeeded. */
    type: "end";
    stopReason: StopReason;
    firstByteMs?: number;
    firstTokenMs?: number;
    totalMs: number;
    /** The server counted far fewer prompt tokens than were sent: it cut the prompt in silence. */
    promptCut?: boolean;
  };

const WIRES: Readonly<Record<Protocol, Wire>> = { openai, ollama, anthropic };

/** Milliseconds for what may come behind the reason of the end: usage, `[DONE]`. */
const GRACE_MS = 5_000;

/** Milliseconds for the end of the connection behind the last payload, so that it can be used again. */
const DRAIN_MS = 50;

/** Milliseconds between two looks at a server that loads its model. */
const HEALTH_MS = 1_000;

/** Milliseconds for the list of models that an error names. */
const LIST_MS = 5_000;

/** Milliseconds for the text of a refusal, and characters of it. */
const REFUSAL_MS = 5_000;
const MAX_REFUSAL_CHARS = 100_000;

/** The longest time a timer can hold, in milliseconds. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** Models that begin with reasoning and close it with a bare `</think>`, where their server does not take it out. */
const STARTS_THINKING = /deepseek-r1|\bqwq\b|[-_]thinking\b/i;

/** A response that is no answer. */
class Refused extends Error {
  readonly refusal: Refusal;

  constructor(refusal: Refusal) {
    super(errorText(refusal.status, refusal.body));
    this.refusal = refusal;
  }
}

/** Nothing came for too long. */
class Silence extends Error {}

/** A text under status 200 that is no answer of this protocol. */
class Foreign extends Error {}

/** The connection ended in the middle of the body. */
class Cut extends Error {}

/** What one call of chat() holds on to. */
interface Call extends ChatRequest {
  wire: Wire;
  /** Ends whatever of the call still runs. */
  stop: AbortController;
  /** `stop`, or the caller's signal. */
  anySignal: AbortSignal;
  startedAt: number;
  dialect: Dialect;
  /** Requests so far. */
  tries: number;
  resets: number;
  loadingSince?: number;
}

/**
 * Asks a model and yields what comes, at the consumer's pace. Tries again only while nothing was yielded of an answer.
 * Throws ProviderError when it fails, and the signal's reason when it is aborted; the text so far was already yielded.
 * Leaving the loop closes the connection.
 */
export async function* chat(request: ChatRequest): AsyncGenerator<ChatEvent> {
  const stop = new AbortController();
  const call: Call = {
    ...request,
    wire: WIRES[request.model.protocol],
    stop,
    anySignal: request.signal ? AbortSignal.any([request.signal, stop.signal]) : stop.signal,
    startedAt: performance.now(),
    dialect: PLAIN_DIALECT,
    tries: 0,
    resets: 0,
  };
  try {
    for (let over = false; !over;) {
      call.tries++;
      const answer = new Answer({ startsThinking: STARTS_THINKING.test(request.model.name) });
      try {
        yield* ask(call, answer);
        over = true;
      } catch (error) {
        request.signal?.throwIfAborted();
        if (answer.usage && answer.gave) yield { type: "usage", ...answer.usage };
        if (answer.gave) throw await failure(call, error);
        yield* recover(call, error);
      }
    }
  } finally {
    stop.abort();
  }
}

/** One request and its answer. */
async function* ask(call: Call, answer: Answer): AsyncGenerator<ChatEvent> {
  const response = await send(call);
  if (!response.ok || response.body === null) {
    const body = await readText(response, {
      maxChars: MAX_REFUSAL_CHARS,
      timeoutMs: Math.min(REFUSAL_MS, call.timeoutMs),
      signal: call.anySignal,
    });
    throw new Refused({ status: response.status, headers: response.headers, body });
  }
  const times = { firstByteAt: undefined, firstTokenAt: undefined };
  const pieces = piecesOf(response.body, call.wire.framing);
  yield* read(call, pieces, answer, times);
  check(call, answer);
  const { usage } = answer;
  if (usage) yield { type: "usage", ...usage };
  yield endOf(call, answer, times);
  // the last bytes of a chunked body: taken, the connection can serve the next request
  await within(pieces.read(), DRAIN_MS).catch(() => undefined);
}

function send(call: Call): Promise<Response> {
  const { model, wire } = call;
  const auth = authHeaders(model);
  return request({
    url: endpoint(model.baseUrl, wire.path),
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: wire.framing === "sse" ? "text/event-stream, application/json" : "application/x-ndjson, application/json",
      ...model.headers,
      ...auth,
    },
    credentials: [...Object.keys(auth), ...Object.keys(model.headers ?? {})],
    body: JSON.stringify(wire.body({ ...call, model: model.name })),
    env: call.env,
    signal: call.anySignal,
    timeoutMs: call.timeoutMs,
  });
}

/** When the first byte and the first token came, on performance.now()'s clock. */
interface Times {
  firstByteAt: number | undefined;
  firstTokenAt: number | undefined;
}

/** Reads a stream to its end. The clock of the silence stands still while the consumer works. */
async function* read(call: Call, pieces: Pieces, answer: Answer, times: Times): AsyncGenerator<ChatEvent> {
  const reader = call.wire.reader();
  let payload = false;
  const splitter = (call.wire.framing === "sse" ? sseSplitter : lineSplitter)((data, event) => {
    payload = reader.read(data, answer.add, event) || payload;
  });
  let left = call.timeoutMs;
  for (let over = false; !over && !answer.done;) {
    const asked = performance.now();
    const piece = await nextPiece(pieces, answer, left);
    times.firstByteAt ??= piece.done ? undefined : performance.now();
    if (piece.done) splitter.end();
    else splitter.feed(piece.value ?? "");
    over = piece.done;
    if (over && answer.stopReason === undefined) readDocument(splitter.document(), reader, answer);
    left = payload ? call.timeoutMs : left - (performance.now() - asked);
    payload = false;
    if (answer.hasNew) times.firstTokenAt ??= performance.now();
    yield* answer.take();
  }
  yield* answer.end();
}

/** The next piece. Once the answer has said why it ends, its end is not waited for long, and a cut does no harm. */
async function nextPiece(pieces: Pieces, answer: Answer, left: number): ReturnType<Pieces["read"]> {
  if (answer.stopReason === undefined) return await within(pieces.read(), left);
  return await within(pieces.read(), Math.min(left, GRACE_MS)).catch(() => ({ done: true }));
}

/** What reading gives. Throws {@linkcode Silence} after a time, and {@linkcode Cut} when the connection fails. */
function within<T>(reading: Promise<T>, milliseconds: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Silence()), Math.min(milliseconds, MAX_TIMER_MS));
    reading.then(resolve, (error: unknown) => reject(new Cut(failureOf(error).words, { cause: error })))
      .finally(() => clearTimeout(timer));
  });
}

/** An answer under status 200 that is one JSON document instead of a stream: whole, or an error. */
function readDocument(text: string, reader: PayloadReader, answer: Answer): void {
  if (text.trim() === "") return;
  const document = parseJson(text);
  if (document === undefined || !reader.whole(document, answer.add)) throw new Foreign(text);
}

/** An answer counts only with its end, and with a text. */
function check(call: Call, answer: Answer): void {
  if (answer.stopReason === undefined) {
    throw new BrokenAnswer("the stream ended before the answer did", { passing: false });
  }
  if (!answer.hasText) {
    throw emptyError(call.model, { stopReason: answer.stopReason, hasReasoning: answer.hasReasoning });
  }
}

function endOf(call: Call, answer: Answer, times: Times): ChatEvent {
  const since = (name: string, at: number | undefined) => at === undefined ? {} : { [name]: at - call.startedAt };
  const prompt = answer.usage?.promptTokens;
  const cut = prompt !== undefined && isPromptCut(call.messages.map((message) => message.content), prompt);
  return {
    type: "end",
    stopReason: answer.stopReason ?? "other",
    ...since("firstByteMs", times.firstByteAt),
    ...since("firstTokenMs", times.firstTokenAt),
    totalMs: performance.now() - call.startedAt,
    ...(cut ? { promptCut: true } : {}),
  };
}

/** Gets over a failure, waiting where that helps, so that the request can be sent again; else throws what it means. */
async function* recover(call: Call, error: unknown): AsyncGenerator<ChatEvent> {
  if (isReset(error)) {
    // a kept connection that the server has closed meanwhile shows only when it is used
    if (call.resets++ > 0) throw await failure(call, error);
    yield { type: "waiting", reason: "the connection was closed; trying again", milliseconds: 0 };
    return;
  }
  const refusal = refusalOf(call, error);
  const verdict = refusal && judge(refusal, { tries: call.tries, dialect: call.dialect, now: Date.now() });
  switch (verdict?.do) {
    case "wait": {
      const { milliseconds, rateLimited } = verdict;
      yield {
        type: "waiting",
        reason: verdict.reason,
        milliseconds,
        ...(rateLimited ? { rateLimited } : {}),
      };
      await sleep(call, milliseconds);
      break;
    }
    case "await health":
      yield* awaitHealth(call);
      break;
    case "adapt":
      call.dialect = verdict.dialect;
      call.tries--;
      yield { type: "waiting", reason: verdict.reason, milliseconds: 0 };
      break;
    default:
      throw await failure(call, error);
  }
}

function isReset(error: unknown): boolean {
  return error instanceof Cut || error instanceof HttpError && error.failure === "reset";
}

/** A failure as a refusal to judge; an error inside a 200 that may pass counts as overload. */
function refusalOf(call: Call, error: unknown): Refusal | undefined {
  if (error instanceof Refused) return { ...error.refusal, body: clean(call, error.refusal.body) };
  if (!(error instanceof BrokenAnswer)) return undefined;
  return { status: error.passing ? 529 : 200, headers: new Headers(), body: clean(call, error.message) };
}

/** llama.cpp answers 503 while it loads a model, and says on /health when it is done. */
async function* awaitHealth(call: Call): AsyncGenerator<ChatEvent> {
  call.loadingSince ??= performance.now();
  call.tries--;
  const url = endpoint(call.model.baseUrl.replace(/\/v1$/, ""), "/health");
  for (let status = 503; status === 503;) {
    if (performance.now() - call.loadingSince > call.timeoutMs) throw silenceError(call.model, call.timeoutMs);
    yield { type: "waiting", reason: "the server is loading its model", milliseconds: HEALTH_MS };
    await sleep(call, HEALTH_MS);
    const { model, env, anySignal: signal } = call;
    const asking = request({ url, env, signal, headers: authHeaders(model), timeoutMs: call.timeoutMs });
    const response = await asking.catch(async (error: unknown) => {
      throw await failure(call, error);
    });
    await response.body?.cancel();
    status = response.status;
  }
}

async function sleep(call: Call, milliseconds: number): Promise<void> {
  await (call.sleep ?? sleepFor)(milliseconds, call.anySignal);
  call.signal?.throwIfAborted();
}

function sleepFor(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", end);
      resolve();
    }, milliseconds);
    signal.addEventListener("abort", end, { once: true });
    if (signal.aborted) end();
  });
}

/** The error that the caller gets: what a server said is in its message, without keys, and nowhere else. */
async function failure(call: Call, error: unknown): Promise<Error> {
  const { model, timeoutMs } = call;
  call.signal?.throwIfAborted();
  const asked = call.contextTokens === undefined ? model : { ...model, contextWindow: call.contextTokens };
  if (error instanceof ProviderError) return error;
  if (error instanceof Silence || isSilence(error)) return silenceError(asked, timeoutMs);
  if (error instanceof HttpError) return unreachableError(asked, error);
  if (error instanceof Foreign) return foreignError(asked, clean(call, error.message));
  const refusal = refusalOf(call, error);
  if (refusal === undefined || error instanceof BrokenAnswer) {
    return brokenError(asked, refusal?.body ?? (error instanceof Error ? error.message : "the request failed"));
  }
  const verdict = judge(refusal, { tries: MAX_TRIES, dialect: call.dialect, now: Date.now() });
  const models = verdict.do === "list models" ? await namesOf(call) : undefined;
  return refusalError(asked, verdict, refusal, models);
}

/** Whether the headers were waited for as long as the silence may last. */
function isSilence(error: unknown): boolean {
  return error instanceof HttpError && error.failure === "timeout" && error.cause === undefined;
}

/** The models that the endpoint serves, for an error: its failure is none of its own. */
async function namesOf(call: Call): Promise<string[]> {
  const { env, anySignal: signal } = call;
  const models = await listModels(call.model, { env, signal, timeoutMs: LIST_MS }).catch(() => []);
  return models.map((model) => model.name);
}

function clean(call: Call, text: string): string {
  return scrub(text, secretsOf(call.model));
}
