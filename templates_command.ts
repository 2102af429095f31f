/**
 * `octavo templates`: the prompts, shipped and the user's own.
 *
 * @module
 */

import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { type Context, notice } from "./command.ts";
import { editFile } from "./editor.ts";
import { describeError, EXIT, OctavoError, UsageError } from "./errors.ts";
import { configDir, shortPath } from "./paths.ts";
import { confirm, personAt } from "./prompt.ts";
import { nearest } from "./settings.ts";
import { table } from "./table.ts";
import {
  readOwnTemplate,
  SHIPPED,
  templateFile,
  type TemplateName,
  templateNames,
  validateTemplate,
} from "./templates.ts";
import { usesColor } from "./terminal.ts";
import { visible } from "./text.ts";
import { say } from "./world.ts";

/** `octavo templates list`, `show`, `edit`, `diff`, `reset`. */
export async function templatesCommand(context: Context): Promise<number> {
  const dir = join(configDir(context.world.env), "templates");
  const [word] = context.words.words;
  switch (context.words.action?.name) {
    case "show":
      return await show(context, dir, named(word));
    case "edit":
      return await edit(context, dir, named(word));
    case "diff":
      return await diff(context, dir, word === undefined ? templateNames() : [named(word)]);
    case "reset":
      return await reset(context, dir, named(word));
    default:
      return await list(context, dir);
  }
}

function named(word = ""): TemplateName {
  const name = templateNames().find((candidate) => candidate === word);
  if (name !== undefined) return name;
  const near = nearest(word, templateNames());
  throw new UsageError(`There is no template "${word}"`, {
    hint: near ? `did you mean "${near}"?` : `there are: ${templateNames().join(", ")}`,
  });
}

async function list(context: Context, dir: string): Promise<number> {
  const { world } = context;
  const mistakes: string[] = [];
  const rows = await Promise.all(
    templateNames().map(async (name) => {
      const own = await readOwnTemplate(dir, name);
      if (own === undefined) return [name, "shipped with octavo"];
      const file = templateFile(dir, name);
      const mistake = await mistakeIn(name, own, file);
      if (mistake !== undefined) mistakes.push(mistake);
      return [name, `yours: ${visible(shortPath(file, world.env))}`];
    }),
  );
  const columns = world.stdout.isTerminal ? world.stdout.columns : undefined;
  await world.stdout.write(table(rows, { columns, last: "wrap" }));
  for (const message of await strangers(dir)) await notice(context, message);
  for (const message of mistakes) await say(world, message);
  return mistakes.length > 0 ? EXIT.usage : EXIT.ok;
}

async function mistakeIn(name: TemplateName, text: string, file: string): Promise<string | undefined> {
  try {
    await validateTemplate(name, text, file);
    return undefined;
  } catch (error) {
    if (error instanceof UsageError) return describeError(error);
    throw error;
  }
}

/** Files that look like templates and are none. */
async function strangers(dir: string): Promise<string[]> {
  const names = await readdir(dir).catch(() => []); // not there: nothing in it
  const known = templateNames().map((name) => `${name}.md`);
  return names.filter((name) => name.endsWith(".md") && !known.includes(name)).sort().map((name) => {
    const near = nearest(name, known);
    return `"${join(dir, name)}" is no template of octavo and is not used${near ? `; did you mean "${near}"?` : ""}`;
  });
}

async function show({ world }: Context, dir: string, name: TemplateName): Promise<number> {
  const text = await readOwnTemplate(dir, name) ?? SHIPPED[name];
  await world.stdout.write(world.stdout.isTerminal ? visible(text) : text);
  return EXIT.ok;
}

async function edit(context: Context, dir: string, name: TemplateName): Promise<number> {
  const file = templateFile(dir, name);
  const { text, removed } = await editFile(context.world, file, SHIPPED[name]);
  if (removed) {
    await notice(
      context,
      "left as it was, so the shipped one holds (an editor that returns at once has to be told to wait)",
    );
    return EXIT.ok;
  }
  await validateTemplate(name, text, file);
  await notice(context, `${file} is used from now on; octavo templates reset ${name} takes it back`);
  return EXIT.ok;
}

/** Lines around a difference, as in git. */
const CONTEXT_LINES = 3;

async function diff(context: Context, dir: string, names: readonly TemplateName[]): Promise<number> {
  const { world } = context;
  const { createTwoFilesPatch, FILE_HEADERS_ONLY } = await import("diff");
  let patches = "";
  for (const name of names) {
    const own = await readOwnTemplate(dir, name);
    if (own === undefined || own === SHIPPED[name]) {
      await notice(context, `${name}: ${own === undefined ? "the shipped one is used" : "yours is the shipped one"}`);
      continue;
    }
    patches += createTwoFilesPatch(
      `shipped/${name}.md`,
      shortPath(templateFile(dir, name), world.env),
      SHIPPED[name],
      own,
      undefined,
      undefined,
      { headerOptions: FILE_HEADERS_ONLY, context: CONTEXT_LINES },
    );
  }
  const { isTerminal } = world.stdout;
  const shown = isTerminal ? visible(patches) : patches;
  await world.stdout.write(usesColor(context.config.options.color, world.env, world.stdout) ? painted(shown) : shown);
  return EXIT.ok;
}

/** A patch with git's colours. */
function painted(patch: string): string {
  const codes: Record<string, string> = { "+": "32", "-": "31", "@": "36" };
  return patch.replace(/^(?:\+\+\+|---) .*$|^[+\-@].*$/gm, (line) => {
    const code = /^(?:\+\+\+|---) /.test(line) ? "1" : codes[line[0] ?? ""];
    return `\x1b[${code}m${line}\x1b[0m`;
  });
}

async function reset(context: Context, dir: string, name: TemplateName): Promise<number> {
  const { world, words: { flags } } = context;
  const file = templateFile(dir, name);
  if (await readOwnTemplate(dir, name) === undefined) {
    await notice(context, `${name}: the shipped one is used already`);
    return EXIT.ok;
  }
  if (!flags.yes) {
    const person = personAt(world);
    if (!person) throw new UsageError(`This removes "${file}"`, { hint: `octavo templates reset ${name} --yes` });
    if (!await confirm(person, `Remove ${visible(file)}?`)) return EXIT.ok;
  }
  try {
    await rm(file);
  } catch (error) {
    throw new OctavoError(`Cannot remove "${file}"`, {
      cause: error,
      hint: error instanceof Error ? error.message : undefined,
    });
  }
  await notice(context, `removed ${file}: the shipped template is used again`);
  return EXIT.ok;
}
