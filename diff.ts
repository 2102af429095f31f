/**
 * What a review makes of a patch: noise, cut, pack, coverage, summary; all its numbers.
 *
 * Pure, and the one module that scripts import from a URL: it re-exports the parser.
 *
 * @example
 * ```ts
 * import { parseUnifiedDiff, planReview } from "./diff.ts";
 *
 * const { files } = parseUnifiedDiff("--- a/x.ts\n+++ b/x.ts\n@@ -1 +1 @@\n-1\n+2\n");
 * const plan = planReview(files);
 * console.log(plan.parts.length, plan.files[0]?.coverage); // 1 full
 * ```
 *
 * @module
 */

import {
  cutHunk,
  type FileDiff,
  type FileStatus,
  type Hunk,
  type ParsedPatch,
  PatchParser,
  type Problem,
} from "./patch.ts";

export * from "./patch.ts";

/** Most parts of a review. */
export const MAX_PARTS = 8;
/** Characters of diff in a part, unless set. */
export const DEFAULT_PART_CHARS = 16_000;
/** The least that a part may be set to, in characters. */
export const MIN_PART_CHARS = 2_000;
/** Most characters of one file, if half a part is not less. */
export const MAX_FILE_CHARS = 8_000;

/** How much of a file is reviewed. */
export type Coverage = "full" | "trimmed" | "skipped" | "unreviewed";

/** What a plan says of a file. */
export interface PlannedFile {
  /** The new path; the old one if the file was deleted. */
  path: string;
  /** The old path of a renamed or copied file. */
  oldPath?: string;
  /** What happened to it. */
  status: FileStatus;
  /** Lines added. */
  additions: number;
  /** Lines removed. */
  deletions: number;
  /** Whether the patch says that it is binary. */
  binary: boolean;
  /** How many hunks it has. */
  hunks: number;
  /** Size of its whole diff, in characters. */
  chars: number;
  /** How much of it is reviewed. */
  coverage: Coverage;
  /** Why it is skipped or unreviewed. */
  reason?: string;
  /** How many of its hunks are in a part; one that was cut counts. */
  hunksSent: number;
  /** Lines of its diff that are not sent, hunk headers included. */
  linesOmitted: number;
  /** Number of the part it is in, from 1. */
  part?: number;
}

/** A file in a part. */
export interface PartFile {
  /** The new path; the old one if the file was deleted. */
  path: string;
  /** The old path of a renamed or copied file. */
  oldPath?: string;
  /** What happened to it. */
  status: FileStatus;
  /** Its diff as it is in the part: for a trimmed one with a last line that says what is omitted. */
  text: string;
  /** The hunks in `text`. */
  hunks: Hunk[];
  /** Whether something of it is omitted. */
  trimmed: boolean;
}

/** The files of one request. */
export interface Part {
  /** From 1. */
  number: number;
  /** Its files, in the order of the patch. */
  files: PartFile[];
  /** Size of `text`, in characters. */
  chars: number;
  /** The texts of its files, one behind the other. */
  text: string;
}

/** What is sent, cut, skipped and left. */
export interface Plan {
  /** Every file of the patch, in its order. */
  files: PlannedFile[];
  /** What is sent, a request each: at most {@linkcode MAX_PARTS}. */
  parts: Part[];
  /** Counts over all files. */
  totals: { files: number; additions: number; deletions: number };
  /** Characters of diff in a part. */
  maxDiffChars: number;
  /** Characters of one file beyond which it is cut. */
  maxFileChars: number;
  /** The budget that was asked for, if the floor raised it. */
  raisedFrom?: number;
  /** What could not be read. */
  problems: Problem[];
}

/** Options of a plan. */
export interface PlanOptions {
  /**
   * Characters of diff in a part; below {@linkcode MIN_PART_CHARS} it is raised.
   * @default DEFAULT_PART_CHARS
   */
  maxDiffChars?: number;
  /**
   * Further noise: its reason. `false` takes a file in whatever the lists say, unless there is nothing in it to read.
   */
  skip?: (file: FileDiff) => string | false | undefined;
}

/** Reason of a file that no part has room for. */
export const TOO_LARGE = "too large for one review";

/** Names of lockfiles, in lower case. */
const LOCKFILES = new Set(
  `package-lock.json npm-shrinkwrap.json yarn.lock pnpm-lock.yaml bun.lock bun.lockb deno.lock
  cargo.lock gemfile.lock gems.locked poetry.lock uv.lock pdm.lock pipfile.lock pixi.lock conda-lock.yml
  composer.lock symfony.lock go.sum go.work.sum gopkg.lock glide.lock flake.lock
  packages.lock.json project.assets.json paket.lock podfile.lock cartfile.resolved package.resolved pubspec.lock
  mix.lock rebar.lock gradle.lockfile buildscript-gradle.lockfile conan.lock renv.lock stack.yaml.lock
  cabal.project.freeze shard.lock chart.lock module.bazel.lock .terraform.lock.hcl nimble.lock lake-manifest.json
  devbox.lock brewfile.lock.json dub.selections.json mise.lock`.split(/\s+/),
);

const BUILD_FOLDERS = new Set(["node_modules", "vendor", "dist", "build", "out", ".next", "target"]);

/** Endings of files that are no text, or text that nobody reads; in lower case. */
const ASSETS = new Set(
  `png jpg jpeg gif webp avif heic bmp tif tiff ico icns svg psd ai eps sketch fig xcf pdf ttf otf woff woff2 eot
  zip gz tgz bz2 xz zst 7z rar tar jar war ear whl gem nupkg deb rpm apk ipa dmg iso
  mp3 m4a aac wav flac ogg opus mp4 m4v mov avi mkv webm
  so dylib dll exe lib a o obj class pyc pyo wasm node pdb bin dat
  sqlite sqlite3 db parquet npy npz onnx safetensors glb fbx blend`.split(/\s+/),
);

/**
 * Why a file is not worth a model's attention.
 *
 * @example
 * ```ts
 * import { noiseReason, parseUnifiedDiff } from "./diff.ts";
 *
 * const { files } = parseUnifiedDiff("--- a/go.sum\n+++ b/go.sum\n@@ -1 +1 @@\n-1\n+2\n");
 * console.log(noiseReason(files[0]!)); // lockfile
 * ```
 *
 * @returns The reason, in words to print, or `undefined` if it is no noise.
 */
export function noiseReason(file: FileDiff): string | undefined {
  return nothingToRead(file, "binary") ?? pathReason(file.path) ?? nothingToRead(file, "empty");
}

/** What holds for a file whatever a user asks for: there is no text in it. */
function nothingToRead(file: FileDiff, kind: "binary" | "empty"): string | undefined {
  if (kind === "binary") return file.binary ? "binary" : undefined;
  if (file.hunkCount > 0) return undefined;
  if (file.status === "renamed" || file.status === "copied") return `${file.status} without changes`;
  if (file.status === "modified" && file.oldMode !== file.newMode) return "mode change only";
  return file.status === "modified" ? "no content change" : "empty file";
}

function pathReason(path: string): string | undefined {
  const folders = path.split("/");
  const name = folders.pop()!.toLowerCase();
  if (LOCKFILES.has(name)) return "lockfile";
  if (/\.min\.(js|css|mjs|cjs)$/.test(name)) return "minified";
  if (/\.(js|css|mjs|cjs|ts)\.map$/.test(name)) return "source map";
  if (name.endsWith(".snap") || folders.includes("__snapshots__")) return "snapshot";
  if (folders.some((folder) => BUILD_FOLDERS.has(folder))) return "build output";
  const dot = name.lastIndexOf(".");
  return dot >= 0 && ASSETS.has(name.slice(dot + 1)) ? "asset" : undefined;
}

/** What is left of a file that was cut. */
export interface CutFile {
  /** Headers and whole hunks; without the line that says what is omitted. */
  text: string;
  /** The hunks in `text`. */
  hunks: Hunk[];
  /** How many those are. */
  hunksSent: number;
  /** Lines of the file's diff that are not in `text`, hunk headers included. */
  linesOmitted: number;
}

/**
 * Whole hunks of a file from its beginning, as many as end within `maxChars`. The first one is always there; if it does
 * not end within, no more of it than {@linkcode MAX_HUNK_CHARS}, cut at a line end.
 *
 * @example
 * ```ts
 * import { parseUnifiedDiff, truncateFileDiff } from "./diff.ts";
 *
 * const [file] = parseUnifiedDiff("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-1\n+2\n@@ -9 +9 @@\n-9\n+8\n").files;
 * const { text, linesOmitted } = truncateFileDiff(file!, 40);
 * console.log(text.length, linesOmitted); // 34 3
 * ```
 */
export function truncateFileDiff(file: FileDiff, maxChars: number): CutFile {
  const { hunks, text } = file;
  const first = hunks[0];
  if (!first) return { text, hunks, hunksSent: 0, linesOmitted: 0 };
  const headerLines = countLines(text.slice(0, first.start));
  const head = text.slice(first.start, first.end);
  const cut = first.end <= maxChars ? head : cutHunk(head);
  if (cut.length < first.end - first.start) {
    const partial = { ...first, end: first.start + cut.length, lines: countLines(cut) };
    return {
      text: text.slice(0, partial.end),
      hunks: [partial],
      hunksSent: 1,
      linesOmitted: file.lines - headerLines - partial.lines,
    };
  }
  let sent = 1;
  while (sent < file.hunksKept && hunks[sent]!.end <= maxChars) sent++;
  if (sent === file.hunkCount) return { text, hunks, hunksSent: sent, linesOmitted: 0 };
  const kept = hunks.slice(0, sent);
  const lines = kept.reduce((sum, hunk) => sum + hunk.lines, headerLines);
  return { text: text.slice(0, kept[sent - 1]!.end), hunks: kept, hunksSent: sent, linesOmitted: file.lines - lines };
}

function countLines(text: string): number {
  let lines = 0;
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) lines++;
  return lines + (text !== "" && !text.endsWith("\n") ? 1 : 0);
}

/**
 * Plans a review of whole records, as {@linkcode ReviewPlanner} does of a stream.
 *
 * @example
 * ```ts
 * import { parseUnifiedDiff, planReview } from "./diff.ts";
 *
 * const plan = planReview(parseUnifiedDiff("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-1\n+2\n"), { maxDiffChars: 4_000 });
 * console.log(plan.parts[0]?.text.length, plan.totals); // 34 { files: 1, additions: 1, deletions: 1 }
 * ```
 *
 * @param patch The records, or all that was read of a patch: then its problems are the plan's.
 * @throws {RangeError} If `maxDiffChars` is no number.
 */
export function planReview(patch: Iterable<FileDiff> | ParsedPatch, options: PlanOptions = {}): Plan {
  const planner = new ReviewPlanner(options);
  const { files, problems } = "files" in patch ? patch : { files: patch, problems: [] };
  for (const file of files) planner.add(file);
  const plan = planner.end();
  plan.problems.push(...problems);
  return plan;
}

/**
 * Plans a review of a patch that comes in pieces: `push` the pieces, or `add` files that were parsed elsewhere, then
 * `end`. What is not sent is counted and dropped.
 *
 * @example
 * ```ts
 * import { ReviewPlanner } from "./diff.ts";
 *
 * const planner = new ReviewPlanner({ skip: ({ path }) => path.startsWith("docs/") ? "documentation" : undefined });
 * for (const piece of ["--- a/docs/x\n+++ b/docs/x\n@@ -1", " +1 @@\n-1\n+2\n"]) planner.push(piece);
 * console.log(planner.end().files[0]?.reason); // documentation
 * ```
 */
export class ReviewPlanner {
  readonly #skip: NonNullable<PlanOptions["skip"]>;
  readonly #onFile: (file: FileDiff) => void;
  readonly #parser: PatchParser;
  readonly #plan: Plan;
  /** Reasons that were asked for: whoever skips files may look at many globs for it. */
  readonly #reasons = new WeakMap<FileDiff, { reason: string | undefined }>();
  /** The last part is closed. */
  #full = false;

  /**
   * Begins a plan. `onFile` sees each record before its text is dropped.
   *
   * @throws {RangeError} If `maxDiffChars` is no number.
   */
  constructor(options: PlanOptions & { onFile?: (file: FileDiff) => void } = {}) {
    const { maxDiffChars: asked = DEFAULT_PART_CHARS, skip, onFile } = options;
    if (Number.isNaN(asked)) throw new RangeError("maxDiffChars is not a number of characters");
    const maxDiffChars = Math.max(asked, MIN_PART_CHARS);
    this.#skip = skip ?? (() => undefined);
    this.#onFile = onFile ?? (() => {});
    this.#parser = new PatchParser({ keep: (file) => this.keep(file) });
    this.#plan = {
      files: [],
      parts: [],
      totals: { files: 0, additions: 0, deletions: 0 },
      maxDiffChars,
      maxFileChars: Math.min(MAX_FILE_CHARS, Math.floor(maxDiffChars / 2)),
      ...(asked < MIN_PART_CHARS ? { raisedFrom: asked } : {}),
      problems: [],
    };
  }

  /** How much of a file the plan needs, in characters: what a parser asks. */
  keep(file: FileDiff): number {
    return this.#full || this.reason(file) !== undefined ? 0 : this.#plan.maxFileChars;
  }

  /** Why a file is noise for this plan. `skip` is asked once a file. */
  reason(file: FileDiff): string | undefined {
    const known = this.#reasons.get(file) ?? { reason: this.#noise(file) };
    this.#reasons.set(file, known);
    return known.reason;
  }

  #noise(file: FileDiff): string | undefined {
    const given = this.#skip(file);
    if (given === false) return nothingToRead(file, "binary") ?? nothingToRead(file, "empty");
    return noiseReason(file) ?? given;
  }

  /** Takes the next piece of the patch. */
  push(piece: Uint8Array | string): void {
    for (const file of this.#parser.push(piece)) this.add(file);
  }

  /** Takes a file that was parsed elsewhere. */
  add(file: FileDiff): void {
    this.#onFile(file);
    const { files, totals } = this.#plan;
    totals.files++;
    totals.additions += file.additions;
    totals.deletions += file.deletions;
    const reason = this.reason(file);
    if (reason !== undefined) files.push(planned(file, "skipped", reason));
    else {
      const cut = truncateFileDiff(file, this.#plan.maxFileChars);
      const part = this.#full ? undefined : this.#pack(file, cut);
      files.push(
        part === undefined ? planned(file, "unreviewed", TOO_LARGE) : {
          ...planned(file, cut.linesOmitted > 0 ? "trimmed" : "full"),
          hunksSent: cut.hunksSent,
          linesOmitted: cut.linesOmitted,
          part,
        },
      );
    }
  }

  /** Says that the patch is over. */
  end(): Plan {
    for (const file of this.#parser.end()) this.add(file);
    this.#plan.problems.push(...this.#parser.problems);
    for (const part of this.#plan.parts) part.text = part.files.map(({ text }) => text).join("");
    return this.#plan;
  }

  /** Puts a file into the current part, or begins one; gives its number, or `undefined` if there is no more room. */
  #pack(file: FileDiff, cut: CutFile): number | undefined {
    const { parts, maxDiffChars } = this.#plan;
    const partFile = toPartFile(file, cut);
    let part = parts[parts.length - 1];
    if (!part || part.chars + partFile.text.length > maxDiffChars) {
      if (parts.length === MAX_PARTS) {
        this.#full = true;
        return undefined;
      }
      part = { number: parts.length + 1, files: [], chars: 0, text: "" };
      parts.push(part);
    }
    part.files.push(partFile);
    part.chars += partFile.text.length;
    return part.number;
  }
}

function planned(file: FileDiff, coverage: Coverage, reason?: string): PlannedFile {
  const { path, oldPath, status, additions, deletions, binary, hunkCount, chars, lines } = file;
  return {
    path,
    ...(oldPath === undefined ? {} : { oldPath }),
    status,
    additions,
    deletions,
    binary,
    hunks: hunkCount,
    chars,
    coverage,
    ...(reason === undefined ? {} : { reason }),
    hunksSent: 0,
    linesOmitted: lines,
  };
}

function toPartFile(file: FileDiff, { text, hunks, hunksSent, linesOmitted }: CutFile): PartFile {
  const { path, oldPath, status } = file;
  const ended = text.endsWith("\n") ? text : `${text}\n`;
  return {
    path,
    ...(oldPath === undefined ? {} : { oldPath }),
    status,
    text: linesOmitted === 0 ? ended : `${ended}${omission(file, hunksSent, linesOmitted)}\n`,
    hunks,
    trimmed: linesOmitted > 0,
  };
}

/** The last line of a file that was cut. A body's line cannot begin like it. */
function omission({ path, hunkCount }: FileDiff, hunksSent: number, linesOmitted: number): string {
  const left = hunkCount - hunksSent;
  const what = left === 0 ? "the rest of the hunk" : count(left, "hunk");
  return `… ${what} (${count(linesOmitted, "line")}) of ${oneLine(path)} omitted`;
}

/** Rows of reviewed files in a summary. */
const MAX_SUMMARY_ROWS = 40;
/** Skipped files that a summary names. */
const MAX_SUMMARY_SKIPPED = 12;

/**
 * What a change is and what of it is reviewed, in Markdown: the first message of a conversation. The diff is not in it.
 */
export function summarizeReview(plan: Plan, title: string): string {
  const { files, totals } = plan;
  const reviewed = files.filter(({ coverage }) => coverage === "full" || coverage === "trimmed");
  const skipped = files.filter(({ coverage }) => coverage === "skipped");
  const unreviewed = files.filter(({ coverage }) => coverage === "unreviewed");
  const blocks = [
    `# ${oneLine(title)}`,
    `${count(totals.files, "file")} changed, ${count(totals.additions, "line")} added, ${
      count(totals.deletions, "line")
    } removed.`,
  ];
  if (reviewed.length > 0) {
    const rows = reviewed.slice(0, MAX_SUMMARY_ROWS).map((file) =>
      `| ${cell(file)} | ${file.status}${file.coverage === "trimmed" ? " (trimmed)" : ""} | ${lineCounts(file)} |`
    );
    blocks.push(["| File | Status | Lines |", "|---|---|---|", ...rows].join("\n"));
    if (reviewed.length > rows.length) blocks.push(`and ${reviewed.length - rows.length} more`);
  }
  if (skipped.length > 0) blocks.push(list("Skipped", skipped, MAX_SUMMARY_SKIPPED));
  if (unreviewed.length > 0) blocks.push(list("Not reviewed", unreviewed, MAX_SUMMARY_ROWS));
  return `${blocks.join("\n\n")}\n`;
}

function list(title: string, files: readonly PlannedFile[], most: number): string {
  const rows = files.slice(0, most).map((file) => `- ${code(file.path)}: ${file.reason}`);
  if (files.length > most) rows.push(`- and ${files.length - most} more`);
  return `${title}:\n\n${rows.join("\n")}`;
}

function cell({ path, oldPath }: PlannedFile): string {
  const name = oldPath === undefined ? code(path) : `${code(oldPath)} → ${code(path)}`;
  // In a table a bar is escaped, also in code, and so are the backslashes before it (GFM, section 4.10).
  return name.replace(/(\\*)\|/g, "$1$1\\|");
}

/** Lines added and removed, as `+n −m`. */
export function lineCounts({ additions, deletions }: { additions: number; deletions: number }): string {
  return `+${additions} −${deletions}`;
}

/** A name as code in Markdown, whatever it holds. */
function code(text: string): string {
  const mark = "`".repeat(longestRun(text) + 1);
  const content = oneLine(text);
  return mark.length > 1 ? `${mark} ${content} ${mark}` : `${mark}${content}${mark}`;
}

/** A name in one line, as it stands there: it may hold any character but NUL, also those that turn a line's direction. */
function oneLine(text: string): string {
  // deno-lint-ignore no-control-regex
  return text.replace(/[\u0000-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]+/g, " ");
}

function count(n: number, noun: string): string {
  return `${n} ${noun}${n === 1 ? "" : "s"}`;
}

/**
 * What of a plan is reviewed, in one line.
 *
 * @returns Such as `12 of 14 files reviewed in full, 1 trimmed (341 lines), 1 skipped (lockfile)`.
 */
export function coverageLine({ files }: Pick<Plan, "files">): string {
  const of = (coverage: Coverage) => files.filter((file) => file.coverage === coverage);
  const [trimmed, skipped, unreviewed] = [of("trimmed"), of("skipped"), of("unreviewed")];
  const words = [`${of("full").length} of ${count(files.length, "file")} reviewed in full`];
  if (trimmed.length > 0) {
    words.push(
      `${trimmed.length} trimmed (${count(trimmed.reduce((sum, file) => sum + file.linesOmitted, 0), "line")})`,
    );
  }
  if (skipped.length > 0) words.push(`${skipped.length} skipped (${reasons(skipped)})`);
  if (unreviewed.length > 0) words.push(`${unreviewed.length} not reviewed (${reasons(unreviewed)})`);
  return words.join(", ");
}

function reasons(files: readonly PlannedFile[]): string {
  const counts = new Map<string, number>();
  for (const { reason } of files) counts.set(reason!, (counts.get(reason!) ?? 0) + 1);
  if (counts.size === 1) return [...counts.keys()].join();
  return [...counts].sort(([, a], [, b]) => b - a).map(([reason, n]) => `${n} ${reason}`).join(", ");
}

/** One line of a hunk. */
export interface HunkLine {
  /** On which sides it is. */
  kind: "context" | "addition" | "deletion";
  /** The line without its marker and line end. */
  text: string;
  /** Its number on the old side, if it is there. */
  oldLine?: number;
  /** Its number on the new side, if it is there. */
  newLine?: number;
}

/**
 * The lines of a hunk, with their numbers on both sides. Of a combined diff only the new side has numbers.
 *
 * @example
 * ```ts
 * import { hunkLines, parseUnifiedDiff } from "./diff.ts";
 *
 * const [file] = parseUnifiedDiff("--- a/x\n+++ b/x\n@@ -7 +7,2 @@\n 1\n+2\n").files;
 * for (const { kind, text, newLine } of hunkLines(file!.text, file!.hunks[0]!)) console.log(newLine, kind, text);
 * ```
 *
 * @param text Text of the hunk's file. What of the hunk is not in it gives no lines.
 */
export function* hunkLines(text: string, hunk: Hunk): Generator<HunkLine> {
  const { columns = 1 } = hunk;
  let { oldStart: oldLine, newStart: newLine } = hunk;
  let position = text.indexOf("\n", hunk.start) + 1;
  while (position > 0 && position < hunk.end) {
    const newline = text.indexOf("\n", position);
    const end = newline < 0 || newline >= hunk.end ? hunk.end : newline;
    const line = text.slice(position, end);
    position = end + 1;
    if (line.startsWith("\\")) continue;
    const marks = line.slice(0, columns);
    const content = line.slice(columns).replace(/\r$/, "");
    const old = columns === 1 ? { oldLine } : {};
    if (marks.includes("-")) {
      yield { kind: "deletion", text: content, ...old };
      oldLine++;
    } else if (marks.includes("+")) yield { kind: "addition", text: content, newLine: newLine++ };
    else {
      yield { kind: "context", text: content, ...old, newLine: newLine++ };
      oldLine++;
    }
  }
}

/** Backticks that no line of a text can close as a Markdown fence (CommonMark, section 4.5): at least three. */
export function fenceMarker(text: string): string {
  return "`".repeat(Math.max(3, longestRun(text) + 1));
}

function longestRun(text: string): number {
  let longest = 0;
  for (let at = text.indexOf("`"); at >= 0; at = text.indexOf("`", at)) {
    const start = at;
    while (text[at] === "`") at++;
    longest = Math.max(longest, at - start);
  }
  return longest;
}
