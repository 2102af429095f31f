import { test } from "node:test";
import { assert, assertEquals, assertNotEquals, assertStringIncludes } from "@std/assert";
import { clipText, jsonText, oneLine, readEntries } from "../entries.ts";
import { fileFinding, finding, sampleReport } from "./support_report.ts";

const one = (fields: Parameters<typeof finding>[0]) => readEntries([finding(fields)]).entries[0]!;

test("readEntries() puts the most severe first, and those without a file of the change aside", () => {
  const { entries, placeless } = readEntries(sampleReport().findings);
  assertEquals(entries.map(({ level }) => level), ["error", "error", "error", "warning", "warning", "note", "note"]);
  assertEquals(placeless.map(({ path }) => path), ["nowhere.ts"]);
});

test("readEntries() gives a check's rule, and a model's severity, as the category", () => {
  assertEquals(one({ source: "check", rule: "debugger" }).rule, "debugger");
  assertEquals(one({ severity: "nit", source: "summary" }).rule, "model-nit");
});

test("a finding that no line of the change bears out is never more than a note, and says so", () => {
  const [entry] = readEntries([fileFinding({ severity: "bug" })]).entries;
  assertEquals(entry!.level, "note");
  assertStringIncludes(entry!.body, "No line of the change bears this out");
});

test("a finding on a removed line has no line of the new file, and says which it was", () => {
  const entry = one({ side: "old", line: 40, endLine: 41, body: "Why?" });
  assertEquals([entry.line, entry.endLine, entry.code], [undefined, undefined, undefined]);
  assertEquals(entry.body, "Why?\n\nIt is about a removed line: line 40 of the old file.");
});

test("the fingerprint stays when lines move, when a model finds other words and when the indent changes", () => {
  const { fingerprint } = one({ line: 4, title: "Unknown country", quote: "  f(x);" });
  assertEquals(one({ line: 90, title: "Country may be missing", quote: "\tf(x);" }).fingerprint, fingerprint);
  assertEquals(one({ severity: "bug", line: 4, quote: "  f(x);" }).fingerprint, fingerprint);
});

test("the fingerprint differs with path, rule, code, and without code with the title", () => {
  const { quote: _, ...bare } = finding();
  const all = [
    finding(),
    finding({ path: "b.ts" }),
    finding({ rule: "debugger", source: "check" }),
    finding({ quote: "other()" }),
    { ...bare, title: "One" },
    { ...bare, title: "Two" },
  ];
  const fingerprints = readEntries(all).entries.map(({ fingerprint }) => fingerprint);
  assertEquals(new Set(fingerprints).size, all.length);
});

test("findings with the same fingerprint are counted", () => {
  const { entries } = readEntries([finding(), finding({ line: 9 }), finding({ line: 12 })]);
  assertEquals(entries.map(({ occurrence }) => occurrence), [1, 2, 3]);
  assertEquals(new Set(entries.map(({ fingerprint }) => fingerprint)).size, 1);
});

test("code that is not one line for each line is no code to take columns from", () => {
  assertEquals(one({ line: 4, endLine: 6, quote: "a\nb" }).code, undefined);
  assertEquals(one({ line: 4, endLine: 5, quote: "a\nb" }).code, ["a", "b"]);
});

test("oneLine() and clipText() leave a line, without controls, that says where it was cut", () => {
  assertEquals(oneLine(" a\r\n\tb\x1b[2J\u202e"), "a b␛[2J<U+202E>");
  assertEquals(clipText("x".repeat(30), 20), `${"x".repeat(12)} … (cut)`);
  assertEquals(clipText("short", 20), "short");
});

test("jsonText() holds no command for a GitHub runner, and means the same", () => {
  const value = { text: "##[error]x" };
  assert(!jsonText(value).includes("##["));
  assertEquals(JSON.parse(jsonText(value)), value);
  assertNotEquals(jsonText(value), JSON.stringify(value));
});
