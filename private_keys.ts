/**
 * Finds private keys in text: PEM of every kind (RFC 7468, RFC 1421), OpenPGP blocks, SSH2 (RFC 4716), PuTTY's and OpenVPN's,
 * on lines of their own, in a string of source code over several lines, or in one line with `\n` for the line ends. A key
 * that is cut, as the hunks of a diff cut it, is found by the end that is there.
 *
 * @module
 */

/** Where a key is, in characters. */
export interface KeySpan {
  /** Where it begins. */
  start: number;
  /** Where it ends. */
  end: number;
}

const LABEL = "(?:[A-Z0-9]{1,20} ){0,4}PRIVATE KEY(?: BLOCK)?|OpenVPN Static key V1";
const BEGIN = new RegExp(`-{4,5} ?BEGIN (?:${LABEL}) ?-{4,5}|PuTTY-User-Key-File-\\d:[^\\n]*`, "g");
const ENDING = new RegExp(`-{4,5} ?END (?:${LABEL}) ?-{4,5}|Private-MAC: ?[0-9a-f]{40,64}`);

/** Lines that a key has at most: RSA with 16,384 bits has 200. */
const MAX_LINES = 400;
/** Characters of a key in one line at most. */
const MAX_CHARS = 20_000;
/** Characters of base64 or hex that are a key and no example of its form: Ed25519 has 64. */
const MIN_BODY = 40;
/** Characters of a line that belongs to a key for certain, where its end is not there. */
const MIN_LINE = 16;

/** Quotes, marks of comments, quoted mail and diffs, signs that join strings: what stands around a key's line. */
const LINE = /^[\s"'`+.,;:>#*|\\([{-]{0,60}?([A-Za-z0-9+/=]+)(?:\\[nr])*[\s"'`+.,;|\\)\]}]{0,20}$/;
const EMPTY = /^[\s"'`+.,;:>#*|\\([{)\]}-]{0,80}(?:\\[nr][\s"'`+,;\\]{0,20})*$/;
/** Headers in front of the base64 (RFC 1421, section 4.6; RFC 9580, section 6.2; PuTTY). */
const HEADER = /^[\s"'`+>#*|-]{0,40}(?:[A-Z][A-Za-z0-9-]{1,30}): ?.{0,200}$/;

/** All private keys of a text, in their order. Where a key has several lines, whole lines but the first and the last. */
export function findPrivateKeys(text: string): KeySpan[] {
  const spans: KeySpan[] = [];
  let behind = 0;
  for (const match of text.matchAll(BEGIN)) {
    const start = match.index;
    if (start < behind) continue;
    const end = inOneLine(text, start + match[0].length) ?? overLines(text, start + match[0].length);
    if (end === undefined) continue;
    spans.push(...endingsBetween(text, behind, start), { start, end });
    behind = end;
  }
  return [...spans, ...endingsBetween(text, behind, text.length)];
}

/** Where a key ends that is in the rest of a line, headers and body. */
function inOneLine(text: string, from: number): number | undefined {
  const newline = text.indexOf("\n", from);
  const line = text.slice(from, Math.min(newline < 0 ? text.length : newline, from + MAX_CHARS));
  const ending = ENDING.exec(line);
  const body = ending ? line.slice(0, ending.index) : line;
  if (longestRun(body.replace(/\\[nr]/g, "")) < MIN_BODY) return undefined;
  if (ending) return from + ending.index + ending[0].length;
  const run = /^(?:[A-Za-z0-9+/=]|\\[nr]|\s)+/.exec(line);
  return run ? from + run[0].trimEnd().length : undefined;
}

function longestRun(text: string): number {
  return Math.max(0, ...(text.match(/[A-Za-z0-9+/=]+/g) ?? []).map((run) => run.length));
}

/** Where a key ends that goes on in the next lines: behind its end, else behind the last line that is its for certain. */
function overLines(text: string, from: number): number | undefined {
  let [body, headers] = [0, true];
  let end: number | undefined;
  let at = text.indexOf("\n", from) + 1;
  for (let lines = 0; at > 0 && at < text.length && lines < MAX_LINES; lines++) {
    const newline = text.indexOf("\n", at);
    const line = text.slice(at, newline < 0 ? text.length : newline).trimEnd();
    const ending = ENDING.exec(line);
    if (ending) return body >= MIN_BODY ? at + ending.index + ending[0].length : undefined;
    const run = LINE.exec(line)?.[1]!;
    if (run !== undefined) {
      body += run.length;
      if (run.length >= MIN_LINE) [headers, end] = [false, at + line.length];
    } else if (!EMPTY.test(line) && !isNote(line) && !(headers && HEADER.test(line))) break;
    at = newline + 1;
  }
  return body >= MIN_BODY ? end : undefined;
}

/** What git says between two lines of a diff (`\ No newline at end of file`), and PuTTY between two halves of a key. */
function isNote(line: string): boolean {
  return line.startsWith("\\ ") || line.startsWith("Private-Lines: ");
}

/** Keys of which only the end is in a stretch of text: what a hunk shows that begins inside of one. */
function endingsBetween(text: string, from: number, to: number): KeySpan[] {
  const spans: KeySpan[] = [];
  const endings = new RegExp(ENDING, "g");
  endings.lastIndex = from;
  let least = from;
  for (let match = endings.exec(text); match && match.index < to; match = endings.exec(text)) {
    const start = bodyAbove(text, match.index, least);
    const end = match.index + match[0].length;
    if (start !== undefined) spans.push({ start, end });
    least = end;
  }
  return spans;
}

/** Where the lines of a key begin that end above a position; `undefined` if there are none. */
function bodyAbove(text: string, position: number, least: number): number | undefined {
  let at = text.lastIndexOf("\n", position - 1) + 1;
  let start: number | undefined;
  let body = 0;
  for (let lines = 0; at > least && lines < MAX_LINES; lines++) {
    const before = text.lastIndexOf("\n", at - 2) + 1;
    const line = text.slice(Math.max(before, least), at - 1).trimEnd();
    const run = LINE.exec(line)?.[1]!;
    // The last line of a key may be short, all others are long.
    if (run === undefined ? !isNote(line) : lines > 0 && run.length < MIN_BODY) break;
    if (run !== undefined) {
      body += run.length;
      start = Math.max(before, least);
    }
    at = before;
  }
  return body >= MIN_BODY ? start : undefined;
}
