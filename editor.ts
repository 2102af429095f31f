/**
 * The person's own editor on a file of theirs.
 *
 * @module
 */

import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import process from "node:process";
import { OctavoError, UsageError } from "./errors.ts";
import { interact } from "./process.ts";
import type { World } from "./world.ts";

/** What came of editing a file. */
export interface Edited {
  /** What is in it now. */
  text: string;
  /** It was made for editing, left as it was, and removed again. */
  removed: boolean;
}

/**
 * Opens a file in the person's editor and waits until that is closed. A file that is not there is made first.
 *
 * @param initial What is in a file that has to be made.
 * @throws {UsageError} if there is no editor.
 * @throws {OctavoError} if the editor fails, or the file cannot be made.
 */
export async function editFile(world: World, file: string, initial: string): Promise<Edited> {
  const editor = editorOf(world);
  const made = await make(file, initial);
  let text = initial;
  let removed = false;
  try {
    const code = await run(world, editor, file);
    if (code !== 0) throw new OctavoError(`The editor "${editor}" has failed with exit code ${code}`);
  } finally {
    text = await readFile(file, "utf8");
    removed = made && text === initial;
    if (removed) await rm(file);
  }
  return { text, removed };
}

/** The command line of the editor: `$VISUAL`, `$EDITOR`, on a terminal what every system has. */
function editorOf(world: World): string {
  const named = world.env.VISUAL?.trim() || world.env.EDITOR?.trim();
  if (named) return named;
  if (world.dialogue?.()) return process.platform === "win32" ? "notepad" : "vi";
  throw new UsageError("There is no terminal, and no editor is named", { hint: "set VISUAL or EDITOR" });
}

/** Makes a file that only its owner can read; `false` if it is there already. */
async function make(file: string, text: string): Promise<boolean> {
  try {
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    await writeFile(file, text, { flag: "wx", mode: 0o600 });
    return true;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EEXIST") return false;
    throw new OctavoError(`Cannot write "${file}"`, {
      cause: error,
      hint: error instanceof Error ? error.message : undefined,
    });
  }
}

/** Ctrl-C is the editor's business while it runs; SIGTERM ends it. */
async function run(world: World, editor: string, file: string): Promise<number> {
  const stop = new AbortController();
  const done = world.onStop((reason) => reason === "SIGTERM" && stop.abort());
  const [program = "sh", ...args] = splitCommand(editor) ?? ["sh", "-c", `${editor} "$@"`, editor];
  try {
    return await interact(program, [...args, file], { env: world.env, signal: stop.signal });
  } finally {
    done();
  }
}

/** A space, a quoted text, an escaped character, a run of what means nothing to a shell. */
const TOKEN = /(\s+)|'([^']*)'|"((?:[^"\\$`]|\\[^])*)"|\\([^])|([^\s'"\\|&;<>()$`*?[\]#~]+)/y;

/** The same on Windows, where a backslash stands between folders. */
const WINDOWS_TOKEN = /(\s+)|'([^']*)'|"([^"]*)"|(?!)()|([^\s"|&;<>$`*?]+)/y;

/**
 * The words of a command line, as a shell would read them.
 *
 * @param platform As in `process.platform`.
 * @returns `undefined` where only a shell can tell: variables, pipes, patterns, quotes that do not end.
 */
export function splitCommand(line: string, platform: string = process.platform): string[] | undefined {
  const token = platform === "win32" ? WINDOWS_TOKEN : TOKEN;
  const words: string[] = [];
  let word: string | undefined;
  token.lastIndex = 0;
  while (token.lastIndex < line.length) {
    const match = token.exec(line);
    if (!match) return undefined;
    const [, space, single, double, escaped, plain] = match;
    if (space === undefined) {
      word = (word ?? "") + (single ?? double?.replace(/\\(["\\$`])/g, "$1") ?? escaped ?? plain ?? "");
    } else if (word !== undefined) {
      words.push(word);
      word = undefined;
    }
  }
  if (word !== undefined) words.push(word);
  const [program] = words;
  return program === undefined || /^\w+=/.test(program) ? undefined : words; // NAME=value in front is the shell's
}
