import { test } from "node:test";
import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { GitError, UsageError } from "../errors.ts";
import { planSource, type SourcePlanOptions } from "../plan.ts";
import type { Source } from "../source.ts";

/** A patch that adds lines to a file. */
function added(path: string, ...lines: string[]): string {
  const body = lines.map((line) => `+${line}\n`).join("");
  return `diff --git a/${path} b/${path}\n--- a/${path}\n+++ b/${path}\n@@ -0,0 +1,${lines.length} @@\n${body}`;
}

interface Parts {
  chunks: AsyncIterable<Uint8Array>;
  attributes: Source["attributes"];
  hidden: Source["hidden"];
}

function source(patch: string, { size = 7, ...parts }: Partial<Parts> & { size?: number } = {}): Source {
  const bytes = new TextEncoder().encode(patch);
  return {
    kind: "diff",
    title: "T",
    description: "",
    chunks: async function* () {
      for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
    }(),
    notices: [],
    attributes: Promise.resolve(new Map()),
    hidden: Promise.resolve(new Set()),
    again: { kind: "diff", file: "-" },
    settings: Promise.resolve(undefined),
    lockKey: "",
    ...parts,
  };
}

async function coverage(patch: string, options: Partial<SourcePlanOptions> = {}, parts: Partial<Parts> = {}) {
  const { plan } = await planSource(source(patch, parts), { maxDiffChars: 16_000, ...options });
  return plan.files.map(({ path, coverage, reason }) =>
    reason === undefined ? [path, coverage] : [path, coverage, reason]
  );
}

test("planSource() skips what the user excludes, in .gitignore syntax, and says so", async () => {
  const patch = ["a.ts", "docs/x.md", "docs/keep.md", "lib/docs.ts"].map((path) => added(path, "x")).join("");
  assertEquals(await coverage(patch, { exclude: ["docs/*", "!docs/keep.md"] }), [
    ["a.ts", "full"],
    ["docs/x.md", "skipped", "excluded"],
    ["docs/keep.md", "full"],
    ["lib/docs.ts", "full"],
  ]);
});

test("planSource() takes in what the user includes, whatever the list of noise says, but nothing without text", async () => {
  const binary =
    "diff --git a/dist/x.bin b/dist/x.bin\nindex 1..2 100644\nBinary files a/dist/x.bin and b/dist/x.bin differ\n";
  assertEquals(await coverage(added("dist/a.js", "x") + added("go.sum", "x") + binary, { include: ["dist/"] }), [
    ["dist/a.js", "full"],
    ["go.sum", "skipped", "lockfile"],
    ["dist/x.bin", "skipped", "binary"],
  ]);
});

test("planSource() takes a path that .gitignore rules cannot speak of for no match", async () => {
  assertEquals(await coverage(added("../x.ts", "x"), { exclude: ["*"] }), [["../x.ts", "full"]]);
});

test("planSource() skips what .gitattributes call generated, with their reason", async () => {
  const attributes = Promise.resolve(new Map([["gen.ts", "generated (.gitattributes)"]]));
  assertEquals(await coverage(added("gen.ts", "x"), {}, { attributes }), [[
    "gen.ts",
    "skipped",
    "generated (.gitattributes)",
  ]]);
});

test("planSource() drops the record of a file that attributes hide: its text stands at the end", async () => {
  const hidden = "diff --git a/x.ts b/x.ts\nindex 1..2 100644\nBinary files a/x.ts and b/x.ts differ\n";
  const patch = hidden + added("b.ts", "x") + added("x.ts", "shown");
  assertEquals(await coverage(patch, {}, { hidden: Promise.resolve(new Set(["x.ts"])) }), [["b.ts", "full"], [
    "x.ts",
    "full",
  ]]);
});

test("the checks see what is cut and what no part has room for, but no noise", async () => {
  const many = Array.from({ length: 2_000 }, (_, n) => `const x${n} = ${n};`);
  const hunk = (start: number, lines: string[]) =>
    `@@ -${start},0 +${start},${lines.length} @@\n${lines.map((line) => `+${line}\n`).join("")}`;
  const cut = added("big.ts", ...many) + hunk(5_000, ["debugger;"]);
  const rest = Array.from(
    { length: 12 },
    (_, n) => added(`f${n}.ts`, ...many.slice(0, 60), n === 11 ? "debugger;" : "x"),
  ).join("");
  const { plan, checks } = await planSource(
    source(cut + rest + added("node_modules/y.ts", "debugger;"), { size: 50_000 }),
    { maxDiffChars: 2_000 },
  );
  assertEquals(plan.files[0]!.coverage, "trimmed");
  assertEquals(plan.files[12]!.coverage, "unreviewed");
  assertEquals(checks.map(({ path, line, rule }) => [path, line, rule]), [["big.ts", 5_000, "debugger"], [
    "f11.ts",
    61,
    "debugger",
  ]]);
});

test("without a model there are no parts, and every file that is no noise is seen in full", async () => {
  const big = added("big.ts", ...Array.from({ length: 5_000 }, (_, n) => `const x${n} = ${n};`), "debugger;");
  const { plan, checks } = await planSource(source(big + added("go.sum", "x"), { size: 10_000 }), {
    maxDiffChars: 2_000,
    checksOnly: true,
  });
  assertEquals(plan.parts, []);
  assertEquals(plan.files.map(({ coverage, linesOmitted, part }) => [coverage, linesOmitted, part]), [[
    "full",
    0,
    undefined,
  ], ["skipped", 5, undefined]]);
  assertEquals(checks.length, 1);
});

test("what is no patch is refused with the reason; nothing at all is an empty plan", async () => {
  const error = await assertRejects(() => planSource(source("hello\n"), { maxDiffChars: 2_000 }), UsageError);
  assertStringIncludes(error.message, "no patch");
  assertEquals((await planSource(source(""), { maxDiffChars: 2_000 })).plan.files, []);
});

test("the source is left where its attributes cannot be read, and its error is thrown where it breaks off", async () => {
  let left = false;
  const chunks = async function* () {
    try {
      yield new Uint8Array(1);
      await new Promise(() => {});
    } finally {
      left = true;
    }
  }();
  const failing = source("", { chunks, attributes: Promise.reject(new GitError("no attributes")) });
  await assertRejects(() => planSource(failing, { maxDiffChars: 2_000 }), GitError, "no attributes");
  assert(left);
  const broken = async function* () {
    yield new TextEncoder().encode(added("a.ts", "x"));
    throw new GitError("broke off");
  }();
  await assertRejects(() => planSource(source("", { chunks: broken }), { maxDiffChars: 2_000 }), GitError, "broke off");
});

test("planSource() leaves out what rules find that are switched off, and refuses rules that are none", async () => {
  const patch = added(
    "a.ts",
    "debugger;",
    'it.only("x", f);',
    `const key = "ghp_${"a1B2c3D4e5".repeat(4).slice(0, 36)}";`,
  );
  const rulesOf = async (checksOff: string[]) => {
    const { checks } = await planSource(source(patch), { maxDiffChars: 16_000, checksOff });
    return checks.map(({ rule }) => rule);
  };
  assertEquals(await rulesOf([]), ["debugger", "focused-test", "github-token"]);
  assertEquals(await rulesOf(["debugger", "github-token"]), ["focused-test"]);
  const error = await assertRejects(() => rulesOf(["debuger"]), UsageError);
  assertEquals([error.message, error.hint], ['The built-in checks have no rule "debuger"', 'did you mean "debugger"?']);
});

test("planSource() replaces a secret whose rule is switched off all the same", async () => {
  const token = `ghp_${"a1B2c3D4e5".repeat(4).slice(0, 36)}`;
  const { plan } = await planSource(source(added("a.ts", `const key = "${token}";`)), {
    maxDiffChars: 16_000,
    checksOff: ["github-token"],
  });
  assert(!JSON.stringify(plan).includes(token));
});
