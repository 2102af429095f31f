/**
 * A review's Markdown as HTML: headings, lists, tables, code, bold. Everything else is text. There are no links and no
 * images: nobody's text makes a browser go anywhere.
 *
 * @module
 */

import { type Block, readBlocks } from "./blocks.ts";
import { escapeHtml } from "./html.ts";

/** Deepest level of a list that is indented further. */
const MAX_DEPTH = 3;

/** Markdown as HTML. */
export function markdownHtml(markdown: string): string {
  const html: string[] = [];
  let list = false;
  for (const group of grouped(readBlocks(markdown))) {
    const [first] = group;
    const inList: boolean = first.kind === "item" || (list && isInside(first));
    if (inList && !list) html.push("<ul>");
    if (!inList && list) html.push("</ul>");
    list = inList;
    html.push(first.kind === "item" || !list ? blockHtml(group) : `<li class="more">${blockHtml(group)}</li>`);
  }
  if (list) html.push("</ul>");
  return html.join("\n");
}

/** A line of Markdown as HTML: code and bold. */
export function inlineHtml(text: string): string {
  const pieces = text.split(/(`+)(?!`)([^]*?[^`])\1(?!`)/);
  let html = "";
  for (let i = 0; i < pieces.length; i += 3) {
    html += boldHtml(pieces[i]!);
    const code = pieces[i + 2];
    if (code !== undefined) html += `<code>${escapeHtml(code.replace(/^ (.*\S.*) $/, "$1"))}</code>`;
  }
  return html;
}

function boldHtml(text: string): string {
  return escapeHtml(text).replace(/\*\*(?=\S)([^*]+?)(?<=\S)\*\*/g, "<strong>$1</strong>");
}

/** Lines of text that follow each other are one paragraph; blank lines only part. */
function grouped(blocks: readonly Block[]): [Block, ...Block[]][] {
  const groups: [Block, ...Block[]][] = [];
  let previous: Block | undefined;
  for (const block of blocks) {
    const last = groups[groups.length - 1];
    const goesOn = (block.kind === "text" || block.kind === "quote") && previous?.kind === block.kind;
    if (last && goesOn) last.push(block);
    else if (block.kind !== "blank") groups.push([block]);
    previous = block;
  }
  return groups;
}

function isInside(block: Block): boolean {
  return (block.kind === "text" || block.kind === "fence" || block.kind === "quote") && block.indent >= 2;
}

function blockHtml(group: readonly [Block, ...Block[]]): string {
  const [block] = group;
  switch (block.kind) {
    case "heading": {
      const level = Math.min(6, block.level + 3); // those above it are the report's own
      return `<h${level}>${inlineHtml(block.text)}</h${level}>`;
    }
    case "item":
      return `<li class="depth${Math.min(MAX_DEPTH, Math.floor(block.indent / 2))}">${inlineHtml(block.text)}</li>`;
    case "fence":
      return `<pre><code>${escapeHtml(block.lines.join("\n"))}</code></pre>`;
    case "table":
      return tableHtml(block.rows);
    case "quote":
      return `<blockquote>${linesHtml(group)}</blockquote>`;
    case "text":
      return `<p>${linesHtml(group)}</p>`;
    case "blank":
      return "";
  }
}

function linesHtml(group: readonly Block[]): string {
  return group.map((block) => "text" in block ? inlineHtml(block.text) : "").join("<br>\n");
}

function tableHtml([head = [], ...rows]: readonly string[][]): string {
  const row = (cells: readonly string[], tag: string) =>
    `<tr>${cells.map((cell) => `<${tag}>${inlineHtml(cell)}</${tag}>`).join("")}</tr>`;
  return `<table class="plain"><thead>${row(head, "th")}</thead><tbody>${
    rows.map((cells) => row(cells, "td")).join("\n")
  }</tbody></table>`;
}
