import { test } from "node:test";
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { MAX_RESULTS, sarifReport } from "../report_sarif.ts";
import type { Report } from "../report.ts";
import { allowMinutes } from "./support.ts";
import { fileFinding, finding, sampleReport } from "./support_report.ts";
import { sarifSchema, violations } from "./support_schema.ts";

await allowMinutes();

const parse = (report: Report) => JSON.parse(sarifReport(report));
const results = (...findings: Report["findings"]) => parse(sampleReport({ findings })).runs[0].results;

const REPORTS: [name: string, report: Report][] = [
  ["a review with everything in it", sampleReport()],
  ["a review without findings", sampleReport({ findings: [] })],
  ["a review of nothing", sampleReport({ status: "nothing", findings: [], files: [], parts: [] })],
  [
    "an incomplete review",
    sampleReport({
      status: "incomplete",
      parts: [{ number: 1, files: ["src/cart.ts"], chars: 10, status: "failed", error: "the server said no" }],
      summary: { status: "skipped" },
    }),
  ],
];

for (const [name, report] of REPORTS) {
  test(`${name} is valid SARIF 2.1.0`, () => {
    assertEquals(violations(sarifSchema(), parse(report)), []);
  });
}

test("the schema refuses what is no SARIF", () => {
  const log = parse(sampleReport());
  delete log.runs[0].tool;
  log.runs[0].results[0].level = "fatal";
  assertEquals(violations(sarifSchema(), log).length, 2);
});

test("every result has what GitHub needs: a rule that is listed, a place, a fingerprint", () => {
  const { runs: [run] } = parse(sampleReport());
  const ids = run.tool.driver.rules.map(({ id }: { id: string }) => id);
  assertEquals(ids, ["debugger", "model-bug", "model-nit", "model-risk"]);
  for (const result of run.results) {
    assertEquals(ids[result.ruleIndex], result.ruleId);
    assertEquals(result.locations.length, 1);
    const { artifactLocation, region } = result.locations[0].physicalLocation;
    assert(artifactLocation.uri.length > 0);
    assert(region.startLine >= 1 && region.startColumn >= 1);
    assertMatch(result.partialFingerprints.primaryLocationLineHash, /^[0-9a-f]{32}:\d+$/);
  }
  for (const rule of run.tool.driver.rules) {
    for (const text of [rule.shortDescription.text, rule.fullDescription.text, rule.help.text]) assert(text.length > 0);
  }
});

test("the region is the quoted code, in UTF-16 units, the end behind it", () => {
  const [result] = results(finding({ line: 7, endLine: 8, quote: "  if (x) { // 😀\n    f();" }));
  assertEquals(result.locations[0].physicalLocation.region, {
    startLine: 7,
    startColumn: 3,
    endLine: 8,
    endColumn: 9,
  });
  const [emoji] = results(finding({ quote: "x😀" }));
  assertEquals(emoji.locations[0].physicalLocation.region.endColumn, 4);
});

test("a path is a relative reference whatever is in it", () => {
  const uris = results(
    ...["src/a file & its <name>.ts", "c:/x", "é#1?.ts", "100%.ts", "half \ud800.ts"].map((path) => finding({ path })),
  ).map((result: { locations: { physicalLocation: { artifactLocation: { uri: string } } }[] }) =>
    result.locations[0]!.physicalLocation.artifactLocation.uri
  );
  assertEquals(uris, [
    "src/a%20file%20%26%20its%20%3Cname%3E.ts",
    "c%3A/x",
    "%C3%A9%231%3F.ts",
    "100%25.ts",
    "half%20%EF%BF%BD.ts",
  ]);
});

test("what has no place is a notification, since GitHub refuses a file with such a result", () => {
  const { runs: [run] } = parse(sampleReport());
  assertEquals(run.results.length, 7);
  const texts = run.invocations[0].toolExecutionNotifications.map((note: { message: { text: string } }) =>
    note.message.text
  );
  assertEquals(texts, [
    "3 of 4 files reviewed in full, 1 skipped (lockfile).",
    "no file of the change: bug: It was said of a file that is not there",
  ]);
});

test("the coverage of each file is among the properties", () => {
  const { coverage } = parse(sampleReport()).runs[0].properties;
  assertEquals(coverage.length, 4);
  assertEquals(coverage[3], {
    path: "package-lock.json",
    coverage: "skipped",
    hunks: 1,
    hunksSent: 0,
    linesOmitted: 6,
    reason: "lockfile",
    text: "0 of 1 hunk reviewed, 6 lines left out (lockfile)",
  });
});

test("an incomplete review was no success, and says what failed", () => {
  const [invocation] = parse(REPORTS[3]![1]).runs[0].invocations;
  assertEquals(invocation.executionSuccessful, false);
  const text = JSON.stringify(invocation.toolExecutionNotifications);
  assertStringIncludes(text, "The review is incomplete");
  assertStringIncludes(text, "Part 1: failed (the server said no)");
});

test("more results than GitHub takes are counted, the least severe left out", () => {
  const many = Array.from({ length: MAX_RESULTS }, (_, line) => finding({ severity: "nit", line: line + 1 }));
  const { runs: [run] } = parse(sampleReport({ findings: [...many, finding({ severity: "bug" }), fileFinding()] }));
  assertEquals(run.results.length, MAX_RESULTS);
  assertEquals(run.results[0].level, "error");
  assertStringIncludes(JSON.stringify(run.invocations), "2 more findings: GitHub takes 25000 results");
});

test("a rule of a check says how it is silenced, one about secrets does not", () => {
  const rule = (id: string) =>
    parse(sampleReport({ findings: [finding({ source: "check", rule: id })] })).runs[0].tool.driver.rules[0];
  assertEquals(rule("debugger").shortDescription.text, "Debugger");
  assertStringIncludes(rule("debugger").help.text, "`octavo-ignore debugger`");
});
