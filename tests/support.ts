/** What several test files share: where the repository is, temporary folders, real git repositories. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** The root of this repository, also when the test runs from a bundle in dist/. */
export const root = findRoot(dirname(fileURLToPath(import.meta.url)));

function findRoot(dir: string): string {
  return existsSync(join(dir, "deno.json")) ? dir : findRoot(dirname(dir));
}

/** A fresh temporary folder (its real path), removed when `use` is done. */
export async function withFolder<T>(use: (dir: string) => T | Promise<T>): Promise<T> {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), "octavo-test-")));
  try {
    return await use(dir);
  } finally {
    rmSync(dir, { recursive: true, force: true, maxRetries: 3 });
  }
}

/** An environment in which git and octavo see nothing of the person who runs the tests. */
export function cleanEnv(home: string, more: Record<string, string> = {}): Record<string, string> {
  return {
    PATH: process.env.PATH ?? "",
    HOME: home,
    XDG_CONFIG_HOME: join(home, ".config"),
    XDG_STATE_HOME: join(home, ".local/state"),
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_AUTHOR_NAME: "A",
    GIT_AUTHOR_EMAIL: "a@example.org",
    GIT_COMMITTER_NAME: "A",
    GIT_COMMITTER_EMAIL: "a@example.org",
    ...more,
  };
}

/** Runs git in a folder and gives its standard output. */
export function git(dir: string, ...args: string[]): string {
  return execFileSync("git", ["-c", "init.defaultBranch=main", "-c", "protocol.file.allow=always", ...args], {
    cwd: dir,
    encoding: "utf8",
    env: cleanEnv(dir, { HOME: join(dir, "..") }),
    stdio: ["ignore", "pipe", "pipe"],
    maxBuffer: 1 << 30,
  });
}

/** Writes files below a folder, making the folders between. */
export function write(dir: string, files: Record<string, string | Uint8Array>): void {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(dir, path)), { recursive: true });
    writeFileSync(join(dir, path), content);
  }
}

/** Makes a repository in `dir` with one commit that holds `files`. */
export function makeRepository(dir: string, files: Record<string, string | Uint8Array>): void {
  mkdirSync(dir, { recursive: true });
  git(dir, "init", "-q");
  write(dir, files);
  commitAll(dir, "first");
}

/** Commits everything in the working tree. */
export function commitAll(dir: string, message: string): void {
  git(dir, "add", "-A");
  git(dir, "commit", "-q", "--allow-empty", "-m", message);
}

/**
 * Gives each test of the file that calls it minutes: bun ends a test after five seconds by itself, which is short for one
 * that starts programs on a busy machine.
 */
export async function allowMinutes(): Promise<void> {
  if (!process.versions.bun) return;
  const name = "bun:test"; // not to be resolved elsewhere
  const { setDefaultTimeout } = await import(name) as { setDefaultTimeout: (milliseconds: number) => void };
  setDefaultTimeout(300_000);
}
