import { test } from "node:test";
import { assert, assertEquals } from "@std/assert";
import { cyan, dim } from "@std/fmt/colors";
import fc from "fast-check";
import { drawProgress, eraseProgress, estimateRest, type ProgressState, renderProgress } from "../progress.ts";
import { displayWidth } from "../text.ts";

const WIDE = { columns: 120, color: false };

function state(changes: Partial<ProgressState> = {}): ProgressState {
  return {
    part: 2,
    parts: 5,
    files: 3,
    chars: 12_431,
    phase: "waiting",
    sinceMs: 1_000,
    nowMs: 42_000,
    doneParts: [],
    remainingChars: 50_000,
    ...changes,
  };
}

test("renderProgress() says what is being done, of what, and for how long", () => {
  const cases: [Partial<ProgressState>, string][] = [
    [{}, "part 2 of 5 · 3 files · 12,431 characters · waiting for the first token 0:41"],
    [{ phase: "git", part: 0, parts: 0, files: 0, chars: 0 }, "reading the change 0:41"],
    [{ phase: "git", part: 0, parts: 0 }, "3 files · 12,431 characters · reading the change 0:41"],
    [{ parts: 1, part: 1, files: 1, chars: 1 }, "1 file · 1 character · waiting for the first token 0:41"],
    [
      { phase: "thinking", tokens: 1_204, rate: 29.4, files: 0, chars: 0 },
      "part 2 of 5 · thinking 0:41 · 1,204 tokens · 29 tokens/s",
    ],
    [
      { phase: "streaming", tokens: 82, files: 0, chars: 0 },
      "part 2 of 5 · writing 0:41 · 82 tokens · 2.0 tokens/s",
    ],
    [{ phase: "streaming", tokens: 82, sinceMs: 41_500, files: 0, chars: 0 }, "part 2 of 5 · writing 0:00 · 82 tokens"],
    [
      { phase: "retrying", reason: "too many\nrequests \x1b[2J", files: 0, chars: 0, tokens: 0 },
      "part 2 of 5 · trying again: too many requests ␛[2J 0:41",
    ],
    [{ phase: "retrying", files: 0, chars: 0 }, "part 2 of 5 · trying again 0:41"],
    [{ phase: "summing up", nowMs: 3_724_000 }, "summing up 1:02:03"],
    [{ sinceMs: 50_000, parts: 1, files: 0, chars: 0 }, "waiting for the first token 0:00"],
  ];
  for (const [changes, line] of cases) assertEquals(renderProgress(state(changes), WIDE), line);
});

test("renderProgress() estimates the rest from the parts that are done", () => {
  const done = { doneParts: [{ chars: 8_000, ms: 20_000 }, { chars: 12_000, ms: 20_000 }], files: 0 };
  const rest = (changes: Partial<ProgressState>) =>
    renderProgress(state({ ...done, ...changes }), WIDE).split(" · ").at(-1);
  assertEquals(rest({}), "about 2 min left");
  assertEquals(rest({ remainingChars: 12_431 }), "about 25 s left");
  assertEquals(rest({ remainingChars: 12_431, partSinceMs: 30_000 }), "about 15 s left");
  assertEquals(rest({ remainingChars: 12_431, partSinceMs: 0 }), "waiting for the first token 0:41");
  assertEquals(rest({ remainingChars: 0 }), "waiting for the first token 0:41");
  assertEquals(rest({ phase: "summing up" }), "summing up 0:41");
});

test("estimateRest() takes off what the part has taken, and of that part only", () => {
  assertEquals(estimateRest(state()), undefined);
  const doneParts = [{ chars: 10_000, ms: 10_000 }];
  const part = { doneParts, chars: 5_000, remainingChars: 8_000, nowMs: 42_000 };
  assertEquals(estimateRest(state(part)), 8_000);
  assertEquals(estimateRest(state({ ...part, partSinceMs: 40_000 })), 6_000);
  assertEquals(estimateRest(state({ ...part, partSinceMs: 0 })), 3_000);
});

test("renderProgress() leaves out the least important first, and cuts what is left", () => {
  const full = state({ phase: "streaming", tokens: 1_230, doneParts: [{ chars: 1_000, ms: 1_000 }] });
  const lines = [120, 80, 60, 50, 40, 20, 10, 1, 0].map((columns) => renderProgress(full, { columns, color: false }));
  assertEquals(lines, [
    "part 2 of 5 · 3 files · 12,431 characters · writing 0:41 · 1,230 tokens · 30 tokens/s · about 50 s left",
    "part 2 of 5 · writing 0:41 · 1,230 tokens · 30 tokens/s · about 50 s left",
    "part 2 of 5 · writing 0:41 · 30 tokens/s · about 50 s left",
    "part 2 of 5 · writing 0:41 · about 50 s left",
    "part 2 of 5 · writing 0:41",
    "writing 0:41",
    "writing …",
    "",
    "",
  ]);
});

test("renderProgress() is one line that leaves the last column free, whatever the reason", () => {
  fc.assert(fc.property(fc.string({ unit: "binary" }), fc.integer({ min: 1, max: 100 }), (reason, columns) => {
    const line = renderProgress(state({ phase: "retrying", reason }), { columns, color: false });
    assert(displayWidth(line) < columns, line);
    assert(!/\p{Cc}/u.test(line), line);
  }));
});

test("renderProgress() sets off what is being done", () => {
  const line = renderProgress(state({ files: 0, chars: 0 }), { columns: 80, color: true });
  assertEquals(line, dim("part 2 of 5") + dim(" · ") + cyan("waiting for the first token 0:41"));
});

test("drawProgress() and eraseProgress() write to the terminal only what changes it", () => {
  assertEquals(drawProgress("a"), "\r\x1b[Ka");
  assertEquals(drawProgress("b", "a"), "\r\x1b[Kb");
  assertEquals(drawProgress("b", "b"), "");
  assertEquals(eraseProgress("b"), "\r\x1b[K");
  assertEquals(eraseProgress(""), "");
});
