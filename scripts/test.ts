/**
 * Runs every test under bun, deno and node, after building what the end-to-end tests start.
 *
 *     npm test                 all three
 *     npm test -- bun diff     only bun, only files whose name holds "diff"
 *
 * What a runtime prints is shown when it is done: two run at a time.
 *
 * Its last line is "N passed, N failed"; it fails where a runtime fails or runs no test.
 */
import { spawn } from "node:child_process";
import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { binary, bundle, findBun, findDeno, findNode } from "./build.ts";

const root = join(import.meta.dirname!, "..");
const RUNTIMES = ["bun", "deno", "node"] as const;
type Runtime = typeof RUNTIMES[number];

/** Runs at a time: each keeps about a core busy. */
const AT_ONCE = 2;

/** What each runtime prints last. */
const COUNTS = {
  passed: [/^ *(\d+) pass$/m, /^(?:ok|FAILED) \| (\d+) passed/m, /^ℹ pass (\d+)$/m],
  failed: [/^ *(\d+) fail$/m, /^(?:ok|FAILED) \| \d+ passed[^|]*\| (\d+) failed/m, /^ℹ fail (\d+)$/m],
};

interface Outcome {
  passed: number;
  failed: number;
}

/** A runtime with some of the test files. */
interface Job {
  runtime: Runtime;
  files: string[];
}

const words = process.argv.slice(2);
const asked = RUNTIMES.filter((name) => words.includes(name));
const filters = words.filter((word) => !RUNTIMES.some((name) => name === word));
const files = readdirSync(join(root, "tests")).filter((name) =>
  name.endsWith("_test.ts") && (filters.length === 0 || filters.some((filter) => name.includes(filter)))
).map((name) => join("tests", name));

await binary();
await bundle();
await findBun();
const jobs = asked.length > 0 ? asked.map((runtime) => ({ runtime, files })) : allJobs();
const total: Outcome = { passed: 0, failed: 0 };
await Promise.all(Array.from({ length: AT_ONCE }, work));
console.log(`\n${total.passed} passed, ${total.failed} failed`);
process.exitCode = total.failed > 0 ? 1 : 0;

/** What the end-to-end tests start is the same whatever they run under: one runtime is enough, unless another is asked for. */
function allJobs(): Job[] {
  const [endToEnd, others] = [true, false].map((is) => files.filter((file) => file.includes("end_to_end") === is));
  const jobs: Job[] = [
    { runtime: "bun", files: endToEnd! },
    ...RUNTIMES.map((runtime) => ({ runtime, files: others! })),
  ];
  return jobs.filter(({ files }) => files.length > 0);
}

async function work(): Promise<void> {
  for (let job = jobs.shift(); job; job = jobs.shift()) {
    const { runtime, files } = job;
    console.log(`# ${runtime}: ${files.length} files`);
    const { output, code } = await { bun: runBun, deno: runDeno, node: runNode }[runtime](files);
    const { passed, failed } = count(output, code);
    console.log(`\n${output.trimEnd()}\n# ${runtime}: ${passed} passed, ${failed} failed\n`);
    total.passed += passed;
    total.failed += failed;
  }
}

async function runBun(files: string[]): Promise<Ran> {
  return await run(await findBun(), ["test", "--timeout=300000", ...files.map((file) => `./${file}`)]);
}

async function runDeno(files: string[]): Promise<Ran> {
  // Types are for `npm run check`.
  return await run(await findDeno(), ["test", "-A", "--no-check", ...files], { NO_COLOR: "1" });
}

/** Node reads no text imports and no import map: the tests are bundled, each to a file that is as deep as the source. */
async function runNode(files: string[]): Promise<Ran> {
  const outdir = join(root, "dist", "node-tests");
  rmSync(outdir, { recursive: true, force: true });
  const { build, stop } = await import("esbuild");
  await build({
    entryPoints: files,
    absWorkingDir: root,
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "node",
    target: "node22",
    packages: "external",
    loader: { ".md": "text" },
    define: { "import.meta.main": "false" }, // in a bundle it would be true in every module
    outdir,
    outExtension: { ".js": ".mjs" },
    logLevel: "warning",
  });
  await stop();
  const built = readdirSync(outdir).filter((name) => name.endsWith("_test.mjs")).map((name) => join(outdir, name));
  return await run(await findNode(), ["--test", "--test-reporter=spec", ...built]);
}

interface Ran {
  output: string;
  code: number;
}

/** A runtime that fails without counting a failure, or counts no test at all, has failed. */
function count(output: string, code: number): Outcome {
  const numberIn = (patterns: RegExp[]) =>
    Number(patterns.map((pattern) => pattern.exec(output)?.[1]).find(Boolean) ?? 0);
  const outcome = { passed: numberIn(COUNTS.passed), failed: numberIn(COUNTS.failed) };
  if ((code !== 0 || outcome.passed === 0) && outcome.failed === 0) outcome.failed = 1;
  return outcome;
}

function run(program: string, args: string[], env: Record<string, string> = {}): Promise<Ran> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      cwd: root,
      env: { ...process.env, ...env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    let output = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (text: string) => output += text);
    }
    child.on("error", reject);
    child.on("close", (code) => resolve({ output, code: code ?? 1 }));
  });
}
