import { test } from "node:test";
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import type { ReviewEvent } from "../report.ts";
import { createTerminal, type TerminalOptions, usesColor } from "../terminal.ts";
import type { World } from "../world.ts";

/** A world that only writes, into texts. */
function fakeWorld(env: Record<string, string>, isTerminal: boolean) {
  const written = { stdout: "", stderr: "" };
  const output = (name: "stdout" | "stderr") => ({
    write: (text: string) => {
      written[name] += text;
      return Promise.resolve();
    },
    isTerminal,
    columns: 40,
    failure: undefined,
  });
  const none = () => {
    throw new Error("not in this test");
  };
  const world: World = {
    env,
    dir: "/",
    pid: 1,
    stdout: output("stdout"),
    stderr: output("stderr"),
    stdin: { isTerminal, read: none },
    now: () => 0,
    onStop: none,
    exit: none,
  };
  return { world, written };
}

const OPTIONS: TerminalOptions = { format: "markdown", color: "auto", quiet: false };

async function show(events: ReviewEvent[], options: Partial<TerminalOptions> = {}, env = {}, isTerminal = false) {
  const { world, written } = fakeWorld(env, isTerminal);
  const terminal = createTerminal(world, { ...OPTIONS, ...options });
  for (const event of events) await terminal.show(event);
  await terminal.close();
  return written;
}

test("colours: as asked, else NO_COLOR, FORCE_COLOR, TERM=dumb, and whether it is a terminal", () => {
  const terminal = { isTerminal: true };
  const pipe = { isTerminal: false };
  assertEquals(usesColor("auto", {}, terminal), true);
  assertEquals(usesColor("auto", {}, pipe), false);
  assertEquals(usesColor("auto", { NO_COLOR: "1" }, terminal), false);
  assertEquals(usesColor("auto", { NO_COLOR: "" }, terminal), true);
  assertEquals(usesColor("auto", { FORCE_COLOR: "1" }, pipe), true);
  assertEquals(usesColor("auto", { TERM: "dumb" }, terminal), false);
  assertEquals(usesColor("always", { NO_COLOR: "1" }, pipe), true);
  assertEquals(usesColor("never", { FORCE_COLOR: "1" }, terminal), false);
});

const DELTAS: ReviewEvent[] = ["**bo", "ld** and `co", "de`\n"].map((text) => ({ type: "delta", section: 1, text }));

test("into a pipe goes the Markdown as it is, on a terminal it is laid out and styled", async () => {
  assertStringIncludes((await show(DELTAS)).stdout, "**bold** and `code`\n");
  const styled = (await show(DELTAS, { color: "always" }, {}, true)).stdout;
  assert(!styled.includes("**"), styled);
  assertStringIncludes(styled, "\x1b[1m");
});

test("notices go to stderr with hostile text made visible; --quiet has none", async () => {
  const notice: ReviewEvent[] = [{ type: "notice", level: "info", message: "file \x1b[2J\n::error::x" }];
  const { stdout, stderr } = await show(notice);
  assertEquals(stdout, "");
  assertEquals(stderr, "octavo: file ␛[2J\n: :error::x\n");
  assertEquals((await show(notice, { quiet: true })).stderr, "");
});

test("json is one report at the end, jsonl an event a line", async () => {
  const events: ReviewEvent[] = [{ type: "notice", level: "info", message: "m" }, ...DELTAS];
  assertEquals((await show(events, { format: "json" })).stdout, "");
  const lines = (await show(events, { format: "jsonl" })).stdout.trimEnd().split("\n");
  assertEquals(lines.map((line) => JSON.parse(line).type), ["notice", "delta", "delta", "delta"]);
});
