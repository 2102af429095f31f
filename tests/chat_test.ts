import { describe, test } from "node:test";
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { chat } from "../chat.ts";
import type { Model } from "../endpoint.ts";
import {
  ask,
  askServer,
  type Body,
  chunk,
  DONE,
  events,
  GOOD,
  inAllCuts,
  lines,
  messageDelta,
  modelAt,
  PATIENT_MS,
  PROTOCOLS,
  replyOf,
  textDelta,
  typedEvents,
  USAGE,
} from "./support_chat.ts";
import { type Reply, type Step, withServer } from "./support_server.ts";

describe("an answer", () => {
  for (const protocol of PROTOCOLS) {
    test(`over ${protocol} comes as deltas, usage and an end with its times`, async () => {
      await inAllCuts(protocol, GOOD[protocol], (outcome, how) => {
        assertEquals(outcome.error, undefined, how);
        assertEquals(outcome.text, "Grüße 🎉", how);
        assertEquals(outcome.usage, { type: "usage", promptTokens: 11, completionTokens: 7 }, how);
        const { end } = outcome;
        assertEquals(end?.stopReason, "stop", how);
        const { firstByteMs = -1, firstTokenMs = -1, totalMs = -1 } = end ?? {};
        assert(0 <= firstByteMs && firstByteMs <= firstTokenMs && firstTokenMs <= totalMs, how);
        assertEquals(outcome.events.slice(-2).map((event) => event.type), ["usage", "end"], how);
      });
    });
  }

  test("over openai is asked for with a stream and its usage, and nothing that the user did not set", async () => {
    await withServer([replyOf(GOOD.openai)], async (server) => {
      await ask(modelAt(server, "openai", { apiKey: "sk-test" }));
      const [request] = server.requests;
      assertEquals(`${request?.method} ${request?.path}`, "POST /v1/chat/completions");
      assertEquals(request?.json, {
        model: "test-model",
        messages: [{ role: "user", content: "Review this" }],
        stream: true,
        stream_options: { include_usage: true },
      });
      assertEquals(request?.headers.authorization, "Bearer sk-test");
      assertEquals(request?.headers["user-agent"], "octavo");
      assertEquals(request?.headers["content-type"], "application/json");
    });
  });

  test("over ollama is asked for with one context size, and so that an overflow is an error", async () => {
    await withServer([replyOf(GOOD.ollama)], async (server) => {
      await ask(modelAt(server, "ollama"), { contextTokens: 16384, maxTokens: 900, temperature: 0 });
      const [request] = server.requests;
      assertEquals(request?.path, "/api/chat");
      assertEquals(request?.json, {
        model: "test-model",
        messages: [{ role: "user", content: "Review this" }],
        stream: true,
        truncate: false,
        shift: false,
        options: { num_ctx: 16384, num_predict: 900, temperature: 0 },
      });
    });
  });

  test("over anthropic is asked for with a key, a version and a limit of tokens", async () => {
    await withServer([replyOf(GOOD.anthropic)], async (server) => {
      await ask(modelAt(server, "anthropic", { apiKey: "sk-ant" }));
      const [request] = server.requests;
      assertEquals(request?.path, "/v1/messages");
      assertEquals(request?.headers["x-api-key"], "sk-ant");
      assertEquals(request?.headers["anthropic-version"], "2023-06-01");
      assertEquals(request?.headers.authorization, undefined);
      assertEquals(request?.json.max_tokens, 32_000);
    });
  });

  test("is asked for with the headers of the user file and the key's header of its provider", async () => {
    await withServer([replyOf(GOOD.openai)], async (server) => {
      const model = modelAt(server, "openai", { apiKey: "k", keyHeader: "api-key", headers: { "x-team": "a" } });
      await ask({ ...model, baseUrl: `${server.url}/openai/v1?api-version=preview` });
      const [request] = server.requests;
      assertEquals(request?.path, "/openai/v1/chat/completions?api-version=preview");
      assertEquals(request?.headers["api-key"], "k");
      assertEquals(request?.headers["x-team"], "a");
    });
  });
});

describe("what is no payload", () => {
  const commented: Body = {
    type: "text/event-stream",
    text: `: OPENROUTER PROCESSING é\n\n${GOOD.openai.text.replaceAll("\n\n", "\n\n: ping\n\n")}`,
  };
  const pinged: Body = {
    type: "text/event-stream",
    text: GOOD.anthropic.text.replaceAll("\n\n", '\n\nevent: ping\ndata: {"type": "ping"}\n\n'),
  };

  test("comments in a stream are passed over", async () => {
    await inAllCuts("openai", commented, (outcome, how) => assertEquals(outcome.text, "Grüße 🎉", how));
  });

  test("Anthropic's pings are passed over", async () => {
    await inAllCuts("anthropic", pinged, (outcome, how) => {
      assertEquals([outcome.text, outcome.error], ["Grüße 🎉", undefined], how);
    });
  });

  test("comments alone do not keep a dead stream alive", async () => {
    const outcome = await askServer("openai", [pinging(": ping\n\n")], { request: { timeoutMs: 300 } });
    assertStringIncludes(outcome.error?.message ?? "", "for 0.3 seconds");
    assertStringIncludes(outcome.error?.hint ?? "", "--timeout");
  });

  test("pings alone do not keep a dead stream alive", async () => {
    const ping = 'event: ping\ndata: {"type": "ping"}\n\n';
    const outcome = await askServer("anthropic", [pinging(ping)], { request: { timeoutMs: 300 } });
    assertStringIncludes(outcome.error?.hint ?? "", "--timeout");
  });

  test("a server that never answers is given up after the silence that is allowed, and the text so far is kept", async () => {
    const body: Step[] = [`data: ${JSON.stringify(chunk({ content: "so far" }))}\n\n`, never];
    const outcome = await askServer("openai", [{ body }], { request: { timeoutMs: 300 } });
    assertEquals(outcome.text, "so far");
    assertStringIncludes(outcome.error?.message ?? "", "for 0.3 seconds");
    const silent = await askServer("openai", [{ after: never }], { request: { timeoutMs: 300 } });
    assertStringIncludes(silent.error?.message ?? "", "for 0.3 seconds");
    assertStringIncludes(silent.error?.hint ?? "", "--timeout");
  });
});

/** Sends the same thing again and again, far longer than the silence that the tests allow. */
function pinging(text: string): Reply {
  const wait = () => new Promise((resolve) => setTimeout(resolve, 40));
  const steps: Step[] = [];
  let last: Promise<unknown> = Promise.resolve();
  for (let at = 0; at < 50; at++) steps.push(text, last = last.then(wait));
  return { headers: { "content-type": "text/event-stream" }, body: steps };
}

const never = new Promise(() => undefined);

describe("an error in the stream", () => {
  const cases: [name: string, protocol: Model["protocol"], body: Body, message: string][] = [
    [
      "at the top of a chunk fails the part and keeps its text",
      "openai",
      events(chunk({ content: "so fär" }), { error: { message: "upstream is gone", code: 502 } }),
      "upstream is gone",
    ],
    [
      "as finish_reason fails the part and keeps its text",
      "openai",
      events(chunk({ content: "so fär" }), chunk({ content: "" }, "error"), DONE),
      "the provider broke the answer off",
    ],
    [
      "as an event named error fails the part and keeps its text",
      "openai",
      {
        type: "text/event-stream",
        text: `${events(chunk({ content: "so fär" })).text}event: error\ndata: {"message": "the engine died"}\n\n`,
      },
      "the engine died",
    ],
    [
      "as an event named error without JSON fails the part and keeps its text",
      "openai",
      {
        type: "text/event-stream",
        text: `${events(chunk({ content: "so fär" })).text}event: error\ndata: no memory left\n\n`,
      },
      "no memory left",
    ],
    [
      "as Anthropic's error event fails the part and keeps its text",
      "anthropic",
      typedEvents(
        textDelta("so fär"),
        Object.assign({ type: "error" }, { error: { type: "overloaded_error", message: "Overloaded" } }),
      ),
      "Overloaded",
    ],
    [
      "as old llama.cpp's line fails the part and keeps its text",
      "openai",
      {
        type: "text/event-stream",
        text: `${events(chunk({ content: "so fär" })).text}error: {"code": 500, "message": "slot gone"}\n\n`,
      },
      "slot gone",
    ],
    [
      "as a line of Ollama fails the part and keeps its text",
      "ollama",
      lines({ message: { content: "so fär" } }, { error: "llama runner process has terminated" }),
      "llama runner process has terminated",
    ],
    [
      "in a chunk that is not JSON fails the part and keeps its text",
      "openai",
      events(chunk({ content: "so fär" }), '{"choices": [{"delta": {"content": "lo', chunk({}, "stop"), DONE),
      "not JSON",
    ],
  ];
  for (const [name, protocol, body, message] of cases) {
    test(name, async () => {
      await inAllCuts(protocol, body, (outcome, how) => {
        assertEquals(outcome.text, "so fär", how);
        assertStringIncludes(outcome.error?.message ?? "", message, how);
        assertEquals(outcome.end, undefined, how);
        assertEquals(outcome.waiting, [], how);
      });
    });
  }
});

describe("a chunk", () => {
  test("without choices is passed over, and its usage kept", async () => {
    const body = events(
      { choices: [], prompt_filter_results: [] },
      chunk({ content: "é" }),
      chunk({}, "stop"),
      USAGE,
      DONE,
    );
    await inAllCuts("openai", body, (outcome, how) => {
      assertEquals(outcome.text, "é", how);
      assertEquals(outcome.usage, { type: "usage", promptTokens: 11, completionTokens: 7 }, how);
    });
  });

  test("whose choice has no delta is passed over (Azure)", async () => {
    const body = events(chunk(null), chunk({ content: "é" }), chunk(null, "stop"), DONE);
    await inAllCuts("openai", body, (outcome, how) => {
      assertEquals([outcome.text, outcome.end?.stopReason], ["é", "stop"], how);
    });
  });

  test("whose content is a list gives its texts, and its thinking as reasoning (Mistral)", async () => {
    const content = [
      { type: "thinking", thinking: [{ type: "text", text: "hmm" }] },
      { type: "text", text: "a" },
      { type: "image_url", image_url: "x" },
      { type: "text", text: "é" },
    ];
    await inAllCuts("openai", events(chunk({ content }), chunk({}, "stop"), DONE), (outcome, how) => {
      assertEquals([outcome.text, outcome.reasoning], ["aé", "hmm"], how);
    });
  });

  test("that is padded (OpenAI) is read like one that is not, whatever its text and its padding", async () => {
    const texts = ["a", '"', "\\", '","obfuscation":"', "é", '"obfuscation":"x"}', "z", "last"];
    const paddings = ["", "xyz", "", 'with "quotes"', "\\", '"}', "q1", '","choices":[],"error":"e'];
    const chunks = texts.map((content, at) => ({ ...chunk({ content }), obfuscation: paddings[at] }));
    await inAllCuts("openai", events(...chunks, chunk({}, "stop"), DONE), (outcome, how) => {
      assertEquals([outcome.text, outcome.error], [texts.join(""), undefined], how);
    });
  });

  test("that is padded and carries an error or an end behind its text is not taken for a plain one", async () => {
    const padded = { ...chunk({ content: "é" }), obfuscation: "abc" };
    const failing = { ...padded, obfuscation: "de", error: { message: "gone" } };
    await inAllCuts("openai", events(padded, padded, failing), (outcome, how) => {
      assertStringIncludes(outcome.error?.message ?? "", "gone", how);
    });
    const last = { ...chunk({ content: "!" }, "length"), obfuscation: "de" };
    await inAllCuts("openai", events(padded, padded, last, DONE), (outcome, how) => {
      assertEquals([outcome.text, outcome.end?.stopReason], ["éé!", "length"], how);
    });
  });

  test("of the same frame as the one before is read alike, whatever its text", async () => {
    const texts = ['"', "\\", 'a "content":"b" c', "\n", "é", "\u2028", '"},"finish_reason":"stop"}', "", "x"];
    const body = events(...texts.map((content) => chunk({ content })), chunk({}, "stop"), DONE);
    await inAllCuts("openai", body, (outcome, how) => assertEquals(outcome.text, texts.join(""), how));
  });
});

describe("reasoning is kept apart from the answer", () => {
  const cases: [name: string, protocol: Model["protocol"], body: Body][] = [
    [
      "when it comes as reasoning_content",
      "openai",
      events(
        chunk({ reasoning_content: "hm" }),
        chunk({ reasoning_content: "ß" }),
        chunk({ content: "né" }, "stop"),
        DONE,
      ),
    ],
    [
      "when it comes as reasoning (OpenRouter)",
      "openai",
      events(chunk({ content: "", reasoning: "hmß" }), chunk({ content: "né" }, "stop"), DONE),
    ],
    [
      "when it comes as message.thinking (Ollama)",
      "ollama",
      lines({ message: { content: "", thinking: "hmß" } }, { message: { content: "né" } }, {
        done: true,
        done_reason: "stop",
      }),
    ],
    [
      "when it comes as a thinking block (Anthropic)",
      "anthropic",
      typedEvents(
        Object.assign({ type: "content_block_start" }, { content_block: { type: "thinking", thinking: "" } }),
        Object.assign({ type: "content_block_delta" }, { delta: { type: "thinking_delta", thinking: "hmß" } }),
        Object.assign({ type: "content_block_delta" }, { delta: { type: "signature_delta", signature: "x" } }),
        textDelta("né"),
        messageDelta("end_turn"),
        { type: "message_stop" },
      ),
    ],
  ];
  for (const [name, protocol, body] of cases) {
    test(name, async () => {
      await inAllCuts(protocol, body, (outcome, how) => {
        assertEquals([outcome.text, outcome.reasoning, outcome.error], ["né", "hmß", undefined], how);
      });
    });
  }

  test("when it stands between <think> tags in the text", async () => {
    const body = events(
      chunk({ content: "<thi" }),
      chunk({ content: "nk>hmß</thi" }),
      chunk({ content: "nk>\n\nné" }, "stop"),
      DONE,
    );
    await inAllCuts("openai", body, (outcome, how) => {
      assertEquals([outcome.text, outcome.reasoning], ["né", "hmß"], how);
    });
  });

  test("when only </think> comes: what stood before it is dropped", async () => {
    const body = events(
      chunk({ content: "hm" }),
      chunk({ content: "ß</thi" }),
      chunk({ content: "nk>né" }, "stop"),
      DONE,
    );
    await inAllCuts("openai", body, (outcome, how) => assertEquals(outcome.text, "né", how));
  });

  test("when only </think> comes from a model that is known for it: nothing of it was ever shown as the answer", async () => {
    const body = events(
      chunk({ content: "hm" }),
      chunk({ content: "ß</thi" }),
      chunk({ content: "nk>né" }, "stop"),
      DONE,
    );
    await inAllCuts("openai", body, (outcome, how) => {
      assertEquals([outcome.text, outcome.reasoning], ["né", "hmß"], how);
      assert(outcome.events.every((event) => event.type !== "discard"), how);
    }, { model: { name: "deepseek-r1:14b" } });
  });

  /** The events of two chunks, of which the second is sent when the first was seen. */
  async function twoSteps(name: string): Promise<string[]> {
    const seen = Promise.withResolvers<void>();
    const second = events(chunk({ content: "hm</think>yes" }, "stop"), DONE).text;
    return await withServer(
      [{ body: [events(chunk({ content: "well" })).text, seen.promise, second] }],
      async (server) => {
        const given: string[] = [];
        const model = modelAt(server, "openai", { name });
        for await (const event of chat({ model, messages: [], env: {}, timeoutMs: PATIENT_MS })) {
          given.push("text" in event ? `${event.type} ${event.text}` : event.type);
          seen.resolve();
        }
        return given;
      },
    );
  }

  test("when only </think> comes behind text that was given: that text is taken back", async () => {
    assertEquals(await twoSteps("m"), ["delta well", "discard", "reasoning hm", "delta yes", "end"]);
  });

  test("when only </think> comes from a model that is known for it: its text is given as reasoning until then", async () => {
    for (const name of ["deepseek-r1:14b", "QwQ-32B", "qwen3-4b-thinking"]) {
      assertEquals(await twoSteps(name), ["reasoning well", "reasoning hm", "delta yes", "end"]);
    }
  });

  test("but tags inside code are text", async () => {
    const text = "Use `<think>` é.\n\n```html\n</think>\n<think>\n```\nDone";
    const body = events(
      ...text.split("n").map((part, at) => chunk({ content: at === 0 ? part : `n${part}` })),
      chunk({}, "stop"),
    );
    await inAllCuts("openai", body, (outcome, how) => assertEquals([outcome.text, outcome.reasoning], [text, ""], how));
  });
});
