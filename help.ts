/**
 * The help, made from the tables of commands and settings.
 *
 * @module
 */

import { type Action, type Command, COMMANDS, settingsOf, usageWords } from "./commands.ts";
import { type Setting, SETTINGS } from "./settings.ts";
import { wrap } from "./table.ts";

/** `octavo --help`: one screen. */
export function generalHelp(): string {
  const rows = (group: Command["group"]) =>
    table(
      COMMANDS.filter((command) => command.group === group && command.name !== "help").map((
        command,
      ) => [brief(command), command.summary]),
    );
  return `octavo reviews a change in parts, with the chat model you already have.

Usage: octavo [COMMAND] [FLAGS]

Review
${rows("review")}

Afterwards
${rows("afterwards")}

Around it
${rows("around")}

The most useful flags (all of them: octavo help tree)
${table(flagRows(SETTINGS.filter(({ key }) => ["model", "maxDiffChars", "plan", "format", "failOn"].includes(key))))}

octavo help COMMAND shows its flags and examples. Exit codes: 0 finished,
1 findings (--fail-on), 2 wrong usage, 3 failed or incomplete, 130, 143 stopped.
`;
}

/** A command and its words, on the line that the general help has for it. */
function brief({ name, words, actions, needsAction }: Command): string {
  return `${name} ${actions ? needsAction ? "NAME" : "[...]" : words}`.trim();
}

/** `octavo help COMMAND`. */
export function commandHelp(command: Command): string {
  const keys = settingsOf(command);
  const own = command.flags?.map((
    { flag, placeholder, help },
  ) => [`--${flag}${placeholder ? ` ${placeholder}` : ""}`, help]);
  const flags = [...(own ?? []), ...flagRows(SETTINGS.filter(({ key }) => keys.includes(key))), ...EVERYWHERE];
  return [
    `octavo ${command.name}: ${command.summary}`,
    `Usage: octavo ${[command.name, usageWords(command)].filter(Boolean).join(" ")} [FLAGS]`,
    ...(command.details ? [wrap(command.details, COLUMNS).join("\n")] : []),
    ...(command.actions ? [`Actions\n${table(command.actions.map(actionRow))}`] : []),
    `Flags\n${table(flags)}`,
    ...(command.examples ? [`Examples\n${command.examples.map((example) => `  ${example}`).join("\n")}`] : []),
  ].join("\n\n") + "\n";
}

function actionRow({ name, words, summary }: Action): string[] {
  return [`${name} ${words}`.trim(), summary];
}

const EVERYWHERE = [["-C DIR", "run as if started in DIR"]];

function flagRows(settings: readonly Setting[]): string[][] {
  return settings.filter(({ flag }) => flag !== undefined).map((setting) => [flagOf(setting), setting.help]);
}

/** A setting's flag with what it takes. */
export function flagOf({ flag, kind }: Setting): string {
  const value = kind.type === "switch"
    ? ""
    : kind.type === "choice"
    ? ` ${kind.choices.join("|")}`
    : ` ${kind.placeholder}`;
  return `--${flag}${value}`;
}

/** Columns of the help: what any terminal has. */
const COLUMNS = 80;

/** Two columns; a first cell that is too long gets a line to itself. */
function table(rows: readonly (readonly string[])[]): string {
  const LONGEST_CELL = 28;
  const width = Math.min(LONGEST_CELL, Math.max(...rows.map(([first]) => first!.length)));
  const indent = `\n${" ".repeat(width + 4)}`;
  return rows.map(([first, second]) => {
    const lines = wrap(second!, COLUMNS - width - 4).join(indent);
    return first!.length > width ? `  ${first}${indent}${lines}` : `  ${first!.padEnd(width)}  ${lines}`;
  }).join("\n");
}
