import { test } from "node:test";
import { assertEquals } from "@std/assert";
import { rdjsonlReport } from "../report_rdjsonl.ts";
import type { Finding } from "../finding.ts";
import { allowMinutes } from "./support.ts";
import { fileFinding, finding, sampleReport } from "./support_report.ts";
import { violations } from "./support_schema.ts";

await allowMinutes();

const POSITION = {
  type: "object",
  required: ["line"],
  additionalProperties: false,
  properties: { line: { type: "integer", minimum: 1 }, column: { type: "integer", minimum: 1 } },
};

/** A diagnostic as reviewdog's protocol has it (`proto/rdf/reviewdog.proto`), as far as octavo writes one. */
const SCHEMA = {
  type: "object",
  required: ["message", "location", "severity"],
  additionalProperties: false,
  properties: {
    message: { type: "string", minLength: 1 },
    location: {
      type: "object",
      required: ["path"],
      additionalProperties: false,
      properties: {
        path: { type: "string", minLength: 1 },
        range: {
          type: "object",
          required: ["start"],
          additionalProperties: false,
          properties: { start: POSITION, end: POSITION },
        },
      },
    },
    severity: { enum: ["ERROR", "WARNING", "INFO"] },
    source: { type: "object", properties: { name: { type: "string" } } },
    code: { type: "object", properties: { value: { type: "string" } } },
  },
};

const read = (...findings: Finding[]) =>
  rdjsonlReport(sampleReport({ findings })).split("\n").slice(0, -1).map((line) => JSON.parse(line));

test("each finding with a place is a line that is a diagnostic of reviewdog", () => {
  const lines = read(...sampleReport().findings);
  assertEquals(lines.length, 7);
  for (const line of lines) assertEquals(violations(SCHEMA, line), []);
});

test("no findings are no lines", () => {
  assertEquals(rdjsonlReport(sampleReport({ findings: [] })), "");
});

test("columns count bytes of UTF-8, the end is behind the code", () => {
  const [{ location }] = read(finding({ line: 3, endLine: 4, quote: "  a(); // é😀\n\tb(); // ü" }));
  assertEquals(location.range, { start: { line: 3, column: 3 }, end: { line: 4, column: 12 } });
});

test("without code a range is whole lines, and without a line there is none", () => {
  const { quote: _, ...bare } = finding();
  assertEquals(read({ ...bare, line: 4 })[0].location.range, { start: { line: 4, column: 1 } });
  assertEquals(read({ ...bare, line: 4, endLine: 6 })[0].location.range, { start: { line: 4 }, end: { line: 6 } });
  assertEquals(read(fileFinding())[0].location, { path: "src/cart.ts" });
});
