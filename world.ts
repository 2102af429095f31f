/**
 * The process as octavo sees it: standard streams, environment, signals. Everything else gets these as parameters.
 *
 * @module
 */

import process from "node:process";
import { visible } from "./text.ts";

/** A stream that is written to. */
export interface Output {
  /** Resolves when more may be written. Does nothing once the reader is gone. */
  write(text: string): Promise<void>;
  readonly isTerminal: boolean;
  /** Width of the terminal; 80 where it is none. */
  readonly columns: number;
  /** Why nothing more can be written: whoever read it has gone (EPIPE), the disk is full (ENOSPC), … */
  readonly failure: Error | undefined;
}

/** A person who can be asked: what is typed, and where questions stand. */
export interface Dialogue {
  readonly input: NodeJS.ReadStream;
  readonly output: NodeJS.WriteStream;
}

/** What octavo needs of the process it runs in. */
export interface World {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly dir: string;
  readonly pid: number;
  readonly stdout: Output;
  readonly stderr: Output;
  readonly stdin: { readonly isTerminal: boolean; read(): AsyncIterable<Uint8Array> };
  /** The person at the terminal; `undefined` where there is none, or one that cannot move its cursor. */
  dialogue?(): Dialogue | undefined;
  /** Milliseconds since the epoch. */
  now(): number;
  /** Calls back on SIGINT and SIGTERM until the returned function is called, and when stdout's reader goes away. */
  onStop(listener: (reason: StopReason) => void): () => void;
  /** Ends the process at once, whatever is unfinished. */
  exit(code: number): void;
}

/** Why octavo is to stop. */
export type StopReason = "SIGINT" | "SIGTERM" | "closed pipe";

/** Prints a line on stderr, whatever is in it. */
export async function say({ stderr }: Pick<World, "stderr">, message: string): Promise<void> {
  // GitHub Actions takes a line that begins with :: for a command, on stderr as well.
  await stderr.write(`octavo: ${visible(message).replace(/^(\s*)::/gm, "$1: :")}\n`);
}

/** The world of this process. */
export function processWorld(): World {
  const closed = new Set<() => void>();
  return {
    env: process.env,
    dir: process.cwd(),
    pid: process.pid,
    stdout: output(() => process.stdout, () => closed.forEach((listener) => listener())),
    stderr: output(() => process.stderr, () => {}),
    stdin: {
      get isTerminal() {
        return process.stdin.isTTY === true;
      },
      read: () => process.stdin,
    },
    dialogue() {
      // stderr, because stdout is the result and may be redirected
      const { stdin: input, stderr: output, env } = process;
      return input.isTTY && output.isTTY && env.TERM !== "dumb" ? { input, output } : undefined;
    },
    now: Date.now,
    exit: (code) => process.exit(code),
    onStop(listener) {
      const stops = (["SIGINT", "SIGTERM"] as const).map((signal) => {
        const stop = () => listener(signal);
        process.on(signal, stop);
        return () => process.off(signal, stop);
      });
      const onClosed = () => listener("closed pipe");
      closed.add(onClosed);
      return () => {
        stops.forEach((stop) => stop());
        closed.delete(onClosed);
      };
    },
  };
}

/** The stream is touched only when it is used: the first touch of one costs tens of milliseconds. */
function output(stream: () => NodeJS.WriteStream, onClosed: () => void): Output {
  let failure: Error | undefined;
  let listening = false;
  const fail = (error: Error) => {
    if (failure) return;
    failure = error;
    onClosed();
  };
  return {
    get isTerminal() {
      return stream().isTTY === true;
    },
    get columns() {
      return stream().columns || 80;
    },
    get failure() {
      return failure;
    },
    write(text) {
      if (failure || text === "") return Promise.resolve();
      // Without a listener a closed pipe (EPIPE) ends node and deno with a stack trace and hangs bun.
      if (!listening) stream().on("error", fail);
      listening = true;
      return new Promise((resolve) => {
        try {
          stream().write(text, (error) => {
            if (error) fail(error);
            resolve();
          });
        } catch (error) { // a file is written to at once, and a full disk is thrown
          fail(error instanceof Error ? error : new Error(String(error)));
          resolve();
        }
      });
    },
  };
}
