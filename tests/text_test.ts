import { test } from "node:test";
import { assertEquals, assertMatch } from "@std/assert";
import fc from "fast-check";
import { charWidth, clip, displayWidth, visible, VisibleStream } from "../text.ts";

const FAMILY = "\u{1f468}\u200d\u{1f469}\u200d\u{1f467}";

/** What a person types, and what hides: the pieces that the properties below put together. */
const pieces = fc.array(
  fc.constantFrom(
    ..."aZ 9#\n\t\r\u001b\u009b\u007f\u202e\u200b\u200d\ufe0f\ud83d\udc68\u4e2d\u0301\u06cc\u200c\ufeff",
    FAMILY,
    "\r\n",
    "\ud83d",
    "\udc68",
    "1\ufe0f\u20e3",
    "\u{1f44d}\u{1f3fd}",
  ),
  { maxLength: 30 },
).map((parts) => parts.join(""));

function streamed(units: string[]): string {
  const stream = new VisibleStream();
  return units.map((unit) => stream.write(unit)).join("") + stream.end();
}

test("visible() shows everything that could drive a terminal or hide in it", () => {
  const cases: [string, string][] = [
    ["\x1b[2J\x1b]8;;http://x\x07", "␛[2J␛]8;;http://x␇"],
    ["\x00\x08\x0b\x7f", "␀␈␋␡"],
    ["\x9b31m", "<U+009B>31m"],
    ["a\u202eb\u2066c", "a<U+202E>b<U+2066>c"],
    ["ad\u200bmin ad\u200dmin \ufeff\u2060\u00ad", "ad<U+200B>min ad<U+200D>min <U+FEFF><U+2060><U+00AD>"],
    ["a\ufe0fb\u{e0041}\u{e0100}\u3164", "a<U+FE0F>b<U+E0041><U+E0100><U+3164>"],
    ["a\u2028b\ufff9", "a<U+2028>b<U+FFF9>"],
    ["\ud83d a \udc68", "\ufffd a \ufffd"],
  ];
  for (const [text, shown] of cases) assertEquals(visible(text), shown);
});

test("visible() leaves lines, tabs, letters and emoji as they are", () => {
  for (
    const text of ["a\n\tb", "naïve 中文 한글", FAMILY, "⚠\ufe0f 1\ufe0f\u20e3 \u{1f44d}\u{1f3fd}", "می\u200cخواهم"]
  ) {
    assertEquals(visible(text), text);
  }
});

test("visible() takes CRLF for a line end and shows a lone CR", () => {
  assertEquals(visible("a\r\nb\rc\r"), "a\nb␍c␍");
});

test("visible() leaves no control character and nothing invisible alone in any text", () => {
  fc.assert(fc.property(pieces, (text) => {
    const shown = visible(text);
    // deno-lint-ignore no-control-regex
    assertMatch(shown, /^[^\0-\x08\x0b-\x1f\x7f-\x9f\u202e\u200b\ufeff]*$/);
    assertEquals(visible(shown), shown);
  }));
});

test("VisibleStream gives the same text for any pieces, cut inside CRLF, pairs and emoji too", () => {
  fc.assert(fc.property(pieces, fc.infiniteStream(fc.integer({ min: 1, max: 5 })), (text, sizes) => {
    const cut: string[] = [];
    for (let at = 0; at < text.length;) {
      const size = Number(sizes.next().value);
      cut.push(text.slice(at, at + size));
      at += size;
    }
    assertEquals(streamed(cut), visible(text));
    assertEquals(streamed(text.split("")), visible(text));
  }));
});

test("VisibleStream holds back no more than half a character or a CR", () => {
  const stream = new VisibleStream();
  assertEquals(stream.write("ab\r"), "ab");
  assertEquals(stream.write("\nc\ud83d"), "\nc");
  assertEquals(stream.write("\udc68"), "\u{1f468}");
  assertEquals(stream.write("\r"), "");
  assertEquals(stream.end(), "␍");
});

test("displayWidth() counts terminal columns", () => {
  const cases: [string, number][] = [
    ["", 0],
    ["plain ~", 7],
    ["中文", 4],
    ["ｆｕｌｌ", 8],
    ["한글 \u1112\u1161\u11ab", 7],
    ["e\u0301", 1],
    ["…→─☑", 4],
    ["🔴🟠🟡✅", 8],
    ["⚠", 1],
    ["⚠\ufe0f", 2],
    ["1\ufe0f\u20e3", 2],
    [FAMILY, 2],
    ["\u{1f44d}\u{1f3fd}", 2],
    ["🇩🇪", 2],
    ["<U+202E>", 8],
  ];
  for (const [text, columns] of cases) assertEquals(displayWidth(text), columns, text);
});

test("charWidth() needs only the character before to add up to the width of the whole", () => {
  fc.assert(fc.property(pieces, (raw) => {
    const text = visible(raw).replaceAll(/[\n\t]/g, "");
    const chars = [...text];
    const sum = chars.reduce((columns, char, at) => columns + charWidth(char, chars[at - 1]), 0);
    assertEquals(displayWidth(text), sum);
  }));
});

test("clip() cuts at a column and says so", () => {
  assertEquals(clip("part 2 of 5", 11), "part 2 of 5");
  assertEquals(clip("part 2 of 5", 10), "part 2 of…");
  assertEquals(clip("part", 1), "…");
  assertEquals(clip("part", 0), "");
  assertEquals(clip("中文", 0), "");
  assertEquals(clip("", 0), "");
});

test("clip() cuts no grapheme in two", () => {
  const text = `a${FAMILY}中e\u0301文b`;
  const clipped = ["", "…", "a…", "a…", `a${FAMILY}…`, `a${FAMILY}…`, `a${FAMILY}中…`, `a${FAMILY}中e\u0301…`];
  clipped.forEach((expected, columns) => assertEquals(clip(text, columns), expected));
  assertEquals(clip(text, 9), text);
});

test("clip() never exceeds the columns", () => {
  fc.assert(fc.property(pieces, fc.nat(12), (raw, columns) => {
    const line = visible(raw).replaceAll(/[\n\t]/g, " ");
    const clipped = clip(line, columns);
    assertEquals(displayWidth(clipped) <= columns, true);
    assertEquals(clipped === line, displayWidth(line) <= columns);
  }));
});
