/**
 * A report as one HTML page that needs nothing else: no script, no image, no font, no request.
 *
 * @module
 */

import { createHash } from "node:crypto";
import { closingLine, count, describeStatus, fileCoverage, isPartial } from "./coverage.ts";
import { type FileDiff, lineCounts, type PlannedFile } from "./diff.ts";
import { oneLine } from "./entries.ts";
import type { Finding } from "./finding.ts";
import { escapeHtml } from "./html.ts";
import { diffHtml, type PlacedFinding } from "./html_diff.ts";
import { inlineHtml, markdownHtml } from "./html_markdown.ts";
import { STYLE } from "./html_style.ts";
import type { Report } from "./report.ts";
import { VERSION } from "./version.ts";

/** Lines of diff up to which every file is unfolded at once; beyond, those with findings are. */
const UNFOLDED_ROWS = 400;

const NAMES: { readonly [S in Finding["severity"]]: string } = { bug: "Bug", risk: "Risk", nit: "Nit" };
const RANKS: { readonly [S in Finding["severity"]]: number } = { bug: 0, risk: 1, nit: 2 };

/** A finding with its number on the page. */
interface Numbered extends PlacedFinding {
  number: number;
}

/**
 * A report as HTML.
 *
 * @param diff The files of the change, with the text that may be shown of them.
 */
export function htmlReport(report: Report, diff: readonly FileDiff[]): string {
  const findings = numbered(report.findings);
  const body = [
    header(report),
    failures(report),
    findingList(findings),
    fileTable(report),
    fileDiffs(report, diff, findings),
    placeless(report, findings),
    reviews(report),
    `<footer>Made by octavo ${escapeHtml(VERSION)}.</footer>`,
  ];
  return `${
    [
      "<!DOCTYPE html>",
      '<html lang="en">',
      "<head>",
      '<meta charset="utf-8">',
      `<meta http-equiv="Content-Security-Policy" content="${policy()}">`,
      '<meta name="viewport" content="width=device-width, initial-scale=1">',
      '<meta name="referrer" content="no-referrer">',
      `<title>${escapeHtml(oneLine(report.title))} – review</title>`,
      `<style>${STYLE}</style>`,
      "</head>",
      "<body>",
      "<main>",
      ...body.filter((part) => part !== ""),
      "</main>",
      "</body>",
      "</html>",
    ].join("\n")
  }\n`;
}

/** Nothing is loaded and nothing runs; the one style sheet is known by its hash (Content Security Policy Level 3). */
function policy(): string {
  const hash = createHash("sha256").update(STYLE).digest("base64");
  return `default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'`;
}

/** The most severe first. */
function numbered(findings: readonly Finding[]): Numbered[] {
  return findings.toSorted((a, b) => RANKS[a.severity] - RANKS[b.severity])
    .map((finding, index) => ({ finding, number: index + 1, html: findingHtml(finding, index + 1) }));
}

function header(report: Report): string {
  const { title, model, source, totals } = report;
  const from = [source.base, source.head].filter((hash) => hash !== undefined).map((hash) => hash.slice(0, 10));
  const by = report.status === "planned"
    ? "plan of a review"
    : model === "builtin"
    ? "built-in checks"
    : `review by ${model}`;
  const meta = [
    by,
    ...(from.length > 0 ? [from.join("..")] : []),
    `${count(totals.files, "file")}, ${lineCounts(totals)}`,
  ];
  return [
    `<h1>${escapeHtml(oneLine(title))}</h1>`,
    `<p class="meta">${escapeHtml(meta.join(" · "))}</p>`,
    tally(report),
    `<p>${escapeHtml(closingLine(report))}</p>`,
  ].join("\n");
}

function tally({ findings, status }: Report): string {
  if (status === "nothing" || status === "planned") return "";
  const items = (["bug", "risk", "nit"] as const).flatMap((severity) => {
    const n = findings.filter((finding) => finding.severity === severity).length;
    return n === 0 ? [] : [`<li class="${severity}">${count(n, NAMES[severity].toLowerCase())}</li>`];
  });
  const none = status === "complete" ? '<li class="good">no findings</li>' : "<li>no findings so far</li>";
  return `<ul class="tally">${items.join("") || none}</ul>`;
}

/** What keeps the review from being whole stands before everything else. */
function failures(report: Report): string {
  if (report.status !== "incomplete") return "";
  const parts = report.parts.filter(({ status }) => status !== "done").map(({ number, files, status, error }) =>
    `Part ${number} ${describeStatus(status)}${error === undefined ? "" : `: ${error}`} (${files.join(", ")})`
  );
  const { summary } = report;
  const last = summary === undefined || summary.status === "done"
    ? []
    : [`The summing up ${describeStatus(summary.status)}${summary.error === undefined ? "" : `: ${summary.error}`}`];
  const items = [...parts, ...last].map((text) => `<li>${escapeHtml(oneLine(text))}</li>`).join("\n");
  return `<section class="card warning"><p><strong>This review is incomplete.</strong></p><ul>\n${items}\n</ul></section>`;
}

function findingList(findings: readonly Numbered[]): string {
  if (findings.length === 0) return "";
  const items = findings.map(({ finding, number }) =>
    `<li>${severityTag(finding)} <a href="#finding${number}">${inlineHtml(oneLine(finding.title))}</a>` +
    `${unsure(finding)}<span class="where quiet">${escapeHtml(place(finding))}</span></li>`
  );
  return `<h2>Findings</h2>\n<ol class="list">\n${items.join("\n")}\n</ol>`;
}

function severityTag({ severity }: Finding): string {
  return `<span class="tag ${severity}">${NAMES[severity]}</span>`;
}

function place({ path, line, endLine, side }: Finding): string {
  if (path === undefined) return "no file of the change";
  const to = endLine !== undefined && endLine !== line ? `–${endLine}` : "";
  return `${path}${line === undefined ? "" : `:${line}${to}`}${side === "old" ? " (removed)" : ""}`;
}

function unsure({ grounded }: Finding): string {
  return grounded ? "" : ' <span class="tag">not borne out by a line</span>';
}

function findingHtml(finding: Finding, number: number): string {
  const { severity, title, body, quote, rule, anchor, grounded } = finding;
  const tags = [
    severityTag(finding),
    ...(rule === undefined ? [] : [`<span class="tag">${escapeHtml(rule)}</span>`]),
  ];
  // Where the lines of the diff are not beside it, it brings its own.
  const code = quote !== undefined && quote.trim() !== "" && anchor === "none"
    ? `<pre><code>${escapeHtml(quote)}</code></pre>`
    : "";
  return `<div class="finding ${severity}${grounded ? "" : " unsure"}" id="finding${number}">` +
    `<strong>${inlineHtml(oneLine(title))}</strong> ${tags.join(" ")}${unsure(finding)}${code}${
      markdownHtml(body)
    }</div>`;
}

function fileTable(report: Report): string {
  if (report.files.length === 0) return "";
  const rows = report.files.map((file) => {
    const name = escapeHtml(nameOf(file));
    const shown = file.coverage === "skipped" || file.coverage === "unreviewed"
      ? `<span>${name}</span>`
      : `<a href="#file${report.files.indexOf(file) + 1}">${name}</a>`;
    return `<tr><td>${shown}</td><td class="extra">${file.status}</td>` +
      `<td class="number extra"><span class="plus">+${file.additions}</span> <span class="minus">−${file.deletions}</span></td>` +
      `<td>${tagOf(file, report)} ${escapeHtml(fileCoverage(file, report))}</td></tr>`;
  });
  return `<h2>Files</h2>\n<table class="files"><thead><tr><th>File</th><th>Change</th><th>Lines</th>` +
    `<th>Reviewed</th></tr></thead><tbody>\n${rows.join("\n")}\n</tbody></table>`;
}

function tagOf(file: PlannedFile, report: Report): string {
  const partial = isPartial(file, report);
  const name = {
    full: partial ? "incomplete" : "in full",
    trimmed: "trimmed",
    skipped: "skipped",
    unreviewed: "not reviewed",
  };
  const tone = { full: partial ? "risk" : "", trimmed: "risk", skipped: "", unreviewed: "bug" };
  return `<span class="tag ${tone[file.coverage]}">${name[file.coverage]}</span>`;
}

function nameOf({ path, oldPath }: PlannedFile): string {
  return oneLine(oldPath === undefined ? path : `${oldPath} → ${path}`);
}

function fileDiffs(report: Report, diff: readonly FileDiff[], findings: readonly Numbered[]): string {
  const records = new Map(diff.map((file) => [keyOf(file), file])); // of two with one key the second has the text
  const left = new Set(findings.filter(({ finding }) => finding.anchor !== "none"));
  const sections = report.files.map((file, index) => {
    const mine = [...left].filter(({ finding }) => finding.path === file.path);
    if (file.coverage === "skipped" && mine.length === 0) return undefined;
    if (file.coverage === "unreviewed" && mine.length === 0) return undefined;
    for (const finding of mine) left.delete(finding);
    return { file, index, mine, diff: diffOf(records.get(keyOf(file)), file, mine) };
  }).filter((section) => section !== undefined);
  if (sections.length === 0) return "";
  const rows = sections.reduce((sum, { diff }) => sum + diff.rows, 0);
  const html = sections.map(({ file, index, mine, diff }) => {
    const open = mine.length > 0 || rows <= UNFOLDED_ROWS ? " open" : "";
    const tag = mine.length > 0 ? `<span class="tag">${count(mine.length, "finding")}</span>` : "";
    const above = diff.elsewhere.map((placed) => elsewhereHtml(placed)).join("\n");
    const none = diff.html === "" ? '<p class="quiet">Its lines are not shown here.</p>' : "";
    const beside = above + none === "" ? "" : `<div class="inside">${above}${none}</div>`;
    const rest = [
      ...(diff.html !== "" && diff.hunks < file.hunksSent
        ? [`${count(file.hunksSent - diff.hunks, "hunk")} not shown here`]
        : []),
      ...(isPartial(file, report) ? [fileCoverage(file, report)] : []),
    ].map((text) => `<p class="quiet">${escapeHtml(text)}</p>`).join("");
    const below = rest === "" ? "" : `<div class="inside">${rest}</div>`;
    return `<details class="file" id="file${index + 1}"${open}><summary>${escapeHtml(nameOf(file))} ` +
      `<span class="quiet">${
        escapeHtml(lineCounts(file))
      }</span>${tag}</summary>\n${beside}${diff.html}${below}</details>`;
  });
  return `<h2>${report.status === "planned" ? "What would be sent" : "The change"}</h2>\n${html.join("\n")}`;
}

function diffOf(record: FileDiff | undefined, { hunksSent }: PlannedFile, mine: readonly Numbered[]) {
  return record === undefined || record.text === ""
    ? { html: "", rows: 0, hunks: 0, elsewhere: [...mine] }
    : diffHtml(record, hunksSent, mine);
}

/** A finding whose line is not on the page: its code comes with it. */
function elsewhereHtml({ finding, html }: PlacedFinding): string {
  const { quote } = finding;
  const code = quote !== undefined && quote.trim() !== "" ? `<pre><code>${escapeHtml(quote)}</code></pre>` : "";
  return `<p class="quiet">${
    escapeHtml(finding.line === undefined ? "On the whole file:" : `On ${place(finding)}:`)
  }</p>${code}${html}`;
}

/** A type change is two records of one path: one deleted, one added. */
function keyOf({ path, status }: Pick<FileDiff, "path" | "status">): string {
  return `${status} ${path}`;
}

function placeless(report: Report, findings: readonly Numbered[]): string {
  const paths = new Set(report.files.map(({ path }) => path));
  const rest = findings.filter(({ finding: { anchor, path } }) =>
    anchor === "none" || path === undefined || !paths.has(path)
  );
  if (rest.length === 0) return "";
  return `<h2>About no file of the change</h2>\n${rest.map(({ html }) => html).join("\n")}`;
}

function reviews({ parts, summary }: Report): string {
  const texts = [
    ...(summary?.review === undefined ? [] : [{ name: "Summing up", review: summary.review, open: true }]),
    ...parts.flatMap(({ number, review }) =>
      review === undefined ? [] : [{
        name: parts.length === 1 ? "The review" : `Part ${number} of ${parts.length}`,
        review,
        open: parts.length === 1,
      }]
    ),
  ];
  if (texts.length === 0) return "";
  const html = texts.map(({ name, review, open }) =>
    `<details class="review card"${open ? " open" : ""}><summary>${name}</summary>\n${markdownHtml(review)}\n</details>`
  );
  return `<h2>In the model's words</h2>\n${html.join("\n")}`;
}
