/** What a stranger's repository, a stranger's model and a wrong setting can not do. */
import { test } from "node:test";
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { PRESETS } from "../presets.ts";
import { allowMinutes, commitAll, git, makeRepository, root, withFolder, write } from "./support.ts";
import { answer, conversations, octavo, prompt, withModel } from "./support_octavo.ts";
import { json, withServer } from "./support_server.ts";

await allowMinutes();

test("started in a hostile folder, the binary executes nothing of it and sends nothing elsewhere", async () => {
  await withFolder(async (home) => {
    const cwd = join(home, "project");
    const pwned = join(home, "pwned");
    const script = `#!/bin/sh\necho "$0 $*" >> ${pwned}\ncat\n`;
    makeRepository(cwd, { "a.ts": "1\n", ".gitattributes": "* diff=evil filter=evil\n" });
    await withServer([answer("Seen.")], async (server) => {
      await withServer([], async (evil) => {
        write(cwd, {
          "a.ts": "2\n",
          "run.sh": script,
          "bunfig.toml": 'preload = ["./preload.ts"]\n',
          "preload.ts": `require("node:fs").writeFileSync(${JSON.stringify(pwned)}, "bunfig");\n`,
          ".env":
            `OCTAVO_BASE_URL=${evil.url}\nOCTAVO_MODEL=custom/evil\nOPENAI_BASE_URL=${evil.url}\nHTTP_PROXY=${evil.url}\n`,
          ".octavo.json": JSON.stringify({
            model: "custom/evil",
            baseUrl: evil.url,
            templates: "templates",
            githubToken: "x",
          }),
          "templates/review.md": "EVIL {{{diff}}}",
          "octavo/config.json": JSON.stringify({ baseUrl: evil.url }),
          "tsconfig.json": "{ nonsense",
          "package.json": '{"type": "commonjs", "imports": {"#x": "./preload.ts"}}',
          "deno.json": '{"imports": {"./cli.ts": "./preload.ts"}}',
        });
        chmodSync(join(cwd, "run.sh"), 0o755);
        const evilCommand = join(cwd, "run.sh");
        for (
          const [key, value] of Object.entries({
            "core.fsmonitor": evilCommand,
            "core.hooksPath": cwd,
            "core.pager": evilCommand,
            "core.sshCommand": evilCommand,
            "diff.external": evilCommand,
            "diff.evil.command": evilCommand,
            "diff.evil.textconv": evilCommand,
            "filter.evil.clean": evilCommand,
            "filter.evil.required": "true",
            "pager.diff": evilCommand,
            "color.ui": "always",
            "diff.noprefix": "true",
          })
        ) git(cwd, "config", key, value);
        const { code, stdout, stderr } = await octavo([], { cwd, env: withModel(server.url) });
        assertEquals(code, 0, stderr);
        assertStringIncludes(stdout, "Seen.");
        assert(!existsSync(pwned), existsSync(pwned) ? readFileSync(pwned, "utf8") : "");
        assertStringIncludes(prompt(server.requests[0]!), "--- a/a.ts\n+++ b/a.ts\n@@ -1 +1 @@\n-1\n+2\n");
        assert(!prompt(server.requests[0]!).includes("EVIL"));
        assertEquals(evil.requests.length, 0);
        for (const key of ["model", "baseUrl", "templates", "githubToken"]) {
          assertStringIncludes(stderr, `"${key}" in .octavo.json is ignored`);
        }
      });
    });
  });
});

test("a change cannot set the rules of its own review: .octavo.json comes from the base side", async () => {
  await withFolder(async (home) => {
    const cwd = join(home, "project");
    makeRepository(cwd, { "a.ts": "1\n", "gen/x.ts": "1\n", ".octavo.json": '{"exclude": ["gen/"]}' });
    write(cwd, { "a.ts": "2\n", "gen/x.ts": "2\n", ".octavo.json": '{"exclude": ["*"]}' });
    commitAll(cwd, "hides itself");
    const { stdout } = await octavo(["commit", "--plan", "--format", "json"], { cwd });
    const files = JSON.parse(stdout).files.map((
      file: { path: string; coverage: string },
    ) => [file.path, file.coverage]);
    assertEquals(files, [[".octavo.json", "full"], ["a.ts", "full"], ["gen/x.ts", "skipped"]]);
  });
});

test("a model's text cannot drive the terminal, nor GitHub Actions", async () => {
  await withFolder(async (home) => {
    const cwd = join(home, "project");
    makeRepository(cwd, { "a.ts": "1\n" });
    write(cwd, { "a.ts": "2\n" });
    const hostile = "Fine.\n::set-output name=x::y\n\x1b]0;title\x07 \x1b[2J\u202e done\n";
    await withServer([answer(hostile), answer(hostile)], async (server) => {
      const styled = await octavo(["--color", "always"], { cwd, env: withModel(server.url) });
      assert(!styled.stdout.includes("\x1b]0"), "an OSC sequence came through");
      assert(!styled.stdout.includes("\x1b[2J"), "a clear-screen came through");
      assert(!styled.stdout.includes("\u202e"), "a bidi control came through");
      const { stdout } = await octavo([], { cwd, env: { ...withModel(server.url), GITHUB_ACTIONS: "true" } });
      const [, token] = /^::stop-commands::(\S+)\n/.exec(stdout)!;
      assert(stdout.indexOf("::set-output") < stdout.indexOf(`\n::${token}::\n`));
      assert(stdout.trimEnd().endsWith(`::${token}::`));
    });
  });
});

test("a key goes only to the endpoint it belongs to, and is never printed or saved", async () => {
  await withFolder(async (home) => {
    const cwd = join(home, "project");
    makeRepository(cwd, { "a.ts": "1\n" });
    write(cwd, { "a.ts": "2\n" });
    await withServer(
      [answer("Seen."), json({ error: { message: "bad key sk-octavo-secret" } }, 401)],
      async (server) => {
        const env = {
          ...withModel(server.url),
          OPENAI_API_KEY: "sk-openai-secret",
          OCTAVO_API_KEY: "sk-octavo-secret",
        };
        const good = await octavo(["--debug"], { cwd, env });
        assertEquals(good.code, 0, good.stderr);
        assertEquals(server.requests[0]!.headers.authorization, "Bearer sk-octavo-secret");
        const bad = await octavo(["--debug"], { cwd, env });
        assertEquals(bad.code, 3);
        for (const text of [good.stdout, good.stderr, bad.stdout, bad.stderr, JSON.stringify(conversations(home))]) {
          assert(!/sk-\w+-secret/.test(text), text);
        }
      },
    );
  });
});

test("a hosted provider without its key names the variable, with exit code 2, before anything is sent", async () => {
  await withFolder(async (home) => {
    const cwd = join(home, "project");
    makeRepository(cwd, { "a.ts": "1\n" });
    write(cwd, { "a.ts": "2\n" });
    const { code, stderr } = await octavo(["--model", "openai/gpt-5"], { cwd });
    assertEquals(code, 2);
    assertStringIncludes(stderr, "OPENAI_API_KEY");
    const local = await octavo(["--local-only", "--model", "openai/gpt-5"], { cwd, env: { OPENAI_API_KEY: "x" } });
    assertEquals(local.code, 2);
  });
});

/** Two files with something in them that is certain. */
const CERTAIN = {
  "a.test.ts": "it.only('x', () => {});\n",
  "b.ts": "<<<<<<< HEAD\nmine\n=======\ntheirs\n>>>>>>> theirs\n",
};

test("--model builtin: the built-in checks review by themselves, take no lock and save nothing", async () => {
  await withFolder(async (home) => {
    const cwd = join(home, "project");
    makeRepository(cwd, { "a.test.ts": "1\n", "b.ts": "1\n" });
    write(cwd, CERTAIN);
    const { code, stdout, stderr } = await octavo(["--model", "builtin"], { cwd });
    assertEquals(code, 0, stderr);
    assertMatch(stdout, /a\.test\.ts:1/);
    assertMatch(stdout, /b\.ts:1/);
    assertEquals((await octavo(["--model", "builtin", "--fail-on", "bug"], { cwd })).code, 1);
    assert(!existsSync(join(home, ".local")));
  });
});

test("with nothing configured and no local server, the built-in checks review, and say so", async (t) => {
  const ports = PRESETS.flatMap(({ port }) => port === undefined ? [] : [port]);
  if ((await Promise.all(ports.map(answers))).includes(true)) return t.skip("a local model server runs here");
  await withFolder(async (home) => {
    const cwd = join(home, "project");
    makeRepository(cwd, { "a.test.ts": "1\n", "b.ts": "1\n" });
    write(cwd, CERTAIN);
    const { code, stdout, stderr } = await octavo([], { cwd });
    assertEquals(code, 0, stderr);
    assertMatch(stdout, /a\.test\.ts:1/);
    assertStringIncludes(stderr, "No model is configured and no local server answers");
  });
});

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.on("connect", () => {
      socket.destroy();
      resolve(true);
    });
    socket.on("error", () => resolve(false));
  });
}

test("a read-only state folder ends no review; it is said", async () => {
  await withFolder(async (home) => {
    const cwd = join(home, "project");
    makeRepository(cwd, { "a.ts": "1\n" });
    write(cwd, { "a.ts": "2\n", "../.local/state": "a file where a folder should be" });
    await withServer([answer("Seen.")], async (server) => {
      const { code, stdout, stderr } = await octavo([], { cwd, env: withModel(server.url) });
      assertEquals(code, 0, stderr);
      assertStringIncludes(stdout, "Seen.");
      assertStringIncludes(stderr, "Could not save the conversation");
    });
  });
});

test("saved conversations are for their owner alone", async () => {
  if (process.platform === "win32") return;
  await withFolder(async (home) => {
    const cwd = join(home, "project");
    makeRepository(cwd, { "a.ts": "1\n" });
    write(cwd, { "a.ts": "2\n" });
    await withServer([answer("Seen.")], async (server) => {
      await octavo([], { cwd, env: withModel(server.url) });
      const dir = join(home, ".local/state/octavo/conversations");
      assertEquals(statSync(dir).mode & 0o777, 0o700);
      for (const name of readdirSync(dir)) assertEquals(statSync(join(dir, name)).mode & 0o777, 0o600);
    });
  });
});

test("a reader that leaves (| head) ends the run without noise", async () => {
  await withFolder(async (home) => {
    const cwd = join(home, "project");
    mkdirSync(cwd);
    const { stdout, stderr, code } = await octavo(["-c", `"$OCTAVO" help tree | head -1; exit "\${PIPESTATUS[0]}"`], {
      cwd,
      env: { OCTAVO: join(root, "dist/octavo") },
      program: ["bash"],
    });
    assertEquals([stdout.split("\n").length, stderr, code], [2, "", 0]);
  });
});

test("a full disk behind stdout is said, and is exit code 3", async () => {
  if (!existsSync("/dev/full")) return;
  await withFolder(async (home) => {
    const cwd = join(home, "project");
    mkdirSync(cwd);
    const { stderr, code } = await octavo(["-c", '"$OCTAVO" help tree > /dev/full'], {
      cwd,
      env: { OCTAVO: join(root, "dist/octavo") },
      program: ["bash"],
    });
    assertEquals(code, 3);
    assertStringIncludes(stderr, "Cannot write to standard output");
  });
});
