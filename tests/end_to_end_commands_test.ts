/** The commands around a review: templates, settings, providers, picking. */
import { chmodSync, existsSync, lstatSync, mkdirSync, readFileSync, statSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { binary, bundle, findDeno, findNode } from "../scripts/build.ts";
import { SHIPPED } from "../templates.ts";
import { git, makeRepository, root, withFolder, write } from "./support.ts";
import { answer, conversations, messages, octavo, prompt, withModel } from "./support_octavo.ts";
import { json, ndjson, type RecordedRequest, type Reply, withServer } from "./support_server.ts";
import { inTerminal, terminalTest } from "./support_tmux.ts";

/** A repository with a change in its working tree, in a folder of its own, which is the home. */
async function withChange(use: (cwd: string, home: string) => Promise<void>) {
  await withFolder(async (home) => {
    const cwd = join(home, "project");
    makeRepository(cwd, { "a.ts": "one\ntwo\nthree\n" });
    write(cwd, { "a.ts": "one\n2\nthree\n" });
    await use(cwd, home);
  });
}

const REVIEW = ".config/octavo/templates/review.md";
const CONFIG = ".config/octavo/config.json";

/** An editor: a shell script that gets the file as `$1`. */
function editor(home: string, script: string): Record<string, string> {
  write(home, { "bin/my editor": `#!/bin/sh\nset -e\n${script}\n` });
  chmodSync(join(home, "bin/my editor"), 0o755);
  return { EDITOR: `'${join(home, "bin/my editor")}' ` };
}

// --- templates -----------------------------------------------------------------------------------------------------

test("templates edit copies the shipped one, starts the editor, and the next review uses what was written", async () => {
  await withChange(async (cwd, home) => {
    const env = editor(home, `grep -q 'You review' "$1"; sed -i '1s/^/Be kind. /' "$1"`);
    const edited = await octavo(["templates", "edit", "review"], { cwd, env });
    assertEquals(edited.code, 0, edited.stderr);
    assertStringIncludes(edited.stderr, REVIEW);
    assertEquals(readFileSync(join(home, REVIEW), "utf8"), `Be kind. ${SHIPPED.review}`);
    await withServer([answer("Kind.")], async (server) => {
      await octavo([], { cwd, env: withModel(server.url) });
      assert(prompt(server.requests[0]!).startsWith("Be kind. "));
    });
  });
});

test("templates list says where each comes from, diff what yours has, reset takes it back", async () => {
  await withChange(async (cwd, home) => {
    const list = () => octavo(["templates"], { cwd });
    assertMatch((await list()).stdout, /^review +shipped with octavo\nreview-summary +shipped with octavo\n$/);
    write(home, { [REVIEW]: SHIPPED.review.replace("At most eight", "At most three") });
    assertMatch((await list()).stdout, /^review +yours: ~\/\.config\/octavo\/templates\/review\.md\n/);

    const diff = await octavo(["templates", "diff", "review"], { cwd });
    assertStringIncludes(diff.stdout, "--- shipped/review.md\n+++ ~/.config/octavo/templates/review.md\n@@ -");
    assertMatch(diff.stdout, /\n-At most eight.*\n\+At most three/);
    const shown = await octavo(["templates", "show", "review"], { cwd });
    assertStringIncludes(shown.stdout, "At most three");

    const refused = await octavo(["templates", "reset", "review"], { cwd });
    assertEquals(refused.code, 2);
    assertStringIncludes(refused.stderr, "octavo templates reset review --yes");
    assert(existsSync(join(home, REVIEW)));
    assertEquals((await octavo(["templates", "reset", "review", "--yes"], { cwd })).code, 0);
    assert(!existsSync(join(home, REVIEW)));
    assertEquals((await octavo(["templates", "show", "review"], { cwd })).stdout, SHIPPED.review);
  });
});

test("a mistake in a template is said with its line, after editing and in the list", async () => {
  await withChange(async (cwd, home) => {
    const env = editor(home, `sed -i '3s/^/{{#if nothing}}x{{\\/if}}/' "$1"`);
    for (const args of [["templates", "edit", "review"], ["templates"]]) {
      const { code, stderr } = await octavo(args, { cwd, env });
      assertEquals(code, 2);
      assertStringIncludes(stderr, 'No variable "nothing" in the template');
      assertStringIncludes(stderr, "review.md:3");
    }
    write(home, { [REVIEW]: "1\n2\n{{#if part}}\n" });
    assertMatch((await octavo(["templates"], { cwd })).stderr, /review\.md:\d+ has a syntax error/);
  });
});

test("a template that was only looked at is not kept: the shipped one goes on to hold", async () => {
  await withChange(async (cwd, home) => {
    const { code, stderr } = await octavo(["templates", "edit", "review"], {
      cwd,
      env: { VISUAL: "true", EDITOR: "false" },
    });
    assertEquals(code, 0, stderr);
    assert(!existsSync(join(home, REVIEW)));
  });
});

test("an editor that fails, is missing, or is not named is said", async () => {
  await withChange(async (cwd) => {
    const edit = (env: Record<string, string>) => octavo(["templates", "edit", "review"], { cwd, env });
    assertStringIncludes((await edit({ EDITOR: "false" })).stderr, 'The editor "false" has failed with exit code 1');
    assertStringIncludes((await edit({ EDITOR: "no-such-editor -w" })).stderr, '"no-such-editor" was not found');
    assertStringIncludes((await edit({})).stderr, "set VISUAL or EDITOR");
    // what only a shell understands goes to one
    assertEquals((await edit({ EDITOR: "sed -i '1s/^/x/' \"$@\"; true" })).code, 0);
  });
});

test("a file among the templates that is none is named, with the nearest", async () => {
  await withChange(async (cwd, home) => {
    write(home, { ".config/octavo/templates/reviews.md": "x" });
    assertMatch(
      (await octavo(["templates"], { cwd })).stderr,
      /reviews\.md" is no template.*did you mean "review\.md"/,
    );
  });
});

test("unknown actions, templates and settings are refused, with the nearest", async () => {
  await withChange(async (cwd) => {
    const cases: [args: string[], hint: string][] = [
      [["templates", "edti", "review"], 'did you mean "octavo templates edit"?'],
      [["templates", "show", "reveiw"], 'did you mean "review"?'],
      [["templates", "frobnicate"], "there are: list, show, edit, diff, reset"],
      [["config", "sett", "model", "x"], 'did you mean "octavo config set"?'],
      [["config", "set", "modle", "x"], 'did you mean "model"?'],
      [["config", "set", "providers.work.baseURL", "x"], "did you mean providers.work.baseUrl?"],
      [["config", "unset", "modle"], 'did you mean "model"?'],
      [["providers", "tets"], 'did you mean "octavo providers test"?'],
      [["completions", "fihs"], 'did you mean "octavo completions fish"?'],
      [["completions"], "octavo completions bash"],
      [["templates", "edit"], "octavo help templates"],
      [["help", "templats"], 'did you mean "octavo help templates"?'],
      [["chekcs"], 'did you mean "octavo checks"?'],
      [["templates", "list", "--yes"], "octavo help templates"],
    ];
    for (const [args, hint] of cases) {
      const { code, stdout, stderr } = await octavo(args, { cwd });
      assertEquals([code, stdout], [2, ""], args.join(" "));
      assertStringIncludes(stderr, hint);
    }
  });
});

terminalTest("templates reset asks at a terminal, and takes no for an answer", async () => {
  await withChange(async (cwd, home) => {
    for (const [key, there] of [["n", true], ["y", false]] as const) {
      write(home, { [REVIEW]: "mine\n" });
      await inTerminal(["templates", "reset", "review"], { cwd }, async (screen) => {
        await screen.shows("Remove ");
        screen.type(key);
        assertEquals(await screen.ended(), 0);
      });
      assertEquals(existsSync(join(home, REVIEW)), there);
    }
  });
});

terminalTest("an editor gets the terminal, and Ctrl-C in it does not end octavo", async () => {
  await withChange(async (cwd, home) => {
    const env = editor(home, `trap 'echo interrupted >> "$1"; exit 0' INT\necho "editing"\nread -r line < /dev/tty`);
    await inTerminal(["templates", "edit", "review"], { cwd, env }, async (screen) => {
      await screen.shows("editing");
      screen.press("C-c");
      assertEquals(await screen.ended(), 0);
    });
    assert(readFileSync(join(home, REVIEW), "utf8").endsWith("interrupted\n"));
  });
});

// --- config --------------------------------------------------------------------------------------------------------

test("config shows every setting with its value and where it comes from", async () => {
  await withChange(async (cwd, home) => {
    write(home, { [CONFIG]: '{"jobs": 3, "exclude": ["a"], "failOn": "risk"}' });
    write(cwd, { ".octavo.json": '{"failOn": "bug", "maxDiffChars": 9000, "exclude": ["b"]}' });
    const { code, stdout, stderr } = await octavo(["config"], { cwd, env: { OCTAVO_COLOR: "never" } });
    assertEquals(code, 0, stderr);
    for (
      const line of [
        /^jobs +your settings file +3$/m,
        /^color +OCTAVO_COLOR +never$/m,
        /^maxDiffChars +\.octavo\.json +9000$/m,
        /^failOn +your settings file +risk$/m,
        /^exclude +your settings file, \.octavo\.json +b, a$/m,
        /^timeout +default +600$/m,
        /^model +default +not set$/m,
      ]
    ) assertMatch(stdout, line);
    const { settings, exists } = JSON.parse((await octavo(["config", "--json"], { cwd })).stdout);
    assertEquals([exists, settings.jobs, settings.model], [true, { value: 3, origin: "your settings file" }, {
      value: null,
      origin: "default",
    }]);
  });
});

test("config never prints a secret: of it only that it is set", async () => {
  await withChange(async (cwd, home) => {
    const config = {
      githubToken: "ghp_topsecret1",
      providers: {
        work: {
          baseUrl: "https://user:topsecret2@llm.example.org/v1?key=topsecret3",
          apiKey: "topsecret4",
          headers: { "x-key": "topsecret5" },
        },
        other: { apiKeyCommand: ["echo", "topsecret6"] },
      },
    };
    write(home, { [CONFIG]: JSON.stringify(config) });
    const env = { OCTAVO_API_KEY: "topsecret7", OCTAVO_BASE_URL: "https://h/v1?key=topsecret8" };
    for (
      const args of [["config"], ["config", "--json"], ["providers"], ["providers", "--json"], ["config", "--debug"]]
    ) {
      const { stdout, stderr } = await octavo(
        [...args, "--local-only"].slice(0, args[0] === "providers" ? 3 : args.length),
        { cwd, env },
      );
      assert(!(stdout + stderr).includes("topsecret"), `${args}: ${stdout}${stderr}`);
    }
    const { stdout } = await octavo(["config"], { cwd, env });
    assertMatch(stdout, /^githubToken +your settings file +set$/m);
    assertMatch(stdout, /^apiKey +OCTAVO_API_KEY +set$/m);
    assertMatch(stdout, /^providers\.work\.apiKey +your settings file +set$/m);
    assertMatch(stdout, /^providers\.other\.apiKeyCommand +your settings file +echo …$/m);
  });
});

test("config set makes the file for its owner alone, and keeps what else is in it", async () => {
  await withChange(async (cwd, home) => {
    const set = async (...words: string[]) => {
      const { code, stderr } = await octavo(["config", "set", ...words], { cwd });
      assertEquals(code, 0, stderr);
    };
    const file = join(home, CONFIG);
    await set("model", "ollama/x");
    assertEquals(statSync(file).mode & 0o777, 0o600);
    assertEquals(readFileSync(file, "utf8"), '{\n  "model": "ollama/x"\n}\n');
    write(home, { [CONFIG]: '{\r\n\t"zebra": [1, {"a": null}],\r\n\t"model": "a/b",\r\n\t"jobs": 1\r\n}\r\n' });
    await set("model", "c/d");
    await set("exclude", "docs/", "*.gen.ts");
    await set("providers.work.baseUrl", "https://llm.example.org/v1");
    await set("providers.work.apiKeyCommand", "pass", "show", "llm");
    await set("providers.work.contextWindow", "8192");
    await set("untracked", "yes");
    const text = readFileSync(file, "utf8");
    assertEquals(JSON.parse(text), {
      zebra: [1, { a: null }],
      model: "c/d",
      jobs: 1,
      exclude: ["docs/", "*.gen.ts"],
      providers: {
        work: {
          baseUrl: "https://llm.example.org/v1",
          apiKeyCommand: ["pass", "show", "llm"],
          contextWindow: 8192,
        },
      },
      untracked: true,
    });
    assertEquals(Object.keys(JSON.parse(text)).slice(0, 3), ["zebra", "model", "jobs"]);
    assert(text.includes('\r\n\t"model"') && !/[^\r]\n/.test(text), "tabs and CRLF are kept");
    for (const key of ["exclude", "providers.work", "untracked", "zebra"]) {
      assertEquals((await octavo(["config", "unset", key], { cwd })).code, 0);
    }
    assertEquals(JSON.parse(readFileSync(file, "utf8")), { model: "c/d", jobs: 1 });
  });
});

test("config set refuses what a setting does not take, and changes nothing", async () => {
  await withChange(async (cwd, home) => {
    write(home, { [CONFIG]: '{"jobs": 2}' });
    const cases: [words: string[], message: string][] = [
      [["jobs", "9"], "a whole number from 1 to 8"],
      [["color", "sometimes"], "one of auto, always, never"],
      [["untracked", "perhaps"], "true or false"],
      [["model", "a", "b"], "takes one value"],
      [["model"], "needs a value"],
      [["plan", "true"], '"plan" cannot stand in a settings file'],
      [["apiKey", "x"], "OCTAVO_API_KEY"],
      [["providers.work.contextWindow", "many"], "a number of tokens"],
      [["providers.work.protocol", "smtp"], "openai, ollama or anthropic"],
      [["providers.work.key", "x"], 'A provider has no "key"'],
    ];
    for (const [words, message] of cases) {
      const { code, stderr } = await octavo(["config", "set", ...words], { cwd });
      assertEquals(code, 2, stderr);
      assertStringIncludes(stderr, message);
    }
    assertEquals(readFileSync(join(home, CONFIG), "utf8"), '{"jobs": 2}');
  });
});

test("config set mends a file whose value ends every other command, and says what is wrong beside it", async () => {
  await withChange(async (cwd, home) => {
    write(home, { [CONFIG]: '{"jobs": "many", "modle": "x"}' });
    assertEquals((await octavo(["log"], { cwd })).code, 2);
    const { code, stderr } = await octavo(["config", "set", "jobs", "2"], { cwd });
    assertEquals(code, 0);
    assertStringIncludes(stderr, 'did you mean "model"?');
    assertEquals((await octavo(["log"], { cwd })).code, 0);
    write(home, { [CONFIG]: '{\n  "jobs": 1\n  "model": "x"\n}' });
    const broken = await octavo(["config", "set", "jobs", "2"], { cwd });
    assertEquals(broken.code, 2);
    assertMatch(broken.stderr, /config\.json:3 is not valid JSON/);
  });
});

test("config set takes a secret from standard input, and narrows who may read the file", async () => {
  await withChange(async (cwd, home) => {
    write(home, { [CONFIG]: "{}" });
    chmodSync(join(home, CONFIG), 0o644);
    const { code, stdout, stderr } = await octavo(["config", "set", "githubToken"], { cwd, input: "ghp_topsecret\n" });
    assertEquals(code, 0, stderr);
    assert(!(stdout + stderr).includes("ghp_topsecret"));
    assertEquals(JSON.parse(readFileSync(join(home, CONFIG), "utf8")), { githubToken: "ghp_topsecret" });
    assertEquals(statSync(join(home, CONFIG)).mode & 0o777, 0o600);
  });
});

test("config set writes through a link, as dotfiles are kept", async () => {
  await withChange(async (cwd, home) => {
    write(home, { "dotfiles/octavo.json": "{}" });
    mkdirSync(join(home, ".config/octavo"), { recursive: true });
    symlinkSync(join(home, "dotfiles/octavo.json"), join(home, CONFIG));
    assertEquals((await octavo(["config", "set", "jobs", "2"], { cwd })).code, 0);
    assert(lstatSync(join(home, CONFIG)).isSymbolicLink());
    assertEquals(JSON.parse(readFileSync(join(home, "dotfiles/octavo.json"), "utf8")), { jobs: 2 });
  });
});

test("config edit checks what was written: the line of broken JSON, wrong values, unknown keys", async () => {
  await withChange(async (cwd, home) => {
    const edit = (text: string) =>
      octavo(["config", "edit"], { cwd, env: editor(home, `cat > "$1" <<'END'\n${text}\nEND`) });
    const good = await edit('{\n  "model": "builtin"\n}');
    assertEquals([good.code, good.stderr], [0, ""]);
    assertEquals(statSync(join(home, CONFIG)).mode & 0o777, 0o600);
    const broken = await edit('{\n  "model": "builtin",\n  "jobs": 1,,\n}');
    assertEquals(broken.code, 2);
    assertMatch(broken.stderr, /config\.json:3 is not valid JSON/);
    assertStringIncludes((await edit('{"jobs": 99}')).stderr, "a whole number from 1 to 8");
    const unknown = await edit('{"modle": "x"}');
    assertEquals(unknown.code, 0);
    assertStringIncludes(unknown.stderr, 'did you mean "model"?');
    const looked = await octavo(["config", "edit"], { cwd: home, home: join(home, "new"), env: { EDITOR: "true" } });
    assertEquals([looked.code, existsSync(join(home, "new", CONFIG))], [0, false]);
  });
});

test("a settings file that cannot be written is exit code 3 and said, without a trace", async () => {
  await withChange(async (cwd, home) => {
    write(home, { ".config/octavo": "a file where the folder should be" });
    const { code, stderr } = await octavo(["config", "set", "jobs", "2"], { cwd });
    assertEquals(code, 3);
    assertStringIncludes(stderr, "Cannot change the settings file");
    assert(!stderr.includes("    at "), stderr);
  });
});

// --- providers -----------------------------------------------------------------------------------------------------

const tags = json({ models: [{ name: "qwen2.5-coder:7b" }, { name: "llama3:8b" }] });
const shown = json({ model_info: { "qwen2.context_length": 32_768 } });

function ollama(request: RecordedRequest): Reply | undefined {
  if (request.path === "/api/tags") return tags;
  if (request.path === "/api/show") return shown;
  if (request.path !== "/api/chat") return undefined;
  const piece = (content: string) => ({ model: "m", message: { role: "assistant", content }, done: false });
  const end = {
    message: { role: "assistant", content: "" },
    done: true,
    done_reason: "stop",
    prompt_eval_count: 30,
    eval_count: 3,
  };
  return ndjson(piece("1 "), piece("2 "), piece("3"), end);
}

test("providers shows what is there: endpoint, where the key is from, models and windows; and what is not", async () => {
  await withChange(async (cwd, home) => {
    await withServer(ollama, async (server) => {
      await withServer(() => json({ error: { message: "bad key sk-topsecret" } }, 401), async (mine) => {
        write(home, {
          [CONFIG]: JSON.stringify({ providers: { work: { baseUrl: `${mine.url}/v1`, apiKey: "sk-topsecret" } } }),
        });
        const env = { OLLAMA_HOST: server.url };
        const { code, stdout, stderr } = await octavo(["providers"], { cwd, env });
        assertEquals(code, 0, stderr);
        assertMatch(
          stdout,
          new RegExp(`^  ollama +${server.url} +OLLAMA_HOST +no key\n    qwen2.5-coder:7b +32,768 tokens$`, "m"),
        );
        assertMatch(
          stdout,
          new RegExp(`^  work +${mine.url}/v1 +the user file +key from the user file\n.*HTTP 401`, "m"),
        );
        assertMatch(stdout, /^ +mistral +set MISTRAL_API_KEY/m);
        assert(!(stdout + stderr).includes("topsecret"));
        const report = JSON.parse((await octavo(["providers", "--json"], { cwd, env })).stdout);
        const found = report.providers.find(({ provider }: { provider: string }) => provider === "ollama");
        assertEquals(found.models[0], { name: "qwen2.5-coder:7b", contextWindow: 32_768 });
      });
    });
  });
});

test("providers says which model a review would ask", async () => {
  await withChange(async (cwd) => {
    await withServer(ollama, async (server) => {
      const { stderr } = await octavo(["providers"], { cwd, env: { OLLAMA_HOST: server.url } });
      assertStringIncludes(stderr, "a review would ask ollama/qwen2.5-coder:7b (OLLAMA_HOST)");
      const wrong = await octavo(["providers", "--model", "opnai/x"], { cwd, env: { OLLAMA_HOST: server.url } });
      assertEquals(wrong.code, 0);
      assertStringIncludes(wrong.stderr, "did you mean openai/x?");
    });
  });
});

test("providers test makes one tiny request, and says how long the first byte and each token took", async () => {
  await withChange(async (cwd) => {
    await withServer(ollama, async (server) => {
      const env = { OLLAMA_HOST: server.url };
      const { code, stdout, stderr } = await octavo(["providers", "test", "ollama/llama3:8b"], { cwd, env });
      assertEquals(code, 0, stderr);
      const asked = server.requests.filter(({ path }) => path === "/api/chat");
      assertEquals(asked.length, 1);
      assertEquals(asked[0]!.json.model, "llama3:8b");
      assert(asked[0]!.body.length < 1_000);
      assertMatch(stdout, /^ollama\/llama3:8b at http/);
      assertMatch(stdout, /^window +32,768 tokens$/m);
      assertMatch(stdout, /^first byte +\d+\.\d\d s$/m);
      assertMatch(stdout, /^each token +[\d.]+ ms \(3 tokens/m);
      assertMatch(stdout, /^answer +1 2 3$/m);
      assertStringIncludes(stderr, new URL(server.url).host);
    });
  });
});

test("providers test without a model, and with one that fails, says so", async () => {
  await withChange(async (cwd) => {
    const none = await octavo(["providers", "test", "builtin"], { cwd });
    assertEquals(none.code, 2);
    assertStringIncludes(none.stderr, "There is no model to test");
    await withServer(() => json({ error: { message: "no such model" } }, 404), async (server) => {
      const { code, stderr } = await octavo(["providers", "test"], { cwd, env: withModel(server.url) });
      assertEquals(code, 3);
      assertStringIncludes(stderr, "no such model");
    });
  });
});

test("checks lists the rules with their severity and why", async () => {
  await withChange(async (cwd) => {
    const { code, stdout } = await octavo(["checks"], { cwd });
    assertEquals(code, 0);
    assertMatch(stdout, /^bug +conflict-marker +\S.+$/m);
    const rules = JSON.parse((await octavo(["checks", "--json"], { cwd })).stdout);
    assertEquals(stdout.trimEnd().split("\n").length, rules.length);
  });
});

test("a rule of the checks can be switched off: by flag, variable and settings file, and never by a repository", async () => {
  await withChange(async (cwd, home) => {
    write(cwd, { "a.ts": "debugger;\n", ".octavo.json": '{"checksOff": ["debugger"]}' });
    const found = async (args: string[], env: Record<string, string> = {}) => {
      const { code, stderr } = await octavo(["--model", "builtin", "--fail-on", "bug", ...args], { cwd, env });
      assert(code < 2, stderr);
      return code === 1;
    };
    assertEquals(await found([]), true);
    assertEquals(await found(["--checks-off", "debugger"]), false);
    assertEquals(await found(["--checks-off", "eval"]), true);
    assertEquals(await found([], { OCTAVO_CHECKS_OFF: "debugger" }), false);
    write(home, { [CONFIG]: '{"checksOff": ["debugger"]}' });
    assertEquals(await found([]), false);
    const wrong = await octavo(["--model", "builtin", "--checks-off", "debuger"], { cwd });
    assertEquals(wrong.code, 2);
    assertStringIncludes(wrong.stderr, 'did you mean "debugger"?');
  });
});

test("a mistake in a template is said before a review, and nobody is asked", async () => {
  await withChange(async (cwd, home) => {
    write(home, { [REVIEW]: "1\n2\n{{nothing}}\n" });
    await withServer([], async (server) => {
      const { code, stderr } = await octavo([], { cwd, env: withModel(server.url) });
      assertEquals(code, 2);
      assertStringIncludes(stderr, 'No variable "nothing" in the template');
      assertStringIncludes(stderr, "review.md:3");
      assert(!stderr.includes("    at "), stderr);
    });
  });
});

test("help, completions and checks work where the settings file is broken", async () => {
  await withChange(async (cwd, home) => {
    write(home, { [CONFIG]: "{" });
    for (const args of [["help"], ["help", "--man"], ["completions", "bash"], ["config", "schema"]]) {
      const { code, stdout, stderr } = await octavo(args, { cwd });
      assertEquals([code, stderr], [0, ""], args.join(" "));
      assert(stdout.length > 1_000);
    }
  });
});

// --- picking -------------------------------------------------------------------------------------------------------

const DIFF = "diff --git a/p.ts b/p.ts\nindex 1111111..2222222 100644\n--- a/p.ts\n+++ b/p.ts\n@@ -1 +1 @@\n-1\n+2\n";

/** GitHub's API as far as octavo asks it. */
function github(request: RecordedRequest): Reply | undefined {
  const path = request.path.split("?")[0];
  if (path === "/repos/o/r/pulls/5") return { headers: { "content-type": "text/plain" }, body: DIFF };
  if (path !== "/repos/o/r/pulls") return undefined;
  return json([
    { number: 7, title: "Fix it", user: { login: "ann" }, draft: false },
    { number: 5, title: "Another \u001b[2Jthing", user: { login: "bob" }, draft: true },
  ]);
}

/** The environment of a workflow whose server is a test's, without a pull request of its own. */
function workflow(url: string): Record<string, string> {
  return { GITHUB_ACTIONS: "true", GITHUB_API_URL: url, GITHUB_SERVER_URL: url, GITHUB_REPOSITORY: "o/r" };
}

terminalTest("pr without a number lets one pick from the open ones, and reviews that one under its title", async () => {
  await withChange(async (cwd, home) => {
    await withServer(github, async (server) => {
      git(cwd, "remote", "add", "origin", `${server.url}/o/r.git`);
      const stdout = join(home, "review.json");
      const env = workflow(server.url);
      const args = ["pr", "--plan", "--format", "json"];
      await inTerminal(args, { cwd, env, stdout, columns: 40 }, async (screen) => {
        const list = await screen.shows("#5");
        assertStringIncludes(list, "#7 Fix it (ann)");
        assertStringIncludes(list, "#5 Another ␛[2Jthing (bob, d");
        screen.press("Down", "Enter");
        assertEquals(await screen.ended(), 0);
      });
      const report = JSON.parse(readFileSync(stdout, "utf8"));
      assertEquals([report.title, report.files[0].path], ["Another \u001b[2Jthing", "p.ts"]);
    });
  });
});

terminalTest("pr without a number ends with 130 when one picks none", async () => {
  await withChange(async (cwd) => {
    await withServer(github, async (server) => {
      git(cwd, "remote", "add", "origin", `${server.url}/o/r.git`);
      await inTerminal(["pr"], { cwd, env: workflow(server.url) }, async (screen) => {
        await screen.shows("#5");
        screen.press("C-c");
        assertEquals(await screen.ended(), 130);
      });
      assertEquals(server.requests.length, 1);
    });
  });
});

// --- ask -----------------------------------------------------------------------------------------------------------

test("ask takes the hunks of a file of the reviewed change along, all of them, and says when they have changed since", async () => {
  await withChange(async (cwd) => {
    const lines = (word: string) =>
      Array.from({ length: 2_000 }, (_, n) => `line ${n} ${n % 100 === 0 ? word : ""}`).join("\n");
    write(cwd, { "big.txt": lines("old") });
    git(cwd, "add", ".");
    git(cwd, "commit", "-q", "-m", "second");
    write(cwd, { "big.txt": lines("new"), "a.ts": "one\n2\nthree\n" });
    await withServer(() => answer("Seen."), async (server) => {
      const env = { ...withModel(server.url), OCTAVO_MAX_DIFF_CHARS: "2000" };
      assertEquals((await octavo([], { cwd, env })).code, 0);
      assert(!prompt(server.requests[0]!).includes("+line 1900 new"), "the file was cut");
      const asked = await octavo(["ask", "Why?", "@diff:big.txt", "@a.ts:2"], { cwd, env });
      assertEquals(asked.code, 0, asked.stderr);
      const question = messages(server.requests.at(-1)!).at(-1)!.content;
      assertStringIncludes(question, "the diff of big.txt:\n```\ndiff --git a/big.txt b/big.txt\n");
      assertStringIncludes(question, "+line 0 new");
      assertStringIncludes(question, "+line 1900 new");
      assertStringIncludes(question, "a.ts:2-2:\n```\n2\n```");
      assert(!asked.stderr.includes("as it is now"), asked.stderr);
      write(cwd, { "big.txt": lines("newer") });
      const later = await octavo(["ask", "Why?", "@diff:big.txt"], { cwd, env });
      assertStringIncludes(later.stderr, 'the diff of "big.txt" is not the reviewed one any more');
      assertStringIncludes(messages(server.requests.at(-1)!).at(-1)!.content, "+line 0 newer");
    });
  });
});

test("@diff of a file that is not in the change names the nearest; of a patch from standard input it is refused", async () => {
  await withChange(async (cwd) => {
    await withServer(() => answer("Seen."), async (server) => {
      const env = withModel(server.url);
      await octavo([], { cwd, env });
      const unknown = await octavo(["ask", "Why?", "@diff:b.ts"], { cwd, env });
      assertEquals(unknown.code, 2);
      assertStringIncludes(unknown.stderr, "did you mean @diff:a.ts?");
      await octavo(["diff", "-"], { cwd, env, input: git(cwd, "diff") });
      const gone = await octavo(["ask", "Why?", "@diff:a.ts"], { cwd, env });
      assertEquals(gone.code, 2);
      assertStringIncludes(gone.stderr, "standard input");
      assertEquals(server.requests.length, 2);
    });
  });
});

test("@diff of a commit shows what was reviewed, whatever has happened to the file since", async () => {
  await withChange(async (cwd) => {
    git(cwd, "commit", "-q", "-a", "-m", "second");
    await withServer(() => answer("Seen."), async (server) => {
      const env = withModel(server.url);
      await octavo(["commit"], { cwd, env });
      write(cwd, { "a.ts": "something else\n" });
      git(cwd, "commit", "-q", "-a", "-m", "third");
      const { code, stderr } = await octavo(["ask", "Why?", "@diff:a.ts"], { cwd, env });
      assertEquals(code, 0, stderr);
      assertStringIncludes(messages(server.requests[1]!).at(-1)!.content, "-two\n+2\n");
      assert(!stderr.includes("as it is now"));
    });
  });
});

terminalTest(
  "ask without a question is a conversation: history, attachments, mistakes that end nothing, Ctrl-D",
  async () => {
    await withChange(async (cwd, home) => {
      const script = (_: RecordedRequest, index: number) => answer(["Seen.", "It is *two*.", "Yes."][index]!);
      await withServer(script, async (server) => {
        const env = withModel(server.url);
        await octavo([], { cwd, env });
        await inTerminal(["ask"], { cwd, env }, async (screen) => {
          await screen.shows(/^> *$/m);
          screen.type("What is @nope.ts?");
          screen.press("Enter");
          await screen.shows('Cannot attach "nope.ts"');
          screen.type("What is in @a.ts:2, and why?");
          screen.press("Enter");
          await screen.shows("It is two.");
          await screen.shows(/It is two\.\s+> *$/);
          screen.press("Up"); // brings the last question back
          await screen.shows(/> What is in @a\.ts:2, and why\?$/);
          screen.press("C-u");
          screen.type("Sure?");
          screen.press("Enter");
          await screen.shows(/Yes\.\s+> *$/);
          screen.press("C-d");
          assertEquals(await screen.ended(), 0);
        });
        assertEquals(
          messages(server.requests[1]!).at(-1)!.content,
          "What is in a.ts:2, and why?\n\na.ts:2-2:\n```\n2\n```",
        );
        assertEquals(messages(server.requests[2]!).length, 5);
        const [saved] = conversations(home);
        assertEquals(saved!.messages.slice(2).map(({ role }) => role), ["user", "assistant", "user", "assistant"]);
        // and the next time the arrow key brings the questions back that were asked before
        await inTerminal(["ask"], { cwd, env }, async (screen) => {
          await screen.shows(/^> *$/m);
          screen.press("Up", "Up");
          await screen.shows("> What is in a.ts:2, and why?");
          screen.press("C-c"); // empties the line
          await screen.shows(/^> *$/m);
          screen.press("C-c");
          assertEquals(await screen.ended(), 130);
        });
      });
    });
  },
);

/** What a conversation runs in: each has line editing of its own. */
const RUNTIMES: [name: string, program: () => Promise<string[]>][] = [
  ["binary", async () => [await binary()]],
  ["bundle in node", async () => [await findNode(), await bundle()]],
  ["source in deno", async () => [await findDeno(), "run", "-A", join(root, "mod.ts")]],
];

for (const [runtime, program] of RUNTIMES) {
  terminalTest(`Ctrl-C during an answer ends the answer, keeps what came, and asks on (${runtime})`, async () => {
    await withChange(async (cwd, home) => {
      const chunk = `data: ${JSON.stringify({ choices: [{ delta: { content: "So far so" } }] })}\n\n`;
      const endless: Reply = { headers: { "content-type": "text/event-stream" }, body: [chunk, new Promise(() => {})] };
      await withServer([answer("Seen."), endless, answer("Done.")], async (server) => {
        const cache = process.env.DENO_DIR ?? join(process.env.HOME ?? "", ".cache/deno");
        const env = { ...withModel(server.url), DENO_DIR: cache };
        await octavo([], { cwd, env });
        await inTerminal(["ask"], { cwd, env, program: await program() }, async (screen) => {
          await screen.shows(/^> *$/m);
          screen.type("Go on");
          screen.press("Enter");
          await screen.shows("So far so");
          screen.press("C-c");
          await screen.shows(/what came of the answer is kept\s+> *$/);
          screen.type("Again");
          screen.press("Enter");
          await screen.shows(/Done\.\s+> *$/);
          screen.press("C-d");
          assertEquals(await screen.ended(), 0);
        });
        const [saved] = conversations(home);
        assertEquals(saved!.messages.slice(2).map(({ content }) => content), ["Go on", "So far so", "Again", "Done."]);
      });
    });
  });
}

// --- log -----------------------------------------------------------------------------------------------------------

test("log shows when, parts, findings and title of each review, with --all its repository too", async () => {
  await withChange(async (cwd, home) => {
    await withServer(() => answer("## Issues\n\n- 🟠 `a.ts:2` — a number\n  `2`\n  It breaks.\n"), async (server) => {
      await octavo([], { cwd, env: withModel(server.url) });
      const time = "\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d";
      const own = await octavo(["log"], { cwd });
      assertMatch(
        own.stdout,
        new RegExp(`^[0-9a-z-]+  ${time}  1 part  1 finding  working tree of project \\(main\\)\n$`),
      );
      const all = await octavo(["log", "--all"], { cwd: home, home });
      assertMatch(all.stdout, new RegExp(`^[0-9a-z-]+  ${time}  1 part  1 finding  ~/project  working tree`));
      const utc = JSON.parse((await octavo(["log", "--json"], { cwd })).stdout)[0].createdAt;
      const there = await octavo(["log"], { cwd, env: { TZ: "Pacific/Kiritimati" } }); // UTC+14
      const shown = new RegExp(time).exec(there.stdout)![0];
      assertEquals(
        Math.floor(Date.parse(`${shown.replace(" ", "T")}:00+14:00`) / 60_000),
        Math.floor(Date.parse(utc) / 60_000),
      );
      assertEquals((await octavo(["log"], { cwd: home, home })).stdout, "");
    });
  });
});

terminalTest(
  "log at a terminal has an id that is as short as it may be, and fits 40 columns as well as 80",
  async () => {
    await withChange(async (cwd) => {
      await withServer(() => answer("Seen."), async (server) => {
        await octavo([], { cwd, env: withModel(server.url) });
        for (const columns of [40, 80]) {
          await inTerminal(["log"], { cwd, columns }, async (screen) => {
            const [first = ""] = (await screen.shows("ended with 0")).split("\n");
            const id = first.split(" ")[0]!;
            assertMatch(id, /^\d{8}-\d{6}$/);
            assertEquals((await octavo(["show", id], { cwd })).code, 0);
            assertStringIncludes(screen.text(), "working tree of");
          });
        }
      });
    });
  },
);
