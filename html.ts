/**
 * Text as HTML: nothing in it can be markup, hide, turn the direction of what stands beside it, or command a GitHub runner.
 *
 * @module
 */

import { visible } from "./text.ts";

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** Text for an element or a quoted attribute. */
export function escapeHtml(text: string): string {
  const escaped = visible(text).replace(/[&<>"']/g, (char) => ENTITIES[char]!);
  // On the log of a workflow a line that begins with `::`, or holds `##[`, is a command.
  return escaped.replaceAll("##[", "#&#35;[").replace(/^(\s*)::/gm, "$1&#58;:");
}
