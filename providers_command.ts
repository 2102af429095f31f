/**
 * `octavo providers`: which models there are, and how fast one answers.
 *
 * @module
 */

import { chat } from "./chat.ts";
import { type Context, notice, type Stopping, stopping } from "./command.ts";
import type { Config } from "./config.ts";
import { describeError, EXIT, OctavoError, UsageError } from "./errors.ts";
import { displayUrl } from "./http.ts";
import { chooseModel, modelSettings } from "./model.ts";
import { contextFor } from "./prompts.ts";
import { describeProviders, type ProviderReport } from "./provider_report.ts";
import { BUILTIN, contextWindow, type Model } from "./providers.ts";
import { table } from "./table.ts";
import { clip, visible } from "./text.ts";
import { say, type World } from "./world.ts";

/** `octavo providers`, `octavo providers test`. */
export async function providersCommand(context: Context): Promise<number> {
  const stop = stopping(context.world);
  try {
    return context.words.action?.name === "test" ? await test(context, stop) : await list(context, stop);
  } catch (error) {
    if (stop.reason === undefined) throw error;
    return stop.exitCode();
  } finally {
    stop.done();
  }
}

// --- list ----------------------------------------------------------------------------------------------------------

/** Models of a provider that are listed without --all. */
const MAX_LISTED = 8;

/** The model that a review would ask, or why there is none. */
type Chosen = Model | typeof BUILTIN | OctavoError;

async function list({ words: { flags }, config, world }: Context, stop: Stopping): Promise<number> {
  const choosing = chooseModel(config, world.env, stop.signal).catch((error: unknown) => {
    if (error instanceof OctavoError) return error;
    throw error;
  });
  const [reports, chosen] = await Promise.all([
    describeProviders(modelSettings(config, world.env, stop.signal)),
    choosing,
  ]);
  if (flags.json) {
    const model = typeof chosen === "object" && !(chosen instanceof Error) ? nameOf(chosen) : null;
    await world.stdout.write(`${JSON.stringify({ model, providers: reports }, undefined, 2)}\n`);
    return EXIT.ok;
  }
  const there = reports.filter(({ from }) => from !== undefined);
  const others = reports.filter(({ from }) => from === undefined);
  const limit = flags.all ? Infinity : MAX_LISTED;
  const columns = world.stdout.isTerminal ? world.stdout.columns : undefined;
  const found = there.map((report) => foundLines(report, limit, columns)).join("");
  const inner = columns === undefined ? undefined : columns - INDENT.length;
  const rest = table(others.map((report) => [report.provider, visible(wayTo(report))]), {
    columns: inner,
    last: "wrap",
  });
  await world.stdout.write(`${found === "" ? "" : `Found\n${found}\n`}Not there\n${indented(rest)}`);
  await sayChosen(world, chosen);
  return EXIT.ok;
}

function foundLines(report: ProviderReport, limit: number, columns: number | undefined): string {
  const { provider, baseUrl = "", from = "", keyFrom, local, models, error } = report;
  const key = keyFrom !== undefined ? `key from ${keyFrom}` : local ? "no key" : "no key is set";
  const head = [provider, baseUrl, from, key].filter(Boolean).join("  ");
  const rows = models.slice(0, limit).map(({ name, contextWindow }) => [
    visible(name),
    contextWindow === undefined ? "window not known" : `${contextWindow.toLocaleString("en-US")} tokens`,
  ]);
  const more = models.length > limit ? `    and ${models.length - limit} more: octavo providers --all\n` : "";
  const none = models.length === 0 && error === undefined ? "    no model\n" : "";
  const wrong = error === undefined ? "" : `    ${visible(error)}\n`;
  const lines = `  ${visible(head)}\n${indented(indented(table(rows)))}${more}${none}${wrong}`;
  return columns === undefined ? lines : lines.replace(/^.+$/gm, (line) => clip(line, columns));
}

const INDENT = "  ";

function indented(lines: string): string {
  return lines.replace(/^(?=.)/gm, INDENT);
}

/** What would make a provider be there. */
function wayTo({ variables, start, local }: ProviderReport): string {
  const ways = [
    ...(start === undefined ? [] : [`start it: ${start}`]),
    ...(variables.length === 0 ? [] : [`set ${variables.join(" or ")}`]),
  ];
  return ways.length > 0 ? ways.join(", or ") : local ? "start it" : "name it: providers in your settings file";
}

async function sayChosen(world: World, chosen: Chosen): Promise<void> {
  if (chosen instanceof Error) await say(world, describeError(chosen));
  else if (chosen === BUILTIN) await say(world, "no model: the built-in checks alone would review");
  else await say(world, `a review would ask ${nameOf(chosen)} (${chosen.from})`);
}

function nameOf({ provider, name }: Model): string {
  return `${provider}/${name}`;
}

// --- test ----------------------------------------------------------------------------------------------------------

/** Long enough to measure, short enough to cost nothing. */
const QUESTION = "Count from 1 to 20. Write the numbers alone, separated by spaces.";

/** Characters of the answer that are shown. */
const MAX_SHOWN = 60;

/** What an answer took. */
interface Measured {
  answer: string;
  firstByteMs?: number | undefined;
  firstTokenMs?: number | undefined;
  totalMs: number;
  /** Milliseconds from the first piece of the answer or reasoning to the last. */
  streamMs: number;
  pieces: number;
  tokens?: number | undefined;
  stopReason: string;
}

async function test(context: Context, stop: Stopping): Promise<number> {
  const { world, words: { words: [name] } } = context;
  const model = await chooseModel(
    name === undefined ? context.config : named(context.config, name),
    world.env,
    stop.signal,
  );
  if (model === BUILTIN) {
    throw new UsageError("There is no model to test: none is configured or found running", {
      hint: "octavo providers test PROVIDER/NAME; octavo providers shows what there is",
    });
  }
  await notice(context, `asking ${new URL(model.baseUrl).host} (${nameOf(model)})`);
  const window = await contextWindow(model, { env: world.env, signal: stop.signal });
  const measured = await measure(context, model, window, stop);
  if (stop.reason !== undefined) return stop.exitCode();
  const head = `${nameOf(model)} at ${displayUrl(model.baseUrl)} (${model.from})`;
  await world.stdout.write(`${visible(head)}\n${table(measuredRows(measured, window))}`);
  return EXIT.ok;
}

function named(config: Config, model: string): Config {
  const { options, origins } = config;
  return { ...config, options: { ...options, model }, origins: { ...origins, model: "--model" } };
}

async function measure(context: Context, model: Model, window: number | undefined, stop: Stopping): Promise<Measured> {
  const { world, config: { options } } = context;
  const measured: Measured = { answer: "", totalMs: 0, streamMs: 0, pieces: 0, stopReason: "" };
  let first: number | undefined;
  const request = {
    model,
    messages: [{ role: "user" as const, content: QUESTION }],
    env: world.env,
    signal: stop.signal,
    timeoutMs: options.timeout * 1_000,
    contextTokens: contextFor([QUESTION], window),
  };
  for await (const event of chat(request)) {
    if (event.type === "waiting") await notice(context, `${event.reason}: trying again`);
    if (event.type === "discard") measured.answer = "";
    if (event.type === "usage") measured.tokens = event.completionTokens;
    if (event.type === "end") {
      const { firstByteMs, firstTokenMs, totalMs, stopReason } = event;
      Object.assign(measured, { firstByteMs, firstTokenMs, totalMs, stopReason });
    }
    if (event.type !== "delta" && event.type !== "reasoning") continue;
    first ??= world.now();
    measured.streamMs = world.now() - first;
    measured.pieces++;
    if (event.type === "delta") measured.answer += event.text;
  }
  return measured;
}

function measuredRows(measured: Measured, window: number | undefined): string[][] {
  const { answer, firstByteMs, firstTokenMs, totalMs, stopReason } = measured;
  const line = visible(answer.trim()).replaceAll(/\s+/g, " ");
  return [
    ["window", window === undefined ? "not known" : `${window.toLocaleString("en-US")} tokens`],
    ...(firstByteMs === undefined ? [] : [["first byte", seconds(firstByteMs)]]),
    ...(firstTokenMs === undefined ? [] : [["first token", seconds(firstTokenMs)]]),
    ["each token", eachToken(measured)],
    ["in all", seconds(totalMs)],
    ["answer", clip(line, MAX_SHOWN) + (stopReason === "stop" ? "" : ` (ended early: ${stopReason})`)],
  ];
}

/** Time between tokens; where the server does not count them, each piece of the stream is taken for one. */
function eachToken({ streamMs, pieces, tokens }: Measured): string {
  const count = tokens ?? pieces;
  if (pieces < 2 || count < 2) return "not known: the answer came in one piece";
  const each = streamMs / (count - 1);
  const rate = each === 0 ? "" : `, ${Math.round(1_000 / each).toLocaleString("en-US")} a second`;
  return `${each < 10 ? each.toFixed(1) : Math.round(each)} ms (${count} ${tokens ? "tokens" : "pieces"}${rate})`;
}

function seconds(milliseconds: number): string {
  return `${(milliseconds / 1_000).toFixed(2)} s`;
}
