/**
 * Flags, environment and files to one validated set of options, each with its origin.
 *
 * @module
 */

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { DEFAULT_PART_CHARS } from "./diff.ts";
import { UsageError } from "./errors.ts";
import type { Severity } from "./finding.ts";
import { configDir } from "./paths.ts";
import type { Env } from "./paths.ts";
import type { ProviderSettings } from "./providers.ts";
import { type Format, nearest, type Setting, SETTINGS } from "./settings.ts";

export type { Format } from "./settings.ts";

/** All settings of a run, validated. */
export interface Options {
  model: string | undefined;
  baseUrl: string | undefined;
  apiKey: string | undefined;
  /** Characters of diff in a part; `auto` takes what the context window holds. */
  maxDiffChars: number | "auto";
  jobs: number;
  /** Seconds without payload after which a model counts as gone. */
  timeout: number;
  untracked: boolean;
  exclude: string[];
  include: string[];
  /** What stdout is. */
  format: Format;
  /** Files that are written beside it, as `[FORMAT:]FILE`. */
  report: string[];
  failOn: Severity | undefined;
  requireCoverage: boolean;
  maxTokensTotal: number | undefined;
  localOnly: boolean;
  /** Send secrets to an endpoint on another machine as they are. */
  sendSecrets: boolean;
  /** Rules of the built-in checks that are switched off. */
  checksOff: string[];
  noSave: boolean;
  plan: boolean;
  quiet: boolean;
  debug: boolean;
  color: "auto" | "always" | "never";
  githubToken: string | undefined;
}

/** Where a value comes from, as it is printed. */
export type Origin = string;

/** The options, where each comes from, and what was wrong in the files without being fatal. */
export interface Config {
  options: Options;
  origins: { [K in keyof Options]: Origin };
  /** What the user's file says of providers: endpoints, key commands, headers. */
  providers: Record<string, ProviderSettings>;
  warnings: string[];
  /** What it was made of. */
  sources: ConfigSources;
}

/** Where settings can stand. */
export interface ConfigSources {
  /** Values of the flags given, by setting key. */
  flags: Readonly<Record<string, unknown>>;
  env: Env;
  /** The user's file, parsed. */
  user?: Readonly<Record<string, unknown>> | undefined;
  /** The repository's `.octavo.json`, as text. */
  repository?: string | undefined;
}

const DEFAULTS: Options = {
  model: undefined,
  baseUrl: undefined,
  apiKey: undefined,
  maxDiffChars: DEFAULT_PART_CHARS,
  jobs: 1,
  timeout: 600,
  untracked: false,
  exclude: [],
  include: [],
  format: "markdown",
  report: [],
  failOn: undefined,
  requireCoverage: false,
  maxTokensTotal: undefined,
  localOnly: false,
  sendSecrets: false,
  checksOff: [],
  noSave: false,
  plan: false,
  quiet: false,
  debug: false,
  color: "auto",
  githubToken: undefined,
};

/** Keys of the user's file that are no single setting. */
const OTHER_USER_KEYS = ["$schema", "providers"];

/** What the user's file can say of a provider. */
export const PROVIDER_FIELDS: readonly (keyof ProviderSettings)[] = [
  "baseUrl",
  "apiKey",
  "apiKeyCommand",
  "headers",
  "contextWindow",
  "protocol",
];

/** Where the user's settings file is. */
export function configFile(env: Env): string {
  return join(configDir(env), "config.json");
}

/**
 * Reads the user's settings file.
 *
 * @returns Its object, or `undefined` if there is no such file.
 * @throws {UsageError} if it cannot be read or is no JSON object.
 */
export async function readUserFile(env: Env): Promise<Record<string, unknown> | undefined> {
  const file = configFile(env);
  let text: string;
  try {
    text = await readFile(file, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && ["ENOENT", "ENOTDIR"].includes(String(error.code))) {
      return undefined;
    }
    throw new UsageError(`Cannot read the settings file "${file}"`, { cause: error, hint: describeCause(error) });
  }
  return await parseUserFile(text, file);
}

/**
 * Parses the text of the user's settings file.
 *
 * @throws {UsageError} if it is no JSON object, with the line of the mistake.
 */
export async function parseUserFile(text: string, file: string): Promise<Record<string, unknown>> {
  try {
    return parseObject(text, file);
  } catch (error) {
    if (!(error instanceof UsageError) || !(error.cause instanceof SyntaxError)) throw error;
    // What the runtimes say of JSON has no line in some, and in others what stands there, which may be a secret.
    const line = await lineOfMistake(text);
    throw new UsageError(`${file}${line === undefined ? "" : `:${line}`} is not valid JSON`, {
      cause: error.cause,
      hint: line === undefined ? "comments and trailing commas are not JSON" : "octavo config edit opens it",
    });
  }
}

/** The line, from 1, where a text stops being JSON; `undefined` if only comments or trailing commas are wrong with it. */
async function lineOfMistake(text: string): Promise<number | undefined> {
  const { parse } = await import("@std/jsonc/parse");
  try {
    parse(text.replace(/^\uFEFF/, ""));
    return undefined;
  } catch (error) {
    const position = /at position (\d+)/.exec(error instanceof Error ? error.message : "")?.[1];
    return text.slice(0, position === undefined ? text.trimEnd().length : Number(position)).split("\n").length;
  }
}

/**
 * Merges the sources: flag, environment, user's file, repository's file, default, in this order.
 *
 * @throws {UsageError} for a value that a setting does not take, naming where it stands.
 */
export function resolveConfig(sources: ConfigSources): Config {
  const { flags, env, user, repository } = sources;
  const warnings: string[] = [];
  const shared = repositoryObject(repository, warnings);
  if (user) warnings.push(...unknownKeys(user, "user", "your settings file"));
  const values: Record<string, unknown> = { ...DEFAULTS };
  const origins: Record<string, Origin> = {};
  for (const setting of SETTINGS) {
    const found = candidates(setting, { flags, env, user, shared })[0];
    origins[setting.key] = found?.origin ?? "default";
    if (found) values[setting.key] = readValue(setting, found.value, found.origin);
  }
  mergeLists(values, origins, { flags, env, user, shared });
  return {
    options: values as unknown as Options, // every key is in DEFAULTS, every value went through readValue
    origins: origins as Config["origins"],
    providers: readProviders(user?.providers),
    warnings,
    sources,
  };
}

/** The configuration again, with the repository's `.octavo.json` in it; `undefined` if it has none. */
export function withRepositoryFile(config: Config, repository: string | undefined): Config {
  return repository === undefined ? config : resolveConfig({ ...config.sources, repository });
}

interface Places {
  flags: Readonly<Record<string, unknown>>;
  env: Env;
  user: Readonly<Record<string, unknown>> | undefined;
  shared: Readonly<Record<string, unknown>> | undefined;
}

/** Where a setting stands, the place that wins first. An empty variable counts as not set. */
function candidates(setting: Setting, places: Places): { value: unknown; origin: Origin }[] {
  const found: { value: unknown; origin: Origin }[] = [];
  const add = (value: unknown, origin: Origin) => value !== undefined && found.push({ value, origin });
  if (setting.flag) add(places.flags[setting.key], `--${setting.flag}`);
  if (setting.variable) add(places.env[setting.variable] || undefined, setting.variable);
  if (setting.file) add(places.user?.[setting.key], "your settings file");
  if (setting.file === "repository") add(places.shared?.[setting.key], ".octavo.json");
  return found;
}

/** Globs add up instead of replacing each other: a repository's list still holds beside a flag. */
function mergeLists(values: Record<string, unknown>, origins: Record<string, Origin>, places: Places): void {
  for (const setting of SETTINGS.filter(({ kind }) => kind.type === "list")) {
    const all = candidates(setting, places).reverse();
    if (all.length < 2) continue;
    values[setting.key] = all.flatMap(({ value, origin }) => readValue(setting, value, origin));
    origins[setting.key] = all.map(({ origin }) => origin).reverse().join(", ");
  }
}

/** A setting's value out of what a flag (text), the environment (text) or a file (JSON) holds. */
export function readValue(setting: Setting, value: unknown, origin: Origin): unknown {
  const { kind } = setting;
  switch (kind.type) {
    case "text":
      if (typeof value === "string" && value !== "") return value;
      throw wrong(setting, value, origin, "a text");
    case "list":
      return readList(setting, value, origin);
    case "switch":
      return readSwitch(setting, value, origin);
    case "choice":
      if (typeof value === "string" && kind.choices.includes(value)) return value;
      throw wrong(setting, value, origin, `one of ${kind.choices.join(", ")}`);
    case "number": {
      if (kind.word !== undefined && value === kind.word) return value;
      const number = typeof value === "string" && /^\d+$/.test(value.trim()) ? Number(value) : value;
      if (typeof number === "number" && Number.isInteger(number) && number >= kind.min && number <= kind.max) {
        return number;
      }
      const range = `a whole number from ${kind.min} to ${kind.max.toLocaleString("en-US")}`;
      throw wrong(setting, value, origin, kind.word === undefined ? range : `${range}, or ${kind.word}`);
    }
  }
}

function readList(setting: Setting, value: unknown, origin: Origin): string[] {
  // In the environment several globs stand on lines of their own: a comma may be part of a file name.
  const items = typeof value === "string" ? value.split("\n").map((item) => item.trim()).filter(Boolean) : value;
  if (Array.isArray(items) && items.length > 0 && items.every((item) => typeof item === "string" && item !== "")) {
    return items;
  }
  if (Array.isArray(items) && items.length === 0) return [];
  throw wrong(setting, value, origin, "a list of texts");
}

function readSwitch(setting: Setting, value: unknown, origin: Origin): boolean {
  if (typeof value === "boolean") return value;
  if (value === "1" || value === "true" || value === "yes" || value === "on") return true;
  if (value === "0" || value === "false" || value === "no" || value === "off") return false;
  throw wrong(setting, value, origin, "true or false");
}

function wrong(setting: Setting, value: unknown, origin: Origin, takes: string): UsageError {
  const shown = setting.secret ? "a value" : JSON.stringify(value);
  return new UsageError(`${origin} has ${shown} for ${setting.key}, which takes ${takes}`);
}

/** A repository's file can say four things and nothing else, since anybody can write it. */
function repositoryObject(text: string | undefined, warnings: string[]): Record<string, unknown> | undefined {
  if (text === undefined) return undefined;
  let object: Record<string, unknown>;
  try {
    object = parseObject(text, ".octavo.json");
  } catch (error) {
    warnings.push(`${error instanceof Error ? error.message : error}: it is not used`);
    return undefined;
  }
  warnings.push(...unknownKeys(object, "repository", ".octavo.json"));
  return keepValid(object, warnings);
}

/** A wrong value in a repository's file is the repository's mistake: said, and the default holds. */
function keepValid(object: Record<string, unknown>, warnings: string[]): Record<string, unknown> {
  const valid: Record<string, unknown> = {};
  for (const setting of SETTINGS.filter(({ file }) => file === "repository")) {
    const value = object[setting.key];
    if (value === undefined) continue;
    try {
      valid[setting.key] = readValue(setting, value, ".octavo.json");
    } catch (error) {
      warnings.push(`${error instanceof Error ? error.message : error}: ignored`);
    }
  }
  return valid;
}

function unknownKeys(object: Readonly<Record<string, unknown>>, file: "user" | "repository", name: string): string[] {
  const known = SETTINGS.filter((setting) => file === "user" ? setting.file : setting.file === "repository")
    .map(({ key }) => key);
  if (file === "user") known.push(...OTHER_USER_KEYS);
  return Object.keys(object).filter((key) => !known.includes(key)).map((key) => {
    if (file === "repository") {
      return `"${key}" in ${name} is ignored: a repository may set only ${known.join(", ")}`;
    }
    const near = nearest(key, known);
    return `"${key}" in ${name} is unknown and ignored${near ? `; did you mean "${near}"?` : ""}`;
  });
}

function parseObject(text: string, name: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(text.replace(/^\uFEFF/, ""));
  } catch (error) {
    throw new UsageError(`${name} is not valid JSON`, { cause: error, hint: describeCause(error) });
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new UsageError(`${name} must hold a JSON object`);
  }
  return value as Record<string, unknown>;
}

/**
 * The `providers` of the user's file, narrowed.
 *
 * @throws {UsageError} for a field that is not there, or a value that it does not take.
 */
export function readProviders(value: unknown): Record<string, ProviderSettings> {
  if (value === undefined) return {};
  const providers: Record<string, ProviderSettings> = {};
  for (const [name, entry] of Object.entries(objectOr(value, "providers"))) {
    providers[name] = readProvider(objectOr(entry, `providers.${name}`), `providers.${name}`);
  }
  return providers;
}

function readProvider(entry: Record<string, unknown>, name: string): ProviderSettings {
  const settings: ProviderSettings = {};
  for (const [key, value] of Object.entries(entry)) {
    const bad = (takes: string) => new UsageError(`${name}.${key} in your settings file takes ${takes}`);
    if (key === "baseUrl" || key === "apiKey") {
      if (typeof value !== "string") throw bad("a text");
      settings[key] = value;
    } else if (key === "apiKeyCommand") {
      if (!isTexts(value) || value.length === 0) throw bad("a list: the program and its arguments");
      settings.apiKeyCommand = value;
    } else if (key === "headers") {
      const headers = objectOr(value, `${name}.headers`);
      if (!Object.values(headers).every((header) => typeof header === "string")) throw bad("texts");
      settings.headers = headers as Record<string, string>;
    } else if (key === "contextWindow") {
      if (typeof value !== "number" || !Number.isInteger(value) || value < 1) throw bad("a number of tokens");
      settings.contextWindow = value;
    } else if (key === "protocol") {
      if (value !== "openai" && value !== "ollama" && value !== "anthropic") throw bad("openai, ollama or anthropic");
      settings.protocol = value;
    } else {
      const near = nearest(key, PROVIDER_FIELDS);
      throw new UsageError(`${name}.${key} in your settings file is unknown`, {
        hint: near ? `did you mean ${name}.${near}?` : `there are: ${PROVIDER_FIELDS.join(", ")}`,
      });
    }
  }
  return settings;
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === "string");
}

function objectOr(value: unknown, name: string): Record<string, unknown> {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  throw new UsageError(`"${name}" in your settings file must be a JSON object`);
}

function describeCause(error: unknown): string {
  return error instanceof Error ? error.message.split("\n")[0]! : String(error);
}
