/**
 * What is sent to a model: the prompt of a part, the prompt of the summing up, and how large they are in tokens.
 *
 * @module
 */

import { fenceMarker, type Part, type Plan } from "./diff.ts";
import type { Templates } from "./templates.ts";

/** File names of the change that a prompt lists at most. */
export const MAX_LISTED_FILES = 40;

/** Tokens that are left free for an answer. */
export const ANSWER_TOKENS = 4_096;

/** Characters of ASCII that make a token, at the least: code and diffs have 3 to 4. */
const CHARS_PER_TOKEN = 3;

/** Characters of a prompt beside the diff: the shipped template, a title, forty file names. */
const PROMPT_CHARS = 6_000;

/**
 * How many tokens a text has, estimated so that it is rather too many: three ASCII characters a token, one token for
 * each other character.
 */
export function estimateTokens(text: string): number {
  let other = 0;
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) > 127) other++;
  return Math.ceil((text.length - other) / CHARS_PER_TOKEN) + other;
}

/** Characters of diff that fit into a context window of so many tokens, beside prompt and answer; at least 0. */
export function charsForWindow(tokens: number): number {
  const answer = Math.min(ANSWER_TOKENS, Math.floor(tokens / 4));
  return Math.max(0, (tokens - answer) * CHARS_PER_TOKEN - PROMPT_CHARS);
}

/**
 * The one context size of a run, in tokens: what its largest prompt needs and room for the answer, in steps of 1,024,
 * at most the window.
 */
export function contextFor(prompts: readonly string[], window: number | undefined): number {
  const largest = Math.max(0, ...prompts.map(estimateTokens));
  // Summing up needs the answers of all parts at once.
  const summingUp = prompts.length > 1 ? prompts.length * ANSWER_TOKENS / 4 + PROMPT_CHARS / CHARS_PER_TOKEN : 0;
  const needed = Math.ceil((Math.max(largest, summingUp) + ANSWER_TOKENS) / 1_024) * 1_024;
  return window === undefined ? needed : Math.min(needed, window);
}

/** What a part's prompt is made from, beside the part. */
export interface PartPromptContext {
  plan: Plan;
  title: string;
  templates: Templates;
  /** One line for each thing the built-in checks found in the part. */
  known: readonly string[];
}

/** The message that asks for the review of one part. */
export function partPrompt(part: Part, { plan, title, templates, known }: PartPromptContext): string {
  const names = plan.files.map(({ path }) => oneLine(path));
  return templates.render("review", {
    title: oneLine(title),
    part: part.number,
    parts: plan.parts.length,
    multipart: plan.parts.length > 1,
    files: names.slice(0, MAX_LISTED_FILES),
    moreFiles: Math.max(0, names.length - MAX_LISTED_FILES),
    shown: part.files.map(({ path, trimmed }) => ({ path: oneLine(path), trimmed })),
    trimmedFiles: part.files.filter(({ trimmed }) => trimmed).map(({ path }) => oneLine(path)),
    known,
    fence: fenceMarker(part.text),
    diff: part.text.endsWith("\n") ? part.text.slice(0, -1) : part.text,
  });
}

/** The review of a part, as the summing up needs it. */
export interface PartReview {
  number: number;
  files: readonly string[];
  text: string;
}

/** What the summing up is made from. */
export interface SummaryPromptContext {
  title: string;
  parts: number;
  reviews: readonly PartReview[];
  findings: readonly { severity: string; icon: string; path: string; line: string; title: string; grounded: boolean }[];
  coverage: string;
  templates: Templates;
  /** Most tokens that the prompt may have; the reviews are shortened to fit, and say so. */
  maxTokens: number | undefined;
}

/** The message that asks for the summing up. */
export function summaryPrompt(context: SummaryPromptContext): string {
  const { title, parts, findings, coverage, templates, maxTokens } = context;
  const render = (reviews: readonly PartReview[]) =>
    templates.render("review-summary", {
      title: oneLine(title),
      parts,
      reviews: reviews.map(({ number, files, text }) => ({ number, files: files.map(oneLine).join(", "), text })),
      findings,
      coverage,
    });
  const prompt = render(context.reviews);
  if (maxTokens === undefined || estimateTokens(prompt) <= maxTokens) return prompt;
  const own = estimateTokens(render(context.reviews.map((review) => ({ ...review, text: "" }))));
  const chars = Math.max(0, Math.floor((maxTokens - own) / context.reviews.length) - 10);
  return render(context.reviews.map((review) => ({ ...review, text: shorten(review.text, chars) })));
}

function shorten(text: string, chars: number): string {
  return text.length <= chars ? text : `${text.slice(0, chars)}\n(shortened)`;
}

/** A name in one line of a prompt: a file name may hold anything but NUL. */
function oneLine(text: string): string {
  // deno-lint-ignore no-control-regex
  return text.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g, " ");
}
