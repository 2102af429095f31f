import { describe, test } from "node:test";
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { ask, askServer, chunk, lines, modelAt, replyOf, textDelta, typedEvents } from "./support_chat.ts";
import { json, serve, sse, withServer } from "./support_server.ts";

const OK = sse(chunk({ content: "fine" }, "stop"), "[DONE]");
const never = new Promise(() => undefined);

describe("a 400 that names a parameter", () => {
  const cases: [name: string, error: object, before: object, after: object][] = [
    [
      "max_tokens is asked again with max_completion_tokens",
      {
        message:
          "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
        param: "max_tokens",
      },
      { max_tokens: 50, temperature: 0.5, stream_options: { include_usage: true } },
      { max_completion_tokens: 50, temperature: 0.5, stream_options: { include_usage: true } },
    ],
    [
      "temperature is asked again without",
      { message: "Unsupported value: 'temperature' does not support 0.5", param: "temperature" },
      { max_tokens: 50, temperature: 0.5, stream_options: { include_usage: true } },
      { max_tokens: 50, stream_options: { include_usage: true } },
    ],
    [
      "stream_options is asked again without",
      { message: "Unknown field: stream_options" },
      { max_tokens: 50, temperature: 0.5, stream_options: { include_usage: true } },
      { max_tokens: 50, temperature: 0.5 },
    ],
  ];
  for (const [name, error, before, after] of cases) {
    test(name, async () => {
      const outcome = await askServer("openai", [json({ error }, 400), OK], {
        request: { maxTokens: 50, temperature: 0.5 },
      });
      assertEquals(outcome.text, "fine");
      const sent = outcome.server.requests.map((
        { json: { model: _model, messages: _messages, stream: _stream, ...rest } },
      ) => rest);
      assertEquals(sent, [before, after].map((one) => ({ ...one })));
      assertEquals(outcome.waiting.length, 1);
    });
  }

  test("is an error when it names the same one again", async () => {
    const refusal = json({ error: { message: "stream_options is not known" } }, 400);
    const outcome = await askServer("openai", [refusal, refusal]);
    assertStringIncludes(outcome.error?.message ?? "", "HTTP 400: stream_options is not known");
  });

  test("is an error when it names none of ours", async () => {
    const outcome = await askServer("openai", [json({ error: { message: "messages: wrong" } }, 400)]);
    assertStringIncludes(outcome.error?.message ?? "", "HTTP 400: messages: wrong");
  });

  test("tells how many tokens Anthropic's model allows, and gets as many", async () => {
    const message = "max_tokens: 32000 > 4096, which is the maximum allowed number of output tokens for claude-3-haiku";
    const good = replyOf(typedEvents(textDelta("fine"), { type: "message_stop" }));
    const outcome = await askServer("anthropic", [json({ type: "error", error: { message } }, 400), good]);
    assertEquals(outcome.text, "fine");
    assertEquals(outcome.server.requests.map((request) => request.json.max_tokens), [32_000, 4096]);
  });
});

describe("a 429", () => {
  const waits: [name: string, headers: Record<string, string>, body: unknown, milliseconds: number][] = [
    ["waits as many seconds as Retry-After says", { "retry-after": "7" }, {}, 7_000],
    ["rounds the seconds of Retry-After up", { "retry-after": "1.2" }, {}, 2_000],
    ["takes retry-after-ms, rounded up", { "retry-after-ms": "2100", "retry-after": "9" }, {}, 3_000],
    ["takes Gemini's delay from the body", {}, { error: { details: [{ retryDelay: "5.4s" }] } }, 6_000],
    ["waits a second where nobody names a time", {}, {}, 1_000],
  ];
  for (const [name, headers, body, milliseconds] of waits) {
    test(name, async () => {
      const outcome = await askServer("openai", [json(body, 429, headers), OK]);
      assertEquals(outcome.text, "fine");
      assertEquals(outcome.waiting.map((one) => [one.milliseconds, one.rateLimited]), [[milliseconds, true]]);
      assertStringIncludes(outcome.waiting[0]?.reason ?? "", "HTTP 429");
    });
  }

  test("waits until the date of Retry-After", async () => {
    const date = new Date(Date.now() + 30_000).toUTCString();
    const outcome = await askServer("openai", [json({}, 429, { "retry-after": date }), OK]);
    const milliseconds = outcome.waiting[0]?.milliseconds ?? 0;
    assert(20_000 <= milliseconds && milliseconds <= 31_000 && milliseconds % 1000 === 0, String(milliseconds));
  });

  test("that asks for more than a minute is given up", async () => {
    const outcome = await askServer("openai", [
      json({ error: { message: "slow down" } }, 429, { "retry-after": "61" }),
    ]);
    assertStringIncludes(outcome.error?.message ?? "", "slow down; it asks to wait 61 seconds");
  });

  test("with insufficient_quota is final", async () => {
    const error = {
      message: "You exceeded your current quota",
      type: "insufficient_quota",
      code: "insufficient_quota",
    };
    const outcome = await askServer("openai", [json({ error }, 429, { "retry-after": "1" })]);
    assertStringIncludes(outcome.error?.message ?? "", "You exceeded your current quota");
  });

  test("is given up after four tries", async () => {
    const outcome = await askServer("openai", Array.from({ length: 4 }, () => json({ error: "busy" }, 429)));
    assertEquals(outcome.waiting.map((one) => one.milliseconds), [1_000, 2_000, 4_000]);
    assertStringIncludes(outcome.error?.message ?? "", "HTTP 429: busy");
  });
});

describe("overload", () => {
  for (const status of [500, 502, 503, 504, 529]) {
    test(`as status ${status} is waited out`, async () => {
      const outcome = await askServer("openai", [{ status, body: "<html><title>Bad day</title></html>" }, OK]);
      assertEquals(outcome.text, "fine");
      assertEquals(outcome.waiting.map((one) => one.reason), [`HTTP ${status}: Bad day`]);
      assertEquals(outcome.waiting[0]?.rateLimited, undefined);
    });
  }

  test("inside a 200 is waited out while nothing was given", async () => {
    const error = { type: "overloaded_error", message: "Overloaded" };
    const busy = replyOf(typedEvents(Object.assign({ type: "error" }, { error })));
    const good = replyOf(typedEvents(textDelta("fine"), { type: "message_stop" }));
    const outcome = await askServer("anthropic", [busy, good]);
    assertEquals([outcome.text, outcome.waiting.length], ["fine", 1]);
    const code = await askServer("openai", [sse({ error: { message: "Provider returned error", code: 502 } }), OK]);
    assertEquals([code.text, code.waiting.length], ["fine", 1]);
  });

  test("is not tried again once a delta or reasoning was given", async () => {
    for (const delta of [{ content: "so far" }, { reasoning: "hm" }]) {
      const outcome = await askServer("openai", [sse(chunk(delta), { error: { message: "Overloaded", code: 529 } })]);
      assertStringIncludes(outcome.error?.message ?? "", "Overloaded");
      assertEquals(outcome.waiting, []);
    }
  });

  test("of memory is final: the same request will not fit next time", async () => {
    const error = "model requires more system memory (9.1 GiB) than is available (4.0 GiB)";
    const outcome = await askServer("ollama", [json({ error }, 500)]);
    assertStringIncludes(outcome.error?.message ?? "", error);
  });
});

describe("a connection", () => {
  test("that is reset before the first byte is tried once more, at once", async () => {
    const outcome = await askServer("openai", [{ reset: true }, OK]);
    assertEquals(outcome.text, "fine");
    assertEquals(outcome.waiting.map((one) => one.milliseconds), [0]);
  });

  test("that is reset twice before the first byte is an error", async () => {
    const outcome = await askServer("openai", [{ reset: true }, { reset: true }]);
    assertStringIncludes(outcome.error?.message ?? "", "the connection was closed");
  });

  test("that is refused is an error at once, and names the endpoint", async () => {
    const server = await serve([]);
    await server.close();
    const outcome = await ask(modelAt(server, "openai"));
    assertStringIncludes(outcome.error?.message ?? "", `127.0.0.1:${server.port}`);
    assertStringIncludes(outcome.error?.message ?? "", "refused");
    assertEquals(outcome.waiting, []);
  });
});

test("words of a server about connections are not taken for a connection of ours", async () => {
  const words = "upstream connection closed, runner process has terminated";
  const waited = await askServer("openai", [json({ error: words }, 502), OK]);
  assertEquals(waited.waiting.map((one) => one.milliseconds), [1_000]);
  const failed = await askServer("ollama", [replyOf(lines({ error: words }))]);
  assertEquals([failed.waiting, failed.server.requests.length], [[], 1]);
  assertStringIncludes(failed.error?.message ?? "", words);
});

test("a refusal whose text never ends is said with the text so far", async () => {
  const outcome = await askServer("openai", [{ status: 418, body: ["no such thing", never] }], {
    request: { timeoutMs: 300 },
  });
  assertStringIncludes(outcome.error?.message ?? "", "HTTP 418: no such thing");
});

test("llama.cpp that dies while it loads its model is an error that names it", async () => {
  const loading = json({ error: { code: 503, message: "Loading model" } }, 503);
  await withServer((_request, index) => index === 0 ? loading : { reset: true }, async (server) => {
    const outcome = await ask(modelAt(server, "openai"));
    assertStringIncludes(outcome.error?.message ?? "", '"custom/test-model"');
    assertEquals(outcome.waiting.length, 1);
  });
});

test("llama.cpp that loads its model is waited for on /health, saying so", async () => {
  const loading = json({ error: { code: 503, message: "Loading model", type: "unavailable_error" } }, 503);
  const outcome = await askServer("openai", [loading, loading, loading, json({ status: "ok" }), OK]);
  assertEquals(outcome.text, "fine");
  assertEquals(outcome.server.requests.map((request) => request.path), [
    "/v1/chat/completions",
    "/health",
    "/health",
    "/health",
    "/v1/chat/completions",
  ]);
  assertEquals(outcome.waiting.length, 3);
  assertStringIncludes(outcome.waiting[0]?.reason ?? "", "loading its model");
});

test("llama.cpp that loads its model for longer than --timeout is given up", async () => {
  const loading = json({ error: { code: 503, message: "Loading model" } }, 503);
  await withServer(() => loading, async (server) => {
    const sleep = () => new Promise<void>((resolve) => setTimeout(resolve, 20));
    const outcome = await ask(modelAt(server, "openai"), { timeoutMs: 200, sleep });
    assertStringIncludes(outcome.error?.hint ?? "", "--timeout");
  });
});
