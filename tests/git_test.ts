import { assert, assertEquals, assertMatch, assertRejects, assertStringIncludes } from "@std/assert";
import {
  chmodSync,
  chownSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { describe, test } from "node:test";
import { GitError, RepositoryError, UsageError } from "../errors.ts";
import {
  branchPatch,
  commitPatch,
  countUntracked,
  findBase,
  hasStaged,
  openRepository,
  rangePatch,
  readBlob,
  remotes,
  stagedPatch,
  treePatch,
} from "../git.ts";
import { allowMinutes, cleanEnv, commitAll, git, makeRepository, withFolder, write } from "./support.ts";
import { filesOf, gitInput, hashOf, open, outline, snapshot, textOf } from "./support_git.ts";

await allowMinutes();

/** A repository with one commit in a temporary folder. */
function withRepository(
  files: Record<string, string | Uint8Array>,
  use: (dir: string) => Promise<void>,
): () => Promise<void> {
  return () =>
    withFolder(async (parent) => {
      const dir = join(parent, "repo");
      makeRepository(dir, files);
      await use(dir);
    });
}

const LINES = "one\ntwo\nthree\nfour\nfive\nsix\n";

describe("openRepository()", () => {
  test(
    "openRepository() finds the root from a subfolder",
    withRepository({ "a/b/c.ts": "1\n" }, async (dir) => {
      const { root, gitDir, name, bare, shallow } = await open(join(dir, "a/b"));
      assertEquals({ root, gitDir, name, bare, shallow }, {
        root: dir,
        gitDir: join(dir, ".git"),
        name: "repo",
        bare: false,
        shallow: false,
      });
    }),
  );

  test("openRepository() says that a folder is in no repository", async () => {
    await withFolder(async (dir) => {
      const error = await assertRejects(() => open(dir), RepositoryError);
      assertEquals([error.message, error.exitCode], [`"${dir}" is in no git repository`, 2]);
      assertStringIncludes(error.hint ?? "", "-C DIR");
    });
  });

  test("openRepository() says that a folder does not exist", async () => {
    const error = await assertRejects(() => open("/no/such/folder"), RepositoryError);
    assertEquals(error.message, 'The folder "/no/such/folder" does not exist');
  });

  test(
    "openRepository() says that git is not installed",
    withRepository({ a: "" }, async (dir) => {
      const error = await assertRejects(() => openRepository(dir, { PATH: dir }), RepositoryError);
      assertEquals(error.message, 'The program "git" was not found');
    }),
  );

  test(
    "openRepository() opens a repository whose folder has a line end and quotes in its name",
    () =>
      withFolder(async (parent) => {
        const dir = join(parent, 'a\n"b"\n');
        makeRepository(dir, { "x.ts": "1\n" });
        write(dir, { "x.ts": "2\n" });
        const repository = await open(dir);
        assertEquals([repository.root, repository.gitDir], [dir, join(dir, ".git")]);
        const patch = await treePatch(repository);
        assert(!/[\n\r]/.test(patch.title));
        assertEquals(await outline(patch), ["modified x.ts +1 -1"]);
      }),
  );

  test(
    "openRepository() opens a linked working tree and a submodule, each with its own git folder",
    withRepository({ "a.ts": "1\n" }, async (dir) => {
      const linked = join(dir, "../linked");
      git(dir, "worktree", "add", "-q", "-b", "other", linked);
      git(dir, "submodule", "--quiet", "add", dir, "sub");
      for (
        const [root, gitDir] of [[linked, ".git/worktrees/linked"], [join(dir, "sub"), ".git/modules/sub"]] as const
      ) {
        write(root, { "a.ts": "2\n" });
        const repository = await open(root);
        assertEquals([repository.root, repository.gitDir], [root, join(dir, gitDir)]);
        assertEquals(await outline(treePatch(repository)), ["modified a.ts +1 -1"]);
      }
    }),
  );

  test(
    "openRepository() takes the working tree that GIT_DIR and GIT_WORK_TREE name, as git does",
    withRepository({ "a.ts": "1\n" }, async (dir) => {
      renameSync(join(dir, ".git"), join(dir, "../dotfiles"));
      write(dir, { "a.ts": "2\n" });
      const repository = await open(dir, { GIT_DIR: "../dotfiles", GIT_WORK_TREE: "." });
      assertEquals([repository.root, repository.gitDir], [dir, join(dir, "../dotfiles")]);
      assertEquals(await outline(treePatch(repository)), ["modified a.ts +1 -1"]);
    }),
  );

  test(
    "openRepository() shows git's own reason and remedy for a repository of somebody else",
    withRepository({ a: "" }, async (dir) => {
      if (process.getuid?.() !== 0) return; // only root can give a folder away
      for (const path of [dir, join(dir, ".git")]) chownSync(path, 65534, 65534);
      const error = await assertRejects(() => open(dir), RepositoryError);
      assertStringIncludes(error.message, "detected dubious ownership in repository at");
      assertStringIncludes(error.hint ?? "", `git config --global --add safe.directory ${dir}`);
    }),
  );

  test(
    "a bare repository that GIT_DIR names has commits to review, and no working tree",
    withRepository({ "a.ts": "1\n" }, async (dir) => {
      const bare = join(dir, "../bare.git");
      git(dir, "clone", "-q", "--bare", dir, bare);
      const repository = await open(dir, { GIT_DIR: bare });
      assertEquals([repository.bare, repository.name, repository.root], [true, "bare", bare]);
      assertEquals(await outline(commitPatch(repository)), ["added a.ts +1 -0"]);
      for (const patch of [treePatch, stagedPatch]) {
        const error = await assertRejects(() => patch(repository), RepositoryError);
        assertStringIncludes(error.message, "there is no working tree");
      }
    }),
  );

  test(
    "openRepository() does not go into a bare repository by itself, or inside of .git",
    withRepository({ "a.ts": "1\n" }, async (dir) => {
      git(dir, "clone", "-q", "--bare", dir, "bare.git");
      const error = await assertRejects(() => open(join(dir, "bare.git")), RepositoryError);
      assertStringIncludes(error.message, "is a bare repository");
      assertStringIncludes(error.hint ?? "", `GIT_DIR=${join(dir, "bare.git")}`);
      const inside = await assertRejects(() => open(join(dir, ".git")), RepositoryError);
      assertStringIncludes(inside.hint ?? "", dir);
    }),
  );
});

describe("treePatch()", () => {
  test(
    "treePatch() has staged and unstaged changes of the whole repository, also from a subfolder",
    withRepository({ "a.ts": "1\n", "sub/b.ts": "1\n", "sub/c.ts": "1\n" }, async (dir) => {
      write(dir, { "a.ts": "2\n", "sub/b.ts": "2\n" });
      git(dir, "add", "a.ts");
      rmSync(join(dir, "sub/c.ts"));
      const patch = await treePatch(await open(join(dir, "sub")));
      assertEquals(await outline(patch), ["modified a.ts +1 -1", "modified sub/b.ts +1 -1", "deleted sub/c.ts +0 -1"]);
      assertEquals([patch.title, patch.base, patch.head], ["working tree of repo (main)", hashOf(dir), undefined]);
      assertEquals(patch.description, `the working tree against HEAD (${hashOf(dir).slice(0, 10)})`);
      assertEquals(patch.notices, []);
    }),
  );

  test(
    "treePatch() is what git prints itself, for plain files",
    withRepository({ "a.ts": LINES, "b.ts": LINES }, async (dir) => {
      write(dir, { "a.ts": LINES.replace("three", "3"), "b.ts": `${LINES}seven` });
      assertEquals(await textOf(treePatch(await open(dir))), git(dir, "diff", "--full-index", "HEAD"));
    }),
  );

  test(
    "treePatch() limits itself to paths, which are no patterns",
    withRepository({ "a.ts": "1\n", "[ab].ts": "1\n", "-- a.txt": "1\n", ":(top)x": "1\n" }, async (dir) => {
      write(dir, { "a.ts": "2\n", "[ab].ts": "2\n", "-- a.txt": "2\n", ":(top)x": "2\n", "new [ab].ts": "" });
      const paths = ["[ab].ts", "-- a.txt", ":(top)x"];
      const patch = await treePatch(await open(dir), { paths });
      assertEquals((await filesOf(patch)).map(({ path }) => path).sort(), paths.toSorted());
      assertEquals(patch.notices, []);
    }),
  );

  test(
    "treePatch() says how many untracked files are not in it",
    withRepository({ ".gitignore": "ignored\n" }, async (dir) => {
      const repository = await open(dir);
      write(dir, { "new.ts": "1\n", "ignored": "" });
      const { notices } = await treePatch(repository);
      assertEquals(notices, ["1 untracked file is not in it; --untracked takes them in"]);
      write(dir, { "sub/newer.ts": "1\n" });
      const patch = await treePatch(repository);
      assertEquals(patch.notices, ["2 untracked files are not in it; --untracked takes them in"]);
      assertEquals([await textOf(patch), await countUntracked(repository)], ["", 2]);
    }),
  );

  test(
    "treePatch() takes in untracked files of every kind without touching the repository",
    withRepository({ "a.ts": "1\n", "was-file": "was a file\n", "moved.ts": LINES }, async (dir) => {
      write(dir, {
        "-- a.txt": "1\n",
        "a\nb": "1\n",
        "bin": new Uint8Array([1, 0, 2]),
        "empty": "",
        'quote"d ä': "1\n",
        "large.txt": "line\n".repeat(100_000),
        "run.sh": "1\n",
        "a.ts": "2\n",
      });
      chmodSync(join(dir, "run.sh"), 0o755);
      symlinkSync("/etc/passwd", join(dir, "link"));
      rmSync(join(dir, "was-file"));
      write(dir, { "was-file/in": "1\n" });
      renameSync(join(dir, "moved.ts"), join(dir, "to.ts"));
      makeRepository(join(dir, "nested"), { "secret.ts": "1\n" });
      const before = snapshot(dir);
      const patch = await treePatch(await open(dir), { untracked: true });
      assertEquals(patch.notices, ["1 folder is not in it that are repositories of their own"]);
      const files = await filesOf(patch);
      assertEquals(
        files.map(({ status, path, binary, newMode }) => `${status} ${path} ${binary ? "binary" : newMode ?? ""}`)
          .sort(),
        [
          "added -- a.txt 100644",
          "added a\nb 100644",
          "added bin binary",
          "added empty 100644",
          "added large.txt 100644",
          "added link 120000",
          'added quote"d ä 100644',
          "added run.sh 100755",
          "added was-file/in 100644",
          "deleted was-file ",
          "modified a.ts 100644",
          "renamed to.ts ",
        ],
      );
      assertStringIncludes(files.find(({ path }) => path === "link")?.text ?? "", "+/etc/passwd\n\\ No newline");
      assertEquals(snapshot(dir), before);
    }),
  );

  test(
    "treePatch() with untracked files sees a change of the same second as the index",
    withRepository({ "a.ts": "1\n" }, async (dir) => {
      // A file of the same size and time as in the index: only the time of the index itself tells git to read it.
      const time = new Date(Math.floor(Date.now() / 1000) * 1000 - 10_000);
      utimesSync(join(dir, "a.ts"), time, time);
      git(dir, "add", "a.ts");
      git(dir, "update-index", "--refresh");
      utimesSync(join(dir, ".git/index"), time, time);
      write(dir, { "a.ts": "2\n", "new.ts": "1\n" });
      utimesSync(join(dir, "a.ts"), time, time);
      const patch = await treePatch(await open(dir, { GIT_TEST_CTIME: "" }), { untracked: true });
      assertEquals(await outline(patch), ["modified a.ts +1 -1", "added new.ts +1 -0"]);
    }),
  );

  test(
    "treePatch() with untracked files takes in nothing if there are none",
    withRepository({ "a.ts": "1\n" }, async (dir) => {
      write(dir, { "a.ts": "2\n" });
      assertEquals(await outline(treePatch(await open(dir), { untracked: true })), ["modified a.ts +1 -1"]);
    }),
  );

  test("treePatch() is what is staged, before the first commit, or everything with untracked files", async () => {
    await withFolder(async (dir) => {
      git(dir, "init", "-q");
      const empty = await treePatch(await open(dir));
      assertEquals([await textOf(empty), empty.notices.length], ["", 1]);
      write(dir, { "staged.ts": "1\n", "new.ts": "1\n" });
      git(dir, "add", "staged.ts");
      write(dir, { "staged.ts": "2\n3\n" });
      const patch = await treePatch(await open(dir));
      assertEquals(await outline(patch), ["added staged.ts +1 -0"]);
      assertEquals(patch.notices, [
        "There are no commits yet: only what is staged is in it",
        "1 untracked file is not in it; --untracked takes them in",
      ]);
      const everything = await treePatch(await open(dir), { untracked: true });
      assertEquals(await outline(everything), ["added new.ts +1 -0", "added staged.ts +2 -0"]);
      assertEquals(everything.notices, []);
    });
  });

  test(
    "treePatch() names the commit where HEAD is detached",
    withRepository({ "a.ts": "1\n" }, async (dir) => {
      git(dir, "checkout", "-q", "--detach");
      const { title } = await treePatch(await open(dir));
      assertEquals(title, `working tree of repo (detached at ${hashOf(dir).slice(0, 10)})`);
    }),
  );

  test(
    "treePatch() fails where the last commit is missing, instead of showing every file as new",
    withRepository({ "a.ts": "1\n" }, async (dir) => {
      const hash = hashOf(dir);
      rmSync(join(dir, ".git/objects", hash.slice(0, 2), hash.slice(2)));
      const error = await assertRejects(async () => treePatch(await open(dir)), GitError);
      assertEquals(error.exitCode, 3);
    }),
  );

  test(
    "treePatch() shows a merge conflict as the working tree has it; the index has nothing to show",
    withRepository({ "a.ts": "1\n" }, async (dir) => {
      git(dir, "checkout", "-q", "-b", "other");
      write(dir, { "a.ts": "2\n" });
      commitAll(dir, "other");
      git(dir, "checkout", "-q", "main");
      write(dir, { "a.ts": "3\n" });
      commitAll(dir, "main");
      await assertRejects(async () => await Promise.resolve(git(dir, "merge", "other")));
      const repository = await open(dir);
      assertStringIncludes(await textOf(treePatch(repository)), "+<<<<<<< HEAD\n");
      const staged = await stagedPatch(repository);
      assertEquals(staged.notices, ["1 file is not in it because of merge conflicts"]);
      assertEquals(await filesOf(staged), []);
    }),
  );

  test(
    "treePatch() shows that a submodule has moved, and nothing of what is changed inside",
    withRepository({ "a.ts": "1\n" }, async (dir) => {
      git(dir, "submodule", "--quiet", "add", dir, "sub");
      commitAll(dir, "submodule");
      write(join(dir, "sub"), { "a.ts": "2\n", "new.ts": "" });
      assertEquals(await textOf(treePatch(await open(dir))), "");
      commitAll(join(dir, "sub"), "moved");
      assertMatch(await textOf(treePatch(await open(dir))), /-Subproject commit \w+\n\+Subproject commit \w+\n$/);
    }),
  );

  test(
    "treePatch() does not take the rest of a sparse checkout for deleted",
    withRepository({ "a/a.ts": "1\n", "b/b.ts": "1\n" }, async (dir) => {
      git(dir, "sparse-checkout", "set", "--cone", "--sparse-index", "a");
      write(dir, { "a/a.ts": "2\n", "a/new.ts": "1\n" });
      const repository = await open(dir);
      assertEquals(await outline(treePatch(repository)), ["modified a/a.ts +1 -1"]);
      assertEquals(await outline(treePatch(repository, { untracked: true })), [
        "modified a/a.ts +1 -1",
        "added a/new.ts +1 -0",
      ]);
    }),
  );

  test(
    "treePatch() reads the index that a hook of git commit -a names",
    withRepository({ "a.ts": "1\n", "sub/b.ts": "1\n" }, async (dir) => {
      writeFileSync(join(dir, ".git/next-index"), readFileSync(join(dir, ".git/index")));
      write(dir, { "a.ts": "2\n", "sub/b.ts": "2\n" });
      git(dir, "add", "a.ts");
      // The hook's index has no such change yet.
      const repository = await open(join(dir, "sub"), { GIT_INDEX_FILE: ".git/next-index" });
      assertEquals(await outline(stagedPatch(repository)), []);
      assertEquals(await outline(stagedPatch(await open(dir))), ["modified a.ts +1 -1"]);
      write(dir, { "new.ts": "1\n" });
      assertEquals((await filesOf(treePatch(repository, { untracked: true }))).length, 3);
    }),
  );
});

describe("stagedPatch()", () => {
  test(
    "stagedPatch() has what is staged and nothing else",
    withRepository({ "a.ts": "1\n", "b.ts": "1\n" }, async (dir) => {
      const repository = await open(dir);
      assertEquals(await hasStaged(repository), false);
      write(dir, { "a.ts": "2\n", "b.ts": "2\n" });
      assertEquals(await hasStaged(repository), false);
      git(dir, "add", "a.ts");
      write(dir, { "a.ts": "3\n" });
      const patch = await stagedPatch(repository);
      assertEquals([patch.title, patch.base], ["staged changes in repo (main)", hashOf(dir)]);
      assertStringIncludes(await textOf(patch), "-1\n+2\n");
      assertEquals(await hasStaged(repository), true);
    }),
  );
});

describe("branchPatch()", () => {
  test(
    "branchPatch() compares with where the branches parted, and says so",
    withRepository({ "a.ts": "1\n" }, async (dir) => {
      git(dir, "checkout", "-q", "-b", "fix/x");
      write(dir, { "b.ts": "1\n" });
      commitAll(dir, "b");
      write(dir, { "b.ts": "2\n" });
      commitAll(dir, "b again");
      git(dir, "checkout", "-q", "main");
      write(dir, { "a.ts": "2\n" });
      commitAll(dir, "a");
      git(dir, "checkout", "-q", "fix/x");
      write(dir, { "a.ts": "not committed\n" });
      const patch = await branchPatch(await open(dir));
      const base = hashOf(dir, "main~1");
      assertEquals(await outline(patch), ["added b.ts +1 -0"]);
      assertEquals([patch.title, patch.base, patch.head], ["fix/x against main", base, hashOf(dir)]);
      assertEquals(
        patch.description,
        `main...HEAD (${base.slice(0, 10)}..${hashOf(dir).slice(0, 10)}), 2 commits`,
      );
      assertEquals(
        await textOf(branchPatch(await open(dir), { base: "main~1" })),
        git(dir, "diff", "--full-index", "main...HEAD"),
      );
    }),
  );

  /** Name of the test, branches and remote branches there are, where origin/HEAD leads, the branch one is on, the base. */
  const bases: [string, string[], string | undefined, string, string | undefined][] = [
    ["prefers the remote's default", ["origin/trunk", "origin/main", "main"], "trunk", "x", "origin/trunk"],
    [
      "does not compare trunk with origin/trunk",
      ["origin/trunk", "origin/develop"],
      "trunk",
      "trunk",
      "origin/develop",
    ],
    ["goes on where the remote's default dangles", ["main"], "gone", "x", "main"],
    ["prefers origin/main to main", ["main", "origin/main"], undefined, "x", "origin/main"],
    ["prefers main to origin/master", ["main", "origin/master"], undefined, "x", "main"],
    ["does not compare main with origin/main", ["origin/main", "master"], undefined, "main", "master"],
    ["takes develop", ["develop", "origin/development"], undefined, "x", "develop"],
    ["takes origin/development", ["origin/development", "development"], undefined, "x", "origin/development"],
    ["takes development", ["development"], undefined, "x", "development"],
    ["compares a detached HEAD too", ["origin/main"], "main", "", "origin/main"],
    ["takes no branch that only begins like one", ["main/x", "maintenance"], undefined, "x", undefined],
    ["finds nothing on the only branch", [], undefined, "main", undefined],
  ];
  for (const [name, branches, remoteHead, current, expected] of bases) {
    test(
      `findBase() ${name}`,
      withRepository({ "a.ts": "1\n" }, async (dir) => {
        git(dir, "checkout", "-q", ...(current ? ["-B", current] : ["--detach"]));
        if (current !== "main") git(dir, "branch", "-D", "-q", "main");
        for (const branch of branches) {
          git(
            dir,
            "update-ref",
            branch.startsWith("origin/") ? `refs/remotes/${branch}` : `refs/heads/${branch}`,
            "HEAD",
          );
        }
        if (remoteHead) git(dir, "symbolic-ref", "refs/remotes/origin/HEAD", `refs/remotes/origin/${remoteHead}`);
        const repository = await open(dir);
        assertEquals((await findBase(repository))?.name, expected);
        if (expected) return assertStringIncludes((await branchPatch(repository)).title, ` against ${expected}`);
        const error = await assertRejects(() => branchPatch(repository), UsageError);
        assertStringIncludes(error.hint ?? "", "octavo branch BASE");
      }),
    );
  }

  test(
    "branchPatch() is not misled by a tag that is called like the base it found",
    withRepository({ "a.ts": "1\n" }, async (dir) => {
      git(dir, "checkout", "-q", "-b", "x");
      write(dir, { "b.ts": "1\n" });
      commitAll(dir, "b");
      git(dir, "tag", "main");
      assertEquals(await outline(branchPatch(await open(dir))), ["added b.ts +1 -0"]);
    }),
  );

  test(
    "branchPatch() says that two branches have nothing in common, and what to do",
    withRepository({ "a.ts": "1\n" }, async (dir) => {
      git(dir, "checkout", "-q", "--orphan", "other");
      commitAll(dir, "other");
      const error = await assertRejects(async () => branchPatch(await open(dir)), UsageError);
      assertEquals(error.message, '"main" and "HEAD" have no common commit here');
      assertStringIncludes(error.hint ?? "", "octavo commit main..HEAD");
    }),
  );

  test(
    "branchPatch() says that a base is unknown, and which branches there are",
    withRepository({ "a.ts": "1\n" }, async (dir) => {
      git(dir, "branch", "other");
      const error = await assertRejects(async () => branchPatch(await open(dir), { base: "mian" }), UsageError);
      assertEquals([error.message, error.hint], ['Unknown revision "mian"', "Branches here: main, other"]);
    }),
  );

  test("every command that needs a commit says that there is none yet", async () => {
    await withFolder(async (dir) => {
      git(dir, "init", "-q");
      const repository = await open(dir);
      for (const patch of [commitPatch(repository), branchPatch(repository)]) {
        const error = await assertRejects(() => patch, UsageError);
        assertEquals(error.message, "There are no commits yet");
      }
    });
  });
});

describe("a shallow clone", () => {
  async function withShallow(depth: number, use: (dir: string) => Promise<void>): Promise<void> {
    await withFolder(async (parent) => {
      const origin = join(parent, "origin");
      makeRepository(origin, { "a.ts": "0\n" });
      for (const text of ["a", "b", "c", "1\n"]) {
        write(origin, { "a.ts": text });
        commitAll(origin, text);
      }
      git(origin, "checkout", "-q", "-b", "x");
      for (const text of ["2\n", "3\n"]) {
        write(origin, { "a.ts": text });
        commitAll(origin, text);
      }
      const dir = join(parent, "clone");
      git(origin, "clone", "-q", `--depth=${depth}`, "--no-single-branch", `file://${origin}`, dir);
      await use(dir);
    });
  }

  test("a branch without common history in a shallow clone is answered with what to set", async () => {
    await withShallow(1, async (dir) => {
      const before = snapshot(dir);
      const error = await assertRejects(async () => branchPatch(await open(dir), { base: "origin/main" }), UsageError);
      assertStringIncludes(error.hint ?? "", "fetch-depth: 0");
      assertStringIncludes(error.hint ?? "", "octavo pr N");
      assertEquals(snapshot(dir), before);
    });
  });

  test("the oldest commit of a shallow clone is not taken for the first of all", async () => {
    await withShallow(1, async (dir) => {
      const error = await assertRejects(async () => commitPatch(await open(dir)), UsageError);
      assertMatch(error.message, /^The parent of \w{10} is not in this clone$/);
      assertStringIncludes(error.hint ?? "", "fetch-depth: 0");
    });
  });

  test("a shallow clone that is deep enough is reviewed, and said to be shallow", async () => {
    await withShallow(3, async (dir) => {
      const repository = await open(dir);
      assertEquals(await outline(commitPatch(repository)), ["modified a.ts +1 -1"]);
      const patch = await branchPatch(repository, { base: "origin/main" });
      assertEquals([await outline(patch), patch.notices.length], [["modified a.ts +1 -1"], 1]);
    });
  });
});

describe("commitPatch()", () => {
  test(
    "commitPatch() has the last commit against its parent, with its subject as the title",
    withRepository({ "a.ts": "1\n" }, async (dir) => {
      write(dir, { "a.ts": "2\n" });
      commitAll(dir, "Fix  it\non two lines\n\nAnd say why");
      const patch = await commitPatch(await open(dir));
      const [head, parent] = [hashOf(dir), hashOf(dir, "HEAD~1")];
      assertEquals([patch.title, patch.base, patch.head], [`Fix it on two lines (${head.slice(0, 10)})`, parent, head]);
      assertEquals(patch.description, `${head.slice(0, 10)} against ${parent.slice(0, 10)}`);
      assertEquals(await textOf(patch), git(dir, "diff", "--full-index", "HEAD~1", "HEAD"));
    }),
  );

  test(
    "commitPatch() has the first commit against nothing",
    withRepository({ "a.ts": "1\n" }, async (dir) => {
      const patch = await commitPatch(await open(dir));
      assertEquals(await outline(patch), ["added a.ts +1 -0"]);
      assertStringIncludes(patch.description, "which has no parent");
      const { base = "", head = "" } = patch;
      assertEquals(await outline(rangePatch(await open(dir), { base, head })), ["added a.ts +1 -0"]);
    }),
  );

  test(
    "commitPatch() has a merge against its first parent, and a tag's commit",
    withRepository({ "a.ts": "1\n" }, async (dir) => {
      git(dir, "checkout", "-q", "-b", "other");
      write(dir, { "b.ts": "1\n" });
      commitAll(dir, "b");
      git(dir, "checkout", "-q", "main");
      write(dir, { "c.ts": "1\n" });
      commitAll(dir, "c");
      git(dir, "merge", "-q", "-m", "merge", "other");
      git(dir, "tag", "-a", "-m", "tagged", "v1");
      for (const rev of ["HEAD", "v1"]) {
        const patch = await commitPatch(await open(dir), { rev });
        assertEquals(await outline(patch), ["added b.ts +1 -0"]);
        assertStringIncludes(patch.description, "against its first parent");
        assertStringIncludes(patch.title, "merge (");
      }
    }),
  );

  test(
    "commitPatch() has a range with two dots and with three; what is left out is HEAD",
    withRepository({ "a.ts": "1\n" }, async (dir) => {
      git(dir, "checkout", "-q", "-b", "x");
      write(dir, { "b.ts": "1\n" });
      commitAll(dir, "b");
      git(dir, "checkout", "-q", "main");
      write(dir, { "c.ts": "c\n" });
      commitAll(dir, "c");
      const repository = await open(dir);
      const both = ["added b.ts +1 -0", "deleted c.ts +0 -1"];
      for (
        const [rev, expected] of [
          ["main..x", both],
          ["..x", both],
          ["main...x", ["added b.ts +1 -0"]],
          ["x...", ["added c.ts +1 -0"]],
          [`${hashOf(dir)}..${hashOf(dir, "x")}`, both],
        ] as const
      ) {
        assertEquals(await outline(commitPatch(repository, { rev })), [...expected], rev);
      }
      assertEquals((await commitPatch(repository, { rev: "main...x" })).title, "main...x in repo");
    }),
  );

  test(
    "commitPatch() takes a revision with dots in a search for what it is",
    withRepository({ "a.ts": "1\n" }, async (dir) => {
      write(dir, { "a.ts": "2\n" });
      commitAll(dir, "from a..b to c");
      const patch = await commitPatch(await open(dir), { rev: "HEAD^{/a..b}" });
      assertEquals(patch.head, hashOf(dir));
    }),
  );

  test(
    "commitPatch() says which revision of a range is unknown, and what is no commit",
    withRepository({ "a.ts": "1\n" }, async (dir) => {
      const repository = await open(dir);
      for (const rev of ["nope", "nope..main", "main...nope", "nope^{/..}", "a\0b", "", "HEAD\nHEAD", "HEAD "]) {
        const error = await assertRejects(() => commitPatch(repository, { rev }), UsageError);
        assertMatch(error.message, /^Unknown revision "/, rev);
      }
      const error = await assertRejects(() => commitPatch(repository, { rev: "HEAD^{tree}" }), UsageError);
      assertEquals(error.message, '"HEAD^{tree}" is a tree, not a commit');
    }),
  );

  test(
    "a title is one line of visible text, whatever the subject",
    withRepository({ "a.ts": "1\n" }, async (dir) => {
      commitAll(dir, `\x1b[2Jgone\x07\u202e ${"very ".repeat(1000)}long`);
      const { title } = await commitPatch(await open(dir));
      assert(title.length < 300, title);
      assertMatch(title, /^␛\[2Jgone␇<U\+202E> very very .*… \(\w{10}\)$/);
    }),
  );

  test(
    "a subject in another encoding, an empty one and a huge one are read",
    withRepository({ "a.ts": "1\n" }, async (dir) => {
      const tree = hashOf(dir, "HEAD^{tree}");
      const commit = (message: Uint8Array, header = "") =>
        gitInput(
          dir,
          new Uint8Array([
            ...new TextEncoder().encode(`tree ${tree}\nauthor A <a@b> 1 +0000\ncommitter A <a@b> 1 +0000\n${header}\n`),
            ...message,
          ]),
          "hash-object",
          "-t",
          "commit",
          "-w",
          "--stdin",
        );
      const title = async (hash: string) => (await commitPatch(await open(dir), { rev: hash })).title;
      const latin = commit(new Uint8Array([0xe4, 0x0a]), "encoding ISO-8859-1\n");
      assertEquals(await title(latin), `ä (${latin.slice(0, 10)})`);
      const unknown = commit(new TextEncoder().encode("ä\n"), "encoding none-such\n");
      assertEquals(await title(unknown), `ä (${unknown.slice(0, 10)})`);
      const empty = commit(new Uint8Array());
      assertEquals(await title(empty), `commit (${empty.slice(0, 10)})`);
      const huge = commit(new Uint8Array(3_000_000).fill(0x61));
      assert((await title(huge)).startsWith("aaaa"));
    }),
  );
});

describe("attributes", () => {
  test(
    "attributes of the working tree say what is generated or vendored there",
    withRepository(
      { "a.gen": "1\n", "b.ts": "1\n", "lib/c.ts": "1\n", "d.gen": "1\n", "ä\n.gen": "1\n" },
      async (dir) => {
        write(dir, {
          ".gitattributes": "*.gen linguist-generated\nd.gen -linguist-generated\n",
          "lib/.gitattributes": "* linguist-vendored=true\n",
          "a.gen": "2\n",
          "b.ts": "2\n",
          "lib/c.ts": "2\n",
          "d.gen": "2\n",
          "ä\n.gen": "2\n",
        });
        const patch = await treePatch(await open(join(dir, "lib")));
        assertEquals([...await patch.attributes].sort(), [
          ["a.gen", "generated (.gitattributes)"],
          ["lib/c.ts", "vendored (.gitattributes)"],
          ["ä\n.gen", "generated (.gitattributes)"],
        ]);
      },
    ),
  );

  test(
    "attributes of a range are those of its base: a change cannot take itself out of the review",
    withRepository({ ".gitattributes": "*.gen linguist-generated\n", "a.gen": "1\n", "a.ts": "1\n" }, async (dir) => {
      git(dir, "checkout", "-q", "-b", "x");
      write(dir, { ".gitattributes": "*.ts linguist-generated\n", "a.gen": "2\n", "a.ts": "2\n" });
      commitAll(dir, "x");
      const before = snapshot(dir);
      for (const patch of [branchPatch, commitPatch]) {
        const { attributes, chunks } = await patch(await open(dir));
        assertEquals([...await attributes], [["a.gen", "generated (.gitattributes)"]]);
        await Array.fromAsync(chunks);
      }
      assertEquals(snapshot(dir), before);
    }),
  );

  test(
    "text that an attribute hides stands at the end of the patch, once",
    withRepository({ "a.ts": "1\n", "b.ts": "1\n", "c.md": "1\n", "d.ts": "d\n" }, async (dir) => {
      write(dir, { ".gitattributes": "*.ts -diff\n", "a.ts": "2\n", "b.ts": "2\n", "c.md": "2\n", "new.ts": "1\n" });
      rmSync(join(dir, "d.ts"));
      const patch = await treePatch(await open(dir), { untracked: true });
      assertEquals([...await patch.hidden].sort(), ["a.ts", "b.ts", "d.ts", "new.ts"]);
      assertEquals(await outline(patch), [
        "added .gitattributes +1 -0",
        "modified c.md +1 -1",
        "modified a.ts +1 -1",
        "modified b.ts +1 -1",
        "deleted d.ts +0 -1",
        "added new.ts +1 -0",
      ]);
    }),
  );

  test(
    "text that a commit hides by its own attributes is shown, in every kind of source",
    withRepository({ "a.ts": LINES, "old.ts": LINES.toUpperCase() }, async (dir) => {
      git(dir, "checkout", "-q", "-b", "x");
      git(dir, "mv", "old.ts", "new.hid");
      write(dir, { ".gitattributes": "*.ts binary\n*.hid -diff\n", "a.ts": "evil\n" });
      write(dir, { "new.hid": LINES.toUpperCase().replace("THREE", "evil") });
      const expected = [
        "added .gitattributes +2 -0",
        "modified a.ts +1 -6",
        "renamed old.ts -> new.hid +1 -1",
      ];
      git(dir, "add", "-A");
      const repository = await open(dir);
      assertEquals(await outline(treePatch(repository)), expected);
      assertEquals(await outline(stagedPatch(repository)), expected);
      commitAll(dir, "x");
      assertEquals(await outline(branchPatch(repository)), expected);
      assertEquals(await outline(commitPatch(repository)), expected);
      assertEquals(await outline(commitPatch(repository, { rev: "main..x" })), expected);
    }),
  );

  test(
    "attributes outside of the change hide nothing either: .git/info/attributes, diff drivers, a small bigFileThreshold",
    withRepository({ "a.ts": "1\n", "b.md": "1\n", "c.txt": "1\n" }, async (dir) => {
      write(dir, { "a.ts": "2\n", "b.md": "2\n", "c.txt": "2\n" });
      mkdirSync(join(dir, ".git/info"), { recursive: true });
      writeFileSync(join(dir, ".git/info/attributes"), "*.ts -diff\n*.md diff=hide\n");
      git(dir, "config", "diff.hide.binary", "true");
      git(dir, "config", "core.bigFileThreshold", "1");
      const patch = await treePatch(await open(dir));
      assertEquals([...await patch.hidden], ["a.ts"]);
      assertEquals(await outline(patch), ["modified b.md +1 -1", "modified c.txt +1 -1", "modified a.ts +1 -1"]);
    }),
  );

  test(
    "a file that an attribute calls binary and that is binary stays so",
    withRepository({ "a.png": new Uint8Array([0x89, 0x50, 0, 1]), "b.png": "text\n" }, async (dir) => {
      write(dir, {
        ".gitattributes": "*.png binary\n",
        "a.png": new Uint8Array([0x89, 0x50, 0, 2]),
        "b.png": "more\n",
      });
      git(dir, "add", "-A");
      const patch = await stagedPatch(await open(dir));
      assertEquals([...await patch.hidden], ["b.png"]);
      assertEquals(await outline(patch), [
        "added .gitattributes +1 -0",
        "modified a.png binary",
        "modified b.png +1 -1",
      ]);
    }),
  );

  test(
    "a change of mode or a plain rename of a file without diff is no hidden text",
    withRepository({ ".gitattributes": "*.ts -diff\n", "a.ts": LINES, "b.ts": "1\n" }, async (dir) => {
      git(dir, "mv", "a.ts", "c.ts");
      chmodSync(join(dir, "b.ts"), 0o755);
      const patch = await treePatch(await open(dir));
      assertEquals([...await patch.hidden], []);
      assertEquals(await outline(patch), ["modified b.ts +0 -0", "renamed a.ts -> c.ts +0 -0"]);
    }),
  );

  test(
    "hidden text is found where no argument can name the files: odd bytes, and very many",
    withRepository({ ".gitattributes": "* -diff\n" }, async (dir) => {
      const blob = gitInput(dir, "evil\n", "hash-object", "-w", "--stdin");
      const entries = Array.from({ length: 700 }, (_, index) => `100644 ${blob}\t${"deep/".repeat(8)}${index}.ts\0`);
      const bytes = [...new TextEncoder().encode(`${entries.join("")}100644 ${blob}\tbad`), 0xff, 0];
      gitInput(dir, new Uint8Array(bytes), "update-index", "-z", "--index-info");
      git(dir, "commit", "-q", "-m", "many");
      const patch = await commitPatch(await open(dir));
      assertEquals((await patch.hidden).size, 701);
      const files = await filesOf(patch);
      assertEquals([files.length, files.filter(({ additions, binary }) => additions === 1 && !binary).length], [
        701,
        701,
      ]);
    }),
  );

  test(
    "a diff inside a hidden file does not end it",
    withRepository({ ".gitattributes": "*.diff -diff\n", "x.diff": "1\n" }, async (dir) => {
      const inner = "diff --git a/y b/y\n--- a/y\n+++ b/y\n@@ -1 +1 @@\n-1\n+2\n";
      write(dir, { "x.diff": inner.repeat(20_000) });
      assertEquals(await outline(treePatch(await open(dir))), ["modified x.diff +120000 -1"]);
    }),
  );
});

describe("streams", () => {
  /** Runs something with a folder for temporary files; fails if anything is left in it. */
  async function withTemp(use: (env: { TMPDIR: string }) => Promise<void>): Promise<void> {
    await withFolder(async (temp) => {
      await use({ TMPDIR: temp });
      assertEquals(readdirSync(temp), []);
    });
  }

  const big = Object.fromEntries(Array.from({ length: 40 }, (_, index) => [`${index}.ts`, `${LINES.repeat(2000)}`]));

  test(
    "a reader who stops early, and one who never starts, leave nothing behind",
    withRepository({ ".gitattributes": "*.ts -diff\n", "a.md": "1\n" }, async (dir) => {
      await withTemp(async (env) => {
        write(dir, { ...big, "b.md": LINES });
        const repository = await open(dir, env);
        const patch = await treePatch(repository, { untracked: true });
        for await (const _ of patch.chunks) break;
        const unread = await treePatch(repository, { untracked: true });
        await Promise.all([patch.hidden, unread.hidden, unread.attributes]);
      });
    }),
  );

  test(
    "a signal that aborts ends git, and its reason comes out",
    withRepository({ "a.ts": "1\n" }, async (dir) => {
      await withTemp(async (env) => {
        write(dir, { ...big, "new.ts": "1\n" });
        commitAll(dir, "big");
        const controller = new AbortController();
        const reason = new Error("stopped");
        const repository = await open(dir, env, controller.signal);
        const patch = await commitPatch(repository);
        const error = await assertRejects(async () => {
          for await (const _ of patch.chunks) controller.abort(reason);
        });
        assertEquals(error, reason);
        await patch.attributes.catch(() => {});
        assertEquals(await assertRejects(() => treePatch(repository)), reason);
      });
    }),
  );

  test(
    "chunks throw a GitError with git's reason when git fails",
    withRepository({ "a.ts": "1\n" }, async (dir) => {
      write(dir, { "a.ts": "2\n" });
      commitAll(dir, "second");
      const blob = hashOf(dir, "HEAD~1:a.ts");
      const repository = await open(dir);
      rmSync(join(dir, ".git/objects", blob.slice(0, 2), blob.slice(2)));
      const error = await assertRejects(() => textOf(commitPatch(repository)), GitError);
      assertStringIncludes(error.message, `git diff failed: unable to read ${blob}`);
    }),
  );
});

describe("what else is asked of a repository", () => {
  test(
    "readBlob() reads a file as it is at a revision, and nothing that is no file",
    withRepository({ ".octavo.json": "{}", "sub/[a].ts": "ä\n" }, async (dir) => {
      symlinkSync("/etc/passwd", join(dir, "link"));
      commitAll(dir, "link");
      write(dir, { ".octavo.json": "changed" });
      const repository = await open(join(dir, "sub"));
      assertEquals(await readBlob(repository, "HEAD", ".octavo.json", 100), "{}");
      assertEquals(await readBlob(repository, hashOf(dir), "sub/[a].ts", 100), "ä\n");
      for (const path of ["none", "sub", "link", "sub/*.ts"]) {
        assertEquals(await readBlob(repository, "HEAD", path, 100), undefined, path);
      }
      const { base = "" } = await commitPatch(repository, { rev: "HEAD~1" });
      assertEquals(await readBlob(repository, base, ".octavo.json", 100), undefined);
      const error = await assertRejects(() => readBlob(repository, "HEAD", ".octavo.json", 1), UsageError);
      assertStringIncludes(error.message, '".octavo.json"');
      await assertRejects(() => readBlob(repository, "--help", "x", 1), UsageError);
    }),
  );

  test(
    "remotes() lists origin first, with the user's abbreviations resolved",
    withRepository({ "a.ts": "1\n" }, async (dir) => {
      const repository = await open(dir);
      assertEquals(await remotes(repository), []);
      git(dir, "remote", "add", "fork", "git@example.org:me/x.git");
      git(dir, "remote", "add", "origin", "gh:o/x");
      git(dir, "config", "url.https://github.com/.insteadOf", "gh:");
      assertEquals(await remotes(repository), [
        { name: "origin", url: "https://github.com/o/x" },
        { name: "fork", url: "git@example.org:me/x.git" },
      ]);
    }),
  );

  test(
    "openRepository() leaves the environment that it was given as it is",
    withRepository({ "a.ts": "1\n" }, async (dir) => {
      const env = Object.freeze({ ...cleanEnv(dir), GIT_EXTERNAL_DIFF: "false", GIT_DIFF_OPTS: "-u0", GIT_TRACE: "1" });
      write(dir, { "a.ts": "2\n" });
      assertEquals(await outline(treePatch(await openRepository(dir, env))), ["modified a.ts +1 -1"]);
    }),
  );
});
