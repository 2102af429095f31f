import { assert, assertEquals, assertInstanceOf, assertMatch, assertRejects, assertStringIncludes } from "@std/assert";
import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { describe, test } from "node:test";
import { ProcessError, run, stream } from "../process.ts";
import { withFolder } from "./support.ts";

const env = { PATH: process.env["PATH"] };
const decoder = new TextDecoder();

/** Runs a script of the shell. */
function sh(script: string, options: Parameters<typeof run>[2] = {}): ReturnType<typeof run> {
  return run("sh", ["-c", script], { env, ...options });
}

/** Whether a process is there, and no zombie. */
function lives(pid: number): boolean {
  const { stdout } = spawnSync("ps", ["-o", "stat=", "-p", String(pid)], { encoding: "utf8", env });
  return /^[^Z\s]/.test(stdout.trim());
}

describe("run()", () => {
  test("run() gives output, stderr and exit code of a program", async () => {
    const result = await sh("printf out; printf err >&2; exit 3");
    assertEquals(decoder.decode(result.stdout), "out");
    assertEquals([result.stderr, result.code, result.signal], ["err", 3, undefined]);
  });

  test("run() passes arguments as they are, without a shell between", async () => {
    const args = ["a b", "$HOME", "`id`", "", "*", "ä\n"];
    const { stdout } = await run("printf", ["%s|", ...args], { env });
    assertEquals(decoder.decode(stdout), args.map((arg) => `${arg}|`).join(""));
  });

  test("run() writes input of any size to a program that reads it", async () => {
    const input = "0123456789".repeat(300_000);
    assertEquals(decoder.decode((await run("cat", [], { env, input })).stdout), input);
  });

  test("run() does not mind a program that leaves its input unread", async () => {
    assertEquals((await run("true", [], { env, input: "x".repeat(3_000_000) })).code, 0);
  });

  test("run() gives a program no stdin to wait on", async () => {
    assertEquals((await run("cat", [], { env })).stdout.length, 0);
  });

  test("run() reports the signal that ended a program, and its code in a shell", async () => {
    const { code, signal } = await sh("kill -9 $$");
    assertEquals([code, signal], [137, "SIGKILL"]);
  });

  test("run() keeps the end of a long stderr", async () => {
    const { stderr } = await sh(
      `i=0; while [ $i -lt 3000 ]; do printf '%0100d' 0; i=$((i+1)); done >&2; echo last >&2`,
    );
    assertEquals(stderr.length, 64_000);
    assert(stderr.endsWith("0last\n"));
  });

  test("run() gives a program exactly the environment given, without LD_*", async () => {
    const { stdout } = await run("env", [], {
      env: { ...env, A: "1", B: undefined, LD_PRELOAD: "", LD_LIBRARY_PATH: "/x", DYLD_INSERT_LIBRARIES: "" },
    });
    const names = decoder.decode(stdout).trim().split("\n").map((line) => line.replace(/=.*/, "")).sort();
    assertEquals(names.filter((name) => name !== "_" && name !== "PWD" && name !== "SHLVL"), ["A", "PATH"]);
  });

  test("run() takes no program from a folder of PATH that depends on where one is", async () => {
    await withFolder(async (dir) => {
      mkdirSync(join(dir, "bin"));
      for (const path of ["git", "bin/git"]) {
        writeFileSync(join(dir, path), "#!/bin/sh\necho hijacked\n");
        chmodSync(join(dir, path), 0o755);
      }
      const { stdout } = await run("git", ["--version"], { cwd: dir, env: { PATH: `.:bin::${env.PATH}` } });
      assertStringIncludes(decoder.decode(stdout), "git version");
    });
  });
});

describe("limits", () => {
  test("run() says which program was not found, and what to do", async () => {
    const error = await assertRejects(() => run("no-such-program", [], { env }), ProcessError);
    assertEquals([error.failure, error.message], ["missing", 'The program "no-such-program" was not found']);
    assertStringIncludes(error.hint ?? "", "PATH");
  });

  test("run() tells a missing folder from a missing program", async () => {
    const error = await assertRejects(() => run("git", [], { env, cwd: "/no/such/folder" }), ProcessError);
    assertEquals([error.failure, error.message], ["folder", 'The folder "/no/such/folder" does not exist']);
  });

  test("run() says that a program could not be started", async () => {
    await withFolder(async (dir) => {
      writeFileSync(join(dir, "file"), "");
      for (const [program, args] of [[join(dir, "file"), []], ["git", ["a\0b"]]] as const) {
        assertEquals((await assertRejects(() => run(program, args, { env }), ProcessError)).failure, "start");
      }
    });
  });

  test("run() stops a program that prints more than allowed, and says the limit", async () => {
    const error = await assertRejects(() => sh("while :; do echo x; done", { maxBytes: 10_000 }), ProcessError);
    assertEquals([error.failure, error.message], ["bytes", '"sh" printed more than 10000 bytes']);
    assertEquals((await sh("printf 12345", { maxBytes: 5 })).stdout.length, 5);
  });

  test("run() stops a program that takes longer than allowed, and says the limit", async () => {
    const error = await assertRejects(() => run("sleep", ["60"], { env, timeoutMs: 100 }), ProcessError);
    assertEquals([error.failure, error.message], ["time", '"sleep" did not end within 0.1 s']);
  });

  test("run() kills a program that does not care about SIGTERM", async () => {
    await withFolder(async (dir) => {
      const script = "trap '' TERM; echo $$ > pid; while :; do sleep 0.05; done";
      await assertRejects(() => sh(script, { cwd: dir, timeoutMs: 300 }), ProcessError);
      assert(!lives(Number(readFileSync(join(dir, "pid"), "utf8"))));
    });
  });

  test("run() does not wait for what a stopped program has left behind with its pipes", async () => {
    const started = Date.now();
    await assertRejects(() => sh("sleep 50 & wait", { timeoutMs: 100 }), ProcessError);
    assert(Date.now() - started < 40_000);
  });
});

describe("a program that has ended", () => {
  test("goes over the limit with output that is read later", async () => {
    const { chunks, done } = stream("sh", ["-c", "printf 1234567890"], { env, maxBytes: 5 });
    await new Promise((resolve) => setTimeout(resolve, 200));
    const error = await assertRejects(() => Array.fromAsync(chunks), ProcessError);
    assertEquals(error.failure, "bytes");
    assertEquals(await assertRejects(() => done), error);
  });

  test("gives all of its output to a reader that comes later", async () => {
    const { chunks, done } = stream("sh", ["-c", "head -c 30000 /dev/zero; printf err >&2"], { env });
    await new Promise((resolve) => setTimeout(resolve, 200));
    let bytes = 0;
    for await (const piece of chunks) bytes += piece.length;
    assertEquals([bytes, await done], [30_000, { code: 0, signal: undefined, stderr: "err" }]);
  });

  test("is not waited for where its own children hold its output, once the reader has left", async () => {
    const started = Date.now();
    const { chunks, done } = stream("sh", ["-c", "sleep 50 & echo $!"], { env });
    let pid = 0;
    for await (const piece of chunks) {
      pid = Number.parseInt(decoder.decode(piece));
      await new Promise((resolve) => setTimeout(resolve, 100));
      break;
    }
    assertEquals((await done).code, 0);
    assert(Date.now() - started < 40_000);
    process.kill(pid);
  });
});

describe("abort", () => {
  test("run() starts nothing when aborted before, and throws the reason", async () => {
    await withFolder(async (dir) => {
      const reason = new Error("stopped");
      const signal = AbortSignal.abort(reason);
      const error = await assertRejects(() => run("touch", [join(dir, "x")], { env, signal }));
      assertEquals(error, reason);
      assert(!existsSync(join(dir, "x")));
    });
  });

  test("run() ends a running program with SIGTERM when aborted", async () => {
    await withFolder(async (dir) => {
      const controller = new AbortController();
      const script = "trap 'echo term > ended; exit' TERM; echo; while :; do sleep 0.05; done";
      const { chunks, done } = stream("sh", ["-c", script], { env, cwd: dir, signal: controller.signal });
      const reason = new Error("stopped");
      const error = await assertRejects(async () => {
        for await (const _ of chunks) controller.abort(reason);
      });
      assertEquals(error, reason);
      assertEquals(await assertRejects(() => done), reason);
      assertEquals(readFileSync(join(dir, "ended"), "utf8"), "term\n");
    });
  });

  test("a signal that aborts after the end changes nothing", async () => {
    const controller = new AbortController();
    const result = await sh("printf out", { signal: controller.signal });
    controller.abort();
    assertEquals(decoder.decode(result.stdout), "out");
  });
});

describe("stream()", () => {
  test("stream() gives pieces as they come, before the program ends", async () => {
    await withFolder(async (dir) => {
      const { chunks, done } = stream("sh", ["-c", "echo one; until [ -e go ]; do sleep 0.02; done; echo two"], {
        env,
        cwd: dir,
      });
      let text = "";
      for await (const piece of chunks) {
        assertInstanceOf(piece, Uint8Array);
        text += decoder.decode(piece);
        writeFileSync(join(dir, "go"), "");
      }
      assertEquals(text, "one\ntwo\n");
      assertEquals((await done).code, 0);
    });
  });

  test("stream() lets the program wait while nobody reads", async () => {
    await withFolder(async (dir) => {
      const script = "echo; head -c 5000000 /dev/zero; : > written";
      const { chunks } = stream("sh", ["-c", script], { env, cwd: dir });
      let bytes = 0;
      for await (const piece of chunks) {
        // Time enough to write five megabytes into a pipe that somebody empties without being asked.
        if (bytes === 0) await new Promise((resolve) => setTimeout(resolve, 400));
        if (bytes < 100_000) assert(!existsSync(join(dir, "written")), "the program did not wait");
        bytes += piece.length;
      }
      assertEquals(bytes, 5_000_001);
    });
  });

  test("stream() ends the program when the reader stops early", async () => {
    const { chunks, done } = stream("sh", ["-c", "echo $$; while :; do echo x; done"], { env });
    let pid = 0;
    for await (const piece of chunks) {
      pid = Number.parseInt(decoder.decode(piece));
      break;
    }
    assert(pid > 0 && !lives(pid));
    // Whichever comes first: the signal, or the end of the pipe that it writes to.
    assertMatch((await done).signal ?? "", /^SIG(TERM|PIPE)$/);
  });

  test("stream() ends the program when the reader throws, and the error comes through", async () => {
    const { chunks } = stream("sh", ["-c", "echo $$; while :; do echo x; done"], { env });
    let pid = 0;
    const error = await assertRejects(async () => {
      for await (const piece of chunks) {
        pid = Number.parseInt(decoder.decode(piece));
        throw new Error("mine");
      }
    });
    assertEquals(String(error), "Error: mine");
    assert(!lives(pid));
  });

  test("stream() leaves a failing exit code to its caller", async () => {
    const { chunks, done } = stream("sh", ["-c", "printf a; exit 4"], { env });
    for await (const piece of chunks) assertEquals(decoder.decode(piece), "a");
    assertEquals((await done).code, 4);
  });

  test("chunks and done of stream() both reject when the program is missing", async () => {
    const { chunks, done } = stream("no-such-program", [], { env });
    await assertRejects(() => Array.fromAsync(chunks), ProcessError);
    await assertRejects(() => done, ProcessError);
  });
});
