/**
 * A small HTTP server for tests that plays its answers byte for byte: pieces, pauses, connections that are cut. It
 * records what it was asked, and fails on a request that nobody queued.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { setImmediate } from "node:timers";

/** A request as it came. */
export interface RecordedRequest {
  method: string;
  /** Path and query. */
  path: string;
  headers: Record<string, string>;
  body: string;
  /** The body as JSON; `{}` when it is none. */
  json: Record<string, unknown>;
  /** Settles when the connection or the answer is over, whoever ended it; `true` when the client left before the end. */
  closed: Promise<boolean>;
}

/** One step of an answer's body: bytes, something to wait for or to call, or the end of the connection. */
export type Step = string | Uint8Array | Promise<unknown> | (() => unknown) | "CUT";

/** The step that resets the connection. */
export const CUT = "CUT";

/** One answer. */
export interface Reply {
  /** @default 200 */
  status?: number;
  headers?: Record<string, string>;
  /** Each piece is a write of its own. */
  body?: string | Uint8Array | readonly Step[];
  /** Resets the connection before any answer. */
  reset?: boolean;
  /** What must have happened before the head is sent. */
  after?: Promise<unknown>;
}

/** Answers in the order of the requests, or one chosen for each; `undefined` for a request that must not come. */
export type Script =
  | readonly Reply[]
  | ((request: RecordedRequest, index: number) => Reply | undefined | Promise<Reply | undefined>);

/** A running server. */
export interface TestServer {
  /** `http://127.0.0.1:PORT`. */
  url: string;
  port: number;
  /** What came so far, oldest first. */
  requests: RecordedRequest[];
  /** Resolves with request number `index` (from 0) as soon as it is there. */
  request(index: number): Promise<RecordedRequest>;
  /** Requests that nobody queued. Tests that expect some look here; `close` throws when there are any left. */
  unexpected: string[];
  /** Ends all connections and stops. */
  close(): Promise<void>;
}

/** An answer in server-sent events: each text is one `data:` field. */
export function sse(...data: (string | object)[]): Reply {
  return {
    headers: { "content-type": "text/event-stream" },
    body: data.map((one) => `data: ${typeof one === "string" ? one : JSON.stringify(one)}\n\n`),
  };
}

/** An answer in lines of JSON. */
export function ndjson(...lines: object[]): Reply {
  return {
    headers: { "content-type": "application/x-ndjson" },
    body: lines.map((one) => `${JSON.stringify(one)}\n`),
  };
}

/** An answer that is one JSON document. */
export function json(value: unknown, status = 200, headers: Record<string, string> = {}): Reply {
  return { status, headers: { "content-type": "application/json", ...headers }, body: JSON.stringify(value) };
}

/** A body in pieces: whole, byte by byte, and cut inside each character that has more than one byte. */
export function cutUp(body: string): [name: string, pieces: Uint8Array[]][] {
  const bytes = new TextEncoder().encode(body);
  const pieces = (cuts: number[]) => [0, ...cuts].map((from, at) => bytes.slice(from, cuts[at] ?? bytes.length));
  const all = Array.from(bytes, (_, at) => at);
  return [
    ["whole", [bytes]],
    ["byte by byte", pieces(all.slice(1))],
    // 10xxxxxx: a byte within a character
    ["cut inside a character", pieces(all.filter((at) => ((bytes[at] ?? 0) & 0xc0) === 0x80))],
  ];
}

/** Starts a server on 127.0.0.1. */
export async function serve(script: Script): Promise<TestServer> {
  const requests: RecordedRequest[] = [];
  const unexpected: string[] = [];
  const sockets = new Set<Socket>();
  const waiting: { index: number; resolve: (request: RecordedRequest) => void }[] = [];
  const server = createServer((incoming, response) => {
    void answer(incoming, response).catch(() => response.destroy());
  });
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.setNoDelay(true);
    socket.on("error", () => undefined);
    socket.on("close", () => sockets.delete(socket));
  });

  async function answer(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const request = await record(incoming, response);
    const index = requests.push(request) - 1;
    for (const one of waiting) if (one.index === index) one.resolve(request);
    const reply = typeof script === "function" ? await script(request, index) : script[index];
    if (reply === undefined) {
      unexpected.push(`${request.method} ${request.path}`);
      response.writeHead(599).end("nobody queued an answer to this");
      return;
    }
    await play(reply, response);
  }

  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    requests,
    unexpected,
    request(index) {
      const there = requests[index];
      return there ? Promise.resolve(there) : new Promise((resolve) => waiting.push({ index, resolve }));
    },
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of sockets) socket.destroy();
      await closed;
      if (unexpected.length > 0) throw new Error(`requests that nobody queued: ${unexpected.join(", ")}`);
    },
  };
}

/** Starts a server, gives it to `use`, and closes it whatever happens. */
export async function withServer<T>(script: Script, use: (server: TestServer) => Promise<T>): Promise<T> {
  const server = await serve(script);
  let result: T;
  try {
    result = await use(server);
  } catch (error) {
    server.unexpected.length = 0; // the failure at hand says more
    await server.close();
    throw error;
  }
  await server.close();
  return result;
}

async function record(incoming: IncomingMessage, response: ServerResponse): Promise<RecordedRequest> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of incoming) chunks.push(chunk);
  const body = Buffer.concat(chunks).toString("utf8");
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(incoming.headers)) headers[name] = String(value);
  const closed = new Promise<boolean>((resolve) => {
    response.on("close", () => resolve(!response.writableFinished));
  });
  return { method: incoming.method ?? "", path: incoming.url ?? "", headers, body, json: parse(body), closed };
}

function parse(body: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(body);
    return typeof value === "object" && value !== null ? Object.fromEntries(Object.entries(value)) : {};
  } catch {
    return {}; // no JSON: the test looks at the text
  }
}

async function play(reply: Reply, response: ServerResponse): Promise<void> {
  await reply.after;
  if (reply.reset) return cut(response);
  response.writeHead(reply.status ?? 200, reply.headers ?? {});
  response.flushHeaders();
  const left = new Promise<void>((resolve) => response.once("close", resolve));
  const body = reply.body ?? [];
  for (const step of typeof body === "string" || body instanceof Uint8Array ? [body] : body) {
    if (step === CUT) return cut(response);
    if (step instanceof Promise) await step;
    else if (typeof step === "function") await step();
    else await write(response, step, left);
    if (response.destroyed) return;
  }
  response.end();
}

/** Writes, at the client's pace, and lets the bytes leave before the next ones. */
async function write(response: ServerResponse, piece: string | Uint8Array, left: Promise<void>): Promise<void> {
  if (piece.length === 0) return;
  const sent = new Promise<void>((resolve) => response.write(piece, () => resolve()));
  await Promise.race([sent, left]);
  await new Promise((resolve) => setImmediate(resolve));
}

/** Sends a reset where the runtime can (a closed connection elsewhere). */
function cut(response: ServerResponse): void {
  const socket = response.socket;
  if (socket && typeof socket.resetAndDestroy === "function") socket.resetAndDestroy();
  else socket?.destroy();
}
