/**
 * fetch as octavo needs it: redirects by hand, one rule for proxies in every runtime, no time limit but ours, and what
 * the body of an error says.
 *
 * @module
 */

import { OctavoError } from "./errors.ts";
import type { Env } from "./paths.ts";

export type { Env } from "./paths.ts";

/** One request. */
export interface HttpRequest {
  /** Where it goes: http or https. */
  url: string;
  /** @default "GET" */
  /** The HTTP method. */
  method?: string;
  /** Sent as they are, beside `user-agent: octavo`. */
  headers?: Record<string, string>;
  /** Sent as UTF-8. */
  body?: string;
  /** Names of headers that a redirect to another origin does not carry, beside `authorization` and `cookie`. */
  credentials?: string[];
  /** Where `HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY` and `NO_PROXY` are looked up, in lower case first. */
  env: Env;
  /** Ends the request and its body, at any point. */
  signal?: AbortSignal;
  /**
   * Milliseconds until the headers must be there.
   * @default no limit
   */
  timeoutMs?: number;
  /**
   * Whether a proxy of the environment may be used; loopback never goes through one.
   * @default true
   */
  proxy?: boolean;
}

/** Why a request got no response. */
export type HttpFailure =
  | "refused"
  | "reset"
  | "unknown host"
  | "certificate"
  | "timeout"
  | "redirect"
  | "proxy"
  | "network";

/** A request that got no response. */
export class HttpError extends OctavoError {
  /** The name of the class. */
  override name = "HttpError";
  /** Why. */
  readonly failure: HttpFailure;

  /** As every error of octavo; no key and no query of a URL is in `message`. `failure` says why. */
  constructor(message: string, failure: HttpFailure, options: { hint?: string; cause?: unknown } = {}) {
    super(message, options);
    this.failure = failure;
  }
}

/** Redirects followed before it is called a loop. */
export const MAX_REDIRECTS = 5;

/** Characters of an error's text that are shown. */
export const MAX_ERROR_CHARS = 200;

/** Characters of a body that are looked at for an error's text. */
const MAX_BODY_CHARS = 100_000;

/**
 * Sends a request; a response of any status is returned, except the redirects, which are followed: for GET and HEAD to
 * anywhere, without the credentials once the origin changes; for other methods only 307 and 308 within the origin.
 * Throws {@linkcode HttpError}, or the signal's reason when it is aborted.
 */
export async function request(request: HttpRequest): Promise<Response> {
  const method = request.method ?? "GET";
  const headers = headersOf(request);
  let url = request.url;
  for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
    const response = await send(request, url, method, headers);
    const location = response.headers.get("location");
    if (![301, 302, 303, 307, 308].includes(response.status) || location === null) return response;
    await response.body?.cancel();
    const next = redirectTarget({ from: url, location, method, status: response.status });
    if (new URL(next).origin !== new URL(url).origin) dropCredentials(headers, request.credentials ?? []);
    url = next;
  }
  throw new HttpError(`"${displayUrl(request.url)}" redirects more than ${MAX_REDIRECTS} times`, "redirect");
}

/** A runtime's own error for a bad header may show its value, which may be a key: it is not passed on. */
function headersOf(request: HttpRequest): Headers {
  try {
    return new Headers({ "user-agent": "octavo", ...request.headers });
  } catch {
    throw new HttpError(`A header for "${displayUrl(request.url)}" holds what no header can`, "network", {
      hint: "check the API key, and the headers of the user file",
    });
  }
}

/**
 * A response's text, as much of it as `maxChars` characters and `timeoutMs` milliseconds allow; what comes behind is not
 * read. A body that breaks off gives what came before. Rejects only with the signal's reason.
 */
export async function readText(
  response: Response,
  limits: { maxChars: number; timeoutMs: number; signal?: AbortSignal },
): Promise<string> {
  const reader = response.body?.getReader();
  if (reader === undefined) return "";
  const decoder = new TextDecoder();
  const timer = setTimeout(() => void reader.cancel().catch(() => undefined), limits.timeoutMs);
  let text = "";
  try {
    while (text.length < limits.maxChars) {
      const { done, value } = await reader.read();
      if (done) break;
      text += decoder.decode(value, { stream: true });
    }
  } catch {
    limits.signal?.throwIfAborted(); // else it broke off: what came has to do
  } finally {
    clearTimeout(timer);
    await reader.cancel().catch(() => undefined); // it may have ended by itself
  }
  return (text + decoder.decode()).slice(0, limits.maxChars);
}

/** Where a redirect leads, or an {@linkcode HttpError} when it is not to be followed. */
function redirectTarget(hop: { from: string; location: string; method: string; status: number }): string {
  const from = new URL(hop.from);
  const to = URL.parse(hop.location, from.href);
  const safe = hop.method === "GET" || hop.method === "HEAD";
  if (to === null || !/^https?:$/.test(to.protocol) || to.username || to.password) {
    throw new HttpError(`"${displayUrl(hop.from)}" redirects to an address that is none`, "redirect");
  }
  // A body is sent again only where the status asks for that (RFC 9110, 15.4.8 and 15.4.9), and never to somebody else.
  if (!safe && (to.origin !== from.origin || hop.status < 307)) {
    throw new HttpError(
      `"${displayUrl(hop.from)}" redirects to "${displayUrl(to.href)}", and a ${hop.method} is not sent on`,
      "redirect",
      { hint: `if that address is right, set it as the base URL: ${to.origin}` },
    );
  }
  return to.href;
}

function dropCredentials(headers: Headers, names: string[]): void {
  for (const name of ["authorization", "proxy-authorization", "cookie", ...names]) headers.delete(name);
}

/** One hop, with the limit for its headers. */
async function send(request: HttpRequest, url: string, method: string, headers: Headers): Promise<Response> {
  request.signal?.throwIfAborted();
  const late = new AbortController();
  const timer = request.timeoutMs === undefined ? undefined : setTimeout(() => late.abort(), request.timeoutMs);
  const proxy = request.proxy === false ? undefined : proxyFor(url, request.env);
  try {
    const fetchIt = await transport(proxy);
    return await fetchIt(url, {
      method,
      headers,
      redirect: "manual",
      signal: request.signal ? AbortSignal.any([request.signal, late.signal]) : late.signal,
      ...(request.body === undefined ? {} : { body: request.body }),
    });
  } catch (error) {
    request.signal?.throwIfAborted();
    if (late.signal.aborted) {
      throw new HttpError(`No answer from "${displayUrl(url)}" within ${request.timeoutMs} ms`, "timeout");
    }
    throw explain(error, url, proxy);
  } finally {
    clearTimeout(timer);
  }
}

/** A URL as it may be printed: no name, password, query or fragment. */
export function displayUrl(url: string): string {
  const parsed = URL.parse(url);
  return parsed === null ? "an address that is none" : parsed.origin + parsed.pathname.replace(/\/$/, "");
}

const FAILURES: readonly [HttpFailure, string, RegExp][] = [
  ["refused", "the connection is refused", /ECONNREFUSED|ConnectionRefused|connection refused/i],
  ["unknown host", "there is no such host", /ENOTFOUND|EAI_AGAIN|dns error|failed to lookup|DNSException|EAI_NONAME/i],
  ["certificate", "its certificate is not accepted", /certificate|CERT_|SELF_SIGNED|UNABLE_TO_|UnknownIssuer/i],
  ["timeout", "the connection takes too long", /ETIMEDOUT|TIMEOUT|timed out/i],
  // hyper (Deno) says SendRequest for a connection that ends before the response; undici "other side closed".
  [
    "reset",
    "the connection was closed",
    /ECONNRESET|EPIPE|UND_ERR_SOCKET|ConnectionClosed|closed|reset|terminated|hang up|SendRequest|incomplete|premature/i,
  ],
];

/** A runtime's own error as one of ours: the three word the same failure differently. */
function explain(error: unknown, url: string, proxy: string | undefined): HttpError {
  const told = failureOf(error);
  const asked = `No answer from "${displayUrl(url)}"`;
  const trust = told.failure === "certificate"
    ? { hint: "NODE_EXTRA_CA_CERTS names a file of authorities to trust" }
    : {};
  if (proxy === undefined) return new HttpError(`${asked}: ${told.words}`, told.failure, { cause: error, ...trust });
  const through = `${asked} through the proxy "${displayUrl(proxy)}"`;
  // a tunnel that is refused is the proxy's word, whatever the runtime calls it
  if (told.failure === "network" || /tunnel|UND_ERR_PRX/i.test(causes(error).join(" "))) {
    return new HttpError(`${through}: the proxy does not let it through`, "proxy", { cause: error });
  }
  return new HttpError(`${through}: ${told.words}`, told.failure, { cause: error, ...trust });
}

/** What kind of failure a runtime's error is, and octavo's words for it. */
export function failureOf(error: unknown): { failure: HttpFailure; words: string } {
  const text = causes(error).join(" ");
  for (const [failure, words, pattern] of FAILURES) {
    if (pattern.test(text)) return { failure, words };
  }
  return { failure: "network", words: "the request failed" };
}

function causes(error: unknown): string[] {
  const texts: string[] = [];
  for (let at = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth++) {
    const code: unknown = Reflect.get(at, "code");
    texts.push(typeof code === "string" ? code : "", at.message);
  }
  return texts;
}

/**
 * Whether a URL's host is this machine by its address: 127.0.0.0/8, ::1, the same inside IPv6, or `localhost`.
 * No name is looked up.
 */
export function isLoopback(url: string | URL): boolean {
  const parsed = typeof url === "string" ? URL.parse(url) : url;
  if (parsed === null) return false;
  // URL parsing has made every way to write an IPv4 address dotted, and every IPv6 address compressed.
  const host = parsed.hostname.replace(/\.$/, "").toLowerCase();
  return host === "localhost" || host === "[::1]" || /^127\.\d+\.\d+\.\d+$/.test(host) ||
    /^\[::ffff:7f[0-9a-f]{2}:[0-9a-f]{1,4}\]$/.test(host);
}

/** The proxy that the environment names for a URL, as curl reads it; none for loopback. */
export function proxyFor(url: string, env: Env): string | undefined {
  const target = new URL(url);
  if (isLoopback(target) || isExcluded(target, read(env, "no_proxy") ?? "")) return undefined;
  const named = read(env, target.protocol === "https:" ? "https_proxy" : "http_proxy") ?? read(env, "all_proxy");
  if (named === undefined) return undefined;
  return named.includes("://") ? named : `http://${named}`;
}

function read(env: Env, name: string): string | undefined {
  return env[name]?.trim() || env[name.toUpperCase()]?.trim() || undefined;
}

/** Whether NO_PROXY covers a host: `*`, a name with all below it, `host:port`, an address, an IPv4 range. */
function isExcluded(target: URL, list: string): boolean {
  const host = target.hostname.replace(/^\[|\]$/g, "").toLowerCase();
  const port = target.port || (target.protocol === "https:" ? "443" : "80");
  return list.toLowerCase().split(/[\s,]+/).some((entry) => {
    if (entry === "") return false;
    if (entry === "*") return true;
    if (entry.includes("/")) return inRange(host, entry);
    const [, name = "", wanted] = /^\[?(.*?)\]?(?::(\d+))?$/.exec(/^[^[]*:.*:/.test(entry) ? `[${entry}]` : entry) ??
      [];
    const bare = name.replace(/^\*?\./, "");
    return (wanted === undefined || wanted === port) && bare !== "" && (host === bare || host.endsWith(`.${bare}`));
  });
}

/** Whether an IPv4 address lies in `10.0.0.0/8`. */
function inRange(host: string, range: string): boolean {
  const [network = "", length = ""] = range.split("/");
  const address = ipv4(host);
  const base = ipv4(network);
  const bits = Number(length);
  if (address === undefined || base === undefined || !(bits >= 0 && bits <= 32)) return false;
  const size = 2 ** (32 - bits);
  return Math.floor(address / size) === Math.floor(base / size);
}

function ipv4(text: string): number | undefined {
  const match = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/.exec(text);
  return match?.slice(1).reduce((sum, part) => sum * 256 + Number(part), 0);
}

/** What an error response says: its status, and its text on one clean line, at most 200 characters together. */
export function errorText(status: number, body: string): string {
  const detail = errorDetail(body);
  return clip(detail === "" ? `HTTP ${status}` : `HTTP ${status}: ${detail}`);
}

/** The message in an error body of any shape, on one clean line of at most 200 characters; empty if there is none. */
export function errorDetail(body: string): string {
  const text = body.slice(0, MAX_BODY_CHARS).trim();
  const json = parseJson(text);
  if (json !== undefined) return clip(clean(messageIn(json) ?? ""));
  return clip(clean(/^<|<html|<!doctype/i.test(text) ? htmlText(text) : text));
}

/** A JSON text's value, or `undefined` when it is none. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // not JSON, which is no failure: the text speaks for itself
  }
}

/** The error object of a JSON body: what stands under `error`, else the body; `undefined` when it is no object. */
export function parseBody(body: string): Record<string, unknown> | undefined {
  const value = parseJson(body);
  const first: unknown = Array.isArray(value) ? value[0] : value;
  if (typeof first !== "object" || first === null) return undefined;
  const fields = Object.fromEntries(Object.entries(first));
  const inner: unknown = fields.error;
  return typeof inner === "object" && inner !== null ? Object.fromEntries(Object.entries(inner)) : fields;
}

/** The message in `{error: {message}}`, `{error: "…"}`, `[{error}]`, `{detail: [{msg}]}`, `{message}` and their like. */
export function messageIn(value: unknown): string | undefined {
  if (typeof value === "string") return value || undefined;
  if (Array.isArray(value)) return firstOf(value.map(messageIn));
  if (typeof value !== "object" || value === null) return undefined;
  const fields = new Map<string, unknown>(Object.entries(value));
  const inner = firstOf(["message", "error", "errors", "detail", "msg", "error_description", "title"]
    .map((name) => messageIn(fields.get(name))));
  // OpenRouter keeps what the provider behind it said in metadata.raw, under a message that says nothing
  const raw = rawOf(fields.get("metadata"));
  return raw !== undefined && inner !== undefined ? `${inner}: ${raw}` : inner ?? stringOf(fields.get("code"));
}

function rawOf(metadata: unknown): string | undefined {
  if (typeof metadata !== "object" || metadata === null) return undefined;
  const raw = stringOf(Reflect.get(metadata, "raw"));
  return raw === undefined ? undefined : messageIn(parseJson(raw)) ?? raw;
}

function stringOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

function firstOf(values: (string | undefined)[]): string | undefined {
  return values.find((value) => value !== undefined);
}

/** A page's title, else its words. */
function htmlText(html: string): string {
  const title = /<title[^>]*>([^<]*)/i.exec(html)?.[1]?.trim();
  if (title) return title;
  return html.replace(/<(script|style)\b[\s\S]*?<\/\1\s*>/gi, " ").replace(/<[^>]*>/g, " ");
}

/** One line without control characters, escapes of terminals and marks that turn the text's direction. */
function clean(text: string): string {
  // deno-lint-ignore no-control-regex
  return text.replace(/\u001b\[[0-9;?]*[ -/]*[@-~]/g, "")
    .replace(/[\p{Cf}\p{Cs}]/gu, "")
    .replace(/[\s\p{Cc}]+/gu, " ")
    .trim();
}

function clip(text: string): string {
  if (text.length <= MAX_ERROR_CHARS) return text;
  const cut = text.slice(0, MAX_ERROR_CHARS - 1);
  return `${/[\ud800-\udbff]$/.test(cut) ? cut.slice(0, -1) : cut}…`;
}

/** Characters below which nothing is taken for a secret: it would only make a text unreadable. */
const MIN_SECRET_CHARS = 4;

/** Replaces each secret in what a server says, so that one that repeats a key does not get it printed. */
export function scrub(text: string, secrets: readonly (string | undefined)[]): string {
  let clean = text;
  for (const secret of secrets) {
    if (secret !== undefined && secret.length >= MIN_SECRET_CHARS) clean = clean.replaceAll(secret, "[key]");
  }
  return clean;
}

// --- the three runtimes ---------------------------------------------------------------------------------------------

type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** A runtime's fetch without a time limit, through the proxy or through none. */
function transport(proxy: string | undefined): Promise<Fetch> | Fetch {
  if (Reflect.has(globalThis, "Bun")) return bunFetch(proxy);
  const deno = denoRuntime();
  return deno ? denoFetch(deno, proxy) : nodeFetch(proxy);
}

/** Bun takes both as fields of its own; `proxy: false` also keeps those of the environment away. */
function bunFetch(proxy: string | undefined): Fetch {
  const own: object = { timeout: false, proxy: proxy ?? false };
  return (url, init) => fetch(url, { ...init, ...own });
}

interface DenoRuntime {
  createHttpClient(options: object): unknown;
  env: { get(name: string): string | undefined; set(name: string, value: string): void; delete(name: string): void };
  permissions: { querySync(descriptor: { name: "env"; variable: string }): { state: string } };
}

function denoRuntime(): DenoRuntime | undefined {
  const deno: unknown = Reflect.get(globalThis, "Deno");
  return isDeno(deno) ? deno : undefined;
}

function isDeno(value: unknown): value is DenoRuntime {
  return typeof value === "object" && value !== null && "createHttpClient" in value && "env" in value;
}

const denoClients = new Map<string, unknown>();

/** Deno reads the proxies of the environment when it makes a client, also its own, and knows no option against them. */
function denoFetch(deno: DenoRuntime, proxy: string | undefined): Fetch {
  const key = proxy ?? "";
  const client = denoClients.get(key) ??
    (proxy === undefined ? directClient(deno) : deno.createHttpClient({ proxy: { url: proxy } }));
  denoClients.set(key, client);
  const own: object = { client };
  return (url, init) => fetch(url, { ...init, ...own });
}

const PROXY_VARIABLES = ["http_proxy", "https_proxy", "all_proxy"].flatMap((name) => [name, name.toUpperCase()]);

/** A client made while the environment names no proxy: nothing else can run in between. */
function directClient(deno: DenoRuntime): unknown {
  const saved = new Map<string, string>();
  for (const name of PROXY_VARIABLES) {
    // asked first, because a look at a variable that is not allowed would ask the person
    const allowed = deno.permissions.querySync({ name: "env", variable: name }).state === "granted";
    const value = allowed ? deno.env.get(name) : undefined;
    if (value !== undefined) saved.set(name, value);
  }
  for (const name of saved.keys()) deno.env.delete(name);
  try {
    return deno.createHttpClient({});
  } finally {
    for (const [name, value] of saved) deno.env.set(name, value);
  }
}

interface Undici {
  fetch(url: string, init: object): Promise<Response>;
  Agent: new (options: object) => object;
  ProxyAgent: new (options: object) => object;
}

function isUndici(value: unknown): value is Undici {
  return typeof value === "object" && value !== null && "fetch" in value && "Agent" in value && "ProxyAgent" in value;
}

let undici: Promise<Undici | undefined> | undefined;

/** The package undici, if there is one. Its fetch goes with its agents: Node's own takes only those of its own version. */
function loadUndici(): Promise<Undici | undefined> {
  const name = "undici"; // a variable, so that no bundler takes it in: bundling it breaks it
  undici ??= import(name).then((module: unknown) => isUndici(module) ? module : undefined, () => undefined);
  return undici;
}

/** Loads what the first request needs, so that its time is the server's. */
export async function prepare(): Promise<void> {
  if (!Reflect.has(globalThis, "Bun") && !denoRuntime()) await loadUndici();
}

const nodeAgents = new Map<string, object>();

async function nodeFetch(proxy: string | undefined): Promise<Fetch> {
  const library = await loadUndici();
  if (library === undefined) return fetch;
  const key = proxy ?? "";
  const limits = { headersTimeout: 0, bodyTimeout: 0 };
  const dispatcher = nodeAgents.get(key) ??
    (proxy === undefined ? new library.Agent(limits) : new library.ProxyAgent({ uri: proxy, ...limits }));
  nodeAgents.set(key, dispatcher);
  return (url, init) => library.fetch(url, { ...init, dispatcher });
}

/**
 * What this runtime limits against our will: a sentence for the person, or `undefined` when there is nothing to say.
 * Only Node without the package undici has something.
 */
export async function runtimeLimit(env: Env): Promise<string | undefined> {
  if (Reflect.has(globalThis, "Bun") || denoRuntime() || await loadUndici()) return undefined;
  const proxied = ["https_proxy", "http_proxy", "all_proxy"].some((name) => read(env, name) !== undefined);
  const limit = "a model that is silent for five minutes is cut off";
  return `Node without the package undici: ${limit}${proxied ? ", and proxies are not used" : ""} (npm install undici)`;
}
