import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { COMMANDS } from "../commands.ts";
import { manualPage } from "../manual.ts";
import { binary } from "../scripts/build.ts";
import { SETTINGS } from "../settings.ts";
import { cleanEnv, withFolder } from "./support.ts";

function isInstalled(program: string): boolean {
  return spawnSync(program, ["-V"], { stdio: "ignore" }).error === undefined;
}

test("the manual page names every command, action, flag and variable", () => {
  const page = manualPage().replaceAll("\\-", "-");
  for (const { name, actions = [], flags = [] } of COMMANDS) {
    assertStringIncludes(page, `.B octavo ${name}`);
    for (const action of actions) assertStringIncludes(page, `.B ${action.name}`);
    for (const { flag } of flags) assertStringIncludes(page, `.B --${flag}`);
  }
  for (const { flag, variable } of SETTINGS) {
    if (flag !== undefined) assertStringIncludes(page, `.B --${flag}`);
    if (variable !== undefined) assertStringIncludes(page, `.B ${variable}`);
  }
});

test("no line of the manual page is a request that it should not be", () => {
  const requests = new Set([".TH", ".SH", ".TP", ".B", ".BR", ".br", ".RS", ".RE", ".IP", ".nf", ".fi", ".nh", ".ad"]);
  for (const line of manualPage().split("\n").filter((line) => /^[.']/.test(line))) {
    assert(requests.has(line.split(" ")[0]!), line);
  }
});

test("mandoc finds nothing wrong with the manual page", { skip: !isInstalled("mandoc") }, () => {
  const { stdout } = spawnSync("mandoc", ["-Tlint", "-Wwarning"], { input: manualPage(), encoding: "utf8" });
  // a page that is the same whenever it is made has no date
  assertEquals(stdout.split("\n").filter((line) => line !== "" && !line.includes("missing date")), []);
});

test("git octavo --help opens the manual page", { skip: !isInstalled("man"), timeout: 60_000 }, async () => {
  const program = await binary();
  await withFolder((home) => {
    const pages = join(home, "share/man/man1");
    mkdirSync(pages, { recursive: true });
    mkdirSync(join(home, "bin"));
    symlinkSync(program, join(home, "bin/git-octavo"));
    const env = cleanEnv(home, { MANPATH: join(home, "share/man"), MANPAGER: "cat", LANG: "C.UTF-8" });
    env.PATH = `${join(home, "bin")}:${env.PATH}`;
    writeFileSync(join(pages, "git-octavo.1"), execFileSync("git", ["octavo", "help", "--man"], { env, cwd: home }));
    const page = execFileSync("git", ["octavo", "--help"], { env, cwd: home, encoding: "utf8" });
    assertStringIncludes(page, "octavo, git-octavo - review a change");
    assertStringIncludes(page, "--fail-on bug|risk|nit");
  });
});
