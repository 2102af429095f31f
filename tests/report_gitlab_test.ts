import { test } from "node:test";
import { assertEquals, assertNotEquals, assertStringIncludes } from "@std/assert";
import { gitlabReport } from "../report_gitlab.ts";
import type { Report } from "../report.ts";
import { allowMinutes } from "./support.ts";
import { fileFinding, finding, sampleReport } from "./support_report.ts";
import { violations } from "./support_schema.ts";

await allowMinutes();

/** What GitLab's documentation ("Code Quality report format") asks of a report; stricter than the schema GitLab has. */
const SCHEMA = {
  type: "array",
  items: {
    type: "object",
    required: ["description", "check_name", "fingerprint", "severity", "location"],
    additionalProperties: false,
    properties: {
      description: { type: "string", minLength: 1 },
      check_name: { type: "string", pattern: "^[a-z][a-z-]*$" },
      fingerprint: { type: "string", minLength: 8 },
      severity: { enum: ["info", "minor", "major", "critical", "blocker"] },
      location: {
        type: "object",
        required: ["path", "lines"],
        additionalProperties: false,
        properties: {
          path: { type: "string", pattern: "^(?!\\./|/)." },
          lines: {
            type: "object",
            required: ["begin"],
            properties: { begin: { type: "integer", minimum: 1 }, end: { type: "integer", minimum: 1 } },
          },
        },
      },
    },
  },
};

const parse = (fields: Partial<Report> = {}) => JSON.parse(gitlabReport(sampleReport(fields)));

test("a report is what GitLab's documentation describes, without a byte order mark", () => {
  assertEquals(violations(SCHEMA, parse()), []);
  assertEquals(gitlabReport(sampleReport())[0], "[");
  assertNotEquals(violations(SCHEMA, [{ description: "x" }]), []);
});

test("no findings are an empty array", () => {
  assertEquals(gitlabReport(sampleReport({ findings: [] })), "[]\n");
});

test("severities are GitLab's; what is not borne out is info", () => {
  const findings = [
    finding({ severity: "bug" }),
    finding(),
    finding({ severity: "nit" }),
    fileFinding({ severity: "bug" }),
  ];
  assertEquals(parse({ findings }).map(({ severity }: { severity: string }) => severity), [
    "critical",
    "major",
    "minor",
    "info",
  ]);
});

test("fingerprints are unique in a report, since GitLab shows one of those that are the same", () => {
  const all = parse({ findings: [finding(), finding({ line: 9 }), finding({ line: 12 })] });
  assertEquals(new Set(all.map(({ fingerprint }: { fingerprint: string }) => fingerprint)).size, 3);
});

test("a finding without a line is at the first line, and says what it is about", () => {
  const [{ location, description }] = parse({ findings: [finding({ side: "old", line: 40, body: "Why\nso?" })] });
  assertEquals(location, { path: "src/cart.ts", lines: { begin: 1, end: 1 } });
  assertStringIncludes(description, "Unknown country: Why so? It is about a removed line: line 40");
});
