import { test } from "node:test";
import { assert, assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { COMMANDS, COMMANDS_TO_COME, settingsOf } from "../commands.ts";
import { UsageError } from "../errors.ts";
import { commandHelp, generalHelp } from "../help.ts";
import { FLAGS_TO_COME, nearest, SETTINGS } from "../settings.ts";
import { readWords } from "../words.ts";

const refused = (...args: string[]) => assertThrows(() => readWords(args), UsageError);

test("readWords() takes no word as a review of the working tree", () => {
  const { command, words, settings } = readWords([]);
  assertEquals([command.name, words, settings], ["tree", [], {}]);
});

test("readWords() finds the command behind flags", () => {
  const read = readWords(["-C", "/x", "--model", "a/b", "branch", "main"]);
  assertEquals([read.command.name, read.words, read.dir, read.settings], ["branch", ["main"], "/x", { model: "a/b" }]);
});

test("readWords() collects a flag that may be given several times", () => {
  assertEquals(readWords(["--exclude", "a", "--exclude=b"]).settings, { exclude: ["a", "b"] });
});

test("readWords() takes a switch that is set to false, so that it wins over the environment", () => {
  assertEquals(readWords(["--untracked=false"]).settings, { untracked: false });
});

test("readWords() takes what follows -- as words", () => {
  assertEquals(readWords(["commit", "--", "-x"]).words, ["-x"]);
});

test("readWords() takes numbers as text", () => {
  assertEquals(readWords(["pr", "0012"]).words, ["0012"]);
});

test("readWords() keeps - as a word", () => {
  assertEquals(readWords(["diff", "-"]).words, ["-"]);
});

test("readWords() refuses an unknown command, and names the nearest", () => {
  const error = refused("brnch");
  assertEquals([error.message, error.hint], ['Unknown command "brnch"', 'did you mean "octavo branch"?']);
});

test("readWords() refuses an unknown flag, and names the nearest", () => {
  const error = refused("--modle", "x");
  assertEquals([error.message, error.hint], ['Unknown flag "--modle"', 'did you mean "--model"?']);
});

test("readWords() refuses a flag without its value", () => {
  assertEquals(refused("--model").message, "--model needs a value");
  assertEquals(refused("--color=").message, "--color needs a value");
  assertEquals(refused("tree", "-C").message, "-C needs a value");
});

test("readWords() refuses a flag that its command does not take", () => {
  assertStringIncludes(refused("log", "--plan").message, "octavo log does not take --plan");
  assertStringIncludes(refused("tree", "--id", "x").message, "octavo tree does not take --id");
});

test("readWords() refuses a word too many", () => {
  assertStringIncludes(refused("branch", "a", "b").message, 'not "b" as well');
});

test("readWords() refuses what is named and not built yet, never ignores it", () => {
  for (const flag of FLAGS_TO_COME) assertEquals(refused(`--${flag}`, "x").message, `--${flag} is not built yet`);
  for (const command of COMMANDS_TO_COME) {
    assertEquals(refused(command).message, `"octavo ${command}" is not built yet`);
  }
});

test("readWords() takes an action off the words, and without one the first", () => {
  const read = (...args: string[]) => {
    const { command, action, words, flags } = readWords(args);
    return [command.name, action?.name, words, flags];
  };
  assertEquals(read("templates"), ["templates", "list", [], {}]);
  assertEquals(read("templates", "reset", "review", "--yes"), ["templates", "reset", ["review"], { yes: true }]);
  assertEquals(read("config", "set", "exclude", "a", "b"), ["config", "set", ["exclude", "a", "b"], {}]);
  assertEquals(read("tree"), ["tree", undefined, [], {}]);
});

test("readWords() refuses an unknown action, and names the nearest or all", () => {
  const near = refused("config", "ste", "x");
  assertEquals([near.message, near.hint], ['octavo config has no "ste"', 'did you mean "octavo config set"?']);
  assertEquals(refused("providers", "frobnicate").hint, "there are: list, test");
});

test("readWords() refuses a command that needs an action without one", () => {
  assertStringIncludes(refused("completions").message, "needs one of bash, zsh, fish");
});

test("readWords() refuses too few and too many words of an action, and flags of another one", () => {
  assertEquals(refused("templates", "edit").message, "octavo templates edit needs NAME");
  assertStringIncludes(refused("templates", "edit", "a", "b").message, 'takes one NAME, not "b" as well');
  assertStringIncludes(refused("templates", "list", "a").message, 'takes no word, not "a" as well');
  assertStringIncludes(refused("templates", "show", "a", "--yes").message, "does not take --yes, a flag of reset");
});

test("readWords() asks for no action where help is wanted", () => {
  for (const command of COMMANDS) assertEquals(readWords([command.name, "--help"]).help, true, command.name);
});

test("every action that a flag belongs to is there", () => {
  for (const { name, flags = [], actions = [] } of COMMANDS) {
    const names = actions.map((action) => action.name);
    for (const flag of flags) {
      for (const action of flag.actions ?? []) assert(names.includes(action), `${name} ${action}`);
    }
  }
});

test("every key that a command takes is a setting", () => {
  const keys = SETTINGS.map(({ key }) => key);
  for (const command of COMMANDS) {
    for (const key of settingsOf(command)) assert(keys.includes(key), `${command.name}: ${key}`);
  }
});

test("the general help fits a screen of 80 columns and names every command", () => {
  const lines = generalHelp().split("\n");
  for (const line of lines) assert(line.length <= 80, line);
  assert(lines.length <= 40, `${lines.length} lines`);
  for (const { name } of COMMANDS.filter(({ name }) => name !== "help")) {
    assertStringIncludes(generalHelp(), `  ${name}`);
  }
});

test("the help of a command names each of its flags", () => {
  for (const command of COMMANDS) {
    const help = commandHelp(command);
    for (const line of help.split("\n")) assert(line.length <= 80 || line.startsWith("  octavo"), line);
    for (const { name } of command.actions ?? []) assertStringIncludes(help, `  ${name}`);
    for (const key of settingsOf(command)) {
      const flag = SETTINGS.find((setting) => setting.key === key)?.flag;
      if (flag !== undefined) assertStringIncludes(help, `--${flag}`);
    }
  }
});

test("nearest() finds a swapped, a missing and a wrong letter, and nothing for what is far", () => {
  const names = ["tree", "staged", "branch", "commit"];
  assertEquals(nearest("stagde", names), "staged");
  assertEquals(nearest("comit", names), "commit");
  assertEquals(nearest("Branch", names), "branch");
  assertEquals(nearest("frobnicate", names), undefined);
  assertEquals(nearest("a", names), undefined);
});
