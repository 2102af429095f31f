/** The bundle in node and from a URL in deno; diff.ts imported from a URL by a script. */
import { test } from "node:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { binary, bundle, findDeno, findNode } from "../scripts/build.ts";
import { VERSION } from "../version.ts";
import { allowMinutes, git, makeRepository, root, withFolder, write } from "./support.ts";
import { answer, octavo, withModel } from "./support_octavo.ts";
import { type RecordedRequest, type Reply, withServer } from "./support_server.ts";

await allowMinutes();

/** Serves the bundle and the sources, as a release page does. */
function files(request: RecordedRequest): Reply | undefined {
  const file = join(root, request.path === "/octavo.js" ? "dist/octavo.js" : request.path);
  if (!/^\/[a-z]+\.(js|ts)$/.test(request.path) || !existsSync(file)) return undefined;
  const type = file.endsWith(".ts") ? "application/typescript" : "text/javascript";
  return { headers: { "content-type": type }, body: readFileSync(file, "utf8") };
}

async function withChange(use: (repository: string, home: string) => Promise<void>): Promise<void> {
  await withFolder(async (home) => {
    const repository = join(home, "project");
    makeRepository(repository, { "a.ts": "1\n" });
    write(repository, { "a.ts": "2\n" });
    await use(repository, home);
  });
}

test("the bundle reviews a change under node", async () => {
  await withChange(async (cwd) => {
    await withServer([answer("Seen by ", "node.")], async (server) => {
      const program = [await findNode(), await bundle()];
      const { code, stdout, stderr } = await octavo([], { cwd, program, env: withModel(server.url) });
      assertEquals(code, 0, stderr);
      assertStringIncludes(stdout, "Seen by node.");
      assertEquals((await octavo(["--version"], { cwd, program })).stdout, `octavo ${VERSION}\n`);
    });
  });
});

test("deno runs the bundle from a URL with the permissions that the README names", async () => {
  await bundle();
  await withChange(async (cwd, home) => {
    await withServer(files, async (pages) => {
      await withServer([answer("Seen by ", "deno.")], async (server) => {
        const permissions = ["--allow-run=git", "--allow-net", "--allow-read", "--allow-write", "--allow-env"];
        const program = [await findDeno(), "run", "--no-prompt", ...permissions, `${pages.url}/octavo.js`];
        const env = { ...withModel(server.url), DENO_DIR: join(home, "deno"), NO_COLOR: "1" };
        const { code, stdout, stderr } = await octavo([], { cwd, program, env });
        assertEquals(code, 0, stderr);
        assertStringIncludes(stdout, "Seen by deno.");
      });
    });
  });
});

test("a script that imports diff.ts from a URL prints the files of a patch", async () => {
  await withChange(async (cwd, home) => {
    await withServer(files, async (pages) => {
      write(home, {
        "script.ts": `import { parseUnifiedDiff, planReview } from "${pages.url}/diff.ts";
const { files } = parseUnifiedDiff(await Deno.readTextFile("change.patch"));
for (const { path, additions, deletions } of files) console.log(path, additions, deletions);
console.log(planReview(files).parts.length);
`,
        "change.patch": git(cwd, "diff"),
      });
      const program = [await findDeno(), "run", "--allow-read", "--allow-import", "script.ts"];
      const { code, stdout, stderr } = await octavo([], {
        cwd: home,
        home,
        program,
        env: { DENO_DIR: join(home, "deno") },
      });
      assertEquals([code, stdout], [0, "a.ts 1 1\n1\n"], stderr);
      const asked = pages.requests.map(({ path }) => path).sort();
      assertEquals(asked, ["/diff.ts", "/patch.ts"]);
    });
  });
});

/** What of the environment deno needs to bring its packages, on a machine that has them not yet. */
function forDownloads(): Record<string, string> {
  const wanted = Object.entries(process.env).filter(([name]) => /CERT|PROXY|^DENO_|^NPM_CONFIG_/i.test(name));
  return Object.fromEntries(wanted.map(([name, value]) => [name, value ?? ""]));
}

test("the sources run as a program in deno and in bun", async () => {
  await withChange(async (cwd) => {
    const programs = [
      [await findDeno(), "run", "-A", join(root, "mod.ts")],
      ...(process.versions.bun ? [[process.execPath, join(root, "mod.ts")]] : []),
    ];
    for (const program of programs) {
      const { code, stdout, stderr } = await octavo(["--model", "builtin"], {
        cwd,
        program,
        env: { ...forDownloads(), DENO_DIR: process.env.DENO_DIR ?? join(process.env.HOME ?? "", ".cache/deno") },
      });
      assertEquals(code, 0, stderr);
      assertStringIncludes(stdout, "1 of 1 file reviewed in full");
    }
  });
});

test("the version is the same in the binary, package.json and deno.json", async () => {
  const versions = ["package.json", "deno.json"].map((name) =>
    JSON.parse(readFileSync(join(root, name), "utf8")).version
  );
  assertEquals(versions, [VERSION, VERSION]);
  await withFolder(async (cwd) => {
    for (const flag of ["--version", "-V"]) {
      assertEquals((await octavo([flag], { cwd, program: [await binary()] })).stdout, `octavo ${VERSION}\n`);
    }
  });
});

test("the libraries in deno.json, package.json and the installed ones are the same versions", () => {
  const { imports } = JSON.parse(readFileSync(join(root, "deno.json"), "utf8")) as { imports: Record<string, string> };
  const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const exact = { ...manifest.dependencies, ...manifest.devDependencies, ...manifest.optionalDependencies };
  for (const [name, version] of Object.entries(exact)) {
    assert(/^\d+\.\d+\.\d+$/.test(String(version)), `${name} ${version}`);
  }
  for (const target of Object.values(imports)) {
    const [, name, version] = /^npm:(@?[^@]+)@([^/]+)/.exec(target)!;
    assertEquals(exact[name!], version, target);
  }
});
