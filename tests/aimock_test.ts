/** chat() against a third-party server, which plays the protocols as its own authors know them. */
import { after, before, describe, test } from "node:test";
import { LLMock } from "@copilotkit/aimock";
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { contextWindow, findModel, listModels, type Model } from "../providers.ts";
import { ask, modelAt } from "./support_chat.ts";

const PROTOCOLS = ["openai", "ollama", "anthropic"] as const;
const ANSWER = "## Summary\n\nGrüße 🎉: one `issue`, found in a diff.\n";

describe("against aimock", () => {
  const mock = new LLMock({ port: 0 });
  before(() => mock.start());
  after(() => mock.stop());

  /** The model that one fixture answers for, over one protocol. */
  const model = (protocol: Model["protocol"], name: string) => modelAt({ url: mock.url }, protocol, { name });

  for (const protocol of PROTOCOLS) {
    test(`an answer over ${protocol} comes whole, in pieces of any size`, async () => {
      for (const chunkSize of [1, 7, 1_000]) {
        const name = `good-${protocol}-${chunkSize}`;
        mock.on({ model: name }, { content: ANSWER }, { chunkSize });
        const outcome = await ask(model(protocol, name));
        assertEquals([outcome.text, outcome.error, outcome.end?.stopReason], [ANSWER, undefined, "stop"]);
      }
    });

    // not over ollama, whose reasoning and reasons aimock names otherwise than Ollama does
    if (protocol !== "ollama") {
      test(`reasoning over ${protocol} is kept apart`, async () => {
        mock.on({ model: `reasons-${protocol}` }, { content: ANSWER, reasoning: "hm, well" });
        const outcome = await ask(model(protocol, `reasons-${protocol}`));
        assertEquals([outcome.text, outcome.reasoning], [ANSWER, "hm, well"]);
      });

      test(`an answer over ${protocol} that the model's limit cut short says so`, async () => {
        mock.on({ model: `short-${protocol}` }, { content: ANSWER, finishReason: "length" });
        assertEquals((await ask(model(protocol, `short-${protocol}`))).end?.stopReason, "length");
      });
    }

    test(`a stream over ${protocol} that ends in the middle is incomplete, and its text kept`, async () => {
      mock.on({ model: `cut-${protocol}` }, { content: ANSWER }, { chunkSize: 3, truncateAfterChunks: 8, latency: 30 });
      const outcome = await ask(model(protocol, `cut-${protocol}`));
      assert(outcome.text !== "" && ANSWER.startsWith(outcome.text) && outcome.text.length < ANSWER.length);
      assertEquals(outcome.end, undefined);
      assertStringIncludes(outcome.error?.message ?? "", "broke off");
    });

    test(`a rate limit over ${protocol} is waited out as its header says`, async () => {
      const match = { model: `limited-${protocol}` };
      mock.on({ ...match, sequenceIndex: 0 }, {
        error: { message: "Slow down", type: "rate_limit_error" },
        status: 429,
        retryAfter: 3,
      });
      mock.on(match, { content: ANSWER });
      const outcome = await ask(model(protocol, match.model));
      assertEquals(outcome.text, ANSWER);
      assertEquals(outcome.waiting.map((one) => [one.milliseconds, one.rateLimited]), [[3_000, true]]);
    });

    test(`overload over ${protocol} is waited out`, async () => {
      const match = { model: `overloaded-${protocol}` };
      mock.on({ ...match, sequenceIndex: 0 }, {
        error: { message: "Overloaded", type: "overloaded_error" },
        status: 529,
      });
      mock.on(match, { content: ANSWER });
      const outcome = await ask(model(protocol, match.model));
      assertEquals([outcome.text, outcome.waiting.length], [ANSWER, 1]);
    });

    test(`a prompt over ${protocol} that does not fit is said with the window`, async () => {
      const message =
        "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.";
      mock.on({ model: `full-${protocol}` }, {
        error: { message, type: "invalid_request_error", code: "context_length_exceeded" },
        status: 400,
      });
      const outcome = await ask(model(protocol, `full-${protocol}`));
      assertStringIncludes(outcome.error?.message ?? "", "8192 tokens");
      assertStringIncludes(outcome.error?.hint ?? "", "--max-diff-chars");
    });
  }

  test("a connection that is cut over openai fails, and the text so far is kept", async () => {
    mock.on({ model: "dropped" }, { content: ANSWER.repeat(50) }, {
      chunkSize: 5,
      streamingProfile: { ttft: 0, tps: 100 },
      disconnectAfterMs: 300,
    });
    const outcome = await ask(model("openai", "dropped"));
    assert(outcome.text !== "" && ANSWER.repeat(50).startsWith(outcome.text));
    assertEquals([outcome.end, outcome.error !== undefined], [undefined, true]);
  });

  test("usage over openai and anthropic is that of the server", async () => {
    mock.on({ model: "used" }, {
      content: ANSWER,
      usage: { prompt_tokens: 21, completion_tokens: 8, input_tokens: 21, output_tokens: 8 },
    });
    for (const protocol of ["openai", "anthropic"] as const) {
      const outcome = await ask(model(protocol, "used"));
      assertEquals(outcome.usage, { type: "usage", promptTokens: 21, completionTokens: 8 });
    }
  });

  test("the journal shows what was sent", async () => {
    mock.on({ model: "seen" }, { content: ANSWER });
    await ask(model("openai", "seen"));
    const entry = mock.getLastRequest();
    assertEquals([entry?.method, entry?.path, entry?.headers["user-agent"]], [
      "POST",
      "/v1/chat/completions",
      "octavo",
    ]);
  });

  test("its lists of models are read, and a window that it does not know is none", async () => {
    for (const protocol of ["openai", "ollama"] as const) {
      const at = model(protocol, "good-openai-1");
      assert((await listModels(at, { env: {} })).length > 0);
      assertEquals(await contextWindow(at, { env: {} }), undefined);
    }
  });

  test("it is found as a local server, and asked", async () => {
    mock.on({ userMessage: /./ }, { content: ANSWER });
    const found = await findModel({ env: { OLLAMA_HOST: mock.url } });
    assert(found !== "builtin");
    assertEquals((await ask(found)).text, ANSWER);
  });
});
