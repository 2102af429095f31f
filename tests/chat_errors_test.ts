import { describe, test } from "node:test";
import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { chat, type ChatEvent } from "../chat.ts";
import type { Model } from "../endpoint.ts";
import { ask, askServer, chunk, events, lines, modelAt, PATIENT_MS, textDelta, typedEvents } from "./support_chat.ts";
import { CUT, json, type Reply, sse, type Step, withServer } from "./support_server.ts";

const OK = sse(chunk({ content: "fine" }, "stop"), "[DONE]");
const never = new Promise(() => undefined);

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
      "Anthropic with the room for the answer",
      "anthropic",
      json({
        error: { message: "input length and `max_tokens` exceed context limit: 190000 + 32000 > 200000, decrease one" },
      }, 400),
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
