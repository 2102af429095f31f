/**
 * The bodies of answers: with a limit to their size and to their silence.
 *
 * @module
 */

import { Buffer } from "node:buffer";
import { clearTimeout, setTimeout } from "node:timers";
import { GitHubError } from "./errors.ts";

/** Milliseconds of silence within a body after which it counts as broken off. */
const SILENCE_MS = 60_000;

/**
 * The pieces of a body, once.
 *
 * @param silenceMs Milliseconds that it may be silent while somebody waits for the next piece.
 * @throws {GitHubError} When it breaks off or is silent for longer.
 * @throws The signal's reason when aborted.
 */
export async function* bodyOf(
  response: Response,
  signal: AbortSignal | undefined,
  silenceMs: number = SILENCE_MS,
): AsyncGenerator<Uint8Array> {
  const reader = response.body?.getReader();
  if (!reader) return;
  try {
    while (true) {
      const { done, value } = await inTime(reader.read(), silenceMs);
      if (done) return;
      yield value;
    }
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof GitHubError) throw error;
    throw new GitHubError("GitHub's answer broke off before its end", { hint: "try again", cause: error });
  } finally {
    await reader.cancel().catch(() => undefined); // it has broken off already
  }
}

async function inTime<T>(reading: Promise<T>, silenceMs: number): Promise<T> {
  const silence = Promise.withResolvers<never>();
  const what = `GitHub's answer broke off: nothing came for ${silenceMs / 1000} s`;
  const timer = setTimeout(() => silence.reject(new GitHubError(what, { hint: "try again" })), silenceMs);
  try {
    return await Promise.race([reading, silence.promise]);
  } finally {
    clearTimeout(timer);
  }
}

/** A body as text; of a longer one than `maxBytes` the beginning. */
export async function readText(response: Response, maxBytes: number, signal: AbortSignal | undefined): Promise<string> {
  const body = bodyOf(response, signal);
  const { start } = await peek(body, maxBytes);
  await body.return(undefined);
  return new TextDecoder().decode(start.subarray(0, maxBytes));
}

/** The first bytes of a body, at least so many if it has them, and all of its pieces, those first ones included. */
export async function peek(
  body: AsyncGenerator<Uint8Array>,
  bytes: number,
): Promise<{ start: Uint8Array; chunks: AsyncIterable<Uint8Array> }> {
  const first: Uint8Array[] = [];
  for (let size = 0; size < bytes;) {
    const { done, value } = await body.next();
    if (done) break;
    first.push(value);
    size += value.length;
  }
  return { start: Buffer.concat(first), chunks: followedBy(first, body) };
}

async function* followedBy(first: readonly Uint8Array[], rest: AsyncGenerator<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* first;
    yield* rest;
  } finally {
    await rest.return(undefined); // whoever stops among the first ones wants no more of the rest
  }
}
