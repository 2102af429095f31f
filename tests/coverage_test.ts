import { test } from "node:test";
import { assertEquals } from "@std/assert";
import { closingLine, fileCoverage, inlineCode, isPartial } from "../coverage.ts";
import type { PlannedFile } from "../diff.ts";
import type { Report } from "../report.ts";
import { sampleReport } from "./support_report.ts";

const [FILE] = sampleReport().files as [PlannedFile];
const trimmed: PlannedFile = { ...FILE, coverage: "trimmed", hunks: 5, hunksSent: 3, linesOmitted: 341 };
const failed: Partial<Report> = {
  status: "incomplete",
  parts: [{ number: 1, files: ["src/cart.ts"], chars: 1, status: "failed" }],
};

const CASES: [file: Partial<PlannedFile>, report: Partial<Report>, text: string, partial: boolean][] = [
  [{}, {}, "2 of 2 hunks reviewed", false],
  [trimmed, {}, "3 of 5 hunks reviewed, 341 lines left out", true],
  [trimmed, { status: "planned" }, "3 of 5 hunks to review, 341 lines left out", true],
  [{}, failed, "2 of 2 hunks in the part, but part 1 has failed", true],
  [
    { coverage: "skipped", reason: "lockfile", hunks: 1, hunksSent: 0, linesOmitted: 1 },
    {},
    "0 of 1 hunk reviewed, 1 line left out (lockfile)",
    true,
  ],
];

for (const [file, report, text, partial] of CASES) {
  test(`a file is described: ${text}`, () => {
    const { part = 1, ...rest } = { ...FILE, ...file };
    const planned = rest.coverage === "skipped" ? rest : { ...rest, part };
    assertEquals(fileCoverage(planned, sampleReport(report)), text);
    assertEquals(isPartial(planned, sampleReport(report)), partial);
  });
}

test("closingLine() says what was reviewed, that nothing was, and that something is missing", () => {
  assertEquals(closingLine(sampleReport()), "3 of 4 files reviewed in full, 1 skipped (lockfile).");
  assertEquals(closingLine(sampleReport({ status: "nothing", files: [] })), "Nothing to review.");
  assertEquals(
    closingLine(sampleReport(failed)),
    "0 of 4 files reviewed in full, 1 skipped (lockfile), 3 not reviewed (their part is missing). The review is incomplete: 1 of 1 parts are missing or cut.",
  );
});

test("inlineCode() holds any text in one line", () => {
  assertEquals(inlineCode("a.ts"), "`a.ts`");
  assertEquals(inlineCode("a`b"), "`` a`b ``");
  assertEquals(inlineCode("a\nb"), "`a b`");
});
