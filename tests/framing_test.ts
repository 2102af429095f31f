import { describe, test } from "node:test";
import { assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { lineSplitter, MAX_EVENT_CHARS, piecesOf, type Splitter, sseSplitter } from "../framing.ts";
import { cutUp } from "./support_server.ts";

/** A body in exactly these pieces, read as chat() reads it. */
async function payloads(framing: "sse" | "lines", pieces: readonly Uint8Array[]): Promise<[string[], Splitter]> {
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const piece of pieces) controller.enqueue(piece);
      controller.close();
    },
  });
  const got: string[] = [];
  const splitter = (framing === "sse" ? sseSplitter : lineSplitter)((data, event) =>
    got.push(event ? `${event}|${data}` : data)
  );
  const reader = piecesOf(body, framing);
  for (let next = await reader.read(); !next.done; next = await reader.read()) splitter.feed(next.value ?? "");
  splitter.end();
  return [got, splitter];
}

const cases: [name: string, framing: "sse" | "lines", text: string, payloads: string[]][] = [
  ["events", "sse", "data: grüße\n\ndata: 🎉\n\n", ["grüße", "🎉"]],
  ["events with CRLF", "sse", "data: grüße\r\n\r\ndata: 🎉\r\n\r\n", ["grüße", "🎉"]],
  ["events with CR", "sse", "data: grüße\r\rdata: 🎉\r\r", ["grüße", "🎉"]],
  ["an event without an end", "sse", "data: grüße\n\ndata: 🎉", ["grüße", "🎉"]],
  ["types, comments and unknown fields", "sse", ": né\nevent: ping\ndata:x\n\n:\nfoo: bar\ndata: é\n\n", [
    "ping|x",
    "é",
  ]],
  ["several data lines", "sse", "data: é\ndata: b\n\n", ["é\nb"]],
  ["an error line", "sse", 'data: é\n\nerror: {"a": "é"}\n\n', ["é", 'error|{"a": "é"}']],
  ["an error line at the start", "sse", "error: é\n\n", ["error|é"]],
  ["an error line with CRLF, without an end", "sse", "data: é\r\n\r\nerror:é", ["é", "error|é"]],
  ["error in the middle of a line", "sse", "data: an error: é\n\ndata: é error:\n\n", ["an error: é", "é error:"]],
  ["other fields that begin like it", "sse", "event: e\nerr: x\nerrors: é\ndata: é\n\n", ["e|é"]],
  ["lines", "lines", '{"a": "é"}\n\n{"b": "🎉"}\r\n{"c": 1}', ['{"a": "é"}', '{"b": "🎉"}', '{"c": 1}']],
];

describe("payloads of a stream", () => {
  for (const [name, framing, text, expected] of cases) {
    test(`with ${name} are the same whole, byte by byte and cut inside a character`, async () => {
      for (const [how, pieces] of cutUp(text)) assertEquals((await payloads(framing, pieces))[0], expected, how);
    });
  }

  test("are the same wherever it is cut", async () => {
    const line = fc.constantFrom(
      "data: é",
      "data:x",
      "error: z",
      "event: error",
      "event:e",
      ": c",
      "err",
      "errors: 1",
      "id: 1",
      "",
    );
    const end = fc.constantFrom("\n", "\r\n", "\r");
    const text = fc.array(fc.tuple(line, end), { maxLength: 8 }).map((lines) => lines.flat().join(""));
    await fc.assert(
      fc.asyncProperty(text, async (text) => {
        const [[, whole], [, bytes]] = cutUp(text) as [[string, Uint8Array[]], [string, Uint8Array[]]];
        assertEquals((await payloads("sse", bytes))[0], (await payloads("sse", whole))[0]);
      }),
      { numRuns: 300 },
    );
  });
});

describe("a text without any payload", () => {
  test("is kept as the document", async () => {
    for (const text of ['{"error": {\n "message": "né"\n}}', "<html>\n<p>né"]) {
      for (const framing of ["sse", "lines"] as const) {
        for (const [how, pieces] of cutUp(text)) {
          assertEquals((await payloads(framing, pieces))[1].document(), text, how);
        }
      }
    }
  });

  test("is forgotten with the first payload", async () => {
    for (const [framing, text] of [["sse", ": c\n\ndata: x\n\n"], ["lines", 'warming up\n{"a": 1}\n']] as const) {
      const [got, splitter] = await payloads(framing, [new TextEncoder().encode(text)]);
      assertEquals([got.length, splitter.document()], [1, ""]);
    }
  });
});

test("an event that never ends is refused before it fills the memory", () => {
  const splitter = sseSplitter(() => undefined);
  splitter.feed("data: ");
  const piece = "x".repeat(1 << 20);
  assertThrows(
    () => {
      for (let fed = 0; fed <= MAX_EVENT_CHARS; fed += piece.length) splitter.feed(piece);
    },
    RangeError,
    "an event of more than",
  );
});
