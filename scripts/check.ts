/**
 * The checks beside the tests: format, lint, types on both compilers, documentation.
 *
 *     npm run check
 */
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";

const root = join(import.meta.dirname!, "..");
const deno = existsSync(join(root, "node_modules/.bin/deno")) ? join(root, "node_modules/.bin/deno") : "deno";
const modules = readdirSync(root).filter((name) => name.endsWith(".ts") && !name.endsWith(".d.ts"));
const entries = ["mod.ts", "diff.ts"];

const CHECKS: [name: string, program: string, args: string[]][] = [
  ["format", deno, ["fmt", "--check"]],
  ["lint", deno, ["lint"]],
  ["types (deno)", deno, ["check", ...modules, "tests/", "scripts/", "bench/"]],
  ["types (tsc)", join(root, "node_modules/.bin/tsc"), ["-p", "."]],
  ["documentation", deno, ["doc", "--lint", ...entries]],
  ["examples", deno, ["test", "-A", "--doc", ...entries, "patch.ts"]],
];

let [passed, failed] = [0, 0];
for (const [name, program, args] of CHECKS) {
  const { status, stdout, stderr } = spawnSync(program, args, { cwd: root, encoding: "utf8" });
  if (status === 0) passed++;
  else failed++;
  console.log(`${status === 0 ? "ok    " : "FAILED"} ${name}`);
  if (status !== 0) console.log(`${stdout}${stderr}`);
}
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed > 0 ? 1 : 0;
