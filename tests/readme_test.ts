import { test } from "node:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { COMMANDS } from "../commands.ts";
import { PRESETS } from "../presets.ts";
import { screen, withScreen } from "../scripts/readme.ts";
import { SETTINGS } from "../settings.ts";
import { allowMinutes, root } from "./support.ts";

await allowMinutes();

const readme = readFileSync(join(root, "README.md"), "utf8");

test("the screen in the README is what octavo prints (npm run readme)", async () => {
  assertEquals(readme, withScreen(readme, await screen()));
});

test("the README names no flag, variable, command or provider that is not there", () => {
  const own = COMMANDS.flatMap(({ flags = [] }) => flags.map(({ flag }) => flag));
  const flags = new Set([...SETTINGS.map(({ flag }) => flag), ...own, "help"]);
  for (const [, command, flag] of readme.matchAll(/octavo[^`\n]*?(?: (\w+))?[^`\n]*? --([a-z-]+)/g)) {
    assert(flags.has(flag!), `--${flag} (${command})`);
  }
  const variables = new Set(SETTINGS.map(({ variable }) => variable));
  for (const [name] of readme.matchAll(/OCTAVO_(?!REQUIRE)[A-Z_]+\b/g)) assert(variables.has(name), name);
  const commands = new Set(COMMANDS.map(({ name }) => name));
  for (const [, name] of readme.matchAll(/`octavo ([a-z]+)\b/g)) assert(commands.has(name!), name);
  const providers = new Set(PRESETS.map(({ id }) => id));
  for (const [, id] of readme.matchAll(/--model ([a-z]+)/g)) assert(providers.has(id!) || id === "builtin", id);
});

test("the README names every command and every provider that needs a key or a server", () => {
  for (const { name } of COMMANDS.filter(({ name }) => name !== "tree")) assertStringIncludes(readme, `octavo ${name}`);
  for (const { id, keys } of PRESETS) if (keys.length > 0) assertStringIncludes(readme, `--model ${id}`);
});

test("the README's table of review texts is what is in tests/fixtures/reviews", () => {
  const dir = join(root, "tests/fixtures/reviews");
  const texts = readdirSync(dir).filter((name) => name.endsWith(".json"))
    .map((name) => JSON.parse(readFileSync(join(dir, name), "utf8")) as { shape: string; missed?: string });
  const shapes = Map.groupBy(texts, ({ shape }) => shape);
  const counted = [...shapes.values()].map((all) => `${all.length} ${all.filter(({ missed }) => !missed).length}`);
  const table = readme.slice(readme.indexOf("## Findings"), readme.indexOf("## What leaves"));
  const stated = [...table.matchAll(/^\| .*? \| +(\d+) +\| +(\d+) +\|/gm)].map(([, all, right]) => `${all} ${right}`);
  assertEquals(stated.toSorted(), counted.toSorted());
});
