import { test } from "node:test";
import { assert, assertEquals } from "@std/assert";
import { MAX_FILE_CHARS } from "../diff.ts";
import { collectDiff } from "../shown_diff.ts";
import { PATCH } from "./support_report.ts";

async function* chunksOf(text: string, size: number): AsyncGenerator<Uint8Array> {
  const bytes = new TextEncoder().encode(text);
  for (let at = 0; at < bytes.length; at += size) {
    await Promise.resolve();
    yield bytes.slice(at, at + size);
  }
}

async function collect(text: string, size = 7, clean?: (text: string) => Promise<string>) {
  const collected = collectDiff(chunksOf(text, size), clean ? { clean } : {});
  const decoder = new TextDecoder();
  let passed = "";
  for await (const chunk of collected.chunks) passed += decoder.decode(chunk, { stream: true });
  return { passed, files: collected.files() };
}

test("collectDiff() passes the patch on as it is, and keeps the text of what is no noise", async () => {
  for (const size of [1, 7, 1_000_000]) {
    const { passed, files } = await collect(PATCH, size);
    assertEquals(passed, PATCH);
    assertEquals(files.map(({ path, text }) => [path, text !== ""]), [
      ["src/cart.ts", true],
      ["old/legacy.ts", true],
      ["src/a file & its <name>.ts", true],
      ["package-lock.json", false],
    ]);
  }
});

test("collectDiff() keeps of a file what a part can have of it, and of a change what a page can hold", async () => {
  const hunk = (at: number) => `@@ -${at},0 +${at},100 @@\n${`+${"x".repeat(59)}\n`.repeat(100)}`;
  const file = (name: string) => `--- a/${name}\n+++ b/${name}\n${[1, 200, 400].map(hunk).join("")}`;
  const { files: [one] } = await collect(file("a.ts"), 10_000);
  assertEquals([one!.hunkCount, one!.hunksKept], [3, 1]);
  assert(one!.text.length <= MAX_FILE_CHARS);
  const { files } = await collect(Array.from({ length: 1_000 }, (_, n) => file(`f${n}.ts`)).join(""), 1_000_000);
  const kept = files.reduce((sum, { text }) => sum + text.length, 0);
  assertEquals(files.length, 1_000);
  assert(kept > 3_900_000 && kept < 4_100_000, `${kept} characters`);
});

test("what is cleaned out of a text is not kept, and the hunks are where they are in what is left", async () => {
  const { files, passed } = await collect(PATCH, 100, (text) => Promise.resolve(text.replaceAll("debugger", "[gone]")));
  assertEquals(passed, PATCH);
  const [cart] = files;
  assert(!cart!.text.includes("debugger"));
  assertEquals(cart!.hunks.map(({ start }) => cart!.text.slice(start, start + 6)), ["@@ -1,", "@@ -40"]);
});
