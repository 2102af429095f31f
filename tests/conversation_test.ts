import {
  assert,
  assertEquals,
  assertInstanceOf,
  assertMatch,
  assertRejects,
  assertStringIncludes,
  assertThrows,
} from "@std/assert";
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import process from "node:process";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import {
  type Conversation,
  conversationsDir,
  listConversations,
  loadConversation,
  missingParts,
  newestConversation,
  recordAnswer,
  recordPart,
  recordSummary,
  removeConversation,
  saveConversation,
  startConversation,
} from "../conversation.ts";
import { OctavoError, UsageError } from "../errors.ts";
import { withFolder } from "./support.ts";

const TIMEOUT = { timeout: 60_000 };
const IN_DENO = "Deno" in globalThis;
const ON_WINDOWS = process.platform === "win32";
const NOON = new Date("2026-12-01T12:00:00.000Z");

// The processes that write are this file again, started as `conversation_test.ts child DIR ID CHARS`.
if (process.argv[2] === "child") await writeAsChild(process.argv[3]!, process.argv[4]!, Number(process.argv[5]));
else defineTests();

/** Saves one conversation again and again, each time with messages of another size, until it is killed. */
async function writeAsChild(dir: string, id: string, chars: number): Promise<void> {
  for (let turn = 0;; turn++) {
    const content = `${turn}`.padEnd(1 + (turn * 7919) % chars, ".");
    const error = await saveConversation(dir, { ...start(), id, messages: [{ role: "user", content }] });
    if (error) {
      console.log(`error ${error.message} / ${error.hint}`);
      return;
    }
    if (turn === 5) console.log("saved");
  }
}

function startWriter(dir: string, id: string, chars: number, wrap: string[] = []) {
  const script = [fileURLToPath(import.meta.url), "child", dir, id, String(chars)];
  const command = [...wrap, process.execPath, ...(IN_DENO ? ["run", "-A", ...script] : script)];
  const child = spawn(command[0]!, command.slice(1), { stdio: ["ignore", "pipe", "inherit"] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const ended = new Promise((resolve) => child.on("close", resolve));
  return { kill: () => child.kill("SIGKILL"), ended, line: async () => (await lines.next()).value ?? "(ended)" };
}

function start(now = NOON, more: { repository?: string; title?: string } = {}): Conversation {
  return startConversation({
    title: "main...HEAD in shop",
    repository: "/home/a/shop",
    summary: "5 files",
    review: {
      source: { kind: "branch", base: "a1" },
      model: "ollama/m",
      maxDiffChars: 16_000,
      hashes: ["h1", "h2", "h3"],
    },
    now,
    ...more,
  });
}

function later(seconds: number): Date {
  return new Date(NOON.getTime() + seconds * 1000);
}

/** Throws on any attempt to change the data. */
function frozen<T>(value: T): T {
  if (typeof value === "object" && value !== null) {
    for (const inner of Object.values(value)) frozen(inner);
    Object.freeze(value);
  }
  return value;
}

function contents({ messages }: Conversation): string[] {
  return messages.map(({ content }) => content);
}

/** What each part's and the summing up's index leads to. */
function reviews({ messages, review }: Conversation): (string | undefined)[] {
  const items = [...review?.parts ?? [], review?.summary];
  return items.map((item) => item?.message === undefined ? undefined : messages[item.message]?.content);
}

async function save(dir: string, conversation: Conversation): Promise<Conversation> {
  assertEquals(await saveConversation(dir, conversation), undefined);
  return conversation;
}

function defineTests(): void {
  test("conversationsDir() follows XDG where it is absolute, else the home, on Windows the local app data", () => {
    const cases: [Record<string, string>, string, string][] = [
      [{ XDG_STATE_HOME: "/state", HOME: "/home/a" }, "linux", "/state/octavo/conversations"],
      [{ HOME: "/home/a" }, "linux", "/home/a/.local/state/octavo/conversations"],
      [{ HOME: "/Users/a" }, "darwin", "/Users/a/.local/state/octavo/conversations"],
      [{ XDG_STATE_HOME: "state", HOME: "/home/a" }, "linux", "/home/a/.local/state/octavo/conversations"],
      [{ XDG_STATE_HOME: "", HOME: "/home/a" }, "linux", "/home/a/.local/state/octavo/conversations"],
      [{ HOME: "relative" }, "linux", "/.local/state/octavo/conversations"],
      [{}, "linux", "/.local/state/octavo/conversations"],
      [{ LOCALAPPDATA: "C:\\Users\\a\\AppData\\Local" }, "win32", "C:\\Users\\a\\AppData\\Local\\octavo/conversations"],
      [{ USERPROFILE: "C:\\Users\\a" }, "win32", "C:\\Users\\a\\AppData\\Local\\octavo/conversations"],
      [{ XDG_STATE_HOME: "D:\\s", LOCALAPPDATA: "C:\\l" }, "win32", "D:\\s\\octavo/conversations"],
    ];
    for (const [env, platform, expected] of cases) {
      assertEquals(conversationsDir(env, platform).replace(/[\\/]conversations$/, "/conversations"), expected);
    }
  });

  test("startConversation() begins with the summary and parts that are all pending", () => {
    const conversation = start();
    assertEquals(conversation.messages, [{ role: "user", content: "5 files" }]);
    assertEquals(conversation.review?.parts[1], { hash: "h2", status: "pending" });
    assertEquals(missingParts(conversation), [1, 2, 3]);
    assertEquals(conversation.createdAt, "2026-12-01T12:00:00.000Z");
    assertEquals("repository" in startConversation({ title: "t", summary: "s", now: NOON }), false);
  });

  test("startConversation() gives ids that sort by time and that chance keeps apart", () => {
    const times = [0, 0.001, 0.031, 0.032, 0.999, 1, 60, 86_400, 31 * 86_400, 365 * 86_400];
    const ids = times.map((time) => start(later(time)).id);
    assertEquals(ids.toSorted(), ids);
    assertMatch(ids[0]!, /^20261201-120000-[0-9a-z]{7}$/);
    assertEquals(new Set(Array.from({ length: 50 }, () => start().id)).size, 50);
  });

  test("recordPart() keeps the reviews in the order of the parts, whichever comes first", () => {
    let conversation = frozen(start());
    conversation = frozen(recordPart(conversation, 3, { status: "done", text: "three" }, later(1)));
    conversation = frozen(recordPart(conversation, 1, { status: "done", text: "one" }, later(2)));
    assertEquals(contents(conversation), ["5 files", "one", "three"]);
    assertEquals(missingParts(conversation), [2]);
    conversation = frozen(recordPart(conversation, 2, { status: "incomplete", text: "tw", error: "cut" }, later(3)));
    assertEquals(contents(conversation), ["5 files", "one", "tw", "three"]);
    assertEquals(reviews(conversation), ["one", "tw", "three", undefined]);
    assertEquals(missingParts(conversation), [2]);
    assertEquals(conversation.updatedAt, later(3).toISOString());
    assertEquals(conversation.createdAt, NOON.toISOString());
  });

  test("recordPart() replaces what it recorded before, and what is said of it", () => {
    let conversation = recordPart(start(), 1, { status: "incomplete", text: "on", error: "cut" }, NOON);
    conversation = recordPart(conversation, 2, { status: "failed", error: "refused" }, NOON);
    assertEquals(conversation.review?.parts[1], { hash: "h2", status: "failed", error: "refused" });
    const usage = { promptTokens: 10, completionTokens: 5 };
    conversation = recordPart(conversation, 1, { status: "done", text: "one", stopReason: "stop", usage }, NOON);
    assertEquals(conversation.review?.parts[0], { hash: "h1", status: "done", stopReason: "stop", usage, message: 1 });
    assertEquals(contents(conversation), ["5 files", "one"]);
    assertEquals(
      recordPart(conversation, 1, { status: "done", text: "one", stopReason: "stop", usage }, NOON),
      conversation,
    );
  });

  test("recordPart() keeps the earlier text of a part that fails when it is asked again", () => {
    const half = recordPart(start(), 1, { status: "incomplete", text: "half" }, NOON);
    const failed = recordPart(half, 1, { status: "failed", error: "refused" }, NOON);
    assertEquals(reviews(failed)[0], "half");
    assertEquals(missingParts(failed), [1, 2, 3]);
  });

  test("a resumed review comes before the questions that were asked meanwhile", () => {
    let conversation = frozen(recordPart(start(), 1, { status: "done", text: "one" }, NOON));
    conversation = frozen(recordSummary(conversation, { status: "skipped" }, NOON));
    conversation = frozen(recordAnswer(conversation, "why?", "because", NOON));
    conversation = frozen(recordPart(conversation, 2, { status: "done", text: "two" }, NOON));
    conversation = frozen(recordSummary(conversation, { status: "done", text: "sum" }, NOON));
    conversation = frozen(recordPart(conversation, 3, { status: "done", text: "three" }, NOON));
    assertEquals(contents(conversation), ["5 files", "one", "two", "three", "sum", "why?", "because"]);
    assertEquals(reviews(conversation), ["one", "two", "three", "sum"]);
    assertEquals(conversation.messages.map(({ role }) => role[0]).join(""), "uaaaaua");
    assertEquals(missingParts(conversation), []);
  });

  test("recordPart() refuses a part that is none", () => {
    assertThrows(() => recordPart(start(), 4, { status: "done", text: "x" }, NOON), RangeError);
    const plain = startConversation({ title: "t", summary: "s", now: NOON });
    assertThrows(() => recordPart(plain, 1, { status: "done" }, NOON), RangeError);
    assertThrows(() => recordSummary(plain, { status: "done", text: "x" }, NOON), RangeError);
  });

  test("saveConversation() and loadConversation() give the same conversation, whatever is in it", async () => {
    await withFolder(async (dir) => {
      let conversation = recordPart(start(), 1, { status: "done", text: 'a\u0000b\u2028\ud800 "\u001b[31m' }, NOON);
      conversation = recordSummary(conversation, { status: "done", text: "😀", usage: { promptTokens: 1 } }, NOON);
      conversation.review!.findings = [{ severity: "bug" }];
      const more = { ...conversation, later: { field: [1] } };
      await save(dir, more);
      assertEquals(await loadConversation(dir, conversation.id), more);
    });
  });

  test("saveConversation() lets only the owner read", { skip: ON_WINDOWS }, async () => {
    await withFolder(async (home) => {
      const dir = conversationsDir({ HOME: home });
      const { id } = await save(dir, start());
      assertEquals(statSync(dir).mode & 0o777, 0o700);
      assertEquals(statSync(join(dir, `${id}.json`)).mode & 0o777, 0o600);
      assertEquals(readdirSync(dir), [`${id}.json`]);
    });
  });

  test("a reader sees whole conversations only, whoever writes and is killed meanwhile", TIMEOUT, async () => {
    await withFolder(async (dir) => {
      const { id } = await save(dir, start());
      const writers = [startWriter(dir, id, 100_000), startWriter(dir, id, 100_000)];
      try {
        for (const writer of writers) assertEquals(await writer.line(), "saved");
        const seen = new Set<string>();
        while (seen.size < 20) seen.add((await loadConversation(dir, id)).messages[0]!.content);
      } finally {
        for (const writer of writers) writer.kill();
        await Promise.all(writers.map((writer) => writer.ended));
      }
      await loadConversation(dir, id);
      const list = await listConversations(dir);
      assertEquals([list.conversations.length, list.broken], [1, []]);
      writeFileSync(join(dir, `${id}.0123456789ab.tmp`), "{"); // what a killed writer leaves
      assertEquals((await listConversations(dir)).broken, []);
      await removeConversation(dir, id);
      assertEquals(readdirSync(dir), []);
    });
  });

  test("saveConversation() keeps the last one whole when there is no room for the next", {
    skip: ON_WINDOWS,
    ...TIMEOUT,
  }, async () => {
    await withFolder(async (dir) => {
      const conversation = await save(dir, start());
      // Files may grow to 64 blocks of 512 bytes; a write beyond fails with EFBIG where its signal is ignored.
      const limited = ["sh", "-c", 'trap "" XFSZ; ulimit -f 64; exec "$@"', "sh"];
      const writer = startWriter(dir, conversation.id, 400_000, limited);
      let line: string;
      try {
        line = await writer.line();
        if (line === "saved") line = await writer.line();
      } finally {
        writer.kill();
        await writer.ended;
      }
      assertMatch(line, /^error Could not save the conversation .*: .* \/ make room/);
      assertEquals(readdirSync(dir), [`${conversation.id}.json`]);
      await loadConversation(dir, conversation.id);
    });
  });

  test("saveConversation() returns what kept it from saving", async () => {
    await withFolder(async (home) => {
      writeFileSync(join(home, "file"), "");
      const dir = join(home, "file", "conversations");
      const error = await saveConversation(dir, start());
      assertInstanceOf(error, OctavoError);
      assertMatch(error.message, /^Could not save the conversation "20261201-120000-\w+": E(NOTDIR|EXIST)/);
      assertStringIncludes(error.hint ?? "", dir);
      await assertRejects(() => saveConversation(home, { ...start(), id: "../20261201-120000-abcd" }), RangeError);
    });
  });

  test("loadConversation() names the file and the field that is broken", async () => {
    await withFolder(async (dir) => {
      const good = await save(dir, recordPart(start(), 1, { status: "done", text: "one" }, NOON));
      const file = join(dir, `${good.id}.json`);
      const { review } = good;
      const cases: [string, unknown][] = [
        ['"it" is no object', []],
        ['"it" is no object', null],
        ['"version" is not 1', { ...good, version: "1" }],
        ['"version" is not 1', {}],
        ['"id" is not that of the file', { ...good, id: "20261201-120000-abcdefg" }],
        ['"title" is no text', { ...good, title: 1 }],
        ['"createdAt" is no time', { ...good, createdAt: "yesterday" }],
        ['"messages" is no list', { ...good, messages: {} }],
        ['"messages[1].role" is none of user, assistant', {
          ...good,
          messages: [good.messages[0], { role: "system", content: "" }],
        }],
        ['"messages[0].content" is no text', { ...good, messages: [{ role: "user" }] }],
        ['"repository" is no text', { ...good, repository: null }],
        ['"review.parts[0]" is no object', { ...good, review: { ...review, parts: ["x"] } }],
        ['"review.parts[0].status" is none of', {
          ...good,
          review: { ...review, parts: [{ hash: "h", status: "ok" }] },
        }],
        ['"review.parts[0].hash" is no text', { ...good, review: { ...review, parts: [{ status: "done" }] } }],
        ['"review.parts[0].message" is not the place of a review', { ...good, messages: good.messages.slice(0, 1) }],
        ['"review.summary.status" is none of', { ...good, review: { ...review, summary: { status: "pending" } } }],
        ['"review.maxDiffChars" is no number', { ...good, review: { ...review, maxDiffChars: null } }],
      ];
      for (const [message, value] of cases) {
        writeFileSync(file, JSON.stringify(value));
        const error = await assertRejects(() => loadConversation(dir, good.id), UsageError, message);
        assertStringIncludes(error.message, `"${file}" is broken`);
        assertEquals(error.hint, `remove it with: octavo rm ${good.id}`);
      }
      for (const text of ["", JSON.stringify(good).slice(0, -9), "\u0000"]) {
        writeFileSync(file, text);
        await assertRejects(() => loadConversation(dir, good.id), UsageError, file);
      }
      await removeConversation(dir, good.id);
      assert(!existsSync(file));
    });
  });

  test("loadConversation() says of a newer octavo's conversation that it is one", async () => {
    await withFolder(async (dir) => {
      const good = await save(dir, start());
      writeFileSync(join(dir, `${good.id}.json`), JSON.stringify({ version: 2, id: good.id, body: {} }));
      const error = await assertRejects(() => loadConversation(dir, good.id), UsageError, "newer octavo (version 2)");
      assertEquals(error.hint, "update octavo");
    });
  });

  test("listConversations() gives the newest first, and tells of the files it passes over", async () => {
    await withFolder(async (dir) => {
      const all = [];
      for (const time of [0, 0.5, 100, 86_400]) all.push(await save(dir, start(later(time))));
      writeFileSync(join(dir, `${all[1]!.id}.json`), "{");
      for (const name of ["notes.json", "README", ".json", "20261201.json"]) writeFileSync(join(dir, name), "{}");
      const list = await listConversations(dir);
      assertEquals(list.conversations.map(({ id }) => id), [all[3]!.id, all[2]!.id, all[0]!.id]);
      assertEquals(list.broken.map(({ file }) => basename(file)), [`${all[1]!.id}.json`]);
      assertStringIncludes(list.broken[0]!.message, "is broken");
      assertEquals((await listConversations(dir, { limit: 2 })).conversations.length, 2);
      assertEquals(await listConversations(join(dir, "none")), { conversations: [], broken: [] });
      await assertRejects(() => listConversations(join(dir, "README")), OctavoError, "Could not read");
    });
  });

  test("newestConversation() is that of the repository; outside any, that of none", async () => {
    await withFolder(async (dir) => {
      const mine = await save(dir, start(later(0)));
      const other = await save(dir, start(later(1), { repository: "/home/a/other" }));
      const loose = await save(dir, startConversation({ title: "patch", summary: "s", now: later(0.2) }));
      const found = async (repository?: string) => (await newestConversation(dir, repository)).conversation?.id;
      assertEquals(await found("/home/a/shop"), mine.id);
      assertEquals(await found("/home/a/other"), other.id);
      assertEquals(await found(), loose.id);
      assertEquals(await found("/home/a"), undefined);
      const broken = start(later(2));
      writeFileSync(join(dir, `${broken.id}.json`), "{");
      const newest = await newestConversation(dir, "/home/a/shop");
      assertEquals([newest.conversation?.id, newest.broken.length], [mine.id, 1]);
    });
  });

  test("the newest of two reviews in the same second is the later one", async () => {
    await withFolder(async (dir) => {
      for (let at = 0; at < 20; at++) {
        await save(dir, start(later(at + 0.003)));
        const last = await save(dir, start(later(at + 0.004)));
        assertEquals((await newestConversation(dir, "/home/a/shop")).conversation?.id, last.id);
      }
    });
  });

  test("loadConversation() takes the beginning of an id when only one begins so", async () => {
    await withFolder(async (dir) => {
      await assertRejects(() => loadConversation(dir, "2026"), UsageError, 'Unknown conversation "2026"');
      const one = await save(dir, start(later(0)));
      const two = await save(dir, start(later(86_400)));
      assertEquals((await loadConversation(dir, "20261202")).id, two.id);
      assertEquals((await loadConversation(dir, one.id.slice(0, -1))).id, one.id);
      const error = await assertRejects(() => loadConversation(dir, "202612"), UsageError, "2 conversations");
      assertStringIncludes(error.hint ?? "", `${two.id}, ${one.id}`);
    });
  });

  test("an unknown id is answered with the nearest ones", async () => {
    await withFolder(async (dir) => {
      const ids = [];
      for (let day = 0; day < 6; day++) ids.push((await save(dir, start(later(day * 86_400)))).id);
      const error = await assertRejects(() => loadConversation(dir, "20261203-9"), UsageError, "Unknown conversation");
      assert(error.hint?.startsWith(`the nearest: ${ids[2]}, `), error.hint);
      assertStringIncludes(error.hint ?? "", "and 3 more: octavo log");
      assertEquals(error.exitCode, 2);
    });
  });

  test("an id never leads out of the folder", async () => {
    await withFolder(async (home) => {
      const dir = join(home, "conversations");
      mkdirSync(dir);
      await save(dir, start());
      await save(home, start(later(1)));
      const outside = readdirSync(home).find((name) => name.endsWith(".json"))!;
      const secret = join(home, outside);
      const attempts = [
        "",
        ".",
        "..",
        "/",
        `../${outside}`,
        `../${outside.replace(".json", "")}`,
        secret,
        "..\\x",
        "%2e%2e",
        "a\0b",
      ];
      for (const id of attempts) {
        await assertRejects(() => loadConversation(dir, id), UsageError, "Unknown conversation");
        await assertRejects(() => removeConversation(dir, id), UsageError, "Unknown conversation");
      }
      assert(existsSync(secret));
      assertEquals(readdirSync(dir).length, 1);
    });
  });

  test("removeConversation() removes one, by the beginning of its id, and no other", async () => {
    await withFolder(async (dir) => {
      const one = await save(dir, start(later(0)));
      const two = await save(dir, start(later(86_400)));
      assertEquals(await removeConversation(dir, "20261201"), one.id);
      assertEquals(readdirSync(dir), [`${two.id}.json`]);
      await assertRejects(() => removeConversation(dir, one.id), UsageError, "Unknown conversation");
    });
  });
}
