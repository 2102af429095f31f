/**
 * The rules of the built-in checks on whole files, as data, and the one that needs all files of a patch.
 *
 * @module
 */

import type { Rule } from "./finding.ts";
import { baseName, type FileFacts } from "./source_text.ts";

/** A file as a rule on whole files sees it. */
export interface ChangedFile extends FileFacts {
  /** What happened to it. */
  status: "added" | "deleted" | "modified" | "renamed" | "copied";
  /** Its mode, as git writes it, where the patch says it. */
  newMode?: string | undefined;
  /** Its added lines, as many as are needed. */
  lines: readonly { number: number; text: string }[];
}

/** A rule on a file as a whole. */
export interface FileRule extends Rule {
  /** The title of its findings. */
  title: string;
  /** The line it is about, `true` for the whole file, `false` for nothing. */
  test(file: ChangedFile): number | boolean;
}

const mergeLeftover: FileRule = {
  id: "merge-leftover",
  severity: "bug",
  title: "File that a merge left behind",
  why: "git and patch write .orig and .rej files for a person to look at; nobody needs them in the repository.",
  files: "added files but tests",
  test: ({ path, status, test }) =>
    status === "added" && !test && /\.[A-Za-z0-9]+\.(?:orig|rej)$|\.rej$/.test(baseName(path)),
};

const ENV_FILE = /^\.env(?:\.(?!example|sample|template|dist|test|defaults?|schema|ci|tpl|tmpl|in\b)[\w.-]+)?$/i;
const SECRET_NAME = /(?:SECRET|TOKEN|PASSWORD|PASSWD|PRIVATE|CREDENTIAL|API_?KEY|ACCESS_?KEY|AUTH)/i;
const PLACEHOLDER_VALUE =
  /^(?:$|\$|<|\{|x{3,}|\*{3,}|\.{3}|your|change|replace|example|dummy|test|fake|secret|password|todo|none|null|false|true|\d{1,6}$|https?:|localhost|root$|admin$|postgres$|user$|foo|bar)/i;

function isSecretValue(text: string): boolean {
  const value = text.replace(/^["']|["']$/g, "");
  return value.length >= 8 && !PLACEHOLDER_VALUE.test(value);
}

const envFile: FileRule = {
  id: "env-file",
  severity: "risk",
  title: "Environment file with a secret in it",
  why: "Files of this kind are for one machine; whoever can read the repository has the secret now.",
  files: "added .env files but tests",
  ignorable: false,
  test: ({ path, status, test, lines }) => {
    if (status !== "added" || test || !ENV_FILE.test(baseName(path))) return false;
    const line = lines.find(({ text }) => {
      const pair = /^\s*(?:export\s+)?([A-Za-z_]\w*)\s*=\s*(.*)$/.exec(text);
      return pair !== null && SECRET_NAME.test(pair[1]!) && isSecretValue(pair[2]!.trim());
    });
    return line?.number ?? false;
  },
};

const KEY_FILE = /^id_(?:rsa|dsa|ecdsa|ed25519)$|\.(?:pfx|p12|kdbx|ppk|jks|keystore)$|^\.(?:pgpass|netrc)$/i;

const keyFile: FileRule = {
  id: "key-file",
  severity: "bug",
  title: "File that holds keys or passwords",
  why: "Whoever can read the repository, now or later, has what is in it.",
  files: "added files but tests",
  ignorable: false,
  test: ({ path, status, test }) =>
    status === "added" && !test && KEY_FILE.test(baseName(path)) &&
    !/^(?:debug|test|sample|example)\b/i.test(baseName(path)),
};

const DATA_ENDINGS =
  /\.(?:md|markdown|rst|txt|json|ya?ml|toml|xml|csv|tsv|ini|cfg|lock|css|scss|less|svg|png|jpe?g|gif|webp|ico|bmp|pdf|ttf|otf|woff2?|eot|mp[34]|ogg|wav|zip|gz|h|hpp)$/i;

const executableData: FileRule = {
  id: "executable-data",
  severity: "nit",
  title: "Data file made executable",
  why: "It is nothing that can be run; the bit mostly comes from a foreign file system.",
  files: "data, documents, images and headers",
  test: ({ path, newMode, lines }) =>
    newMode === "100755" && DATA_ENDINGS.test(baseName(path)) && !lines[0]?.text.startsWith("#!"),
};

/** All rules on whole files. */
export const fileRules: readonly FileRule[] = [mergeLeftover, envFile, keyFile, executableData];

/** Which package manager writes a lockfile, and which ones lock the same manifest. */
const LOCKFILES: Readonly<Record<string, readonly [manifest: string, manager: string]>> = {
  "package-lock.json": ["package.json", "npm"],
  "npm-shrinkwrap.json": ["package.json", "npm"],
  "yarn.lock": ["package.json", "yarn"],
  "pnpm-lock.yaml": ["package.json", "pnpm"],
  "bun.lock": ["package.json", "bun"],
  "bun.lockb": ["package.json", "bun"],
  "poetry.lock": ["pyproject.toml", "poetry"],
  "uv.lock": ["pyproject.toml", "uv"],
  "pdm.lock": ["pyproject.toml", "pdm"],
};

/** The manager of a lockfile and the manifest it locks; `undefined` for other files. */
export function lockManager(path: string): { place: string; manager: string } | undefined {
  const name = baseName(path);
  const known = Object.hasOwn(LOCKFILES, name) ? LOCKFILES[name] : undefined;
  return known && { place: path.slice(0, -name.length) + known[0], manager: known[1] };
}

/** The rule on lockfiles, which needs all files of a patch. */
export const twoLockfiles: Rule & { title: string } = {
  id: "two-lockfiles",
  severity: "risk",
  title: "Lockfile of a second package manager",
  why:
    "Another lockfile beside it locks the same manifest: the two will differ, and who installs gets one or the other.",
  files: "added lockfiles",
};
