/**
 * chat() as each runtime runs it, in a process of its own: from source, bundled for Node, compiled. The server says nothing
 * for a while, which is one second here. `OCTAVO_TEST_SILENCE=370 npm test` makes it longer than any runtime's own limit.
 */
import { execFile } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { promisify } from "node:util";
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { root } from "./support.ts";
import { chunk } from "./support_chat.ts";
import { serve, sse, type TestServer } from "./support_server.ts";

const run = promisify(execFile);
const bin = (name: string) => join(root, "node_modules/.bin", name);
const node = existsSync(bin("node")) ? bin("node") : "node";
const silenceMs = Number(process.env.OCTAVO_TEST_SILENCE ?? 1) * 1000;

const PROGRAM = `
import { chat } from ${JSON.stringify(join(root, "chat.ts"))};
import { runtimeLimit } from ${JSON.stringify(join(root, "http.ts"))};
const model = { provider: "custom", name: "m", protocol: "openai", baseUrl: process.argv[2], local: true, from: "" };
const messages = [{ role: "user", content: "hi" }];
let text = "";
for await (const event of chat({ model, messages, env: process.env, timeoutMs: 600_000 })) {
  if (event.type === "delta") text += event.text;
}
console.log(JSON.stringify({ text, limit: await runtimeLimit(process.env) ?? null }));
`;

describe("a server that says nothing for a while and then streams is heard to its end", () => {
  let dir = "";
  let inside = "";
  let server: TestServer;
  before(async () => {
    dir = mkdtempSync(join(tmpdir(), "octavo-runtimes-"));
    mkdirSync(join(root, "dist"), { recursive: true });
    inside = mkdtempSync(join(root, "dist/runtimes-"));
    writeFileSync(join(inside, "program.ts"), PROGRAM);
    server = await serve(() => ({
      ...sse(chunk({ content: "Grüße" }, "stop"), "[DONE]"),
      after: new Promise((resolve) => setTimeout(resolve, silenceMs)),
    }));
  });
  after(async () => {
    await server.close();
    for (const one of [dir, inside]) rmSync(one, { recursive: true, force: true });
  });

  /** What the program prints. A proxy of the environment must not get what goes to loopback. */
  async function heard(program: string, args: string[]): Promise<{ text: string; limit: string | null }> {
    const proxy = "http://127.0.0.1:9";
    const env = {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      HTTP_PROXY: proxy,
      http_proxy: proxy,
      ALL_PROXY: proxy,
    };
    const { stdout } = await run(program, [...args, `${server.url}/v1`], { env, cwd: dir });
    const printed: { text: string; limit: string | null } = JSON.parse(stdout);
    return printed;
  }

  /** One file for Node, as the bundle of octavo is made. */
  async function bundle(folder: string): Promise<string> {
    const outfile = join(folder, "bundle.mjs");
    const options = [
      "--bundle",
      "--format=esm",
      "--platform=node",
      "--target=node22",
      "--external:undici",
      "--log-level=error",
    ];
    await run(bin("esbuild"), [join(inside, "program.ts"), ...options, `--outfile=${outfile}`], { cwd: root });
    return outfile;
  }

  const options = { timeout: silenceMs + 120_000 };
  test("by Bun", options, async () => {
    assertEquals(await heard(bin("bun"), [join(inside, "program.ts")]), { text: "Grüße", limit: null });
  });

  test("by Deno", options, async () => {
    const args = ["run", "-A", "--no-check", "-c", join(root, "deno.json"), join(inside, "program.ts")];
    assertEquals(await heard(bin("deno"), args), { text: "Grüße", limit: null });
  });

  test("by Node with the package undici", options, async () => {
    assertEquals(await heard(node, [await bundle(inside)]), { text: "Grüße", limit: null });
  });

  test("by a compiled binary", options, async () => {
    const outfile = join(dir, "program");
    const options = ["--compile", "--minify", "--no-compile-autoload-dotenv", "--no-compile-autoload-bunfig"];
    await run(bin("bun"), ["build", ...options, join(inside, "program.ts"), "--outfile", outfile], { cwd: dir });
    assertEquals(await heard(outfile, []), { text: "Grüße", limit: null });
  });

  test("by Node without the package undici, up to five minutes, which it says", options, async () => {
    if (silenceMs > 290_000) return;
    const { text, limit } = await heard(node, [await bundle(dir)]);
    assertEquals(text, "Grüße");
    assertStringIncludes(limit ?? "", "five minutes");
    assert(limit?.includes("proxies are not used"));
  });
});
