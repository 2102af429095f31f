/**
 * The configuration's way to a model.
 *
 * @module
 */

import type { Config } from "./config.ts";
import type { Env } from "./paths.ts";
import { type BUILTIN, findModel, type Model, type ModelSettings } from "./providers.ts";

/**
 * The configuration with the model that a review was made with, where nothing else is set. One at a base URL of its own
 * cannot be known by its name.
 */
export function withSavedModel(config: Config, model: string | undefined): Config {
  if (config.options.model !== undefined || config.options.baseUrl !== undefined) return config;
  if (model === undefined || model.startsWith("custom/")) return config;
  const { options, origins } = config;
  return { ...config, options: { ...options, model }, origins: { ...origins, model: "the saved review" } };
}

/**
 * The model that flags, environment and the user's file choose.
 *
 * @throws {UsageError} for what is not configured right.
 * @throws {ProviderError} for a provider that was asked for and does not answer.
 */
export function chooseModel(config: Config, env: Env, signal: AbortSignal): Promise<Model | typeof BUILTIN> {
  return findModel(modelSettings(config, env, signal));
}

/** What the configuration says of providers and models. */
export function modelSettings({ options, origins, providers }: Config, env: Env, signal: AbortSignal): ModelSettings {
  return {
    ...(options.model === undefined ? {} : { model: options.model, modelFrom: origins.model }),
    ...(options.baseUrl === undefined ? {} : { baseUrl: options.baseUrl, baseUrlFrom: origins.baseUrl }),
    ...(options.apiKey === undefined ? {} : { apiKey: options.apiKey, apiKeyFrom: origins.apiKey }),
    providers,
    localOnly: options.localOnly,
    env,
    signal,
  };
}
