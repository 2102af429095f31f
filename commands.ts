/**
 * The commands as data: words, help and examples of each. The dispatcher, the help and the completions read this table.
 *
 * @module
 */

import { SETTINGS } from "./settings.ts";

/** What a word of the command line can be, for completions. */
export type Completion =
  | "command"
  | "conversation"
  | "file"
  | "model"
  | "question"
  | "revision"
  | "setting"
  | "template";

/** A flag that belongs to a command and is no setting. */
export interface CommandFlag {
  readonly flag: string;
  /** What its value is called; absent for a switch. */
  readonly placeholder?: string;
  readonly help: string;
  /** What its value can be, where that can be listed. */
  readonly completes?: Completion;
  /** The only actions of the command that take it. @default all */
  readonly actions?: readonly string[];
}

/** What a command with several actions does: its first word. */
export interface Action {
  readonly name: string;
  /** The words behind it, as the help shows them. */
  readonly words: string;
  /** How many of them it takes at most. */
  readonly maxWords: number;
  /** How many it needs. @default 0 */
  readonly minWords?: number;
  /** One line. */
  readonly summary: string;
  /** What its first word can be. */
  readonly completes?: Completion;
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
  /** Under which heading the general help lists it. */
  readonly group: "review" | "afterwards" | "around";
  /** What its first word can be, where it has no actions. */
  readonly completes?: Completion;
  /** What it can do, by its first word: the first one is what it does without any, unless it needs to be told. */
  readonly actions?: readonly Action[];
  /** It does nothing without the name of an action. */
  readonly needsAction?: true;
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
  completes: "conversation",
};

const JSON_FLAG: CommandFlag = { flag: "json", help: "as JSON" };

/** Settings that say how a model is asked. */
const ASKING = ["model", "baseUrl", "timeout", "localOnly", "sendSecrets", "noSave"] as const;

/** Every command, in the order of the help. */
export const COMMANDS: readonly Command[] = [
  {
    name: "tree",
    words: "",
    maxWords: 0,
    group: "review",
    reviews: true,
    summary: "review staged and unstaged changes (the default)",
    details: "Untracked files are not in it, unless --untracked takes them in.",
    examples: ["octavo", "octavo --untracked", "octavo tree --plan"],
  },
  {
    name: "staged",
    words: "",
    maxWords: 0,
    group: "review",
    reviews: true,
    summary: "review what is staged",
    examples: ["octavo staged --model builtin"],
  },
  {
    name: "branch",
    words: "[BASE]",
    maxWords: 1,
    group: "review",
    completes: "revision",
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
    group: "review",
    completes: "revision",
    reviews: true,
    summary: "review a commit or a range (default: HEAD)",
    examples: ["octavo commit", "octavo commit v1.2..HEAD"],
  },
  {
    name: "pr",
    words: "[NUMBER|URL|OWNER/REPO#N]",
    maxWords: 1,
    group: "review",
    reviews: true,
    summary: "review a pull request on GitHub; post nothing",
    details: "Without an argument: pick one in a terminal; in CI the pull request of the event.",
    examples: ["octavo pr", "octavo pr 42", "octavo pr denoland/std#6000"],
  },
  {
    name: "diff",
    words: "[FILE | -]",
    maxWords: 1,
    group: "review",
    completes: "file",
    reviews: true,
    summary: "review any patch: a file, or standard input",
    examples: ["octavo diff fix.patch", "git diff main | octavo diff -"],
  },
  {
    name: "ask",
    words: '["QUESTION"] [@FILE...]',
    maxWords: 32,
    group: "afterwards",
    completes: "question",
    settings: ASKING,
    flags: [ID],
    summary: "ask on about the newest review of this repository",
    details: "@FILE brings a file of the repository along, @FILE:10-40 some of its lines, @diff:FILE its part of the " +
      "reviewed change. More text, such as a hunk, may come on standard input: it is read when it is no terminal. " +
      "Without a question, in a terminal: a conversation, until Ctrl-D.",
    examples: [
      'octavo ask "Is the first finding real?"',
      'octavo ask "Why does this fail?" @src/a.ts:10-40 @diff:src/b.ts',
      "octavo ask",
    ],
  },
  {
    name: "log",
    words: "",
    maxWords: 0,
    group: "afterwards",
    flags: [{ flag: "all", help: "of every repository" }, JSON_FLAG],
    summary: "list the saved reviews of this repository",
    examples: ["octavo log", "octavo log --all"],
  },
  {
    name: "show",
    words: "[ID]",
    maxWords: 1,
    group: "afterwards",
    completes: "conversation",
    summary: "print a saved review",
    flags: [JSON_FLAG],
    examples: ["octavo show", "octavo show 20260131-1405"],
  },
  {
    name: "resume",
    words: "[ID]",
    maxWords: 1,
    group: "afterwards",
    completes: "conversation",
    settings: [
      ...ASKING,
      "jobs",
      "format",
      "report",
      "maxTokensTotal",
      "failOn",
      "requireCoverage",
      "exclude",
      "include",
    ],
    summary: "go on with a review that is incomplete",
    details: "Asks only for the parts that are missing, and sums up. Refused when the patch has changed since.",
    examples: ["octavo resume"],
  },
  {
    name: "rm",
    words: "ID...",
    maxWords: 100,
    group: "afterwards",
    completes: "conversation",
    summary: "remove saved reviews",
    examples: ["octavo rm 20260131-140501"],
  },
  {
    name: "prs",
    words: "[OWNER/REPO]",
    maxWords: 1,
    group: "around",
    settings: ["githubToken"],
    summary: "list the open pull requests",
    examples: ["octavo prs", "octavo prs denoland/std"],
  },
  {
    name: "providers",
    words: "",
    maxWords: 0,
    group: "around",
    settings: ["model", "baseUrl", "timeout", "localOnly"],
    summary: "the models that there are; test one",
    details: "What is configured, what runs on this machine, and what would make the others be there. Keys are never " +
      "shown, only where they come from.",
    actions: [
      { name: "list", words: "", maxWords: 0, summary: "endpoints, keys, models and their windows (the default)" },
      {
        name: "test",
        words: "[PROVIDER/NAME]",
        maxWords: 1,
        summary: "make one tiny request, and say how long the first byte and each token took",
        completes: "model",
      },
    ],
    flags: [
      { flag: "all", help: "every model, not only the first of each provider", actions: ["list"] },
      { ...JSON_FLAG, actions: ["list"] },
    ],
    examples: ["octavo providers", "octavo providers test", "octavo providers test ollama/qwen2.5-coder:7b"],
  },
  {
    name: "config",
    words: "",
    maxWords: 0,
    group: "around",
    summary: "the settings: list, set, unset, edit, schema",
    details:
      "Your own stand in $XDG_CONFIG_HOME/octavo/config.json (~/.config/octavo/config.json). Secrets are never " +
      "shown. A provider of your own is set key by key: providers.NAME.baseUrl, apiKey, apiKeyCommand, contextWindow, " +
      "protocol, headers.HEADER.",
    actions: [
      { name: "list", words: "", maxWords: 0, summary: "each with its value and where it comes from (the default)" },
      {
        name: "set",
        words: "KEY VALUE...",
        minWords: 1,
        maxWords: 100,
        summary: "set one in your file; a list takes several values; a secret without one is asked for",
        completes: "setting",
      },
      {
        name: "unset",
        words: "KEY",
        minWords: 1,
        maxWords: 1,
        summary: "take one out of your file",
        completes: "setting",
      },
      { name: "edit", words: "", maxWords: 0, summary: "open your file in $VISUAL or $EDITOR, and check it" },
      { name: "schema", words: "", maxWords: 0, summary: "the JSON schema of the file, for editors" },
    ],
    flags: [{ flag: "json", help: "as JSON", actions: ["list"] }],
    examples: [
      "octavo config set model ollama/qwen2.5-coder:14b",
      "octavo config set exclude docs/ '*.gen.ts'",
      "octavo config set providers.work.baseUrl https://llm.example.org/v1",
      "octavo config set providers.work.apiKeyCommand pass show llm",
    ],
  },
  {
    name: "templates",
    words: "",
    maxWords: 0,
    group: "around",
    summary: "the prompts: list, show, edit, diff, reset",
    details:
      "Your own stand in $XDG_CONFIG_HOME/octavo/templates/ (~/.config/octavo/templates/), in Handlebars syntax.",
    actions: [
      { name: "list", words: "", maxWords: 0, summary: "where each comes from (the default)" },
      { name: "show", words: "NAME", minWords: 1, maxWords: 1, summary: "print one", completes: "template" },
      {
        name: "edit",
        words: "NAME",
        minWords: 1,
        maxWords: 1,
        summary: "open yours, made of the shipped one, in $VISUAL or $EDITOR, and check it",
        completes: "template",
      },
      {
        name: "diff",
        words: "[NAME]",
        maxWords: 1,
        summary: "what yours has against the shipped one",
        completes: "template",
      },
      {
        name: "reset",
        words: "NAME",
        minWords: 1,
        maxWords: 1,
        summary: "remove yours: the shipped one is used again",
        completes: "template",
      },
    ],
    flags: [{ flag: "yes", help: "do not ask before something is removed", actions: ["reset"] }],
    examples: ["octavo templates", "octavo templates edit review", "octavo templates reset review --yes"],
  },
  {
    name: "checks",
    words: "",
    maxWords: 0,
    group: "around",
    summary: "list the rules of the built-in checks",
    details:
      "--checks-off RULE switches a rule off, OCTAVO_CHECKS_OFF or checksOff in your settings file for good. A line that says octavo-ignore RULE, or the line above it, silences it there; secrets cannot be silenced.",
    flags: [JSON_FLAG],
    examples: ["octavo checks"],
  },
  {
    name: "completions",
    words: "",
    maxWords: 0,
    group: "around",
    summary: "completions for bash, zsh or fish",
    details: "They complete git octavo as well, where octavo is on the PATH as git-octavo.",
    needsAction: true,
    actions: [
      { name: "bash", words: "", maxWords: 0, summary: 'in ~/.bashrc: eval "$(octavo completions bash)"' },
      {
        name: "zsh",
        words: "",
        maxWords: 0,
        summary: 'in ~/.zshrc, behind compinit: eval "$(octavo completions zsh)"',
      },
      { name: "fish", words: "", maxWords: 0, summary: "in config.fish: octavo completions fish | source" },
    ],
  },
  {
    name: "help",
    words: "[COMMAND]",
    maxWords: 1,
    group: "around",
    completes: "command",
    summary: "show help",
    flags: [{ flag: "man", help: "the manual page, as roff" }],
    examples: ["octavo help branch", "octavo help --man > ~/.local/share/man/man1/git-octavo.1"],
  },
];

/** Commands that are named and not built yet: refused, never ignored. */
export const COMMANDS_TO_COME: readonly string[] = [];

/** Keys of the settings that every command takes. */
const EVERYWHERE: readonly string[] = ["quiet", "debug", "color"];

/** The settings that a command takes, by key. */
export function settingsOf(command: Command): string[] {
  if (command.reviews) return SETTINGS.map(({ key }) => key);
  return [...(command.settings ?? []), ...EVERYWHERE];
}

/** The words of a command, as the help shows them. */
export function usageWords({ words, actions, needsAction }: Command): string {
  if (!actions) return words;
  const names = actions.map(({ name }) => name).join("|");
  return needsAction ? names : `[${names}]`;
}
