/** What other systems run octavo with: the GitHub action, the GitLab template, the pre-commit hooks. */
import { test } from "node:test";
import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { chmodSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { gzipSync } from "node:zlib";
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { parse, parseAll } from "@std/yaml/parse";
import { SETTINGS } from "../settings.ts";
import { readWords } from "../words.ts";
import { allowMinutes, root, withFolder, write } from "./support.ts";
import { withServer } from "./support_server.ts";

await allowMinutes();

const text = (name: string) => readFileSync(join(root, name), "utf8");
const variables = new Set(SETTINGS.map(({ variable }) => variable));

interface Step {
  run?: string;
  shell?: string;
  uses?: string;
  env?: Record<string, string>;
}

interface Action {
  inputs: Record<string, { description: string; default?: string }>;
  outputs: Record<string, { value: string }>;
  runs: { using: string; steps: Step[] };
}

const action = parse(text("action.yml")) as Action;

test("the action is composite, nests nothing that has no hash, and names each step's shell", () => {
  assertEquals(action.runs.using, "composite");
  for (const { run, shell, uses } of action.runs.steps) {
    if (run !== undefined) assertEquals(shell, "bash");
    if (uses !== undefined) assertMatch(uses, /@[0-9a-f]{40}$/);
  }
});

test("no expression stands inside a script of the action: what comes from outside is in the environment", () => {
  for (const { run } of action.runs.steps) assert(!run?.includes("${{"), run);
});

test("each input of the action is used, and each that is used is there", () => {
  const used = new Set([...text("action.yml").matchAll(/\$\{\{ inputs\.([\w-]+) \}\}/g)].map(([, name]) => name!));
  assertEquals([...used].sort(), Object.keys(action.inputs).sort());
  for (const { description } of Object.values(action.inputs)) assert(description.length > 0);
});

test("every OCTAVO_… that the action and the GitLab template set is a setting", () => {
  for (const name of ["action.yml", "ci/gitlab.yml"]) {
    const set = [...text(name).matchAll(/\b(OCTAVO_[A-Z_]+):/g)].map(([, variable]) => variable!);
    assert(set.length > 1);
    for (const variable of set) assert(variables.has(variable), `${variable} in ${name}`);
  }
});

test("the action asks for no more than reading, and says what it does with forks", () => {
  assertStringIncludes(text("action.yml"), "contents: read");
  assertStringIncludes(text("action.yml"), "pull-requests: read");
  assert(!/: write/.test(text("action.yml")));
});

/** Runs the action's script as a runner does. */
async function runScript(env: Record<string, string>, home: string) {
  write(home, { output: "" });
  const child = spawn("bash", [join(root, "ci/action.sh")], {
    cwd: home,
    env: {
      PATH: process.env.PATH ?? "",
      HOME: home,
      RUNNER_TEMP: home,
      GITHUB_OUTPUT: join(home, "output"),
      GITHUB_EVENT_NAME: "pull_request",
      GITHUB_REPOSITORY: "o/r",
      HEAD_REPOSITORY: "o/r",
      GITHUB_ACTOR: "somebody",
      ...env,
    },
  });
  let printed = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (piece: Uint8Array) => printed += piece);
  const code = await new Promise((resolve) => child.on("close", resolve));
  return { code, printed, output: readFileSync(join(home, "output"), "utf8") };
}

/** A program in place of octavo: it says what it was told, and ends as asked. */
const FAKE = '#!/bin/sh\necho "ran $* with $OCTAVO_MODEL"\nexit ${FAKE_CODE:-0}\n';
const SUM = createHash("sha256").update(FAKE).digest("hex");

function withFake(use: (home: string, path: string) => Promise<void>): Promise<void> {
  return withFolder(async (home) => {
    write(home, { octavo: FAKE });
    chmodSync(join(home, "octavo"), 0o755);
    await use(home, join(home, "octavo"));
  });
}

test("the action reviews the pull request, and ends as octavo does", async () => {
  if (process.platform === "win32") return;
  await withFake(async (home, path) => {
    for (const code of [0, 1, 3]) {
      const ran = await runScript({ BINARY_PATH: path, OCTAVO_MODEL: "openai/x", FAKE_CODE: String(code) }, home);
      assertEquals([ran.code, ran.output], [code, `skipped=false\nexit-code=${code}\n`]);
      assertStringIncludes(ran.printed, "ran pr with openai/x");
    }
  });
});

const NO_SECRETS: [name: string, env: Record<string, string>][] = [
  ["a fork", { HEAD_REPOSITORY: "somebody/r" }],
  ["a fork that is gone", { HEAD_REPOSITORY: "" }],
  ["Dependabot", { GITHUB_ACTOR: "dependabot[bot]" }],
];

for (const [name, env] of NO_SECRETS) {
  test(`a pull request of ${name} is skipped, and it is said; the built-in checks and who asks for it review it`, async () => {
    if (process.platform === "win32") return;
    await withFake(async (home, path) => {
      const skipped = await runScript({ BINARY_PATH: path, OCTAVO_MODEL: "openai/x", ...env }, home);
      assertEquals([skipped.code, skipped.output], [0, "skipped=true\n"]);
      assertMatch(skipped.printed, /^::notice title=octavo::Not reviewed: .*no secrets/);
      for (
        const more of [{ OCTAVO_MODEL: "builtin" }, { FORKS: "review" }, { GITHUB_EVENT_NAME: "pull_request_target" }]
      ) {
        assertStringIncludes((await runScript({ BINARY_PATH: path, ...env, ...more }, home)).printed, "ran pr");
      }
    });
  });
}

test("the action fetches the binary, unpacks it, and runs it only with the right SHA-256", async (t) => {
  if (spawnSync("curl", ["--version"]).status !== 0) return t.skip("curl is missing");
  const zipped = gzipSync(FAKE);
  const script = ({ path }: { path: string }) => ({ body: path === "/octavo.gz" ? zipped : FAKE });
  await withServer(script, async (server) => {
    await withFolder(async (home) => {
      const run = (name: string, sum: string) =>
        runScript({ BINARY_URL: `${server.url}/${name}`, BINARY_SHA256: sum }, home);
      assertStringIncludes((await run("octavo", SUM)).printed, "ran pr");
      assertStringIncludes((await run("octavo", SUM.toUpperCase())).printed, "ran pr");
      const sumOfZipped = createHash("sha256").update(zipped).digest("hex");
      assertStringIncludes((await run("octavo.gz", sumOfZipped)).printed, "ran pr");
      const wrong = await run("octavo", "0".repeat(64));
      assertEquals(wrong.code, 2);
      assertStringIncludes(wrong.printed, `has the SHA-256 ${SUM}, not ${"0".repeat(64)}: it is not run`);
      assert(!wrong.printed.includes("ran pr"));
      for (const sum of ["", "abc", `${SUM}; echo pwned`]) {
        const refused = await run("octavo", sum);
        assertEquals(refused.code, 2);
        assert(!refused.printed.includes("ran pr"));
      }
    });
  });
});

test("the action's script says nothing that it was given as a command of its own", async () => {
  if (process.platform === "win32") return;
  await withFolder(async (home) => {
    const { code, printed } = await runScript({
      BINARY_URL: "http://127.0.0.1:9/%0A\n::error::pwned",
      BINARY_SHA256: SUM,
    }, home);
    assertEquals(code, 2);
    assert(!/^::error::pwned/m.test(printed), printed);
  });
});

test("shellcheck has nothing to say of the action's script", (t) => {
  if (spawnSync("shellcheck", ["--version"]).status !== 0) return t.skip("shellcheck is missing");
  const { stdout } = spawnSync("shellcheck", [join(root, "ci/action.sh")], { encoding: "utf8" });
  assertEquals(stdout, "");
});

interface GitLabJob {
  script: string[];
  variables: Record<string, string>;
  artifacts: { when: string; paths: string[]; reports: { codequality: string } };
}

test("the GitLab template fetches the whole history, checks the sum, and hands its report over also when it fails", () => {
  const [head, jobs] = parseAll(text("ci/gitlab.yml")) as [
    { spec: { inputs: Record<string, unknown> } },
    { octavo: GitLabJob },
  ];
  const { script, variables, artifacts } = jobs.octavo;
  const used = [...text("ci/gitlab.yml").matchAll(/\$\[\[ inputs\.([\w-]+) \]\]/g)].map(([, name]) => name!);
  assertEquals([...new Set(used)].sort(), Object.keys(head.spec.inputs).sort());
  assert(!script.join("\n").includes("$[["), "an input is part of the script");
  assertEquals([variables.GIT_DEPTH, artifacts.when], ["0", "always"]);
  assertStringIncludes(script.join("\n"), "sha256sum --check");
  assertEquals(variables.OCTAVO_REPORT!.split("\n"), [`gitlab:${artifacts.reports.codequality}`, artifacts.paths[0]!]);
});

interface Hook {
  id: string;
  entry: string;
  stages: string[];
  pass_filenames: boolean;
  always_run: boolean;
  require_serial: boolean;
}

test("the hooks of pre-commit run once, on everything, with words that octavo knows", () => {
  const hooks = parse(text(".pre-commit-hooks.yaml")) as Hook[];
  assertEquals(hooks.map(({ id, stages }) => [id, stages.join()]), [
    ["octavo-checks", "pre-commit"],
    ["octavo-review", "pre-push"],
  ]);
  for (const { entry, pass_filenames, always_run, require_serial } of hooks) {
    assertEquals([pass_filenames, always_run, require_serial], [false, true, true]);
    const [program, ...args] = entry.split(" ");
    assertEquals(program, "octavo");
    readWords(args);
  }
});

test("whatever the README tells a workflow to use is pinned by hash", () => {
  for (const [, reference] of text("README.md").matchAll(/^\s*-? ?uses: (\S+)/gm)) {
    if (!reference!.includes("octavo")) assertMatch(reference!, /@[0-9a-f]{40}$/);
  }
  for (const [, block] of text("README.md").matchAll(/^```yaml\n([^]*?)^```$/gm)) parseAll(block!);
  assert(existsSync(join(root, "ci/action.sh")));
});
