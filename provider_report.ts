/**
 * What there is of providers: configured, running, or what it would take.
 *
 * @module
 */

import type { Endpoint } from "./endpoint.ts";
import { displayUrl, isLoopback } from "./http.ts";
import { knownWindow, presetOf, PRESETS } from "./presets.ts";
import {
  contextWindow,
  endpointAt,
  listModels,
  type ModelSettings,
  namedPlace,
  ownPlace,
  type Place,
  probe,
  readModel,
  type ServedModel,
} from "./providers.ts";

/** One provider, as `octavo providers` shows it. */
export interface ProviderReport {
  /** Its id, as in `PROVIDER/NAME`. */
  provider: string;
  /** Its name, for people. */
  title: string;
  /** Its endpoint, as it may be printed. */
  baseUrl?: string;
  /** What it is there by: "OPENAI_API_KEY", "found on 127.0.0.1:11434", "the user file"; absent when it is not. */
  from?: string;
  /** It is, or would be, on this machine. */
  local: boolean;
  /** Where its key comes from; absent where there is none. */
  keyFrom?: string;
  /** The variables that would configure it. */
  variables: string[];
  /** How it is started, where it is local. */
  start?: string;
  /** What it serves, with windows where they are known. */
  models: ServedModel[];
  /** Why there is no list of models. */
  error?: string;
}

/** Models of a server whose windows are asked for: one question each. */
const MAX_WINDOWS = 12;

/**
 * Every provider that octavo knows: the ones that are configured or running with what they serve, the others with what
 * would configure them. An endpoint that the settings name stands first. Asks each of them at the same time; one that
 * fails says so in its report.
 */
export async function describeProviders(settings: ModelSettings): Promise<ProviderReport[]> {
  const found = await probe(settings);
  const named = settings.baseUrl === undefined ? undefined : namedEndpoint(settings);
  const ids = new Set([...Object.keys(settings.providers ?? {}), ...PRESETS.map(({ id }) => id)]);
  const others = [...ids].filter((id) => id !== named?.id).map((id) => {
    const running = found.find(({ place }) => place.provider === id);
    if (running) return report(settings, id, running.place.from, () => running.place, running.models);
    const set = blank(id).variables.find((name) => settings.env[name]?.trim());
    const from = settings.providers?.[id] ? "the user file" : set;
    return from === undefined ? blank(id) : report(settings, id, from, () => ownPlace(settings, id, from));
  });
  return await Promise.all([...(named ? [named.report()] : []), ...others]);
}

/** The endpoint that flag, variable or user file name by its base URL. */
function namedEndpoint(settings: ModelSettings): { id: string; report: () => Promise<ProviderReport> } {
  const from = settings.baseUrlFrom ?? "--base-url";
  let place: Place | undefined;
  let failure: unknown;
  try {
    place = namedPlace(settings, readModel(settings));
  } catch (error) {
    failure = error;
  }
  const id = place?.provider ?? "custom";
  const open = () => {
    if (place) return place;
    throw failure;
  };
  return { id, report: () => report(settings, id, from, open) };
}

function blank(id: string): ProviderReport {
  const preset = presetOf(id);
  const variables = [...(preset?.keys ?? []), ...(preset?.baseUrlVariable ? [preset.baseUrlVariable] : [])];
  if (id === "ollama") variables.push("OLLAMA_HOST");
  const start = preset?.start;
  return {
    provider: id,
    title: preset?.title ?? id,
    local: preset?.port !== undefined,
    variables,
    ...(start === undefined ? {} : { start }),
    models: [],
  };
}

async function report(
  settings: ModelSettings,
  id: string,
  from: string,
  open: () => Place,
  listed?: readonly ServedModel[],
): Promise<ProviderReport> {
  const described: ProviderReport = { ...blank(id), from };
  const { env, signal } = settings;
  const options = signal ? { env, signal } : { env };
  try {
    const place = open();
    Object.assign(described, { baseUrl: displayUrl(place.baseUrl), local: isLoopback(place.baseUrl) });
    const at = await endpointAt(settings, place);
    if (at.apiKeyFrom !== undefined) described.keyFrom = at.apiKeyFrom;
    const models = listed ?? await listModels(at, options);
    const set = settings.providers?.[id]?.contextWindow;
    described.models = await withWindows(models, at, { ...options, local: described.local, set });
  } catch (error) {
    signal?.throwIfAborted();
    described.error = error instanceof Error ? error.message : String(error);
  }
  return described;
}

/** The models with their windows: as set, as listed, as the server says, as they are known. */
async function withWindows(
  models: readonly ServedModel[],
  at: Endpoint,
  { local, set, ...options }: Parameters<typeof contextWindow>[1] & { local: boolean; set: number | undefined },
): Promise<ServedModel[]> {
  return await Promise.all(models.map(async (model, index) => {
    const known = set ?? model.contextWindow;
    const window = known ??
      (!local
        ? knownWindow(model.name)
        : index < MAX_WINDOWS
        ? await contextWindow({ ...at, name: model.name, local, from: "" }, options)
        : undefined);
    return window === undefined ? model : { ...model, contextWindow: window };
  }));
}
