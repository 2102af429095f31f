/**
 * `octavo config`: the settings, where each comes from, and the user's file.
 *
 * @module
 */

import { Buffer } from "node:buffer";
import { type Context, notice } from "./command.ts";
import { type Config, configFile, parseUserFile, readUserFile, resolveConfig, withRepositoryFile } from "./config.ts";
import { editFile } from "./editor.ts";
import { EXIT, UsageError } from "./errors.ts";
import { displayUrl } from "./http.ts";
import { shortPath } from "./paths.ts";
import { askSecret, personAt } from "./prompt.ts";
import type { ProviderSettings } from "./providers.ts";
import { SETTINGS } from "./settings.ts";
import { changeUserFile, removableKey, type SettingKey, settingKey, valueFor } from "./settings_file.ts";
import { settingsSchema } from "./settings_schema.ts";
import { repositoryOf } from "./source.ts";
import { settingsInTree } from "./sources.ts";
import { table } from "./table.ts";
import { visible } from "./text.ts";
import { say } from "./world.ts";

/** `octavo config list`, `set`, `unset`, `edit`, `schema`. It works also where the user's file is broken: it mends it. */
export async function configCommand(given: Omit<Context, "config">): Promise<number> {
  const { words: { action, settings }, world } = given;
  const context = { ...given, config: resolveConfig({ flags: settings, env: world.env }) };
  switch (action?.name) {
    case "set":
      return await set(context);
    case "unset":
      return await unset(context);
    case "edit":
      return await edit(context);
    case "schema":
      await world.stdout.write(`${JSON.stringify(settingsSchema(), undefined, 2)}\n`);
      return EXIT.ok;
    default:
      return await list(context);
  }
}

// --- list ----------------------------------------------------------------------------------------------------------

/** A setting as it is shown. */
interface Row {
  key: string;
  /** Absent where it is not set; of a secret only that it is. */
  value: unknown;
  origin: string;
}

async function list({ words, world, dir }: Context): Promise<number> {
  const user = await readUserFile(world.env);
  const repository = await repositoryOf({ dir, env: world.env });
  const config = withRepositoryFile(
    resolveConfig({ flags: words.settings, env: world.env, user }),
    repository && await settingsInTree(repository),
  );
  for (const warning of config.warnings) await say(world, warning);
  const rows = [...settingRows(config), ...Object.entries(config.providers).flatMap(providerRows)];
  const file = configFile(world.env);
  if (words.flags.json) {
    const settings = Object.fromEntries(rows.map(({ key, value = null, origin }) => [key, { value, origin }]));
    await world.stdout.write(`${JSON.stringify({ file, exists: user !== undefined, settings }, undefined, 2)}\n`);
    return EXIT.ok;
  }
  await notice({ config, world }, `your settings file: ${file}${user ? "" : " (not there yet)"}`);
  const cells = rows.map(({ key, value, origin }) => [key, origin, shown(value)].map(visible));
  const columns = world.stdout.isTerminal ? world.stdout.columns : undefined;
  await world.stdout.write(table(cells, { columns, last: "wrap" }));
  return EXIT.ok;
}

function settingRows({ options, origins }: Config): Row[] {
  return SETTINGS.filter(({ file, variable }) => file !== undefined || variable !== undefined).map(
    ({ key, secret }) => {
      const value = options[key as keyof Config["options"]]; // every setting is an option
      const hidden = secret && value !== undefined ? "set" : value;
      return {
        key,
        value: key === "baseUrl" && value ? displayUrl(String(value)) : hidden,
        origin: origins[key as keyof Config["options"]],
      };
    },
  );
}

function providerRows([name, settings]: [string, ProviderSettings]): Row[] {
  const { apiKey, apiKeyCommand, headers = {}, baseUrl, ...plain } = settings;
  const values: Record<string, unknown> = {
    ...(baseUrl === undefined ? {} : { baseUrl: displayUrl(baseUrl) }),
    ...(apiKey === undefined ? {} : { apiKey: "set" }),
    // its arguments may be a secret themselves
    ...(apiKeyCommand === undefined ? {} : { apiKeyCommand: [apiKeyCommand[0], "…"].join(" ") }),
    ...plain,
    ...Object.fromEntries(Object.keys(headers).map((header) => [`headers.${header}`, "set"])),
  };
  const origin = "your settings file";
  return Object.entries(values).map(([field, value]) => ({ key: `providers.${name}.${field}`, value, origin }));
}

function shown(value: unknown): string {
  if (value === undefined) return "not set";
  if (Array.isArray(value)) return value.length === 0 ? "none" : value.join(", ");
  return String(value);
}

// --- set, unset, edit ----------------------------------------------------------------------------------------------

async function set(context: Context): Promise<number> {
  const { words: { words: [name = "", ...values] }, world } = context;
  const key = settingKey(name);
  const given = values.length > 0 ? values : [await secretFor(context, key)];
  if (key.secret && values.length > 0) {
    await notice(context, `it may be in the history of your shell now; octavo config set ${name} asks for it`);
  }
  const { file, same } = await changeUserFile(world.env, key, valueFor(key, given));
  const is = key.secret ? "is set" : `is ${shown(valueFor(key, given))}`;
  await notice(context, `${name} ${is}${same ? " already" : ""} in ${shortPath(file, world.env)}`);
  const variable = key.setting?.variable;
  if (variable && world.env[variable]) await notice(context, `${variable} is set in the environment, and wins`);
  await sayWhatElse(context);
  return EXIT.ok;
}

/** A secret is better not typed into a command line. */
async function secretFor({ world }: Context, { name, secret }: SettingKey): Promise<string> {
  if (!secret) throw new UsageError(`octavo config set ${name} needs a value`, { hint: `octavo config unset ${name}` });
  const person = personAt(world);
  if (person) {
    const said = await askSecret(person, name);
    if (said) return said;
    throw new UsageError(`No value was given for ${name}: nothing is changed`);
  }
  const pieces: Uint8Array[] = [];
  for await (const piece of world.stdin.read()) pieces.push(piece);
  const line = new TextDecoder().decode(Buffer.concat(pieces)).split("\n")[0]?.trim();
  if (line) return line;
  throw new UsageError(`octavo config set ${name} needs a value`, { hint: "as a word, or on standard input" });
}

async function unset(context: Context): Promise<number> {
  const { words: { words: [name = ""] }, world } = context;
  const key = await removableKey(world.env, name);
  const { file, same } = await changeUserFile(world.env, key, undefined);
  const where = shortPath(file, world.env);
  await notice(context, same ? `${name} is not in ${where}` : `${name} is taken out of ${where}`);
  await sayWhatElse(context);
  return EXIT.ok;
}

/** What is wrong in the rest of the file, which was not touched. */
async function sayWhatElse({ world }: Context): Promise<void> {
  try {
    const { warnings } = resolveConfig({ flags: {}, env: {}, user: await readUserFile(world.env) });
    for (const warning of warnings) await say(world, warning);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    await say(world, error.message);
  }
}

async function edit(context: Context): Promise<number> {
  const { world } = context;
  const file = configFile(world.env);
  const { text, removed } = await editFile(world, file, "{\n}\n");
  if (removed) {
    await notice(context, "left as it was (an editor that returns at once has to be told to wait)");
    return EXIT.ok;
  }
  const { warnings } = resolveConfig({ flags: {}, env: {}, user: await parseUserFile(text, file) });
  for (const warning of warnings) await say(world, warning);
  return EXIT.ok;
}
