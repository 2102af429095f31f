/** octavo at a real terminal: tmux. */
import { execFileSync } from "node:child_process";
import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { binary } from "../scripts/build.ts";
import { cleanEnv, withFolder } from "./support.ts";

/** What is on the screen of a terminal, and its keyboard. */
export interface Screen {
  /** The rows as text, without blanks at their ends. */
  text(): string;
  /** Types text as it is. */
  type(text: string): void;
  /** Presses keys by tmux's names: Enter, Up, C-c, C-d, Escape. */
  press(...keys: string[]): void;
  /** Waits until the screen shows something, and gives the screen; fails with the screen when it never does. */
  shows(what: string | RegExp): Promise<string>;
  /** Waits for the end of the program, and gives its exit code. */
  ended(): Promise<number>;
}

/** What a program in a terminal gets. */
export interface TerminalOptions {
  cwd: string;
  /** @default the parent of cwd */
  home?: string;
  env?: Record<string, string>;
  /** @default 80 */
  columns?: number;
  /** @default 30 */
  rows?: number;
  /** Where its standard output goes. @default the terminal */
  stdout?: string;
  /** Program and first arguments. @default the binary */
  program?: readonly string[];
}

const PATIENCE_MS = 30_000;

function hasTmux(): boolean {
  try {
    execFileSync("tmux", ["-V"], { stdio: "ignore" });
    return true;
  } catch {
    return false; // not installed
  }
}

/** A test that needs tmux: skipped with a word where it is missing, unless OCTAVO_REQUIRE_TMUX=1. */
export function terminalTest(name: string, run: () => Promise<void>): void {
  const skipped = !hasTmux() && process.env.OCTAVO_REQUIRE_TMUX !== "1";
  if (skipped) console.log(`skipped, since tmux is missing: ${name}`);
  test(name, { skip: skipped, timeout: 4 * PATIENCE_MS }, run);
}

/** Runs octavo in a terminal of its own, which is gone when `use` is done. */
export async function inTerminal(
  args: readonly string[],
  options: TerminalOptions,
  use: (screen: Screen) => Promise<void>,
): Promise<void> {
  const { cwd, home = join(cwd, ".."), env = {}, columns = 80, rows = 30, stdout } = options;
  const program = options.program ?? [await binary()];
  await withFolder(async (dir) => {
    const socket = join(dir, "tmux");
    const tmux = (...words: string[]) =>
      execFileSync("tmux", ["-S", socket, "-f", "/dev/null", ...words], {
        encoding: "utf8",
        env: cleanEnv(home, { LANG: "C.UTF-8", TERM: "xterm-256color" }),
      });
    const script = join(dir, "run.sh");
    const clean = cleanEnv(home, { LANG: "C.UTF-8", TERM: "tmux-256color", ...env });
    const variables = Object.entries(clean).map(([name, value]) => `${name}=${quoted(value)}`).join(" ");
    const command = [...program, ...args].map(quoted).join(" ");
    const redirected = stdout === undefined ? "" : ` > ${quoted(stdout)}`;
    writeFileSync(
      script,
      `stty -ixon\ntrap : INT\nenv -i ${variables} ${command}${redirected}\necho "[ended with $?]"\nexec sleep 600\n`,
    );
    chmodSync(script, 0o755);
    tmux("new-session", "-d", "-x", String(columns), "-y", String(rows), "-c", cwd, `exec sh ${quoted(script)}`);
    try {
      const text = () => tmux("capture-pane", "-p").replace(/[ \n]+$/gm, "").trimEnd();
      const shows = async (what: string | RegExp) => {
        for (const until = Date.now() + PATIENCE_MS; Date.now() < until; await wait(50)) {
          const now = text();
          if (typeof what === "string" ? now.includes(what) : what.test(now)) return now;
        }
        throw new Error(`The screen never shows ${what}:\n${text()}`);
      };
      await use({
        text,
        shows,
        type: (typed) => void tmux("send-keys", "-l", "--", typed),
        press: (...keys) => void tmux("send-keys", ...keys),
        ended: async () => Number(/\[ended with (\d+)\]/.exec(await shows(/\[ended with \d+\]/))![1]),
      });
    } finally {
      tmux("kill-server");
    }
  });
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}
