/**
 * Which provider, endpoint, key and model: presets as data, the order of choice, local servers.
 *
 * @module
 */

import { UsageError } from "./errors.ts";
import type { Env } from "./http.ts";

/** How an endpoint is spoken to. */
export type Protocol = "openai" | "ollama" | "anthropic";

/** One model at one endpoint. */
export interface Model {
  /** The provider's id, as in `PROVIDER/NAME`. */
  provider: string;
  /** The model's name at that provider; may hold slashes and colons. */
  name: string;
  /** How the endpoint is spoken to. */
  protocol: Protocol;
  /** Normalised; without a slash at its end. */
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

/** What the user file says of one provider. */
export interface ProviderSettings {
  baseUrl?: string;
  apiKey?: string;
  /** A program and its arguments; the first line it prints is the key. */
  apiKeyCommand?: string[];
  headers?: Record<string, string>;
  /** Tokens. */
  contextWindow?: number;
  protocol?: Protocol;
}

/** What decides about the model. */
export interface ModelSettings {
  /** `PROVIDER/NAME`, a provider, a name at `baseUrl`, or `builtin`. */
  model?: string;
  /** Where `model` was set: "--model", "OCTAVO_MODEL", the user file's path. */
  modelFrom?: string;
  baseUrl?: string;
  baseUrlFrom?: string;
  /** The key for the endpoint that these settings name. */
  apiKey?: string;
  apiKeyFrom?: string;
  /** The user file's, by id. */
  providers?: Record<string, ProviderSettings>;
  /** Refuses any endpoint that is not on loopback. */
  localOnly?: boolean;
  env: Env;
  signal?: AbortSignal;
  /** Ports of the local servers, by provider, instead of those of the presets. */
  ports?: Record<string, number>;
}

/** The name that stands for octavo's own checks, without a model. */
export const BUILTIN = "builtin";

/** A model that an endpoint serves. */
export interface ServedModel {
  name: string;
  /** Tokens, where the list says it. */
  contextWindow?: number;
}

/** One line of `octavo providers`. */
export interface ProviderReport {
  provider: string;
  title: string;
  baseUrl?: string;
  /** What it is there by: "OPENAI_API_KEY", "found on 127.0.0.1:11434", the user file. */
  from?: string;
  local: boolean;
  /** The variables that would configure it. */
  variables: string[];
  models: ServedModel[];
  /** Why there is no list of models. */
  error?: string;
}

/**
 * The model that the settings choose. Throws UsageError for what is not configured right, ProviderError when one that
 * was asked for does not answer.
 */
export function findModel(_settings: ModelSettings): Promise<Model | typeof BUILTIN> {
  throw new UsageError("not there yet");
}

/** The model's context window in tokens: asked from its server where that can be, else from a table, else unknown. */
export function contextWindow(
  _model: Model,
  _options: { env: Env; signal?: AbortSignal },
): Promise<number | undefined> {
  throw new UsageError("not there yet");
}

/** The models that an endpoint serves. Throws ProviderError. */
export function listModels(
  _endpoint: Pick<Model, "provider" | "protocol" | "baseUrl" | "apiKey" | "keyHeader" | "headers">,
  _options: { env: Env; signal?: AbortSignal; timeoutMs?: number },
): Promise<ServedModel[]> {
  throw new UsageError("not there yet");
}

/** Every provider that is configured or found running, and what it serves. */
export function describeProviders(_settings: ModelSettings): Promise<ProviderReport[]> {
  throw new UsageError("not there yet");
}
