/** What the tests of patch.ts and diff.ts share: the cases, ways of cutting a patch, what a record must hold to itself. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { assert, assertEquals } from "@std/assert";
import { type FileDiff, hunkLines, type ParsedPatch, PatchParser, type PatchParserOptions } from "../diff.ts";
import { root } from "./support.ts";

/** A file as git says it is; `null` and what is absent is not judged. */
export interface ExpectedFile {
  path: string;
  oldPath: string | null;
  status: string | null;
  additions: number | null;
  deletions: number | null;
  binary: boolean | null;
  hunks?: number | null;
}

/** A patch of tests/fixtures/cases and what git says of it. */
export interface PatchCase {
  name: string;
  tier: "must" | "should" | "any";
  /** The command that made it. */
  made: string;
  /** What was done to its output. */
  filter?: string;
  files: ExpectedFile[];
  bytes: Uint8Array;
  text: string;
}

/** The patches of tests/fixtures/cases. */
export const patchCases: readonly PatchCase[] = readCases(join(root, "tests/fixtures/cases"));

function readCases(dir: string): PatchCase[] {
  return readdirSync(dir).filter((file) => file.endsWith(".diff")).sort().map((file) => {
    const name = file.slice(0, -".diff".length);
    const bytes = new Uint8Array(readFileSync(join(dir, file)));
    const expected = JSON.parse(readFileSync(join(dir, `${name}.expected.json`), "utf8")) as Omit<PatchCase, "name">;
    return { ...expected, name, bytes, text: decode(bytes) };
  });
}

/** The bytes as text, without eating a byte order mark. */
export function decode(bytes: Uint8Array): string {
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
}

/** The text as UTF-8. */
export function encode(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

/** Reads a patch that comes in these pieces. */
export function parsePieces(pieces: Iterable<Uint8Array | string>, options?: PatchParserOptions): ParsedPatch {
  const parser = new PatchParser(options);
  const files: FileDiff[] = [];
  for (const piece of pieces) files.push(...parser.push(piece));
  files.push(...parser.end());
  return { files, problems: parser.problems };
}

/** Cuts text or bytes before each of the places. */
export function cutAt<T extends Uint8Array | string>(whole: T, places: readonly number[]): T[] {
  const ends = [...places].sort((a, b) => a - b);
  return [0, ...ends].map((start, i) => whole.slice(start, ends[i] ?? whole.length) as T);
}

/** Pieces of `size` bytes or characters each. */
export function piecesOf<T extends Uint8Array | string>(whole: T, size: number): T[] {
  const pieces: T[] = [];
  for (let at = 0; at < whole.length; at += size) pieces.push(whole.slice(at, at + size) as T);
  return pieces;
}

/** Numbers from 0 to below 1 that are the same for the same seed (mulberry32). */
export function random(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** What holds of every record of a parser that keeps everything, whatever the patch holds. */
export function assertSound({ files, problems }: ParsedPatch): void {
  for (const file of files) {
    const { text, hunks } = file;
    assert(file.path !== "", "a file without a path");
    assertEquals(file.chars, text.length, "chars is the size of the text");
    assertEquals(file.lines, countLines(text), "lines are the lines of the text");
    assertEquals([file.hunkCount, file.hunksKept], [hunks.length, hunks.length]);
    assert(
      (file.status === "renamed" || file.status === "copied") || file.oldPath === undefined || file.oldPath !== "",
    );
    let [at, additions, deletions] = [0, 0, 0];
    for (const hunk of hunks) {
      assert(hunk.start >= at && hunk.end > hunk.start && hunk.end <= text.length, "hunks are in order");
      assert(text.startsWith("@@", hunk.start), "a hunk starts at its header");
      assertEquals(hunk.lines, countLines(text.slice(hunk.start, hunk.end)));
      at = hunk.end;
      additions += hunk.additions;
      deletions += hunk.deletions;
      const lines = [...hunkLines(text, hunk)];
      assertEquals(lines.filter(({ kind }) => kind === "addition").length, hunk.additions);
      assertEquals(lines.filter(({ kind }) => kind === "deletion").length, hunk.deletions);
    }
    assertEquals([file.additions, file.deletions], [additions, deletions], "the counts are the hunks' counts");
  }
  for (const { line, message } of problems) assert(line >= 1 && message !== "" && message.length < 400);
}

/** Lines of a text; the last one may have no newline. */
export function countLines(text: string): number {
  return text.split("\n").length - (text === "" || text.endsWith("\n") ? 1 : 0);
}
