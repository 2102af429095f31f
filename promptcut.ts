/**
 * Whether a server cut the prompt in silence: it then counts fewer tokens than the prompt can have.
 *
 * @module
 */

/** Pieces below which nothing is said: a short prompt is not cut, and the bound is rough there. */
const MIN_PIECES = 200;

/** Part of the lower bound that must be missing: tokenizers differ a little in what they join. */
const TOLERANCE = 0.75;

/** Whether the reported prompt tokens are too few for the texts that were sent. */
export function isPromptCut(texts: readonly string[], promptTokens: number): boolean {
  const pieces = texts.reduce((sum, text) => sum + leastTokens(text), 0);
  return pieces >= MIN_PIECES && promptTokens < pieces * TOLERANCE;
}

/**
 * A lower bound of the tokens in a text. Tokenizers first split a text into words, numbers and runs of signs, and never
 * join two of those into one token; a single sign, or a space, in front of a word goes with it.
 */
export function leastTokens(text: string): number {
  return text.match(/[\p{L}\p{M}]+|\p{N}+|[^\s\p{L}\p{M}\p{N}]{2,}|[^\s\p{L}\p{M}\p{N}](?![\p{L}\p{M}])/gu)?.length ??
    0;
}
