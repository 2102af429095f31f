/**
 * What a line of Markdown is: the quotes and list items it stands in, and the kind of block.
 *
 * Told from as little of the line as is needed, so that its text can be shown while the line still comes. Where it differs
 * from CommonMark, it is because the text comes from a model and cannot be taken back:
 *
 * - A line stands in a quote or an item only if it is marked or indented as such (no lazy continuation). In a list the
 *   indentation may be smaller or greater than CommonMark wants: two columns behind the parent's mark are enough.
 * - A fence in a list item goes on whatever the indentation, until it is closed.
 * - A table's lines start with `|`. Underlining a line with `===` or `---` draws a rule below it.
 *
 * @module
 */

/** A quote or a list item that blocks stand in. */
export type Container = { kind: "quote" } | Item;

/** A list item. */
export interface Item {
  /** Tells it from a quote. */
  kind: "item";
  /** Columns before its mark. */
  indent: number;
  /** Columns before its text. */
  content: number;
  /** Its mark, as written: `-`, `12.`, or with a box `[ ]`, `[x]`. */
  mark: string;
}

/** An open fence. */
export interface Fence {
  /** Backtick or tilde. */
  char: string;
  /** How many of them. */
  length: number;
  /** Columns before it. */
  indent: number;
  /** First word behind it. */
  language: string;
}

/** What is open before a line. */
export interface Open {
  /** From the outermost on. */
  containers: readonly Container[];
  /** The block in the innermost container that the line may go on. */
  block: Block | undefined;
}

/** A block that goes on over several lines. */
export type Block = { kind: "paragraph" } | { kind: "table" } | { kind: "fence"; fence: Fence };

/** A line, told. */
export interface Line {
  /** How many of the open containers it stands in. */
  depth: number;
  /** The containers that it opens inside of those. */
  opened: Container[];
  /** The block it is, starts, goes on or ends. `fenced` is a line of code in a fence, `code` one that is indented. */
  kind: "blank" | "text" | "heading" | "rule" | "code" | "row" | "fence" | "fenced" | "fence end";
  /** What stands behind its marks. */
  text: string;
  /** Of a heading: 1 to 6. */
  level?: number;
  /** Of a fence that it opens. */
  fence?: Fence;
}

/** Deepest nesting of quotes and items; deeper marks are text. */
const MAX_DEPTH = 12;

/** Columns of indentation that make a line code. */
const CODE_INDENT = 4;

/** Columns of a tab stop (CommonMark, "Tabs"). */
const TAB = 4;

/**
 * Tells what a line is.
 *
 * @param line The line, or its beginning.
 * @param complete Whether that is all of it; then there is an answer.
 * @returns Nothing where more of the line must tell. What is told stays true, whatever follows.
 */
export function readLine(line: string, complete: boolean, open: Open): Line | undefined {
  let rest = expandIndent(line);
  let depth = 0;
  for (const container of open.containers) {
    const inside = enter(container, rest, open.block?.kind === "fence");
    if (inside === undefined) break;
    rest = inside;
    depth++;
  }
  const block = depth === open.containers.length ? open.block : undefined;
  if (block?.kind === "fence") {
    const told = readFenced(rest, complete, block.fence);
    return told && { depth, opened: [], ...told };
  }
  const inList = open.containers.slice(0, depth).some(isItem);
  return readBlock(rest, complete, { depth, block, inList });
}

/** The line behind a container's mark or indentation, or nothing where it stands outside. */
function enter(container: Container, rest: string, inFence: boolean): string | undefined {
  if (container.kind === "quote") return behindQuote(rest);
  const indent = indentOf(rest);
  const isBlank = indent === rest.length;
  const isInside = isBlank || inFence || indent >= Math.min(container.content, container.indent + 2);
  return isInside ? rest.slice(Math.min(indent, container.content)) : undefined;
}

/** What a line says, without the containers it stands in. */
type Told = Omit<Line, "depth" | "opened">;

function readFenced(rest: string, complete: boolean, fence: Fence): Told | undefined {
  const indent = indentOf(rest);
  const mark = rest.trim();
  const mayEnd = indent < CODE_INDENT && mark === fence.char.repeat(mark.length);
  if (!complete && (mayEnd || mark === "")) return undefined;
  if (mayEnd && mark.length >= fence.length) return { kind: "fence end", text: rest };
  return { kind: "fenced", text: rest.slice(Math.min(indent, fence.indent)) };
}

/** Where a line stands, once its open containers are known. */
interface Place {
  depth: number;
  /** The block that it may go on. */
  block: Block | undefined;
  /** Whether a list item is around it. */
  inList: boolean;
}

function readBlock(line: string, complete: boolean, place: Place): Line | undefined {
  const { depth } = place;
  const opened: Container[] = [];
  let rest = line;
  for (;;) {
    const told = readLeaf(
      rest,
      complete,
      opened.length === 0 ? place : {
        depth,
        block: undefined,
        inList: place.inList || opened.some(isItem),
      },
    );
    if (told === undefined) return undefined;
    if (told !== "container") {
      const isEmptyItem = told.kind === "blank" && opened.some(isItem);
      return { depth, opened, ...told, kind: isEmptyItem ? "text" : told.kind };
    }
    if (depth + opened.length >= MAX_DEPTH) return { depth, opened, kind: "text", text: rest.trimStart() };
    const inner = readContainer(rest, complete);
    if (inner === undefined) return undefined;
    opened.push(inner.container);
    rest = inner.rest;
  }
}

/** What a line is inside of its containers, or that it opens one more. */
function readLeaf(rest: string, complete: boolean, { block, inList }: Place): Told | "container" | undefined {
  const text = rest.trimStart();
  if (text === "") return complete ? { kind: "blank", text } : undefined;
  const indent = indentOf(rest);
  const mayBeCode = indent >= CODE_INDENT && block?.kind !== "paragraph";
  if (mayBeCode && !inList) return { kind: "code", text: rest.slice(CODE_INDENT) };
  const isRule = isRuleMark(text, block);
  if (!complete && (isRule || needsMore(text, block))) return undefined;
  if (isRule && text.replaceAll(/\s/g, "").length >= 3) return { kind: "rule", text };
  if (FENCE.test(text)) return readFence(text, indent);
  if (CONTAINER.test(text)) return "container";
  if (mayBeCode) return { kind: "code", text: rest.slice(CODE_INDENT) };
  const heading = /^(#{1,6})(?:\s+|$)/.exec(text);
  if (heading) return { kind: "heading", text: text.slice(heading[0].length), level: heading[1]?.length ?? 1 };
  const isRow = text.startsWith("|") || (block?.kind === "table" && text.includes("|"));
  return { kind: isRow ? "row" : "text", text };
}

const FENCE = /^(?:```+[^`]*|~~~+.*)$/s;
const CONTAINER = /^(?:>|(?:[-+*]|\d{1,9}[.)])(?:\s|$))/;

/** Beginnings that more text can make something else. A table's line and a fence's are read when they are complete. */
function needsMore(text: string, block: Block | undefined): boolean {
  return text.startsWith("|") || block?.kind === "table" || text.startsWith("```") || text.startsWith("~~~") ||
    /^(?:`{1,2}|~{1,2}|#{1,6}\s*|\d{1,9}[.)]?|[-+*])$/.test(text);
}

/** Whether a text has only the marks of a rule. */
function isRuleMark(text: string, block: Block | undefined): boolean {
  const mark = text[0] ?? "";
  if (!"-*_".includes(mark) && !(mark === "=" && block?.kind === "paragraph")) return false;
  for (const char of text) if (char !== mark && char !== " " && char !== "\t") return false;
  return true;
}

function readFence(text: string, indent: number): Told {
  const mark = /^(?:`+|~+)/.exec(text)?.[0] ?? "";
  const language = text.slice(mark.length).trim().split(/\s/, 1)[0] ?? "";
  return { kind: "fence", text, fence: { char: mark[0] ?? "`", length: mark.length, indent, language } };
}

/** Reads the mark of a quote or an item, and what stands behind it. */
function readContainer(line: string, complete: boolean): { container: Container; rest: string } | undefined {
  const behind = behindQuote(line);
  if (behind !== undefined) return { container: { kind: "quote" }, rest: behind };
  const indent = indentOf(line);
  const mark = /^(?:[-+*]|\d+[.)])/.exec(line.slice(indent))?.[0] ?? "";
  const after = expandIndent(line.slice(indent + mark.length));
  const spaces = indentOf(after);
  if (spaces === after.length && !complete) return undefined;
  const padding = spaces === after.length || spaces > CODE_INDENT ? 1 : spaces;
  const rest = after.slice(padding);
  if (!complete && /^\[(?:[ xX]\]?)?$/.test(rest)) return undefined;
  const box = /^\[[ xX]\](?:\s|$)/.exec(rest)?.[0] ?? "";
  return {
    container: { kind: "item", indent, content: indent + mark.length + padding, mark: `${mark} ${box}`.trim() },
    rest: rest.slice(box.length),
  };
}

function behindQuote(line: string): string | undefined {
  const mark = /^ *> ?/.exec(line)?.[0];
  return mark === undefined ? undefined : expandIndent(line.slice(mark.length));
}

function isItem(container: Container): container is Item {
  return container.kind === "item";
}

function indentOf(line: string): number {
  let indent = 0;
  while (line[indent] === " ") indent++;
  return indent;
}

/** The line with the tabs before its text as spaces. */
function expandIndent(line: string): string {
  const indent = /^[ \t]*/.exec(line)?.[0] ?? "";
  if (!indent.includes("\t")) return line;
  let spaces = "";
  for (const char of indent) spaces += char === "\t" ? " ".repeat(TAB - spaces.length % TAB) : " ";
  return spaces + line.slice(indent.length);
}
