import { test } from "node:test";
import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { assertEquals, assertRejects } from "@std/assert";
import { readAttachment } from "../attachments.ts";
import { UsageError } from "../errors.ts";
import { withFolder, write } from "./support.ts";

test("readAttachment() gives a file, some of its lines, or one", async () => {
  await withFolder(async (root) => {
    write(root, { "src/a.ts": "1\n2\n3\n4\n", "odd:name": "x\n" });
    assertEquals(await readAttachment(root, "src/a.ts"), { name: "src/a.ts", text: "1\n2\n3\n4\n" });
    assertEquals(await readAttachment(root, "src/a.ts:2-3"), { name: "src/a.ts:2-3", text: "2\n3" });
    assertEquals(await readAttachment(root, "src/a.ts:4"), { name: "src/a.ts:4-4", text: "4" });
    assertEquals(await readAttachment(root, "odd:name"), { name: "odd:name", text: "x\n" });
  });
});

test("readAttachment() refuses what is outside, no file, hidden in .git, too large or not there", async () => {
  await withFolder(async (home) => {
    const root = join(home, "project");
    write(root, { "a.ts": "1\n", ".git/config": "secret\n", "big.txt": "x".repeat(200_001) });
    write(home, { "secret": "s\n" });
    symlinkSync(join(home, "secret"), join(root, "link"));
    const refused = ["../secret", "link", ".git/config", ".", "", "nope.ts", "a.ts:5-9", "a.ts:2-1", "big.txt"];
    for (const word of refused) await assertRejects(() => readAttachment(root, word), UsageError);
  });
});
