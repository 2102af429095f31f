/** The completions, asked by the shells themselves. */
import { execFileSync } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { COMMANDS, settingsOf } from "../commands.ts";
import { completions, type Shell, SHELLS } from "../completions.ts";
import { SETTINGS } from "../settings.ts";
import { cleanEnv, git, makeRepository, withFolder } from "./support.ts";
import { inTerminal, terminalTest } from "./support_tmux.ts";

function isInstalled(program: string): boolean {
  try {
    execFileSync(program, ["--version"], { stdio: "ignore" });
    return true;
  } catch {
    return false; // the test is skipped
  }
}

/** A test that needs a shell, in a repository with a branch, a file and a folder. */
function shellTest(shell: Shell, name: string, run: (cwd: string) => Promise<void> | void): void {
  const skip = !isInstalled(shell);
  if (skip) console.log(`skipped, since ${shell} is missing: ${name}`);
  test(name, { skip, timeout: 60_000 }, () =>
    withFolder(async (dir) => {
      const cwd = join(dir, "project");
      makeRepository(cwd, { "src/a.ts": "1\n", "fix.patch": "" });
      git(cwd, "branch", "feature/one");
      await run(cwd);
    }));
}

/** What bash would offer for a line whose last word is being typed; words as bash splits them. */
function askBash(cwd: string, words: readonly string[]): string[] {
  const quoted = words.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(" ");
  const script = `${completions("bash")}\nCOMP_WORDS=(${quoted})\nCOMP_CWORD=${
    words.length - 1
  }\n_octavo\nprintf '%s\\n' "\${COMPREPLY[@]}"`;
  const output = execFileSync("bash", ["--norc", "-c", script], {
    cwd,
    encoding: "utf8",
    env: cleanEnv(join(cwd, "..")),
    stdio: ["ignore", "pipe", "ignore"], // compopt complains outside of a completion
  });
  return output.split("\n").filter(Boolean);
}

function askFish(cwd: string, line: string): string[] {
  const output = execFileSync("fish", ["-c", `${completions("fish")}\ncomplete -C '${line}'`], {
    cwd,
    encoding: "utf8",
    env: cleanEnv(join(cwd, "..")),
  });
  return output.split("\n").filter(Boolean).map((offered) => offered.split("\t")[0]!);
}

const CASES: [name: string, line: string, offered: string[]][] = [
  ["a command", "octavo bra", ["branch"]],
  ["a command behind a flag with its value", "octavo --model x bra", ["branch"]],
  ["an action", "octavo templates e", ["edit"]],
  ["a template", "octavo templates edit review-", ["review-summary"]],
  ["a branch", "octavo branch fea", ["feature/one"]],
  ["a branch behind a flag", "octavo branch --plan fea", ["feature/one"]],
  ["a flag", "octavo commit --fail", ["--fail-on"]],
  ["a flag of the command that needs none", "octavo --untr", ["--untracked"]],
  ["a flag of one command alone", "octavo log --a", ["--all"]],
  ["a choice of a setting", "octavo --fail-on ri", ["risk"]],
  ["a provider", "octavo --model olla", ["ollama/"]],
  ["a rule", "octavo --checks-off focus", ["focused-test"]],
  ["a setting", "octavo config set maxD", ["maxDiffChars"]],
  ["a file", "octavo diff fix", ["fix.patch"]],
  ["a command for help", "octavo help stag", ["staged"]],
  ["a shell", "octavo completions z", ["zsh"]],
  ["nothing behind the last word", "octavo help staged s", []],
];

for (const [name, line, offered] of CASES) {
  shellTest("bash", `bash completes ${name}`, (cwd) => assertEquals(askBash(cwd, line.split(" ")), offered));
}
for (const [name, line, offered] of CASES.slice(0, -1)) {
  shellTest("fish", `fish completes ${name}`, (cwd) => assertEquals(askFish(cwd, line), offered));
}

shellTest(
  "bash",
  "bash completes what stands behind an equals sign, at signs and colons, where it splits words",
  (cwd) => {
    assertEquals(askBash(cwd, ["octavo", "--color", "=", "al"]), ["always"]);
    assertEquals(askBash(cwd, ["octavo", "--color", "="]), ["auto", "always", "never"]);
    assertEquals(askBash(cwd, ["octavo", "ask", "@", "fix"]), ["fix.patch"]);
    assertEquals(askBash(cwd, ["octavo", "ask", "@", "diff", ":", "fix"]), ["fix.patch"]);
    assertEquals(askBash(cwd, ["octavo", "-C", "sr"]), ["src"]);
  },
);

shellTest("bash", "bash completes git octavo", (cwd) => {
  assertEquals(askBash(cwd, ["git", "octavo", "bra"]), ["branch"]);
  assertEquals(askBash(cwd, ["git", "-C", "..", "octavo", "templates", "e"]), ["edit"]);
});

shellTest("bash", "a branch whose name is a command is quoted by bash, and never run", (cwd) => {
  git(cwd, "branch", "evil$(id>pwned)");
  assertEquals(askBash(cwd, ["octavo", "branch", "evil"]), ["evil\\$\\(id\\>pwned\\)"]);
  assert(!existsSync(join(cwd, "pwned")));
});

shellTest("fish", "fish completes files behind an at sign", (cwd) => {
  assertEquals(askFish(cwd, "octavo ask @fix"), ["@fix.patch"]);
  assertEquals(askFish(cwd, "octavo ask @diff:fix"), ["@diff:fix.patch"]);
});

shellTest("fish", "fish completes git octavo", (cwd) => {
  assertEquals(askFish(cwd, "git octavo templates e"), ["edit"]);
});

if (isInstalled("zsh")) {
  terminalTest("zsh completes commands, actions, branches and flags, also of git octavo", async () => {
    await withFolder(async (dir) => {
      const cwd = join(dir, "project");
      makeRepository(cwd, { "a.ts": "1\n" });
      git(cwd, "branch", "feature/one");
      const file = join(dir, "completions.zsh");
      writeFileSync(file, completions("zsh"));
      await inTerminal(["-f", "-i"], { cwd, program: ["zsh"], env: { PS1: "ready> " } }, async (screen) => {
        await screen.shows("ready>");
        screen.type("autoload -Uz compinit && compinit -u -D && . ../completions.zsh; clear");
        screen.press("Enter");
        const cases = [
          ["octavo templa", "octavo templates"],
          ["octavo templates rese", "octavo templates reset"],
          ["octavo templates edit review-", "octavo templates edit review-summary"],
          ["octavo branch fea", "octavo branch feature/one"],
          ["octavo --fail-on ri", "octavo --fail-on risk"],
          ["octavo log --al", "octavo log --all"],
          ["octavo ask why @a", "octavo ask why @a.ts"],
          ["git octavo templates rese", "git octavo templates reset"],
        ];
        for (const [typed, completed] of cases) {
          screen.type(`${typed}\t`);
          await screen.shows(`ready> ${completed}`);
          screen.press("C-u", "C-l");
        }
      });
    });
  });
}

test("the completions of each shell have every command, action and flag", () => {
  for (const shell of SHELLS) {
    const text = completions(shell);
    for (const command of COMMANDS) {
      assertStringIncludes(text, command.name);
      for (const { name } of command.actions ?? []) assertStringIncludes(text, name);
      const keys = settingsOf(command);
      const flags = SETTINGS.filter(({ key, flag }) => flag !== undefined && keys.includes(key)).map(({ flag }) =>
        flag!
      );
      for (const flag of [...flags, ...(command.flags ?? []).map((own) => own.flag)]) assertStringIncludes(text, flag);
    }
  }
});
