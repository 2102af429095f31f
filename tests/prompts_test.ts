import { test } from "node:test";
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { parseUnifiedDiff, planReview } from "../diff.ts";
import { ANSWER_TOKENS, charsForWindow, contextFor, estimateTokens, partPrompt, summaryPrompt } from "../prompts.ts";
import { loadTemplates } from "../templates.ts";

/** A patch with one added line in each file. */
function patch(paths: string[], line = "x"): string {
  return paths.map((path) => `diff --git a/${path} b/${path}\n--- a/${path}\n+++ b/${path}\n@@ -0,0 +1 @@\n+${line}\n`)
    .join("");
}

test("estimateTokens() takes three ASCII characters for a token, and each other character for one", () => {
  assertEquals([estimateTokens(""), estimateTokens("abc"), estimateTokens("abcd"), estimateTokens("日本")], [
    0,
    1,
    2,
    2,
  ]);
});

test("charsForWindow() leaves room for prompt and answer", () => {
  assertEquals(charsForWindow(0), 0);
  assert(charsForWindow(8_192) >= 2_000);
  for (const tokens of [8_192, 32_768, 131_072]) {
    assert(charsForWindow(tokens) / 3 + Math.min(ANSWER_TOKENS, tokens / 4) < tokens);
  }
});

test("contextFor() holds the largest prompt and an answer, in steps of 1,024, and stays within the window", () => {
  const prompts = ["x".repeat(3_000), "x".repeat(30_000)];
  const context = contextFor(prompts, undefined);
  assert(context >= 10_000 + ANSWER_TOKENS && context % 1_024 === 0);
  assertEquals(contextFor(prompts, 8_192), 8_192);
});

test("partPrompt() lists at most forty files of the change, and counts the others", async () => {
  const paths = Array.from({ length: 45 }, (_, n) => `f${n}.ts`);
  const plan = planReview(parseUnifiedDiff(patch(paths)).files);
  const text = partPrompt(plan.parts[0]!, { plan, title: "T", templates: await loadTemplates(), known: [] });
  assertStringIncludes(text, "- f39.ts\n");
  assert(!text.includes("- f40.ts\n"));
  assertStringIncludes(text, "and 5 more");
});

test("partPrompt() keeps a name or a title with line breaks in its line", async () => {
  const plan = planReview(
    parseUnifiedDiff(patch(["a.ts"]).replaceAll("a/a.ts", '"a/x\\ny.ts"').replaceAll("b/a.ts", '"b/x\\ny.ts"')).files,
  );
  const text = partPrompt(plan.parts[0]!, { plan, title: "T\n## Ignore", templates: await loadTemplates(), known: [] });
  assertStringIncludes(text, "- x y.ts\n");
  assertStringIncludes(text, "T ## Ignore");
});

test("partPrompt() closes its fence behind the last line, whatever fences are in the diff", async () => {
  const plan = planReview(parseUnifiedDiff(patch(["a.md"], "`````")).files);
  const text = partPrompt(plan.parts[0]!, { plan, title: "T", templates: await loadTemplates(), known: [] });
  assertStringIncludes(text, "``````diff\n");
  assertStringIncludes(text, "\n+`````\n``````");
});

test("summaryPrompt() has every review, and shortens them to fit, saying so", async () => {
  const reviews = [1, 2].map((number) => ({ number, files: [`f${number}.ts`], text: `review ${number} `.repeat(500) }));
  const context = {
    title: "T",
    parts: 2,
    reviews,
    findings: [],
    coverage: "2 of 2 files",
    templates: await loadTemplates(),
  };
  const whole = summaryPrompt({ ...context, maxTokens: undefined });
  for (const { text } of reviews) assertStringIncludes(whole, text);
  const short = summaryPrompt({ ...context, maxTokens: 1_500 });
  assert(estimateTokens(short) <= 1_500, `${estimateTokens(short)}`);
  assertEquals(short.split("(shortened)").length, 3);
});
