import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { execFileSync, spawnSync } from "node:child_process";
import {
  appendFileSync,
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { GitError, OctavoError, RepositoryError, UsageError } from "../errors.ts";
import {
  branchPatch,
  commitPatch,
  countUntracked,
  findBase,
  type GitPatch,
  hasStaged,
  readBlob,
  remotes,
  stagedPatch,
  treePatch,
} from "../git.ts";
import { allowMinutes, cleanEnv, commitAll, git, makeRepository, withFolder, write } from "./support.ts";
import { hashOf, open, outline, snapshot, textOf } from "./support_git.ts";

await allowMinutes();

const LINES = Array.from({ length: 60 }, (_, index) => index % 7 === 0 ? "" : `  line ${index}`);

/** Some lines with a heading, and some of them changed. */
function lines(...changed: number[]): string {
  return `heading\n${LINES.map((line, index) => changed.includes(index) ? `changed ${index}` : line).join("\n")}\n`;
}

/** A repository in which every source has something to show, and whose attributes name filters and drivers. */
function makeSubject(dir: string): void {
  makeRepository(join(dir, "../module"), { "in.ts": "1\n" });
  makeRepository(dir, {
    "a.ts": lines(),
    "b.md": lines(),
    "ä.ts": lines(),
    "z/moved.ts": lines(3),
    "abc.ts": "1\n",
    "plain": "1\n",
  });
  git(dir, "submodule", "--quiet", "add", join(dir, "../module"), "sub");
  write(dir, {
    ".gitattributes":
      '*.ts filter=evil diff=evil merge=evil\n*.md filter=a=b.c diff=a=b.c\n"*.x" diff=cpp filter=inc\n',
    "sub.gen": "1\n",
  });
  commitAll(dir, "attributes");
  git(dir, "remote", "add", "origin", join(dir, "../module"));
  git(dir, "checkout", "-q", "-b", "topic");
  write(dir, { "a.ts": lines(5, 20), "ä.ts": lines(40), "plain": "2\n" });
  git(dir, "mv", "z/moved.ts", "moved.ts");
  write(join(dir, "sub"), { "in.ts": "2\n" });
  commitAll(join(dir, "sub"), "module");
  commitAll(dir, "topic");
  write(dir, { "a.ts": lines(5, 20, 50), "b.md": lines(8), "c.x": lines() });
  git(dir, "add", "a.ts", "c.x");
  write(dir, {
    "a.ts": lines(50),
    "c.x": lines(9),
    "abc.ts": "2\n",
    "new.ts": lines(),
    "new.md": "1\n",
    "new.x": "1\n",
  });
  write(join(dir, "sub"), { "in.ts": "dirty\n" });
  utimesSync(join(dir, "plain"), 1, 1); // as it was, at another time: git writes the index anew
}

/** Everything that the sources and the other functions give, as text. */
async function everything(dir: string, env: Record<string, string> = {}): Promise<string> {
  const repository = await open(join(dir, "z/.."), env);
  const patches: [string, GitPatch | Promise<GitPatch>][] = [
    ["tree", treePatch(repository)],
    ["tree --untracked", treePatch(repository, { untracked: true })],
    ["staged", stagedPatch(repository)],
    ["branch", branchPatch(repository)],
    ["commit", commitPatch(repository)],
    ["first commit", commitPatch(repository, { rev: "HEAD~2" })],
    ["range", commitPatch(repository, { rev: "main..topic" })],
  ];
  const report: unknown[] = [
    (await findBase(repository))?.name,
    await remotes(repository),
    await readBlob(repository, "main", "b.md", 10_000),
    await hasStaged(repository),
    await countUntracked(repository),
  ];
  let text = "";
  for (const [name, promise] of patches) {
    const { chunks: _, attributes, hidden, ...about } = await promise;
    report.push(about, [...await attributes], [...await hidden]);
    text += `=== ${name}\n${await textOf(promise)}`;
  }
  return JSON.stringify(report, undefined, 1) + text;
}

/** Sets keys of a configuration file (git-config(1), "Syntax"). */
function configure(file: string, settings: Record<string, string>): void {
  const quoted = (text: string) => `"${text.replace(/["\\]/g, "\\$&")}"`;
  for (const [key, value] of Object.entries(settings)) {
    const [, section, subsection, name] = /^([^.]+)(?:\.(.*))?\.([^.]+)$/.exec(key) ?? [];
    const header = subsection === undefined ? section : `${section} ${quoted(subsection)}`;
    appendFileSync(file, `[${header}]\n\t${name} = ${quoted(value)}\n`);
  }
}

/** A command that leaves a file behind; it passes its input on, as a filter has to. */
type Trap = (name: string) => string;

/** Settings, each of which names a program that git would run somewhere. */
function programs(trap: Trap): Record<string, string> {
  return {
    "core.fsmonitor": trap("fsmonitor"),
    "core.pager": trap("pager"),
    "pager.diff": trap("pager-diff"),
    "core.editor": trap("editor"),
    "core.askPass": trap("askpass"),
    "core.sshCommand": trap("ssh"),
    "core.gitProxy": trap("proxy"),
    "core.alternateRefsCommand": trap("alternate-refs"),
    "credential.helper": `!${trap("credential")}`,
    "gpg.program": trap("gpg"),
    "log.showSignature": "true",
    "interactive.diffFilter": trap("diff-filter"),
    "alias.diff": `!${trap("alias")}`,
    "alias.rev-parse": `!${trap("alias")}`,
    "diff.external": trap("external"),
    "uploadpack.packObjectsHook": trap("pack-objects"),
    "protocol.ext.allow": "always",
    "remote.origin.promisor": "true",
    "remote.origin.partialclonefilter": "blob:none",
    "remote.origin.uploadpack": trap("uploadpack"),
    "remote.origin.vcs": "ext",
    ...drivers("evil", trap),
    ...drivers("a=b.c", trap),
  };
}

function drivers(name: string, trap: Trap): Record<string, string> {
  return {
    [`diff.${name}.command`]: trap("driver"),
    [`diff.${name}.textconv`]: trap("textconv"),
    [`diff.${name}.cachetextconv`]: "true",
    [`merge.${name}.driver`]: trap("merge"),
    [`filter.${name}.clean`]: trap("clean"),
    [`filter.${name}.smudge`]: trap("smudge"),
    [`filter.${name}.process`]: trap("process"),
    [`filter.${name}.required`]: "true",
  };
}

/** The ten that facts are known of first, then what else changes a patch. */
const OUTPUT_SETTINGS: Record<string, string> = {
  "diff.noprefix": "true",
  "diff.mnemonicPrefix": "true",
  "color.ui": "always",
  "diff.context": "0",
  "diff.relative": "true",
  "diff.renames": "false",
  "diff.orderFile": "order",
  "core.abbrev": "4",
  "diff.suppressBlankEmpty": "true",
  "core.quotePath": "false",
  "color.diff": "always",
  "diff.algorithm": "minimal",
  "diff.autoRefreshIndex": "true",
  "diff.colorMoved": "zebra",
  "diff.ignoreSubmodules": "all",
  "diff.indentHeuristic": "false",
  "diff.interHunkContext": "50",
  "diff.renameLimit": "1",
  "diff.srcPrefix": "x/",
  "diff.dstPrefix": "y/",
  "diff.submodule": "diff",
  "diff.wsErrorHighlight": "all",
  "submodule.sub.ignore": "all",
  "core.attributesFile": ".hidden",
  "core.bigFileThreshold": "1",
  "core.splitIndex": "true",
  "core.untrackedCache": "true",
  "core.notesRef": "refs/heads/main",
  "i18n.logOutputEncoding": "UTF-16",
  "index.sparse": "true",
  "diff.evil.binary": "true",
  "diff.evil.xfuncname": "^.*(line [0-9]+).*$",
  "diff.a=b.c.funcname": "^  \\(.*\\)",
  "diff.a=b.c.binary": "true",
};

/** Runs something with a trap; fails if the trap was sprung. */
async function withTrap(use: (dir: string, trap: Trap, sprung: () => string[]) => Promise<void>): Promise<void> {
  await withFolder(async (parent) => {
    const sprungDir = join(parent, "sprung");
    mkdirSync(sprungDir);
    const sprung = () => readdirSync(sprungDir);
    await use(join(parent, "repo"), (name) => `touch '${join(sprungDir, name)}'; cat; :`, sprung);
    assertEquals(sprung(), []);
  });
}

/** Sets every trap there is in a repository. */
function makeHostile(dir: string, trap: Trap): void {
  configure(join(dir, ".git/config"), { ...programs(trap), ...OUTPUT_SETTINGS, "core.hooksPath": ".hooks" });
  configure(join(dir, ".git/config"), { "include.path": "more", "extensions.worktreeConfig": "true" });
  configure(join(dir, ".git/more"), drivers("inc", trap));
  configure(join(dir, ".git/config.worktree"), { "filter.evil.clean": trap("worktree-clean") });
  configure(join(dir, ".git/modules/sub/config"), programs(trap));
  for (const hooks of [".git/hooks", ".hooks", ".git/modules/sub/hooks"]) {
    for (
      const name of ["post-index-change", "reference-transaction", "pre-auto-gc", "fsmonitor-watchman", "post-checkout"]
    ) {
      write(dir, { [`${hooks}/${name}`]: `#!/bin/sh\n${trap(`hook-${name}`)}\n` });
      chmodSync(join(dir, hooks, name), 0o755);
    }
  }
  write(dir, { order: "z\nb*\n", ".hidden": "* -diff\n", ".git/info/exclude": "order\n.h*\n" });
}

describe("a hostile configuration", () => {
  test("executes nothing, changes nothing in what any source shows, and nothing is written", async () => {
    await withTrap(async (dir, trap) => {
      makeSubject(dir);
      const clean = await everything(dir);
      for (const path of ["a.ts", "b.md", "c.x", "moved.ts", "new.md", "Subproject commit", "\\303\\244.ts"]) {
        assertStringIncludes(clean, path);
      }
      makeHostile(dir, trap);
      utimesSync(join(dir, "plain"), 2, 2);
      const before = snapshot(dir);
      assertEquals(await everything(dir), clean);
      assertEquals(snapshot(dir), before);
    });
  });

  test("would be executed by git itself: the test above can fail", async () => {
    await withFolder((parent) => {
      const [dir, sprung] = [join(parent, "repo"), join(parent, "sprung")];
      makeSubject(dir);
      const file = join(dir, ".git/config");
      const config = readFileSync(file);
      const all = programs((name) => `touch '${sprung}' # ${name}`);
      const keys = ["core.fsmonitor", "diff.external", "diff.evil.command", "diff.evil.textconv", "filter.evil.clean"];
      for (const key of [...keys, "filter.evil.process"]) {
        configure(file, { [key]: all[key] ?? "" });
        spawnSync("git", ["diff", "HEAD"], { cwd: dir, env: cleanEnv(parent), input: "" });
        assert(existsSync(sprung), key);
        rmSync(sprung);
        writeFileSync(file, config);
      }
      write(dir, { ".git/hooks/post-index-change": `#!/bin/sh\ntouch '${sprung}'\n` });
      utimesSync(join(dir, "plain"), 2, 2);
      chmodSync(join(dir, ".git/hooks/post-index-change"), 0o755);
      spawnSync("git", ["diff", "HEAD"], { cwd: dir, env: cleanEnv(parent) });
      assert(existsSync(sprung), "post-index-change");
    });
  });

  test("changes nothing in a patch, whichever key that changes git's output is set", async () => {
    await withFolder(async (parent) => {
      const dir = join(parent, "repo");
      makeSubject(dir);
      write(dir, { order: "z\nb*\n", ".hidden": "* -diff\n", ".git/info/exclude": "order\n.h*\n" });
      const show = async () => await textOf(treePatch(await open(join(dir, "z/..")), { untracked: true }));
      const clean = await show();
      const file = join(dir, ".git/config");
      const config = readFileSync(file);
      for (const [key, value] of Object.entries(OUTPUT_SETTINGS)) {
        configure(file, { [key]: value });
        assertEquals(await show(), clean, `${key}=${value}`);
        writeFileSync(file, config);
      }
    });
  });

  test("a filter whose name cannot be passed on is refused, not run", async () => {
    await withTrap(async (dir, trap) => {
      makeRepository(dir, { "a.ts": "1\n" });
      appendFileSync(
        join(dir, ".git/config"),
        Buffer.from(`[filter "\xff"]\n\tclean = "${trap("clean")}"\n`, "latin1"),
      );
      writeFileSync(join(dir, ".gitattributes"), Buffer.from("*.ts filter=\xff\n", "latin1"));
      write(dir, { "a.ts": "2\n" });
      const error = await assertRejects(() => open(dir), RepositoryError);
      assertStringIncludes(error.message, "cannot switch off");
    });
  });

  test("a broken configuration is an error that says where", async () => {
    await withFolder(async (dir) => {
      makeRepository(dir, { "a.ts": "1\n" });
      appendFileSync(join(dir, ".git/config"), "[broken\n");
      const error = await assertRejects(() => open(dir), OctavoError);
      assertStringIncludes(error.message, "bad config line");
    });
  });
});

describe("a hostile environment", () => {
  test("of git is not passed on; a user's own configuration is, without its filters", async () => {
    await withTrap(async (dir, trap) => {
      makeSubject(dir);
      const clean = await everything(dir);
      const trace = join(dir, "../trace");
      const env = {
        GIT_EXTERNAL_DIFF: trap("external"),
        GIT_DIFF_OPTS: "-u0",
        GIT_PAGER: trap("pager"),
        GIT_SSH_COMMAND: trap("ssh"),
        GIT_ASKPASS: trap("askpass"),
        GIT_EDITOR: trap("editor"),
        GIT_TRACE: trace,
        GIT_TRACE2_EVENT: trace,
        GIT_TRACE_SETUP: trace,
        GIT_GLOB_PATHSPECS: "1",
        GIT_ICASE_PATHSPECS: "1",
        GIT_CONFIG: "/dev/null",
        GIT_CONFIG_COUNT: "2",
        GIT_CONFIG_KEY_0: "filter.evil.clean",
        GIT_CONFIG_VALUE_0: trap("clean"),
        GIT_CONFIG_KEY_1: "diff.noprefix",
        GIT_CONFIG_VALUE_1: "true",
      };
      configure(join(dir, ".git/config"), drivers("evil", trap));
      assertEquals(await everything(dir, env), clean);
      assert(!existsSync(trace));
    });
  });
});

describe("a partial clone", () => {
  test("is not filled from its remote, whatever that names", async () => {
    await withTrap(async (dir, trap) => {
      const origin = join(dir, "../origin");
      makeRepository(origin, { "a.ts": "1\n" });
      git(origin, "config", "uploadpack.allowFilter", "true");
      write(origin, { "a.ts": "2\n" });
      commitAll(origin, "second");
      git(origin, "clone", "-q", "--filter=blob:none", `file://${origin}`, dir);
      const remotesOfTrap = {
        ext: { "remote.origin.url": `ext::sh -c ${trap("ext").replaceAll(" ", "% ")}`, "protocol.ext.allow": "always" },
        ssh: { "remote.origin.url": "ssh://example.org/x", "core.sshCommand": trap("ssh") },
        file: {
          "remote.origin.url": origin,
          "remote.origin.uploadpack": trap("uploadpack"),
          "protocol.allow": "always",
        },
      };
      for (const [name, settings] of Object.entries(remotesOfTrap)) {
        const clone = join(dir, `../${name}`);
        cpSync(dir, clone, { recursive: true });
        git(clone, "config", "--unset-all", "remote.origin.url");
        configure(join(clone, ".git/config"), settings);
        const before = snapshot(clone);
        const error = await assertRejects(
          async () => textOf(commitPatch(await open(clone))),
          GitError,
          "git diff failed",
        );
        assertStringIncludes(error.hint ?? "", "octavo never fetches");
        assertEquals(snapshot(clone), before);
      }
    });
  });
});

describe("files from outside", () => {
  test("core.worktree cannot make a repository show another folder", async () => {
    await withFolder(async (parent) => {
      const [dir, home] = [join(parent, "repo"), join(parent, "home")];
      makeRepository(dir, { "key": "public\n" });
      makeRepository(join(dir, "decoy"), { "key": "other\n" });
      write(home, { key: "PRIVATE\n" });
      write(join(parent, "pipe"), { key: "PRIVATE\n" });
      execFileSync("mkfifo", [join(parent, "pipe/.git")]);
      makeRepository(join(parent, "other"), { key: "PRIVATE\n" });
      symlinkSync(home, join(dir, "link"));
      for (
        const folder of [home, "../../home", join(parent, "pipe"), join(parent, "other"), "../link", "../decoy", "."]
      ) {
        git(dir, "config", "core.worktree", folder);
        const error = await assertRejects(() => open(dir), RepositoryError);
        assert(error.message.startsWith("This repository says that its files are in"), error.message);
        assertEquals(error.exitCode, 2);
      }
      git(dir, "config", "core.worktree", dir);
      assertEquals((await open(dir)).root, dir);
      const named = await open(dir, { GIT_WORK_TREE: dir });
      assertEquals(named.root, dir);
    });
  });

  test("symbolic links are shown as links, tracked or not", async () => {
    await withFolder(async (parent) => {
      const dir = join(parent, "repo");
      makeRepository(dir, { "a.ts": "1\n", "folder/in.ts": "1\n" });
      write(parent, { "outside/secret.ts": "SECRET\n", "outside/in.ts": "SECRET\n" });
      for (const path of ["a.ts", "folder"]) rmSync(join(dir, path), { recursive: true });
      symlinkSync("../outside/secret.ts", join(dir, "a.ts"));
      symlinkSync("../outside", join(dir, "folder"));
      symlinkSync("../outside", join(dir, "new"));
      const text = await textOf(treePatch(await open(dir), { untracked: true }));
      assertStringIncludes(text, "+../outside/secret.ts\n");
      assert(!text.includes("SECRET"));
    });
  });

  test("a bare repository that is committed in a subfolder is refused, and nothing of it is run", async () => {
    await withTrap(async (dir, trap) => {
      makeRepository(dir, { "a.ts": "1\n" });
      const inner = join(dir, "docs");
      git(dir, "clone", "-q", "--bare", dir, "docs");
      commitAll(dir, "a bare repository");
      configure(join(inner, "config"), { ...programs(trap), "core.worktree": dir });
      git(inner, "config", "--file", "config", "core.bare", "false");
      const error = await assertRejects(() => open(inner), RepositoryError);
      assertStringIncludes(error.message, "bare repository");
      mkdirSync(join(inner, "objects/deep"));
      await assertRejects(() => open(join(inner, "objects/deep")), RepositoryError);
    });
  });
});

describe("names that look like options", () => {
  test("a revision that looks like an option is refused clearly, and no option is taken", async () => {
    await withFolder(async (parent) => {
      const dir = join(parent, "repo");
      makeRepository(dir, { "a.ts": "1\n", "-- a.txt": "1\n" });
      write(dir, { "a.ts": "2\n", "-- a.txt": "2\n", "--output=y": "2\n" });
      const repository = await open(dir);
      const before = snapshot(dir);
      for (const rev of ["--output=f", "-Of", "--no-index", "--help", "-", "--", "-- a.txt", "--output=f..HEAD"]) {
        for (const patch of [commitPatch(repository, { rev }), branchPatch(repository, { base: rev })]) {
          const error = await assertRejects(() => patch, UsageError);
          assertStringIncludes(error.message, "is no revision");
        }
      }
      await assertRejects(() => commitPatch(repository, { rev: "HEAD..--output=f" }), UsageError, "is no revision");
      assertEquals(await outline(treePatch(repository, { untracked: true, paths: ["-- a.txt", "--output=y"] })), [
        "modified -- a.txt +1 -1",
        "added --output=y +1 -0",
      ]);
      assertEquals(snapshot(dir), before);
    });
  });

  test("branches, remotes and tags that look like options are names", async () => {
    await withFolder(async (parent) => {
      const dir = join(parent, "repo");
      makeRepository(dir, { "a.ts": "1\n" });
      const first = hashOf(dir);
      write(dir, { "a.ts": "2\n" });
      commitAll(dir, "second");
      for (const ref of ["refs/heads/--output=x", "refs/remotes/origin/--output=y", "refs/tags/--output=z"]) {
        git(dir, "update-ref", ref, first);
      }
      git(dir, "symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/--output=y");
      const before = snapshot(dir);
      const repository = await open(dir);
      const patch = await branchPatch(repository);
      assertEquals(patch.title, "main against origin/--output=y");
      assertEquals(await outline(patch), ["modified a.ts +1 -1"]);
      const range = await commitPatch(repository, { rev: "refs/heads/--output=x..refs/heads/main" });
      assertEquals(await outline(range), ["modified a.ts +1 -1"]);
      assertEquals(await outline(commitPatch(repository, { rev: "refs/tags/--output=z" })), ["added a.ts +1 -0"]);
      assertEquals(snapshot(dir), before);
      git(dir, "symbolic-ref", "HEAD", "refs/heads/--output=x");
      assertEquals((await treePatch(repository)).title, "working tree of repo (--output=x)");
      assertEquals(await outline(treePatch(repository)), ["modified a.ts +1 -1"]);
      assertEquals(await outline(branchPatch(repository, { base: "main" })), []);
    });
  });
});
