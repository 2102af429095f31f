/**
 * What a finding is, whoever made it: a model's review, the summing up or a built-in check.
 *
 * @module
 */

/** How bad it is: 🔴, 🟠, 🟡. */
export type Severity = "bug" | "risk" | "nit";

/** Something that is wrong with a change. */
export interface Finding {
  /** How bad it is. */
  severity: Severity;
  /** Path of a file of the change; the old one if the file was deleted. */
  path?: string;
  /** The side that `line` and `endLine` count on. */
  side?: "new" | "old";
  /** First line, from 1. */
  line?: number;
  /** Last line, where there are several. */
  endLine?: number;
  /** One line. */
  title: string;
  /** Markdown; may be empty. */
  body: string;
  /** The code it is about, as it stands in the change. */
  quote?: string;
  /** What ties it to the change: its quote, its line, only its file, nothing. */
  anchor: "quote" | "line" | "file" | "none";
  /** Whether its quote or its line is in the change. Only then may it lead an exit code. */
  grounded: boolean;
  /** Who says it. */
  source: "model" | "summary" | "check";
  /** Id of the rule of a built-in check. */
  rule?: string;
  /** Numbers of the parts it was said in, from 1. */
  parts: number[];
}

/** A rule of the built-in checks, as it is listed. */
export interface Rule {
  /** Stable, kebab-case. */
  id: string;
  /** How bad what it finds is. */
  severity: Severity;
  /** Why it matters: one sentence. */
  why: string;
  /** The kinds of files it looks at. */
  files: string;
  /** Whether `octavo-ignore` can silence it: not where a secret is at stake. @default true */
  ignorable?: false;
}
