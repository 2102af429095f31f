/**
 * Runs a program: arguments as an array and never through a shell, output as a stream that waits for its reader, an
 * environment that is exactly the one given, and an end in every case. A program is stopped when the signal aborts,
 * when it takes too long or prints too much, and when the reader of its output stops reading.
 *
 * @module
 */

import { Buffer } from "node:buffer";
import { existsSync } from "node:fs";
import { constants } from "node:os";
import { delimiter, isAbsolute, join } from "node:path";
import process from "node:process";
import { clearTimeout, setTimeout } from "node:timers";
import { type Child, startChild } from "./child.ts";
import { OctavoError, type OctavoErrorOptions } from "./errors.ts";
import type { Env } from "./paths.ts";
import { begin } from "./trace.ts";

export type { Env } from "./paths.ts";

/** Milliseconds that a program has after SIGTERM to end by itself; then it is killed. */
const KILL_AFTER_MS = 2_000;

/** Characters of stderr that are kept, the last ones: what a program dies of is what it says last. */
const MAX_STDERR_CHARS = 64_000;

/** Options of {@linkcode run} and {@linkcode stream}. */
export interface RunOptions {
  /** Folder the program starts in. @default the current one */
  cwd?: string;
  /**
   * The program's whole environment, but for `LD_*` and `DYLD_*`, and for what in `PATH` is no absolute path.
   * @default empty
   */
  env?: Env;
  /** What the program reads from stdin. @default nothing */
  input?: string | Uint8Array;
  /** Stops the program when aborted. */
  signal?: AbortSignal;
  /** Bytes of stdout above which the program is stopped. @default no limit */
  maxBytes?: number;
  /** Milliseconds after which the program is stopped. @default no limit */
  timeoutMs?: number;
}

/** How a program ended. */
export interface Exit {
  /** Its exit code; 128 and the number of the signal where one ended it, as in a shell. */
  code: number;
  /** The signal that ended it, if one did. */
  signal: string | undefined;
  /** What it printed on stderr: the last 64,000 characters of it. */
  stderr: string;
}

/** What {@linkcode run} gives. */
export interface RunResult extends Exit {
  /** All of its output. */
  stdout: Uint8Array;
}

/** A running program. */
export interface Stream {
  /**
   * Its output, once. The program waits while nobody takes the next piece. Stopping early (`break`) stops the program
   * and waits for its end.
   */
  chunks: AsyncIterable<Uint8Array>;
  /** Its end. Rejects, as `chunks` does, with the signal's reason or a {@linkcode ProcessError}. */
  done: Promise<Exit>;
}

/**
 * Why a program gave no result: it is not there, its folder is not there, it could not be started for another reason,
 * it printed more than allowed, it took longer than allowed.
 */
export type ProcessFailure = "missing" | "folder" | "start" | "bytes" | "time";

/** A program that could not be started, or was stopped at a limit. */
export class ProcessError extends OctavoError {
  /** The name of the class. */
  override name = "ProcessError";
  /** Why there is no result. */
  readonly failure: ProcessFailure;

  /** As every error of octavo; `failure` says which one it is. */
  constructor(failure: ProcessFailure, message: string, options?: OctavoErrorOptions) {
    super(message, options);
    this.failure = failure;
  }
}

/**
 * Runs a program to its end and collects its output. A failing exit code is a result, not an error.
 *
 * @throws {ProcessError} when it cannot be started or goes over a limit
 * @throws the signal's reason when aborted
 */
export async function run(program: string, args: readonly string[], options: RunOptions = {}): Promise<RunResult> {
  const { chunks, done } = stream(program, args, options);
  const pieces: Uint8Array[] = [];
  for await (const piece of chunks) pieces.push(piece);
  return { ...await done, stdout: Buffer.concat(pieces) };
}

/**
 * Starts a program and gives its output as it comes. Somebody has to read `chunks`, to the end or to a `break`: until
 * then the program runs, or waits.
 */
export function stream(program: string, args: readonly string[], options: RunOptions = {}): Stream {
  const running = start(program, args, options);
  return { chunks: read(running, program, options.maxBytes), done: running.done };
}

/**
 * Runs a program on the terminal that octavo itself has, such as an editor, to its end.
 *
 * @returns Its exit code, as in {@linkcode Exit}.
 * @throws {ProcessError} when it cannot be started
 */
export async function interact(
  program: string,
  args: readonly string[],
  options: Pick<RunOptions, "env" | "signal"> = {},
): Promise<number> {
  const { env = {}, signal } = options;
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  let stop = () => {};
  try {
    const { spawn } = process.getBuiltinModule("node:child_process");
    const childEnv = cleanEnvironment(env);
    const child = spawn(locate(program, childEnv), args, { env: childEnv, stdio: "inherit" });
    child.on("error", (error) => reject(startError(program, options, error)));
    child.on("close", (code, name) => resolve(code ?? signalCode(name)));
    stop = () => void child.kill("SIGTERM");
  } catch (error) {
    throw startError(program, options, error);
  }
  signal?.addEventListener("abort", stop, { once: true });
  try {
    return await promise;
  } finally {
    signal?.removeEventListener("abort", stop);
  }
}

interface Running {
  stdout: Child["stdout"];
  done: Promise<Exit>;
  /** Ends the program; what `done` rejects with, if anything. The first error counts. */
  stop(error?: unknown): void;
}

async function* read(
  { stdout, done, stop }: Running,
  program: string,
  maxBytes = Infinity,
): AsyncGenerator<Uint8Array> {
  let [bytes, atEnd] = [0, false];
  try {
    for await (const piece of stdout) {
      bytes += piece.length;
      if (bytes > maxBytes) throw new ProcessError("bytes", `"${program}" printed more than ${maxBytes} bytes`);
      yield piece;
    }
    atEnd = true;
  } catch (error) {
    // A stream that was closed by stop() may throw too: then the error that led there is the first, and counts.
    stop(error);
  } finally {
    if (!atEnd) stop();
    await done.catch(() => {}); // it is awaited below, unless the reader has left
  }
  await done;
}

function start(program: string, args: readonly string[], options: RunOptions): Running {
  const { promise: done, resolve, reject } = Promise.withResolvers<Exit>();
  done.catch(() => {}); // nobody needs to look at it
  const over = begin(() => [program, ...args].join(" "));
  const stderr = new TextEnd(MAX_STDERR_CHARS);
  let child: Child;
  try {
    options.signal?.throwIfAborted();
    child = open(program, args, options, stderr);
  } catch (error) {
    reject(options.signal?.aborted ? options.signal.reason : startError(program, options, error));
    return { stdout: [], done, stop: () => {} };
  }
  let [failure, ended]: [{ error: unknown } | undefined, boolean] = [undefined, false];
  let killer: NodeJS.Timeout | undefined;

  function stop(error?: unknown): void {
    if (ended) return;
    if (error !== undefined) failure ??= { error };
    if (killer) return;
    killer = setTimeout(() => child.kill("SIGKILL"), KILL_AFTER_MS);
    child.kill("SIGTERM");
    // What the program has started itself may hold the pipes open: its end is not waited for.
    child.closePipes();
  }
  const onAbort = () => stop(options.signal?.reason);
  const limit = options.timeoutMs === undefined
    ? undefined
    : setTimeout(() => stop(timeError(program, options.timeoutMs)), options.timeoutMs);
  options.signal?.addEventListener("abort", onAbort, { once: true });

  function cleanUp(): void {
    ended = true;
    clearTimeout(killer);
    clearTimeout(limit);
    options.signal?.removeEventListener("abort", onAbort);
  }
  child.end.then(({ code, signal }) => {
    cleanUp();
    over(`exit code ${code ?? signal}`);
    if (failure) reject(failure.error);
    else resolve({ code: code ?? signalCode(signal), signal: signal ?? undefined, stderr: stderr.text });
  }, (error) => {
    cleanUp();
    reject(startError(program, options, error));
  });
  return { stdout: child.stdout, done, stop };
}

function open(
  program: string,
  args: readonly string[],
  { cwd, env = {}, input }: RunOptions,
  stderr: TextEnd,
): Child {
  const childEnv = cleanEnvironment(env);
  const onStderr = (piece: Uint8Array) => stderr.add(piece);
  return startChild(locate(program, childEnv), args, { cwd, env: childEnv, input, onStderr });
}

/**
 * `LD_*` makes Deno refuse to start anything under `--allow-run=git`. A relative folder in `PATH`, such as `.` or
 * `node_modules/.bin`, would let the repository one is in choose the program.
 */
function cleanEnvironment(env: Env): Record<string, string> {
  const clean: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) {
    if (value === undefined || /^(LD|DYLD)_/.test(name)) continue;
    clean[name] = name.toUpperCase() === "PATH" ? value.split(delimiter).filter(isAbsolute).join(delimiter) : value;
  }
  return clean;
}

/** Windows looks for a program in the current folder first: there, it is looked up here. */
function locate(program: string, env: Record<string, string>): string {
  if (process.platform !== "win32" || /[\\/]/.test(program)) return program;
  const path = Object.entries(env).find(([name]) => name.toUpperCase() === "PATH")?.[1] ?? "";
  const found = path.split(delimiter).flatMap((dir) => [".exe", ".com", ""].map((end) => join(dir, program + end)))
    .find((file) => existsSync(file));
  if (found === undefined) throw Object.assign(new Error(`${program} is not on the PATH`), { code: "ENOENT" });
  return found;
}

/** The end of a text that comes in pieces. */
class TextEnd {
  readonly #decoder = new TextDecoder();
  readonly #maxChars: number;
  #text = "";

  constructor(maxChars: number) {
    this.#maxChars = maxChars;
  }

  add(piece: Uint8Array): void {
    this.#text += this.#decoder.decode(piece, { stream: true });
    if (this.#text.length > 2 * this.#maxChars) this.#text = this.text;
  }

  get text(): string {
    return this.#text.slice(-this.#maxChars);
  }
}

function signalCode(signal: string | null | undefined): number {
  return 128 + (Object.entries(constants.signals).find(([name]) => name === signal)?.[1] ?? 0);
}

function timeError(program: string, milliseconds = 0): ProcessError {
  return new ProcessError("time", `"${program}" did not end within ${milliseconds / 1000} s`);
}

function startError(program: string, { cwd }: RunOptions, cause: unknown): ProcessError {
  const code = cause instanceof Error && "code" in cause ? cause.code : undefined;
  if (code === "ENOENT" && cwd !== undefined && !existsSync(cwd)) {
    return new ProcessError("folder", `The folder "${cwd}" does not exist`, { cause });
  }
  if (code === "ENOENT") {
    const hint = "Install it, or put the folder it is in on the PATH";
    return new ProcessError("missing", `The program "${program}" was not found`, { cause, hint });
  }
  if (cause instanceof Error && cause.name === "NotCapable") {
    const hint = `Run deno with --allow-run=${program}`;
    return new ProcessError("start", `Deno does not allow "${program}" to be run`, { cause, hint });
  }
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new ProcessError("start", `The program "${program}" could not be started: ${reason}`, { cause });
}
