import { test } from "node:test";
import { execFileSync, spawn } from "node:child_process";
import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { assert, assertEquals, assertRejects, assertStringIncludes, assertThrows } from "@std/assert";
import { UsageError } from "../errors.ts";
import type { ReviewEvent } from "../report.ts";
import { cutSummary, openReports, readReportFile, readReportFiles } from "../report_files.ts";
import { withFolder } from "./support.ts";
import { sampleReport } from "./support_report.ts";

const END: ReviewEvent = { type: "end", report: sampleReport() };
const SOURCE: ReviewEvent = { type: "source", kind: "branch", title: "tax against main", description: "" };

/** Opens reports, gives them the events, and gives what failed. */
async function writeReports(texts: string[], dir: string, events = [SOURCE, END], env: Record<string, string> = {}) {
  const reports = await openReports({ files: readReportFiles(texts, dir), env });
  for (const event of events) for (const report of reports) report.take(event);
  return (await Promise.all(reports.map((report) => report.finish()))).filter((failure) => failure !== undefined);
}

const READ: [text: string, format: string, path: string][] = [
  ["a.sarif", "sarif", "/d/a.sarif"],
  ["out/a.sarif.json", "sarif", "/d/out/a.sarif.json"],
  ["A.HTML", "html", "/d/A.HTML"],
  ["a.json", "json", "/d/a.json"],
  ["a.jsonl", "jsonl", "/d/a.jsonl"],
  ["a.rdjsonl", "rdjsonl", "/d/a.rdjsonl"],
  ["a.md", "markdown", "/d/a.md"],
  ["gitlab:gl-code-quality-report.json", "gitlab", "/d/gl-code-quality-report.json"],
  ["unix:errors", "unix", "/d/errors"],
  ["html:sarif:x", "html", "/d/sarif:x"],
  ["/abs/x.json", "json", "/abs/x.json"],
  ["./xml:a.json", "json", "/d/xml:a.json"],
];

for (const [text, format, path] of READ) {
  test(`readReportFile() reads ${text} as ${format}`, () => {
    if (process.platform === "win32") return;
    assertEquals(readReportFile(text, "/d"), { format: format as "json", path });
  });
}

const REFUSED: [text: string, message: string][] = [
  ["report.xml", "does not say in which format"],
  ["report", "does not say in which format"],
  [".json/report", "does not say in which format"],
  ["xml:report.json", 'Unknown format "xml"'],
  ["sarif:", "names no file"],
  ["json:-", "names no file"],
  ["-", "names no file"],
];

for (const [text, message] of REFUSED) {
  test(`readReportFile() refuses ${text}`, () => {
    assertStringIncludes(assertThrows(() => readReportFile(text, "/d"), UsageError).message, message);
  });
}

test("readReportFiles() takes one file twice, but not in two formats", () => {
  assertEquals(readReportFiles(["a.json", "./a.json", "a.json"], "/d").length, 1);
  assertStringIncludes(
    assertThrows(() => readReportFiles(["a.json", "gitlab:a.json"], "/d"), UsageError).message,
    "Two reports go to the same file",
  );
});

test("openReports() writes each format, and leaves nothing else behind", async () => {
  await withFolder(async (dir) => {
    const names = [
      "a.sarif",
      "a.html",
      "a.json",
      "a.jsonl",
      "a.md",
      "gitlab:b.json",
      "rdjsonl:c",
      "unix:d",
      "github:e",
    ];
    assertEquals(await writeReports(names, dir), []);
    assertEquals(readdirSync(dir).sort(), ["a.html", "a.json", "a.jsonl", "a.md", "a.sarif", "b.json", "c", "d", "e"]);
    assertEquals(JSON.parse(readFileSync(join(dir, "a.sarif"), "utf8")).version, "2.1.0");
    assertEquals(JSON.parse(readFileSync(join(dir, "a.json"), "utf8")).title, "tax against main");
    assertEquals(readFileSync(join(dir, "a.jsonl"), "utf8").split("\n").length, 3);
    assertStringIncludes(readFileSync(join(dir, "a.html"), "utf8"), "<!DOCTYPE html>");
    assertStringIncludes(readFileSync(join(dir, "e"), "utf8"), "::error file=");
  });
});

test("a report replaces the file that is there in one step, and a run without an end leaves it", async () => {
  await withFolder(async (dir) => {
    const file = join(dir, "a.json");
    writeFileSync(file, "old");
    assertEquals(await writeReports(["a.json"], dir, [SOURCE]), []);
    assertEquals(readFileSync(file, "utf8"), "old");
    await writeReports(["a.json"], dir);
    assertEquals(JSON.parse(readFileSync(file, "utf8")).version, 1);
    assertEquals(readdirSync(dir), ["a.json"]);
  });
});

test("a link that a repository has put there is replaced, not followed", async () => {
  if (process.platform === "win32") return;
  await withFolder(async (dir) => {
    writeFileSync(join(dir, "precious"), "mine");
    symlinkSync(join(dir, "precious"), join(dir, "a.json"));
    symlinkSync(join(dir, "nowhere"), join(dir, "b.json"));
    await writeReports(["a.json", "b.json"], dir);
    assertEquals(readFileSync(join(dir, "precious"), "utf8"), "mine");
    assert(!lstatSync(join(dir, "a.json")).isSymbolicLink() && !existsSync(join(dir, "nowhere")));
  });
});

test("openReports() refuses what cannot be written before anything is taken", async () => {
  await withFolder(async (dir) => {
    mkdirSync(join(dir, "folder.json"));
    writeFileSync(join(dir, "file"), "");
    for (
      const [text, why] of [["none/a.json", "no folder"], ["folder.json", "it is a folder"], [
        "file/a.json",
        "no folder",
      ]]
    ) {
      const error = await assertRejects(() => writeReports([text!], dir), UsageError);
      assertStringIncludes(error.message, why!);
    }
    if (existsSync("/proc/self/cwd")) await assertRejects(() => writeReports(["/proc/a.json"], dir), UsageError);
    assertEquals(readdirSync(dir).sort(), ["file", "folder.json"]);
  });
});

test("a pipe is written to, as it is", async () => {
  if (process.platform === "win32") return;
  await withFolder(async (dir) => {
    const pipe = join(dir, "pipe");
    execFileSync("mkfifo", [pipe]);
    const reader = spawn("cat", [pipe], { stdio: ["ignore", "pipe", "inherit"] });
    let text = "";
    reader.stdout.on("data", (piece: Uint8Array) => text += new TextDecoder().decode(piece));
    const closed = new Promise((resolve) => reader.on("close", resolve));
    assertEquals(await writeReports(["unix:pipe"], dir), []);
    await closed;
    assertStringIncludes(text, "src/cart.ts:5:3: error:");
    assert(lstatSync(pipe).isFIFO());
  });
});

test("what fails at the end is said, and no part of a file stays", async () => {
  await withFolder(async (dir) => {
    const [report] = await openReports({ files: readReportFiles(["a.json"], dir), env: {} });
    report!.take(END);
    mkdirSync(join(dir, "a.json/in"), { recursive: true });
    assertStringIncludes(await report!.finish() ?? "", "Cannot write the report");
    assertEquals(readdirSync(dir), ["a.json"]);
  });
});

test("the step's summary is appended to what is there, under its title, only in GitHub Actions", async () => {
  await withFolder(async (dir) => {
    const file = join(dir, "summary.md");
    writeFileSync(file, "# Before\n");
    const delta: ReviewEvent = { type: "delta", section: 1, text: "Looks **good**.\n" };
    assertEquals(await writeReports([], dir, [SOURCE, delta, END], { GITHUB_STEP_SUMMARY: file }), []);
    assertEquals(readFileSync(file, "utf8"), "# Before\n");
    await writeReports([], dir, [SOURCE, delta, END], { GITHUB_ACTIONS: "true", GITHUB_STEP_SUMMARY: file });
    assertEquals(
      readFileSync(file, "utf8"),
      "# Before\n# octavo: tax against main\n\nLooks **good**.\n\nSkipped: `package-lock.json` (lockfile)\n\n" +
        "3 of 4 files reviewed in full, 1 skipped (lockfile).\n",
    );
  });
});

test("a summary that is too large for a step is cut at a line, with a note, and never beyond 1 MiB", async () => {
  await withFolder(async (dir) => {
    const file = join(dir, "summary.md");
    writeFileSync(file, "x".repeat(1_000_000));
    const text = "ä line of text\n".repeat(100_000);
    const events: ReviewEvent[] = [SOURCE, { type: "delta", section: 1, text }, END];
    await writeReports([], dir, events, { GITHUB_ACTIONS: "true", GITHUB_STEP_SUMMARY: file });
    const written = readFileSync(file);
    assert(written.length <= 1_048_576 && written.length > 1_048_000, `${written.length} bytes`);
    assertStringIncludes(written.toString("utf8"), "ä line of text\n\n\n> **Cut here**");
  });
});

test("cutSummary() closes the fence that is open where it cuts, and keeps what fits", () => {
  const code = `\`\`\`\`ts\n${"x\n```\n".repeat(300)}`;
  const cut = cutSummary(code, 600);
  assert(new TextEncoder().encode(cut).length <= 600);
  assertStringIncludes(cut, "\n````\n\n\n> **Cut here**");
  assertEquals(cutSummary("short\n", 6), "short\n");
  assertEquals(cutSummary("short\n", 5), "");
  assertStringIncludes(cutSummary("x\n".repeat(100), 150), "Cut here");
});
