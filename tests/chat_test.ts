import { describe, test } from "node:test";
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { chat } from "../chat.ts";
import type { Model } from "../endpoint.ts";
import {
  ask,
  askServer,
  type Body,
  chunk,
  document,
  events,
  inAllCuts,
  lines,
  messageDelta,
  modelAt,
  PATIENT_MS,
  replyOf,
  textDelta,
  typedEvents,
} from "./support_chat.ts";
import { CUT, type Reply, sse, type Step, withServer } from "./support_server.ts";

const DONE = "[DONE]";
const USAGE = { choices: [], usage: { prompt_tokens: 11, completion_tokens: 7 } };
/** A good answer in each protocol: "Grüße 🎉". */
const GOOD: Record<Model["protocol"], Body> = {
  openai: events(
    chunk({ role: "assistant", content: "" }),
    chunk({ content: "Grü" }),
    chunk({ content: "ße 🎉" }),
    chunk({}, "stop"),
    USAGE,
    DONE,
  ),
  ollama: lines(
    { message: { role: "assistant", content: "Grü" }, done: false },
    { message: { content: "ße 🎉" }, done: false },
    { message: { content: "" }, done: true, done_reason: "stop", prompt_eval_count: 11, eval_count: 7 },
  ),
  anthropic: typedEvents(
    Object.assign({ type: "message_start" }, {
      message: {
        usage: { input_tokens: 4, cache_read_input_tokens: 5, cache_creation_input_tokens: 2, output_tokens: 1 },
      },
    }),
    Object.assign({ type: "content_block_start" }, { index: 0, content_block: { type: "text", text: "" } }),
    textDelta("Grü"),
    textDelta("ße 🎉"),
    Object.assign({ type: "content_block_stop" }, { index: 0 }),
    messageDelta("end_turn"),
    { type: "message_stop" },
  ),
};
const PROTOCOLS = ["openai", "ollama", "anthropic"] as const;

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
      assertEquals(request?.json.max_tokens, 8192);
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

describe("the end of a stream", () => {
  const cut: [name: string, protocol: Model["protocol"], body: Body][] = [
    ["without finish_reason and [DONE]", "openai", events(chunk({ content: "né" }))],
    ["without message_delta and message_stop", "anthropic", typedEvents(textDelta("né"))],
    ["without done: true", "ollama", lines({ message: { content: "né" } })],
  ];
  for (const [name, protocol, body] of cut) {
    test(`${name} makes the answer incomplete`, async () => {
      await inAllCuts(protocol, body, (outcome, how) => {
        assertEquals([outcome.text, outcome.end], ["né", undefined], how);
        assertStringIncludes(outcome.error?.message ?? "", "ended before the answer did", how);
      });
    });
  }
  const whole: [name: string, protocol: Model["protocol"], body: Body][] = [
    ["a finish_reason alone", "openai", events(chunk({ content: "né" }, "stop"))],
    ["[DONE] alone", "openai", events(chunk({ content: "né" }), DONE)],
    ["a stop_reason alone", "anthropic", typedEvents(textDelta("né"), messageDelta("end_turn"))],
    ["message_stop alone", "anthropic", typedEvents(textDelta("né"), { type: "message_stop" })],
    ["done: true alone", "ollama", lines({ message: { content: "né" }, done: true })],
  ];
  for (const [name, protocol, body] of whole) {
    test(`${name} completes the answer`, async () => {
      await inAllCuts(protocol, body, (outcome, how) => {
        assertEquals([outcome.text, outcome.error, outcome.end?.stopReason], ["né", undefined, "stop"], how);
      });
    });
  }

  test("is not waited for once [DONE] came", async () => {
    const body: Step[] = [GOOD.openai.text, never];
    const outcome = await askServer("openai", [{ body }]);
    assertEquals([outcome.text, outcome.error], ["Grüße 🎉", undefined]);
    // what may come behind a finish_reason alone is waited for five seconds long
    assert((outcome.end?.totalMs ?? Infinity) < 4_500);
  });

  test("may be a cut connection once a finish_reason came", async () => {
    const got = Promise.withResolvers<void>();
    await withServer([{ body: [events(chunk({ content: "é" }, "stop")).text, got.promise, CUT] }], async (server) => {
      const types: string[] = [];
      const model = modelAt(server, "openai");
      for await (const event of chat({ model, messages: [], env: {}, timeoutMs: PATIENT_MS })) {
        types.push(event.type);
        got.resolve();
      }
      assertEquals(types, ["delta", "end"]);
    });
  });

  test("that cuts the connection in the middle fails, and the text so far is kept", async () => {
    const got = Promise.withResolvers<void>();
    await withServer([{ body: [events(chunk({ content: "é" })).text, got.promise, CUT] }], async (server) => {
      let text = "";
      let message = "";
      try {
        for await (
          const event of chat({ model: modelAt(server, "openai"), messages: [], env: {}, timeoutMs: PATIENT_MS })
        ) {
          if (event.type === "delta") text += event.text;
          got.resolve();
        }
      } catch (error) {
        message = error instanceof Error ? error.message : "";
      }
      assertEquals(text, "é");
      assertStringIncludes(message, "broke off");
      assertEquals(server.requests.length, 1);
    });
  });
});

describe("the reason of the end", () => {
  const anthropicEnd = (reason: string) => typedEvents(textDelta("né"), messageDelta(reason), { type: "message_stop" });
  const cases: [name: string, protocol: Model["protocol"], body: Body, reason: string][] = [
    ["length marks the answer as cut short", "openai", events(chunk({ content: "né" }, "length"), DONE), "length"],
    [
      "length marks the answer as cut short (Ollama)",
      "ollama",
      lines({ message: { content: "né" }, done: true, done_reason: "length" }),
      "length",
    ],
    ["max_tokens marks the answer as cut short", "anthropic", anthropicEnd("max_tokens"), "length"],
    [
      "a full context window marks the answer as cut short",
      "anthropic",
      anthropicEnd("model_context_window_exceeded"),
      "length",
    ],
    ["content_filter is said", "openai", events(chunk({ content: "né" }, "content_filter"), DONE), "filter"],
    ["refusal is said", "anthropic", anthropicEnd("refusal"), "refusal"],
    [
      "a refusal's own field is said, and its text shown",
      "openai",
      events(chunk({ refusal: "né" }), chunk({}, "stop"), DONE),
      "refusal",
    ],
    ["tool_calls is another", "openai", events(chunk({ content: "né" }, "tool_calls"), DONE), "other"],
  ];
  for (const [name, protocol, body, reason] of cases) {
    test(name, async () => {
      await inAllCuts(protocol, body, (outcome, how) => {
        assertEquals([outcome.text, outcome.end?.stopReason, outcome.error], ["né", reason, undefined], how);
      });
    });
  }

  test("content_filter without any text is an error that says so, and is not tried again", async () => {
    const outcome = await askServer("openai", [sse(chunk({}, "content_filter"), DONE)]);
    assertStringIncludes(outcome.error?.message ?? "", "content filter");
    assertEquals(outcome.server.requests.length, 1);
  });

  test("refusal without any text is an error that says so, and is not tried again", async () => {
    const outcome = await askServer("anthropic", [
      replyOf(typedEvents(messageDelta("refusal"), { type: "message_stop" })),
    ]);
    assertStringIncludes(outcome.error?.message ?? "", "refuses");
    assertEquals(outcome.server.requests.length, 1);
  });
});

describe("status 200 with a JSON document instead of a stream", () => {
  const usage = { prompt_tokens: 11, completion_tokens: 7 };
  const whole: [protocol: Model["protocol"], body: Body][] = [
    [
      "openai",
      document({ choices: [{ message: { role: "assistant", content: "Grüße" }, finish_reason: "length" }], usage }),
    ],
    [
      "ollama",
      document({
        message: { content: "Grüße" },
        done: true,
        done_reason: "length",
        prompt_eval_count: 11,
        eval_count: 7,
      }),
    ],
    [
      "anthropic",
      document({
        type: "message",
        content: [{ type: "text", text: "Grüße" }],
        stop_reason: "max_tokens",
        usage: { input_tokens: 11, output_tokens: 7 },
      }),
    ],
  ];
  for (const [protocol, body] of whole) {
    for (
      const [layout, text] of [["one line", body.text], [
        "many lines",
        JSON.stringify(JSON.parse(body.text), null, 2),
      ]] as const
    ) {
      test(`is read as a whole answer (${protocol}, ${layout})`, async () => {
        await inAllCuts(protocol, { ...body, text }, (outcome, how) => {
          assertEquals([outcome.text, outcome.end?.stopReason, outcome.error], ["Grüße", "length", undefined], how);
          assertEquals(outcome.usage, { type: "usage", promptTokens: 11, completionTokens: 7 }, how);
        });
      });
    }
  }

  test("is read as an error", async () => {
    for (const protocol of PROTOCOLS) {
      await inAllCuts(protocol, document({ error: { message: "nö" } }), (outcome, how) => {
        assertStringIncludes(outcome.error?.message ?? "", "nö", how);
        assertEquals(outcome.end, undefined, how);
      });
    }
  });

  test("from a wrong path of LM Studio names the base URL", async () => {
    const body = document({ error: "Unexpected endpoint or method. (POST /chät/completions)" });
    await inAllCuts("openai", body, (outcome, how) => {
      assertStringIncludes(outcome.error?.message ?? "", "Unexpected endpoint", how);
      assertStringIncludes(outcome.error?.hint ?? "", "base URL", how);
    });
  });

  test("that is none, but a page, is said to be no answer, and names the base URL", async () => {
    for (const protocol of PROTOCOLS) {
      const page = { type: "text/html", text: "<!doctype html>\n<title>Log in, plëase</title>\n<p>data: x\n" };
      await inAllCuts(protocol, page, (outcome, how) => {
        assertStringIncludes(outcome.error?.message ?? "", "Log in, plëase", how);
        assertStringIncludes(outcome.error?.hint ?? "", "base URL", how);
      });
    }
  });
});

describe("an answer without any text is an error", () => {
  test("which points at the window (LM Studio when the context overflows)", async () => {
    const outcome = await askServer("openai", [sse(chunk({ content: "" }), chunk({}, "stop"), DONE)], {
      model: { contextWindow: 4096 },
    });
    assertStringIncludes(outcome.error?.message ?? "", "without any text");
    assertStringIncludes(outcome.error?.hint ?? "", "4096");
    assertStringIncludes(outcome.error?.hint ?? "", "--max-diff-chars");
  });

  test("which says to raise the cap when there was reasoning", async () => {
    const outcome = await askServer("openai", [sse(chunk({ reasoning_content: "hm" }), chunk({}, "length"), DONE)]);
    assertStringIncludes(outcome.error?.hint ?? "", "raise the cap");
    const tagged = await askServer("openai", [sse(chunk({ content: "<think>hm" }), chunk({}, "length"), DONE)]);
    assertStringIncludes(tagged.error?.hint ?? "", "raise the cap");
  });

  test("also when it is only white space, an empty body, or Ollama loading a model", async () => {
    const blank = await askServer("openai", [sse(chunk({ content: " \n" }), chunk({}, "stop"), DONE)]);
    assertStringIncludes(blank.error?.message ?? "", "without any text");
    const loading = await askServer("ollama", [
      replyOf(lines({ message: { content: "" }, done: true, done_reason: "load" })),
    ]);
    assertStringIncludes(loading.error?.message ?? "", "without any text");
    const empty = await askServer("openai", [{ body: "" }]);
    assertStringIncludes(empty.error?.message ?? "", "ended before the answer did");
  });
});

describe("server-sent events", () => {
  const recode = (change: (text: string) => string): Body => ({ ...GOOD.openai, text: change(GOOD.openai.text) });
  const cases: [name: string, body: Body][] = [
    ["with CRLF at the end of lines", recode((text) => text.replaceAll("\n", "\r\n"))],
    ["with CR at the end of lines", recode((text) => text.replaceAll("\n", "\r"))],
    ["without a space behind data:", recode((text) => text.replaceAll("data: ", "data:"))],
    ["without a blank line at the end", recode((text) => text.trimEnd())],
    ["without an end of the last line", {
      ...GOOD.openai,
      text: events(chunk({ content: "Grüße" }), chunk({ content: " 🎉" }, "stop")).text.trimEnd(),
    }],
    ["with two documents in one event", recode((text) => text.replace("\n\ndata: ", "\ndata: "))],
    ["with a byte order mark", recode((text) => `\ufeff${text}`)],
    [
      "with ids, names and retry times",
      recode((text) => text.replaceAll("data: ", "id: 1\nretry: 3\nevent: message\ndata: ")),
    ],
  ];
  for (const [name, body] of cases) {
    test(`${name} are read`, async () => {
      await inAllCuts("openai", body, (outcome, how) => {
        assertEquals([outcome.text, outcome.end?.stopReason, outcome.error], ["Grüße 🎉", "stop", undefined], how);
      });
    });
  }

  test("are read where CR and LF come in two pieces", async () => {
    const text = GOOD.openai.text.replaceAll("\n", "\r\n");
    const pieces = text.split(/(?<=\r)/).map((piece) => new TextEncoder().encode(piece));
    const outcome = await askServer("openai", [replyOf(GOOD.openai, pieces)]);
    assertEquals([outcome.text, outcome.error], ["Grüße 🎉", undefined]);
  });
});
