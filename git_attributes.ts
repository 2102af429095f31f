/**
 * What `.gitattributes` say of the files of a change: which are generated or vendored, and which are text that git
 * would hide behind "Binary files differ".
 *
 * @module
 */

import { Buffer } from "node:buffer";
import { bytesOf, diffArguments, type Git, piecesOf, type Sides, splitList } from "./git_command.ts";
import { treeIndex } from "./git_index.ts";
import { parseUnifiedDiff } from "./patch.ts";

/** What the attributes say of a change. */
export interface Attributes {
  /** Path to reason, of the files that are not worth reviewing. */
  reasons: Map<string, string>;
  /** The files whose text git would not show. */
  hidden: HiddenText;
}

/** The files that are text, and shown as binary because of an attribute `-diff`. */
export interface HiddenText {
  /** Their paths, as in the patch. */
  names: Set<string>;
  /** What limits a diff to them; none where that cannot be said in arguments. */
  paths: string[];
}

/** Attributes of GitHub's linguist, and what they make of a file. */
const REASONS = {
  "linguist-generated": "generated (.gitattributes)",
  "linguist-vendored": "vendored (.gitattributes)",
} as const;

/** Characters of paths that git gets as arguments; Linux allows 128 KiB for one, Windows 32 K for all. */
const MAX_ARGUMENT_CHARS = 20_000;

/**
 * Reads the attributes of the files that differ.
 *
 * @param base Full hash of the commit or tree whose attributes say what is generated, so that a change cannot take its
 * files out of the review itself. Without one it is the working tree's. What is hidden git decides by the working tree's
 * attributes in either case.
 * @throws {GitError} if git fails
 */
export async function readAttributes(git: Git, sides: Sides, base?: string): Promise<Attributes> {
  const listing = bytesOf(git, diffArguments(["--name-only", "-z", "--no-renames"], sides));
  const there = base === undefined ? undefined : baseAttributes(git, listing, base);
  there?.catch(() => {}); // thrown where it is awaited
  const reasons = new Map<string, string>();
  const unset = new Set<string>();
  try {
    const here = await checkAttributes(git, await listing);
    for (const { path, name, value } of here) if (name === "diff" && value === "unset") unset.add(path);
    for (const { path, name, value } of await there ?? here) {
      if (isReason(name) && (value === "set" || value === "true")) reasons.set(path, REASONS[name]);
    }
  } finally {
    await there?.catch(() => {}); // it has a folder to remove
  }
  return { reasons, hidden: await findHidden(git, sides, unset) };
}

function isReason(name: string): name is keyof typeof REASONS {
  return name in REASONS;
}

interface Attribute {
  path: string;
  name: string;
  value: string;
}

async function checkAttributes(git: Git, list: Uint8Array, cached: string[] = []): Promise<Attribute[]> {
  if (list.length === 0) return [];
  const args = ["check-attr", ...cached, "-z", "--stdin", "diff", ...Object.keys(REASONS)];
  const fields = splitList(await bytesOf(git, args, { input: list })).map(decode);
  const found: Attribute[] = [];
  for (let at = 0; at + 2 < fields.length; at += 3) {
    found.push({ path: fields[at]!, name: fields[at + 1]!, value: fields[at + 2]! });
  }
  return found;
}

/** The attributes as they are in a commit: git before 2.41 reads them only from the working tree or an index. */
async function baseAttributes(git: Git, listing: Promise<Uint8Array>, base: string): Promise<Attribute[]> {
  const index = await treeIndex(git, base); // while git lists the files
  try {
    return await checkAttributes(index.git, await listing, ["--cached"]);
  } finally {
    await index.remove();
  }
}

/** Which files whose attribute `diff` is unset are text: those whose diff as text has no NUL in it. */
async function findHidden(git: Git, sides: Sides, unset: ReadonlySet<string>): Promise<HiddenText> {
  const names = new Set<string>();
  if (unset.size === 0) return { names, paths: [] };
  // An attribute of the old path hides a renamed file as well. Both paths are needed to find the rename again.
  const pairs = readRaw(await bytesOf(git, diffArguments(["--raw", "-z"], sides)))
    .filter((pair) => pair.some((path) => unset.has(decode(path))));
  const candidates = new Set(pairs.map((pair) => decode(pair.at(-1)!)));
  const paths = asArguments(pairs.flat());
  for await (const { path, piece, hunks } of textPieces(git, sides, paths)) {
    if (hunks && candidates.has(path)) names.add(path);
    if (piece.includes(0)) candidates.delete(path), names.delete(path);
  }
  return { names, paths };
}

/** The diff, as text, of the files that are hidden. */
export async function* hiddenPieces(git: Git, sides: Sides, { names, paths }: HiddenText): AsyncGenerator<Uint8Array> {
  if (names.size === 0) return;
  for await (const { path, piece } of textPieces(git, sides, paths)) if (names.has(path)) yield piece;
}

interface FilePiece {
  /** Path of the file it belongs to. */
  path: string;
  piece: Uint8Array;
  /** Whether the file has hunks. */
  hunks: boolean;
}

async function* textPieces(git: Git, sides: Sides, paths: string[]): AsyncGenerator<FilePiece> {
  const limited = paths.length > 0 ? { ...sides, paths } : sides;
  let header: Buffer | undefined; // of the file we are in, as long as it is not complete
  let file = { path: "", hunks: false };
  for await (const { first, piece } of byFile(piecesOf(git, diffArguments(["--patch", "--text"], limited)))) {
    if (first && header) yield { ...describe(header), piece: header };
    if (!first && !header) {
      yield { ...file, piece };
      continue;
    }
    header = Buffer.concat(first || !header ? [piece] : [header, piece]);
    const end = header.indexOf("\n@@ ");
    if (end === -1) continue;
    file = { ...describe(header.subarray(0, end + 1)), hunks: true };
    yield { ...file, piece: header };
    header = undefined;
  }
  if (header) yield { ...describe(header), piece: header };
}

function describe(header: Uint8Array): { path: string; hunks: boolean } {
  return { path: parseUnifiedDiff(decode(header)).files[0]?.path ?? "", hunks: false };
}

const FILE_START = Buffer.from("\ndiff --git ");

/**
 * Cuts a patch where its files begin. In a patch that git wrote itself, every line of a hunk starts with one of ` +-\`,
 * so that a line `diff --git …` begins a file wherever it stands.
 */
export async function* byFile(
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<{ first: boolean; piece: Uint8Array }> {
  let rest = Buffer.from("\n"); // as if a line had ended before the first one
  let [first, skip] = [false, 1];
  for await (const chunk of chunks) {
    rest = Buffer.concat([rest, chunk]);
    for (let at = rest.indexOf(FILE_START); at !== -1; at = rest.indexOf(FILE_START)) {
      if (at + 1 > skip) yield { first, piece: rest.subarray(skip, at + 1) };
      [rest, first, skip] = [rest.subarray(at + 1), true, 0];
    }
    // The end may be the beginning of such a line.
    const sure = rest.length - FILE_START.length;
    if (sure <= skip) continue;
    yield { first, piece: rest.subarray(skip, sure) };
    [rest, first, skip] = [rest.subarray(sure), false, 0];
  }
  if (rest.length > skip) yield { first, piece: rest.subarray(skip) };
}

/** The paths of each entry of `git diff --raw -z`: one, or the old and the new one of a rename (git-diff-tree(1)). */
function readRaw(list: Uint8Array): Uint8Array[][] {
  const fields = splitList(list);
  const pairs: Uint8Array[][] = [];
  for (let at = 0; at < fields.length;) {
    const paths = /[RC][0-9]*$/.test(decode(fields[at]!)) ? 2 : 1;
    pairs.push(fields.slice(at + 1, at + 1 + paths));
    at += 1 + paths;
  }
  return pairs;
}

/** Paths as arguments; none where they are too long, or not UTF-8, which no argument can be. */
function asArguments(paths: Uint8Array[]): string[] {
  const words = paths.map(decode);
  const faithful = words.every((word, index) => Buffer.from(word).equals(paths[index]!));
  return faithful && words.join(" ").length <= MAX_ARGUMENT_CHARS ? words : [];
}

function decode(bytes: Uint8Array): string {
  return decoder.decode(bytes);
}

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
