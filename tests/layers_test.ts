import { test } from "node:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { assert, assertEquals } from "@std/assert";
import { root } from "./support.ts";

/** Layer of each file, from the table in ARCHITECTURE.md. */
const layers = new Map(
  [...readFileSync(join(root, "ARCHITECTURE.md"), "utf8").matchAll(/^\| (\d+) +\| `(\w+\.ts)` +\|/gm)]
    .map(([, layer, file]) => [file!, Number(layer)]),
);

const files = readdirSync(root).filter((name) => name.endsWith(".ts") && !name.endsWith(".d.ts"));

/** Files of the root that a file imports, also for types, also when it runs. */
function importsOf(file: string): string[] {
  const code = readFileSync(join(root, file), "utf8").replace(/\/\*[^]*?\*\//g, "");
  return [...code.matchAll(/(?:\bfrom|\bimport|\bimport\()\s*"\.\/(\w+\.ts)"/g)].map(([, name]) => name!);
}

test("the table in ARCHITECTURE.md has every file, and no other", () => {
  assertEquals([...layers.keys()].toSorted(), files.toSorted());
});

test("imports point to lower layers only", () => {
  let arrows = 0;
  for (const file of files) {
    for (const imported of importsOf(file)) {
      arrows++;
      assert(
        layers.get(imported)! < layers.get(file)!,
        `${file} (${layers.get(file)}) imports ${imported} (${layers.get(imported)})`,
      );
    }
  }
  assert(arrows > files.length);
});

test("diff.ts imports patch.ts alone, and patch.ts nothing at all", () => {
  assertEquals([...new Set(importsOf("diff.ts"))], ["patch.ts"]);
  for (const file of ["patch.ts", "diff.ts"]) {
    const code = readFileSync(join(root, file), "utf8").replace(/\/\*[^]*?\*\//g, "");
    const statements = code.matchAll(/^(?:import|export)\b[^;"]*?\bfrom "([^"]+)"|\bimport\("([^"]+)"/gm);
    const foreign = [...statements].map(([, name, lazy]) => name ?? lazy);
    assertEquals(foreign.filter((name) => name !== "./patch.ts"), []);
  }
});
