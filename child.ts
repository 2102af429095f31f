/**
 * A program that runs, whatever starts it: `Bun.spawn` where there is one, which starts it in a fraction of the time, and
 * else `node:child_process`. Both wait for the reader of the output, and both leave pipes alone that the program's own
 * children hold, once they are told to.
 *
 * @module
 */

import process from "node:process";

/** How a program is started. */
export interface ChildOptions {
  /** Folder it starts in. @default the current one */
  cwd?: string | undefined;
  /** Its whole environment. */
  env: Readonly<Record<string, string>>;
  /** What it reads from stdin. @default nothing */
  input?: string | Uint8Array | undefined;
  /** Takes what it prints on stderr, as it comes. */
  onStderr(piece: Uint8Array): void;
}

/** How a program ended: one of both is there. */
export interface ChildEnd {
  /** Its exit code. */
  code: number | null;
  /** The signal that ended it. */
  signal: string | null;
}

/** A program that runs. */
export interface Child {
  /** Its output, once; it waits while nobody takes the next piece. Ends or throws when the pipes are closed. */
  stdout: AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
  /** Its end, once its output is read or closed as well; rejects where it could not be started. */
  end: Promise<ChildEnd>;
  /** Sends it a signal; nothing happens once it has ended. */
  kill(signal: "SIGTERM" | "SIGKILL"): void;
  /** Closes the pipes to it: what somebody else may still write to them is not waited for. */
  closePipes(): void;
}

/**
 * Starts a program, found on the `PATH` of `env`.
 *
 * @throws what the runtime throws where it cannot be started; some of that comes as a rejected `end`.
 */
export function startChild(program: string, args: readonly string[], options: ChildOptions): Child {
  return bun ? byBun(bun, program, args, options) : byNode(program, args, options);
}

/** A `ReadableStreamDefaultReader`, of which Bun and Node have different types. */
interface Pipe {
  read(): Promise<{ done: boolean; value?: Uint8Array }>;
  cancel(): Promise<void>;
}

/** What of Bun's API is used here. */
interface Bun {
  spawn(command: readonly string[], options: Record<string, unknown>): {
    stdout: { getReader(): Pipe };
    stderr: { getReader(): Pipe };
    exited: Promise<number>;
    exitCode: number | null;
    signalCode: string | null;
    kill(signal: string): void;
  };
}

const bun = (globalThis as { Bun?: Bun }).Bun;

function byBun({ spawn }: Bun, program: string, args: readonly string[], options: ChildOptions): Child {
  const { cwd, env, input, onStderr } = options;
  const child = spawn([program, ...args], {
    env,
    stdin: input === undefined ? "ignore" : typeof input === "string" ? new TextEncoder().encode(input) : input,
    stdout: "pipe",
    stderr: "pipe",
    windowsHide: true,
    ...(cwd === undefined ? {} : { cwd }),
  });
  const [stdout, stderr] = [child.stdout.getReader(), child.stderr.getReader()];
  const { promise: isRead, resolve: onRead } = Promise.withResolvers<void>();
  async function* pieces(): AsyncGenerator<Uint8Array> {
    for await (const piece of piecesOf(stdout)) yield piece;
    onRead();
  }
  async function drainStderr(): Promise<void> {
    for await (const piece of piecesOf(stderr)) onStderr(piece);
  }
  return {
    stdout: pieces(),
    end: Promise.all([child.exited, drainStderr(), isRead])
      .then(() => ({ code: child.exitCode, signal: child.signalCode })),
    kill: (signal) => child.kill(signal),
    closePipes() {
      for (const pipe of [stdout, stderr]) void pipe.cancel().catch(() => {}); // it may be closed already
      onRead();
    },
  };
}

async function* piecesOf(pipe: Pipe): AsyncGenerator<Uint8Array> {
  for (let { value } = await pipe.read(); value !== undefined; { value } = await pipe.read()) yield value;
}

function byNode(program: string, args: readonly string[], { cwd, env, input, onStderr }: ChildOptions): Child {
  // Loading it takes Bun as long as git takes, even where it is not used.
  const { spawn } = process.getBuiltinModule("node:child_process");
  const child = spawn(program, args, {
    env,
    stdio: [input === undefined ? "ignore" : "pipe", "pipe", "pipe"],
    windowsHide: true,
    ...(cwd === undefined ? {} : { cwd }),
  });
  const { stdin, stdout, stderr } = child;
  stdin?.on("error", () => {}); // EPIPE: no program has to read its input to the end
  stdin?.end(input);
  stdout?.on("readable", () => {}); // else node throws away what nobody has read when the program ends
  stderr?.on("data", onStderr);
  stderr?.on("error", () => {}); // it breaks when the program is stopped
  const { promise: end, resolve, reject } = Promise.withResolvers<ChildEnd>();
  child.on("error", (error) => {
    stdout?.destroy();
    reject(error);
  });
  child.on("close", (code, signal) => resolve({ code, signal }));
  return {
    stdout: stdout?.iterator({ destroyOnReturn: false }) ?? [], // of a program that could not be started
    end,
    kill(signal) {
      Object.assign(child, { killed: false }); // Deno sends no second signal to a process that it has sent one
      child.kill(signal);
    },
    closePipes() {
      stdout?.destroy();
      stderr?.destroy();
    },
  };
}
