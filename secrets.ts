/**
 * Finds secrets in text and replaces them, line by line, so that a text keeps its lines and a diff its line numbers.
 *
 * The rules are secretlint's preset and octavo's own beside it. They are loaded only if a hint says that one may find
 * something. Nothing in the scanned text can switch a rule off.
 *
 * @module
 */

import { hasHint } from "./secret_hints.ts";
import type { OwnSecretRule, SecretRule } from "./secret_rules.ts";

export { hasHint } from "./secret_hints.ts";
export type { SecretRule } from "./secret_rules.ts";

/** A secret in a text. */
export interface Secret extends SecretRule {
  /** Where it begins, in characters. */
  start: number;
  /** Where it ends, in characters. */
  end: number;
}

/** A secret in a file of a change. */
export interface PlacedSecret extends SecretRule {
  /** Path of its file, without secrets. */
  path: string;
  /** Where it begins, from 1; absent in the headers of a file. */
  line?: number;
  /** The side that `line` counts on: `old` for a removed line. */
  side?: "new" | "old";
}

/** Different characters that a token has at least; fewer are `xxxx`, to be filled in. */
const MIN_DIFFERENT = 7;

/** The secrets of a text, in their order; where two rules find the same, the more telling one. */
export async function findSecrets(text: string): Promise<Secret[]> {
  if (!hasHint(text)) return [];
  const { OWN_RULES, PRIVATE_KEY } = await import("./secret_rules.ts");
  const { findPrivateKeys } = await import("./private_keys.ts");
  const found = [
    ...findPrivateKeys(text).map((span) => ({ ...PRIVATE_KEY, ...span })),
    ...await findPreset(text),
    ...OWN_RULES.flatMap((rule) => findOwn(rule, text)),
  ];
  return merge(found.filter((secret) => !isPlaceholder(text, secret)));
}

function findOwn({ id, title, pattern, check }: OwnSecretRule, text: string): Secret[] {
  const found: Secret[] = [];
  for (const match of text.matchAll(pattern)) {
    if (check && !check(match)) continue;
    const secret = match.groups?.secret;
    const start = match.index + (secret === undefined ? 0 : match[0].lastIndexOf(secret));
    found.push({ id, title, start, end: start + (secret ?? match[0]).length });
  }
  return found;
}

/** What the rules of the preset need of secretlint's core, which costs more to load than they do. */
async function findPreset(text: string): Promise<Secret[]> {
  const { rules } = await import("@secretlint/secretlint-rule-preset-recommend");
  const { PRESET_IGNORED, PRESET_RULES } = await import("./secret_rules.ts");
  const found: Secret[] = [];
  // Neither a name nor an ending: no rule reads a file.
  const source = { content: text, filePath: "", ext: "", contentType: "text" };
  for (const rule of rules) {
    const name = rule.meta.id.replace(/^.*-rule-/, "");
    // The one rule that finds nothing and silences the others by comments in the text.
    if (name === "filter-comments") continue;
    const report = (range: readonly [number, number], messageId: string) => {
      if (PRESET_IGNORED.has(`${name}/${messageId}`)) return;
      const told = PRESET_RULES[`${name}/${messageId}`] ?? PRESET_RULES[name] ?? { id: name, title: "Secret" };
      found.push(narrowed(text, { ...told, start: range[0], end: range[1] }));
    };
    const context = {
      sharedOptions: {},
      createTranslator: () => (messageId: string) => ({ message: "", messageId }),
      report: ({ range, message }: { range: readonly [number, number]; message: { messageId: string } }) =>
        report(range, message.messageId),
      ignore: () => {},
    };
    await rule.create(context, { enableIDScanRule: true }).file?.(source);
  }
  return found;
}

/** Of a URL only name and password: where it leads is no secret, and what stands behind it belongs to the code. */
function narrowed(text: string, secret: Secret): Secret {
  if (secret.id !== "url-password") return secret;
  const match = /^[^/]*:\/\/([^\s/]*?:[^\s/@]+)@/.exec(text.slice(secret.start, secret.end));
  if (!match) return secret;
  const start = secret.start + match[0].length - match[1]!.length - 1;
  return { ...secret, start, end: start + match[1]!.length };
}

function isPlaceholder(text: string, { id, start, end }: Secret): boolean {
  if (id === "private-key" || id === "url-password") return false;
  const value = text.slice(start, end);
  // The preset's form of a Vercel token is also that of a long name in code behind a short prefix.
  if (id === "vercel-token" && !/\d/.test(value)) return true;
  return new Set(value).size < MIN_DIFFERENT;
}

/** Rules that tell less than others that find the same. */
const GENERAL: readonly string[] = ["env-secret", "jwt", "npm-token", "url-password"];

/** Makes one of secrets that overlap. */
function merge(secrets: Secret[]): Secret[] {
  const merged: Secret[] = [];
  for (const secret of secrets.sort((a, b) => a.start - b.start || b.end - a.end)) {
    const last = merged[merged.length - 1];
    if (last && secret.start < last.end) {
      last.end = Math.max(last.end, secret.end);
      if (GENERAL.includes(last.id) && !GENERAL.includes(secret.id)) [last.id, last.title] = [secret.id, secret.title];
    } else merged.push({ ...secret });
  }
  return merged;
}

/** What a text is: `diff` has a column of marks in front of each line, or several. */
export type TextKind = "text" | "diff";

/** A secret that was replaced. */
export interface RedactedSecret extends SecretRule {
  /** The line of the text that it begins in, from 1. */
  line: number;
  /** The secret, a text for each of its lines. */
  values: string[];
}

/** A text without its secrets. */
export interface Redacted {
  /** As many lines as before. */
  text: string;
  /** In their order. */
  secrets: RedactedSecret[];
}

/** Replaces the secrets of a text by `[secret: RULE]`, each of their lines for itself. */
export async function redact(text: string, kind: TextKind = "text"): Promise<Redacted> {
  if (!hasHint(text)) return { text, secrets: [] };
  const lines = splitMarks(text, kind);
  const found = await findSecrets(lines.map(({ content }) => content).join("\n"));
  if (found.length === 0) return { text, secrets: [] };
  const secrets = locate(lines, found, kind === "diff" ? /^\s*/ : /^[\s>|]*(?:[+-](?!-)\s*)?/);
  return { text: lines.map(({ marks, content }) => marks + content).join("\n"), secrets };
}

/** Whether a text is a diff, or has one in it. */
export function kindOf(text: string): TextKind {
  return /^(?:@@+ -\d|diff --git |--- \S.*\n\+\+\+ \S)/m.test(text) ? "diff" : "text";
}

/** A line, taken apart. */
interface Line {
  /** What stands in front in a diff. */
  marks: string;
  content: string;
}

function splitMarks(text: string, kind: TextKind): Line[] {
  let columns = 1;
  return text.split("\n").map((line) => {
    if (kind === "text") return { marks: "", content: line };
    // A combined diff has one "@" more than columns (git-diff, "Combined diff format").
    const header = /^@@+(?= -)/.exec(line);
    if (header) columns = header[0].length - 1;
    else if (line.startsWith("diff ")) columns = 1;
    let marks = 0;
    while (marks < columns && "+- ".includes(line[marks] ?? "?")) marks++;
    return { marks: line.slice(0, marks), content: line.slice(marks) };
  });
}

/** Replaces what was found in the joined contents of lines, and says where it was. */
function locate(lines: Line[], found: readonly Secret[], lead: RegExp): RedactedSecret[] {
  const secrets: RedactedSecret[] = [];
  const pieces = new Map<number, Replacement[]>();
  let [index, lineStart] = [0, 0];
  for (const { id, title, start, end } of found) {
    while (lineStart + lines[index]!.content.length < start) lineStart += lines[index++]!.content.length + 1;
    const secret: RedactedSecret = { id, title, line: index + 1, values: [] };
    let offset = lineStart;
    for (let i = index; i < lines.length && offset < end; i++) {
      const { content } = lines[i]!;
      const from = Math.max(0, start - offset);
      const piece = content.slice(from, end - offset);
      const value = (i === index ? piece : piece.replace(lead, "")).trim();
      offset += content.length + 1;
      if (value === "") continue;
      const at = from + piece.indexOf(value);
      const there = pieces.get(i) ?? [];
      there.push({ from: at, to: at + value.length, mark: `[secret: ${id}]` });
      pieces.set(i, there);
      secret.values.push(value);
    }
    secrets.push(secret);
  }
  for (const [i, replacements] of pieces) lines[i]!.content = replaced(lines[i]!.content, replacements);
  return secrets;
}

/** A piece of a line, and what stands for it. */
interface Replacement {
  from: number;
  to: number;
  mark: string;
}

function replaced(content: string, replacements: readonly Replacement[]): string {
  let [text, at] = ["", 0];
  for (const { from, to, mark } of replacements) {
    text += content.slice(at, from) + mark;
    at = to;
  }
  return text + content.slice(at);
}
