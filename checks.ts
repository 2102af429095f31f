/**
 * What can be said about a change with certainty and without a model: rules on its added lines and on its files.
 *
 * The text of a file may come in pieces, so that no file need be in memory: {@linkcode FileChecker}.
 *
 * @module
 */

import type { FileDiff } from "./diff.ts";
import type { Finding, Rule } from "./finding.ts";
import { fileRules, lockManager, twoLockfiles } from "./file_rules.ts";
import { type CheckedLine, lineRules } from "./rules.ts";
import { baseName, type FileFacts, isForeign, isTest, languageOf, type LineParts, splitLines } from "./source_text.ts";

export type { Rule } from "./finding.ts";

/** All rules, in the order they are listed. */
export const rules: readonly Rule[] = [...lineRules, ...fileRules, twoLockfiles].map((
  { id, severity, why, files, ignorable },
) => ({ id, severity, why, files, ...(ignorable === false && { ignorable }) }));

/** Findings of one rule in one file: more are not listed. */
export const MAX_FINDINGS_OF_RULE = 50;
/** Lines of a hunk that are looked at together. Of a longer one the checks see one such window after the other. */
const WINDOW_LINES = 4_000;
/** Characters of a line that are looked at: longer ones are data. */
const MAX_LINE_CHARS = 4_000;
/** Characters of a line that a person writes. */
const MAX_WRITTEN_CHARS = 500;
/** Files of a patch that are listed for one rule on whole files. */
const MAX_WHOLE_FILES = 10;
/** Removed lines that are remembered of a patch. */
const MAX_REMOVED = 100_000;
/** Added lines that are kept for the rules on whole files. */
const HEAD_LINES = 200;

/** Options of the checks. */
export interface CheckOptions {
  /** Ids of rules that are switched off. */
  off?: ReadonlySet<string>;
  /** Called for each finding that an `octavo-ignore` in the file silences. */
  onIgnored?: (ignored: { rule: string; path: string; line: number }) => void;
}

/** What the checks need to know of a file before its text. */
export type CheckedFile = Pick<FileDiff, "path" | "status" | "newMode" | "oldMode">;

/** Checks the added lines of one file, and the file itself. */
export function checkFile(file: FileDiff, options: CheckOptions = {}): Finding[] {
  const checker = new FileChecker(file, options);
  feed(checker, file);
  return checker.end();
}

function feed(checker: FileChecker, file: FileDiff): void {
  for (const hunk of file.hunks.slice(0, file.hunksKept)) {
    const body = file.text.indexOf("\n", hunk.start) + 1;
    const columns = file.text.startsWith("@@@", hunk.start) ? combinedColumns(file.text, hunk.start) : 1;
    if (body > 0) checker.wholeHunk(hunk.newStart, file.text.slice(body, hunk.end), columns);
  }
}

/** A combined diff has a column of marks for each parent, and one "@" more than those. */
function combinedColumns(text: string, start: number): number {
  return Math.max(1, (/^@+/.exec(text.slice(start, start + 64))?.[0].length ?? 2) - 1);
}

/** Checks what only all files of a patch together show. */
export function checkPatch(files: Iterable<Pick<FileDiff, "path" | "status">>, options: CheckOptions = {}): Finding[] {
  if (options.off?.has(twoLockfiles.id)) return [];
  const locks = [...files].flatMap(({ path, status }) => {
    const lock = status === "deleted" || isTest(path) ? undefined : lockManager(path);
    return lock === undefined ? [] : [{ path, status, ...lock }];
  });
  const doubled = locks.filter((lock) =>
    lock.status === "added" && locks.some((other) => other.place === lock.place && other.manager !== lock.manager)
  );
  return doubled.map(({ path }) => ({
    severity: twoLockfiles.severity,
    path,
    title: twoLockfiles.title,
    body: twoLockfiles.why,
    anchor: "file",
    grounded: true,
    source: "check",
    rule: twoLockfiles.id,
    parts: [],
  }));
}

/**
 * Checks the files of a patch, one after the other. What one file loses and another one gains was moved: it is not new.
 */
export class PatchChecker {
  readonly #options: CheckOptions;
  readonly #findings: Finding[] = [];
  readonly #removed = new Set<string>();
  readonly #files: Pick<FileDiff, "path" | "status">[] = [];

  /** Takes the options of all files. */
  constructor(options: CheckOptions = {}) {
    this.#options = options;
  }

  /** Checks a file that is there as a whole, or as far as it was kept. */
  add(file: FileDiff): void {
    const checker = this.file(file);
    feed(checker, file);
    this.done(checker);
  }

  /** Begins a file whose text comes in pieces; {@linkcode PatchChecker.done} takes it back. */
  file(file: CheckedFile): FileChecker {
    // Of other files nothing is left to be known.
    if (lockManager(file.path) !== undefined) this.#files.push({ path: file.path, status: file.status });
    return new FileChecker(file, this.#options);
  }

  /** Ends a file that came in pieces. */
  done(checker: FileChecker): void {
    this.#findings.push(...checker.end());
    for (const line of checker.removed) if (this.#removed.size < MAX_REMOVED) this.#removed.add(line);
  }

  /** Says that the patch is over; gives its findings, in the order of its files. */
  end(): Finding[] {
    const found = this.#findings.filter((finding) => !isMoved(finding, this.#removed));
    return [...withoutFlood(found), ...checkPatch(this.#files, this.#options)];
  }
}

/** Of findings on whole files, which a script can make by the hundred, the first of each rule, and how many there are. */
function withoutFlood(findings: readonly Finding[]): Finding[] {
  const counts = new Map<string, number>();
  const isWhole = ({ rule, line }: Finding) => line === undefined && fileRules.some(({ id }) => id === rule);
  for (const finding of findings) {
    if (isWhole(finding)) counts.set(finding.rule!, (counts.get(finding.rule!) ?? 0) + 1);
  }
  const seen = new Map<string, number>();
  return findings.flatMap((finding) => {
    const count = isWhole(finding) ? counts.get(finding.rule!)! : 0;
    if (count <= MAX_WHOLE_FILES) return [finding];
    const nth = (seen.get(finding.rule!) ?? 0) + 1;
    seen.set(finding.rule!, nth);
    if (nth < MAX_WHOLE_FILES) return [finding];
    return nth > MAX_WHOLE_FILES
      ? []
      : [{ ...finding, body: `${finding.body} ${count - nth} more files are not listed.` }];
  });
}

function isMoved({ rule, quote }: Finding, removed: ReadonlySet<string>): boolean {
  return !isSecret(rule) && quote !== undefined && removed.has(quote.trim());
}

/** A line of the new side that a window holds. */
interface WindowLine {
  text: string;
  number: number;
  added: boolean;
}

/**
 * Checks one file whose text comes in pieces: `hunk` when one begins, `push` for its text behind the `@@` line, cut
 * anywhere, `end` for the findings.
 */
export class FileChecker {
  readonly #file: CheckedFile;
  readonly #facts: FileFacts;
  readonly #options: CheckOptions;
  readonly #rules: readonly (typeof lineRules)[number][];
  readonly #hint: RegExp | undefined;
  /** The rules on whole files look at the first lines of this one. */
  readonly #needsHead: boolean;
  readonly #findings: Finding[] = [];
  readonly #counts = new Map<string, number>();
  /** Removed lines that a rule could find something in: what is moved is not new. */
  readonly #removed = new Set<string>();
  readonly #head: WindowLine[] = [];
  #window: WindowLine[] = [];
  #deleted: string[] = [];
  /** Index in the window of the first line that was not checked. */
  #next = 0;
  #line = 1;
  #columns = 1;
  #rest = "";

  /** Takes what is known of the file before its text. */
  constructor(file: CheckedFile, options: CheckOptions = {}) {
    const { path } = file;
    this.#file = file;
    this.#options = options;
    this.#facts = {
      path,
      language: languageOf(path),
      test: isTest(path),
      foreign: isForeign(path),
    };
    this.#rules = lineRules.filter((rule) => rule.applies(this.#facts) && !options.off?.has(rule.id));
    this.#hint = hintOf(this.#rules);
    this.#needsHead = isNewMode(file) || (file.status === "added" && baseName(path).startsWith(".env"));
  }

  /** A hunk begins; `newStart` is the number of its first line on the new side, `columns` are its columns of marks. */
  hunk(newStart: number, columns = 1): void {
    this.#endHunk();
    this.#line = newStart;
    this.#columns = columns;
  }

  /** Takes a hunk at once, which costs little where no rule finds a hint in it. */
  wholeHunk(newStart: number, text: string, columns = 1): void {
    if (!this.#needsHead && !this.#hint?.test(text)) return;
    this.hunk(newStart, columns);
    this.push(text);
    this.#endHunk();
  }

  /** Takes the next piece of the hunk's text. */
  push(piece: string): void {
    const text = this.#rest + piece;
    let start = 0;
    for (let end = text.indexOf("\n"); end >= 0; end = text.indexOf("\n", start)) {
      this.#take(text.slice(start, end));
      start = end + 1;
    }
    // Of a line that does not end no more is kept than is looked at.
    this.#rest = text.slice(start, start + MAX_LINE_CHARS + 1);
  }

  /** Removed lines that a rule could find something in. What was moved to another file is there under another path. */
  get removed(): ReadonlySet<string> {
    return this.#removed;
  }

  /** Says that the file is over; gives its findings, in the order of its lines. */
  end(): Finding[] {
    this.#endHunk();
    const found = this.#findings.filter((finding) => !isMoved(finding, this.#removed));
    return [...this.#checkWhole(), ...found].sort((a, b) => (a.line ?? 0) - (b.line ?? 0));
  }

  #endHunk(): void {
    if (this.#rest !== "") this.#take(this.#rest);
    this.#rest = "";
    this.#checkUpTo(this.#window.length);
    this.#window = [];
    this.#next = 0;
  }

  #take(line: string): void {
    const marks = line.slice(0, this.#columns);
    const text = line.slice(this.#columns, MAX_LINE_CHARS).replace(/\r$/, "");
    if (marks.includes("-")) this.#deleted.push(text);
    else if (!marks.startsWith("\\")) {
      const taken = { text, number: this.#line++, added: marks.includes("+") };
      this.#window.push(taken);
      if (this.#needsHead && taken.added && this.#head.length < HEAD_LINES) this.#head.push(taken);
    }
    if (this.#window.length + this.#deleted.length < WINDOW_LINES) return;
    this.#checkUpTo(Math.max(this.#next, this.#window.length - CONTEXT_LINES));
    const gone = Math.max(0, this.#next - CONTEXT_LINES);
    this.#window.splice(0, gone);
    this.#next -= gone;
  }

  /** Checks the lines of the window up to `end`; what stands behind is there for those in front. */
  #checkUpTo(end: number): void {
    const from = this.#next;
    this.#next = end;
    const deleted = this.#deleted;
    this.#deleted = [];
    if (!this.#hint) return;
    for (const text of deleted) if (this.#hint.test(text)) this.#removed.add(text.trim());
    let parts: LineParts[] | undefined | null = null;
    for (let at = from; at < end; at++) {
      const { text, added } = this.#window[at]!;
      if (!added || !this.#hint.test(text)) continue;
      parts = parts === null ? splitLines(this.#window.map((line) => line.text), this.#facts.language) : parts;
      this.#checkLine(at, parts);
    }
  }

  #checkLine(at: number, parts: readonly LineParts[] | undefined): void {
    const window = this.#window;
    const view = (index: number): CheckedLine | undefined => {
      const line = window[index];
      return line && {
        text: line.text,
        added: line.added,
        parts: parts?.[index],
        near: (offset) => view(index + offset),
      };
    };
    const line = view(at)!;
    const { text, number } = window[at]!;
    for (const rule of this.#rules) {
      // A very long line was made by a program: only what must never be there is looked for.
      if ((text.length > MAX_WRITTEN_CHARS && rule.ignorable !== false) || !rule.test(line, this.#facts)) continue;
      if (rule.ignorable !== false && isIgnored(rule.id, text, window[at - 1]?.text)) {
        this.#options.onIgnored?.({ rule: rule.id, path: this.#file.path, line: number });
      } else this.#add(rule, number, text);
    }
  }

  #add(rule: Rule & { title: string }, line: number | undefined, quote: string | undefined): void {
    const count = (this.#counts.get(rule.id) ?? 0) + 1;
    this.#counts.set(rule.id, count);
    if (count > MAX_FINDINGS_OF_RULE) return;
    const more = count === MAX_FINDINGS_OF_RULE ? " Further places in this file are not listed." : "";
    this.#findings.push({
      severity: rule.severity,
      path: this.#file.path,
      ...(line !== undefined && { side: "new" as const, line }),
      title: rule.title,
      body: rule.why + more,
      // A secret is not repeated.
      ...(quote !== undefined && !isSecret(rule.id) && { quote }),
      anchor: line === undefined ? "file" : "line",
      grounded: true,
      source: "check",
      rule: rule.id,
      parts: [],
    });
  }

  #checkWhole(): Finding[] {
    const { status, newMode } = this.#file;
    const file = { ...this.#facts, status, newMode: isNewMode(this.#file) ? newMode : undefined, lines: this.#head };
    const before = this.#findings.length;
    for (const rule of fileRules) {
      if (status === "deleted" || this.#options.off?.has(rule.id)) continue;
      const line = rule.test(file);
      if (line !== false) this.#add(rule, line === true ? undefined : line, undefined);
    }
    return this.#findings.splice(before);
  }
}

/** Whether the patch sets a mode that is not the usual one. */
function isNewMode({ oldMode, newMode }: CheckedFile): boolean {
  return newMode !== undefined && newMode !== oldMode && newMode !== "100644";
}

/** Lines in front of a line and behind it that rules may look at. */
const CONTEXT_LINES = 40;

/** Hints by the ids of their rules: few sets of rules apply to many files, and compiling costs more than most scans. */
const hints = new Map<string, RegExp>();

function hintOf(list: readonly { id: string; hint: string }[]): RegExp | undefined {
  if (list.length === 0) return undefined;
  const key = list.map(({ id }) => id).join(" ");
  const known = hints.get(key) ?? new RegExp(list.map(({ hint }) => `(?:${hint})`).join("|"));
  hints.set(key, known);
  return known;
}

function isSecret(rule: string | undefined): boolean {
  return rules.some(({ id, ignorable }) => id === rule && ignorable === false);
}

/** Whether a line, or the one above it, says `octavo-ignore RULE`. */
function isIgnored(rule: string, text: string, above: string | undefined): boolean {
  return [text, above ?? ""].some((line) => {
    const names = /\boctavo-ignore[:\s]+([\w-]+(?:\s*,\s*[\w-]+)*)/.exec(line)?.[1];
    return names !== undefined && names.split(",").some((name) => name.trim() === rule);
  });
}
