/**
 * The user's settings file, changed key by key.
 *
 * @module
 */

import { mkdir, readFile, realpath, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { configFile, parseUserFile, PROVIDER_FIELDS, readProviders, readUserFile, readValue } from "./config.ts";
import { OctavoError, UsageError } from "./errors.ts";
import { replaceFile } from "./files.ts";
import type { Env } from "./paths.ts";
import { nearest, type Setting, SETTINGS } from "./settings.ts";

/** A key of the settings file, as `octavo config` names it. */
export interface SettingKey {
  /** `model`, `providers.work.baseUrl`, `providers.work.headers.x-team`. */
  name: string;
  /** The same, key by key. */
  path: readonly string[];
  /** The setting, unless it is a provider's. */
  setting?: Setting;
  /** Its value is never printed. */
  secret: boolean;
  /** Its value is a list. */
  list: boolean;
}

/** Settings that a settings file may hold. */
const IN_FILE = SETTINGS.filter(({ file }) => file !== undefined);

/** Fields of a provider that are written with one key. */
const FIELDS = PROVIDER_FIELDS.filter((field) => field !== "headers");

const SAMPLE_KEYS = FIELDS.map((field) => `providers.NAME.${field}`);

/**
 * The key that a name stands for.
 *
 * @throws {UsageError} if there is none, with the nearest.
 */
export function settingKey(name: string): SettingKey {
  const setting = IN_FILE.find(({ key }) => key === name);
  if (setting) {
    return { name, path: [name], setting, secret: setting.secret === true, list: setting.kind.type === "list" };
  }
  const [, provider, header, field] = /^providers\.(.+?)\.(?:headers\.(.+)|([^.]+))$/s.exec(name) ?? [];
  if (provider !== undefined && header !== undefined) {
    return { name, path: ["providers", provider, "headers", header], secret: true, list: false };
  }
  const known = FIELDS.find((candidate) => candidate === field);
  if (provider !== undefined && known !== undefined) {
    const [secret, list] = [known === "apiKey", known === "apiKeyCommand"];
    return { name, path: ["providers", provider, known], secret, list };
  }
  throw unknownKey(name, provider, field);
}

function unknownKey(name: string, provider: string | undefined, field: string | undefined): UsageError {
  const elsewhere = SETTINGS.find(({ key }) => key === name);
  if (elsewhere) {
    const ways = [elsewhere.flag && `--${elsewhere.flag}`, elsewhere.variable].filter(Boolean).join(" or ");
    return new UsageError(`"${name}" cannot stand in a settings file`, { hint: `it is set by ${ways}` });
  }
  if (provider !== undefined && field !== undefined) {
    const near = nearest(field, FIELDS);
    return new UsageError(`A provider has no "${field}"`, {
      hint: near ? `did you mean providers.${provider}.${near}?` : `there are: ${PROVIDER_FIELDS.join(", ")}`,
    });
  }
  const near = nearest(name, IN_FILE.map(({ key }) => key));
  const all = [...IN_FILE.map(({ key }) => key), ...SAMPLE_KEYS.slice(0, 1)].join(", ");
  return new UsageError(`There is no setting "${name}"`, {
    hint: near ? `did you mean "${near}"?` : `there are: ${all}, …`,
  });
}

/**
 * The key of something that may be taken out: a setting, a whole provider, and what the file has though it is unknown.
 *
 * @throws {UsageError} if there is no such thing, or the file is no JSON object.
 */
export async function removableKey(env: Env, name: string): Promise<SettingKey> {
  const object = await readUserFile(env) ?? {};
  const known = { name, secret: false, list: false };
  if (Object.hasOwn(object, name)) return { ...known, path: [name] };
  const provider = /^providers\.(.+)$/s.exec(name)?.[1];
  if (provider !== undefined && Object.hasOwn(Object(object.providers), provider)) {
    return { ...known, path: ["providers", provider] };
  }
  return settingKey(name);
}

/**
 * The value that words of the command line give to a key.
 *
 * @throws {UsageError} if it does not take them.
 */
export function valueFor({ name, path, setting, list }: SettingKey, words: readonly string[]): unknown {
  const [word, ...more] = words;
  if (!list && more.length > 0) {
    throw new UsageError(`${name} takes one value, not "${more[0]}" as well`, {
      hint: "a value with spaces needs quotes",
    });
  }
  if (setting) return readValue(setting, list ? words : word, "The command line");
  const field = path[2];
  const value = list ? words : field === "contextWindow" && word && /^\d+$/.test(word) ? Number(word) : word;
  readProviders(nested(path.slice(1), value));
  return value;
}

function nested(path: readonly string[], value: unknown): unknown {
  return path.reduceRight((inner: unknown, key) => ({ [key]: inner }), value);
}

/** What became of the file. */
export interface Changed {
  /** Its path. */
  file: string;
  /** It was as it should be already. */
  same: boolean;
}

/**
 * Sets a key in the user's settings file, or takes it out (`undefined`). The rest stays as it is, in its order; a link
 * stays a link. A new file, and one that holds a secret, can be read by its owner alone.
 *
 * @throws {UsageError} if the file is no JSON object.
 * @throws {OctavoError} if it cannot be read or written.
 */
export async function changeUserFile(env: Env, { path, secret }: SettingKey, value: unknown): Promise<Changed> {
  const file = configFile(env);
  try {
    const target = await realpath(file).catch(ifThere) ?? file;
    const before = await readFile(target, "utf8").catch(ifThere);
    const object = before === undefined || before.trim() === "" ? {} : await parseUserFile(before, file);
    const changed = changedAt(object, path, value);
    if (JSON.stringify(changed) === JSON.stringify(object)) return { file, same: true };
    const mode = before === undefined ? 0o600 : (await stat(target)).mode & (secret ? 0o700 : 0o777);
    await mkdir(dirname(target), { recursive: true, mode: 0o700 });
    await replaceFile(target, inStyleOf(before ?? "", changed), { mode });
    return { file, same: false };
  } catch (error) {
    if (error instanceof OctavoError) throw error;
    throw new OctavoError(`Cannot change the settings file "${file}"`, {
      cause: error,
      hint: error instanceof Error ? error.message : undefined,
    });
  }
}

/** Nothing for a file that is not there; else throws. */
function ifThere(error: unknown): undefined {
  if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
  throw error;
}

/** An object with one key set, or taken out with what is empty without it. */
function changedAt(object: unknown, [key = "", ...rest]: readonly string[], value: unknown): Record<string, unknown> {
  const fields = typeof object === "object" && object !== null && !Array.isArray(object) ? { ...object } : {};
  const old = Object.entries(fields).find(([name]) => name === key)?.[1];
  const inner = rest.length === 0 ? value : changedAt(old, rest, value);
  const gone = inner === undefined ||
    (value === undefined && rest.length > 0 && Object.keys(Object(inner)).length === 0);
  const others = Object.entries(fields).filter(([name]) => name !== key);
  if (gone) return Object.fromEntries(others);
  // what is there keeps its place, and a key such as __proto__ is one like any other
  return old === undefined
    ? Object.fromEntries([...others, [key, inner]])
    : Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, name === key ? inner : field]));
}

/** JSON with the indentation, line ends and byte order mark that the file had. */
function inStyleOf(before: string, object: Record<string, unknown>): string {
  const indent = /\n([ \t]+)"/.exec(before)?.[1] ?? "  ";
  const text = `${JSON.stringify(object, undefined, indent)}\n`;
  return (before.startsWith("\uFEFF") ? "\uFEFF" : "") +
    (before.includes("\r\n") ? text.replaceAll("\n", "\r\n") : text);
}
