/**
 * Runs the built-in checks over the last commits of a repository and prints what they find, to be read by a person:
 *
 *     deno run -A bench/checks.ts /path/to/repository [commits, by default 1000] [rule]
 *
 * What comes out is a table of rules, then each finding with its commit, so that the share that is right can be counted.
 */
import { spawn } from "node:child_process";
import { PatchChecker, rules } from "../checks.ts";
import { noiseReason, parseUnifiedDiff } from "../diff.ts";
import type { Finding } from "../finding.ts";

const [repository, commits = "1000", only] = process.argv.slice(2);
if (repository === undefined) throw new Error("Usage: bench/checks.ts REPOSITORY [COMMITS] [RULE]");

/** The commits and their patches. A line of a patch never starts with "commit ". */
async function* patches(): AsyncGenerator<{ commit: string; patch: string }> {
  const args = [
    "-C",
    repository!,
    "log",
    "--no-merges",
    `-n${commits}`,
    "-p",
    "-M",
    "--no-color",
    "--no-ext-diff",
    "--no-textconv",
  ];
  const git = spawn("git", [...args, "--src-prefix=a/", "--dst-prefix=b/", "--format=format:commit %H"], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let text = "";
  for await (const piece of git.stdout.setEncoding("utf8")) {
    text += piece;
    for (let next = text.indexOf("\ncommit "); next >= 0; next = text.indexOf("\ncommit ")) {
      yield { commit: text.slice(7, 47), patch: text.slice(48, next + 1) };
      text = text.slice(next + 1);
    }
  }
  if (text !== "") yield { commit: text.slice(7, 47), patch: text.slice(48) };
}

const found: { commit: string; finding: Finding }[] = [];
let seen = 0;
let chars = 0;
let milliseconds = 0;
for await (const { commit, patch } of patches()) {
  seen++;
  chars += patch.length;
  const { files } = parseUnifiedDiff(patch);
  const start = performance.now();
  const checker = new PatchChecker();
  for (const file of files) checker.add(noiseReason(file) === undefined ? file : { ...file, hunksKept: 0 });
  const findings = checker.end();
  milliseconds += performance.now() - start;
  for (const finding of findings) found.push({ commit, finding });
}

console.log(`${seen} commits, ${chars} characters of patch, checks took ${Math.round(milliseconds)} ms\n`);
for (const { id } of rules) {
  const count = found.filter(({ finding }) => finding.rule === id).length;
  if (count > 0) console.log(`${String(count).padStart(5)}  ${id}`);
}
for (const { id } of rules.filter((rule) => only === undefined || rule.id === only)) {
  for (const { commit, finding } of found.filter(({ finding }) => finding.rule === id)) {
    const { path, line, quote } = finding;
    console.log(`${id}\t${commit.slice(0, 10)}\t${path}:${line ?? ""}\t${(quote ?? "").trim().slice(0, 160)}`);
  }
}
