/**
 * Live Markdown on a real terminal, against golden files. They are what tmux has on its screen; OCTAVO_UPDATE_GOLDEN=1
 * writes them anew.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import process from "node:process";
import { assertEquals } from "@std/assert";
import { createMarkdown, renderMarkdown } from "../markdown.ts";
import { cleanEnv, root, withFolder } from "./support.ts";

const FIXTURES = join(root, "tests/fixtures/terminal");

/** Rows of the terminal: all of a review must fit. */
const ROWS = 200;

const isSkipped = spawnSync("tmux", ["-V"]).status !== 0 && process.env.OCTAVO_REQUIRE_TMUX !== "1";
if (isSkipped) console.log("skipped, since tmux is missing: live Markdown on a real terminal");

/** What a terminal of so many columns shows after it was sent some text. */
async function capture(text: string, columns: number): Promise<string> {
  return await withFolder((dir) => {
    const socket = join(dir, "tmux");
    const tmux = (...words: string[]) =>
      execFileSync("tmux", ["-u", "-S", socket, "-f", "/dev/null", ...words], {
        encoding: "utf8",
        env: cleanEnv(dir, { LC_ALL: "C.UTF-8", TERM: "xterm-256color" }),
        timeout: 30_000,
      });
    writeFileSync(join(dir, "text"), text);
    // The answer to "where is the cursor" (at least 6 bytes) comes when all before it is on the screen
    const script = `stty -icanon -echo; cat text; printf '\\033[6n'; head -c 6 >answer; ` +
      `tmux -S tmux wait-for -S shown; exec sleep 600`;
    tmux("new-session", "-d", "-x", String(columns), "-y", String(ROWS), "-c", dir, "sh", "-c", script);
    try {
      tmux("wait-for", "shown");
      return tmux("capture-pane", "-p").trimEnd() + "\n";
    } finally {
      tmux("kill-server");
    }
  });
}

/** What is written for a text that comes byte by byte. */
function byteByByte(text: string, columns: number): string {
  const markdown = createMarkdown({ columns, color: true });
  const decoder = new TextDecoder();
  let written = "";
  for (const byte of new TextEncoder().encode(text)) {
    written += markdown.write(decoder.decode(Uint8Array.of(byte), { stream: true }));
  }
  return written + markdown.end();
}

for (const columns of [40, 80, 160]) {
  const name = `a review on a terminal of ${columns} columns is the golden file, whole and byte by byte`;
  test(name, { skip: isSkipped }, async () => {
    const review = readFileSync(join(FIXTURES, "review.md"), "utf8");
    const golden = join(FIXTURES, `review-${columns}.txt`);
    const whole = await capture(renderMarkdown(review, { columns, color: true }), columns);
    if (process.env.OCTAVO_UPDATE_GOLDEN === "1") writeFileSync(golden, whole);
    assertEquals(whole, readFileSync(golden, "utf8"));
    assertEquals(await capture(byteByByte(review, columns), columns), whole);
  });
}
