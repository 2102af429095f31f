/**
 * Events to a person: the review on stdout, everything else on stderr.
 *
 * @module
 */

import { describeStatus } from "./coverage.ts";
import { createMarkdown, type Markdown } from "./markdown.ts";
import { ProgressLine } from "./progress_line.ts";
import type { ReviewEvent } from "./report.ts";
import { createFormatter, type Format, type FormatterOptions, notesBeside } from "./reports.ts";
import { type Output, say, type World } from "./world.ts";

/** Settings of what is shown. */
export interface TerminalOptions extends FormatterOptions {
  format: Format;
  color: "auto" | "always" | "never";
  quiet: boolean;
}

/** Shows a review. */
export interface Terminal {
  show(event: ReviewEvent): Promise<void>;
  /** Ends what is unfinished on the screen. */
  close(): Promise<void>;
}

/**
 * Whether to write colours to a stream: as asked, else by `NO_COLOR` (no-color.org), `FORCE_COLOR`, `TERM=dumb`, and
 * whether it is a terminal.
 */
export function usesColor(
  color: TerminalOptions["color"],
  env: World["env"],
  stream: Pick<Output, "isTerminal">,
): boolean {
  if (color !== "auto") return color === "always";
  if (env.NO_COLOR) return false;
  if (env.FORCE_COLOR !== undefined && env.FORCE_COLOR !== "0") return true;
  return stream.isTerminal && env.TERM !== "dumb";
}

/** Shows a review on the streams of a world. */
export function createTerminal(world: World, options: TerminalOptions): Terminal {
  const { stdout } = world;
  const { format, quiet } = options;
  const loading = createFormatter(format, options);
  loading.catch(() => {}); // awaited by the first event
  const output = format === "markdown" ? createMarkdownOutput(world, options) : undefined;
  const progress = startProgress(world, options, output);
  return {
    async show(event) {
      const formatter = await loading;
      progress?.take(event);
      const text = formatter(event);
      const lines = [...failureLines(event, format), ...quiet ? [] : sideLines(event, format)];
      if (lines.length > 0 || (text !== "" && stdout.isTerminal)) await progress?.erase();
      for (const line of lines) await say(world, line);
      if (text !== "") await (output ?? stdout).write(text);
    },
    async close() {
      await progress?.close();
      await output?.end();
    },
  };
}

/** The progress line, where there is somebody to see it. */
function startProgress(
  { stdout, stderr, env, now }: World,
  { color, quiet }: TerminalOptions,
  output: MarkdownOutput | undefined,
): ProgressLine | undefined {
  if (quiet || !stderr.isTerminal || env.TERM === "dumb") return undefined;
  return new ProgressLine({
    stderr,
    color: usesColor(color, env, stderr),
    now,
    sharesScreen: stdout.isTerminal,
    isFree: () => (output?.column ?? 0) === 0,
  });
}

/** Markdown on its way to stdout. */
export interface MarkdownOutput {
  /** Takes the next piece, however it is cut. */
  write(text: string): Promise<void>;
  end(): Promise<void>;
  /** Column of the screen that the next character goes to, from 0; 0 in a pipe. */
  readonly column: number;
}

/** Markdown onto stdout: laid out on a terminal, as it is in a pipe, without effect on GitHub Actions. */
export function createMarkdownOutput(world: World, options: Pick<TerminalOptions, "color">): MarkdownOutput {
  const { stdout, env } = world;
  const layout = layoutOf(world, options);
  const guard = env.GITHUB_ACTIONS === "true" ? commandGuard() : undefined;
  return {
    write: (text) => stdout.write((guard?.begin() ?? "") + (layout ? layout.write(text) : text)),
    end: () => stdout.write((layout?.end() ?? "") + (guard?.end() ?? "")),
    get column() {
      return layout?.column ?? 0;
    },
  };
}

/** Shows a whole text. */
export async function showMarkdown(world: World, options: Pick<TerminalOptions, "color">, text: string): Promise<void> {
  const output = createMarkdownOutput(world, options);
  await output.write(text);
  await output.end();
}

/** Markdown is laid out for a terminal, and left as it is for a pipe. */
function layoutOf({ stdout, env }: World, { color }: Pick<TerminalOptions, "color">): Markdown | undefined {
  const styled = usesColor(color, env, stdout);
  return stdout.isTerminal || styled ? createMarkdown({ columns: () => stdout.columns, color: styled }) : undefined;
}

/**
 * Keeps GitHub Actions from reading a model's text as workflow commands
 * (GitHub Actions, "Workflow commands", stopping and starting).
 */
function commandGuard() {
  const token = crypto.randomUUID();
  let open = false;
  return {
    begin() {
      if (open) return "";
      open = true;
      return `::stop-commands::${token}\n`;
    },
    end: () => open ? `\n::${token}::\n` : "",
  };
}

/** What has failed, where the review on stdout does not say so in a reader's words. */
function failureLines(event: ReviewEvent, format: Format): string[] {
  if (format === "markdown" || (event.type !== "part" && event.type !== "summary")) return [];
  const { status, error } = event.type === "part" ? event.part : event.summary;
  const name = event.type === "part" ? `Part ${event.part.number}` : "The summing up";
  return status === "done" ? [] : [`${name} ${describeStatus(status)}${error === undefined ? "" : `: ${error}`}`];
}

/** What an event says beside the review: also what the format on stdout has no room for. */
function sideLines(event: ReviewEvent, format: Format): string[] {
  if (event.type === "end") return notesBeside(format, event.report);
  const line = sideLine(event);
  return line === undefined ? [] : [line];
}

/** What an event says beside any review, in one line. */
function sideLine(event: ReviewEvent): string | undefined {
  switch (event.type) {
    case "source":
      return event.description === "" ? event.title : `${event.title}: ${event.description}`;
    case "notice":
      return event.message;
    case "plan":
      if (event.parts.length === 0 || event.host === undefined) return undefined;
      return `sending ${
        event.parts.length === 1 ? "1 part" : `${event.parts.length} parts`
      } to ${event.host} (${event.model})`;
    case "waiting":
      return `${event.reason}: trying again in ${Math.ceil(event.milliseconds / 1_000)} s`;
    case "saved":
      return `saved as ${event.conversation}`;
    default:
      return undefined;
  }
}
