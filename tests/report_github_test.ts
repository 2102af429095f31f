import { test } from "node:test";
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import type { Finding } from "../finding.ts";
import { githubReport, MAX_OF_A_KIND } from "../report_github.ts";
import type { Report } from "../report.ts";
import { fileFinding, finding, HOSTILE, sampleReport } from "./support_report.ts";

interface Command {
  name: string;
  properties: Record<string, string>;
  message: string;
}

/** Reads commands as a runner does (actions/runner, `ActionCommand.TryParseV2`). */
function read(text: string): Command[] {
  assert(text.endsWith("\n"));
  return text.trimEnd().split("\n").map((line) => {
    const [, name, properties, message] = /^::(\w+) (.*?)::(.*)$/.exec(line)!;
    const pairs = properties!.split(",").map((pair) => pair.split(/=(.*)/s));
    return {
      name: name!,
      properties: Object.fromEntries(pairs.map(([key, value]) => [key, unescape(value!)])),
      message: unescape(message!),
    };
  });
}

function unescape(text: string): string {
  return text.replace(/%(0D|0A|3A|2C|25)/g, (_, code) => String.fromCharCode(parseInt(code, 16)));
}

const commands = (fields: Partial<Report> = {}) => read(githubReport(sampleReport(fields)));
const many = (n: number, fields: Partial<Finding>) =>
  Array.from({ length: n }, (_, index) => finding({ ...fields, line: index + 1, title: `Number ${index + 1}` }));

test("a finding is an annotation of its severity, at its lines", () => {
  const [first] = commands({ findings: [finding({ severity: "bug", line: 3, endLine: 5, title: "T", body: "B" })] });
  assertEquals(first, {
    name: "error",
    properties: { file: "src/cart.ts", line: "3", endLine: "5", title: "bug: T" },
    message: "B",
  });
});

test("what is about a whole file has no line, and what is not borne out is a notice", () => {
  const [first] = commands({ findings: [fileFinding({ severity: "bug", title: "T" })] });
  assertEquals([first!.name, Object.keys(first!.properties)], ["notice", ["file", "title"]]);
});

for (const [severity, name, shown] of [["bug", "error", 10], ["risk", "warning", 10], ["nit", "notice", 9]] as const) {
  test(`of 12 annotations of the kind ${name} GitHub shows ten: the rest is counted in one notice`, () => {
    const all = commands({ findings: many(12, { severity }) });
    const findings = all.filter(({ properties }) => properties.file !== undefined);
    assertEquals(findings.length, shown);
    assertEquals(findings.map(({ properties }) => properties.line), many(shown, {}).map(({ line }) => String(line)));
    assert(all.filter((command) => command.name === name).length <= MAX_OF_A_KIND);
    const { message } = all.at(-1)!;
    assertStringIncludes(message, `${12 - shown} more (${12 - shown} ${severity}s)`);
  });
}

test("no kind has more than ten, and all together no more than thirty, whatever is found", () => {
  const findings = [
    ...many(40, { severity: "nit" }),
    ...many(40, { severity: "risk" }),
    ...many(40, { severity: "bug" }),
  ];
  const all = commands({ findings });
  assertEquals(all.length, 30);
  assertEquals(all.map(({ name }) => name).slice(0, 21).join(), `${"error,".repeat(10)}${"warning,".repeat(10)}notice`);
  assertStringIncludes(all.at(-1)!.message, "91 more (30 bugs, 30 risks, 31 nits)");
});

test("properties and messages are escaped so that a runner reads what was written, and no other command", () => {
  const path = "a,b:c%0A::error::d\nline two";
  const all = commands({ findings: [finding({ path, title: "50%, a: b", body: "100%0A\r\n::warning::x" })] });
  assertEquals(all.length, 2);
  assertEquals(all[0]!.properties, { file: path, line: "4", endLine: "4", title: "risk: 50%, a: b" });
  assertEquals(all[0]!.message, "100%0A\n::warning::x");
});

test("hostile text stays inside its annotation", () => {
  const all = commands({ findings: [finding({ title: HOSTILE, body: HOSTILE, path: HOSTILE })] });
  assertEquals(all.map(({ name }) => name), ["warning", "notice"]);
  // deno-lint-ignore no-control-regex
  assert(!/[\x1b\u202e]/.test(all[0]!.message));
});

test("the last notice says what was reviewed, what was not, and what has no place", () => {
  const { name, properties, message } = commands().at(-1)!;
  assertEquals([name, properties], ["notice", { title: "octavo" }]);
  assertEquals(
    message,
    [
      "3 of 4 files reviewed in full, 1 skipped (lockfile).",
      "- package-lock.json: 0 of 1 hunk reviewed, 6 lines left out (lockfile)",
      "1 finding without a place in the change:",
      "- bug: It was said of a file that is not there",
    ].join("\n"),
  );
});

test("long titles and messages are cut, and say so", () => {
  const [first] = commands({ findings: [finding({ title: "t".repeat(500), body: "b".repeat(70_000) })] });
  assert(first!.properties.title!.length <= 200 && first!.message.length <= 4_000);
  assertStringIncludes(first!.message, "(cut)");
});

test("a review of nothing is one notice", () => {
  const all = commands({ status: "nothing", findings: [], files: [], parts: [] });
  assertEquals(all, [{ name: "notice", properties: { title: "octavo" }, message: "Nothing to review." }]);
});
