/**
 * A plan without the secrets in it: what goes to an endpoint on another machine, and what findings are tied to.
 *
 * @module
 */

import type { Hunk, Part, PartFile, Plan } from "./diff.ts";
import type { Redactor } from "./secret_mask.ts";
import { type PlacedSecret, redact, type RedactedSecret } from "./secrets.ts";

/** A plan, and what was replaced in it. */
export interface RedactedPlan {
  /** As long as the original in lines, file for file. */
  plan: Plan;
  /** In the order of the plan. */
  secrets: PlacedSecret[];
}

/** Replaces the secrets in the diffs of all parts, and in names and reasons. The redactor learns them. */
export async function redactPlan(plan: Plan, redactor: Redactor): Promise<RedactedPlan> {
  const files = plan.parts.flatMap((part) => part.files);
  const { text, secrets } = await redact(files.map((file) => file.text).join(""), "diff");
  redactor.learn(secrets);
  const placed: PlacedSecret[] = [];
  const lines = text.split("\n");
  let first = 0;
  const redacted = new Map<PartFile, PartFile>();
  for (const file of files) {
    const end = first + countLines(file.text);
    const own = secrets.filter(({ line }) => line > first && line <= end);
    const path = await redactor.text(file.path);
    redacted.set(file, own.length === 0 ? file : moved(file, `${lines.slice(first, end).join("\n")}\n`));
    placed.push(...own.map((secret) => place(secret, secret.line - first, file, path)));
    first = end;
  }
  const parts = await Promise.all(plan.parts.map(async (part) => {
    const files = await Promise.all(part.files.map((file) => withNames(redacted.get(file)!, redactor)));
    return files.every((file, index) => file === part.files[index]) ? part : toPart(part.number, files);
  }));
  const [planned, problems] = [await redactor.deep(plan.files), await redactor.deep(plan.problems)];
  return { plan: { ...plan, parts, files: planned, problems }, secrets: distinct(placed) };
}

/** Each once: the headers of a file have its name several times. */
function distinct(secrets: readonly PlacedSecret[]): PlacedSecret[] {
  const key = ({ id, path, line, side }: PlacedSecret) => JSON.stringify([id, path, line, side]);
  return [...new Map(secrets.map((secret) => [key(secret), secret])).values()];
}

/** Line ends of a file's diff, which ends with one. */
function countLines(text: string): number {
  let lines = 0;
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) lines++;
  return lines;
}

/** The file with another text of the same lines: its hunks are where those lines are now. */
function moved(file: PartFile, text: string): PartFile {
  const [before, now] = [lineStarts(file.text), lineStarts(text)];
  const at = new Map(before.map((start, line) => [start, now[line]!]));
  const hunks = file.hunks.map((hunk): Hunk => ({
    ...hunk,
    start: at.get(hunk.start)!,
    end: at.get(hunk.end) ?? text.length,
  }));
  return { ...file, text, hunks };
}

/** Where each line starts, and where the text ends. */
function lineStarts(text: string): number[] {
  const starts = [0];
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
  return starts;
}

async function withNames(file: PartFile, redactor: Redactor): Promise<PartFile> {
  const path = await redactor.text(file.path);
  const oldPath = file.oldPath === undefined ? undefined : await redactor.text(file.oldPath);
  if (path === file.path && oldPath === file.oldPath) return file;
  return { ...file, path, ...(oldPath === undefined ? {} : { oldPath }) };
}

function toPart(number: number, files: PartFile[]): Part {
  const text = files.map((file) => file.text).join("");
  return { number, files, text, chars: text.length };
}

/** Where a line of a file's diff is in the file. */
function place({ id, title }: RedactedSecret, line: number, { text, hunks }: PartFile, path: string): PlacedSecret {
  const starts = lineStarts(text);
  const start = starts[line - 1]!;
  const hunk = hunks.find((hunk) => start > hunk.start && start < hunk.end);
  if (!hunk) return { id, title, path };
  let { oldStart: oldLine, newStart: newLine } = hunk;
  const columns = hunk.columns ?? 1;
  for (const before of starts.slice(starts.indexOf(hunk.start) + 1, line - 1)) {
    const marks = text.slice(before, before + columns);
    if (marks.startsWith("\\")) continue;
    if (!marks.includes("-")) newLine++;
    if (!marks.includes("+")) oldLine++;
  }
  return text.slice(start, start + columns).includes("-")
    ? { id, title, path, line: oldLine, side: "old" }
    : { id, title, path, line: newLine, side: "new" };
}
