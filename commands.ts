/**
 * The commands as data: words, help and examples of each. The dispatcher, the help and the completions read this table.
 *
 * @module
 */

import { SETTINGS } from "./settings.ts";

/** A flag that belongs to a command and is no setting. */
export interface CommandFlag {
  readonly flag: string;
  /** What its value is called; absent for a switch. */
  readonly placeholder?: string;
  readonly help: string;
}

/** One command. */
export interface Command {
  readonly name: string;
  /** Its words, as the help shows them. */
  readonly words: string;
  /** How many words it takes at most. */
  readonly maxWords: number;
  /** One line. */
  readonly summary: string;
  /** More, for `octavo help NAME`. */
  readonly details?: string;
  /** Reviews a change: takes every setting. */
  readonly reviews?: true;
  /** Keys of the settings it takes beside those that every command takes. */
  readonly settings?: readonly string[];
  readonly flags?: readonly CommandFlag[];
  readonly examples?: readonly string[];
}

/** The flag that names a conversation. */
const ID: CommandFlag = {
  flag: "id",
  placeholder: "ID",
  help: "the conversation (default: the newest of this repository)",
};

/** Settings that say how a model is asked. */
const ASKING = ["model", "baseUrl", "timeout", "localOnly", "noSave"] as const;

/** Every command, in the order of the help. */
export const COMMANDS: readonly Command[] = [
  {
    name: "tree",
    words: "",
    maxWords: 0,
    reviews: true,
    summary: "review staged and unstaged changes (the default)",
    details: "Untracked files are not in it, unless --untracked takes them in.",
    examples: ["octavo", "octavo --untracked", "octavo tree --plan"],
  },
  {
    name: "staged",
    words: "",
    maxWords: 0,
    reviews: true,
    summary: "review what is staged",
    examples: ["octavo staged --model builtin"],
  },
  {
    name: "branch",
    words: "[BASE]",
    maxWords: 1,
    reviews: true,
    summary: "review what the branch adds to BASE",
    details:
      "Without BASE: the remote's default branch, else the first of main, master, develop, development that exists.",
    examples: ["octavo branch", "octavo branch origin/release-2"],
  },
  {
    name: "commit",
    words: "[REV | A..B | A...B]",
    maxWords: 1,
    reviews: true,
    summary: "review a commit or a range (default: HEAD)",
    examples: ["octavo commit", "octavo commit v1.2..HEAD"],
  },
  {
    name: "pr",
    words: "[NUMBER | URL | OWNER/REPO#NUMBER]",
    maxWords: 1,
    reviews: true,
    summary: "review a pull request on GitHub; nothing is posted",
    details: "Without an argument: pick one in a terminal; in CI the pull request of the event.",
    examples: ["octavo pr 42", "octavo pr denoland/std#6000"],
  },
  {
    name: "diff",
    words: "[FILE | -]",
    maxWords: 1,
    reviews: true,
    summary: "review any patch: a file, or standard input",
    examples: ["octavo diff fix.patch", "git diff main | octavo diff -"],
  },
  {
    name: "prs",
    words: "[OWNER/REPO]",
    maxWords: 1,
    settings: ["githubToken"],
    summary: "list the open pull requests",
    examples: ["octavo prs", "octavo prs denoland/std"],
  },
  {
    name: "ask",
    words: '"QUESTION" [@PATH[:FROM-TO]]',
    maxWords: 32,
    settings: ASKING,
    flags: [ID],
    summary: "ask on about the newest review of this repository",
    details: "More text, such as a hunk, may come on standard input: it is read when it is no terminal.",
    examples: ['octavo ask "Is the first finding real?"', 'octavo ask "Why does this fail?" @src/a.ts:10-40'],
  },
  {
    name: "log",
    words: "",
    maxWords: 0,
    flags: [{ flag: "all", help: "of every repository" }, { flag: "json", help: "as JSON" }],
    summary: "list the saved reviews of this repository",
  },
  {
    name: "show",
    words: "[ID]",
    maxWords: 1,
    summary: "print a saved review",
    flags: [{ flag: "json", help: "as JSON" }],
  },
  {
    name: "resume",
    words: "[ID]",
    maxWords: 1,
    settings: [...ASKING, "jobs", "format", "maxTokensTotal", "failOn", "requireCoverage", "exclude", "include"],
    summary: "go on with a review that is incomplete",
    details: "Asks only for the parts that are missing, and sums up. Refused when the patch has changed since.",
  },
  { name: "rm", words: "ID...", maxWords: 100, summary: "remove saved reviews" },
  {
    name: "help",
    words: "[COMMAND]",
    maxWords: 1,
    summary: "show help",
  },
];

/** Commands that are named and not built yet: refused, never ignored. */
export const COMMANDS_TO_COME: readonly string[] = ["providers", "templates", "config", "checks", "completions"];

/** Keys of the settings that every command takes. */
const EVERYWHERE: readonly string[] = ["quiet", "debug", "color"];

/** The settings that a command takes, by key. */
export function settingsOf(command: Command): string[] {
  if (command.reviews) return SETTINGS.map(({ key }) => key);
  return [...(command.settings ?? []), ...EVERYWHERE];
}
