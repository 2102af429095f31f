/**
 * What the commands share: their context, notices, stopping.
 *
 * @module
 */

import type { Config } from "./config.ts";
import { EXIT } from "./errors.ts";
import type { Words } from "./words.ts";
import { say, type StopReason, type World } from "./world.ts";

/** What every command gets. */
export interface Context {
  words: Words;
  /** Flags, environment and the user's file. */
  config: Config;
  world: World;
  /** Folder that the command works in. */
  dir: string;
}

/** Prints a notice on stderr, unless `--quiet`. */
export async function notice({ config, world }: Pick<Context, "config" | "world">, message: string): Promise<void> {
  if (!config.options.quiet) await say(world, message);
}

/** A running command's way to be stopped. */
export interface Stopping {
  signal: AbortSignal;
  /** Why it was stopped, if it was. */
  readonly reason: StopReason | undefined;
  /** The exit code that a stop leads to. */
  exitCode(): number;
  /** Gives the signals back, and ends what still runs for the command. */
  done(): void;
}

/** Catches Ctrl-C, SIGTERM and a closed pipe; the second signal ends the process at once. */
export function stopping(world: World): Stopping {
  const controller = new AbortController();
  let reason: StopReason | undefined;
  const giveBack = world.onStop((why) => {
    if (reason !== undefined && why !== "closed pipe") {
      world.exit(why === "SIGINT" ? EXIT.interrupted : EXIT.terminated);
    }
    reason ??= why;
    controller.abort(new DOMException("Stopped", "AbortError"));
  });
  return {
    signal: controller.signal,
    get reason() {
      return reason;
    },
    exitCode: () => reason === "SIGINT" ? EXIT.interrupted : reason === "SIGTERM" ? EXIT.terminated : EXIT.failed,
    done() {
      giveBack();
      controller.abort(new DOMException("Done", "AbortError"));
    },
  };
}
