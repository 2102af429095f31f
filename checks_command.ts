/**
 * `octavo checks`: the rules of the built-in checks.
 *
 * @module
 */

import { RISKS } from "./added_secrets.ts";
import { type Rule, rules } from "./checks.ts";
import type { Context } from "./command.ts";
import { EXIT } from "./errors.ts";
import { SECRET_RULES } from "./secret_rules.ts";
import { table } from "./table.ts";

/** Lists the rules, those for secrets last. */
export async function checksCommand({ words: { flags }, world }: Context): Promise<number> {
  const all = [...rules, ...secretRules()];
  if (flags.json) {
    await world.stdout.write(`${JSON.stringify(all, undefined, 2)}\n`);
    return EXIT.ok;
  }
  const rows = all.map(({ id, severity, why, files }) => [severity, id, `${why} In: ${files}.`]);
  const columns = world.stdout.isTerminal ? world.stdout.columns : undefined;
  await world.stdout.write(table(rows, { columns, last: "wrap" }));
  return EXIT.ok;
}

/** The rules for secrets; a private key is one of the others as well. */
function secretRules(): Rule[] {
  return SECRET_RULES.filter(({ id }) => !rules.some((rule) => rule.id === id)).map(({ id, title }) => ({
    id,
    severity: RISKS.includes(id) ? "risk" : "bug",
    why: `${title}: whoever can read the repository has it.`,
    files: "all but tests",
    ignorable: false,
  }));
}
