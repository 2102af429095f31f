import { assert, assertEquals, assertInstanceOf, assertMatch, assertRejects, assertStringIncludes } from "@std/assert";
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { BusyError } from "../errors.ts";
import { acquireLock, type Lock, type LockOptions, STALE_AFTER_MS } from "../lock.ts";
import { withFolder } from "./support.ts";

const TIMEOUT = { timeout: 60_000 };
const IN_DENO = "Deno" in globalThis;

// The processes that compete are this file again, started as `lock_test.ts child STATE_DIR`.
if (process.argv[2] === "child") await competeAsChild(process.argv[3]!);
else defineTests();

/** Takes the lock at the first line on stdin, says how that went, gives it back when stdin ends. */
async function competeAsChild(stateDir: string): Promise<void> {
  const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
  console.log("ready");
  await lines.next();
  try {
    const lock = await acquireLock(options(stateDir));
    console.log(lock.notice ? `none ${lock.notice}` : "held");
    await lines.next();
    await lock.release();
  } catch (error) {
    console.log(error instanceof BusyError ? `busy ${error.message} / ${error.hint}` : `failed ${error}`);
  }
}

function options(stateDir: string, more: Partial<LockOptions> = {}): LockOptions {
  return { stateDir, key: "/some/repository/.git", pid: process.pid, now: Date.now, ...more };
}

interface Child {
  process: ChildProcessWithoutNullStreams;
  /** The next line it prints. */
  line(): Promise<string>;
  /** Settled when it has ended. */
  ended: Promise<unknown>;
}

/** Starts a competitor and waits until it is ready. */
async function startChild(stateDir: string, denoFlags = ["-A"]): Promise<Child> {
  const script = [fileURLToPath(import.meta.url), "child", stateDir];
  const child = spawn(process.execPath, IN_DENO ? ["run", "--no-prompt", ...denoFlags, ...script] : script);
  child.stderr.pipe(process.stderr);
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const ended = new Promise((resolve) => child.on("close", resolve));
  const line = async () => (await lines.next()).value ?? "(ended)";
  assertEquals(await line(), "ready");
  return { process: child, line, ended };
}

/** A number that no process has any more. */
async function deadPid(): Promise<number> {
  const child = spawn(process.execPath, ["--version"], { stdio: "ignore" });
  await new Promise((resolve) => child.on("close", resolve));
  return child.pid!;
}

/** Takes a lock for a process that will not give it back, and ends its heartbeat. */
async function leaveLock(stateDir: string, more: Partial<LockOptions>): Promise<string> {
  const lock = await acquireLock(options(stateDir, more));
  const text = readFileSync(lock.path, "utf8");
  await lock.release();
  writeFileSync(lock.path, text);
  return lock.path;
}

async function refusal(attempt: Promise<Lock>): Promise<BusyError> {
  const error = await attempt.then(() => undefined, (error: unknown) => error);
  assertInstanceOf(error, BusyError);
  return error;
}

function defineTests(): void {
  test("acquireLock() leaves nothing behind when it is given back, once or twice", async () => {
    await withFolder(async (dir) => {
      const lock = await acquireLock(options(dir));
      assertEquals(lock.notice, undefined);
      assertEquals(JSON.parse(readFileSync(lock.path, "utf8")).pid, process.pid);
      if (process.platform !== "win32") assertEquals(statSync(lock.path).mode & 0o777, 0o600);
      await Promise.all([lock.release(), lock.release()]);
      await lock.release();
      assertEquals(readdirSync(join(dir, "locks")), []);
      await (await acquireLock(options(dir))).release();
    });
  });

  test("acquireLock() lets reviews of two repositories run side by side", async () => {
    await withFolder(async (dir) => {
      const one = await acquireLock(options(dir, { key: "/one/.git" }));
      const two = await acquireLock(options(dir, { key: "/two/.git" }));
      const none = await acquireLock(options(dir, { key: "" }));
      const error = await refusal(acquireLock(options(dir, { key: "" })));
      assertStringIncludes(error.message, "outside any repository");
      await Promise.all([one, two, none].map((lock) => lock.release()));
    });
  });

  test("acquireLock() refuses with the first one's process id and how long it has run", TIMEOUT, async () => {
    await withFolder(async (dir) => {
      const first = await startChild(dir);
      first.process.stdin.write("go\n");
      assertEquals(await first.line(), "held");
      const soon = await refusal(acquireLock(options(dir, { now: () => Date.now() - 60_000 })));
      assertStringIncludes(soon.message, `process ${first.process.pid}, just started`);
      const later = await refusal(acquireLock(options(dir, { now: () => Date.now() + 3 * 60_000 })));
      assertMatch(later.message, new RegExp(`runs: process ${first.process.pid}, for 3m( \\d+s)?$`));
      assertEquals(later.exitCode, 3);
      first.process.stdin.end();
      await first.ended;
      await (await acquireLock(options(dir))).release();
    });
  });

  test("acquireLock() replaces the lock of a killed process at once", TIMEOUT, async () => {
    await withFolder(async (dir) => {
      const first = await startChild(dir);
      first.process.stdin.write("go\n");
      assertEquals(await first.line(), "held");
      first.process.kill("SIGKILL");
      await first.ended;
      const lock = await acquireLock(options(dir));
      assertEquals(JSON.parse(readFileSync(lock.path, "utf8")).pid, process.pid);
      await lock.release();
      assertEquals(readdirSync(join(dir, "locks")), []);
    });
  });

  test("acquireLock() gives one stale lock to one of many processes that want it", TIMEOUT, async () => {
    await withFolder(async (dir) => {
      await leaveLock(dir, { pid: await deadPid() });
      const children = await Promise.all(Array.from({ length: 4 }, () => startChild(dir)));
      for (const child of children) child.process.stdin.write("go\n");
      const answers = await Promise.all(children.map((child) => child.line()));
      const holder = children[answers.indexOf("held")];
      for (const child of children) child.process.stdin.end();
      await Promise.all(children.map((child) => child.ended));
      assertEquals(answers.filter((answer) => answer === "held").length, 1, answers.join("\n"));
      const busy = answers.filter((answer) => answer.startsWith("busy"));
      assertEquals(busy.length, 3, answers.join("\n"));
      for (const answer of busy) assertStringIncludes(answer, `process ${holder?.process.pid}`);
    });
  });

  test("acquireLock() has one winner a round however claims interleave", TIMEOUT, async () => {
    await withFolder(async (dir) => {
      const gone = await deadPid();
      const isAlive = (pid: number) => pid !== gone;
      for (let round = 0; round < 40; round++) {
        await leaveLock(dir, { pid: gone, isAlive });
        const claims = Array.from({ length: 8 }, (_, at) => acquireLock(options(dir, { pid: at + 1, isAlive })));
        const outcomes = await Promise.allSettled(claims);
        const held = outcomes.filter((outcome) => outcome.status === "fulfilled");
        assertEquals(held.map((outcome) => outcome.value.notice), [undefined]);
        for (const outcome of outcomes) {
          if (outcome.status === "rejected") assertInstanceOf(outcome.reason, BusyError);
        }
        await held[0]!.value.release();
        assertEquals(readdirSync(join(dir, "locks")), []);
      }
    });
  });

  test("acquireLock() goes on where another process died while it replaced a stale lock", async () => {
    await withFolder(async (dir) => {
      const gone = await deadPid();
      const isAlive = (pid: number) => pid !== gone;
      const path = await leaveLock(dir, { pid: gone, isAlive });
      // Its permit is named after the stale lock, and stale as well.
      const permit = `${path}.${createHash("sha256").update(readFileSync(path)).digest("hex").slice(0, 32)}`;
      writeFileSync(permit, readFileSync(path, "utf8"));
      const lock = await acquireLock(options(dir, { isAlive }));
      assertEquals(lock.notice, undefined);
      await lock.release();
      assertEquals(readdirSync(join(dir, "locks")), []);
    });
  });

  test("acquireLock() takes a process of another user as alive", async () => {
    await withFolder(async (dir) => {
      await leaveLock(dir, { pid: 1 }); // signalling it gives EPERM, or works for root
      assertStringIncludes((await refusal(acquireLock(options(dir)))).message, "process 1,");
    });
  });

  test("acquireLock() lets the age decide where the runtime may not ask for a process", async () => {
    await withFolder(async (dir) => {
      const isAlive = () => undefined;
      const path = await leaveLock(dir, { pid: await deadPid(), isAlive });
      const error = await refusal(acquireLock(options(dir, { isAlive })));
      assertMatch(error.hint ?? "", /its lock counts for 1[12]\d s more, or remove /);
      assertStringIncludes(error.hint ?? "", path);
      const now = () => Date.now() + STALE_AFTER_MS + 1000;
      await (await acquireLock(options(dir, { isAlive, now }))).release();
    });
  });

  test("acquireLock() takes a lock from the future as no younger than one from the past", async () => {
    await withFolder(async (dir) => {
      const path = await leaveLock(dir, { isAlive: () => undefined });
      const later = Date.now() / 1000 + 2 * STALE_AFTER_MS / 1000;
      utimesSync(path, later, later);
      await (await acquireLock(options(dir, { isAlive: () => undefined }))).release();
    });
  });

  test("acquireLock() does not ask for a process of another machine here, its age decides", async () => {
    await withFolder(async (dir) => {
      await leaveLock(dir, { host: "build-7", pid: await deadPid() });
      const error = await refusal(acquireLock(options(dir, { host: "laptop" })));
      assertStringIncludes(error.message, 'on "build-7"');
      const now = () => Date.now() + STALE_AFTER_MS + 1000;
      await (await acquireLock(options(dir, { host: "laptop", now, isAlive: () => true }))).release();
    });
  });

  test("a held lock is touched again and again, so that its age means something", TIMEOUT, async () => {
    await withFolder(async (dir) => {
      const lock = await acquireLock(options(dir, { heartbeatMs: 5 }));
      utimesSync(lock.path, 1000, 1000);
      while (statSync(lock.path).mtimeMs < Date.now() - 60_000) await pause(5);
      assertMatch((await refusal(acquireLock(options(dir, { isAlive: () => undefined })))).message, /runs: process/);
      await lock.release();
    });
  });

  test("acquireLock() knows a process that has only the same number", {
    skip: IN_DENO || process.platform !== "linux" ? "needs /proc" : false,
  }, async () => {
    await withFolder(async (dir) => {
      const path = await leaveLock(dir, {});
      await refusal(acquireLock(options(dir)));
      const holder = JSON.parse(readFileSync(path, "utf8"));
      writeFileSync(path, JSON.stringify({ ...holder, processStart: "1" }));
      await (await acquireLock(options(dir))).release();
    });
  });

  test("acquireLock() takes a process that has ended without being waited for as gone", {
    skip: IN_DENO || process.platform !== "linux" ? "needs /proc" : false,
    ...TIMEOUT,
  }, async () => {
    await withFolder(async (dir) => {
      // The shell's child ends while the program that replaces the shell never waits for it.
      const parent = spawn("sh", ["-c", "sleep 0.3 & echo $!; exec sleep 60"], {
        stdio: ["ignore", "pipe", "ignore"],
      });
      try {
        const line = (await createInterface({ input: parent.stdout })[Symbol.asyncIterator]().next()).value;
        const pid = Number(line);
        while (!/\) Z /.test(readFileSync(`/proc/${pid}/stat`, "utf8"))) await pause(5);
        await leaveLock(dir, { pid });
        await (await acquireLock(options(dir))).release();
      } finally {
        parent.kill("SIGKILL");
      }
    });
  });

  test("acquireLock() waits a moment for the name in a lock that is just being written", TIMEOUT, async () => {
    await withFolder(async (dir) => {
      const path = await leaveLock(dir, { pid: 1 });
      const text = readFileSync(path, "utf8");
      writeFileSync(path, "");
      const attempt = refusal(acquireLock(options(dir)));
      setTimeout(() => writeFileSync(path, text), 100);
      assertStringIncludes((await attempt).message, "process 1,");
    });
  });

  test("acquireLock() replaces a lock that says nothing only when it is old", TIMEOUT, async () => {
    await withFolder(async (dir) => {
      const path = await leaveLock(dir, {});
      for (const text of ["", "{", "[]", '{"pid":0,"startedAt":1,"token":"t"}', '{"pid":"12"}']) {
        writeFileSync(path, text);
        const old = Date.now() / 1000 - STALE_AFTER_MS / 1000 - 10;
        utimesSync(path, old, old);
        await (await acquireLock(options(dir))).release();
      }
      writeFileSync(path, "{");
      assertStringIncludes((await refusal(acquireLock(options(dir)))).hint ?? "", path);
    });
  });

  test("acquireLock() says so and goes on where no lock can be written", async () => {
    await withFolder(async (dir) => {
      writeFileSync(join(dir, "file"), "");
      const lock = await acquireLock(options(join(dir, "file")));
      assertMatch(lock.notice ?? "", /^No lock could be written, .*: E(NOTDIR|EXIST)/);
      await lock.release();
    });
  });

  test("release() never removes a lock that is somebody else's by now", async () => {
    await withFolder(async (dir) => {
      const lock = await acquireLock(options(dir));
      writeFileSync(lock.path, readFileSync(lock.path, "utf8").replace(/"token":"[^"]*"/, '"token":"another"'));
      await lock.release();
      assert(existsSync(lock.path));
    });
  });

  test("a lock is given back when its review is aborted", TIMEOUT, async () => {
    await withFolder(async (dir) => {
      const controller = new AbortController();
      const lock = await acquireLock(options(dir, { signal: controller.signal }));
      controller.abort();
      await lock.release(); // the same release, awaited
      assert(!existsSync(lock.path));
    });
  });

  test("acquireLock() ends with the signal's reason, also while it waits", TIMEOUT, async () => {
    await withFolder(async (dir) => {
      class Stopped extends Error {}
      const signal = AbortSignal.abort(new Stopped("stop"));
      await assertRejects(() => acquireLock(options(dir, { signal })), Stopped);
      await mkdir(join(dir, "locks"), { recursive: true });
      const path = await leaveLock(dir, {});
      writeFileSync(path, "");
      const controller = new AbortController();
      const attempt = acquireLock(options(dir, { signal: controller.signal }));
      setTimeout(() => controller.abort(new Stopped("stop")), 20);
      await assertRejects(() => attempt, Stopped);
    });
  });

  test("without the permission to ask, Deno takes neither a living nor a dead process for the other", {
    skip: IN_DENO ? false : "about Deno",
    ...TIMEOUT,
  }, async () => {
    await withFolder(async (dir) => {
      const flags = ["--allow-run=git", "--allow-read", "--allow-write", "--allow-env"];
      const path = await leaveLock(dir, { pid: await deadPid() });
      const fresh = await startChild(dir, flags);
      fresh.process.stdin.end("go\n");
      assertMatch(await fresh.line(), /^busy .* its lock counts for \d+ s more/);
      await fresh.ended;
      const old = Date.now() / 1000 - STALE_AFTER_MS / 1000 - 10;
      utimesSync(path, old, old);
      const next = await startChild(dir, flags);
      next.process.stdin.end("go\n");
      assertEquals(await next.line(), "held");
      await next.ended;
    });
  });
}
