/**
 * Reports beside the one on stdout: the files of `--report`, and the summary of a GitHub Actions step.
 *
 * @module
 */

import { randomUUID } from "node:crypto";
import { appendFile, lstat, open, rename, rm, stat, writeFile } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { UsageError } from "./errors.ts";
import type { Env } from "./paths.ts";
import type { Report, ReviewEvent } from "./report.ts";
import { createFormatter, type Format, type Formatter, type FormatterOptions } from "./reports.ts";
import { FORMATS } from "./settings.ts";

/** Formats by the endings of files; the first that fits. */
const ENDINGS: readonly (readonly [ending: string, format: Format])[] = [
  [".sarif", "sarif"],
  [".sarif.json", "sarif"],
  [".html", "html"],
  [".htm", "html"],
  [".jsonl", "jsonl"],
  [".rdjsonl", "rdjsonl"],
  [".json", "json"],
  [".md", "markdown"],
  [".markdown", "markdown"],
];

/** A file to write. */
export interface ReportFile {
  format: Format;
  /** Absolute. */
  path: string;
}

/**
 * Reads `[FORMAT:]FILE`.
 *
 * @param dir Folder that a relative path is below.
 * @throws {UsageError} if neither a format nor the ending says what to write.
 */
export function readReportFile(text: string, dir: string): ReportFile {
  const prefix = /^([a-z]{2,}):/.exec(text)?.[1]; // one letter is a drive
  const named = FORMATS.find((format) => format === prefix);
  if (prefix !== undefined && named === undefined) {
    throw new UsageError(`Unknown format "${prefix}" in --report "${text}"`, {
      hint: `there are: ${FORMATS.join(", ")}; a file of that name is "./${text}"`,
    });
  }
  const file = named === undefined ? text : text.slice(named.length + 1);
  if (file === "" || file === "-") {
    throw new UsageError(`--report "${text}" names no file`, { hint: "what stdout is, --format says" });
  }
  const name = basename(file).toLowerCase();
  const format = named ?? ENDINGS.find(([ending]) => name.endsWith(ending))?.[1];
  if (format === undefined) {
    throw new UsageError(`--report "${text}" does not say in which format`, {
      hint: `put one in front, such as "gitlab:${file}"; known by their endings: ${
        ENDINGS.map(([ending]) => ending).join(", ")
      }`,
    });
  }
  return { format, path: resolve(dir, file) };
}

/** A report that is made while the review runs. */
export interface OpenReport {
  /** Takes the next event. */
  take(event: ReviewEvent): void;
  /**
   * Writes it, if the review came to its end, complete or not.
   *
   * @returns What failed.
   */
  finish(): Promise<string | undefined>;
  /** Asked for by nobody: that it cannot be written is no failure of the run. */
  readonly extra: boolean;
}

/** What {@linkcode openReports} opens. */
export interface OpenOptions extends FormatterOptions {
  /** As `[FORMAT:]FILE`. */
  files: readonly ReportFile[];
  env: Env;
}

/**
 * Reads the values of `--report`.
 *
 * @throws {UsageError} for a wrong one, and for two that name the same file.
 */
export function readReportFiles(texts: readonly string[], dir: string): ReportFile[] {
  const files = [...new Set(texts)].map((text) => readReportFile(text, dir));
  for (const [index, { path, format }] of files.entries()) {
    const other = files.findIndex((file) => file.path === path);
    if (other < index && files[other]!.format !== format) {
      throw new UsageError(`Two reports go to the same file "${path}"`);
    }
  }
  return files.filter(({ path }, index) => files.findIndex((file) => file.path === path) === index);
}

/**
 * Makes sure that the reports can be written, and begins them.
 *
 * @throws {UsageError} for a file that cannot be written.
 */
export async function openReports({ files, env, diff }: OpenOptions): Promise<OpenReport[]> {
  const reports = await Promise.all(files.map(async ({ format, path }) => {
    const place = await probe(path);
    const formatter = await createFormatter(format, { diff });
    return { ...collect(formatter, (text) => writeReport(path, place, text)), extra: false };
  }));
  const summary = summaryFile(env);
  if (summary === undefined) return reports;
  const formatter = withTitle(await createFormatter("markdown"));
  return [...reports, { ...collect(formatter, (text) => appendSummary(summary, text)), extra: true }];
}

/** Where the summary of this step goes, in GitHub Actions. */
export function summaryFile(env: Env): string | undefined {
  return env.GITHUB_ACTIONS === "true" ? env.GITHUB_STEP_SUMMARY || undefined : undefined;
}

/** Gathers a text, and writes it if the last event came. */
function collect(
  formatter: Formatter,
  write: (text: string) => Promise<string | undefined>,
): Omit<OpenReport, "extra"> {
  const pieces: string[] = [];
  let last: Report | undefined;
  return {
    take(event) {
      pieces.push(formatter(event));
      if (event.type === "end") last = event.report;
    },
    finish: async () => last === undefined ? undefined : await write(pieces.join("")),
  };
}

/** A file is replaced in one step; a device, a pipe or a socket is written to. */
type Place = "file" | "device";

/** Whether a file can be written, found out by writing one beside it. */
async function probe(path: string): Promise<Place> {
  const folder = dirname(path);
  const refuse = (why: string, error: unknown, hint?: string) =>
    new UsageError(`Cannot write the report "${path}": ${why}`, {
      cause: error,
      ...(hint === undefined ? {} : { hint }),
    });
  const there = await lstat(path).catch(() => undefined);
  if (there?.isDirectory()) throw refuse("it is a folder", undefined);
  // /dev/stdout and /dev/fd/63 are links; any other link is replaced, not followed: a repository may have put it there.
  if (there && !there.isFile() && (!there.isSymbolicLink() || path.startsWith("/dev/"))) return "device";
  if (!(await stat(folder).catch(() => undefined))?.isDirectory()) {
    throw refuse(`there is no folder "${folder}"`, undefined, "make it first");
  }
  const partial = partialName(path);
  try {
    await (await open(partial, "wx")).close();
    await rm(partial);
  } catch (error) {
    throw refuse(messageOf(error), error);
  }
  return "file";
}

/** A name that nobody has, in the same folder: only there a rename is one step. */
function partialName(path: string): string {
  return join(dirname(path), `.${basename(path)}.${randomUUID().slice(0, 8)}.part`);
}

async function writeReport(path: string, place: Place, text: string): Promise<string | undefined> {
  if (place === "device") return await attempt(path, () => writeFile(path, text));
  const partial = partialName(path);
  const failure = await attempt(path, async () => {
    await writeFile(partial, text, { flag: "wx" });
    await rename(partial, path);
  });
  if (failure !== undefined) await rm(partial, { force: true }).catch(() => {}); // what failed is said already
  return failure;
}

async function attempt(path: string, write: () => Promise<void>): Promise<string | undefined> {
  try {
    await write();
  } catch (error) {
    return `Cannot write the report "${path}": ${messageOf(error)}`;
  }
  return undefined;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Bytes of a step's summary beyond which GitHub shows none of it (GitHub Docs, "Adding a job summary"). */
const MAX_SUMMARY_BYTES = 1_048_576;

const CUT_NOTE = "\n\n> **Cut here**: GitHub shows 1 MiB of a step's summary. `--report FILE.md` has all of it.\n";

async function appendSummary(path: string, text: string): Promise<string | undefined> {
  return await attempt(path, async () => {
    const { size } = await stat(path).catch(() => ({ size: 0 }));
    await appendFile(path, cutSummary(text, MAX_SUMMARY_BYTES - size));
  });
}

/**
 * A summary that fits, cut at the end of a line, with a note that says so.
 *
 * @param room Bytes that are left.
 */
export function cutSummary(text: string, room: number): string {
  const bytes = new TextEncoder().encode(text);
  if (bytes.length <= room) return text;
  const FENCE_BYTES = 100; // closing one, of backticks or tildes
  const kept = room - CUT_NOTE.length - FENCE_BYTES;
  if (kept <= 0) return CUT_NOTE.length <= room ? CUT_NOTE : "";
  const head = new TextDecoder().decode(bytes.subarray(0, bytes.lastIndexOf(0x0a, kept) + 1));
  return head + closeFence(head).slice(0, FENCE_BYTES) + CUT_NOTE;
}

/** What closes the fence that is open at the end of a text, so that what follows is not code. */
function closeFence(text: string): string {
  let open: string | undefined;
  for (const [, marker = "", info = ""] of text.matchAll(/^ {0,3}(`{3,}|~{3,})(.*)$/gm)) {
    if (open === undefined) open = marker;
    else if (marker.startsWith(open) && info.trim() === "") open = undefined;
  }
  return open === undefined ? "" : `${open}\n`;
}

/** A summary stands among those of other steps: it says what it is about. */
function withTitle(formatter: Formatter): Formatter {
  let title = "";
  let begun = false;
  return (event) => {
    if (event.type === "source") title = event.title;
    const text = formatter(event);
    if (begun || text === "") return text;
    begun = true;
    const planned = event.type === "end" && event.report.status === "planned"; // a plan brings its title
    return planned ? text : `# octavo: ${title.replace(/[\s<>&[\]`*_]+/g, " ").trim()}\n\n${text}`;
  };
}
