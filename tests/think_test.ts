import { describe, test } from "node:test";
import { assertEquals } from "@std/assert";
import fc from "fast-check";
import { ThinkFilter, type ThinkFilterOptions, type Thought } from "../think.ts";

/** What a reader has in the end. */
function result(pieces: readonly string[], options?: ThinkFilterOptions): { text: string; reasoning: string } {
  const filter = new ThinkFilter(options);
  const read = { text: "", reasoning: "" };
  const take = (thoughts: Thought[]) => {
    for (const thought of thoughts) {
      if (thought.type === "discard") Object.assign(read, { text: "", reasoning: read.reasoning + read.text });
      else read[thought.type] += thought.text;
    }
  };
  for (const piece of pieces) take(filter.push(piece));
  take(filter.end());
  return read;
}

describe("ThinkFilter", () => {
  const cases: [name: string, answer: string, text: string, reasoning: string][] = [
    ["leaves an answer without tags alone", " a <b> & </b>\n", " a <b> & </b>\n", ""],
    ["takes a block at the start out, with the blank lines behind it", "<think>hm</think>\n\nyes", "yes", "hm"],
    ["takes a block behind white space out", "\n <think>hm</think>yes", "yes", "hm"],
    ["takes a block within the answer out", "yes <think>hm</think> no", "yes  no", "hm"],
    ["takes several blocks out", "<think>a</think>b<think>c</think>d", "bd", "ac"],
    ["takes an empty block out", "<think>\n\n</think>\n\nyes", "yes", "\n\n"],
    ["drops what stood before a bare closing tag", "hm, well\n</think>\n\nyes", "yes", "hm, well\n"],
    ["drops nothing before a second closing tag", "<think>a</think>b</think>c", "b</think>c", "a"],
    ["gives a block that opens the answer and never closes as reasoning", "<think>hm, hm", "", "hm, hm"],
    ["gives the start of a tag at the end as text", "yes </thin", "yes </thin", ""],
    ["gives the start of a tag in a block as reasoning", "<think>hm </thi", "", "hm </thi"],
    [
      "leaves a tag between backticks alone",
      "use `<think>` and ``a ` </think>`` here",
      "use `<think>` and ``a ` </think>`` here",
      "",
    ],
    ["takes a tag behind closed backticks", "`a` hm</think>yes", "yes", "`a` hm"],
    ["takes an unclosed backtick for code only up to the end of its line", "a ` b\nhm</think>yes", "yes", "a ` b\nhm"],
    ["leaves tags in a fence alone", "```\n<think>\n</think>\n```\nyes", "```\n<think>\n</think>\n```\nyes", ""],
    [
      "leaves tags in a fence of tildes in a list alone",
      "- a\n  ~~~ts\n  </think>\n  ~~~\n",
      "- a\n  ~~~ts\n  </think>\n  ~~~\n",
      "",
    ],
    ["knows that a longer fence holds a shorter one", "````\n```\n</think>\n````\n", "````\n```\n</think>\n````\n", ""],
    ["takes a tag behind a closed fence", "```\na\n```\nhm</think>yes", "yes", "```\na\n```\nhm"],
    ["leaves other cases and spellings alone", "<Think>a</Think><thinking>", "<Think>a</Think><thinking>", ""],
  ];
  for (const [name, answer, text, reasoning] of cases) {
    test(name, () => {
      assertEquals(result([answer]), { text, reasoning }, "whole");
      assertEquals(result([...answer]), { text, reasoning }, "character by character");
      for (let at = 1; at < answer.length; at++) {
        assertEquals(result([answer.slice(0, at), answer.slice(at)]), { text, reasoning }, `cut at ${at}`);
      }
    });
  }

  test("gives a block within the answer that never closes back as text", () => {
    for (const pieces of [["yes <think> is a tag"], [..."yes <think> is a tag"]]) {
      assertEquals(result(pieces).text, "yes <think> is a tag");
    }
  });

  test("holds back what may be the start of a tag, and nothing else", () => {
    const filter = new ThinkFilter();
    assertEquals(filter.push("a <"), [{ type: "text", text: "a " }]);
    assertEquals(filter.push("b"), [{ type: "text", text: "<b" }]);
    assertEquals(filter.push(" </think"), [{ type: "text", text: " " }]);
    assertEquals(filter.push("s>"), [{ type: "text", text: "</thinks>" }]);
  });

  test("says when text that it gave out was reasoning", () => {
    const filter = new ThinkFilter();
    assertEquals(filter.push("hm"), [{ type: "text", text: "hm" }]);
    assertEquals(filter.push(" hm</think>\nyes"), [
      { type: "discard" },
      { type: "reasoning", text: " hm" },
      { type: "text", text: "yes" },
    ]);
  });

  describe("for a model that starts with reasoning", () => {
    const startsThinking = true;
    test("gives text out as reasoning until the closing tag", () => {
      const filter = new ThinkFilter({ startsThinking });
      assertEquals(filter.push("hm"), [{ type: "reasoning", text: "hm" }]);
      assertEquals(filter.push(" hm</think>\nyes"), [{ type: "reasoning", text: " hm" }, {
        type: "text",
        text: "yes",
      }]);
      assertEquals(filter.push(" more"), [{ type: "text", text: " more" }]);
    });

    test("knows that it is inside code when the text turns out to be the answer", () => {
      const filter = new ThinkFilter({ startsThinking });
      filter.push("`x");
      assertEquals(filter.settle(), [{ type: "text", text: "`x" }]);
      assertEquals(filter.push("<think>`"), [{ type: "text", text: "<think>`" }]);
    });

    test("gives all of it as the answer where no tag comes", () => {
      assertEquals(result(["ye", "s"], { startsThinking }).text, "yes");
    });

    test("gives text as the answer at once where the server keeps the reasoning apart, or writes both tags", () => {
      const apart = new ThinkFilter({ startsThinking });
      apart.settle();
      assertEquals(apart.push("yes"), [{ type: "text", text: "yes" }]);
      const both = new ThinkFilter({ startsThinking });
      both.push("<think>hm</think>");
      assertEquals(both.push("yes"), [{ type: "text", text: "yes" }]);
    });
  });

  test("gives the same in the end however the answer is cut", () => {
    const word = fc.constantFrom(
      "<think>",
      "</think>",
      "`",
      "``",
      "```",
      "~~~",
      "\n",
      " ",
      "a",
      "<",
      "</",
      "think>",
      ">",
      "é",
    );
    const answer = fc.array(word, { maxLength: 14 }).map((words) => words.join(""));
    fc.assert(
      fc.property(answer, fc.array(fc.nat(60), { maxLength: 5 }), fc.boolean(), (text, places, startsThinking) => {
        const cuts = [0, ...places.filter((place) => place < text.length).sort((a, b) => a - b), text.length];
        const pieces = cuts.slice(1).map((end, at) => text.slice(cuts[at], end));
        assertEquals(result(pieces, { startsThinking }).text, result([text], { startsThinking }).text);
      }),
      { numRuns: 3_000 },
    );
  });
});
