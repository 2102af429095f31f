/**
 * Shows the hunks of a file to the checks and to the search for secrets while they stream: a hunk at once where it is
 * small, which is fast, and block by block where it is not, which takes little memory.
 *
 * @module
 */

import type { AddedSecrets } from "./added_secrets.ts";
import type { FileChecker } from "./checks.ts";
import type { Hunk } from "./diff.ts";

/** Characters of a hunk up to which it is held. */
const MAX_HELD_CHARS = 262_144;

/** Watches one file. */
export class HunkWatch {
  /** The checks of the file. */
  readonly checker: FileChecker;
  readonly #path: string;
  readonly #secrets: AddedSecrets;
  #hunk: Hunk | undefined;
  #held = "";
  /** Number of the first line held on the new side. */
  #line = 1;
  /** Something of the hunk has been passed on. */
  #streams = false;
  /** Marks of a line of which the beginning has been passed on. */
  #begun: string | undefined;

  /** Takes whom to show the file. */
  constructor(path: string, checker: FileChecker, secrets: AddedSecrets) {
    this.#path = path;
    this.checker = checker;
    this.#secrets = secrets;
  }

  /** Takes a piece of a hunk's text, as an observer of the parser. */
  see(hunk: Hunk, piece: string): void {
    if (hunk !== this.#hunk) {
      this.end();
      [this.#hunk, this.#line, this.#streams, this.#begun] = [hunk, hunk.newStart, false, undefined];
    }
    this.#held += piece;
    if (this.#held.length > MAX_HELD_CHARS) this.#pass(hunk, this.#held.lastIndexOf("\n") + 1);
  }

  /** Says that the file is over. */
  end(): void {
    const hunk = this.#hunk;
    this.#hunk = undefined;
    if (!hunk || this.#held === "") return;
    if (this.#streams) return this.#pass(hunk, this.#held.length);
    const { newStart: line, columns = 1 } = hunk;
    this.checker.wholeHunk(line, this.#held, columns);
    this.#secrets.see({ path: this.#path, line, text: this.#held, columns });
    this.#held = "";
  }

  /** Passes lines on; of a line that is longer than what may be held, what is there of it. */
  #pass(hunk: Hunk, end: number): void {
    const { columns = 1 } = hunk;
    const text = this.#held.slice(0, end || undefined);
    this.#held = this.#held.slice(text.length);
    if (!this.#streams) this.checker.hunk(hunk.newStart, columns);
    this.#streams = true;
    this.checker.push(text);
    this.#showSecrets(text, columns, end === 0);
  }

  /** Shows whole lines: one that is longer than what may be held is data. */
  #showSecrets(text: string, columns: number, cut: boolean): void {
    let rest = text;
    if (this.#begun !== undefined) {
      const newline = text.indexOf("\n") + 1;
      if (newline === 0) return;
      this.#line += newLines(this.#begun, columns);
      rest = text.slice(newline);
      this.#begun = undefined;
    }
    if (cut) this.#begun = rest.slice(0, columns);
    else {
      this.#secrets.see({ path: this.#path, line: this.#line, text: rest, columns });
      this.#line += newLines(rest, columns);
    }
  }
}

/** How many lines of a text are on the new side. */
function newLines(text: string, columns: number): number {
  let lines = 0;
  for (let at = 0; at < text.length;) {
    const marks = text.slice(at, at + columns);
    if (!marks.includes("-") && !marks.startsWith("\\")) lines++;
    const newline = text.indexOf("\n", at);
    at = newline < 0 ? text.length : newline + 1;
  }
  return lines;
}
