/**
 * Files that a question brings along: `@path`, `@path:10-40`.
 *
 * @module
 */

import { readFile, realpath, stat } from "node:fs/promises";
import { isAbsolute, join, relative } from "node:path";
import { UsageError } from "./errors.ts";

/** Characters that a file may bring to a question. */
const MAX_CHARS = 200_000;

/** Bytes of a file beyond which it is not read. */
const MAX_BYTES = 20_000_000;

/** A piece of a file. */
export interface Attachment {
  /** `path`, or `path:10-40`. */
  name: string;
  text: string;
}

/**
 * Reads a file, or some of its lines.
 *
 * @param root Real path of the folder it must be in.
 * @param word Its path below the root, with lines from 1: `src/a.ts:10-40`.
 * @throws {UsageError} if it is outside, no regular file, too large, or has no such lines.
 */
export async function readAttachment(root: string, word: string): Promise<Attachment> {
  const match = /^(.*?)(?::(\d{1,9})(?:-(\d{1,9}))?)?$/s.exec(word);
  const path = match?.[1] ?? word;
  const text = await readInside(root, path);
  if (match?.[2] === undefined) return limited({ name: path, text });
  const [from, to] = [Number(match[2]), Number(match[3] ?? match[2])];
  const lines = text.split("\n");
  if (from < 1 || to < from || from > lines.length) {
    throw new UsageError(`"${path}" has no lines ${from} to ${to}`, { hint: `it has ${lines.length}` });
  }
  return limited({ name: `${path}:${from}-${Math.min(to, lines.length)}`, text: lines.slice(from - 1, to).join("\n") });
}

function limited(attachment: Attachment): Attachment {
  const { name, text } = attachment;
  if (text.length <= MAX_CHARS) return attachment;
  throw new UsageError(`Cannot attach "${name}": it has ${text.length} characters, more than ${MAX_CHARS}`, {
    hint: "take some of its lines: @path:1-200",
  });
}

async function readInside(root: string, path: string): Promise<string> {
  const file = await realpath(join(root, path)).catch((error: unknown) => {
    throw new UsageError(`Cannot attach "${path}"`, { cause: error, hint: `there is no such file below ${root}` });
  });
  const below = relative(await realpath(root), file);
  if (below === "" || below.startsWith("..") || isAbsolute(below) || below.split(/[\\/]/).includes(".git")) {
    throw new UsageError(`Cannot attach "${path}": it is outside the repository`);
  }
  // Before it is opened: a pipe would wait for somebody who writes.
  const found = await stat(file);
  if (!found.isFile()) throw new UsageError(`Cannot attach "${path}": it is no regular file`);
  if (found.size > MAX_BYTES) throw new UsageError(`Cannot attach "${path}": it has more than ${MAX_BYTES} bytes`);
  return await readFile(file, "utf8");
}
