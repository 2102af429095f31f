/**
 * One review of a repository at a time: a lock file that says who holds it.
 *
 * A lock counts while its process lives. Where that cannot be found out (Deno without the permission to ask, a process
 * of another machine on a shared home), the age of the file decides: its holder touches it every {@linkcode HEARTBEAT_MS}
 * as long as it runs, so one that nobody touched for {@linkcode STALE_AFTER_MS} belongs to nobody. Where no lock can be
 * written (a read-only home, a full disk), there is none, and the caller is told: such a machine can review all the same.
 *
 * @module
 */

import { format as formatDuration } from "@std/fmt/duration";
import { createHash, randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { mkdir, open, readFile, stat, unlink, utimes } from "node:fs/promises";
import { hostname } from "node:os";
import { dirname, join } from "node:path";
import process from "node:process";
import { clearInterval, setInterval } from "node:timers";
import { setTimeout as pause } from "node:timers/promises";
import { BusyError } from "./errors.ts";

/** Milliseconds after which the holder touches its lock again. */
export const HEARTBEAT_MS = 15_000;

/**
 * Milliseconds after which a lock that nobody touched is in nobody's way, where only its age can tell: eight missed
 * heartbeats, so that a machine under load, a slow network file system or clocks a minute apart are no reason.
 */
export const STALE_AFTER_MS = 8 * HEARTBEAT_MS;

/** A lock that somebody is just writing or replacing is looked at again this often … */
const ATTEMPTS = 40;
/** … and this many milliseconds apart: 2 seconds in all, for what takes microseconds. */
const RETRY_MS = 50;

/** What a lock is about, and what is needed to decide whether another one counts. */
export interface LockOptions {
  /** The folder of octavo's state; the lock is in its `locks` folder, which is made. */
  stateDir: string;
  /** What is locked: the real path of the repository's git folder, or `""` outside any repository. */
  key: string;
  /** The process that holds the lock. */
  pid: number;
  /** The time, in milliseconds since 1970. */
  now: () => number;
  /**
   * Whether a process of this machine lives; `undefined` where the runtime may not ask.
   * @default asks the system
   */
  isAlive?: (pid: number, processStart: string | undefined) => boolean | undefined;
  /**
   * The name of this machine; `undefined` where the runtime may not tell.
   * @default the system's
   */
  host?: string | undefined;
  /**
   * Milliseconds between two touches of the lock.
   * @default HEARTBEAT_MS
   */
  heartbeatMs?: number;
  /** Ends the waiting for a lock, and releases it when aborted. */
  signal?: AbortSignal;
}

/** A lock that is held, or the word that there is none. */
export interface Lock {
  /** The lock file. */
  path: string;
  /** Why there is no lock, and what that means: a sentence to print. Absent where the lock is held. */
  notice?: string;
  /** Gives the lock back; once is enough, twice is no harm. Never touches a lock of somebody else. */
  release(): Promise<void>;
}

/** What a lock file says of who holds it. */
interface Holder {
  pid: number;
  host?: string | undefined;
  /** Milliseconds since 1970. */
  startedAt: number;
  /** Tells one lock from the next, whoever holds it. */
  token: string;
  /** When the process started, as the system counts it: tells it from a later one with the same number. */
  processStart?: string | undefined;
}

/** The options of one claim, with their defaults, and who claims. */
interface Claim {
  self: Holder;
  key: string;
  now: () => number;
  isAlive: (pid: number, processStart: string | undefined) => boolean | undefined;
  signal: AbortSignal | undefined;
}

/** A lock file as it was found. */
interface Found {
  /** The same for the same lock, and for no other. */
  id: string;
  holder: Holder | undefined;
  /** Milliseconds since it was last touched. */
  age: number;
  /** Whether it counts no more. */
  stale: boolean;
  /** Whether its age had to decide. */
  byAge: boolean;
}

/**
 * Takes the lock of a repository.
 *
 * @throws {BusyError} When another review holds it; the message names its process and how long it has run.
 * @throws The signal's reason, when it is aborted before the lock is there.
 */
export async function acquireLock(options: LockOptions): Promise<Lock> {
  const { stateDir, key, pid, now, isAlive = isProcessAlive, heartbeatMs = HEARTBEAT_MS, signal } = options;
  const host = "host" in options ? options.host : machineName();
  const path = join(stateDir, "locks", `${digest(key)}.json`);
  const self = { pid, host, startedAt: now(), token: randomUUID(), processStart: processRecord(pid)?.start };
  signal?.throwIfAborted();
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    await claim(path, { self, key, now, isAlive, signal });
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof BusyError) throw error;
    return { path, notice: withoutLock(error), release: () => Promise.resolve() };
  }
  return hold(path, self.token, { now, heartbeatMs, signal });
}

function withoutLock(error: unknown): string {
  const why = error instanceof Error ? error.message : String(error);
  return `No lock could be written, so a second review of the same repository goes unnoticed: ${why}`;
}

/** Creates the lock file, as soon as there is none that counts. */
async function claim(path: string, context: Claim): Promise<void> {
  let found: Found | undefined;
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    if (await create(path, context)) return;
    found = await inspect(path, context);
    if (found === undefined) continue; // given back meanwhile
    if (!found.stale && found.holder) throw busyError(path, found, context);
    if (found.stale && await removeStale(path, found, context)) continue;
    await pause(RETRY_MS, undefined, context.signal ? { signal: context.signal } : {});
  }
  throw busyError(path, found, context);
}

/** Creates the lock file; false when there is one. */
async function create(path: string, { self, key }: Claim): Promise<boolean> {
  let file;
  try {
    file = await open(path, "wx", 0o600);
  } catch (error) {
    if (codeOf(error) === "EEXIST") return false;
    throw error;
  }
  try {
    await file.writeFile(JSON.stringify({ version: 1, ...self, key }) + "\n");
  } catch (error) {
    await unlink(path);
    throw error;
  } finally {
    await file.close();
  }
  return true;
}

/** Reads a lock file; `undefined` when it is gone. */
async function inspect(path: string, { self, now, isAlive }: Claim): Promise<Found | undefined> {
  let text: string;
  let touched: number;
  try {
    touched = (await stat(path)).mtimeMs;
    text = await readFile(path, "utf8");
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    throw error;
  }
  const holder = parseHolder(text); // none in a lock that is just being written, or whose writer died over it
  const here = self.host !== undefined && holder?.host === self.host;
  const alive = holder && here ? isAlive(holder.pid, holder.processStart) : undefined;
  // A time in the future is as wrong as one long ago: a running holder would have corrected it.
  const age = Math.abs(now() - touched);
  const stale = alive === undefined ? age > STALE_AFTER_MS : !alive;
  return { id: digest(text), holder, age, stale, byAge: alive === undefined };
}

/**
 * Removes a lock that counts no more; false when somebody else is at it.
 *
 * Of two that found the same lock stale, the slower one must not remove what the faster one has put in its place. So
 * only the holder of a second lock, named after the stale one, may remove it, and looks again before it does. Should
 * that one die over it, its lock is stale in turn and goes the same way.
 */
async function removeStale(path: string, found: Found, context: Claim): Promise<boolean> {
  const permit = `${path}.${found.id}`;
  try {
    await claim(permit, context);
  } catch (error) {
    if (error instanceof BusyError) return false;
    throw error;
  }
  try {
    const still = await inspect(path, context);
    if (still?.stale && still.id === found.id) await unlink(path);
    return true;
  } finally {
    await unlink(permit).catch(ignoreGone);
  }
}

interface HoldOptions {
  now: () => number;
  heartbeatMs: number;
  signal: AbortSignal | undefined;
}

function hold(path: string, token: string, { now, heartbeatMs, signal }: HoldOptions): Lock {
  const heartbeat = setInterval(() => void touch(path, token, now), heartbeatMs);
  heartbeat.unref(); // a lock keeps no process running
  let released: Promise<void> | undefined;
  const release = () => released ??= giveBack();
  const onAbort = () => void release();
  async function giveBack(): Promise<void> {
    clearInterval(heartbeat);
    signal?.removeEventListener("abort", onAbort);
    // One that cannot be removed is stale as soon as this process has ended.
    if (await isOurs(path, token)) await unlink(path).catch(() => undefined);
  }
  signal?.addEventListener("abort", onAbort, { once: true });
  if (signal?.aborted) onAbort();
  return { path, release };
}

async function touch(path: string, token: string, now: () => number): Promise<void> {
  const seconds = now() / 1000;
  // Where it fails, the lock merely looks older than it is to those who have only its age to go by.
  if (await isOurs(path, token)) await utimes(path, seconds, seconds).catch(() => undefined);
}

async function isOurs(path: string, token: string): Promise<boolean> {
  try {
    return parseHolder(await readFile(path, "utf8"))?.token === token;
  } catch {
    return false; // gone or unreadable: not ours to touch
  }
}

function ignoreGone(error: unknown): void {
  if (codeOf(error) !== "ENOENT") throw error;
}

function parseHolder(text: string): Holder | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (typeof value !== "object" || value === null) return undefined;
  const { pid, host, startedAt, token, processStart }: Partial<Record<string, unknown>> = { ...value };
  // process.kill takes 0 and below for groups of processes.
  if (typeof pid !== "number" || !Number.isSafeInteger(pid) || pid < 1) return undefined;
  if (typeof startedAt !== "number" || typeof token !== "string") return undefined;
  return {
    pid,
    startedAt,
    token,
    host: typeof host === "string" ? host : undefined,
    processStart: typeof processStart === "string" ? processStart : undefined,
  };
}

function busyError(path: string, found: Found | undefined, { self, key, now }: Claim): BusyError {
  const what = key === "" ? "Another review outside any repository" : "Another review of this repository";
  const holder = found?.holder;
  if (!found || !holder) {
    return new BusyError(`${what} is just starting`, { hint: `wait for it, or if there is none, remove ${path}` });
  }
  const elapsed = Math.max(0, now() - holder.startedAt);
  const since = elapsed < 1000 ? "just started" : `for ${formatDuration(floorToSecond(elapsed), { ignoreZero: true })}`;
  const where = holder.host === undefined || holder.host === self.host ? "" : ` on "${holder.host}"`;
  const hint = found.byAge
    ? `wait for it; should it be gone, its lock counts for ${
      seconds(STALE_AFTER_MS - found.age)
    } more, or remove ${path}`
    : `wait for it, or stop process ${holder.pid}`;
  return new BusyError(`${what} runs: process ${holder.pid}${where}, ${since}`, { hint });
}

function floorToSecond(milliseconds: number): number {
  return Math.floor(milliseconds / 1000) * 1000;
}

function seconds(milliseconds: number): string {
  return `${Math.max(1, Math.ceil(milliseconds / 1000))} s`;
}

/** Whether a process of this machine lives; `undefined` when the runtime may not ask. */
function isProcessAlive(pid: number, start: string | undefined): boolean | undefined {
  if (!denoGrants({ name: "run" })) return undefined;
  try {
    process.kill(pid, 0);
  } catch (error) {
    const code = codeOf(error);
    if (code === "ESRCH") return false;
    // EPERM: it lives, as somebody else's. Anything else (Deno's NotCapable) says nothing about the process.
    return code === "EPERM" ? true : undefined;
  }
  const now = processRecord(pid);
  if (!now) return true;
  // Z: it has ended, and only waits for a parent that does not ask, as the first process of many containers.
  if (now.state === "Z") return false;
  // The number is in use again: after a restart of the machine or of a container.
  return start === undefined || start === now.start;
}

/** What Linux says of a process: its state, and when it started, in ticks since the boot (proc(5), fields 3 and 22). */
function processRecord(pid: number): { state: string; start: string } | undefined {
  if (process.platform !== "linux" || "Deno" in globalThis) return undefined; // Deno reads there only with --allow-all
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    const [state, ...rest] = stat.slice(stat.lastIndexOf(")") + 2).split(" "); // a program's name may hold anything
    const start = rest[18];
    return state === undefined || start === undefined ? undefined : { state, start };
  } catch {
    return undefined; // gone, or hidden from us
  }
}

function machineName(): string | undefined {
  return denoGrants({ name: "sys", kind: "hostname" }) ? hostname() : undefined;
}

/** Whether Deno has been granted something; without a look first, it would ask the person at the terminal. */
function denoGrants(permission: { name: string; kind?: string }): boolean {
  const deno: unknown = Reflect.get(globalThis, "Deno");
  return !isDeno(deno) || deno.permissions.querySync(permission).state === "granted";
}

function isDeno(value: unknown): value is { permissions: { querySync(permission: object): { state: string } } } {
  return typeof value === "object" && value !== null && "permissions" in value;
}

function digest(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 32);
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && "code" in error ? error.code : undefined;
}
