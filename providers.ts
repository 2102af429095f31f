/**
 * Which provider, endpoint, key and model: the order of choice, whose key goes where, local servers.
 *
 * @module
 */

import {
  contextWindow,
  type Endpoint,
  firstChatModel,
  listModels,
  type Model,
  modelsIn,
  normalizeBaseUrl,
  ollamaUrl,
  type ServedModel,
} from "./endpoint.ts";
import { ProviderError, UsageError } from "./errors.ts";
import { displayUrl, type Env, errorDetail, isLoopback, prepare, readText, request } from "./http.ts";
import { ENVIRONMENT_ORDER, knownWindow, type Preset, presetOf, PRESETS, type Protocol } from "./presets.ts";
import { fieldsOf, itemsOf, parseJson } from "./wire.ts";

export { contextWindow, listModels };
export type { Model, Protocol, ServedModel };

/** What the user file says of one provider. */
export interface ProviderSettings {
  /** Its endpoint. */
  baseUrl?: string;
  /** Its key. */
  apiKey?: string;
  /** A program and its arguments; the first line it prints is the key. */
  apiKeyCommand?: string[];
  /** Sent with each request. */
  headers?: Record<string, string>;
  /** Tokens. */
  contextWindow?: number;
  /** @default the preset's, else "openai" */
  /** How its endpoint is spoken to. */
  protocol?: Protocol;
}

/** What decides about the model. */
export interface ModelSettings {
  /** `PROVIDER/NAME`, a provider, a name at `baseUrl`, or `builtin`. */
  model?: string;
  /** Where `model` was set: "--model", "OCTAVO_MODEL", the user file's path. */
  modelFrom?: string;
  /** Its endpoint. */
  baseUrl?: string;
  /** Where `baseUrl` was set: "--base-url", "OCTAVO_BASE_URL", the user file's path. */
  baseUrlFrom?: string;
  /** The key for the endpoint that these settings name. */
  apiKey?: string;
  /**
   * Where `apiKey` was set.
   * @default "OCTAVO_API_KEY"
   */
  apiKeyFrom?: string;
  /** The user file's, by id. */
  providers?: Record<string, ProviderSettings>;
  /** Refuses any endpoint that is not on loopback. */
  localOnly?: boolean;
  /** The environment. */
  env: Env;
  /** Ends it, at any point. */
  signal?: AbortSignal;
  /** Ports of the local servers, by provider, instead of those of the presets. */
  ports?: Record<string, number>;
  /**
   * Milliseconds for the look at the local servers.
   * @default 300
   */
  probeMs?: number;
}

/** The name that stands for octavo's own checks, without a model. */
export const BUILTIN = "builtin";

/** Milliseconds for the look at the local servers. */
const PROBE_MS = 300;

/** Characters of a local server's list of models. */
const MAX_LIST_CHARS = 1_000_000;

/** Milliseconds that the command for a key may take: it may ask a person to unlock something. */
const KEY_COMMAND_MS = 60_000;

/** The id of an endpoint that is only a base URL. */
const CUSTOM = "custom";

/**
 * The model that the settings choose, in this order: flag, `OCTAVO_*`, user file (already merged into the settings), the
 * variables of the providers, `OLLAMA_HOST`, a local server that is found running; else `builtin`. Throws UsageError for what
 * is not configured right, ProviderError when one that was asked for does not answer. Sends nothing as long as the settings
 * name provider and model.
 */
export async function findModel(settings: ModelSettings): Promise<Model | typeof BUILTIN> {
  if (settings.model === BUILTIN) return BUILTIN;
  const wanted = readModel(settings);
  const place = namedPlace(settings, wanted) ?? userPlace(settings, wanted) ?? environmentPlace(settings);
  if (place !== undefined) return await modelAt(settings, place, wanted);
  return await findLocal(settings, wanted);
}

/** What `--model` says. */
export interface Wanted {
  /** The provider's id. */
  provider?: string;
  /** The model's name at its provider. */
  name?: string;
}

/** Splits `PROVIDER/NAME`. A first part that is no provider belongs to the name, if there is an endpoint to take it. */
export function readModel(settings: ModelSettings): Wanted {
  const text = settings.model?.trim();
  if (!text) return {};
  const slash = text.indexOf("/");
  const first = slash < 0 ? text : text.slice(0, slash);
  const rest = slash < 0 ? "" : text.slice(slash + 1);
  if (isProvider(settings, first)) return { provider: first, ...(rest === "" ? {} : { name: rest }) };
  const takesNames = settings.baseUrl !== undefined || settings.env.OPENAI_BASE_URL;
  if (slash >= 0 && !takesNames) throw unknownProvider(settings, first, rest);
  return { name: text };
}

function isProvider(settings: ModelSettings, id: string): boolean {
  return presetOf(id) !== undefined || settings.providers?.[id] !== undefined || id === CUSTOM;
}

function unknownProvider(settings: ModelSettings, id: string, rest: string): UsageError {
  const ids = [...Object.keys(settings.providers ?? {}), ...PRESETS.map((preset) => preset.id)];
  const nearest = nearestTo(id.toLowerCase(), ids);
  return new UsageError(`Unknown provider "${id}"`, {
    hint: nearest === undefined
      ? `providers: ${ids.join(", ")}; a name with a slash needs its provider in front: openrouter/${id}/${rest}`
      : `did you mean ${nearest}/${rest}?`,
  });
}

/** The id with the fewest changes, if they are few. */
function nearestTo(text: string, ids: readonly string[]): string | undefined {
  const [best] = ids.map((id) => ({ id, distance: distance(text, id) })).sort((a, b) => a.distance - b.distance);
  return best !== undefined && best.distance <= Math.max(1, Math.floor(text.length / 3)) ? best.id : undefined;
}

/** Levenshtein's distance. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const swap = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(swap, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}

/** An endpoint, before its key and its model are known. */
export interface Place {
  /** The provider's id. */
  provider: string;
  /** What octavo knows of it. */
  preset?: Preset | undefined;
  /** How it is spoken to. */
  protocol: Protocol;
  /** Its endpoint, normalised. */
  baseUrl: string;
  /** Why this one. */
  from: string;
  /** Whether octavo's own settings name it: OCTAVO_API_KEY may go there. */
  named: boolean;
}

/** How close to the command line a setting was made. */
function rankOf(from: string | undefined): number {
  return from?.startsWith("--") ? 3 : from?.startsWith("OCTAVO_") ? 2 : 1;
}

/**
 * The endpoint that flag, variable or user file name by a base URL or a provider. A provider that is named closer to the
 * command line than the base URL goes to its own endpoint.
 */
export function namedPlace(settings: ModelSettings, wanted: Wanted): Place | undefined {
  const { baseUrl, baseUrlFrom, modelFrom } = settings;
  const closer = wanted.provider !== undefined && rankOf(modelFrom) > rankOf(baseUrlFrom);
  if (baseUrl === undefined || closer) {
    return wanted.provider === undefined ? undefined : ownPlace(settings, wanted.provider, modelFrom ?? "--model");
  }
  const preset = wanted.provider === undefined ? presetAt(settings, baseUrl) : presetOf(wanted.provider);
  const provider = wanted.provider ?? preset?.id ?? CUSTOM;
  const protocol = settings.providers?.[provider]?.protocol ?? preset?.protocol ?? "openai";
  return {
    provider,
    preset,
    protocol,
    baseUrl: normalizeBaseUrl(baseUrl, protocol),
    from: baseUrlFrom ?? "--base-url",
    named: true,
  };
}

/** The preset whose own endpoint a base URL is. */
function presetAt(settings: ModelSettings, baseUrl: string): Preset | undefined {
  const origin = originOf(normalizeBaseUrl(baseUrl, "openai"));
  return PRESETS.find((preset) => {
    const own = presetUrl(settings, preset);
    return own !== undefined && originOf(own) === origin;
  });
}

function originOf(url: string): string | undefined {
  return URL.parse(url)?.origin;
}

function presetUrl(settings: ModelSettings, preset: Preset): string | undefined {
  const port = settings.ports?.[preset.id];
  return port === undefined ? preset.baseUrl : preset.baseUrl?.replace(/:\d+(?=\/|$)/, `:${port}`);
}

/** A provider's own endpoint: the user file's, that of its variable, the preset's. */
export function ownPlace(settings: ModelSettings, id: string, from: string): Place {
  const preset = presetOf(id);
  const user = settings.providers?.[id];
  const protocol = user?.protocol ?? preset?.protocol ?? "openai";
  const variable = user?.baseUrl === undefined ? variableUrl(settings, preset) : undefined;
  const baseUrl = user?.baseUrl ?? variable ?? (preset && presetUrl(settings, preset));
  if (baseUrl === undefined) {
    throw new UsageError(`"${id}" has no endpoint of its own`, {
      hint: preset?.baseUrlVariable ? `set ${preset.baseUrlVariable}` : "give its --base-url",
    });
  }
  return {
    provider: id,
    preset,
    protocol,
    baseUrl: normalizeBaseUrl(baseUrl, protocol),
    from,
    named: variable === undefined && settings.baseUrl === undefined,
  };
}

/** The base URL that a variable of the provider holds. */
function variableUrl(settings: ModelSettings, preset: Preset | undefined): string | undefined {
  const { env } = settings;
  if (preset?.id === "ollama") {
    return env.OLLAMA_HOST?.trim() ? ollamaUrl(env.OLLAMA_HOST) : undefined;
  }
  const value = preset?.baseUrlVariable ? env[preset.baseUrlVariable]?.trim() : undefined;
  if (!value) return undefined;
  // Azure's variable holds the resource, below which the compatible endpoint lies
  return preset?.id === "azure" && URL.parse(value)?.pathname === "/" ? `${value.replace(/\/$/, "")}/openai/v1` : value;
}

/** The first provider of the user file that has an endpoint of its own, when nothing else was named. */
function userPlace(settings: ModelSettings, wanted: Wanted): Place | undefined {
  if (wanted.name !== undefined) return undefined;
  const found = Object.entries(settings.providers ?? {}).find(([, provider]) => provider.baseUrl !== undefined);
  return found && ownPlace(settings, found[0], "the user file");
}

/** The first provider whose variables are set. */
function environmentPlace(settings: ModelSettings): Place | undefined {
  const { env } = settings;
  for (const id of ENVIRONMENT_ORDER) {
    const preset = presetOf(id);
    const names = [
      ...(preset?.keys ?? []),
      ...(preset?.baseUrlVariable === "OPENAI_BASE_URL" ? ["OPENAI_BASE_URL"] : []),
    ];
    const set = names.find((name) => env[name]?.trim());
    if (preset !== undefined && set !== undefined) return { ...ownPlace(settings, id, set), named: false };
  }
  if (env.OLLAMA_HOST?.trim()) return { ...ownPlace(settings, "ollama", "OLLAMA_HOST"), named: false };
  return undefined;
}

/** The model at an endpoint: with its key, and with the name wanted, its default, or the first one it serves. */
async function modelAt(settings: ModelSettings, place: Place, wanted: Wanted): Promise<Model> {
  const at = await endpointAt(settings, place);
  const own = place.preset?.baseUrl !== undefined && originOf(place.preset.baseUrl) === originOf(place.baseUrl);
  const served = wanted.name ?? (own ? place.preset?.model : undefined);
  const model = served === undefined ? await firstServed(settings, at, place) : { name: served };
  return complete(settings, place, at, model);
}

/** An endpoint with its key. Nothing is asked of one that is refused. */
export async function endpointAt(settings: ModelSettings, place: Place): Promise<Endpoint & { apiKeyFrom?: string }> {
  const { provider, protocol, baseUrl, preset } = place;
  if (settings.localOnly && !isLoopback(baseUrl)) {
    throw new UsageError(
      `"${displayUrl(baseUrl)}" is not on this machine, and --local-only is set (from ${place.from})`,
      {
        hint: "name a local model: --model ollama/NAME",
      },
    );
  }
  const headers = settings.providers?.[provider]?.headers;
  return {
    provider,
    protocol,
    baseUrl,
    ...(await keyFor(settings, place)),
    ...(preset?.keyHeader === undefined ? {} : { keyHeader: preset.keyHeader }),
    ...(headers === undefined ? {} : { headers }),
  };
}

/**
 * The key for an endpoint, which goes only where it belongs: OCTAVO_API_KEY to the endpoint that the settings name, the
 * user file's to the endpoint it stands with, a provider's variable to its own endpoint or that of its own base URL. Throws
 * UsageError when there is none; an endpoint on loopback, and Ollama, which knows no keys, need none.
 */
async function keyFor(settings: ModelSettings, place: Place): Promise<{ apiKey?: string; apiKeyFrom?: string }> {
  const { preset, provider, baseUrl } = place;
  if (place.named && settings.apiKey) {
    return { apiKey: settings.apiKey, apiKeyFrom: settings.apiKeyFrom ?? "OCTAVO_API_KEY" };
  }
  const user = settings.providers?.[provider];
  const ownUrls = [preset?.baseUrl, variableUrl(settings, preset)];
  const isOwn = (url: string | undefined) => url !== undefined && originOf(url) === originOf(baseUrl);
  if (user?.baseUrl !== undefined ? isOwn(normalizeBaseUrl(user.baseUrl, place.protocol)) : ownUrls.some(isOwn)) {
    if (user?.apiKey) return { apiKey: user.apiKey, apiKeyFrom: "the user file" };
    if (user?.apiKeyCommand) {
      return { apiKey: await commandKey(settings, provider, user.apiKeyCommand), apiKeyFrom: "its command" };
    }
  }
  const name = preset?.keys.find((key) => settings.env[key]?.trim());
  const value = name === undefined ? undefined : settings.env[name]?.trim();
  if (name !== undefined && value && ownUrls.some(isOwn)) return { apiKey: value, apiKeyFrom: name };
  if (isLoopback(baseUrl) || place.protocol === "ollama" && originOf(baseUrl) !== "https://ollama.com") return {};
  const variable = preset && ownUrls.some(isOwn) ? preset.keys[0] ?? "OCTAVO_API_KEY" : "OCTAVO_API_KEY";
  throw new UsageError(`No API key for "${provider}" at ${displayUrl(baseUrl)}`, { hint: `set ${variable}` });
}

/** The first line of what a command of the user file prints. */
async function commandKey(settings: ModelSettings, provider: string, command: string[]): Promise<string> {
  const [program, ...args] = command;
  if (!program) throw new UsageError(`The apiKeyCommand of "${provider}" is empty`);
  const { run } = await import("./process.ts");
  const options = { env: settings.env, timeoutMs: KEY_COMMAND_MS, maxBytes: 64_000 };
  const result = await run(program, args, settings.signal ? { ...options, signal: settings.signal } : options)
    .catch((error: unknown) => {
      settings.signal?.throwIfAborted();
      throw new UsageError(`The apiKeyCommand of "${provider}" gives no key`, {
        hint: error instanceof Error ? error.message : undefined,
        cause: error,
      });
    });
  const key = new TextDecoder().decode(result.stdout).split("\n")[0]?.trim();
  if (result.code === 0 && key) return key;
  const why = result.code === 0 ? "it prints nothing" : `exit code ${result.code}, ${errorDetail(result.stderr)}`;
  throw new UsageError(`The apiKeyCommand of "${provider}" gives no key: ${why}`, { hint: `it runs: ${program}` });
}

async function firstServed(settings: ModelSettings, at: Endpoint, place: Place): Promise<ServedModel> {
  const { env, signal } = settings;
  const models = await listModels(at, signal ? { env, signal } : { env }).catch((error: unknown) => {
    throw withStart(error, place.preset);
  });
  const first = firstChatModel(models);
  if (first !== undefined) return first;
  throw new ProviderError(`"${at.provider}" at ${displayUrl(at.baseUrl)} serves no model`, {
    hint: at.provider === "ollama"
      ? "ollama pull MODEL fetches one"
      : "load one there, or name it: --model PROVIDER/NAME",
  });
}

/** A local server that does not answer may only have to be started. */
function withStart(error: unknown, preset: Preset | undefined): unknown {
  if (!(error instanceof ProviderError) || preset?.start === undefined) return error;
  return new ProviderError(error.message, { hint: `start it: ${preset.start}`, cause: error });
}

function complete(
  settings: ModelSettings,
  place: Place,
  at: Endpoint & { apiKeyFrom?: string },
  model: ServedModel,
): Model {
  const local = isLoopback(place.baseUrl);
  const window = settings.providers?.[place.provider]?.contextWindow ?? model.contextWindow ??
    (local ? undefined : knownWindow(model.name));
  return {
    ...at,
    name: model.name,
    local,
    from: place.from,
    ...(window === undefined ? {} : { contextWindow: window }),
  };
}

// --- local servers --------------------------------------------------------------------------------------------------

/** A local server that answered. */
export interface Found {
  /** Where it listens. */
  place: Place;
  /** What it serves. */
  models: ServedModel[];
}

/** Ports that are looked at, in the order of preference. LocalAI shares llama.cpp's. */
const PROBED = ["ollama", "lmstudio", "llamacpp", "vllm", "jan", "gpt4all", "textgen", "koboldcpp"];

/** The first local server that serves what is wanted; `builtin` when there is none and nothing was wanted. */
async function findLocal(settings: ModelSettings, wanted: Wanted): Promise<Model | typeof BUILTIN> {
  const found = await probe(settings);
  const { name } = wanted;
  for (const { place, models } of found) {
    const model = name === undefined ? firstChatModel(models) : models.find((one) => isSameName(one.name, name));
    if (model !== undefined) return complete(settings, place, await endpointAt(settings, place), model);
  }
  if (name === undefined) return BUILTIN;
  const all = found.flatMap(({ place, models }) => models.map((model) => `${place.provider}/${model.name}`));
  throw new UsageError(`No provider for the model "${name}"`, {
    hint: all.length === 0
      ? "name one: --model PROVIDER/NAME, such as ollama/NAME or openai/NAME, or give its --base-url"
      : `found running here: ${all.slice(0, 12).join(", ")}`,
  });
}

/** Ollama's names have a tag, and `:latest` may be left out. */
function isSameName(served: string, wanted: string): boolean {
  return served === wanted || served === `${wanted}:latest`;
}

/** The local servers that answer in the shape of one, all asked at once, off any proxy. */
export async function probe(settings: ModelSettings): Promise<Found[]> {
  await prepare();
  const found = await Promise.all(PROBED.map((id) => look(settings, id)));
  settings.signal?.throwIfAborted();
  return found.filter((one) => one !== undefined);
}

async function look(settings: ModelSettings, id: string): Promise<Found | undefined> {
  const preset = presetOf(id);
  const baseUrl = preset && presetUrl(settings, preset);
  if (preset === undefined || baseUrl === undefined) return undefined;
  const { probeMs = PROBE_MS } = settings;
  const limit = AbortSignal.timeout(probeMs);
  const signal = settings.signal ? AbortSignal.any([settings.signal, limit]) : limit;
  const url = baseUrl + (preset.protocol === "ollama" ? "/api/tags" : "/models");
  try {
    const response = await request({ url, env: settings.env, signal, proxy: false });
    const answer = parseJson(await readText(response, { maxChars: MAX_LIST_CHARS, timeoutMs: probeMs, signal }));
    const models = response.ok ? modelsIn(preset.protocol, answer) : undefined;
    if (models === undefined) return undefined;
    const from = `found on ${new URL(baseUrl).host}`;
    const provider = ownerOf(answer) ?? id;
    return {
      place: { provider, preset: presetOf(provider), protocol: preset.protocol, baseUrl, from, named: false },
      models,
    };
  } catch {
    return undefined; // nobody there, or not in time: that is an answer
  }
}

/** Who a list of models says it is by: the port alone does not tell. */
function ownerOf(answer: unknown): string | undefined {
  const owner = fieldsOf(itemsOf(fieldsOf(answer)?.data)[0])?.owned_by;
  return owner === "llamacpp" || owner === "vllm" ? owner : undefined;
}
