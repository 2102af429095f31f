/**
 * What live Markdown costs: 1 MB in deltas of 20 characters against 100 KB. It must grow with the text, not faster:
 * at most 11 times. Fails where it does.
 *
 *     bun bench/markdown.ts
 */
import process from "node:process";
import { createMarkdown } from "../markdown.ts";

const DELTA = 20;
const SMALL = 100_000;
const LARGE = 1_000_000;
const MAX_RATIO = 11;

/** Runs of each size; the best counts. More of them where the machine is busy. */
const MIN_RUNS = 3;
const MAX_RUNS = 12;

const TEXTS = {
  review: `## Issues

- 🔴 \`src/parse.ts:120\` — **the loop reads one past the end**, and what follows is wrong for the last file of every patch
  \`for (let i = 0; i <= files.length; i++) {\`
  1. Nested, with *emphasis*, ~~strike~~ and a [link](https://example.org/a_b).
- [ ] 数据库连接没有关闭，在高负载下会耗尽连接池。

| File | Finding | Severity |
|------|---------|----------|
| \`src/a.ts\` | Off by one in the loop that reads the whole file into memory | 🔴 bug |

\`\`\`diff
-	const total = price * count;
+	const total = price * BigInt(count); // it must not overflow
\`\`\`

`,
  paragraph: "A paragraph that never ends, with `code` and **bold** in it, 中文 too. ",
  word: "onewordwithoutanyspace",
  marks: "*a **b `c _d [e ~~f ",
  table: "| a | b |\n|---|---|\n" + "| one | two words |\n".repeat(1000),
  "row of a table": "| cell that goes on ",
};

let failed = 0;
for (const [name, text] of Object.entries(TEXTS)) {
  const deltas = { small: cut(text, SMALL), large: cut(text, LARGE) };
  const { small, large } = best(deltas);
  const ratio = large / small;
  if (ratio > MAX_RATIO) failed++;
  console.log(
    `${ratio > MAX_RATIO ? "FAILED" : "ok    "} ${name}: 100 KB ${small.toFixed(1)} ms, 1 MB ${large.toFixed(1)} ms, ` +
      `${ratio.toFixed(1)} times (at most ${MAX_RATIO}), ${(large * 1000 / deltas.large.length).toFixed(1)} µs a delta`,
  );
}
process.exitCode = failed > 0 ? 1 : 0;

/** So many characters of a text that repeats itself, in deltas. */
function cut(text: string, chars: number): string[] {
  const whole = text.repeat(Math.ceil(chars / text.length));
  return Array.from({ length: chars / DELTA }, (_, index) => whole.slice(index * DELTA, (index + 1) * DELTA));
}

/** The best of several runs of each size, in turns, until they are near enough or there were enough of them. */
function best(deltas: { small: string[]; large: string[] }): { small: number; large: number } {
  const times = LARGE / SMALL; // so that both do the same work at once, with what it leaves to the garbage collector
  let [small, large] = [Infinity, Infinity];
  for (let run = 0; run < MAX_RUNS && (run < MIN_RUNS || large / small > MAX_RATIO); run++) {
    small = Math.min(small, measure(deltas.small, times) / times);
    large = Math.min(large, measure(deltas.large, 1));
  }
  return { small, large };
}

/** Processor time to show the deltas so many times, in milliseconds: what else the machine does is not in it. */
function measure(deltas: readonly string[], times: number): number {
  const start = process.cpuUsage();
  for (let time = 0; time < times; time++) show(deltas);
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1000;
}

function show(deltas: readonly string[]): void {
  const markdown = createMarkdown({ columns: 80, color: true });
  let written = 0;
  for (const delta of deltas) written += markdown.write(delta).length;
  written += markdown.end().length;
  if (written < deltas.length) throw new Error(`Only ${written} characters were shown`);
}
