/**
 * The words of the command line: which command, its words, its flags; whatever is not known is refused.
 *
 * @module
 */

import { parseArgs } from "@std/cli/parse-args";
import { type Action, type Command, COMMANDS, COMMANDS_TO_COME, settingsOf } from "./commands.ts";
import { UsageError } from "./errors.ts";
import { FLAGS_TO_COME, nearest, type Setting, SETTINGS } from "./settings.ts";

/** A command line, read. */
export interface Words {
  command: Command;
  /** Which of the command's actions, where it has some; absent where only help is asked for. */
  action: Action | undefined;
  /** The words behind the command and its action. */
  words: string[];
  /** Values of the flags that are settings, by the setting's key. */
  settings: Record<string, unknown>;
  /** Values of the command's own flags. */
  flags: Record<string, string | true>;
  /** `-C DIR` */
  dir: string | undefined;
  help: boolean;
  version: boolean;
}

/**
 * Reads a command line.
 *
 * @throws {UsageError} for a command, flag or word that is not known or not built yet, and for a flag without its value.
 */
export function readWords(args: readonly string[]): Words {
  const { own, texts, lists, switches } = flagNames();
  // The parser reads `-- x` as words; a flag's value may not look like a flag, so one is looked up beforehand.
  const parsed = parseArgs(args, {
    string: [...texts, "C", "_"],
    boolean: [...switches, "help", "version"],
    collect: lists,
    alias: { help: "h", version: "V" },
    unknown: (arg, key) => {
      if (key !== undefined) throw unknownFlag(arg, [...texts, ...switches, "help", "version"]);
      return undefined;
    },
  });
  const words = parsed._.map(String);
  const command = findCommand(words, parsed.help === true);
  const action = findAction(command, words, parsed.help === true);
  const given = [...texts, ...switches].filter((name) =>
    wasGiven(parsed[name]) || args.some((arg) => arg.startsWith(`--${name}=`))
  );
  const settings: Record<string, unknown> = {};
  const flags: Record<string, string | true> = {};
  for (const name of given) {
    const value = parsed[name];
    refuseEmpty(name, value);
    const setting = SETTINGS.find(({ flag }) => flag === name);
    if (setting && settingsOf(command).includes(setting.key)) settings[setting.key] = value;
    else if (takesFlag(command, action, name)) flags[name] = value === true ? value : String(value);
    else throw notTaken(name, command, action, own);
  }
  checkCount(command, action, words);
  if (wasGiven(parsed.C)) refuseEmpty("C", parsed.C);
  return {
    command,
    action,
    words,
    settings,
    flags,
    dir: wasGiven(parsed.C) ? String(parsed.C) : undefined,
    help: parsed.help === true,
    version: parsed.version === true,
  };
}

/** The parser answers "" for a text flag that is not there, [] for a list, false for a switch. */
function wasGiven(value: unknown): boolean {
  return Array.isArray(value) ? value.length > 0 : value !== undefined && value !== false;
}

function refuseEmpty(name: string, value: unknown): void {
  const values = Array.isArray(value) ? value : [value];
  if (values.includes("")) throw new UsageError(`${name.length === 1 ? "-" : "--"}${name} needs a value`);
}

function flagNames() {
  const own = COMMANDS.flatMap(({ flags }) => flags ?? []);
  const withFlag = SETTINGS.filter((setting): setting is Setting & { flag: string } => setting.flag !== undefined);
  const ofType = (...types: string[]) =>
    withFlag.filter(({ kind }) => types.includes(kind.type)).map(({ flag }) => flag);
  return {
    own,
    texts: [...ofType("text", "number", "choice", "list"), ...own.filter((f) => f.placeholder).map((f) => f.flag)],
    lists: ofType("list"),
    switches: [...ofType("switch"), ...own.filter((f) => !f.placeholder).map((f) => f.flag)],
  };
}

/** Takes the command off the words. No word is the working tree; `--help` alone is help for everything. */
function findCommand(words: string[], help: boolean): Command {
  const byName = (name: string) => COMMANDS.find((command) => command.name === name)!;
  const name = words[0];
  if (name === undefined) return byName(help ? "help" : "tree");
  const command = COMMANDS.find((command) => command.name === name);
  if (command) {
    words.shift();
    return command;
  }
  if (COMMANDS_TO_COME.includes(name)) {
    throw new UsageError(`"octavo ${name}" is not built yet`, { hint: "octavo help" });
  }
  const near = nearest(name, COMMANDS.map((command) => command.name));
  throw new UsageError(`Unknown command "${name}"`, {
    hint: near
      ? `did you mean "octavo ${near}"?`
      : `a patch is "octavo diff ${name}", a revision "octavo commit ${name}"`,
  });
}

/** Takes the action off the words, where the command has some. */
function findAction({ name, actions, needsAction }: Command, words: string[], help: boolean): Action | undefined {
  if (!actions || help) return undefined;
  const names = actions.map((action) => action.name);
  const word = words.shift();
  if (word === undefined) {
    if (!needsAction) return actions[0];
    throw new UsageError(`octavo ${name} needs one of ${names.join(", ")}`, { hint: `octavo ${name} ${names[0]}` });
  }
  const action = actions.find((candidate) => candidate.name === word);
  if (action) return action;
  const near = nearest(word, names);
  throw new UsageError(`octavo ${name} has no "${word}"`, {
    hint: near ? `did you mean "octavo ${name} ${near}"?` : `there are: ${names.join(", ")}`,
  });
}

function takesFlag({ flags }: Command, action: Action | undefined, name: string): boolean {
  const flag = flags?.find((candidate) => candidate.flag === name);
  return flag !== undefined && (!flag.actions || !action || flag.actions.includes(action.name));
}

function checkCount(command: Command, action: Action | undefined, words: readonly string[]): void {
  const { maxWords, words: named } = action ?? command;
  const name = action ? `${command.name} ${action.name}` : command.name;
  const hint = `octavo help ${command.name}`;
  if (words.length > maxWords) {
    throw new UsageError(`octavo ${name} takes ${wordCount(maxWords, named)}, not "${words[maxWords]}" as well`, {
      hint,
    });
  }
  if (action && words.length < (action.minWords ?? 0)) throw new UsageError(`octavo ${name} needs ${named}`, { hint });
}

function unknownFlag(arg: string, known: readonly string[]): UsageError {
  const name = arg.replace(/=.*/s, "");
  if (FLAGS_TO_COME.includes(name.replace(/^--/, ""))) return new UsageError(`${name} is not built yet`);
  const near = nearest(name.replace(/^-+/, ""), known);
  return new UsageError(`Unknown flag "${name}"`, { hint: near ? `did you mean "--${near}"?` : "octavo help" });
}

function notTaken(
  name: string,
  command: Command,
  action: Action | undefined,
  own: readonly { flag: string }[],
): UsageError {
  const others = command.flags?.find(({ flag }) => flag === name)?.actions;
  const kind = others
    ? `flag of ${others.join(", ")}`
    : own.some(({ flag }) => flag === name)
    ? "flag of another command"
    : "flag of a review";
  const named = others && action ? `${command.name} ${action.name}` : command.name;
  return new UsageError(`octavo ${named} does not take --${name}, a ${kind}`, {
    hint: `octavo help ${command.name}`,
  });
}

function wordCount(maxWords: number, words: string): string {
  return maxWords === 0
    ? "no word"
    : maxWords === 1
    ? `one ${words.replace(/^\[|\]$/g, "")}`
    : `at most ${maxWords} words`;
}
