/** Runs octavo as its users do: the binary, the bundle, in folders and environments of their own. */
import { type ChildProcess, spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { constants } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { binary } from "../scripts/build.ts";
import { cleanEnv } from "./support.ts";
import type { RecordedRequest, Reply } from "./support_server.ts";
import { sse } from "./support_server.ts";

/** How a run ended, and what it wrote. */
export interface Ran {
  code: number;
  stdout: string;
  stderr: string;
}

/** What a run gets. */
export interface RunOptions {
  cwd: string;
  /** Folder of the user: settings and conversations are below it. @default the parent of cwd */
  home?: string;
  env?: Record<string, string>;
  /** Standard input. @default none */
  input?: string | Uint8Array;
  /** Called with each piece of standard output and the milliseconds since the start. */
  onStdout?: (text: string, milliseconds: number) => void;
  /** Called when the program has been started. */
  onStart?: (child: ChildProcess) => void;
  /** Program and first arguments. @default the binary */
  program?: readonly string[];
}

/** Runs octavo to its end. */
export async function octavo(args: readonly string[], options: RunOptions): Promise<Ran> {
  const { cwd, home = join(cwd, ".."), env = {}, input, onStdout, onStart } = options;
  const [program, ...first] = options.program ?? [await binary()];
  const child = spawn(program!, [...first, ...args], {
    cwd,
    env: cleanEnv(home, env),
    stdio: [input === undefined ? "ignore" : "pipe", "pipe", "pipe"],
  });
  onStart?.(child);
  const started = performance.now();
  const written = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const) {
    const decoder = new TextDecoder();
    child[name]!.on("data", (piece: Uint8Array) => {
      const text = decoder.decode(piece, { stream: true });
      written[name] += text;
      if (name === "stdout") onStdout?.(text, performance.now() - started);
    });
  }
  if (input !== undefined) child.stdin!.on("error", () => {}).end(input); // it may end before it has read all
  const code = await new Promise<number>((resolve, reject) => {
    child.on("error", reject);
    // Deno takes the exit codes 130 and 143 for the signals that they stand for.
    const bySignal = (signal: NodeJS.Signals) => process.versions.deno ? 128 + constants.signals[signal] : -1;
    child.on("close", (code, signal) => resolve(code ?? (signal === null ? -1 : bySignal(signal))));
  });
  return { code, ...written };
}

/** The settings that send a review to a test's server. */
export function withModel(url: string): Record<string, string> {
  return { OCTAVO_BASE_URL: `${url}/v1`, OCTAVO_MODEL: "custom/test-model" };
}

/** An answer of an OpenAI-compatible server, a delta for each text. */
export function answer(...deltas: string[]): Reply {
  const chunk = (delta: object, finish: string | null = null) => ({
    choices: [{ index: 0, delta, finish_reason: finish }],
  });
  return sse(...deltas.map((content) => chunk({ content })), chunk({}, "stop"), "[DONE]");
}

/** The one message of a request. */
export function prompt(request: RecordedRequest): string {
  const [message] = messages(request);
  return message!.content;
}

/** The messages of a request. */
export function messages({ json }: RecordedRequest): { role: string; content: string }[] {
  return json.messages as { role: string; content: string }[];
}

/** The saved conversations below a home, oldest first. */
export function conversations(
  home: string,
): { id: string; messages: { role: string; content: string }[]; [key: string]: unknown }[] {
  const dir = join(home, ".local/state/octavo/conversations");
  return readdirSync(dir).sort().map((name) => JSON.parse(readFileSync(join(dir, name), "utf8")));
}

/** The environment of a workflow whose server is a test's. */
export function workflow(url: string): Record<string, string> {
  return {
    GITHUB_ACTIONS: "true",
    GITHUB_API_URL: url,
    GITHUB_SERVER_URL: url,
    GITHUB_REPOSITORY: "o/r",
    GITHUB_TOKEN: "secret-token",
  };
}
