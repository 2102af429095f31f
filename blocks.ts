/**
 * The Markdown of a review as a flat list of blocks, read leniently: what small models write is rarely well-formed. Every
 * step is linear in the text.
 *
 * @module
 */

/** One block of a review. Indents are in columns, a tab counts 4. */
export type Block =
  | { kind: "heading"; level: number; text: string }
  | { kind: "item"; indent: number; text: string }
  | { kind: "text"; indent: number; text: string }
  | { kind: "quote"; indent: number; text: string }
  | { kind: "fence"; indent: number; info: string; lines: string[] }
  | { kind: "table"; rows: string[][] }
  | { kind: "blank" };

/** Lines of a review that are read: a model in a loop writes more. */
const MAX_LINES = 5_000;
/** Characters of a line that are looked at: more is no sentence of a review. */
const MAX_LINE_CHARS = 2_000;

const SHORTCODES: Readonly<Record<string, string>> = {
  red_circle: "🔴",
  orange_circle: "🟠",
  large_orange_circle: "🟠",
  yellow_circle: "🟡",
  large_yellow_circle: "🟡",
  warning: "⚠",
  x: "❌",
  bug: "🐛",
  white_check_mark: "✅",
};

/** Reads a review's text. */
export function readBlocks(review: string): Block[] {
  const lines = unwrap(withoutThinking(review).split(/\r\n?|\n/, MAX_LINES));
  const blocks: Block[] = [];
  for (let i = 0; i < lines.length;) {
    const line = tidy(lines[i]!);
    const fence = /^\s*(`{3,}|~{3,})([^`]*)$/.exec(line);
    if (fence) i = readFence(lines, i, fence[1]!, fence[2]!.trim(), indentOf(line), blocks);
    else if (isRow(line) && isDelimiter(lines[i + 1])) i = readTable(lines, i, blocks);
    else if (isUnderline(lines[i + 1]) && /^\s{0,3}[^\s>#|`*+-].{0,80}$/.test(line)) {
      blocks.push({ kind: "heading", level: lines[i + 1]!.includes("=") ? 1 : 2, text: line.trim() });
      i += 2;
    } else {
      blocks.push(readLine(line));
      i++;
    }
  }
  return blocks;
}

/** Drops reasoning that leaked into the answer: `<think>` to `</think>`, or all in front of a bare `</think>`. */
function withoutThinking(text: string): string {
  const end = text.trimStart().startsWith("<think>") ? text.indexOf("</think>") : text.indexOf("\n</think>\n");
  return end < 0 ? text : text.slice(text.indexOf(">", end) + 1);
}

/** A whole answer in one fence is what stands in it. */
function unwrap(lines: string[]): string[] {
  const first = lines.findIndex((line) => line.trim() !== "");
  if (first < 0 || !/^\s*(`{3,}|~{3,})\s*(markdown|md)\s*$/i.test(lines[first]!.slice(0, 80))) return lines;
  const inner = lines.slice(first + 1);
  const last = inner.findLastIndex((line) => line.trim() !== "");
  return last >= 0 && /^\s*(`{3,}|~{3,})\s*$/.test(inner[last]!.slice(0, 80)) ? inner.slice(0, last) : inner;
}

/** A line without HTML, with emoji for their names. */
function tidy(line: string): string {
  let text = line.length > MAX_LINE_CHARS ? line.slice(0, MAX_LINE_CHARS) : line;
  if (text.includes("<")) {
    text = text.replace(/<\/?code>/gi, "`").replace(/<\/?(?:b|strong)>/gi, "**").replace(/<br ?\/?>/gi, " ")
      .replace(/<summary>/gi, "#### ").replace(/<\/?(?:details|summary|p|i|em|ul|ol|sub|div)>/gi, "")
      .replace(/<li>/gi, "- ").replace(/<\/li>/gi, "");
  }
  if (text.includes(":")) text = text.replace(/:([a-z_]{1,20}):/g, (all, name: string) => SHORTCODES[name] ?? all);
  return text;
}

function readLine(line: string): Block {
  if (line.trim() === "") return { kind: "blank" };
  const indent = indentOf(line);
  const text = line.trim();
  const heading = /^(#{1,6})(?:\s+|(?=[^\s#\d!]))(.*)$/.exec(text);
  if (heading && indent < 4) {
    return { kind: "heading", level: heading[1]!.length, text: heading[2]!.replace(/\s#+$/, "") };
  }
  if (text.startsWith(">")) return { kind: "quote", indent, text: text.replace(/^(?:> ?)+/, "") };
  const item = /^(?:[-*+•‣▪●○◦]|\(?\d{1,3}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?(?=\S)/.exec(text);
  // A rule such as "- - -" is no item.
  if (item && !/^[-*_ ]+$/.test(text)) return { kind: "item", indent, text: text.slice(item[0].length) };
  return /^(?:-{3,}|\*{3,}|_{3,}|={3,})$/.test(text) ? { kind: "blank" } : { kind: "text", indent, text };
}

function indentOf(line: string): number {
  let columns = 0;
  for (const char of line) {
    if (char === " ") columns++;
    else if (char === "\t") columns += 4;
    else break;
  }
  return columns;
}

/** Takes a fence that opens at line `at`; it ends with its closing line or with the text. Gives the line behind it. */
function readFence(lines: string[], at: number, marker: string, info: string, indent: number, blocks: Block[]): number {
  const inner: string[] = [];
  const margin = lines[at]!.length - lines[at]!.trimStart().length;
  let i = at + 1;
  for (; i < lines.length; i++) {
    const text = lines[i]!.slice(0, MAX_LINE_CHARS).trim();
    if (text.startsWith(marker) && text.replaceAll(marker[0]!, "") === "") break;
    inner.push(lines[i]!.slice(0, margin).trimStart() + lines[i]!.slice(margin));
  }
  blocks.push({ kind: "fence", indent, info: info.toLowerCase(), lines: inner });
  return i + 1;
}

/** The line below a heading of the kind that is underlined. */
function isUnderline(line: string | undefined): boolean {
  return line !== undefined && line.length < 200 && /^\s{0,3}(?:-{3,}|={3,})\s*$/.test(line);
}

function isRow(line: string): boolean {
  return line.includes("|");
}

function isDelimiter(line: string | undefined): boolean {
  return line !== undefined && line.length < 500 && line.includes("|") && /^[\s|:-]+$/.test(line) && line.includes("-");
}

function readTable(lines: string[], at: number, blocks: Block[]): number {
  const rows = [cells(lines[at]!)];
  let i = at + 2;
  for (; i < lines.length && isRow(lines[i]!); i++) rows.push(cells(lines[i]!));
  blocks.push({ kind: "table", rows });
  return i;
}

/** The cells of a row. A bar is escaped with a backslash, also inside code. */
function cells(line: string): string[] {
  const text = tidy(line).trim().replace(/^\|/, "").replace(/(^|[^\\])\|$/, "$1");
  return text.split(/(?<!\\)\|/).map((cell) => cell.replaceAll("\\|", "|").trim());
}
