import { describe, test } from "node:test";
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { chat } from "../chat.ts";
import type { Model } from "../endpoint.ts";
import {
  askServer,
  type Body,
  chunk,
  document,
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
} from "./support_chat.ts";
import { CUT, sse, type Step, withServer } from "./support_server.ts";

const never = new Promise(() => undefined);

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
