/** The binary writes the formats of other tools: on stdout, into files, for a step in GitHub Actions. */
import { test } from "node:test";
import { existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { FORMATS } from "../settings.ts";
import { allowMinutes, makeRepository, withFolder, write } from "./support.ts";
import { answer, octavo, withModel } from "./support_octavo.ts";
import { sarifSchema, violations } from "./support_schema.ts";
import { json, withServer } from "./support_server.ts";

await allowMinutes();

const REVIEW = "## Issues\n\n- 🔴 `a.ts:3` — it divides by zero\n  `const x = 1 / 0;`\n  It is infinite.\n" +
  "- 🟠 `nowhere.ts:7` — it is not there\n  `gone()`\n  It fails.\n";

/** A repository with a change of two files: one to review, and one that is noise. */
async function withChange(use: (repository: string, home: string) => Promise<void>): Promise<void> {
  await withFolder(async (home) => {
    const repository = join(home, "project");
    makeRepository(repository, { "a.ts": "one\ntwo\nthree\n", "go.sum": "x\n" });
    write(repository, { "a.ts": "one\ntwo\nconst x = 1 / 0;\n", "go.sum": "y\n" });
    await use(repository, home);
  });
}

/** Changes `a.ts` and `b.ts` so that each is a part of 2,000 characters. */
function makeLarge(repository: string): void {
  const lines = (name: string) => `${`${name} line of text here\n`.repeat(70)}`;
  write(repository, { "a.ts": lines("a"), "b.ts": lines("b") });
}

test("--format writes each format to stdout, and nothing else", async () => {
  await withChange(async (cwd) => {
    await withServer(() => answer(REVIEW), async (server) => {
      const run = async (format: string) => {
        const ran = await octavo(["--format", format], { cwd, env: withModel(server.url) });
        assertEquals(ran.code, 0, ran.stderr);
        return ran;
      };
      const sarif = JSON.parse((await run("sarif")).stdout);
      assertEquals(violations(sarifSchema(), sarif), []);
      assertEquals(sarif.runs[0].results.length, 1);
      const gitlab = JSON.parse((await run("gitlab")).stdout);
      assertEquals(gitlab[0].location, { path: "a.ts", lines: { begin: 3, end: 3 } });
      assertEquals(JSON.parse((await run("rdjsonl")).stdout).location.path, "a.ts");
      assertEquals((await run("unix")).stdout, "a.ts:3:1: error: it divides by zero: It is infinite. [model-bug]\n");
      assertMatch(
        (await run("github")).stdout,
        /^::error file=a\.ts,line=3,.*::It is infinite\.\n::notice title=octavo::/,
      );
      const html = (await run("html")).stdout;
      assert(html.startsWith("<!DOCTYPE html>") && html.endsWith("</html>\n"));
      assertMatch(html, /addition hit">.*const x = 1 \/ 0;.*\n<div class="remark">.*it divides by zero/);
    });
  });
});

test("what a format has no room for stands on stderr: the coverage of each file, findings without a place", async () => {
  await withChange(async (cwd) => {
    await withServer(() => answer(REVIEW), async (server) => {
      for (const format of ["unix", "gitlab", "rdjsonl"]) {
        const { stderr } = await octavo(["--format", format], { cwd, env: withModel(server.url) });
        assertStringIncludes(stderr, "octavo: go.sum: 0 of 1 hunk reviewed, 7 lines left out (lockfile)\n");
        assertStringIncludes(stderr, "takes no finding without a file: risk: it is not there\n");
        assertStringIncludes(stderr, "octavo: 1 of 2 files reviewed in full, 1 skipped (lockfile).\n");
      }
    });
  });
});

test("the Markdown accounts for a file that was cut, by its hunks and lines, and closes with the sum", async () => {
  await withFolder(async (home) => {
    const cwd = join(home, "project");
    const lines = (changed: string) =>
      Array.from({ length: 60 }, (_, n) => `${n}${n % 12 === 0 ? changed : ""}\n`).join("");
    makeRepository(cwd, { "c.ts": lines("") });
    write(cwd, { "c.ts": lines("x".repeat(400)) });
    await withServer([answer("Seen.")], async (server) => {
      const env = { ...withModel(server.url), OCTAVO_MAX_DIFF_CHARS: "2000" };
      const { stdout } = await octavo([], { cwd, env });
      assertMatch(stdout, /Not reviewed in full:\n\n- `c\.ts`: \d of 5 hunks reviewed, \d+ lines left out\n/);
      assertMatch(stdout, /\n0 of 1 file reviewed in full, 1 trimmed \(\d+ lines\)\.\n$/);
    });
  });
});

test("--report writes files beside the review, from flag and environment, and in the folder one is in", async () => {
  await withChange(async (_cwd, home) => {
    await withServer(() => answer(REVIEW), async (server) => {
      mkdirSync(join(home, "out"));
      const env = { ...withModel(server.url), OCTAVO_REPORT: "gitlab:out/gl.json\nout/b.md" };
      const args = [
        "-C",
        "project",
        "--report",
        "../out/a.sarif",
        "--report",
        "unix:../out/errors",
        "--report",
        "../out/a.html",
      ];
      const bad = await octavo(args, { cwd: home, home, env });
      assertEquals(bad.code, 2, bad.stderr); // OCTAVO_REPORT is below project as well
      const ran = await octavo(args, {
        cwd: home,
        home,
        env: { ...env, OCTAVO_REPORT: "gitlab:../out/gl.json\n../out/b.md" },
      });
      assertEquals(ran.code, 0, ran.stderr);
      assertStringIncludes(ran.stdout, "it divides by zero");
      const out = join(home, "out");
      assertEquals(readdirSync(out).sort(), ["a.html", "a.sarif", "b.md", "errors", "gl.json"]);
      assertEquals(readFileSync(join(out, "b.md"), "utf8"), ran.stdout);
      assertEquals(JSON.parse(readFileSync(join(out, "gl.json"), "utf8")).length, 1);
      assertStringIncludes(readFileSync(join(out, "a.html"), "utf8"), "const x = 1 / 0;");
    });
  });
});

test("a report that cannot be written, or says no format, is found out before anything is sent", async () => {
  await withChange(async (cwd) => {
    await withServer([], async (server) => {
      const wrong = ["none/a.sarif", "report.xml", "xml:a.json", "sarif:", "/proc/nothing/a.json", "a.ts/b.json"];
      for (const report of wrong) {
        const { code, stdout, stderr } = await octavo(["--report", report], { cwd, env: withModel(server.url) });
        assertEquals([code, stdout], [2, ""], stderr);
        assertStringIncludes(stderr, report.replace(/^\w+:/, "").split("/")[0]!);
      }
      assertEquals(server.requests.length, 0);
    });
  });
});

test("a repository can name no report", async () => {
  await withChange(async (cwd) => {
    write(cwd, { ".octavo.json": '{"report": ["pwned.json"], "format": "json"}' });
    const { stderr } = await octavo(["--model", "builtin"], { cwd });
    assertStringIncludes(stderr, '"report" in .octavo.json is ignored');
    assert(!existsSync(join(cwd, "pwned.json")));
  });
});

test("an incomplete review is written too, and says so in every format", async () => {
  await withChange(async (cwd) => {
    makeLarge(cwd);
    const script = (_: unknown, index: number) =>
      index === 0 ? answer("Seen.") : json({ error: { message: "no more" } }, 400);
    await withServer(script, async (server) => {
      const env = { ...withModel(server.url), OCTAVO_MAX_DIFF_CHARS: "2000" };
      const files = ["a.sarif", "a.html", "a.json", "a.md", "github:a.txt"].flatMap((file) => ["--report", file]);
      const { code, stderr } = await octavo(["--untracked", "--format", "unix", ...files], { cwd, env });
      assertEquals(code, 3, stderr);
      assertMatch(stderr, /octavo: Part 2 has failed: .*no more/);
      assertMatch(stderr, /octavo: \w\.ts: 1 of 1 hunk in the part, but part 2 has failed\n/);
      const text = (name: string) => readFileSync(join(cwd, name), "utf8");
      assertEquals(JSON.parse(text("a.json")).status, "incomplete");
      assertEquals(JSON.parse(text("a.sarif")).runs[0].invocations[0].executionSuccessful, false);
      assertStringIncludes(text("a.html"), "This review is incomplete");
      assertStringIncludes(text("a.txt"), "The review is incomplete");
      assertMatch(text("a.md"), /- `\w\.ts`: 1 of 1 hunk in the part, but part 2 has failed\n/);
    });
  });
});

test("a review that is stopped is written as far as it came", async () => {
  await withChange(async (cwd) => {
    const chunk = `data: ${JSON.stringify({ choices: [{ delta: { content: "So far." } }] })}\n\n`;
    const never = new Promise(() => {});
    await withServer([{ headers: { "content-type": "text/event-stream" }, body: [chunk, never] }], async (server) => {
      let stop = () => {};
      const { code } = await octavo(["--report", "a.json", "--report", "a.html"], {
        cwd,
        env: withModel(server.url),
        onStart: (child) => stop = () => void child.kill("SIGTERM"),
        onStdout: (text) => text.includes("So far.") && stop(),
      });
      assertEquals(code, 143);
      const report = JSON.parse(readFileSync(join(cwd, "a.json"), "utf8"));
      assertEquals([report.status, report.parts[0].review], ["incomplete", "So far."]);
      assertStringIncludes(readFileSync(join(cwd, "a.html"), "utf8"), "So far.");
    });
  });
});

test("in GitHub Actions stdout has the annotations and the step's summary the review", async () => {
  await withChange(async (cwd, home) => {
    await withServer(() => answer(REVIEW), async (server) => {
      const summary = join(home, "summary.md");
      const env = { ...withModel(server.url), GITHUB_ACTIONS: "true", GITHUB_STEP_SUMMARY: summary };
      const { stdout } = await octavo(["--format", "github"], { cwd, env });
      assertMatch(stdout, /^::error .*\n::notice .*\n$/);
      const text = readFileSync(summary, "utf8");
      assertStringIncludes(text, "# octavo: working tree of project");
      assertStringIncludes(text, REVIEW);
      assertStringIncludes(
        text,
        "Skipped: `go.sum` (lockfile)\n\n1 of 2 files reviewed in full, 1 skipped (lockfile).\n",
      );
      await octavo(["--model", "builtin"], { cwd, env });
      assertStringIncludes(readFileSync(summary, "utf8").slice(text.length), "# Built-in checks");
    });
  });
});

test("a summary that cannot be written is said, and does not fail the run", async () => {
  await withChange(async (cwd, home) => {
    const env = { GITHUB_ACTIONS: "true", GITHUB_STEP_SUMMARY: join(home, "none/summary.md") };
    const { code, stderr } = await octavo(["--model", "builtin"], { cwd, env });
    assertEquals(code, 0);
    assertStringIncludes(stderr, "Cannot write the report");
  });
});

test("the page of the built-in checks shows the lines they are about, and no secret of the diff", async () => {
  await withChange(async (cwd) => {
    const token = `ghp_${"a1B2c3D4e5F6".repeat(3)}`;
    write(cwd, { "a.ts": `one\nconst token = "${token}";\ndebugger;\n` });
    const { code, stderr } = await octavo(["--model", "builtin", "--report", "a.html", "--report", "a.sarif"], { cwd });
    assertEquals(code, 0, stderr);
    const html = readFileSync(join(cwd, "a.html"), "utf8");
    assertMatch(html, /addition hit">.*debugger;/);
    assertStringIncludes(html, "const token = &quot;[secret: ");
    for (const text of [html, readFileSync(join(cwd, "a.sarif"), "utf8")]) assert(!text.includes(token));
  });
});

test("--plan is written in every format, and nobody is asked", async () => {
  await withChange(async (cwd) => {
    await withServer([], async (server) => {
      const files = FORMATS.flatMap((format) => ["--report", `${format}:plan.${format}`]);
      const { code, stderr } = await octavo(["--plan", ...files], { cwd, env: withModel(server.url) });
      assertEquals(code, 0, stderr);
      assertStringIncludes(readFileSync(join(cwd, "plan.html"), "utf8"), "What would be sent");
      assertEquals(JSON.parse(readFileSync(join(cwd, "plan.sarif"), "utf8")).runs[0].results, []);
      assertEquals(server.requests.length, 0);
    });
  });
});
