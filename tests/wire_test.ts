import { test } from "node:test";
import { assertEquals } from "@std/assert";
import fc from "fast-check";
import type { WireEvent } from "../wire.ts";
import { openai } from "../wire_openai.ts";

/** How servers write the same chunk: OpenAI, vLLM; Python's json; with everything beyond ASCII escaped. */
const WRITERS: readonly ((value: unknown) => string)[] = [
  (value) => JSON.stringify(value),
  (value) => JSON.stringify(value, null, 1).replace(/\n */g, " "),
  (value) =>
    JSON.stringify(value).replace(/[^ -~]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`),
];

test("OpenAI's chunks give their texts in order, whatever stands in and around them", () => {
  const piece = fc.oneof(
    fc.string({ unit: "binary", maxLength: 6 }),
    fc.constantFrom(
      "a",
      "a",
      "a",
      '"',
      "\\",
      '"content":"x"',
      '"obfuscation":"',
      '"},',
      "\n",
      "\u2028",
      "😀",
      '","obfuscation":"y"}',
    ),
  );
  const chunk = fc.record({
    content: piece,
    pad: fc.option(piece, { nil: undefined }),
    // another field of the same name, which is not the text
    other: fc.option(fc.constantFrom("a", "b"), { nil: undefined, freq: 3 }),
    id: fc.constantFrom("a", "a", "a", "b"),
    kind: fc.constantFrom("text", "text", "text", "reasoning", "empty", "error", "error text", "stop"),
  });
  fc.assert(
    fc.property(fc.array(chunk, { maxLength: 12 }), fc.constantFrom(...WRITERS), (chunks, write) => {
      const expected: WireEvent[] = [];
      const got: WireEvent[] = [];
      const reader = openai.reader();
      for (const { content, pad, other, id, kind } of chunks) {
        const delta = kind === "reasoning" ? { content, reasoning: "hm" } : kind === "empty" ? {} : { content };
        const finish_reason = kind === "stop" ? "stop" : null;
        reader.read(
          write({
            ...(other === undefined ? {} : { content: other }),
            id,
            choices: [{ index: 0, delta, finish_reason }],
            ...(pad === undefined ? {} : { obfuscation: pad }),
            ...(kind === "error" ? { error: { message: "gone" } } : kind === "error text" ? { error: "gone" } : {}),
          }),
          (event) => got.push(event),
        );
        if (kind === "reasoning") expected.push({ type: "reasoning", text: "hm" });
        if (kind !== "empty" && content !== "") expected.push({ type: "text", text: content });
        if (kind === "stop") expected.push({ type: "stop", reason: "stop" });
        if (kind.startsWith("error")) expected.push({ type: "error", message: "gone", passing: false });
      }
      assertEquals(got, expected);
    }),
    { numRuns: 3_000 },
  );
});
