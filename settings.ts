/**
 * The settings as data: the flag, the environment variable and the key of each, what it takes, and who may set it.
 * Command line, configuration, help and completions all read this table.
 *
 * @module
 */

/** How a setting's value is written. */
export type SettingKind =
  | { readonly type: "text"; readonly placeholder: string }
  | { readonly type: "list"; readonly placeholder: string }
  | {
    readonly type: "number";
    readonly placeholder: string;
    readonly min: number;
    readonly max: number;
    readonly word?: string;
  }
  | { readonly type: "choice"; readonly choices: readonly string[] }
  | { readonly type: "switch" };

/** One setting. What a setting has no flag, variable or key for cannot be set there. */
export interface Setting {
  /** Its name, which is its key in a settings file as well where `file` is set. */
  readonly key: string;
  /** Flag without its dashes. */
  readonly flag?: string;
  /** Environment variable. */
  readonly variable?: string;
  /** Which settings files may hold it. `repository` means the user's file and the repository's `.octavo.json`. */
  readonly file?: "user" | "repository";
  readonly kind: SettingKind;
  /** One line of help; what holds without it stands at its end. */
  readonly help: string;
  /** A value that is never printed. */
  readonly secret?: true;
}

/** What findings can be, most severe first. */
export const SEVERITIES = ["bug", "risk", "nit"] as const;

/** Formats that `--format` and `--report` can write. */
export const FORMATS = ["markdown", "json", "jsonl", "sarif", "github", "gitlab", "rdjsonl", "unix", "html"] as const;

/** A format of a review. */
export type Format = (typeof FORMATS)[number];

/** Flags that are named and not built yet: refused, never ignored. */
export const FLAGS_TO_COME: readonly string[] = [];

/** Every setting, in the order of the help. */
export const SETTINGS: readonly Setting[] = [
  {
    key: "model",
    flag: "model",
    variable: "OCTAVO_MODEL",
    file: "user",
    kind: { type: "text", placeholder: "PROVIDER/NAME" },
    help: 'the model, or "builtin" for the built-in checks alone (default: the first that is found)',
  },
  {
    key: "baseUrl",
    flag: "base-url",
    variable: "OCTAVO_BASE_URL",
    file: "user",
    kind: { type: "text", placeholder: "URL" },
    help: "endpoint of the model (default: the provider's own)",
  },
  {
    key: "apiKey",
    variable: "OCTAVO_API_KEY",
    kind: { type: "text", placeholder: "KEY" },
    help: "API key for the endpoint that octavo's own settings name",
    secret: true,
  },
  {
    key: "maxDiffChars",
    flag: "max-diff-chars",
    variable: "OCTAVO_MAX_DIFF_CHARS",
    file: "repository",
    kind: { type: "number", placeholder: "N|auto", min: 1, max: 10_000_000, word: "auto" },
    help: "characters of diff in a part; auto fills the context window (default: 16000)",
  },
  {
    key: "jobs",
    flag: "jobs",
    variable: "OCTAVO_JOBS",
    file: "user",
    kind: { type: "number", placeholder: "N", min: 1, max: 8 },
    help: "parts asked about at once (default: 1)",
  },
  {
    key: "timeout",
    flag: "timeout",
    variable: "OCTAVO_TIMEOUT",
    file: "user",
    kind: { type: "number", placeholder: "SECONDS", min: 1, max: 86_400 },
    help: "how long a model may be silent (default: 600)",
  },
  {
    key: "untracked",
    flag: "untracked",
    variable: "OCTAVO_UNTRACKED",
    file: "user",
    kind: { type: "switch" },
    help: "take untracked files in (working tree)",
  },
  {
    key: "exclude",
    flag: "exclude",
    variable: "OCTAVO_EXCLUDE",
    file: "repository",
    kind: { type: "list", placeholder: "GLOB" },
    help: "leave files out, .gitignore syntax; repeatable",
  },
  {
    key: "include",
    flag: "include",
    variable: "OCTAVO_INCLUDE",
    file: "repository",
    kind: { type: "list", placeholder: "GLOB" },
    help: "take files in that would be left out as noise; repeatable",
  },
  {
    key: "format",
    flag: "format",
    variable: "OCTAVO_FORMAT",
    file: "user",
    kind: { type: "choice", choices: FORMATS },
    help: "what stdout is (default: markdown)",
  },
  {
    key: "report",
    flag: "report",
    variable: "OCTAVO_REPORT",
    file: "user",
    kind: { type: "list", placeholder: "[FORMAT:]FILE" },
    help: "write the review to a file as well; without FORMAT the ending decides; repeatable",
  },
  {
    key: "failOn",
    flag: "fail-on",
    variable: "OCTAVO_FAIL_ON",
    file: "repository",
    kind: { type: "choice", choices: SEVERITIES },
    help: "exit 1 on a grounded finding this bad or worse",
  },
  {
    key: "requireCoverage",
    flag: "require-coverage",
    variable: "OCTAVO_REQUIRE_COVERAGE",
    file: "user",
    kind: { type: "switch" },
    help: "exit 3 if a file was trimmed or not reviewed",
  },
  {
    key: "maxTokensTotal",
    flag: "max-tokens-total",
    variable: "OCTAVO_MAX_TOKENS_TOTAL",
    file: "user",
    kind: { type: "number", placeholder: "N", min: 1, max: 1_000_000_000 },
    help: "refuse a review that is estimated to need more tokens",
  },
  {
    key: "localOnly",
    flag: "local-only",
    variable: "OCTAVO_LOCAL_ONLY",
    file: "user",
    kind: { type: "switch" },
    help: "refuse any endpoint that is not on this machine",
  },
  {
    // In no file: what is said once must not hold for every diff to come.
    key: "sendSecrets",
    flag: "send-secrets",
    variable: "OCTAVO_SEND_SECRETS",
    kind: { type: "switch" },
    help: "send secrets as they are (default: replaced, unless the endpoint is on this machine)",
  },
  {
    key: "checksOff",
    flag: "checks-off",
    variable: "OCTAVO_CHECKS_OFF",
    file: "user",
    kind: { type: "list", placeholder: "RULE" },
    help: "switch a rule of the built-in checks off; repeatable",
  },
  {
    key: "noSave",
    flag: "no-save",
    variable: "OCTAVO_NO_SAVE",
    file: "user",
    kind: { type: "switch" },
    help: "keep no conversation",
  },
  { key: "plan", flag: "plan", kind: { type: "switch" }, help: "show what would be sent, and ask nobody" },
  {
    key: "quiet",
    flag: "quiet",
    variable: "OCTAVO_QUIET",
    file: "user",
    kind: { type: "switch" },
    help: "no progress and no notices on stderr; errors only",
  },
  {
    key: "debug",
    flag: "debug",
    variable: "OCTAVO_DEBUG",
    kind: { type: "switch" },
    help: "say on stderr what is run and asked, and how long it took",
  },
  {
    key: "color",
    flag: "color",
    variable: "OCTAVO_COLOR",
    file: "user",
    kind: { type: "choice", choices: ["auto", "always", "never"] },
    help: "colours (default: auto)",
  },
  {
    key: "githubToken",
    variable: "OCTAVO_GITHUB_TOKEN",
    file: "user",
    kind: { type: "text", placeholder: "TOKEN" },
    help: "GitHub token (GH_TOKEN, GITHUB_TOKEN and gh are asked as well)",
    secret: true,
  },
];

/**
 * The nearest of some names to one that is not there, for "did you mean".
 *
 * @returns The nearest name, or `undefined` if none is near.
 */
export function nearest(name: string, names: readonly string[]): string | undefined {
  if (name.length < 3) return undefined; // everything is near to a letter or two
  let best: string | undefined;
  let least = Math.max(2, Math.floor(name.length / 3)) + 1;
  for (const candidate of names) {
    const distance = editDistance(name.toLowerCase(), candidate.toLowerCase());
    if (distance < least) [best, least] = [candidate, distance];
  }
  return best;
}

/** Insertions, deletions, replacements and swaps of neighbours that lead from one text to the other. */
function editDistance(a: string, b: string): number {
  if (Math.abs(a.length - b.length) > 3) return 4;
  let [before, last] = [[] as number[], Array.from({ length: b.length + 1 }, (_, i) => i)];
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1];
      let least = Math.min(row[j - 1]! + 1, last[j]! + 1, last[j - 1]! + (same ? 0 : 1));
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) least = Math.min(least, before[j - 2]! + 1);
      row.push(least);
    }
    [before, last] = [last, row];
  }
  return last[b.length]!;
}
