import { test } from "node:test";
import { assert, assertEquals, assertRejects, assertStringIncludes, assertThrows } from "@std/assert";
import { configFile, readUserFile, resolveConfig, withRepositoryFile } from "../config.ts";
import { UsageError } from "../errors.ts";
import { SETTINGS } from "../settings.ts";
import { cleanEnv, withFolder, write } from "./support.ts";

const resolve = (sources: Partial<Parameters<typeof resolveConfig>[0]>) =>
  resolveConfig({ flags: {}, env: {}, ...sources });

test("resolveConfig() gives every setting its default, and says so", () => {
  const { options, origins } = resolve({});
  assertEquals([options.maxDiffChars, options.jobs, options.timeout, options.format], [16_000, 1, 600, "markdown"]);
  for (const { key } of SETTINGS) {
    assert(key in options, key);
    assertEquals(origins[key as keyof typeof origins], "default");
  }
});

test("resolveConfig() lets flag win over environment, user's file, repository's file", () => {
  const sources = {
    flags: { maxDiffChars: "1000" },
    env: { OCTAVO_MAX_DIFF_CHARS: "2000" },
    user: { maxDiffChars: 3000 },
    repository: '{"maxDiffChars": 4000}',
  };
  const value = (without: (keyof typeof sources)[]) => {
    const left = Object.fromEntries(
      Object.entries(sources).filter(([key]) => !without.includes(key as keyof typeof sources)),
    );
    const { options, origins } = resolve(left);
    return [options.maxDiffChars, origins.maxDiffChars];
  };
  assertEquals(value([]), [1000, "--max-diff-chars"]);
  assertEquals(value(["flags"]), [2000, "OCTAVO_MAX_DIFF_CHARS"]);
  assertEquals(value(["flags", "env"]), [3000, "your settings file"]);
  assertEquals(value(["flags", "env", "user"]), [4000, ".octavo.json"]);
});

test("resolveConfig() takes an empty variable as not set", () => {
  assertEquals(resolve({ env: { OCTAVO_MODEL: "" } }).options.model, undefined);
});

test("resolveConfig() adds up globs from all places", () => {
  const { options } = resolve({
    flags: { exclude: ["a"] },
    env: { OCTAVO_EXCLUDE: "b\nc,d" },
    repository: '{"exclude": ["e"]}',
  });
  assertEquals(options.exclude, ["e", "b", "c,d", "a"]);
});

const WRONG: [name: string, flags: Record<string, unknown>, message: string][] = [
  ["a number that is none", { maxDiffChars: "many" }, '--max-diff-chars has "many" for maxDiffChars'],
  ["a number below the range", { jobs: "0" }, "a whole number from 1 to 8"],
  ["a fraction", { timeout: "1.5" }, "a whole number"],
  ["a choice that is not there", { color: "sometimes" }, "one of auto, always, never"],
  ["an unknown format", { format: "yaml" }, "one of markdown, json, jsonl, sarif, "],
];

for (const [name, flags, message] of WRONG) {
  test(`resolveConfig() refuses ${name}`, () => {
    assertStringIncludes(assertThrows(() => resolve({ flags }), UsageError).message, message);
  });
}

test("resolveConfig() never prints the value of a secret", () => {
  const error = assertThrows(() => resolve({ user: { githubToken: 12345 } }), UsageError);
  assert(!error.message.includes("12345"), error.message);
});

test("a repository's file sets only four keys; any other is ignored with a warning that names it", () => {
  const repository = JSON.stringify({
    model: "evil/x",
    baseUrl: "http://evil",
    format: "json",
    exclude: ["x"],
    failOn: "bug",
  });
  const { options, warnings } = resolve({ repository });
  assertEquals([options.model, options.baseUrl, options.format], [undefined, undefined, "markdown"]);
  assertEquals([options.exclude, options.failOn], [["x"], "bug"]);
  for (const key of ["model", "baseUrl", "format"]) {
    assert(warnings.some((warning) => warning.includes(`"${key}"`)), key);
  }
});

test("a repository's file with a wrong value or no JSON at all is a warning, not the end", () => {
  assertEquals(resolve({ repository: '{"failOn": "whenever"}' }).options.failOn, undefined);
  assertEquals(resolve({ repository: '{"failOn": "whenever"}' }).warnings.length, 1);
  assertEquals(resolve({ repository: "{" }).warnings.length, 1);
  assertEquals(resolve({ repository: "[]" }).warnings.length, 1);
});

test("withRepositoryFile() puts the repository's file below what is set already", () => {
  const config = withRepositoryFile(resolve({ flags: { failOn: "nit" } }), '{"failOn": "bug", "maxDiffChars": 5000}');
  assertEquals([config.options.failOn, config.options.maxDiffChars], ["nit", 5000]);
});

test("an unknown key of the user's file is named, with the nearest", () => {
  const { warnings } = resolve({ user: { modle: "x" } });
  assertEquals(warnings, ['"modle" in your settings file is unknown and ignored; did you mean "model"?']);
});

test("providers of the user's file are narrowed field by field", () => {
  const { providers } = resolve({
    user: { providers: { mine: { baseUrl: "http://h/v1", apiKeyCommand: ["pass", "x"], contextWindow: 8192 } } },
  });
  assertEquals(providers, { mine: { baseUrl: "http://h/v1", apiKeyCommand: ["pass", "x"], contextWindow: 8192 } });
  for (
    const bad of [{ baseUrl: 1 }, { apiKeyCommand: "x" }, { headers: { a: 1 } }, { contextWindow: "8k" }, {
      protocol: "x",
    }, { modle: 1 }]
  ) {
    assertThrows(() => resolve({ user: { providers: { mine: bad } } }), UsageError);
  }
});

test("readUserFile() reads the file of the user's configuration folder, and none where there is none", async () => {
  await withFolder(async (dir) => {
    const env = cleanEnv(dir);
    assertEquals(await readUserFile(env), undefined);
    write(dir, { ".config/octavo/config.json": '\uFEFF{"model": "a/b"}' });
    assertEquals(configFile(env), `${dir}/.config/octavo/config.json`);
    assertEquals(await readUserFile(env), { model: "a/b" });
    write(dir, { ".config/octavo/config.json": "{nope" });
    await assertRejects(() => readUserFile(env), UsageError, "is not valid JSON");
  });
});
