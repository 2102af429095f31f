/**
 * `@diff:path`: the hunks of a file of a saved review again, by making its patch again.
 *
 * @module
 */

import type { Attachment } from "./attachments.ts";
import { type Context, notice } from "./command.ts";
import type { Conversation } from "./conversation.ts";
import { type FileDiff, PatchParser, type Plan } from "./diff.ts";
import { UsageError } from "./errors.ts";
import { readRecipe } from "./keeper.ts";
import { planSource } from "./plan.ts";
import { partHash } from "./review.ts";
import { nearest } from "./settings.ts";
import { openSource, type Source } from "./sources.ts";

/** Characters of a file's diff that a question may bring: whole hunks up to there. */
const MAX_CHARS = 200_000;

/** Files that an error names. */
const MAX_NAMED = 10;

/** What marks the path of a file whose diff is meant. */
export const DIFF_MARK = "diff:";

/**
 * The diffs of files that a review was about. Where the patch has changed since, that is said.
 *
 * @param paths Paths of the files, new or old.
 * @throws {UsageError} if the patch cannot be made again, or has no such file.
 */
export async function readDiffAttachments(
  context: Context,
  conversation: Conversation,
  paths: readonly string[],
  signal: AbortSignal,
): Promise<Attachment[]> {
  if (paths.length === 0) return [];
  const { plan, files } = await makeAgain(context, conversation, paths, signal);
  const attachments: Attachment[] = [];
  for (const path of paths) {
    const file = files.find((one) => isAt(one, path));
    if (!file) throw unknownFile(path, plan);
    if (hasChanged(conversation, plan, file.path)) {
      await notice(context, `the diff of "${path}" is not the reviewed one any more: it is attached as it is now`);
    }
    const omitted = file.hunks.length - file.hunksKept;
    if (omitted > 0) {
      await notice(context, `${omitted} of ${file.hunks.length} hunks of "${path}" are left out: too large`);
    }
    attachments.push({ name: `the diff of ${file.path}`, text: file.text });
  }
  return attachments;
}

/** The plan of the review, and the whole diffs of some of its files. */
async function makeAgain(
  { world, dir, config: { options } }: Context,
  conversation: Conversation,
  paths: readonly string[],
  signal: AbortSignal,
): Promise<{ plan: Plan; files: FileDiff[] }> {
  const { source: request, exclude, include } = readRecipe(conversation);
  if (request.kind === "diff" && request.file === "-") {
    throw new UsageError("The patch came on standard input and is not kept, so there is no diff to attach", {
      hint: "pipe it in again: … | octavo ask",
    });
  }
  const source = await openSource(request, {
    dir: conversation.repository ?? dir,
    env: world.env,
    signal,
    stdin: world.stdin.read,
    githubToken: options.githubToken,
  });
  const hidden = await source.hidden;
  const parser = new PatchParser({ keep: (file) => paths.some((path) => isAt(file, path)) ? MAX_CHARS : 0 });
  const files: FileDiff[] = [];
  const take = (file: FileDiff) => {
    const isStub = file.binary && hidden.has(file.path); // its text stands at the end of the patch
    if (!isStub && paths.some((path) => isAt(file, path))) files.push(file);
  };
  const maxDiffChars = conversation.review?.maxDiffChars ?? options.maxDiffChars;
  const { plan } = await planSource(
    { ...source, chunks: watched(source.chunks, (chunk) => parser.push(chunk).forEach(take)) },
    { maxDiffChars: maxDiffChars === "auto" ? MAX_CHARS : maxDiffChars, exclude, include },
  );
  parser.end().forEach(take);
  return { plan, files };
}

function isAt({ path, oldPath }: Pick<FileDiff, "path" | "oldPath">, wanted: string): boolean {
  return path === wanted || oldPath === wanted;
}

async function* watched(chunks: Source["chunks"], watch: (chunk: Uint8Array) => void): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks) {
    watch(chunk);
    yield chunk;
  }
}

/** Whether what was sent of a file is not what would be sent now. */
function hasChanged({ review }: Conversation, plan: Plan, path: string): boolean {
  const number = plan.files.find((file) => file.path === path)?.part;
  const part = plan.parts.find((one) => one.number === number);
  return part !== undefined && review?.parts[part.number - 1]?.hash !== partHash(part);
}

function unknownFile(path: string, { files }: Plan): UsageError {
  const paths = files.map((file) => file.path);
  const near = nearest(path, paths);
  const more = paths.length > MAX_NAMED ? `, and ${paths.length - MAX_NAMED} more` : "";
  return new UsageError(`"${path}" is no file of the reviewed change`, {
    hint: near ? `did you mean @${DIFF_MARK}${near}?` : `there are: ${paths.slice(0, MAX_NAMED).join(", ")}${more}`,
  });
}
