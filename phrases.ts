/**
 * The phrases that a remark is made of: marks and severity words, places, labelled fields, a title.
 *
 * @module
 */

import type { Block } from "./blocks.ts";
import type { Severity } from "./finding.ts";
import { type Field, fieldOf, severityMarks, severityWords } from "./lexicon.ts";
import { BOLD, type PathIndex, type Place, placeAtStart } from "./places.ts";

/** Code that a remark quotes. */
export interface Quote {
  /** Its lines, as the model wrote them. */
  lines: string[];
  /** It stands by itself; else it is a piece of a sentence, which may be a quote or not. */
  sure: boolean;
}

/** Something that a review says of a place, not yet compared with the lines of the change. */
export interface Remark {
  /** How bad the model thinks it is. */
  severity: Severity;
  /** Where it says it is. */
  place: Place;
  /** One line. */
  title: string;
  /** Markdown; may be empty. */
  body: string;
  /** What it quotes or may quote. */
  quotes: Quote[];
}

/** More remarks than this are no review: a model in a loop writes them. */
export const MAX_REMARKS = 100;
/** Characters of a body. */
export const MAX_BODY_CHARS = 2_000;
/** The severity of a remark that bears none. */
export const DEFAULT_SEVERITY: Severity = "risk";
/** Lines of a quote that are looked at. */
const MAX_QUOTE_LINES = 40;
/** Characters of a title. */
const MAX_TITLE_CHARS = 160;
/** Characters of a sentence below which it does not stand alone. */
const MIN_SENTENCE_CHARS = 10;
/** Characters of code that is no subject of a sentence but a quote before it. */
const MIN_STATEMENT_CHARS = 30;
/** Phrases in front of a title: more is a line of nothing but marks. */
const MAX_PHRASES = 30;

/** A line without links, italics, escapes and entities; `**` is {@linkcode BOLD}; code is left as it is. */
export function plainInline(text: string): string {
  const linked = decodeEntities(text).replace(/\[([^\][]{1,200})\]\([^)\s]{1,300}\)/g, "$1");
  return linked.split(/(`[^`]*`)/).map((piece, at) => at % 2 === 1 ? piece : plainText(piece)).join("");
}

function plainText(text: string): string {
  return text.replaceAll("**", BOLD).replace(/\*(?=\S)([^*]{1,120})(?<=\S)\*/g, "$1")
    .replace(/(^|[\s(])_([^_\s][^_]{0,120})_(?=[\s).,:;!?]|$)/g, "$1$2")
    .replace(/\\([\\`*_{}[\]()#+.!|<>~-])/g, "$1");
}

/** `&lt;` and its like as characters. */
export function decodeEntities(text: string): string {
  if (!text.includes("&")) return text;
  return text.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&quot;", '"').replace(/&(?:#39|apos);/g, "'")
    .replaceAll("&amp;", "&");
}

/** What stands in front of a title, and the title. */
export interface Peeled {
  /** The severity that a mark or a word says. */
  severity?: Severity;
  /** The severity word, where no mark says it. */
  word?: string;
  /** A mark of praise, and none of a severity. */
  good?: boolean;
  /** The first place. */
  place?: Place;
  /** Code in front of the title. */
  quote?: string;
  /** The rest; may have {@linkcode BOLD} in it, first where a title in bold ends. */
  title: string;
}

/** Takes marks, severities, numbers, places and a quote off the start of a line that {@linkcode plainInline} prepared. */
export function peel(text: string, paths: PathIndex): Peeled {
  const peeled: Peeled = { title: "" };
  let circled = false;
  let rest = text;
  for (let n = 0; n < MAX_PHRASES; n++) {
    rest = rest.replace(/^(?:[\s\ue000:：—–→|·•,，、;>*~]|-(?![\w-]))+/u, "");
    const mark = /^(\p{Extended_Pictographic})[\uFE0F\u200D]*/u.exec(rest);
    if (mark) {
      circled = takeMark(peeled, mark[1]!, circled);
      rest = rest.slice(mark[0].length);
      continue;
    }
    const next = takeNumber(rest, n) ?? takeSeverity(peeled, rest, circled) ?? takePlace(peeled, rest, paths) ??
      takeBrackets(peeled, rest, paths) ?? takeQuote(peeled, rest);
    if (next === undefined) break;
    rest = next;
  }
  if (peeled.severity !== undefined) delete peeled.good;
  return { ...peeled, title: rest };
}

/** Circles stand above severity words, and those above other marks. */
function takeMark(peeled: Peeled, mark: string, circled: boolean): boolean {
  const meaning = severityMarks.get(mark);
  const isCircle = /[🔴🟠🟡]/u.test(mark);
  if (meaning === "good") peeled.good = true;
  else if (meaning !== undefined && (isCircle ? !circled : peeled.severity === undefined)) {
    peeled.severity = meaning;
    delete peeled.word;
  }
  return circled || isCircle;
}

/** "1.", "#2:", "Issue 3 –". */
function takeNumber(rest: string, n: number): string | undefined {
  if (n > 3) return undefined;
  const number =
    /^(?:(?:issue|problem|finding|bug|concern|nr\.?|no\.|problema|problème|问题|問題|문제)\s*#?\d{1,3}\s*(?:[.:)：—–-]|(?=\ue000|$))|#?\d{1,3}[.)](?=\s|\ue000|$))/iu
      .exec(rest);
  return number ? rest.slice(number[0].length) : undefined;
}

const SEVERITY_LABEL =
  /^(?:severity|priority|level|schweregrad|gravité|sévérité|severidad|gravedad|severidade|严重程度|严重性|级别|重大度|深刻度|серьёзность|심각도)\s*[:：]\s*\ue000?\s*/iu;
const SEVERITY_NOUN = /^(?:[\s-](?:severity|priority|issue|bug|risk|problem|error|vulnerability|concern|level))+/i;

/** "Bug:", "[HIGH]", "**Minor** –", "Severity: high", "Critical issue (x.ts:3)". */
function takeSeverity(peeled: Peeled, rest: string, circled: boolean): string | undefined {
  const label = SEVERITY_LABEL.exec(rest)?.[0] ?? "";
  const behindLabel = rest.slice(label.length);
  const word = /^[\p{L}][\p{L}\p{N}]*/u.exec(behindLabel)?.[0];
  if (word === undefined || word.length > 20) return undefined;
  const two = /^[\p{L}]+ [\p{L}]+/u.exec(behindLabel.slice(0, 40))?.[0];
  const phrase = two !== undefined && severityWords.has(two.toLowerCase()) ? two : word;
  const severity = severityWords.get(phrase.toLowerCase());
  if (severity === undefined) return undefined;
  const behind = behindLabel.slice(phrase.length).replace(SEVERITY_NOUN, "");
  const ends = /^\s*(?:[:：\])）\ue000—–(,|·]|-\s|$|\p{Extended_Pictographic})/u.test(behind) ||
    (circled && /^\s+`/.test(behind));
  if (!ends && label === "") return undefined;
  if (peeled.severity === undefined) peeled.word = phrase.toLowerCase();
  // Of several words the first counts: "Minor bug".
  if (!circled && (peeled.severity === undefined || peeled.word === undefined)) peeled.severity = severity;
  return behind;
}

function takePlace(peeled: Peeled, rest: string, paths: PathIndex): string | undefined {
  const found = placeAtStart(rest, paths);
  if (!found) return undefined;
  const { place, rest: behind } = found;
  if (peeled.place === undefined) peeled.place = place;
  else if (peeled.place.line === undefined && place.said === undefined) peeled.place = { ...place, ...peeled.place };
  else if (peeled.place.said === undefined && place.line === undefined) peeled.place = { ...place, ...peeled.place };
  // A further place is one of a list, unless a sentence begins with it.
  else if (!/^\s*(?:[:：—–\ue000,|]|-\s|$)/.test(behind)) return undefined;
  return behind;
}

/** "(bug)", "[CRITICAL]", "(line 12)": brackets with nothing else in them. */
function takeBrackets(peeled: Peeled, rest: string, paths: PathIndex): string | undefined {
  const inner = /^[[(（]([^[\]()（）]{1,120})[\])）]/.exec(rest);
  if (!inner) return undefined;
  const { title, severity, word, place } = peel(inner[1]!, paths);
  if (title !== "" || (severity === undefined && place === undefined)) return undefined;
  if (severity !== undefined && peeled.severity === undefined) {
    peeled.severity = severity;
    if (word !== undefined) peeled.word = word;
  }
  if (place) peeled.place = { ...place, ...peeled.place };
  return rest.slice(inner[0].length);
}

/** Code in front of a title is its quote if something parts the two, or if it stands behind a place. */
function takeQuote(peeled: Peeled, rest: string): string | undefined {
  const code = /^`([^`]{8,400})`/.exec(rest);
  if (!code || peeled.quote !== undefined) return undefined;
  const behind = rest.slice(code[0].length);
  const parted = /^\s*(?:[:：—–\ue000]|-\s|$)/.test(behind);
  const statement = peeled.place?.line !== undefined && code[1]!.length >= MIN_STATEMENT_CHARS && /\s/.test(code[1]!);
  if (!parted && !statement) return undefined;
  peeled.quote = code[1]!;
  return behind;
}

/** The severity that a field's value names. */
export function severityIn(value: string): Severity | undefined {
  for (const [mark, severity] of severityMarks) if (severity !== "good" && value.includes(mark)) return severity;
  const words = value.slice(0, 100).toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  return words.map((word) => severityWords.get(word)).find((severity) => severity !== undefined);
}

/** A labelled line: `**File:** x.ts`. */
export interface FieldLine {
  /** What the label names. */
  field: Field;
  /** What stands behind the colon. */
  value: string;
}

/** Reads a labelled line that {@linkcode plainInline} prepared. */
export function readField(text: string): FieldLine | undefined {
  const match = /^[^\p{L}`"]{0,8}([\p{L}][\p{L} ]{0,28})\ue000?\s*[:：]\s*\ue000?\s*/u.exec(text);
  const field = match ? fieldOf(match[1]!) : undefined;
  return field && match ? { field, value: text.slice(match[0].length).replaceAll(BOLD, "").trim() } : undefined;
}

/** A title, and what was said beyond it. */
export interface Wording {
  /** One line. */
  title: string;
  /** The rest; may be empty. */
  body: string;
}

/** Splits what {@linkcode peel} left: text in bold, else the first sentence, is the title. */
export function splitTitle(text: string): Wording {
  const bold = text.split(BOLD);
  // An odd number of marks: the first one was taken off the start.
  if (bold.length % 2 === 0 && isTitle(bold[0]!)) {
    return { title: cleanTitle(bold[0]!), body: cleanBody(bold.slice(1).join("")) };
  }
  const plain = bold.join("").trim();
  const end = endOfSentence(plain);
  const title = cleanTitle(plain.slice(0, end));
  if (title.length <= MAX_TITLE_CHARS) return { title, body: cleanBody(plain.slice(end)) };
  return { title: clip(title, MAX_TITLE_CHARS), body: plain };
}

function isTitle(text: string): boolean {
  return text.trim().length >= 8 || /\p{L}\s+\p{L}|[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af]{2}/u.test(text.trim());
}

function endOfSentence(text: string): number {
  const ends = /[.!?](?=\s)|[。！？]/g;
  for (let match = ends.exec(text); match; match = ends.exec(text)) {
    const sentence = text.slice(0, match.index);
    const inCode = (sentence.split("`").length - 1) % 2 === 1;
    const abbreviated = /(?:^|[\s(])(?:e\.g|i\.e|etc|vs|bzw|z\.\s?B|d\.\s?h|ca|p\. ex|z)$/i.test(sentence.slice(-8));
    if (sentence.length >= MIN_SENTENCE_CHARS / (match[0] === "。" ? 3 : 1) && !inCode && !abbreviated) {
      return match.index + 1;
    }
  }
  return text.length;
}

function cleanTitle(text: string): string {
  return text.replace(/\s+/g, " ").replace(/^[\s—–:：,;)\]]+/, "").replace(/(?:[\s:：—–,;]|(?<!\.)\.|。|\s-)+$/, "")
    .trim();
}

function cleanBody(text: string): string {
  return text.replace(/^[\s:：—–,;.]+|^-\s/, "").trim();
}

/** A text of at most so many characters, cut at a space where it can be. */
export function clip(text: string, chars: number): string {
  if (text.length <= chars) return text;
  const cut = text.slice(0, chars - 1);
  const space = cut.lastIndexOf(" ");
  return `${(space > chars / 2 ? cut.slice(0, space) : cut).replace(/[\ud800-\udbff]$/, "")}…`;
}

/** What the blocks below a remark's first line hold. */
export interface Details {
  /** The place that fields or lines of their own name. */
  place: Place;
  /** The value of a severity field. */
  severity: string;
  /** Lines of text; the first is the title where the first line has none. */
  body: string[];
  /** What it quotes. */
  quotes: Quote[];
  /** Lines that may be quotes, or hold some. */
  loose: string[];
  /** A fix is shown: code is not quoted but proposed. */
  fix: boolean;
}

/** Reads the blocks below a remark's first line, which may be a field itself. */
export function readDetails(rest: readonly Block[], first: FieldLine | undefined, paths: PathIndex): Details {
  const details: Details = { place: {}, severity: "", body: [], quotes: [], loose: [], fix: false };
  if (first) takeField(details, first, first.value, paths);
  for (const [at, block] of rest.entries()) {
    if (block.kind === "fence") takeFence(details, block);
    else if (block.kind === "quote") takeQuoteLine(details, block.text, rest[at - 1]?.kind === "quote");
    else if (block.kind === "text" || block.kind === "item") takeLine(details, block.text, paths);
  }
  return details;
}

function takeLine(details: Details, text: string, paths: PathIndex): void {
  const plain = plainInline(text);
  const field = readField(plain);
  if (field) return takeField(details, field, text, paths);
  const place = placeAtStart(plain, paths);
  if (place && place.rest.replace(/[\s\ue000.,:)]/g, "") === "") {
    details.place = { ...place.place, ...details.place };
    return;
  }
  const code = loneCode(text);
  if (code !== undefined) details.quotes.push({ lines: [decodeEntities(code)], sure: true });
  if (code === undefined || code.includes("`")) {
    details.body.push(plain.replaceAll(BOLD, "**"));
    details.loose.push(text);
  }
}

function takeField(details: Details, { field, value }: FieldLine, text: string, paths: PathIndex): void {
  details.fix = field === "fix";
  if (field === "place") details.place = { ...placeAtStart(value, paths)?.place, ...details.place };
  else if (field === "line") {
    details.place = { ...placeAtStart(`line ${value.replace(/^[^\d]+/, "")}`, paths)?.place, ...details.place };
  } else if (field === "severity") details.severity = value;
  else if (field === "code") {
    if (value !== "") details.quotes.push({ lines: [decodeEntities(loneCode(value) ?? value)], sure: true });
  } else if (field === "fix") {
    if (value !== "") details.body.push(text);
  } else if (value !== "") {
    details.body.push(value);
    details.loose.push(value);
  }
}

function takeFence(details: Details, { info, lines }: Block & { kind: "fence" }): void {
  if (details.fix || info.startsWith("suggestion")) details.body.push(["```" + info, ...lines, "```"].join("\n"));
  else details.quotes.push({ lines: lines.slice(0, MAX_QUOTE_LINES), sure: true });
}

function takeQuoteLine(details: Details, text: string, goesOn: boolean): void {
  const line = decodeEntities(loneCode(text) ?? text);
  const last = details.quotes.at(-1);
  if (goesOn && last && last.lines.length < MAX_QUOTE_LINES) last.lines.push(line);
  else if (!goesOn) details.quotes.push({ lines: [line], sure: true });
}

/** The code of a line that is nothing else: `` `x = 1` ``, also without its end where the text was cut. */
export function loneCode(text: string): string | undefined {
  const open = /^`+/.exec(text)?.[0];
  if (open === undefined) return undefined;
  const inner = text.slice(open.length).replace(/[.,;]$/, (end) => text.endsWith("`" + end) ? "" : end);
  if (inner.endsWith(open)) return inner.slice(0, -open.length).trim();
  return inner.includes("`") ? undefined : inner.trim();
}

/** What may be a quote in a line of text: the line itself, its pieces of code, what stands in curly quotes. */
export function codeIn(text: string): string[] {
  const pieces = [...text.matchAll(/`+([^`]{4,400})`|“([^“”]{8,400})”/g)].map((match) => match[1] ?? match[2] ?? "");
  return [...pieces, text].map(decodeEntities);
}
