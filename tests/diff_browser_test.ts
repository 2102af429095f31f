import { test } from "node:test";
import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { delimiter, join } from "node:path";
import process from "node:process";
import { assertEquals } from "@std/assert";
import * as diff from "../diff.ts";
import { root, withFolder } from "./support.ts";
import { patchCases, piecesOf } from "./support_patch.ts";

const MODULES = ["diff.ts", "patch.ts"];
const DEADLINE_MS = 100_000;

const chromium = findChromium();
const isRequired = process.env.OCTAVO_REQUIRE_CHROMIUM === "1";
const skip = chromium === undefined && !isRequired ? "there is no Chromium here" : false;

test("a browser page imports diff.ts from a server, and plans as this runtime does", { skip }, async () => {
  if (chromium === undefined) throw new Error("Chromium is required and not installed; apt-get install chromium");
  const patch = Buffer.concat(patchCases.filter(({ bytes }) => bytes.length < 5_000).map(({ bytes }) => bytes));
  const page = `<!doctype html><title>octavo</title><pre id="out">nothing</pre><script type="module">
    import * as diff from "/diff.ts";
    ${plans}
    ${piecesOf}
    const patch = Uint8Array.from(atob("${patch.toString("base64")}"), (char) => char.charCodeAt(0));
    document.getElementById("out").textContent = encodeURIComponent(plans(diff, patch, piecesOf));
  </script>`;
  const files = new Map<string, string>([["/", page], ...await stripped()]);
  const server = createServer((request, response) => {
    const text = files.get(request.url ?? "");
    const type = request.url === "/" ? "text/html; charset=utf-8" : "text/javascript";
    response.writeHead(text === undefined ? 404 : 200, { "content-type": type }).end(text);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    const { port } = server.address() as AddressInfo;
    const dom = await withFolder((dir) => dump(chromium, `http://127.0.0.1:${port}/`, dir));
    const shown = /<pre id="out">([^<]*)</.exec(dom)?.[1] ?? dom;
    assertEquals(JSON.parse(decodeURIComponent(shown)), JSON.parse(plans(diff, new Uint8Array(patch), piecesOf)));
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});

/** What diff.ts makes of a patch, as JSON. It runs here and in the page. */
function plans(module: typeof diff, patch: Uint8Array, pieces: typeof piecesOf): string {
  const planner = new module.ReviewPlanner({ maxDiffChars: 5_000 });
  for (const piece of pieces(patch, 1_000)) planner.push(piece);
  const streamed = planner.end();
  const whole = module.planReview(module.parseUnifiedDiff(new TextDecoder("utf-8", { ignoreBOM: true }).decode(patch)));
  return JSON.stringify([streamed, whole, module.summarizeReview(streamed, "Cases"), module.coverageLine(streamed)]);
}

/** The modules without their types, and otherwise as they are. */
async function stripped(): Promise<[string, string][]> {
  const { transform, stop } = await import("esbuild");
  const read = async (name: string): Promise<[string, string]> => {
    const { code } = await transform(readFileSync(join(root, name), "utf8"), { loader: "ts", target: "esnext" });
    return [`/${name}`, code];
  };
  const modules = await Promise.all(MODULES.map(read));
  await stop();
  return modules;
}

function findChromium(): string | undefined {
  const names = ["chromium", "chromium-browser", "google-chrome"];
  const dirs = (process.env.PATH ?? "").split(delimiter);
  return names.flatMap((name) => dirs.map((dir) => join(dir, name))).find((path) => existsSync(path));
}

/** The page as it stands when its scripts have run. */
function dump(program: string, url: string, dir: string): Promise<string> {
  const args = [
    ...["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"],
    ...["--disable-background-networking", "--disable-component-update", "--disable-dev-shm-usage"],
    ...[`--user-data-dir=${join(dir, "profile")}`, "--dump-dom", url],
  ];
  return new Promise((resolve, reject) => {
    const env = { PATH: process.env.PATH ?? "", HOME: dir, TMPDIR: dir };
    const child = spawn(program, args, { env, stdio: ["ignore", "pipe", "pipe"] });
    const deadline = setTimeout(() => child.kill("SIGKILL"), DEADLINE_MS);
    let [output, errors] = ["", ""];
    child.stdout.setEncoding("utf8").on("data", (text: string) => output += text);
    child.stderr.setEncoding("utf8").on("data", (text: string) => errors += text);
    child.on("error", reject);
    child.on("close", (code) => {
      clearTimeout(deadline);
      if (code === 0) resolve(output);
      else reject(new Error(`Chromium failed (${code}): ${errors}`));
    });
  });
}
