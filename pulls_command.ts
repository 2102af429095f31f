/**
 * `octavo prs`: the open pull requests.
 *
 * @module
 */

import { type Context, notice, stopping } from "./command.ts";
import { EXIT, UsageError } from "./errors.ts";
import { completeRepository, listPulls, parseRepository, type PullRequest } from "./github.ts";
import { githubOf, repositoryOnGitHub } from "./pull_source.ts";
import { repositoryOf } from "./source.ts";
import { table } from "./table.ts";
import { visible } from "./text.ts";

/** Lists the open pull requests of the repository one is in, or of the one that is named. */
export async function pullsCommand(context: Context): Promise<number> {
  const { words: { words: [name] }, world, config: { options }, dir } = context;
  const stop = stopping(world);
  try {
    const source = {
      dir,
      env: world.env,
      signal: stop.signal,
      stdin: world.stdin.read,
      githubToken: options.githubToken,
    };
    const github = githubOf(source, (text) => void notice(context, text));
    const pulls = await listPulls(
      github,
      name === undefined
        ? await repositoryOnGitHub(github, await repositoryOf(source))
        : completeRepository(github, named(name)),
    );
    if (pulls.length === 0) await notice(context, "no open pull request");
    await world.stdout.write(listed(pulls, world.stdout));
    return EXIT.ok;
  } catch (error) {
    if (stop.reason === undefined) throw error;
    return stop.exitCode();
  } finally {
    stop.done();
  }
}

function named(name: string) {
  const repository = parseRepository(name);
  if (!repository) throw new UsageError(`"${name}" names no repository`, { hint: "OWNER/REPO" });
  return repository;
}

function listed(pulls: readonly PullRequest[], { isTerminal, columns }: Context["world"]["stdout"]): string {
  const rows = pulls.map(({ number, author, title, draft }) => [
    String(number),
    visible(author ?? ""),
    `${draft ? "(draft) " : ""}${visible(title).replaceAll("\n", " ")}`,
  ]);
  return table(rows, { columns: isTerminal ? columns : undefined, right: [0] });
}
