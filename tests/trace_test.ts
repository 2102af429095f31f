import { test } from "node:test";
import { assert, assertEquals } from "@std/assert";
import { run } from "../process.ts";
import { begin, onTrace, type Trace } from "../trace.ts";

test("a trace tells what was run, how it ended and how long it took, while somebody listens", async () => {
  const traces: Trace[] = [];
  const stop = onTrace((trace) => traces.push(trace));
  await run("git", ["--version"], { env: process.env });
  stop();
  await run("git", ["--version"], { env: process.env });
  assertEquals(traces.map(({ what, outcome }) => [what, outcome]), [["git --version", "exit code 0"]]);
  assert(traces[0]!.milliseconds > 0);
});

test("what is traced is not even made where nobody listens", () => {
  begin(() => {
    throw new Error("it was made");
  })("over");
});
