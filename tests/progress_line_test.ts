import { test } from "node:test";
import { assertEquals, assertMatch } from "@std/assert";
import { ProgressLine, type ProgressLineOptions } from "../progress_line.ts";
import type { ReviewEvent } from "../report.ts";

/** A line on a screen that keeps what is written, and a clock that is set by hand. */
function screen(options: Partial<ProgressLineOptions> = {}) {
  const state = { written: "", now: 0, free: true };
  const line = new ProgressLine({
    stderr: {
      columns: 80,
      write: (text) => {
        state.written += text;
        return Promise.resolve();
      },
    },
    color: false,
    now: () => state.now,
    sharesScreen: true,
    isFree: () => state.free,
    ...options,
  });
  /** What stands on the line now. */
  const shown = () => state.written.split("\r\x1b[K").at(-1)!;
  return { state, line, shown };
}

const PLAN: ReviewEvent = {
  type: "plan",
  files: [],
  parts: [1, 2].map((number) => ({ number, files: ["a"], chars: 1_000 })),
  totals: { files: 2, additions: 0, deletions: 0 },
  maxDiffChars: 16_000,
  model: "m",
};
const section = (number: number | "summary"): ReviewEvent => ({
  type: "section",
  section: number,
  parts: 2,
  files: ["a"],
  chars: 1_000,
});

test("the line says what is being done and for how long, from reading the change to summing up", async () => {
  const { state, line, shown } = screen();
  await line.draw();
  assertMatch(shown(), /^reading the change 0:00$/);
  line.take(PLAN);
  line.take(section(1));
  state.now = 41_000;
  await line.draw();
  assertMatch(shown(), /^part 1 of 2 · 1 file · 1,000 characters · waiting for the first token 0:41$/);
  line.take({ type: "reasoning", section: 1, text: "hmm" });
  state.now = 43_000;
  await line.draw();
  assertMatch(shown(), /thinking 0:02/);
  line.take({ type: "part", part: { number: 1, files: ["a"], chars: 1_000, status: "done" } });
  line.take(section(2));
  await line.draw();
  assertMatch(shown(), /part 2 of 2 .*about 45 s left/);
  line.take(section("summary"));
  await line.draw();
  assertMatch(shown(), /^summing up/);
  await line.close();
  assertEquals(shown(), "");
});

test("the line is gone while text comes on the same screen, and stays where the text goes elsewhere", async () => {
  for (const sharesScreen of [true, false]) {
    const { line, shown } = screen({ sharesScreen });
    line.take(PLAN);
    line.take(section(1));
    await line.draw();
    await line.erase();
    line.take({ type: "delta", section: 1, text: "text" });
    await line.draw();
    assertEquals(shown() === "", sharesScreen);
    await line.close();
  }
});

test("the line is not drawn over a line of text that is unfinished", async () => {
  const { state, line, shown } = screen();
  state.free = false;
  await line.draw();
  assertEquals(shown(), "");
  await line.close();
});

test("a retry is shown with its reason", async () => {
  const { line, shown } = screen();
  line.take(PLAN);
  line.take(section(1));
  line.take({ type: "waiting", section: 1, reason: "429: slow down", milliseconds: 5_000 });
  await line.draw();
  assertMatch(shown(), /trying again: 429: slow down/);
  await line.close();
});
