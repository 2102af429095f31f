/**
 * `octavo pr` without a word, at a terminal: the open pull requests to choose from.
 *
 * @module
 */

import { readFile } from "node:fs/promises";
import { type Context, notice, stopping } from "./command.ts";
import { EXIT, UsageError } from "./errors.ts";
import { listPulls, pullFromEvent, type PullRequest } from "./github.ts";
import { choose, personAt } from "./prompt.ts";
import { githubOf, pullUrl, repositoryOnGitHub } from "./pull_source.ts";
import { runReview } from "./review_command.ts";
import { repositoryOf, type SourceRequest } from "./source.ts";
import { clip, visible } from "./text.ts";
import type { Dialogue } from "./world.ts";

/** Whether there is a person who can choose, and no workflow that says which one it runs for. */
export async function canPick({ world }: Pick<Context, "world">): Promise<boolean> {
  if (personAt(world) === undefined) return false;
  return await pullFromEvent(world.env, (path) => readFile(path, "utf8")) === undefined;
}

/** Lets the person choose an open pull request, and reviews it. */
export async function pickPullCommand(context: Context): Promise<number> {
  const { world } = context;
  const stop = stopping(world);
  try {
    const pulls = await openPulls(context, stop.signal);
    const person = personAt(world);
    const pull = person && await choose(person, "Which pull request?", pulls.map((pull) => choiceOf(pull, person)));
    if (!pull) return EXIT.interrupted;
    const request: SourceRequest = { kind: "pr", reference: pullUrl(pull), title: pull.title };
    return await runReview({ ...context, stop, request });
  } catch (error) {
    if (stop.reason === undefined) throw error;
    return stop.exitCode();
  } finally {
    stop.done();
  }
}

async function openPulls(context: Context, signal: AbortSignal): Promise<PullRequest[]> {
  const { world, dir, config: { options } } = context;
  const source = { dir, env: world.env, signal, stdin: world.stdin.read, githubToken: options.githubToken };
  const github = githubOf(source, (text) => void notice(context, text));
  const pulls = await listPulls(github, await repositoryOnGitHub(github, await repositoryOf(source)));
  if (pulls.length > 0) return pulls;
  throw new UsageError("There is no open pull request to review", {
    hint: "octavo branch reviews what the branch adds",
  });
}

/** Columns beside a choice: its mark, and what the frame takes. */
const FRAME_COLUMNS = 8;

function choiceOf(pull: PullRequest, { output }: Dialogue): { value: PullRequest; label: string } {
  const { number, title, author, draft } = pull;
  const about = [author, draft ? "draft" : undefined].filter(Boolean).join(", ");
  const line = `#${number} ${visible(title).replaceAll("\n", " ")}${about ? ` (${visible(about)})` : ""}`;
  return { value: pull, label: clip(line, Math.max(1, (output.columns || 80) - FRAME_COLUMNS)) };
}
