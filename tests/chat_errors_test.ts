import { describe, test } from "node:test";
import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { chat, type ChatEvent } from "../chat.ts";
import type { Model } from "../endpoint.ts";
import {
  ask,
  askServer,
  chunk,
  events,
  lines,
  modelAt,
  PATIENT_MS,
  replyOf,
  textDelta,
  typedEvents,
} from "./support_chat.ts";
import { CUT, json, type Reply, serve, sse, type Step, withServer } from "./support_server.ts";

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
    const message = "max_tokens: 8192 > 4096, which is the maximum allowed number of output tokens for claude-3-haiku";
    const good = replyOf(typedEvents(textDelta("fine"), { type: "message_stop" }));
    const outcome = await askServer("anthropic", [json({ type: "error", error: { message } }, 400), good]);
    assertEquals(outcome.text, "fine");
    assertEquals(outcome.server.requests.map((request) => request.json.max_tokens), [8192, 4096]);
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

describe("a model that is not there", () => {
  const cases: [protocol: Model["protocol"], refusal: Reply, list: Reply, hint: string][] = [
    [
      "openai",
      json({ error: { message: "The model `test-model` does not exist", code: "model_not_found" } }, 404),
      json({ data: [{ id: "qwen" }, { id: "llama" }] }),
      "it has: qwen, llama",
    ],
    [
      "ollama",
      json({ error: "model 'test-model' not found" }, 404),
      json({ models: [{ name: "qwen2.5-coder:7b" }] }),
      "it has: qwen2.5-coder:7b; ollama pull test-model fetches it",
    ],
    [
      "anthropic",
      json({ type: "error", error: { type: "not_found_error", message: "model: test-model not found" } }, 404),
      json({ data: [{ type: "model", id: "claude-x" }] }),
      "it has: claude-x",
    ],
  ];
  for (const [protocol, refusal, list, hint] of cases) {
    test(`is answered with those that are (${protocol})`, async () => {
      const outcome = await askServer(protocol, [refusal, list]);
      assertStringIncludes(outcome.error?.message ?? "", "test-model");
      assertEquals(outcome.error?.hint, hint);
    });
  }

  test("is told apart from a wrong path, which names the base URL", async () => {
    const outcome = await askServer("openai", [{ status: 404, body: "404 page not found" }]);
    assertStringIncludes(outcome.error?.message ?? "", "HTTP 404: 404 page not found");
    assertStringIncludes(outcome.error?.hint ?? "", "base URL");
  });

  test("is an error also where the list cannot be had", async () => {
    const refusal = json({ error: { message: "model test-model not found" } }, 404);
    const outcome = await askServer("openai", [refusal, { status: 500 }]);
    assertStringIncludes(outcome.error?.message ?? "", "test-model not found");
  });
});

describe("a prompt that does not fit", () => {
  const cases: [name: string, protocol: Model["protocol"], reply: Reply, window: string][] = [
    [
      "Anthropic",
      "anthropic",
      json(
        { error: { type: "invalid_request_error", message: "prompt is too long: 210000 tokens > 200000 maximum" } },
        400,
      ),
      "200000 tokens",
    ],
    [
      "Anthropic by bytes",
      "anthropic",
      json({ error: { type: "request_too_large", message: "Request exceeds the maximum size" } }, 413),
      "",
    ],
    [
      "OpenAI",
      "openai",
      json({
        error: { message: "Your input exceeds the context window of this model.", code: "context_length_exceeded" },
      }, 400),
      "",
    ],
    [
      "OpenAI as 429",
      "openai",
      json({
        error: { message: "Request too large for gpt-4o on tokens per min (TPM): Limit 30000, Requested 31007." },
      }, 429),
      "30000 tokens",
    ],
    [
      "llama.cpp",
      "openai",
      json({
        error: {
          code: 400,
          message: "the request exceeds the available context size",
          type: "exceed_context_size_error",
          n_prompt_tokens: 9000,
          n_ctx: 4096,
        },
      }, 400),
      "4096 tokens",
    ],
    [
      "vLLM",
      "openai",
      json({
        message: "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens",
        code: 400,
      }, 400),
      "8192 tokens",
    ],
    [
      "LM Studio",
      "openai",
      json({
        error:
          "Trying to keep the first 9000 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens, which is not enough. The number is greater than the context length",
      }, 400),
      "4096 tokens",
    ],
    [
      "Gemini",
      "openai",
      json([{
        error: { message: "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)." },
      }], 400),
      "1048576 tokens",
    ],
    [
      "DeepSeek",
      "openai",
      json({
        error: {
          message: "This model's maximum context length is 131072 tokens. Please reduce the length of the messages.",
        },
      }, 400),
      "131072 tokens",
    ],
    [
      "Mistral",
      "openai",
      json({ message: "Prompt contains 40000 tokens, too large for model with 32768 maximum context length" }, 400),
      "32768 tokens",
    ],
    ["Ollama", "ollama", json({ error: "input length exceeds the context length" }, 400), ""],
    [
      "a server that says so inside a 200",
      "openai",
      sse({ error: { message: "maximum context length is 2048 tokens" } }),
      "2048 tokens",
    ],
  ];
  for (const [name, protocol, reply, window] of cases) {
    test(`is said with the window and --max-diff-chars (${name})`, async () => {
      const outcome = await askServer(protocol, [reply]);
      assertStringIncludes(outcome.error?.message ?? "", "does not fit");
      assertStringIncludes(outcome.error?.message ?? "", window);
      assertStringIncludes(outcome.error?.hint ?? "", "--max-diff-chars");
    });
  }

  test("is said with the window that is known, where the server names none", async () => {
    const reply = json({ error: "input length exceeds the context length" }, 400);
    const outcome = await askServer("ollama", [reply], { request: { contextTokens: 12_288 } });
    assertStringIncludes(outcome.error?.message ?? "", "12288 tokens");
  });
});

describe("a prompt that was cut in silence", () => {
  const content = "const answer = compute(first, second); // the words of a diff\n".repeat(200);
  const reply = (prompt_tokens: number) =>
    sse(chunk({ content: "fine" }, "stop"), { choices: [], usage: { prompt_tokens, completion_tokens: 1 } }, "[DONE]");
  const request = { messages: [{ role: "user" as const, content }] };

  test("is marked on the end", async () => {
    assertEquals((await askServer("openai", [reply(1_024)], { request })).end?.promptCut, true);
  });

  test("is not suspected where the count fits, or there is none", async () => {
    assertEquals((await askServer("openai", [reply(3_200)], { request })).end?.promptCut, undefined);
    assertEquals((await askServer("openai", [reply(0)], { request })).end?.promptCut, undefined);
  });
});

describe("a key", () => {
  test("that is refused is named by its variable", async () => {
    const model = { apiKey: "sk-secret", apiKeyFrom: "OPENAI_API_KEY" };
    const outcome = await askServer("openai", [json({ error: { message: "Incorrect API key" } }, 401)], { model });
    assertStringIncludes(outcome.error?.message ?? "", "HTTP 401: Incorrect API key");
    assertStringIncludes(outcome.error?.hint ?? "", "OPENAI_API_KEY");
  });

  test("that a server repeats is in no message, hint, cause or event", async () => {
    const secret = "sk-very-secret";
    const model = { apiKey: secret, headers: { "x-pass": "also-secret" } };
    const echo = { error: { message: `bad key ${secret} with also-secret` } };
    for (
      const replies of [[json(echo, 401)], [json(echo, 404)], [sse(echo)], [json(echo, 503), OK], [{
        body: `<p>${secret} also-secret`,
      }]]
    ) {
      const outcome = await askServer("openai", replies, { model });
      const printed = [
        JSON.stringify(outcome.events),
        ...[outcome.error, outcome.error?.cause].map((error) =>
          error instanceof Error ? `${error.message} ${error.stack}` : ""
        ),
        outcome.error?.hint ?? "",
      ].join("\n");
      assert(!printed.includes(secret) && !printed.includes("also-secret"), printed);
      assert(printed.includes("[key]"), printed);
    }
  });

  test("that no header can hold is said without showing it", async () => {
    for (const apiKey of ["secret\nkey", "secret\u{1f511}key"]) {
      const outcome = await askServer("openai", [], { model: { apiKey } });
      assertStringIncludes(outcome.error?.message ?? "", "holds what no header can");
      assertStringIncludes(outcome.error?.hint ?? "", "API key");
      assert(!`${outcome.error?.stack}${outcome.error?.cause}`.includes("secret"));
    }
  });

  test("of a few characters, or a short header, makes no message unreadable", async () => {
    const outcome = await askServer("openai", [json({ error: "a bad key" }, 401)], {
      model: { apiKey: "a", headers: { "x-team": "e" } },
    });
    assertStringIncludes(outcome.error?.message ?? "", "HTTP 401: a bad key");
  });

  test("does not go where a redirect leads to another origin", async () => {
    await withServer([], async (other) => {
      const redirect: Reply = { status: 307, headers: { location: `${other.url}/v1/chat/completions` } };
      const outcome = await askServer("openai", [redirect], { model: { apiKey: "sk-secret" } });
      assertStringIncludes(outcome.error?.message ?? "", "redirects to");
      assertEquals(other.requests.length, 0);
    });
  });

  test("goes along where a redirect stays within the origin", async () => {
    const redirect: Reply = { status: 308, headers: { location: "/v2/chat" } };
    const outcome = await askServer("openai", [redirect, OK], { model: { apiKey: "sk-secret" } });
    assertEquals(outcome.text, "fine");
    const [first, second] = outcome.server.requests;
    assertEquals([second?.method, second?.path, second?.headers.authorization], [
      "POST",
      "/v2/chat",
      "Bearer sk-secret",
    ]);
    assertEquals(second?.body, first?.body);
  });
});

describe("the consumer", () => {
  test("that leaves the loop closes the connection", async () => {
    const body: Step[] = [events(chunk({ content: "a" })).text, never];
    await withServer([{ body }], async (server) => {
      for await (
        const _event of chat({ model: modelAt(server, "openai"), messages: [], env: {}, timeoutMs: PATIENT_MS })
      ) break;
      assertEquals(await server.requests[0]?.closed, true);
    });
  });

  test("that is slow does not run into the silence limit, and sets the pace", async () => {
    const text = "x".repeat(64 * 1024);
    let written = 0;
    const total = 400;
    const body: Step[] = [];
    for (let at = 0; at < total; at++) body.push(events(chunk({ content: text })).text, () => written++);
    body.push(events(chunk({}, "stop")).text);
    await withServer([{ body }], async (server) => {
      let chars = 0;
      for await (const event of chat({ model: modelAt(server, "openai"), messages: [], env: {}, timeoutMs: 2_000 })) {
        if (event.type !== "delta") continue;
        if (chars === 0) {
          await new Promise((resolve) => setTimeout(resolve, 2_500));
          assert(written < total, "the server could write everything while nobody read");
        }
        chars += event.text.length;
      }
      assertEquals(chars, text.length * total);
    });
  });
});

describe("an abort", () => {
  const aborted = async (run: (signal: AbortSignal, abort: () => void) => Promise<void>) => {
    const controller = new AbortController();
    await assertRejects(
      () => run(controller.signal, () => controller.abort(new RangeError("stopped"))),
      RangeError,
      "stopped",
    );
  };

  test("before the request sends nothing", async () => {
    await withServer([], async (server) => {
      await aborted(async (signal, abort) => {
        abort();
        await ask(modelAt(server, "openai"), { signal });
      });
    });
  });

  test("before the headers ends the request", async () => {
    await withServer([{ after: never }], async (server) => {
      await aborted(async (signal, abort) => {
        void server.request(0).then(abort);
        await ask(modelAt(server, "openai"), { signal });
      });
      assertEquals(await server.requests[0]?.closed, true);
    });
  });

  for (const protocol of ["openai", "ollama"] as const) {
    test(`in the middle ends the stream, and the text so far was given (${protocol})`, async () => {
      const first = protocol === "openai"
        ? events(chunk({ content: "so far" }))
        : lines({ message: { content: "so far" } });
      await withServer([{ body: [first.text, never] }], async (server) => {
        const given: ChatEvent[] = [];
        await aborted(async (signal, abort) => {
          const call = chat({ model: modelAt(server, protocol), messages: [], env: {}, timeoutMs: PATIENT_MS, signal });
          for await (const event of call) {
            given.push(event);
            setTimeout(abort, 0);
          }
        });
        assertEquals(given, [{ type: "delta", text: "so far" }]);
        assertEquals(await server.requests[0]?.closed, true);
      });
    });
  }

  test("while a wait runs ends it at once", async () => {
    await withServer([json({}, 429, { "retry-after": "60" })], async (server) => {
      await aborted(async (signal, abort) => {
        const call = chat({ model: modelAt(server, "openai"), messages: [], env: {}, timeoutMs: PATIENT_MS, signal });
        for await (const event of call) if (event.type === "waiting") setTimeout(abort, 0);
      });
    });
  });
});

test("an error body in any shape becomes one line with the status", async () => {
  const shapes: [body: string, said: string][] = [
    ['{"error": {"message": "no such thing"}}', "HTTP 418: no such thing"],
    ['{"error": "no such thing"}', "HTTP 418: no such thing"],
    ['[{"error": {"message": "no such thing"}}]', "HTTP 418: no such thing"],
    ["no such\n\tthing", "HTTP 418: no such thing"],
    ["<html><head><title>no such thing</title></head><body>x</body></html>", "HTTP 418: no such thing"],
    ["", "HTTP 418"],
  ];
  for (const [body, said] of shapes) {
    const outcome = await askServer("openai", [{ status: 418, body }]);
    assertEquals(outcome.error?.message, `"custom/test-model" at 127.0.0.1:${outcome.server.port} answers ${said}`);
  }
});

test("a connection that is cut while the usage was known gives the usage", async () => {
  const got = Promise.withResolvers<void>();
  const start = typedEvents(
    Object.assign({ type: "message_start" }, { message: { usage: { input_tokens: 9 } } }),
    textDelta("a"),
  );
  await withServer([{ body: [start.text, got.promise, CUT] }], async (server) => {
    const given: ChatEvent[] = [];
    await assertRejects(async () => {
      for await (
        const event of chat({ model: modelAt(server, "anthropic"), messages: [], env: {}, timeoutMs: PATIENT_MS })
      ) {
        given.push(event);
        got.resolve();
      }
    });
    assertEquals(given, [{ type: "delta", text: "a" }, { type: "usage", promptTokens: 9 }]);
  });
});
