/**
 * What the built-in checks cost on a typical commit: `octavo commit --model builtin` on one of twenty files without secrets,
 * against a shell script that runs the same git commands plus a compiled program that does nothing.
 *
 *     deno run -A bench/builtin.ts [rounds, by default 21]
 *
 * The three take turns. Printed are the median and the least of each, the ratio of both, and which git commands are run. At
 * most 1.5 is the aim.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { binary, BINARY_FLAGS, findBun } from "../scripts/build.ts";

const rounds = Number(process.argv[2] ?? 21);
const FILES = 20;
const LINES = 180;

const home = mkdtempSync(join(tmpdir(), "octavo-bench-"));
const repository = join(home, "project");
const env: Record<string, string> = {
  PATH: process.env.PATH ?? "",
  HOME: home,
  XDG_CONFIG_HOME: join(home, ".config"),
  XDG_STATE_HOME: join(home, ".local/state"),
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_AUTHOR_NAME: "A",
  GIT_AUTHOR_EMAIL: "a@example.org",
  GIT_COMMITTER_NAME: "A",
  GIT_COMMITTER_EMAIL: "a@example.org",
};

function git(...args: string[]): void {
  execFileSync("git", ["-c", "init.defaultBranch=main", ...args], { cwd: repository, env, stdio: "ignore" });
}

/** A file of code; in its second version three places of four lines each are others. */
function code(file: number, version: number): string {
  const place = (n: number) => n % 60 >= 20 && n % 60 < 24 ? version : 1;
  return Array.from(
    { length: LINES },
    (_, n) => `export function step${file}x${n}(value: number): number { return value + ${place(n)}; }\n`,
  ).join("");
}

/** A repository whose last commit changes twenty files. */
function makeRepository(): void {
  mkdirSync(repository);
  git("init", "-q");
  for (const version of [1, 2]) {
    for (let file = 0; file < FILES; file++) writeFileSync(join(repository, `file${file}.ts`), code(file, version));
    git("add", ".");
    git("commit", "-q", "-m", `version ${version}`);
  }
}

/** A program that does nothing, compiled as octavo is. */
async function makeEmpty(): Promise<string> {
  const out = join(home, "empty");
  writeFileSync(join(home, "empty.ts"), "export {};\n");
  execFileSync(await findBun(), ["build", "--compile", ...BINARY_FLAGS, join(home, "empty.ts"), "--outfile", out], {
    stdio: "ignore",
  });
  return out;
}

/** The git commands of a run, as a shell script: each with its folder, its environment and its standard input. */
function makeScript(octavo: string[]): { script: string; commands: string[] } {
  const [bin, log] = [join(home, "bin"), join(home, "log")];
  for (const dir of [bin, log]) mkdirSync(dir);
  const real = execFileSync("sh", ["-c", "command -v git"], { encoding: "utf8" }).trim();
  const wrapper = `#!/bin/bash
name=${log}/$(date +%s%N)-$$
{ printf 'cd %q; ' "$PWD"; env | grep '^GIT_' | while IFS='=' read -r key value; do printf '%s=%q ' "$key" "$value"; done
  printf '${real}'; printf ' %q' "$@"; } > $name.sh
case " $* " in
  *" --stdin "*) cat > $name.in; exec ${real} "$@" < $name.in ;;
  *) exec ${real} "$@" ;;
esac
`;
  writeFileSync(join(bin, "git"), wrapper);
  chmodSync(join(bin, "git"), 0o755);
  const [program, ...args] = octavo;
  const { status, stderr } = spawnSync(program!, args, {
    cwd: repository,
    env: { ...env, PATH: `${bin}:${env.PATH}` },
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(`octavo failed: ${stderr}`);
  const names = readdirSync(log).sort();
  const commands = names.filter((name) => name.endsWith(".sh")).map((name) => {
    const input = name.replace(/sh$/, "in");
    const from = names.includes(input) ? join(log, input) : "/dev/null";
    return `${readFileSync(join(log, name), "utf8")} < ${from} > /dev/null`;
  });
  const script = join(home, "git.sh");
  writeFileSync(script, `#!/bin/bash\n${commands.join("\n")}\n`);
  chmodSync(script, 0o755);
  return { script, commands };
}

/** Milliseconds that a program takes. */
function time([program, ...args]: string[]): number {
  const start = performance.now();
  spawnSync(program!, args, { cwd: repository, env, stdio: ["ignore", "ignore", "ignore"] });
  return performance.now() - start;
}

function median(values: number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1]!;
}

try {
  makeRepository();
  const octavo = [await binary(), "commit", "--model", "builtin"];
  const empty = [await makeEmpty()];
  const { script, commands } = makeScript(octavo);
  const runs = { octavo, git: [script], empty };
  const times: Record<keyof typeof runs, number[]> = { octavo: [], git: [], empty: [] };
  const names = Object.keys(runs) as (keyof typeof runs)[];
  for (let round = 0; round <= rounds; round++) {
    for (const name of names) {
      const milliseconds = time(runs[name]);
      if (round > 0) times[name].push(milliseconds); // the first one warms the caches
    }
  }
  console.log(`${commands.length} git commands:`);
  for (const command of commands) {
    console.log(`  ${/git (?:-\S+(?: (?!-)\S+=\S*)? )*(.*?) </.exec(command)?.[1]?.slice(0, 100)}`);
  }
  console.log("milliseconds  median   least");
  for (const name of names) {
    const [middle, least] = [median(times[name]), Math.min(...times[name])];
    console.log(`${name.padEnd(12)} ${middle.toFixed(1).padStart(7)} ${least.toFixed(1).padStart(7)}`);
  }
  const ratio = (of: (values: number[]) => number) => (of(times.octavo) / (of(times.git) + of(times.empty))).toFixed(2);
  console.log(`ratio        ${ratio(median).padStart(7)} ${ratio((values) => Math.min(...values)).padStart(7)}`);
} finally {
  rmSync(home, { recursive: true, force: true });
}
