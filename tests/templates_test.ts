import { test } from "node:test";
import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { UsageError } from "../errors.ts";
import { loadTemplates, SHIPPED, templateNames } from "../templates.ts";
import { withFolder, write } from "./support.ts";

const VALUES = {
  title: "A & B <c>",
  part: 2,
  parts: 3,
  multipart: true,
  files: ["a.ts", "b.ts"],
  moreFiles: 4,
  shown: [{ path: "a.ts", trimmed: true }],
  trimmedFiles: ["a.ts"],
  known: ["a.ts:1: a conflict marker"],
  fence: "````",
  diff: "+{{title}} ``` & <b>",
};

test("the shipped review prompt holds the values as they are: no escaping, no template inside a value", async () => {
  const text = (await loadTemplates()).render("review", VALUES);
  assertStringIncludes(text, "A & B <c>");
  assertStringIncludes(text, "````diff\n+{{title}} ``` & <b>\n````");
  assertStringIncludes(text, "part 2 of 3");
  for (const part of ["- a.ts", "- b.ts", "and 4 more", "a.ts:1: a conflict marker"]) assertStringIncludes(text, part);
});

test("the shipped review prompt says nothing of parts, cuts and known findings where there are none", async () => {
  const values = { ...VALUES, part: 1, parts: 1, multipart: false, moreFiles: 0, trimmedFiles: [], known: [] };
  const text = (await loadTemplates()).render("review", values);
  for (const word of ["part 1 of 1", "only in part", "Already reported", "more\n"]) assert(!text.includes(word), word);
});

test("what is the same for all parts comes first, so that a server can reuse it", async () => {
  const { render } = await loadTemplates();
  const [one, two] = [1, 2].map((part) => render("review", { ...VALUES, part, diff: `+${part}` }));
  let same = 0;
  while (one![same] === two![same]) same++;
  assert(same > one!.length / 2, `${same} of ${one!.length} characters`);
});

test("the shipped templates leave room for a part in a window of 8,000 tokens", () => {
  for (const name of templateNames()) assert(SHIPPED[name].length < 4_000, `${name}: ${SHIPPED[name].length}`);
});

test("a template of the user's takes the place of the shipped one", async () => {
  await withFolder(async (dir) => {
    write(dir, {
      "review.md": "{{#each shown}}{{path}}{{#if trimmed}}!{{/if}}{{/each}} {{../title}}{{{diff}}}".replace(
        "{{../title}}",
        "{{title}}",
      ),
    });
    const templates = await loadTemplates({ dir });
    assertEquals(templates.files, { "review": `${dir}/review.md`, "review-summary": undefined });
    assertEquals(templates.render("review", VALUES), `a.ts! ${VALUES.title}${VALUES.diff}`);
  });
});

const REFUSED: [name: string, text: string, line: number, message: string][] = [
  ["an unknown variable", "a\n{{titel}}", 2, 'No variable "titel"'],
  ["an unknown variable in a condition", "{{#if\nnope}}x{{/if}}", 2, 'No variable "nope"'],
  ["an unknown field of a list", "{{#each shown}}\n{{name}}{{/each}}", 2, 'No variable "name"'],
  ["a variable of the outside inside a list", "{{#each shown}}{{title}}{{/each}}", 1, 'No variable "title"'],
  ["a helper that is not there", "{{shout title}}", 1, 'No helper "shout"'],
  ["a block that is not there", "{{#loop files}}{{/loop}}", 1, 'No block "loop"'],
  ["a partial", "{{> other}}", 1, "is not used in templates"],
  ["a field of a text", "{{title.length}}", 1, 'No variable "title.length"'],
  ["a property that every object has", "{{constructor}}", 1, 'No variable "constructor"'],
  ["a block without its end", "x\n{{#if title}}", 2, "has a syntax error"],
];

for (const [name, text, line, message] of REFUSED) {
  test(`loadTemplates() refuses ${name}, with its line`, async () => {
    await withFolder(async (dir) => {
      write(dir, { "review.md": text });
      const error = await assertRejects(() => loadTemplates({ dir }), UsageError);
      assertStringIncludes(error.message, message);
      assertStringIncludes(error.message, `review.md:${line}`);
    });
  });
}

test("a variable of the outside is reached from a list with ../", async () => {
  await withFolder(async (dir) => {
    write(dir, { "review.md": "{{#each files}}{{this}} {{../title}} {{@index}} {{/each}}{{files.length}}" });
    const text = (await loadTemplates({ dir })).render("review", { ...VALUES, title: "T" });
    assertEquals(text, "a.ts T 0 b.ts T 1 2");
  });
});
