/**
 * A review's text to findings: each remark is tied to the change by the code it quotes, else by its line, else by its file,
 * and says by which. What the change does not bear out is not grounded.
 *
 * @module
 */

import { DiffLines, type QuoteMatch } from "./anchors.ts";
import type { PartFile } from "./diff.ts";
import type { Finding, Severity } from "./finding.ts";
import type { Quote, Remark } from "./phrases.ts";
import type { Place } from "./places.ts";
import { readRemarks } from "./remarks.ts";
import { readJsonRemarks } from "./remarks_json.ts";

export type { Finding, Severity } from "./finding.ts";

/** Lines between a stated line and code in a sentence, from which the code is not what the remark is about. */
const MAX_UNSURE_DISTANCE = 10;
/** Lines between two findings that may still be one. */
const NEAR_LINES = 3;

/** What a review is about. */
export interface ReviewedPart {
  /** Number of the part, from 1; 0 for the summing up. */
  number: number;
  /** The files that the review may speak of. */
  files: readonly PartFile[];
}

/**
 * Reads the findings of a finished review and ties them to the files it is about. What looks like no issue is no finding.
 * The time it takes is linear in the text.
 */
export function readFindings(review: string, part: ReviewedPart, source: "model" | "summary" = "model"): Finding[] {
  const lines = new Map<string, DiffLines>();
  const linesOf = (file: PartFile): DiffLines => {
    const known = lines.get(file.path) ?? new DiffLines(file);
    lines.set(file.path, known);
    return known;
  };
  const remarks = readJsonRemarks(review, part.files) ?? readRemarks(review, part.files);
  const parts = part.number > 0 ? [part.number] : [];
  return mergeFindings(remarks.map((remark) => ({ ...anchor(remark, part.files, linesOf), source, parts })));
}

type Anchored = Omit<Finding, "source" | "parts">;

function anchor(remark: Remark, files: readonly PartFile[], linesOf: (file: PartFile) => DiffLines): Anchored {
  const { severity, title, body, place: { said, path, line } } = remark;
  const file = path === undefined ? undefined : files.find((file) => file.path === path);
  if (file) return anchorInFile(remark, file, linesOf(file));
  const meant = said === undefined ? files : files.filter(({ path }) => path.endsWith(`/${said}`));
  const matches = meant.flatMap((file) => {
    const match = findQuote(remark.quotes, remark.place, linesOf(file));
    return match ? [{ file, match }] : [];
  });
  // Code that is in several files names none.
  if (matches.length === 1) return byQuote(remark, matches[0]!.file, matches[0]!.match, linesOf(matches[0]!.file));
  const place = `\`${said}${line === undefined ? "" : `:${line}`}\``;
  const elsewhere = said === undefined
    ? ""
    : `Said of ${place}, which is ${meant.length > 1 ? "no one file of" : "not in"} the diff.`;
  const whole = [body, elsewhere].filter((text) => text !== "").join("\n\n");
  return { severity, title, body: whole, anchor: "none", grounded: false };
}

function anchorInFile(remark: Remark, file: PartFile, lines: DiffLines): Anchored {
  const { severity, title, body, place, quotes } = remark;
  const { path } = file;
  const match = findQuote(quotes, place, lines);
  if (match) return byQuote(remark, file, match, lines);
  const line = place.line === undefined ? undefined : findLine(place.line, place.endLine, lines);
  if (line) return { severity, path, ...line, title, body, anchor: "line", grounded: true };
  return { severity, path, title, body, anchor: "file", grounded: false };
}

function byQuote(
  { severity, title, body }: Remark,
  { path }: PartFile,
  { start, end }: QuoteMatch,
  { lines }: DiffLines,
): Anchored {
  const { side, number: line } = lines[start]!;
  const endLine = lines[end]!.number;
  const quote = lines.slice(start, end + 1).filter((line) => line.side === side).map(({ text }) => text).join("\n");
  return {
    severity,
    path,
    side,
    line,
    ...(endLine > line && { endLine }),
    title,
    body,
    quote,
    anchor: "quote",
    grounded: true,
  };
}

/** Finds what a remark quotes: code that stands by itself before code in sentences. */
function findQuote(
  quotes: readonly Quote[],
  { line: stated, endLine = stated }: Place,
  lines: DiffLines,
): QuoteMatch | undefined {
  const sure = quotes.filter((quote) => quote.sure).map((quote) => quote.lines);
  for (const quote of sure) {
    const added = quote.filter((line) => line.startsWith("+"));
    // Of a quoted piece of diff the added lines come first; a proposed fix has none that are in the change.
    const mixed = added.length > 0 && added.length < quote.length;
    const match = (mixed ? lines.findLines(added, stated) : undefined) ?? lines.findLines(quote, stated) ??
      lines.findStated(quote[0] ?? "", stated);
    if (match) return match;
  }
  for (const [first = ""] of sure) {
    const match = lines.findPiece(first, stated, "both");
    if (match) return match;
  }
  for (const { lines: [code = ""], sure } of quotes) {
    if (sure || isName(code)) continue;
    const match = lines.findLines([code], stated) ?? lines.findPiece(code, stated, "new");
    if (!match || !isCloseEnough(match, stated, lines)) continue;
    const { number } = lines.lines[match.start]!;
    // A range says more than one of its lines.
    const isWithin = stated !== undefined && endLine !== undefined && endLine > stated && number >= stated &&
      number <= endLine;
    return isWithin ? undefined : match;
  }
  return undefined;
}

/** A name in a sentence is no quote: `items`, `cart.items`, `ring->data`, `std::io`. */
function isName(code: string): boolean {
  return /^[\w\s.$@#/-]*$/.test(code.replace(/->|::|\?\./g, ""));
}

/** Code in a sentence may be about another place, if the stated line is there too. */
function isCloseEnough({ start }: QuoteMatch, stated: number | undefined, lines: DiffLines): boolean {
  if (stated === undefined || lines.at("new", stated) === undefined) return true;
  const { side, number } = lines.lines[start]!;
  return side === "new" && Math.abs(number - stated) <= MAX_UNSURE_DISTANCE;
}

/** A stated line, if the diff shows it: on the new side, else on the old one if it was deleted. */
function findLine(
  line: number,
  endLine: number | undefined,
  lines: DiffLines,
): { side: "new" | "old"; line: number; endLine?: number } | undefined {
  const side = lines.at("new", line) !== undefined ? "new" : "old";
  if (lines.at(side, line) === undefined) return undefined;
  let end = line;
  while (endLine !== undefined && end < endLine && lines.at(side, end + 1) !== undefined) end++;
  return { side, line, ...(end > line && { endLine: end }) };
}

const RANKS: { readonly [S in Severity]: number } = { bug: 3, risk: 2, nit: 1 };
const ANCHORS: { readonly [A in Finding["anchor"]]: number } = { quote: 3, line: 2, file: 1, none: 0 };

/**
 * Makes one of findings that say the same: of one place, with a similar title or, from different reviews, with the same
 * quote. It has the higher severity, the better anchor and the parts of both.
 */
export function mergeFindings(findings: readonly Finding[]): Finding[] {
  const kept: Finding[] = [];
  /** Indexes in `kept`, by place. */
  const places = new Map<string, number[]>();
  for (const finding of findings) {
    const near = nearKeys(finding).flatMap((key) => places.get(key) ?? []);
    const index = near.find((index) => isSame(kept[index]!, finding));
    if (index !== undefined) kept[index] = merge(kept[index]!, finding);
    else kept.push(finding);
    const at = index ?? kept.length - 1;
    const key = keyOfPlace(kept[at]!, kept[at]!.line);
    const there = places.get(key) ?? [];
    places.set(key, there);
    if (!there.includes(at)) there.push(at);
  }
  return kept;
}

function keyOfPlace({ path, side = "new" }: Finding, line: number | undefined): string {
  return JSON.stringify([path, line === undefined ? "" : side, line]);
}

function nearKeys(finding: Finding): string[] {
  const { line } = finding;
  if (line === undefined) return [keyOfPlace(finding, undefined)];
  const keys = [keyOfPlace(finding, line)];
  for (let distance = 1; distance <= NEAR_LINES; distance++) {
    keys.push(keyOfPlace(finding, line - distance), keyOfPlace(finding, line + distance));
  }
  return [...keys, keyOfPlace(finding, undefined)];
}

function isSame(a: Finding, b: Finding): boolean {
  if (a.source === "check" && b.source === "check") {
    return a.rule === b.rule && a.line === b.line && a.side === b.side && a.title === b.title;
  }
  const sameReview = a.source === b.source && (a.parts.length === 0 || a.parts.some((part) => b.parts.includes(part)));
  const sameLine = a.line === b.line;
  if (!sameReview) return (sameLine && a.quote !== undefined && a.quote === b.quote) || isSimilar(a.title, b.title);
  // A review has two remarks on neighbouring lines rather than one twice, unless its end was cut.
  return sameLine ? isSimilar(a.title, b.title) : isBeginning(a.title, b.title);
}

function merge(a: Finding, b: Finding): Finding {
  const [first, second] = a.source !== "check" && (b.source === "check" || RANKS[b.severity] > RANKS[a.severity])
    ? [b, a]
    : [a, b];
  const place = ANCHORS[second.anchor] > ANCHORS[first.anchor] ? second : first;
  const { path, side, line, endLine, quote, anchor, grounded } = place;
  const also = isSimilar(first.title, second.title) ? "" : `Also: ${second.title}`;
  return {
    severity: RANKS[a.severity] >= RANKS[b.severity] ? a.severity : b.severity,
    ...(path !== undefined && { path }),
    ...(side !== undefined && { side }),
    ...(line !== undefined && { line }),
    ...(endLine !== undefined && { endLine }),
    title: first.title,
    body: [first.body || second.body, also].filter((text) => text !== "").join("\n\n"),
    ...(quote !== undefined && { quote }),
    anchor,
    grounded,
    source: first.source,
    ...(first.rule !== undefined && { rule: first.rule }),
    parts: [...new Set([...a.parts, ...b.parts])].sort((x, y) => x - y),
  };
}

/** Whether two titles say the same: most of their words are the same, and not about different code. */
function isSimilar(a: string, b: string): boolean {
  if (isBeginning(a, b)) return true;
  const [codeA, codeB] = [codeWords(a), codeWords(b)];
  if (codeA.size > 0 && codeB.size > 0 && ![...codeA].some((code) => codeB.has(code))) return false;
  const [wordsA, wordsB] = [titleWords(a), titleWords(b)];
  const common = [...wordsA].filter((word) => wordsB.has(word)).length;
  const all = wordsA.size + wordsB.size - common;
  return common >= 2 && common / all >= 0.5;
}

function isBeginning(a: string, b: string): boolean {
  const [shorter, longer] = [a, b].map((text) => text.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, " ").trim())
    .sort((x, y) => x.length - y.length) as [string, string];
  return shorter.length >= 8 ? longer.startsWith(shorter) : longer === shorter && shorter !== "";
}

function codeWords(title: string): Set<string> {
  return new Set([...title.matchAll(/`([^`]+)`/g)].map((match) => match[1]!.replace(/\s+|\(\)$/g, "")));
}

const STOP_WORDS = new Set(
  "the and for with that this from not are was has have can may will when into does its der die das und ein".split(" "),
);

/** Words by their first five letters, so that "divides" and "division" are near; CJK text by pairs of characters. */
function titleWords(title: string): Set<string> {
  const words = title.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  return new Set(words.flatMap((word) => {
    if (/[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af]/.test(word)) {
      return [...word].slice(0, -1).map((char, at) => char + [...word][at + 1]);
    }
    return word.length < 3 || STOP_WORDS.has(word) ? [] : [word.slice(0, 5)];
  }));
}
