/**
 * Runs the search for secrets over the last commits of a repository and prints what it finds, to be read by a person:
 *
 *     deno run -A bench/secrets.ts /path/to/repository [commits, by default 1000]
 *
 * A line for each finding (`F`, what the checks say) and for each replacement (`R`, what a model would not get), with its
 * commit, file and rule; then how many commits had a hint, so that the rules were loaded for them.
 */
import { spawn } from "node:child_process";
import { AddedSecrets } from "../added_secrets.ts";
import { noiseReason, parseUnifiedDiff } from "../diff.ts";
import { hasHint, redact } from "../secrets.ts";

const [repository, commits = "1000"] = process.argv.slice(2);
if (repository === undefined) throw new Error("Usage: bench/secrets.ts REPOSITORY [COMMITS]");

/** Commits with their patches. A line of a patch never starts with "commit ". */
async function* patches(): AsyncGenerator<{ commit: string; patch: string }> {
  const args = ["log", "--no-merges", `-n${commits}`, "-p", "-M", "--no-color", "--no-ext-diff", "--no-textconv"];
  const git = spawn("git", [
    "-C",
    repository!,
    ...args,
    "--src-prefix=a/",
    "--dst-prefix=b/",
    "--format=format:commit %H",
  ], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let text = "";
  for await (const piece of git.stdout.setEncoding("utf8")) {
    text += piece;
    for (let next = text.indexOf("\ncommit "); next >= 0; next = text.indexOf("\ncommit ")) {
      yield { commit: text.slice(7, 17), patch: text.slice(48, next + 1) };
      text = text.slice(next + 1);
    }
  }
  if (text !== "") yield { commit: text.slice(7, 17), patch: text.slice(48) };
}

let [seen, chars, hinted, milliseconds] = [0, 0, 0, 0];
for await (const { commit, patch } of patches()) {
  seen++;
  chars += patch.length;
  const files = parseUnifiedDiff(patch).files.filter((file) => noiseReason(file) === undefined);
  const start = performance.now();
  const added = new AddedSecrets();
  for (const { path, text, hunks } of files) {
    for (const hunk of hunks) {
      const body = text.slice(text.indexOf("\n", hunk.start) + 1, hunk.end);
      added.see({ path, line: hunk.newStart, text: body, columns: hunk.columns ?? 1 });
    }
  }
  const findings = await added.end();
  milliseconds += performance.now() - start;
  for (const { path, line, rule } of findings) console.log(`F ${commit} ${path}:${line} ${rule}`);
  const worth = files.filter(({ text }) => hasHint(text));
  if (worth.length > 0) hinted++;
  for (const { path, text } of worth) {
    for (const { id, line } of (await redact(text, "diff")).secrets) console.log(`R ${commit} ${path} ${line} ${id}`);
  }
}
console.log(
  `${seen} commits, ${chars} characters of patch, ${hinted} with a hint, search took ${Math.round(milliseconds)} ms`,
);
