/**
 * Runs every test under bun, deno and node, after building what the end-to-end tests start.
 *
 *     npm test                 all three
 *     npm test -- bun diff     only bun, only files whose name holds "diff"
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

interface Outcome {
  passed: number;
  failed: number;
}

const words = process.argv.slice(2);
const runtimes = RUNTIMES.filter((name) => words.includes(name));
const filters = words.filter((word) => !RUNTIMES.some((name) => name === word));
const files = readdirSync(join(root, "tests")).filter((name) =>
  name.endsWith("_test.ts") && (filters.length === 0 || filters.some((filter) => name.includes(filter)))
).map((name) => join("tests", name));

await binary();
await bundle();
let [passed, failed] = [0, 0];
for (const runtime of runtimes.length > 0 ? runtimes : RUNTIMES) {
  console.log(`\n# ${runtime}: ${files.length} files`);
  const outcome = await { bun: runBun, deno: runDeno, node: runNode }[runtime](files);
  passed += outcome.passed;
  failed += outcome.failed;
}
console.log(`\n${passed} passed, ${failed} failed`);
process.exitCode = failed > 0 ? 1 : 0;

async function runBun(files: string[]): Promise<Outcome> {
  const { output, code } = await run(await findBun(), [
    "test",
    "--timeout=300000",
    ...files.map((file) => `./${file}`),
  ]);
  return count(output, code, /^ *(\d+) pass$/m, /^ *(\d+) fail$/m);
}

async function runDeno(files: string[]): Promise<Outcome> {
  const { output, code } = await run(await findDeno(), ["test", "-A", ...files], { NO_COLOR: "1" });
  return count(output, code, /(\d+) passed/, /(\d+) failed/);
}

/** Node reads no text imports and no import map: the tests are bundled, each to a file that is as deep as the source. */
async function runNode(files: string[]): Promise<Outcome> {
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
  const { output, code } = await run(await findNode(), ["--test", "--test-reporter=spec", ...built]);
  return count(output, code, /^ℹ pass (\d+)$/m, /^ℹ fail (\d+)$/m);
}

/** A runtime that fails without counting a failure, or counts no test at all, has failed. */
function count(output: string, code: number, pass: RegExp, fail: RegExp): Outcome {
  const numberOf = (pattern: RegExp) => Number(pattern.exec(output)?.[1] ?? 0);
  const outcome = { passed: numberOf(pass), failed: numberOf(fail) };
  if ((code !== 0 || outcome.passed === 0) && outcome.failed === 0) outcome.failed = 1;
  return outcome;
}

function run(
  program: string,
  args: string[],
  env: Record<string, string> = {},
): Promise<{ output: string; code: number }> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      cwd: root,
      env: { ...process.env, ...env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    let output = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (text: string) => {
        output += text;
        process.stdout.write(text);
      });
    }
    child.on("error", reject);
    child.on("close", (code) => resolve({ output, code: code ?? 1 }));
  });
}
