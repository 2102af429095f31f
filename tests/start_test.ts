/** What a run loads and starts before it has something to say. */
import { test } from "node:test";
import { join } from "node:path";
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { findBun } from "../scripts/build.ts";
import { allowMinutes, commitAll, makeRepository, root, withFolder, write } from "./support.ts";
import { octavo } from "./support_octavo.ts";

await allowMinutes();

/** Runs octavo and prints which packages have been loaded: bun knows every module by its file. */
const PROGRAM = `
  import { main } from ${JSON.stringify(join(root, "cli.ts"))};
  process.exitCode = await main(process.argv.slice(2));
  const names = Object.keys(require.cache).flatMap((file) => /node_modules.(@[^\\/\\\\]+.)?[^\\/\\\\]+/.exec(file) ?? []);
  console.error("loaded: " + JSON.stringify([...new Set(names)].filter((name) => name?.startsWith("node_modules"))));
`;

test("a review by the built-in checks loads no package but those that read words and measure text", async () => {
  await withFolder(async (home) => {
    const cwd = join(home, "project");
    makeRepository(cwd, { "a.ts": "one();\n" });
    write(cwd, { "a.ts": "one();\ndebugger;\n" });
    write(home, { "program.ts": PROGRAM });
    const program = [await findBun(), "--no-env-file", join(home, "program.ts")];
    const { code, stdout, stderr } = await octavo(["--model", "builtin"], { cwd, home, program });
    assertEquals(code, 0, stderr);
    assertStringIncludes(stdout, "Debugger statement left in");
    const loaded: string[] = JSON.parse(/^loaded: (.*)$/m.exec(stderr)![1]!);
    assertEquals(loaded.toSorted(), ["node_modules/deno-std", "node_modules/get-east-asian-width"]);
  });
});

test("a mistake that is found while git makes a large patch ends the run at once, and git with it", async () => {
  await withFolder(async (home) => {
    const cwd = join(home, "project");
    makeRepository(cwd, { "a.txt": "a\n" });
    write(cwd, { "b.txt": "some words on a line\n".repeat(400_000) });
    commitAll(cwd, "large");
    const started = Date.now();
    const { code, stderr } = await octavo(["commit", "--model", "nobody/x"], { cwd });
    assertEquals(code, 2);
    assertStringIncludes(stderr, "nobody");
    assert(Date.now() - started < 20_000);
  });
});
