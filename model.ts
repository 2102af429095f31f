/**
 * The configuration's way to a model.
 *
 * @module
 */

import type { Config } from "./config.ts";
import type { Env } from "./paths.ts";
import { BUILTIN, findModel, type Model } from "./providers.ts";

/**
 * The model that flags, environment and the user's file choose.
 *
 * @throws {UsageError} for what is not configured right.
 * @throws {ProviderError} for a provider that was asked for and does not answer.
 */
export function chooseModel(
  { options, origins, providers }: Config,
  env: Env,
  signal: AbortSignal,
): Promise<Model | typeof BUILTIN> {
  return findModel({
    ...(options.model === undefined ? {} : { model: options.model, modelFrom: origins.model }),
    ...(options.baseUrl === undefined ? {} : { baseUrl: options.baseUrl, baseUrlFrom: origins.baseUrl }),
    ...(options.apiKey === undefined ? {} : { apiKey: options.apiKey, apiKeyFrom: origins.apiKey }),
    providers,
    localOnly: options.localOnly,
    env,
    signal,
  });
}
