/**
 * chat() as each runtime runs it, in a process of its own: from source, bundled for Node, compiled. The server says nothing
 * for a while, which is one second here. `OCTAVO_TEST_SILENCE=370 npm test` makes it longer than any runtime's own limit.
 */
import { execFile } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:https";
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

/** The server's certificate and key, and the authority that signed it, below a folder; `false` without openssl. */
async function makeCertificates(dir: string): Promise<boolean> {
  const key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"];
  writeFileSync(join(dir, "names"), "subjectAltName=IP:127.0.0.1\n");
  const steps = [
    ["req", "-x509", ...key, "-keyout", "ca.key", "-out", "ca.crt", "-days", "2", "-subj", "/CN=octavo test"],
    ["req", ...key, "-keyout", "server.key", "-out", "server.csr", "-subj", "/CN=octavo"],
    ["x509", "-req", "-in", "server.csr", "-CA", "ca.crt", "-CAkey", "ca.key", "-CAcreateserial", "-out", "server.crt"]
      .concat("-days", "2", "-extfile", "names"),
  ];
  try {
    for (const step of steps) await run("openssl", step, { cwd: dir });
    return true;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return false;
    throw error;
  }
}

test(
  "an authority of NODE_EXTRA_CA_CERTS is trusted by every runtime, and no other",
  { timeout: 120_000 },
  async (t) => {
    mkdirSync(join(root, "dist"), { recursive: true });
    const dir = mkdtempSync(join(root, "dist/certificates-"));
    try {
      if (!await makeCertificates(dir)) return t.skip("there is no openssl here");
      const tls = { key: readFileSync(join(dir, "server.key")), cert: readFileSync(join(dir, "server.crt")) };
      const server = createServer(tls, (_request, response) => response.end("heard")).unref();
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      const address = server.address();
      const url = `https://127.0.0.1:${typeof address === "object" ? address?.port : 0}/`;
      const program = join(dir, "program.ts");
      writeFileSync(
        program,
        `import { request } from ${JSON.stringify(join(root, "http.ts"))};
      const asking = request({ url: process.argv[2], env: process.env });
      console.log(await asking.then((response) => response.text(), (error) => error.failure));`,
      );
      const outfile = join(dir, "program.mjs");
      const bundling = ["--bundle", "--format=esm", "--platform=node", "--external:undici", "--log-level=error"];
      await run(bin("esbuild"), [program, ...bundling, `--outfile=${outfile}`], { cwd: root });
      const runtimes = [
        [bin("bun"), program],
        [bin("deno"), "run", "-A", "--no-check", "-c", join(root, "deno.json"), program],
        [node, outfile],
      ];
      for (const [command = "", ...args] of runtimes) {
        const env = { PATH: process.env.PATH, HOME: process.env.HOME };
        const trusting = { ...env, NODE_EXTRA_CA_CERTS: join(dir, "ca.crt") };
        assertEquals((await run(command, [...args, url], { env })).stdout.trim(), "certificate", command);
        assertEquals((await run(command, [...args, url], { env: trusting })).stdout.trim(), "heard", command);
      }
      server.close();
      server.closeAllConnections();
    } finally {
      rmSync(dir, { recursive: true, force: true });
    }
  },
);

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
