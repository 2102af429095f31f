import { test } from "node:test";
import { assert, assertEquals } from "@std/assert";
import { inlineHtml, markdownHtml } from "../html_markdown.ts";

const INLINE: [markdown: string, html: string][] = [
  ["plain", "plain"],
  ["a `code` b", "a <code>code</code> b"],
  ["`` a`b ``", "<code>a`b</code>"],
  ["**bold** and 2**3", "<strong>bold</strong> and 2**3"],
  ["`**not bold**`", "<code>**not bold**</code>"],
  ["<b>&\"'", "&lt;b&gt;&amp;&quot;&#39;"],
  ["`<script>`", "<code>&lt;script&gt;</code>"],
  ["[x](javascript:alert(1))", "[x](javascript:alert(1))"],
  ["![x](https://example.org/x.png)", "![x](https://example.org/x.png)"],
  ["an `unclosed", "an `unclosed"],
];

for (const [markdown, html] of INLINE) {
  test(`inlineHtml() of ${markdown}`, () => assertEquals(inlineHtml(markdown), html));
}

test("blocks become headings below the report's own, paragraphs, lists, tables, quotes and code", () => {
  const markdown =
    "# One\n\ntwo\nlines\n\n- a\n  more of a\n  - b\n\n> said\n\n```ts\nif (a < b) {}\n```\n\n| h |\n|---|\n| `c` |\n";
  assertEquals(
    markdownHtml(markdown),
    [
      "<h4>One</h4>",
      "<p>two<br>\nlines</p>",
      "<ul>",
      '<li class="depth0">a</li>',
      '<li class="more"><p>more of a</p></li>',
      '<li class="depth1">b</li>',
      "</ul>",
      "<blockquote>said</blockquote>",
      "<pre><code>if (a &lt; b) {}</code></pre>",
      '<table class="plain"><thead><tr><th>h</th></tr></thead><tbody><tr><td><code>c</code></td></tr></tbody></table>',
    ].join("\n"),
  );
});

test("markup in Markdown is text, in every kind of block", () => {
  const evil = "<img src=x onerror=alert(1)>";
  for (const frame of ["X", "# X", "- X", "> X", "```\nX\n```", "| X |\n|---|\n| X |", "`X`", "**X**", "1. X"]) {
    const html = markdownHtml(frame.replaceAll("X", evil));
    assert(!html.includes("<img"), html);
  }
});

test("a long text of marks is read in a moment", () => {
  for (const piece of ["`", "**", "**a", "`` ` ", "> ", "- ", "| |\n|-|\n"]) markdownHtml(piece.repeat(20_000));
});
