/**
 * `octavo checks`: the rules of the built-in checks.
 *
 * @module
 */

import { rules } from "./checks.ts";
import type { Context } from "./command.ts";
import { EXIT } from "./errors.ts";
import { table } from "./table.ts";

/** Lists the rules. */
export async function checksCommand({ words: { flags }, world }: Context): Promise<number> {
  if (flags.json) {
    await world.stdout.write(`${JSON.stringify(rules, undefined, 2)}\n`);
    return EXIT.ok;
  }
  const rows = rules.map(({ id, severity, why, files }) => [severity, id, `${why} In: ${files}.`]);
  const columns = world.stdout.isTerminal ? world.stdout.columns : undefined;
  await world.stdout.write(table(rows, { columns, last: "wrap" }));
  return EXIT.ok;
}
