/**
 * What chat() costs: CPU time for an answer of 100,000 tokens at full speed, against reading the same bytes and splitting
 * them into events with eventsource-parser alone. The server is a process of its own.
 *
 *     bun bench/chat.ts        deno run -A bench/chat.ts
 *
 * The target is a ratio of at most 2.
 */
import { spawn } from "node:child_process";
import { createServer } from "node:http";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { createParser } from "eventsource-parser";
import { chat } from "../chat.ts";
import { request } from "../http.ts";

const TOKENS = 100_000;
const ROUNDS = 9;
const WORDS = [
  "The",
  " function",
  " `parse",
  "Diff",
  "()`",
  " reads",
  " line",
  " 42",
  ":\n",
  "- **",
  '"quoted"',
  " naïve",
  ",",
  " and",
];

if (process.argv[2] === "serve") await serve();
else await measure();

/** Sends the same stream to everybody, as fast as it is taken. `extra` is a field that differs in every chunk. */
async function serve(): Promise<void> {
  const bodies = {
    plain: stream(() => ({})),
    padded: stream((at) => ({ obfuscation: String(at * 7919).padEnd(9, "x") })),
  };
  const server = createServer((incoming, response) => {
    incoming.resume();
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.end(incoming.url?.startsWith("/padded") ? bodies.padded : bodies.plain);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  console.log(`http://127.0.0.1:${typeof address === "object" ? address?.port : 0}`);
}

function stream(extra: (at: number) => object): string {
  const common = {
    id: "chatcmpl-BqXh2mUo9dVtT6kzXyWj4cLr",
    object: "chat.completion.chunk",
    created: 1753900000,
    model: "qwen2.5-coder-7b",
  };
  const chunks = Array.from({ length: TOKENS }, (_, at) => {
    const choice = { index: 0, delta: { content: WORDS[at % WORDS.length] }, logprobs: null, finish_reason: null };
    return `data: ${JSON.stringify({ ...common, choices: [choice], ...extra(at) })}\n\n`;
  });
  const last = { ...common, choices: [{ index: 0, delta: {}, finish_reason: "stop" }] };
  return `${chunks.join("")}data: ${JSON.stringify(last)}\n\ndata: [DONE]\n\n`;
}

async function measure(): Promise<void> {
  const child = startServer();
  try {
    const url = await child.url;
    for (const kind of ["plain", "padded"] as const) {
      const base: number[] = [];
      const ours: number[] = [];
      for (let round = 0; round < ROUNDS; round++) {
        base.push(await cpu(() => split(`${url}/${kind}/chat/completions`)));
        ours.push(await cpu(() => answer(`${url}/${kind}`)));
      }
      // the least of each: whatever else the machine does only adds
      const [a, b] = [Math.min(...base), Math.min(...ours)];
      const note = kind === "plain" ? "" : " (padded, as OpenAI's)";
      console.log(
        `${TOKENS} tokens${note}: chat ${b.toFixed(0)} ms CPU, parser alone ${a.toFixed(0)} ms, ratio ${
          (b / a).toFixed(2)
        }`,
      );
    }
  } finally {
    child.stop();
  }
}

function startServer(): { url: Promise<string>; stop(): void } {
  const self = fileURLToPath(import.meta.url);
  const isDeno = Reflect.has(globalThis, "Deno");
  const server = spawn(process.execPath, [...(isDeno ? ["run", "-A", "--no-check"] : []), self, "serve"], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const url = new Promise<string>((resolve) => server.stdout.once("data", (text) => resolve(String(text).trim())));
  return { url, stop: () => server.kill() };
}

/** Milliseconds of CPU time, of user and system. */
async function cpu(work: () => Promise<void>): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

async function split(url: string): Promise<void> {
  const response = await request({ url, method: "POST", body: "{}", env: {} });
  const decoder = new TextDecoder();
  let events = 0;
  const parser = createParser({ onEvent: () => events++ });
  const reader = response.body?.getReader();
  for (let next = await reader?.read(); next && !next.done; next = await reader?.read()) {
    parser.feed(decoder.decode(next.value, { stream: true }));
  }
  if (events !== TOKENS + 2) throw new Error(`${events} events`);
}

async function answer(baseUrl: string): Promise<void> {
  const model = { provider: "custom", name: "m", protocol: "openai" as const, baseUrl, local: true, from: "" };
  const messages = [{ role: "user" as const, content: "hi" }];
  let chars = 0;
  for await (const event of chat({ model, messages, env: {}, timeoutMs: 60_000 })) {
    if (event.type === "delta") chars += event.text.length;
  }
  if (chars < TOKENS * 3) throw new Error(`${chars} characters`);
}
