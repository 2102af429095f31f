/**
 * The manual page, as roff, made from the tables of commands and settings.
 *
 * @module
 */

import { type Action, type Command, type CommandFlag, COMMANDS, usageWords } from "./commands.ts";
import { EXIT } from "./errors.ts";
import { flagOf } from "./help.ts";
import { type Setting, SETTINGS } from "./settings.ts";
import { VERSION } from "./version.ts";

/** The page of octavo, which is that of `git octavo` as well (man(7)). */
export function manualPage(): string {
  const lines = [
    `.TH OCTAVO 1 "" "octavo ${VERSION}" "User Commands"`,
    ".nh", // no hyphens in names and flags, and no gaps between words
    ".ad l",
    section("NAME"),
    "octavo, git\\-octavo \\- review a change in parts, with the chat model you already have",
    section("SYNOPSIS"),
    ".B octavo",
    plain("[COMMAND] [FLAGS]"),
    ".br",
    ".B git octavo",
    plain("[COMMAND] [FLAGS]"),
    section("DESCRIPTION"),
    plain(DESCRIPTION),
    ...COMMANDS_BY_GROUP.flatMap(([title, group]) => [
      section(title),
      ...COMMANDS.filter((command) => command.group === group).flatMap(commandLines),
    ]),
    section("OPTIONS"),
    plain("A review takes all of these, other commands those that octavo help COMMAND names."),
    ...SETTINGS.filter(({ flag }) => flag !== undefined).flatMap(settingLines),
    ...item("-C DIR", "run as if started in DIR"),
    ...item("--help, -h", "show help"),
    ...item("--version, -V", "show the version"),
    section("SETTINGS"),
    plain(PRECEDENCE),
    section("ENVIRONMENT"),
    ...SETTINGS.filter(({ variable }) => variable !== undefined).flatMap(variableLines),
    ...OTHER_VARIABLES.flatMap(([name, text]) => item(name, text)),
    section("FILES"),
    ...FILES.flatMap(([name, text]) => item(name, text)),
    section("EXIT STATUS"),
    ...EXITS.flatMap(([code, text]) => item(String(code), text)),
    section("SEE ALSO"),
    ".BR git (1)",
  ];
  return `${lines.join("\n")}\n`;
}

const DESCRIPTION =
  "octavo takes one unified diff (working tree, branch, commit, GitHub pull request, or any patch), " +
  "drops what is noise, cuts what is too long at hunk boundaries, packs the rest into at most eight parts, asks a chat " +
  "model about each, sums the answers up, and keeps the conversation. With no model its built-in checks review alone. " +
  "The review goes to standard output, everything else to standard error. Nothing is posted anywhere.";

const COMMANDS_BY_GROUP: readonly [title: string, group: Command["group"]][] = [
  ["REVIEWING", "review"],
  ["AFTERWARDS", "afterwards"],
  ["AROUND IT", "around"],
];

const PRECEDENCE = "A flag wins over its environment variable, that over your settings file, that over the " +
  "repository's .octavo.json, which may set only " +
  `${SETTINGS.filter(({ file }) => file === "repository").map(({ key }) => key).join(", ")}. ` +
  "octavo config shows each with where it comes from.";

const OTHER_VARIABLES: readonly [name: string, text: string][] = [
  ["OPENAI_API_KEY, ANTHROPIC_API_KEY, ...", "keys of the providers; octavo providers names them all"],
  ["VISUAL, EDITOR", "the editor of octavo config edit and octavo templates edit"],
  ["NO_COLOR, FORCE_COLOR", "no colours, or colours where there is no terminal"],
];

const FILES: readonly [name: string, text: string][] = [
  ["$XDG_CONFIG_HOME/octavo/config.json", "your settings (by default below ~/.config)"],
  ["$XDG_CONFIG_HOME/octavo/templates/", "your prompts"],
  ["$XDG_STATE_HOME/octavo/conversations/", "the saved reviews (by default below ~/.local/state)"],
  [".octavo.json", "what a repository may set; for ranges it is read from the base side"],
];

const EXITS: readonly [code: number, text: string][] = [
  [EXIT.ok, "finished, or nothing to review"],
  [EXIT.findings, "findings at or above --fail-on"],
  [EXIT.usage, "wrong usage or configuration, or no repository: nothing was sent"],
  [EXIT.failed, "git, GitHub or the provider failed, the review is incomplete, or another one runs"],
  [EXIT.interrupted, "stopped by Ctrl-C"],
  [EXIT.terminated, "stopped by SIGTERM"],
];

function commandLines(command: Command): string[] {
  const { name, summary, details, actions = [], flags = [], examples = [] } = command;
  return [
    ...item(
      `octavo ${name} ${usageWords(command)}`.trim(),
      `${sentence(summary)}${details ? ` ${sentence(details)}` : ""}`,
    ),
    ...(actions.length + flags.length > 0
      ? [".RS", ...actions.flatMap(actionLines), ...flags.flatMap(flagLines), ".RE"]
      : []),
    ...(examples.length > 0 ? [".IP", ".nf", ...examples.map(plain), ".fi"] : []),
  ];
}

function actionLines({ name, words, summary }: Action): string[] {
  return item(`${name} ${words}`.trim(), summary);
}

function flagLines({ flag, placeholder, help }: CommandFlag): string[] {
  return item(`--${flag}${placeholder ? ` ${placeholder}` : ""}`, help);
}

function settingLines(setting: Setting): string[] {
  return item(flagOf(setting), setting.help);
}

function variableLines({ variable = "", flag, help }: Setting): string[] {
  return item(variable, flag === undefined ? help : `as --${flag}`);
}

function section(title: string): string {
  return `.SH ${title}`;
}

/** A paragraph with a heading of its own. */
function item(heading: string, text: string): string[] {
  return [".TP", `.B ${plain(heading)}`, plain(text)];
}

function sentence(text: string): string {
  return `${text[0]!.toUpperCase()}${text.slice(1)}${text.endsWith(".") ? "" : "."}`;
}

/** Text without meaning to roff: backslashes, dashes, and dots and quotes at the beginning of a line. */
function plain(text: string): string {
  return text.replaceAll("\\", "\\e").replaceAll("-", "\\-").replaceAll("`", "\\(ga").replaceAll("'", "\\(aq")
    .replaceAll('"', "\\(dq").replaceAll("…", "...").replace(/^\./, "\\&.");
}
