/**
 * The diff that a report shows: collected while the patch streams to the review, as much of it as can be looked at.
 *
 * @module
 */

import { type FileDiff, MAX_FILE_CHARS, noiseReason, parseUnifiedDiff, PatchParser } from "./diff.ts";

/** Characters of diff that are kept of a change: what a page can hold. */
const MAX_SHOWN_CHARS = 4_000_000;

/** A patch that is collected on its way. */
export interface CollectedDiff {
  /** The same patch. */
  chunks: AsyncIterable<Uint8Array>;
  /** Once the patch has been read: its files, with as many whole hunks in their text as are shown. */
  files(): readonly FileDiff[];
}

/** How a patch is collected. */
export interface CollectOptions {
  /** What is not to be shown is taken out of a text; its lines stay. @default nothing */
  clean?: (text: string) => Promise<string>;
}

/** Collects the diff of a patch while somebody else reads it: of each file what a part could have of it. */
export function collectDiff(chunks: AsyncIterable<Uint8Array>, options: CollectOptions = {}): CollectedDiff {
  const { clean } = options;
  let files: FileDiff[] = [];
  let chars = 0;
  const parser = new PatchParser({
    keep: (file) => chars > MAX_SHOWN_CHARS || noiseReason(file) !== undefined ? 0 : MAX_FILE_CHARS,
  });
  const take = (found: FileDiff[]) => {
    for (const file of found) chars += file.text.length;
    files.push(...found);
  };
  return {
    chunks: async function* () {
      for await (const chunk of chunks) {
        take(parser.push(chunk));
        yield chunk;
      }
      take(parser.end());
      if (clean) files = await Promise.all(files.map((file) => cleaned(file, clean)));
    }(),
    files: () => files,
  };
}

/** The hunks are where they are in the text that is left. */
async function cleaned(file: FileDiff, clean: (text: string) => Promise<string>): Promise<FileDiff> {
  const text = await clean(file.text);
  if (text === file.text) return file;
  const hunks = parseUnifiedDiff(text).files[0]?.hunks ?? [];
  return { ...file, text, hunks, hunksKept: hunks.length };
}
