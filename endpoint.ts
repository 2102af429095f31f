/**
 * One endpoint of a provider: how it is addressed, which models it serves, how large their windows are.
 *
 * @module
 */

import { ProviderError, UsageError } from "./errors.ts";
import { type Env, errorText, HttpError, isLoopback, readText, request, scrub } from "./http.ts";
import { knownWindow, type Protocol } from "./presets.ts";
import { fieldsOf, itemsOf, parseJson, textOf } from "./wire.ts";

/** One model at one endpoint. */
export interface Model {
  /** The provider's id, as in `PROVIDER/NAME`. */
  provider: string;
  /** The model's name at that provider; may hold slashes and colons. */
  name: string;
  /** How the endpoint is spoken to. */
  protocol: Protocol;
  /** Normalised: without a slash at its end, and without the path of a single call. */
  baseUrl: string;
  /** Absent where none is needed. */
  apiKey?: string;
  /** Where the key came from, to name it when it is refused: `OPENAI_API_KEY`. */
  apiKeyFrom?: string;
  /** The header that carries the key, where it is not the protocol's own (Azure: `api-key`). */
  keyHeader?: string;
  /** Further headers, from the user file. */
  headers?: Record<string, string>;
  /** Tokens, where known without asking. */
  contextWindow?: number;
  /** Its endpoint is on loopback. */
  local: boolean;
  /** Why this one: "--model", "OPENAI_API_KEY", "found on 127.0.0.1:11434". */
  from: string;
}

/** As much of a {@linkcode Model} as says how its endpoint is reached. */
export type Endpoint = Pick<Model, "provider" | "protocol" | "baseUrl" | "apiKey" | "keyHeader" | "headers">;

/** A model that an endpoint serves. */
export interface ServedModel {
  /** The model's name at its provider. */
  name: string;
  /** Tokens, where the list says it. */
  contextWindow?: number;
}

/** Options of the questions to an endpoint. */
export interface AskOptions {
  /** The environment. */
  env: Env;
  /** Ends it, at any point. */
  signal?: AbortSignal;
  /**
   * Milliseconds for the whole answer.
   * @default 10,000
   */
  timeoutMs?: number;
}

/** Milliseconds for a list of models or a window. */
const QUESTION_MS = 10_000;

/** Characters of such an answer; OpenRouter's list has less than one million. */
const MAX_ANSWER_CHARS = 16 * 1024 * 1024;

/** The tails of pasted URLs: the calls themselves. */
const TAILS: Readonly<Record<Protocol, RegExp>> = {
  openai: /\/(chat\/completions|completions|responses|models)$/,
  ollama: /(\/v1)?(\/chat\/completions|\/models)$|\/api(\/(chat|generate|tags|show|ps))?$|\/v1$/,
  anthropic: /(\/v1)?\/(messages|models)$|\/v1$/,
};

/**
 * A base URL as it is used: with a scheme, without double slashes, without the path of a single call, and with `/v1` where
 * the protocol has it and no path was given. Throws UsageError for what is no address.
 */
export function normalizeBaseUrl(text: string, protocol: Protocol): string {
  const trimmed = text.trim();
  const url = URL.parse(/^[a-z][a-z0-9+.-]*:\/\//i.test(trimmed) ? trimmed : `${guessScheme(trimmed)}://${trimmed}`);
  if (url === null || !/^https?:$/.test(url.protocol) || url.hostname === "") {
    throw new UsageError(`"${trimmed.replace(/\/\/[^/@]*@/, "//")}" is no base URL`, {
      hint: "it looks like http://127.0.0.1:8080/v1",
    });
  }
  if (url.username || url.password) {
    throw new UsageError("A base URL must not hold a name or password", { hint: "set OCTAVO_API_KEY instead" });
  }
  reachable(url);
  const path = url.pathname.replace(/\/{2,}/g, "/").replace(/\/$/, "").replace(TAILS[protocol], "").replace(/\/$/, "");
  return url.origin + (path === "" && protocol === "openai" ? "/v1" : path) + url.search;
}

/** Plain HTTP on the person's own machine and for addresses with a port; else HTTPS. */
function guessScheme(text: string): string {
  return isLoopback(`http://${text}`) || /^[^/]+:\d+/.test(text) || text.startsWith("0.0.0.0") ? "http" : "https";
}

/** "Any address", as servers print what they listen on, is no address to connect to. */
function reachable(url: URL): void {
  if (url.hostname === "0.0.0.0") url.hostname = "127.0.0.1";
  if (url.hostname === "[::]") url.hostname = "[::1]";
}

/** The port of Ollama, which a host without one stands for. */
const OLLAMA_PORT = 11434;

/** The address that a value of OLLAMA_HOST means to a client (Ollama's envconfig). Throws UsageError for what is none. */
export function ollamaUrl(host: string): string {
  const text = host.trim().replace(/^(["'])(.*)\1$/, "$2").trim();
  const [, scheme, rest = ""] = /^(?:(https?):\/\/)?(.*)$/is.exec(text) ?? [];
  const [, authority = "", path = ""] = /^([^/]*)(\/.*)?$/s.exec(rest) ?? [];
  const bare = /^[^[]*:[^[]*:/.test(authority) ? `[${authority}]` : authority;
  const named = bare === "" ? "127.0.0.1" : bare.startsWith(":") ? `127.0.0.1${bare}` : bare;
  const hasPort = /:\d+$/.test(named.replace(/^\[.*\]/, ""));
  const full = scheme === undefined && !hasPort ? `${named.replace(/:$/, "")}:${OLLAMA_PORT}` : named;
  return normalizeBaseUrl(`${scheme ?? "http"}://${full}${path}`, "ollama");
}

/** The URL of a call: the path goes between a base URL and its query, which Azure has. */
export function endpoint(baseUrl: string, path: string): string {
  const at = baseUrl.indexOf("?");
  return at < 0 ? baseUrl + path : baseUrl.slice(0, at) + path + baseUrl.slice(at);
}

/** The headers that carry the key, and those the protocol wants. */
export function authHeaders(model: Endpoint): Record<string, string> {
  const version = model.protocol === "anthropic" ? { "anthropic-version": "2023-06-01" } : {};
  if (model.apiKey === undefined) return version;
  const header = model.keyHeader ?? (model.protocol === "anthropic" ? "x-api-key" : "authorization");
  return { ...version, [header]: header === "authorization" ? `Bearer ${model.apiKey}` : model.apiKey };
}

/** The models that an endpoint serves, in its order. Throws ProviderError when it does not answer as it should. */
export async function listModels(at: Endpoint, options: AskOptions): Promise<ServedModel[]> {
  const path = at.protocol === "ollama"
    ? "/api/tags"
    : at.protocol === "anthropic"
    ? "/v1/models?limit=1000"
    : "/models";
  const answer = await ask(at, path, options);
  const models = modelsIn(at.protocol, answer);
  if (models === undefined) {
    throw new ProviderError(`${nameOf(at)} answers with something else than a list of models`, {
      hint: "check the base URL",
    });
  }
  return models;
}

/** The models in an answer, or `undefined` when it has not the shape of a list of models. */
export function modelsIn(protocol: Protocol, answer: unknown): ServedModel[] | undefined {
  const fields = fieldsOf(answer);
  const list: unknown = protocol === "ollama" ? fields?.models : Array.isArray(answer) ? answer : fields?.data;
  if (!Array.isArray(list)) return undefined;
  return list.flatMap((item) => {
    const model = fieldsOf(item);
    const name = textOf(protocol === "ollama" ? model?.name ?? model?.model : model?.id);
    if (model === undefined || name === undefined) return [];
    const window = windowOf(model, LIST_WINDOWS);
    // Gemini's list says models/NAME, its other calls take NAME
    return [{ name: name.replace(/^models\//, ""), ...(window === undefined ? {} : { contextWindow: window }) }];
  });
}

/** Fields of a list's entries: vLLM, OpenRouter, Groq, Mistral, Anthropic. */
const LIST_WINDOWS = ["max_model_len", "context_length", "context_window", "max_context_length", "max_input_tokens"];

function windowOf(fields: Record<string, unknown> | undefined, names: readonly string[]): number | undefined {
  for (const name of names) {
    const value = fields?.[name];
    if (typeof value === "number" && value > 0) return value;
  }
  return undefined;
}

/** What a model may be that answers no chat, by its name. */
const NO_CHAT = /embed|whisper|\btts\b|rerank|dall-e|moderation|stable-diffusion|\bclip\b|\bbge-/i;

/** The first model of a list that may answer a chat. */
export function firstChatModel(models: readonly ServedModel[]): ServedModel | undefined {
  return models.find((model) => !NO_CHAT.test(model.name));
}

/**
 * A model's context window in tokens: as the settings say it, else as its server does, else, for one on the network, from a
 * table of well-known models, else unknown. A server that does not answer is no error here.
 */
export async function contextWindow(model: Model, options: AskOptions): Promise<number | undefined> {
  if (model.contextWindow !== undefined) return model.contextWindow;
  const asked = await askWindow(model, options);
  return asked ?? (model.local ? undefined : knownWindow(model.name));
}

/** Providers whose answer would say no more than the table. */
const SILENT_ABOUT_WINDOWS = ["openai", "azure", "deepseek", "gemini"];

async function askWindow(model: Model, options: AskOptions): Promise<number | undefined> {
  if (model.protocol === "ollama") return await ollamaWindow(model, options);
  if (SILENT_ABOUT_WINDOWS.includes(model.provider)) return undefined;
  const listed = orNothing(listModels(model, options)).then((models) =>
    models?.find((one) => one.name === model.name)?.contextWindow
  );
  if (!model.local) return await listed;
  // what a server on one's own machine is, its port does not prove: each is asked its way, at once
  const [list, studio, llama] = await Promise.all([listed, studioWindow(model, options), llamaWindow(model, options)]);
  return list ?? studio ?? llama;
}

/** The size a model was made for or is set to, else the one it runs with. */
async function ollamaWindow(model: Model, options: AskOptions): Promise<number | undefined> {
  const show = fieldsOf(await orNothing(ask(model, "/api/show", options, JSON.stringify({ model: model.name }))));
  const set = /^\s*num_ctx\s+(\d+)/m.exec(textOf(show?.parameters) ?? "")?.[1];
  if (set !== undefined) return Number(set);
  const info = fieldsOf(show?.model_info) ?? {};
  const made = windowOf(info, Object.keys(info).filter((name) => name.endsWith(".context_length")));
  if (made !== undefined) return made;
  const running = itemsOf(fieldsOf(await orNothing(ask(model, "/api/ps", options)))?.models).map(fieldsOf);
  return windowOf(running.find((one) => one?.name === model.name), ["context_length"]);
}

/** LM Studio's own list beside the compatible one: the window that is loaded, else the largest. */
async function studioWindow(model: Model, options: AskOptions): Promise<number | undefined> {
  const list = itemsOf(fieldsOf(await orNothing(ask(rootOf(model), "/api/v0/models", options)))?.data).map(fieldsOf);
  const found = list.find((one) => one?.id === model.name);
  return windowOf(found, ["loaded_context_length", "max_context_length"]);
}

/** llama.cpp's properties: the window of one slot. */
async function llamaWindow(model: Model, options: AskOptions): Promise<number | undefined> {
  const props = fieldsOf(await orNothing(ask(rootOf(model), "/props", options)));
  return windowOf(fieldsOf(props?.default_generation_settings), ["n_ctx"]);
}

/** The endpoint without its `/v1`, where local servers keep their own calls. */
function rootOf(model: Model): Model {
  return { ...model, baseUrl: model.baseUrl.replace(/\/v1$/, "") };
}

async function orNothing<T>(answer: Promise<T>): Promise<T | undefined> {
  return await answer.catch(() => undefined);
}

/** One question and its JSON. Throws ProviderError. */
async function ask(at: Endpoint, path: string, options: AskOptions, body?: string): Promise<unknown> {
  const auth = authHeaders(at);
  const { timeoutMs = QUESTION_MS } = options;
  const limit = AbortSignal.timeout(timeoutMs);
  try {
    const response = await request({
      url: endpoint(at.baseUrl, path),
      headers: { accept: "application/json", ...at.headers, ...auth },
      credentials: [...Object.keys(auth), ...Object.keys(at.headers ?? {})],
      env: options.env,
      signal: options.signal ? AbortSignal.any([options.signal, limit]) : limit,
      ...(body === undefined ? {} : { method: "POST", body }),
    });
    const text = await readText(response, { maxChars: MAX_ANSWER_CHARS, timeoutMs, signal: limit });
    if (response.ok) return parseJson(text);
    const said = errorText(response.status, scrub(text, secretsOf(at)));
    throw new ProviderError(`${nameOf(at)} answers ${said}`);
  } catch (error) {
    options.signal?.throwIfAborted();
    if (error instanceof ProviderError) throw error;
    const why = error instanceof HttpError && !limit.aborted ? error.message : "it takes too long";
    throw new ProviderError(`${nameOf(at)} does not answer: ${why}`);
  }
}

/** What must not be printed, should a server repeat it: the key, and the values of the user file's headers. */
export function secretsOf(at: Endpoint): string[] {
  return [at.apiKey, ...Object.values(at.headers ?? {})].filter((value) => value !== undefined);
}

function nameOf(at: Endpoint): string {
  return `"${at.provider}" at ${URL.parse(at.baseUrl)?.host ?? at.baseUrl}`;
}
