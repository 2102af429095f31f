/**
 * What `parseUnifiedDiff` costs, and whether it is right, beside a bare scan for line ends and the parsers on npm.
 *
 *     npm i --prefix /tmp/peers parse-diff gitdiff-parser parse-git-diff what-the-diff diff diff2html
 *     bun bench/parse.ts --peers /tmp/peers a.diff b.diff        deno run -A bench/parse.ts a.diff
 *
 * Every parser has a process of its own for each patch. Printed are the best of several parses, the ratio to the scan in
 * the same run, the memory above that of the loaded text, and on how many of the cases in tests/fixtures/cases it differs
 * from git's own answer. Without `--peers` the parsers on npm are left out.
 */
import { spawnSync } from "node:child_process";
import { readFileSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { parseUnifiedDiff } from "../diff.ts";
import { type ExpectedFile, patchCases } from "../tests/support_patch.ts";

/** What is compared of a file. What a parser does not say is not judged. */
interface Said {
  path: string | undefined;
  additions: number;
  deletions: number;
}

interface Parser {
  parse: (text: string) => unknown;
  /** The files of what it gave. */
  files: (parsed: unknown) => Said[];
}

const NO_FILE = "/dev/null";
const SCAN = "scan for line ends";
const NONE = "text loaded";
const MILLISECONDS = 4_000;

/** Finds each line's end and looks at its first character: the least that a parser must do. */
function scan(text: string): number {
  let marks = 0;
  for (let position = 0, end: number; (end = text.indexOf("\n", position)) >= 0; position = end + 1) {
    const first = text.charCodeAt(position);
    if (first === 43 || first === 45) marks++;
  }
  return marks;
}

/** The path of a file, the old one if it was deleted. */
function either(now: string | undefined | null, old: string | undefined | null): string | undefined {
  return (now && now !== NO_FILE ? now : old) ?? undefined;
}

function withoutPrefix(path: string | undefined): string | undefined {
  return path?.replace(/^[ab]\//, "");
}

function counted<T>(lines: T[], isAdded: (line: T) => boolean, isRemoved: (line: T) => boolean) {
  return { additions: lines.filter(isAdded).length, deletions: lines.filter(isRemoved).length };
}

const ours: Parser = {
  parse: parseUnifiedDiff,
  files: (parsed) => (parsed as ReturnType<typeof parseUnifiedDiff>).files,
};

type Load = (name: string) => unknown;

/** The parsers on npm: how each is called, and where it says what. */
const PEERS: { readonly [name: string]: (load: Load) => Parser } = {
  "diff (jsdiff)": (load) => ({
    parse: (load("diff") as { parsePatch: Parser["parse"] }).parsePatch,
    files: (parsed) =>
      (parsed as { oldFileName?: string; newFileName?: string; hunks: { lines: string[] }[] }[]).map((file) => ({
        path: withoutPrefix(either(file.newFileName, file.oldFileName)),
        ...counted(file.hunks.flatMap((hunk) => hunk.lines), (line) => line[0] === "+", (line) => line[0] === "-"),
      })),
  }),
  "gitdiff-parser": (load) => ({
    parse: (load("gitdiff-parser") as { parse: Parser["parse"] }).parse,
    files: (parsed) =>
      (parsed as { oldPath: string; newPath: string; hunks: { changes: { type: string }[] }[] }[]).map((file) => ({
        path: either(file.newPath, file.oldPath),
        ...counted(
          file.hunks.flatMap((hunk) => hunk.changes),
          ({ type }) => type === "insert",
          ({ type }) => type === "delete",
        ),
      })),
  }),
  "parse-diff": (load) => ({
    parse: load("parse-diff") as Parser["parse"],
    files: (parsed) =>
      (parsed as { from?: string; to?: string; additions: number; deletions: number }[]).map((file) => ({
        path: either(file.to, file.from),
        additions: file.additions,
        deletions: file.deletions,
      })),
  }),
  "parse-git-diff": (load) => ({
    parse: (load("parse-git-diff") as { default: Parser["parse"] }).default,
    files: (parsed) =>
      (parsed as { files: { path?: string; pathAfter?: string; chunks: { changes?: { type: string }[] }[] }[] })
        .files.map((file) => ({
          path: file.pathAfter ?? file.path,
          ...counted(
            file.chunks.flatMap((chunk) => chunk.changes ?? []),
            ({ type }) => type === "AddedLine",
            ({ type }) => type === "DeletedLine",
          ),
        })),
  }),
  "what-the-diff": (load) => ({
    parse: (load("what-the-diff") as { parse: Parser["parse"] }).parse,
    files: (parsed) =>
      (parsed as { oldPath?: string; newPath?: string; status?: string; hunks?: { lines?: string[] }[] }[])
        .map((file) => {
          const path = either(file.newPath, file.oldPath);
          return {
            path: /renamed|copied/.test(file.status ?? "") ? path : withoutPrefix(path),
            ...counted(
              (file.hunks ?? []).flatMap((hunk) => hunk.lines ?? []),
              (line) => line[0] === "+",
              (line) => line[0] === "-",
            ),
          };
        }),
  }),
  "diff2html": (load) => ({
    parse: (load("diff2html") as { parse: Parser["parse"] }).parse,
    files: (parsed) =>
      (parsed as { oldName: string; newName: string; addedLines: number; deletedLines: number }[]).map((file) => ({
        path: either(file.newName, file.oldName),
        additions: file.addedLines,
        deletions: file.deletedLines,
      })),
  }),
};

/** How many cases it reads otherwise than git: plain output of git, and damage and other tools. */
function wrongCases({ parse, files }: Parser): string {
  const wrong = { must: 0, should: 0 };
  for (const { tier, text, files: expected } of patchCases) {
    if (tier === "any") continue;
    if (!isRight(() => files(parse(text)), expected)) wrong[tier]++;
  }
  return `${wrong.must} + ${wrong.should}`;
}

function isRight(read: () => Said[], expected: readonly ExpectedFile[]): boolean {
  try {
    const left = [...read()];
    for (const file of expected) {
      const at = left.findIndex((said) => agrees(said, file));
      if (at < 0) return false;
      left.splice(at, 1);
    }
    return left.length === 0;
  } catch {
    return false;
  }
}

/** What git does not say either is `null`, and not judged. */
function agrees(said: Said, { path, additions, deletions }: ExpectedFile): boolean {
  return said.path === path && said.additions === (additions ?? said.additions) &&
    said.deletions === (deletions ?? said.deletions);
}

function peakMegabytes(): number {
  return Number(/VmHWM:\s+(\d+)/.exec(readFileSync("/proc/self/status", "utf8"))![1]) / 1024;
}

interface Measured {
  best: number;
  peak: number;
  wrong: string;
}

/** In a process of its own: one parser, one patch. Memory is that of one parse alone. */
function measureOne(name: string, file: string, peers: string | undefined, kind: string): Measured {
  const parser = name === "octavo" ? ours : PEERS[name]?.(createRequire(join(peers ?? "", "x.js")));
  const text = readFileSync(file, "utf8");
  const run = name === SCAN ? scan : name === NONE ? (text: string) => text.length : parser!.parse;
  let best = Infinity;
  const start = performance.now();
  do {
    const from = performance.now();
    run(text);
    best = Math.min(best, performance.now() - from);
  } while (kind === "time" && performance.now() - start < MILLISECONDS);
  const peak = peakMegabytes();
  return { best, peak, wrong: kind === "time" && parser ? wrongCases(parser) : "" };
}

/** `undefined` where the parser throws. */
function inProcess(name: string, file: string, peers: string | undefined, kind: string): Measured | undefined {
  const deno = process.versions.deno === undefined ? [] : ["run", "-A"];
  const args = [...deno, fileURLToPath(import.meta.url), "--one", name, "--kind", kind, file];
  if (peers !== undefined) args.push("--peers", peers);
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: "utf8" });
  if (status !== 0 && !(name in PEERS)) throw new Error(`${name} failed on ${file}: ${stderr.slice(-500)}`);
  return status === 0 ? JSON.parse(stdout.trim().split("\n").at(-1)!) : undefined;
}

function compare(file: string, peers: string | undefined): void {
  const megabytes = statSync(file).size / 1e6;
  const { bun, deno, node } = process.versions;
  const runtime = bun ? `Bun ${bun}` : deno ? `Deno ${deno}` : `Node ${node}`;
  console.log(`\n${basename(file)}: ${megabytes.toFixed(1)} MB, ${runtime}\n`);
  console.log("| parser | MB/s | of the scan | MB over the text | cases wrong |\n|---|---:|---:|---:|---:|");
  const base = inProcess(NONE, file, peers, "memory")!.peak;
  const limit = inProcess(SCAN, file, peers, "time")!.best;
  for (const name of [SCAN, "octavo", ...(peers === undefined ? [] : Object.keys(PEERS))]) {
    const timed = inProcess(name, file, peers, "time");
    const once = inProcess(name, file, peers, "memory");
    if (!timed || !once) {
      console.log(`| ${name} | throws | | | |`);
      continue;
    }
    const speed = (megabytes / timed.best * 1e3).toFixed(0);
    const cells = [name, speed, (limit / timed.best).toFixed(2), Math.max(0, once.peak - base).toFixed(0), timed.wrong];
    console.log(`| ${cells.join(" | ")} |`);
  }
}

const { values, positionals } = parseArgs({
  options: { peers: { type: "string" }, one: { type: "string" }, kind: { type: "string" } },
  allowPositionals: true,
});
if (positionals.length === 0) throw new Error("Usage: bench/parse.ts [--peers FOLDER] PATCH...");
const peers = values.peers === undefined ? undefined : join(values.peers, "node_modules");
if (values.one !== undefined) {
  console.log(JSON.stringify(measureOne(values.one, positionals[0]!, values.peers, values.kind ?? "time")));
} else for (const file of positionals) compare(file, peers);
