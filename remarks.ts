/**
 * The remarks in a review's text: what says of some place that something is wrong. Reads the form that the prompt asks for,
 * and what models make of it. Knows the paths of the change, but not its lines.
 *
 * @module
 */

import { type Block, readBlocks } from "./blocks.ts";
import type { Severity } from "./finding.ts";
import {
  clears,
  type Field,
  fieldOf,
  isPraise,
  isWeakSeverity,
  readHeading,
  saysNothing,
  type SectionKind,
  severityWords,
} from "./lexicon.ts";
import {
  clip,
  codeIn,
  decodeEntities,
  DEFAULT_SEVERITY,
  type Details,
  loneCode,
  MAX_BODY_CHARS,
  MAX_REMARKS,
  peel,
  type Peeled,
  plainInline,
  readDetails,
  readField,
  type Remark,
  severityIn,
  splitTitle,
} from "./phrases.ts";
import { BOLD, PathIndex, type Place, placeAtStart, placeIn } from "./places.ts";

/** Blocks below a remark that are read as its own. */
const MAX_REST = 60;
/** Pieces of sentences that may be quotes. */
const MAX_UNSURE = 12;
/** Paths of the prompt's example: a model that copies it says nothing. */
const PLACEHOLDER = /(?:^|[^\w])(?:path\/to\/|<path>|\[path\]|file\.ext\b)/i;

/** What holds for the lines below a heading. */
interface Section {
  level: number;
  kind?: SectionKind;
  severity?: Severity;
  path?: Place;
}

/** Levels of sections that are no headings: a label, an item with items below. */
const LABEL_LEVEL = 7;
const ITEM_LEVEL = 8;

interface State {
  blocks: Block[];
  paths: PathIndex;
  sections: Section[];
  remarks: Remark[];
  seen: Set<string>;
}

/** Reads the remarks of a review. */
export function readRemarks(review: string, files: readonly { path: string; oldPath?: string }[]): Remark[] {
  const blocks = readBlocks(review);
  const state: State = { blocks, paths: new PathIndex(files), sections: [], remarks: [], seen: new Set() };
  for (let i = 0; i < blocks.length && state.remarks.length < MAX_REMARKS;) i = readBlock(state, i);
  return state.remarks;
}

/** Reads the block at `i`, with what belongs to it; gives the index behind. */
function readBlock(state: State, i: number): number {
  const block = state.blocks[i]!;
  switch (block.kind) {
    case "heading":
      return readSection(state, i, block.level, block.text);
    case "item":
      return readItem(state, i, block);
    case "text":
      return readText(state, i, block);
    case "table":
      readTableRows(state, block.rows);
      return i + 1;
    default:
      return i + 1;
  }
}

function enter(state: State, section: Section): void {
  leave(state, section.level);
  state.sections.push(section);
}

function leave(state: State, level: number): void {
  while ((state.sections.at(-1)?.level ?? 0) >= level) state.sections.pop();
}

/** What the open sections say together, the innermost first. */
function context(state: State): Omit<Section, "level"> {
  const kind = state.sections.findLast((section) => section.kind)?.kind;
  const severity = state.sections.findLast((section) => section.severity)?.severity;
  const path = state.sections.findLast((section) => section.path)?.path;
  return { ...(kind && { kind }), ...(severity && { severity }), ...(path && { path }) };
}

/** A heading opens a section, or is itself a remark with the blocks below it. */
function readSection(state: State, i: number, level: number, heading: string): number {
  const text = plainInline(heading);
  const bare = text.replaceAll(BOLD, "");
  const words = readHeading(bare);
  // "x.ts (2)" counts remarks; as a line it would be "x.ts:2".
  const peeled = peel(text.replace(/\s\(\d{1,3}\)$/, ""), state.paths);
  leave(state, level);
  const above = context(state);
  const isMarked = /[🔴🟠🟡]/u.test(bare) || peeled.severity === "bug";
  const severity = isMarked ? peeled.severity : words.severity ?? peeled.severity;
  const numbered = /^\W*(?:issue|problem|bug|finding|concern)?\s*#?\d{1,3}\s*[.:)–—-]/iu.test(bare) &&
    above.kind === "issues";
  const named = /^\W*(?:issue|problem|bug|finding)\s*#?\d{1,3}\b/iu.test(bare);
  const titled = !words.only && peeled.title !== "";
  const isRemark = above.kind !== "ignored" && !peeled.good &&
    (peeled.place?.line !== undefined || (titled && (severity !== undefined || numbered || named)));
  if (isRemark && !hasPlacedItems(state, i + 1)) {
    const end = endOfHeading(state, i + 1);
    addEntry(state, heading, state.blocks.slice(i + 1, end), { sure: true });
    return end;
  }
  const { path } = peeled.place ?? {};
  // A file's own heading ends what a summary above it began.
  const kind = words.kind ?? (peeled.good ? "ignored" : severity ? "issues" : undefined);
  enter(state, {
    level,
    ...(kind && { kind }),
    ...(severity && { severity }),
    ...(peeled.place?.said !== undefined && (path !== undefined || !titled) && { path: peeled.place }),
  });
  return i + 1;
}

/** Whether items below a heading, up to the next one, name places or severities of their own. */
function hasPlacedItems(state: State, from: number): boolean {
  for (let i = from; i < state.blocks.length && i < from + MAX_REST; i++) {
    const block = state.blocks[i]!;
    if (block.kind === "heading") return false;
    if (block.kind !== "item") continue;
    const text = plainInline(block.text);
    if (readField(text)) return false;
    const { severity, place, title } = peel(text, state.paths);
    if (title !== "" && (severity || place?.line !== undefined)) return true;
  }
  return false;
}

/** Where the blocks of a remark that is a heading end: at a heading, or at a line that is one. */
function endOfHeading(state: State, from: number): number {
  let i = from;
  for (; i < state.blocks.length; i++) {
    const block = state.blocks[i]!;
    if (block.kind === "heading" || block.kind === "table") break;
    if (block.kind === "text" && i > from && (asLabel(block.text) || isBoldHeading(state, block.text))) break;
  }
  return i;
}

/** A line that is a heading in all but form: `**Issues**`, `Issues:`, `**Suggestions:** none`. */
function asLabel(text: string): { label: string; content: string } | undefined {
  if (text.startsWith("`")) return undefined;
  const plain = plainInline(text);
  const label = /^[^:：`]{1,60}/.exec(plain)?.[0] ?? "";
  const behind = plain.slice(label.length);
  if (!/^[:：]/.test(behind) && !(behind === "" && label.startsWith(BOLD) && label.endsWith(BOLD))) return undefined;
  const name = label.replaceAll(BOLD, "").trim();
  const words = readHeading(name);
  const content = behind.slice(1).replaceAll(BOLD, "").trim();
  if (!words.kind || !words.only) return undefined;
  // "Issue: the loop …" is a field of a remark, "Bug: …" a remark; "Issues: …" is a heading with its text.
  if (content !== "" && (fieldOf(name) !== undefined || severityWords.has(name.toLowerCase()))) return undefined;
  return { label: name, content };
}

/** `**🔴 Use after free**`, `**Line 26** 🔴`: bold and no more, with a mark or a line. */
function isBoldHeading(state: State, text: string): boolean {
  if (!/^\s*(?:\*\*|__)/.test(text) && !/(?:\*\*|__)\s*$/.test(text)) return false;
  const plain = plainInline(text).trim();
  const parts = plain.split(BOLD);
  const outside = parts.filter((_, at) => at % 2 === 0).join("");
  if (parts.length < 3 || /[\p{L}\p{N}]/u.test(outside)) return false;
  const { severity, place, good, word } = peel(plain, state.paths);
  return (severity !== undefined && word === undefined) || place?.line !== undefined || good === true;
}

function readItem(state: State, i: number, block: Block & { kind: "item" }): number {
  const level = ITEM_LEVEL + block.indent;
  leave(state, level);
  const end = endOfItem(state, i + 1, block.indent);
  if (context(state).kind === "ignored") return end;
  const text = plainInline(block.text);
  const label = asLabel(block.text);
  const peeled = peel(text, state.paths);
  const below = state.blocks[i + 1];
  const hasItems = below?.kind === "item" && below.indent > block.indent && !readField(plainInline(below.text)) &&
    !/^[-+`>]/.test(below.text);
  if (hasItems && ((peeled.title === "" && !readField(text)) || (label && label.content === ""))) {
    const kind = label && readHeading(label.label).kind;
    enter(state, {
      level,
      ...(kind && { kind }),
      ...(peeled.severity && { severity: peeled.severity }),
      ...(peeled.place?.said !== undefined && { path: peeled.place }),
    });
    return i + 1;
  }
  const suggests = label ? readHeading(label.label).kind === "ignored" : readField(text)?.field === "fix";
  if (suggests && peeled.severity === undefined) return end;
  addPieces(state, block.text, state.blocks.slice(i + 1, end), { item: true });
  return end;
}

/** Where the blocks of an item end. */
function endOfItem(state: State, from: number, indent: number): number {
  let blank = false;
  let end = from;
  for (let i = from; i < state.blocks.length; i++) {
    const block = state.blocks[i]!;
    if (block.kind === "blank") {
      blank = true;
      continue;
    }
    if (block.kind === "heading" || block.kind === "table") break;
    if (
      block.kind === "item" ? block.indent <= indent : block.indent <= indent && !isLooselyBelow(state, block, blank)
    ) break;
    blank = false;
    end = i + 1;
  }
  return end;
}

/** Whether a block without indent still belongs to the item above it. */
function isLooselyBelow(state: State, block: Block, blank: boolean): boolean {
  if (block.kind === "fence" || block.kind === "quote") return true;
  if (block.kind !== "text") return false;
  if (loneCode(block.text) !== undefined) return true;
  return !blank && asLabel(block.text) === undefined && !startsRemark(state, block.text);
}

/** Whether a line without a bullet begins a remark: a mark, a severity with a colon, a path with a line. */
function startsRemark(state: State, text: string): boolean {
  if (isBoldHeading(state, text)) return true;
  const { severity, place, good } = peel(plainInline(text), state.paths);
  return severity !== undefined || good === true || isPlaced(place, state.paths);
}

/** Whether a place names a file and a line; in a change of one file a line is enough. */
function isPlaced(place: Place | undefined, paths: PathIndex): boolean {
  return place?.line !== undefined && (place.said !== undefined || paths.only !== undefined);
}

function readText(state: State, i: number, block: Block & { kind: "text" }): number {
  leave(state, ITEM_LEVEL);
  if (isBoldHeading(state, block.text)) return readSection(state, i, LABEL_LEVEL, block.text);
  const pieces = splitAtMarks(state, block.text);
  if (pieces.length > 1) {
    for (const piece of pieces) addEntry(state, piece, [], { sure: true });
    return i + 1;
  }
  const label = asLabel(block.text);
  if (label) {
    const words = readHeading(label.label);
    const severity = peel(plainInline(block.text), state.paths).severity ?? words.severity;
    enter(state, { level: LABEL_LEVEL, ...(words.kind && { kind: words.kind }), ...(severity && { severity }) });
    return i + 1;
  }
  const { kind } = context(state);
  if (kind === "issues" && clears(block.text)) enter(state, { level: LABEL_LEVEL, kind: "cleared" });
  if (kind === "ignored" || !startsRemark(state, block.text)) return i + 1;
  const titled = peel(plainInline(block.text), state.paths).title !== "";
  let end = i + 1;
  for (; end < state.blocks.length; end++) {
    const next = state.blocks[end]!;
    if (next.kind === "blank" && !titled && end === i + 1) continue; // its title stands below
    if (next.kind === "text" ? !isLooselyBelow(state, next, false) : next.kind !== "fence" && next.kind !== "quote") {
      break;
    }
  }
  addEntry(state, block.text, state.blocks.slice(i + 1, end), {});
  return end;
}

const CIRCLE = /[🔴🟠🟡]/u;

/** A line with several marks in it, each in front of a place, is several remarks. */
function splitAtMarks(state: State, text: string): string[] {
  if (text.search(CIRCLE) <= 0 && text.split(CIRCLE).length < 3) return [text];
  const pieces = text.split(/(?=[🔴🟠🟡])/u).filter((piece) => CIRCLE.test(piece));
  const placed = pieces.every((piece) => peel(plainInline(piece), state.paths).place?.said !== undefined);
  return placed && pieces.length > 0 && (pieces.length > 1 || text.search(CIRCLE) > 0) ? ["", ...pieces] : [text];
}

function addPieces(state: State, head: string, rest: Block[], how: EntryOptions): void {
  const pieces = head.split(CIRCLE).length > 2 ? splitAtMarks(state, head).filter((piece) => piece !== "") : [head];
  for (const [at, piece] of pieces.entries()) addEntry(state, piece, at === pieces.length - 1 ? rest : [], how);
}

interface EntryOptions {
  /** It is known to be a remark. */
  sure?: boolean;
  /** It is an item of a list. */
  item?: boolean;
}

/** Adds the remark that a line and the blocks below it make, if they make one. */
function addEntry(state: State, head: string, rest: Block[], { sure = false, item = false }: EntryOptions): void {
  const above = context(state);
  const key = JSON.stringify([head, above.path?.said, rest.slice(0, 4)]);
  if (head === "" || state.seen.has(key)) return; // a model in a loop says the same again and again
  state.seen.add(key);
  const text = plainInline(head);
  const peeledHead = peel(text, state.paths);
  // "**File:** x.ts" as the first line: the title comes below.
  const field = peeledHead.place || peeledHead.severity ? undefined : readField(text);
  const peeled: Peeled = field ? { title: "" } : peeledHead;
  const details = readDetails(rest.slice(0, MAX_REST), field, state.paths);
  const own = splitTitle(peeled.title);
  const wording = own.title === ""
    ? splitTitle((details.body.shift() ?? "").replaceAll("**", BOLD).replace(BOLD, ""))
    : own;
  const severity = peeled.severity ?? severityIn(details.severity);
  const place = choosePlace(peeled, details, text, above, state.paths);
  if (peeled.good || saysNothing(peeled.title) || saysNothing(wording.title) || !/[\p{L}\p{N}]/u.test(wording.title)) {
    return;
  }
  if (PLACEHOLDER.test(text.slice(0, 300)) || isLegend(text, peeled.place)) return;
  const placed = place.line !== undefined && place.said !== undefined;
  const inIssues = above.kind === "issues";
  if (above.kind === "cleared" && (severity === undefined || peeled.word !== undefined)) return;
  const strong = severity !== undefined &&
    (peeled.word === undefined || placed || inIssues || (item && !isWeakSeverity(peeled.word)));
  const start = isPlaced(peeled.place, state.paths);
  if (
    !sure && !strong && !(inIssues && (item || start)) &&
    !(above.kind === undefined && start && !isPraise(wording.title))
  ) return;
  if (severity === undefined && isPraise(wording.title)) return;
  state.remarks.push({
    severity: severity ?? above.severity ?? DEFAULT_SEVERITY,
    place,
    title: wording.title,
    body: clip([wording.body, ...details.body].join("\n").trim(), MAX_BODY_CHARS),
    quotes: [
      ...(peeled.quote === undefined ? [] : [{ lines: [peeled.quote], sure: true }]),
      ...details.quotes,
      ...[head, ...details.loose].flatMap(codeIn).slice(0, MAX_UNSURE).map((code) => ({ lines: [code], sure: false })),
    ],
  });
}

/** A line with several different marks and no place explains the marks or counts them. */
function isLegend(text: string, place: Place | undefined): boolean {
  return place === undefined && new Set(text.match(/[🔴🟠🟡]/gu)).size > 1;
}

/** The place of a remark: its own field, else at its start, else what its heading says, else anywhere in its first line. */
function choosePlace(
  { place: start }: Peeled,
  { place: field }: Details,
  text: string,
  { path: inherited }: Omit<Section, "level">,
  paths: PathIndex,
): Place {
  const own = field.said !== undefined ? field : start?.said !== undefined ? start : undefined;
  const lines = field.line !== undefined ? field : start?.line !== undefined ? start : undefined;
  const within = own && lines ? undefined : placeIn(text, paths);
  const inner = within?.said !== undefined && (within.line !== undefined || !inherited) ? within : undefined;
  const only = paths.only === undefined ? undefined : { said: paths.only, path: paths.only };
  const { said, path } = own ?? inner ?? inherited ?? (within?.said === undefined ? only : within) ?? {};
  const { line, endLine } = lines ?? (within?.line !== undefined ? within : own ?? inherited ?? {});
  return {
    ...(said !== undefined && { said }),
    ...(path !== undefined && { path }),
    ...(line !== undefined && { line }),
    ...(endLine !== undefined && { endLine }),
  };
}

/** What a column of a table holds. */
type Column = Field | "title";

/** Reads a table whose header names an issue and its place or severity. */
function readTableRows(state: State, [header, ...rows]: string[][]): void {
  const above = context(state);
  const columns = (header ?? []).map((cell): Column | undefined => columnOf(plainInline(cell).replaceAll(BOLD, "")));
  const hasTitle = columns.includes("title") || columns.includes("text");
  const hasPlace = ["place", "line", "severity"].some((field) => columns.includes(field as Column));
  if (above.kind === "ignored" || !hasTitle || !hasPlace) return;
  // A table of files and what changed in them has no lines and no severities.
  if (above.kind !== "issues" && !columns.includes("severity") && !columns.includes("line")) return;
  for (const row of rows.slice(0, MAX_REMARKS)) addRow(state, columns, row);
}

function columnOf(name: string): Column | undefined {
  const plain = name.trim().toLowerCase();
  if (/^(?:file|path|datei|文件|ファイル)\s*[:/(].*(?:line|zeile|行)/.test(plain)) return "place";
  const field = fieldOf(plain);
  if (field === "text") return "title";
  return field ?? (readHeading(plain).kind === "issues" ? "title" : undefined);
}

function addRow(state: State, columns: readonly (Column | undefined)[], row: readonly string[]): void {
  const cell = (column: Column) => row.filter((_, at) => columns[at] === column).join(" — ");
  const severity = severityIn(cell("severity"));
  const peeled = peel(plainInline(cell("title") || cell("text")), state.paths);
  const { title, body } = splitTitle(peeled.title);
  if (title === "" || saysNothing(title) || peeled.good || PLACEHOLDER.test(cell("place"))) return;
  const named = placeAtStart(plainInline(cell("place")), state.paths)?.place ?? peeled.place;
  const lines = placeAtStart(`line ${cell("line").replace(/^[^\d]+/, "")}`, state.paths)?.place;
  const only = state.paths.only === undefined ? {} : { said: state.paths.only, path: state.paths.only };
  const code = cell("code").replace(/^`+|`+$/g, "").trim();
  state.remarks.push({
    severity: severity ?? peeled.severity ?? context(state).severity ?? DEFAULT_SEVERITY,
    place: { ...(named?.said === undefined ? only : {}), ...named, ...lines },
    title,
    body,
    quotes: [
      ...(code === "" ? [] : [{ lines: [decodeEntities(code)], sure: true }]),
      ...codeIn(cell("title")).map((line) => ({ lines: [line], sure: false })),
    ],
  });
}
