/**
 * The secrets that a change adds, as findings. The lines that may hold one are joined and scanned at once.
 *
 * @module
 */

import type { Finding } from "./finding.ts";
import { findSecrets, hasHint, type Secret } from "./secrets.ts";
import { isTest } from "./source_text.ts";

/** Findings in one file: more are not listed. */
const MAX_FINDINGS_OF_FILE = 50;

/** Characters of lines that wait to be scanned together. */
const BATCH_CHARS = 1_000_000;

/** Rules that find what need not be secret: an id is half of a pair, a key may be made for browsers. */
export const RISKS: readonly string[] = ["aws-access-key-id", "google-api-key"];

const WHY = "Whoever can read the repository, now or later, has it: revoke it and take it out of the history.";

/** A line of the new side that waits to be scanned. */
interface WaitingLine {
  path: string;
  text: string;
  number: number;
  added: boolean;
}

/** A run of lines of one hunk. */
export interface HunkText {
  /** Path of the file. */
  path: string;
  /** Number of the first line on the new side, from 1. */
  line: number;
  /** Whole lines with their marks. */
  text: string;
  /** Columns of marks. */
  columns: number;
}

/** Takes the hunks of a patch one after the other. Files that are tests are passed over: what they hold is made up. */
export class AddedSecrets {
  readonly #findings: Finding[] = [];
  readonly #counts = new Map<string, number>();
  #waiting: WaitingLine[] = [];
  #chars = 0;

  /** Takes lines of a hunk; what has no hint of a secret costs one look. */
  see({ path, line, text, columns }: HunkText): void {
    if (!hasHint(text) || isTest(path)) return;
    // No key goes on from one hunk to the next.
    this.#waiting.push({ path, text: "@@", number: line, added: false });
    let number = line;
    for (const whole of text.split("\n")) {
      const marks = whole.slice(0, columns);
      if (marks.includes("-") || marks.startsWith("\\") || whole === "") continue;
      this.#waiting.push({ path, text: whole.slice(columns), number: number++, added: marks.includes("+") });
      this.#chars += whole.length;
    }
  }

  /** Scans what waits, if that is much. To be called now and then. */
  async flush(): Promise<void> {
    if (this.#chars > BATCH_CHARS) await this.#scan();
  }

  /** Says that the patch is over; gives a finding for each secret, in the order of the patch. */
  async end(): Promise<Finding[]> {
    await this.#scan();
    return this.#findings;
  }

  async #scan(): Promise<void> {
    const lines = this.#waiting;
    [this.#waiting, this.#chars] = [[], 0];
    const text = lines.map((line) => line.text).join("\n");
    let [index, start] = [0, 0];
    for (const secret of await findSecrets(text)) {
      while (start + lines[index]!.text.length < secret.start) start += lines[index++]!.text.length + 1;
      let [last, offset] = [index, start];
      while (!lines[last]!.added && offset + lines[last]!.text.length < secret.end) {
        offset += lines[last++]!.text.length + 1;
      }
      const line = lines[last]!;
      if (line.added && isCertain(secret, text.slice(secret.start, secret.end), line.path)) this.#add(secret, line);
    }
  }

  #add({ id, title }: Secret, { path, number }: WaitingLine): void {
    const count = (this.#counts.get(path) ?? 0) + 1;
    this.#counts.set(path, count);
    if (count > MAX_FINDINGS_OF_FILE) return;
    const more = count === MAX_FINDINGS_OF_FILE ? " Further secrets in this file are not listed." : "";
    this.#findings.push({
      severity: RISKS.includes(id) ? "risk" : "bug",
      path,
      side: "new",
      line: number,
      title,
      body: WHY + more,
      anchor: "line",
      grounded: true,
      source: "check",
      rule: id,
      parts: [],
    });
  }
}

/** Rules that find what also is made up for a machine that is thrown away. */
const GENERAL: readonly string[] = ["basic-auth", "env-secret", "jwt", "url-password"];

/** Files that set up such machines. */
const THROWN_AWAY =
  /(?:^|[/._-])(?:ci|circleci|workflows|cypress|e2e|test|tests|seeds?|demo|dev|local|sample|example)(?:[/._-]|$)/i;

/** The payload of the token that jwt.io and most documentation show. */
const EXAMPLE_PAYLOAD = ".eyJzdWIiOiIxMjM0NTY3ODkwIi";

/** Whether it can be said that this must not be there; what may be an example is only replaced. */
function isCertain({ id }: Secret, value: string, path: string): boolean {
  if (GENERAL.includes(id) && THROWN_AWAY.test(path)) return false;
  if (id === "jwt") return !value.includes(EXAMPLE_PAYLOAD);
  if (id !== "url-password") {
    return !/example|placeholder|your|dummy|fake|redacted|0{8}|x{8}|1234567890|abcdefgh/i.test(value);
  }
  const password = value.slice(value.indexOf(":") + 1);
  return password.length >= 8 && /[a-z]/i.test(password) && /[0-9]/.test(password) &&
    !/pass|secret|example|change|your|admin|token|test|dummy|1234/i.test(password);
}
