import { test } from "node:test";
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { parseUnifiedDiff } from "../diff.ts";
import { htmlReport } from "../report_html.ts";
import type { Report } from "../report.ts";
import { allowMinutes } from "./support.ts";
import { look, missingChromium, screenshot } from "./support_chromium.ts";
import { diffFiles, fileFinding, finding, HOSTILE, sampleReport } from "./support_report.ts";

await allowMinutes();

const page = (fields: Partial<Report> = {}) => htmlReport(sampleReport(fields), diffFiles());

/** The same report with hostile text wherever there can be text. */
function hostileReport(): Report {
  const report = sampleReport();
  return {
    ...report,
    title: HOSTILE,
    model: HOSTILE,
    status: "incomplete",
    files: report.files.map((file) => ({
      ...file,
      path: `${HOSTILE}/${file.path}`,
      oldPath: HOSTILE,
      reason: HOSTILE,
    })),
    parts: report.parts.map((part) => ({
      ...part,
      status: "failed",
      error: HOSTILE,
      files: [HOSTILE],
      review: HOSTILE,
    })),
    summary: {
      status: "failed",
      error: HOSTILE,
      review: `# ${HOSTILE}\n\n| ${HOSTILE} |\n|---|\n| [x](javascript:alert(1)) |`,
    },
    findings: [
      ...report.findings,
      finding({
        title: HOSTILE,
        body: `\`${HOSTILE}\`\n\n\`\`\`html\n${HOSTILE}\n\`\`\``,
        quote: HOSTILE,
        rule: HOSTILE,
      }),
      fileFinding({ path: HOSTILE, title: HOSTILE, body: HOSTILE, anchor: "none" }),
    ],
  };
}

test("the page has the files, the findings, and what was skipped and why", () => {
  const html = page();
  for (const { path } of sampleReport().files) {
    assertStringIncludes(html, path.replaceAll("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;"));
  }
  assertStringIncludes(html, "0 of 1 hunk reviewed, 6 lines left out (lockfile)");
  assertStringIncludes(html, "3 of 4 files reviewed in full, 1 skipped (lockfile).");
  assertStringIncludes(html, "Debugger statement left in");
});

test("a finding stands behind the line it is about, and that line is marked", () => {
  const html = page({ findings: [finding({ line: 4, title: "Unknown country" })] });
  const [line, remark, next] = ["const rate = rates[country].vat;", 'id="finding1"', "debugger;"].map((text) =>
    html.indexOf(text, html.indexOf('class="diff"'))
  );
  assert(line! > 0 && line! < remark! && remark! < next!);
  assertMatch(html, /<div class="row addition hit">.*rates\[country\]\.vat;/);
});

test("a finding on a removed line stands behind that line, one of several lines behind the last", () => {
  const findings = [
    finding({ path: "old/legacy.ts", side: "old", line: 1, title: "Removed" }),
    finding({ line: 45, endLine: 46, title: "Twice" }),
  ];
  const html = page({ findings });
  assertMatch(html, /deletion hit">.*taxes = .*<\/div>\n<div class="remark">.*Removed/);
  assertMatch(html, /<span class="new">46<\/span>.*\n<div class="remark">.*Twice/);
  assertEquals(html.match(/class="row \w+ hit"/g)!.length, 3);
});

test("a finding whose line is not on the page comes with its code; one about no file stands at the end", () => {
  const html = page({
    findings: [finding({ line: 900, quote: "far_away();" }), fileFinding({ anchor: "none", title: "Lost" })],
  });
  assertMatch(html, /On src\/cart\.ts:900:<\/p><pre><code>far_away\(\);<\/code><\/pre><div class="finding risk"/);
  assert(html.indexOf("About no file of the change") > html.indexOf("far_away()"));
  assert(html.lastIndexOf("Lost") > html.indexOf("About no file of the change"));
});

test("each finding is on the page once, whatever it is tied to", () => {
  const html = page();
  for (let number = 1; number <= 8; number++) {
    assertEquals(html.split(`id="finding${number}"`).length, 2, `finding ${number}`);
    assertEquals(html.split(`href="#finding${number}"`).length, 2, `link to ${number}`);
  }
});

test("an incomplete review says so before anything else, with what failed", () => {
  const html = page({
    status: "incomplete",
    parts: [{ number: 1, files: ["src/cart.ts"], chars: 10, status: "failed", error: "the server said no" }],
  });
  assert(html.indexOf("This review is incomplete") < html.indexOf("<h2>"));
  assertStringIncludes(html, "Part 1 has failed: the server said no (src/cart.ts)");
  assertStringIncludes(html, "2 of 2 hunks in the part, but part 1 has failed");
});

test("of a trimmed file only the hunks that were sent are shown, and the rest is said", () => {
  const [cart] = sampleReport().files;
  const html = page({ files: [{ ...cart!, coverage: "trimmed", hunksSent: 1, linesOmitted: 8 }], findings: [] });
  assertStringIncludes(html, "@@ -1,7 +1,9 @@");
  assert(!html.includes("@@ -40,6 +42,7 @@"));
  assertStringIncludes(html, "1 of 2 hunks reviewed, 8 lines left out");
});

test("hunks that were reviewed and are not on the page are counted", () => {
  const [cart] = sampleReport().files;
  const html = page({ files: [{ ...cart!, hunks: 9, hunksSent: 9 }], findings: [] });
  assertStringIncludes(html, "7 hunks not shown here");
  assert(!page().includes("not shown here"));
});

test("of a very long file the beginning is shown and what is near a finding; what is between is counted", () => {
  const lines = Array.from({ length: 5_000 }, (_, n) => `+line ${n + 1}`).join("\n");
  const diff = parseUnifiedDiff(`--- /dev/null\n+++ b/long.ts\n@@ -0,0 +1,5000 @@\n${lines}\n`).files;
  const [file] = diff;
  const files = [{ ...sampleReport().files[0]!, path: "long.ts", status: file!.status, hunks: 1, hunksSent: 1 }];
  const html = htmlReport(
    sampleReport({ files, findings: [finding({ path: "long.ts", line: 4_000, quote: "line 4000" })] }),
    diff,
  );
  assertMatch(html, />line 999<\/span>/);
  assertMatch(html, />line 4000<\/span>/);
  assert(!/>line 2000</.test(html));
  assertStringIncludes(html, "2992 lines not shown here");
});

test("nothing in the page runs, loads or leads anywhere, and nothing on a log commands a runner", () => {
  for (const html of [page(), htmlReport(hostileReport(), diffFiles())]) {
    assert(!/<(?:script|img|iframe|link|object|embed|form|svg|base)\b/i.test(html), "an element that runs or loads");
    assert(!/url\(|@import|https?:\/\//.test(html), "an address is in the page");
    assert(!/^\s*::/m.test(html) && !html.includes("##["), "a workflow command is in the page");
    assert(
      // deno-lint-ignore no-control-regex
      !/[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/.test(html.replaceAll("\t", "")),
      "a control character",
    );
    assertMatch(html, /default-src 'none'; style-src 'sha256-[\w+/]+=*'; base-uri 'none'; form-action 'none'/);
  }
});

test("a page without a diff, without findings, of nothing and of a plan says what it is", () => {
  assertStringIncludes(htmlReport(sampleReport(), []), "Its lines are not shown here");
  assertStringIncludes(page({ findings: [] }), "no findings");
  assertStringIncludes(page({ status: "nothing", files: [], findings: [], parts: [] }), "Nothing to review.");
  assertStringIncludes(page({ status: "planned", findings: [] }), "What would be sent");
});

for (const scheme of ["light", "dark"] as const) {
  test(`in Chromium, ${scheme}, the page fits 390 and 1,280 pixels, and nothing overlaps, runs or loads`, async (t) => {
    const missing = missingChromium();
    if (missing !== undefined) return t.skip(missing);
    for (const html of [page(), htmlReport(hostileReport(), diffFiles())]) {
      const seen = await look(html, [390, 1_280], scheme);
      assertEquals(seen.map(({ clientWidth }) => clientWidth), [390, 1_280]);
      for (const { scrollWidth, clientWidth, misplaced, active, alerts, background, elements } of seen) {
        assert(scrollWidth <= clientWidth, `${scrollWidth} > ${clientWidth}`);
        assertEquals(misplaced, []);
        assertEquals(active, []);
        assertEquals(alerts, 0);
        assert((elements.details ?? 0) >= 1, "there is a diff");
        const [red = 0] = background.match(/\d+/g)!.map(Number);
        assertEquals(red > 128, scheme === "light", background);
      }
    }
  });
}

test("the probe sees a page that is too wide, overlaps and runs something", async (t) => {
  const missing = missingChromium();
  if (missing !== undefined) return t.skip(missing);
  const html = `<!DOCTYPE html><body><div style="width:900px">wide</div><div style="margin-top:-20px">over</div>` +
    `<script>parent.alert(1)</script>`;
  const [seen] = await look(html, [390], "light");
  assert(seen!.scrollWidth > seen!.clientWidth);
  assertEquals(seen!.misplaced.some((text) => text.startsWith("beyond: ")), true);
  assertEquals(seen!.misplaced.some((text) => text.startsWith("overlap: ")), true);
  assertEquals(seen!.alerts, 1);
  assert(seen!.active.length >= 3);
});

test("Chromium draws the page: a screenshot has more than a blank one", async (t) => {
  const missing = missingChromium();
  if (missing !== undefined) return t.skip(missing);
  const [drawn, blank] = [await screenshot(page(), 1_280, 900), await screenshot("<!DOCTYPE html>", 1_280, 900)];
  assert(drawn.length > 5 * blank.length, `${drawn.length} and ${blank.length} bytes`);
});
