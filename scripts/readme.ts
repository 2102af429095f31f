/**
 * Puts what octavo prints into the README, by running it on a small repository.
 *
 *     npm run readme
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { binary } from "./build.ts";

const BEGIN = "<!-- screen: made by `npm run readme` -->\n";
const END = "<!-- /screen -->";

const BEFORE: Record<string, string> = {
  "src/cart.ts": "export function total(prices: number[]): number {\n  return prices.reduce((a, b) => a + b, 0);\n}\n",
  "package.json": '{ "name": "shop" }\n',
  "package-lock.json": "{}\n",
};
const AFTER: Record<string, string> = {
  "src/cart.ts":
    "export function total(prices: number[], rate = 0): number {\n  debugger;\n  return prices.reduce((a, b) => a + b) * (1 + rate);\n}\n",
  "src/cart.test.ts":
    'import { total } from "./cart.ts";\n\nit.only("adds tax", () => {\n  expect(total([10], 0.2)).toBe(12);\n});\n',
  "package.json": '{ "name": "shop", "type": "module" }\n',
  "package-lock.json": '{ "lockfileVersion": 3 }\n',
};

/** What the README shows: the commands, and what they print. */
export async function screen(): Promise<string> {
  const program = await binary();
  const home = mkdtempSync(join(tmpdir(), "octavo-readme-"));
  try {
    const repository = join(home, "shop");
    commit(repository, BEFORE, "Start");
    execFileSync("git", ["-C", repository, "checkout", "-q", "-b", "tax"], { env: environment(home) });
    commit(repository, AFTER, "Add tax");
    const shown = [["branch", "--plan"], ["branch", "--model", "builtin"]].map((args) => {
      const command = [program, ...args].map((word) => `'${word}'`).join(" ");
      const output = execFileSync("sh", ["-c", `${command} 2>&1`], {
        cwd: repository,
        env: environment(home),
        encoding: "utf8",
      });
      return `$ octavo ${args.join(" ")}\n${output}`;
    });
    return "```console\n" + shown.join("\n") + "```\n";
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

function commit(repository: string, files: Record<string, string>, message: string): void {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(repository, path)), { recursive: true });
    writeFileSync(join(repository, path), content);
  }
  const git = (...args: string[]) =>
    execFileSync("git", ["-C", repository, ...args], { env: environment(join(repository, "..")) });
  git("-c", "init.defaultBranch=main", "init", "-q");
  git("add", "-A");
  git("commit", "-q", "-m", message);
}

/** The same hashes whoever runs it, and whenever. */
function environment(home: string): Record<string, string> {
  const who = Object.fromEntries(["AUTHOR", "COMMITTER"].flatMap((role) => [
    [`GIT_${role}_NAME`, "A"],
    [`GIT_${role}_EMAIL`, "a@example.org"],
    [`GIT_${role}_DATE`, "2026-01-01T00:00:00Z"],
  ]));
  return { PATH: process.env.PATH ?? "", HOME: home, GIT_CONFIG_NOSYSTEM: "1", ...who };
}

/** The README with the screen in its place. */
export function withScreen(readme: string, text: string): string {
  const [from, to] = [readme.indexOf(BEGIN) + BEGIN.length, readme.indexOf(END)];
  if (from < BEGIN.length || to < from) throw new Error("README.md has no place for the screen");
  return `${readme.slice(0, from)}\n${text}\n${readme.slice(to)}`;
}

if (import.meta.main) {
  const file = join(dirname(fileURLToPath(import.meta.url)), "..", "README.md");
  writeFileSync(file, withScreen(readFileSync(file, "utf8"), await screen()));
}
