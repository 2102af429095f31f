/**
 * The command line: reads the words, loads the command they name, and turns what comes of it into an exit code.
 *
 * @module
 */

import { type Context, stopping } from "./command.ts";
import { COMMANDS } from "./commands.ts";
import { type Config, readUserFile, resolveConfig } from "./config.ts";
import { describeError, EXIT, exitCodeOf, UsageError } from "./errors.ts";
import { nearest } from "./settings.ts";
import { onTrace } from "./trace.ts";
import { VERSION } from "./version.ts";
import { readWords, type Words } from "./words.ts";
import { processWorld, say, type World } from "./world.ts";

/**
 * Runs octavo.
 *
 * @param args The words behind the program's name.
 * @returns The exit code; it is not set.
 */
export async function main(args: readonly string[], world: World = processWorld()): Promise<number> {
  let code: number;
  const stopTracing = debugs(args, world)
    ? onTrace(({ what, outcome, milliseconds }) => {
      void say(world, `${what}: ${outcome}, ${Math.round(milliseconds)} ms`);
    })
    : () => {};
  try {
    code = await run(readWords(args), world);
  } catch (error) {
    await say(world, describeError(error));
    if (debugs(args, world)) await say(world, error instanceof Error ? error.stack ?? "" : String(error));
    code = exitCodeOf(error);
  } finally {
    stopTracing();
  }
  const { failure } = world.stdout;
  if (failure === undefined || ("code" in failure && failure.code === "EPIPE")) return code; // who has read enough has gone
  await say(world, `Cannot write to standard output: ${failure.message}`);
  return code === EXIT.ok || code === EXIT.findings ? EXIT.failed : code;
}

/** `--debug` counts also where the command line itself is wrong. */
function debugs(args: readonly string[], { env }: World): boolean {
  return args.includes("--debug") || Boolean(env.OCTAVO_DEBUG);
}

async function run(words: Words, world: World): Promise<number> {
  const { command } = words;
  if (words.version) return await print(world, `octavo ${VERSION}\n`);
  if (command.name === "help" && words.flags.man) {
    return await print(world, (await import("./manual.ts")).manualPage());
  }
  if (words.help || command.name === "help") return await help(words, world);
  if (command.name === "completions") return await print(world, await shellCompletions(words));
  const place = { words, world, dir: words.dir ?? world.dir };
  if (command.name === "config") return await (await import("./config_command.ts")).configCommand(place);
  if (REVIEWS_REPOSITORY.includes(command.name)) return await reviewRepository(place);
  const context = { ...place, config: await readConfig(words, world) };
  if (command.name === "pr" && words.words.length === 0) {
    const { canPick, pickPullCommand } = await import("./pull_picker.ts");
    if (await canPick(context)) return await pickPullCommand(context);
  }
  if (command.reviews) return await (await import("./review_command.ts")).reviewCommand(context);
  switch (command.name) {
    case "prs":
      return await (await import("./pulls_command.ts")).pullsCommand(context);
    case "resume":
      return await (await import("./review_command.ts")).resumeCommand(context);
    case "ask": {
      const { canTalk, talkCommand } = await import("./talk.ts");
      if (canTalk(context)) return await talkCommand(context);
      return await (await import("./ask_command.ts")).askCommand(context);
    }
    case "providers":
      return await (await import("./providers_command.ts")).providersCommand(context);
    case "checks":
      return await (await import("./checks_command.ts")).checksCommand(context);
    case "templates":
      return await (await import("./templates_command.ts")).templatesCommand(context);
    default:
      return await (await import("./conversation_commands.ts")).conversationCommand(context);
  }
}

/** The commands that review something of the repository one is in. */
const REVIEWS_REPOSITORY: readonly string[] = ["tree", "staged", "branch", "commit"];

/** Asks git about the repository first: what else it takes is loaded meanwhile. */
async function reviewRepository(place: Omit<Context, "config">): Promise<number> {
  const { words, world, dir } = place;
  const stop = stopping(world);
  try {
    const { openRepository } = await import("./git_repository.ts");
    const repository = openRepository(dir, world.env, stop.signal);
    repository.catch(() => {}); // thrown where it is needed
    const [config, { runReview, requestOf }] = await Promise.all([
      readConfig(words, world),
      import("./review_command.ts"),
    ]);
    const context = { ...place, config };
    return await runReview({ ...context, stop, repository, request: requestOf(context) });
  } finally {
    stop.done();
  }
}

/** The configuration without a repository's file, which is read with the change that it is part of. */
async function readConfig({ settings }: Words, { env }: World): Promise<Config> {
  return resolveConfig({ flags: settings, env, user: await readUserFile(env) });
}

async function help({ command, words, help }: Words, world: World): Promise<number> {
  const { commandHelp, generalHelp } = await import("./help.ts");
  const name = command.name === "help" ? words[0] : command.name;
  if (name === undefined || (help && command.name === "help")) return await print(world, generalHelp());
  const named = COMMANDS.find((candidate) => candidate.name === name);
  if (!named) {
    const near = nearest(name, COMMANDS.map((candidate) => candidate.name));
    throw new UsageError(`No help for "${name}": there is no such command`, {
      hint: near ? `did you mean "octavo help ${near}"?` : "octavo help",
    });
  }
  return await print(world, commandHelp(named));
}

async function shellCompletions({ action }: Words): Promise<string> {
  const { completions, SHELLS } = await import("./completions.ts");
  return completions(SHELLS.find((shell) => shell === action?.name) ?? "bash");
}

async function print(world: World, text: string): Promise<number> {
  await world.stdout.write(text);
  return EXIT.ok;
}
