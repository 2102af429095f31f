import { test } from "node:test";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { unixReport } from "../report_unix.ts";
import type { Finding } from "../finding.ts";
import { fileFinding, finding, HOSTILE, sampleReport } from "./support_report.ts";
import { allowMinutes, withFolder, write } from "./support.ts";

await allowMinutes();

const lines = (...findings: Finding[]) => unixReport(sampleReport({ findings })).split("\n").slice(0, -1);

test("each finding with a place is one line: path, line, column, severity, message", () => {
  assertEquals(lines(finding({ severity: "bug", line: 3, quote: "  f();", title: "T", body: "One.\n\nTwo." })), [
    "src/cart.ts:3:3: error: T: One. Two. [model-bug]",
  ]);
  assertEquals(lines(fileFinding({ title: "T" })), [
    "src/cart.ts:1:1: note: T: No line of the change bears this out: it names only the file. [model-risk]",
  ]);
});

test("columns count bytes, as Vim and compilers do", () => {
  assertStringIncludes(lines(finding({ quote: "\u3000\tf();" }))[0]!, "src/cart.ts:4:5: ");
});

test("nothing in a path or a text begins a line of its own, drives a terminal or commands a runner", () => {
  const all = lines(
    finding({ title: HOSTILE, body: HOSTILE }),
    finding({ path: "::error::x\n::y" }),
    finding({ path: " ::error::x" }),
  );
  assertEquals(all.length, 3);
  for (const line of all) {
    assert(!/^\s*::/.test(line) && !line.includes("##["), line);
    // deno-lint-ignore no-control-regex
    assert(!/[\x00-\x1f\u202e]/.test(line), line);
  }
});

test("Vim's default errorformat reads every line", async (t) => {
  if (spawnSync("vim", ["--version"]).status !== 0) return t.skip("vim is missing");
  await withFolder((dir) => {
    const { findings } = sampleReport();
    write(dir, { "out.txt": unixReport(sampleReport()) });
    const script = [
      "cgetfile out.txt",
      "let out = map(getqflist(), '[bufname(v:val.bufnr), v:val.lnum, v:val.col, v:val.text]')",
      "call writefile([json_encode(out)], 'out.json')",
      "qa!",
    ];
    const args = ["-es", "-N", "-u", "NONE", "-i", "NONE", ...script.flatMap((line) => ["-c", line])];
    const { status } = spawnSync("vim", args, { cwd: dir, env: { PATH: process.env.PATH, HOME: dir, TERM: "dumb" } });
    assertEquals(status, 0);
    const read: [string, number, number, string][] = JSON.parse(readFileSync(join(dir, "out.json"), "utf8"));
    assertEquals(read.length, findings.length - 1);
    assertEquals(read[0]!.slice(0, 3), ["src/cart.ts", 5, 3]);
    assertStringIncludes(read[0]![3], "error: Debugger statement left in");
    assert(read.every(([name, line, column]) => name !== "" && line > 0 && column > 0), JSON.stringify(read));
  });
});
