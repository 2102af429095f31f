import { describe, test } from "node:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import fc from "fast-check";
import { createMarkdown, type MarkdownOptions, renderMarkdown } from "../markdown.ts";
import { root } from "./support.ts";
import { Terminal } from "./support_terminal.ts";

const PLAIN = { columns: 60, color: false };
const STYLED = { columns: 60, color: true };
const [BOLD, DIM, ITALIC, STRIKE, RED, GREEN, CYAN, MAGENTA] = ["1", "2", "3", "9", "31", "32", "36", "35"];
const review = readFileSync(join(root, "tests/fixtures/terminal/review.md"), "utf8");

/** The screen after pieces of Markdown. */
function screenOf(pieces: Iterable<string>, options: MarkdownOptions): Terminal {
  const markdown = createMarkdown(options);
  const terminal = new Terminal(Number(options.columns));
  for (const piece of pieces) terminal.write(markdown.write(piece));
  return terminal.write(markdown.end());
}

function show(text: string, options: MarkdownOptions = STYLED): Terminal {
  return screenOf([text], options);
}

/** What a decoder gives of the text's bytes, one after the other. */
function* byBytes(text: string): Generator<string> {
  const decoder = new TextDecoder();
  for (const byte of new TextEncoder().encode(text)) yield decoder.decode(Uint8Array.of(byte), { stream: true });
}

function* inPieces(text: string, sizes: readonly number[]): Generator<string> {
  for (let at = 0, turn = 0; at < text.length; turn++) {
    const size = sizes[turn % sizes.length] ?? 1;
    yield text.slice(at, at + size);
    at += size;
  }
}

describe("layout", () => {
  const cases: [name: string, markdown: string, screen: string[]][] = [
    ["wraps between words", `${"word ".repeat(14)}\n`, ["word ".repeat(12).trim(), "word word"]],
    ["keeps the lines of the source", "one\ntwo  \nthree\\\nfour", ["one", "two", "three\\", "four"]],
    ["makes one blank line of several, none at the ends", "\n\na\n\n\n\nb\n\n", ["a", "", "b"]],
    ["hangs a heading's lines", `## ${"word ".repeat(13)}`, [`## ${"word ".repeat(11).trim()}`, "   word word"]],
    ["takes no heading without a space", "#1 is fixed", ["#1 is fixed"]],
    [
      "hangs and nests lists, however they are indented",
      `- ${"word ".repeat(12)}\n  second line\n  * a\n      - b\n1. one\n   - c\n10) ten\n    + d\n`,
      [
        `• ${"word ".repeat(11).trim()}`,
        "  word",
        "  second line",
        "  ◦ a",
        "    ▪ b",
        "1. one",
        "   ◦ c",
        "10) ten",
        "    ◦ d",
      ],
    ],
    ["draws boxes of tasks", "- [ ] open\n- [x] done\n1. [X] third\n- [y] no\n- [x](y)", [
      "☐ open",
      "☑ done",
      "1. ☑ third",
      "• [y] no",
      "• [x](y)",
    ]],
    ["ends a list with a line that is not in it", "- a\nb\n\n- c\n\n  d\n\ne", [
      "• a",
      "b",
      "",
      "• c",
      "",
      "  d",
      "",
      "e",
    ]],
    ["shows an item without text", "-\n- a", ["•", "• a"]],
    [
      "bars quotes, with what is in them",
      "> a\n> > b\n>\n> - c\n>   d\ne\n>```\n>code\n>```",
      ["│ a", "│ │ b", "│", "│ • c", "│   d", "e", "│   code"],
    ],
    ["rules", "a\n\n---\n***\n_ _ _\nb\n===\n--\n- -", [
      "a",
      "",
      ...["─", "─", "─"].map((rule) => rule.repeat(60)),
      "b",
      "─".repeat(60),
      "--",
      "• ◦",
    ]],
    ["indents code and keeps it as it is", "```ts\nif (a)  {\n\t**b**\n\n}\n```\nafter", [
      "  if (a)  {",
      "      **b**",
      "",
      "  }",
      "after",
    ]],
    ["ends a fence only with its like", "````\n```\n~~~~\n````x\n`````\nafter", [
      "  ```",
      "  ~~~~",
      "  ````x",
      "after",
    ]],
    ["reads no fence where backticks follow", "```a``` b", ["a b"]],
    ["shows an unfinished fence", "~~~\ncode", ["  code"]],
    ["keeps a fence in an item open, whatever the indentation", "- a\n  ```\ncode\n    more\n  ```\n- b", [
      "• a",
      "    code",
      "      more",
      "• b",
    ]],
    ["shows the mark of an item that begins with code", "- ```\n  code\n  ```\n- ```\n  ```", ["•   code", "•"]],
    ["breaks code at the edge, and hangs the rest", `    ${"0123456789".repeat(7)}`, [
      `  ${"0123456789".repeat(6).slice(0, 58)}`,
      "    890123456789",
    ]],
    ["breaks Chinese between characters, not before a stop", `${"中".repeat(29)}文。字`, [
      "中".repeat(29),
      "文。字",
    ]],
    ["breaks a word longer than the line", "x".repeat(130), ["x".repeat(60), "x".repeat(60), "x".repeat(10)]],
    ["breaks a long word where it begins with room", `a ${"x".repeat(70)}`, [`a ${"x".repeat(58)}`, "x".repeat(12)]],
    ["moves a word to the next line where there is little room", `${"x".repeat(30)} ${"y".repeat(40)}`, [
      "x".repeat(30),
      "y".repeat(40),
    ]],
    ["leaves room for text in deep nesting", `${"> ".repeat(12)}${"- ".repeat(9)}deep`, [
      `${"│ ".repeat(12)}- - - - - - - - - deep`,
    ]],
    ["shows links as they are written", "See [the *docs*](https://x.org/a_b_(c)*d*) [no] (link) ![i](j)", [
      "See [the docs](https://x.org/a_b_(c)*d*) [no] (link) ![i](j)",
    ]],
    ["resolves escapes and the common entities", "\\*a\\* \\a C:\\dir &lt;b&gt; &amp;amp; &x; &", [
      "*a* \\a C:\\dir <b> &amp; &x; &",
    ]],
    ["takes off the marks", "**a** *b* _c_ ~~d~~ `e` ``f `g` `` ***h*** **i *j* k**", ["a b c d e f `g` h i j k"]],
    ["takes no text for a mark", "int *p, *q; *.ts 2**3 2*3*4 a_b_c __init__ _x a ** b **/*.ts f(**) ~x~ ****", [
      "int *p, *q; *.ts 2**3 2*3*4 a_b_c __init__ _x a ** b **/*.ts",
      "f(**) ~x~ ****",
    ]],
    ["makes control characters visible", "a\x1b[2J\u202e `\x9b` \r\n| \x07", ["a␛[2J<U+202E> <U+009B>", "| ␇"]],
  ];
  for (const [name, markdown, screen] of cases) {
    test(`createMarkdown() ${name}`, () => {
      const shown = show(markdown, PLAIN);
      assertEquals(shown.text, [...screen, ""].join("\n"));
      assertEquals(screenOf(markdown, PLAIN).text, shown.text);
      assertEquals(show(markdown, STYLED).text, shown.text);
    });
  }
});

describe("tables", () => {
  const table =
    "| File | What | n |\n|:--|:-:|--:|\n| `a.ts` | first | 1 |\n| b.ts | a much longer text | 100 |\n| c |";

  test("createMarkdown() aligns a table's cells in columns as wide as header and first row ask for", () => {
    assertEquals(show(table, { columns: 40, color: false }).text.split("\n"), [
      "File        │      What      │        n",
      "────────────┼────────────────┼─────────",
      "a.ts        │     first      │        1",
      "b.ts        │ a much longer  │      100",
      "            │      text      │",
      "c           │                │",
      "",
    ]);
  });

  test("createMarkdown() lists the cells of a row where columns would be too narrow", () => {
    const narrow = "| File | What is wrong | n | m |\n|-|-|-|-|\n| a | very much is wrong | 1 |\n| b | | 2 | 3 |\n";
    assertEquals(show(narrow, { columns: 20, color: false }).text.split("\n"), [
      "File: a",
      "What is wrong: very",
      "much is wrong",
      "n: 1",
      "",
      "File: b",
      "n: 2",
      "m: 3",
      "",
    ]);
  });

  test("createMarkdown() shows a row as soon as it is complete", () => {
    const markdown = createMarkdown(PLAIN);
    assertEquals(markdown.write("| a | b |\n|---|---|\n| 1 |"), "");
    assertStringIncludes(markdown.write(" 2 |\n"), "1");
    assertEquals(markdown.write("| 3 | 4"), "");
    assertStringIncludes(markdown.write(" |\n"), "4");
    assertEquals(markdown.end(), "");
  });

  test("createMarkdown() leaves out nothing of a row: bars escaped or too many, breaks, wide characters", () => {
    const text = show("| 文件 | b |\n|-|-|\n| x\\|y | one<br>two | three |\n|🔴|", PLAIN).text;
    assertEquals(
      text,
      "文件            │ b\n────────────────┼───────────────────────────────\nx|y             │ one\n                │ two | three\n🔴              │\n",
    );
  });

  test("createMarkdown() shows a header without rows, and bars that are no table as text", () => {
    assertEquals(show("| a | b |\n|---|---|", PLAIN).text.split("\n")[0]?.trimEnd(), "a              │ b");
    for (const text of ["| a | b |", "| a | b |\n| c |", "| a |\n|-|-|", "a | b\n--- | ---"]) {
      assertEquals(show(text, PLAIN).text, `${text}\n`);
    }
  });
});

describe("styles", () => {
  test("createMarkdown() styles headings, marks, code and diffs", () => {
    const shown = show("# **Head** `x`\na **b *c*** ~~d~~ `e`\n```diff\n@@ x\n-old\n+new\n same\n```\n- i\n");
    assertEquals(shown.styled(MAGENTA), ["#", "Head "]);
    assertEquals(shown.styled(BOLD).slice(-2), ["b ", "c"]);
    assertEquals(shown.styled(ITALIC), ["c"]);
    assertEquals(shown.styled(STRIKE), ["d"]);
    assertEquals(shown.styled(CYAN), ["x", "e", "@@ x"]);
    assertEquals(shown.styled(RED), ["-old"]);
    assertEquals(shown.styled(GREEN), ["+new"]);
    assertEquals(shown.styled(DIM), ["•"]);
  });

  test("createMarkdown() ends bold and code with the block at the latest", () => {
    assertEquals(show("**a\nb\n\nc `d\n\ne\n\n- **f\n- g\n\n# **h\ni").styled(BOLD).map((text) => text.trim()), [
      "a",
      "b",
      "f",
      "#",
      "h",
    ]);
    assertEquals(show("c `d\n\ne").styled(CYAN), ["d"]);
  });

  test("createMarkdown() leaves nothing styled between two deltas", () => {
    const markdown = createMarkdown(STYLED);
    const terminal = new Terminal(STYLED.columns);
    for (const char of review) assert(terminal.write(markdown.write(char)).isPlain);
  });

  test("createMarkdown() writes no escape without colour, and the same layout", () => {
    const plain = renderMarkdown(review, { columns: 50, color: false });
    assert(!plain.includes("\x1b"));
    assertEquals(show(review, { columns: 50, color: true }).text, plain);
  });

  test("createMarkdown() draws with ASCII where it is told to", () => {
    const text = renderMarkdown("- a\n- [x] b\n> c\n\n---\n| d | e |\n|-|-|\n", { ...PLAIN, columns: 20, ascii: true });
    assertEquals(text, `- a\n[x] b\n| c\n\n${"-".repeat(20)}\nd        | e\n---------+---------\n`);
  });
});

describe("live", () => {
  test("createMarkdown() shows a delta at once", () => {
    const markdown = createMarkdown(PLAIN);
    const written = ["Hel", "lo", " **wor", "ld** and", " `co", "de` ", "\n- it", "em\n```\nco", "de", "\n"].map((
      delta,
    ) => markdown.write(delta));
    assertEquals(written, ["Hel", "lo", " wor", "ld and", " co", "de", "\n• it", "em\n  co", "de", "\n"]);
  });

  test("createMarkdown() holds back an unfinished word only where the line is nearly full", () => {
    const markdown = createMarkdown({ columns: 50, color: false });
    assertEquals(markdown.write("twelve chars un"), "twelve chars");
    assertEquals(markdown.write("finished "), " unfinished");
    assertEquals(markdown.write("this word is too lo"), " this word is too");
    assertEquals(markdown.write("ooooooong"), "\nlo" + "ooooooong");
    assertEquals(markdown.column, 11);
  });

  test("createMarkdown() holds back marks until they are certain", () => {
    const markdown = createMarkdown(PLAIN);
    assertEquals(markdown.write("#"), "");
    assertEquals(markdown.write("1 *a"), "#1");
    assertEquals(markdown.write(" b*"), "");
    assertEquals(markdown.write(" c *d"), " a b c");
    assertEquals(markdown.write("\n"), " *d\n");
    assertEquals(markdown.end(), "");
  });

  test("createMarkdown() asks for the width before every line", () => {
    let columns = 30;
    const markdown = createMarkdown({ columns: () => columns, color: false });
    const line = "word ".repeat(8) + "\n";
    const wide = markdown.write(line);
    columns = 15;
    assertEquals([wide, markdown.write(line)].map((text) => Math.max(...text.split("\n").map((row) => row.length))), [
      29,
      14,
    ]);
  });

  test("createMarkdown() tells the column of the cursor", () => {
    const markdown = createMarkdown(PLAIN);
    const columns = ["", "- a", "中", "\n", "| x |\n"].map((delta) => {
      markdown.write(delta);
      return markdown.column;
    });
    assertEquals(columns, [0, 3, 5, 0, 0]);
  });

  test("createMarkdown() ends with one line end, and shows nothing for nothing", () => {
    assertEquals(renderMarkdown("", PLAIN), "");
    assertEquals(renderMarkdown("\n \n", PLAIN), "");
    for (const text of ["a", "a\n", "a\n\n\n", "- a", "```\na", "| a"]) {
      assert(/[^\n]\n$/.test(renderMarkdown(text, PLAIN)), text);
    }
  });
});

describe("links", () => {
  const hyperlinks = (path: string, line: number) => path === "src/a.ts" ? `file:///repo/src/a.ts#${line}` : undefined;
  const links = (text: string, resolver: MarkdownOptions["hyperlinks"] = hyperlinks) =>
    show(text, { ...STYLED, hyperlinks: resolver }).rows.flat().filter(({ link }) => link !== "")
      .map(({ text, link }) => `${text} ${link}`);

  test("createMarkdown() links a path and line that the resolver knows, in any style and range", () => {
    assertEquals(
      links("`src/a.ts:12` (src/a.ts:3-5), **src/a.ts:7**: b.ts:1 src/a.ts nosrc/a.ts:1 [src/a.ts:9](x)"),
      [["12", "12"], ["3-5", "3"], ["7", "7"], ["9", "9"]].map(([lines, line]) =>
        `src/a.ts:${lines} file:///repo/src/a.ts#${line}`
      ),
    );
    assertEquals(links("| a |\n|-|\n| `src/a.ts:1` |\n"), ["src/a.ts:1 file:///repo/src/a.ts#1"]);
  });

  test("createMarkdown() links nothing without a resolver, in code blocks, or to an address that could end the link", () => {
    assert(!renderMarkdown("`src/a.ts:12`", STYLED).includes("\x1b]"));
    assertEquals(links("```\nsrc/a.ts:12\n```"), []);
    for (const address of ["file:///a\x07b", "file:///a\x1b\\b", "file:///a b", "file:///ä", ""]) {
      assertEquals(links("src/a.ts:12", () => address), []);
    }
  });

  test("createMarkdown() links a path that it has to break", () => {
    const wrapped = show(`x ${"d/".repeat(40)}a.ts:5`, { columns: 30, color: false, hyperlinks: () => "file:///x" });
    const linked = wrapped.rows.flat().filter(({ link }) => link === "file:///x").map(({ text }) => text);
    assertEquals(linked.join(""), `${"d/".repeat(40)}a.ts:5`);
  });
});

describe("streams", () => {
  /** Marks and texts that the properties put together. */
  const markdown = fc.array(
    fc.constantFrom(
      ..."*_~`#>|-+=[]()\\&:!. \n\t",
      ...["word", "Ab1", "  ", "    ", "\n\n", "**", "***", "__", "~~", "```", "```\n", "```diff\n", "](", " | "],
      ...[
        "|---|\n",
        "|-|-|\n",
        "| a | b |\n",
        "- ",
        "1. ",
        "10) ",
        "[ ] ",
        "[x] ",
        "## ",
        "---\n",
        "&lt;",
        "&am",
        "<br>",
      ],
      ...["中", "文。", "「", "🔴", "⚠\ufe0f", "1\ufe0f\u20e3", "\u{1f468}\u200d\u{1f469}\u200d\u{1f467}", "e\u0301"],
      ...["src/a.ts:12", "x:1-2", "\u202e", "\x1b[2J", "\r", "\r\n", "https://a.b/c_d", "@@", "longword".repeat(7)],
      ..."`*- >#|=".split("").map((mark) => mark.repeat(70)),
    ),
    { maxLength: 40 },
  ).map((parts) => parts.join(""));

  test("createMarkdown() gives the same screen for the same Markdown, whole and in any pieces, within the width", () => {
    const hyperlinks = (path: string, line: number) => `file:///${encodeURIComponent(path)}#${line}`;
    const sizes = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(markdown, fc.integer({ min: 12, max: 90 }), fc.boolean(), sizes, (text, columns, isLinked, sizes) => {
        const options = { columns, color: true, hyperlinks: isLinked ? hyperlinks : undefined };
        const whole = show(text, options);
        assertEquals(screenOf(text.split(""), options).rows, whole.rows);
        assertEquals(screenOf(inPieces(text, sizes), options).rows, whole.rows);
        assertEquals(whole.overflows, []);
        assert(whole.isPlain);
      }),
      { numRuns: 500 },
    );
  });

  test("createMarkdown() gives the same screen for every review, whole and byte by byte, within the width", () => {
    const dir = join(root, "tests/fixtures/reviews");
    const texts = readdirSync(dir).filter((name) => name.endsWith(".md")).map((name) =>
      readFileSync(join(dir, name), "utf8")
    );
    for (const text of [review, ...texts]) {
      for (const columns of [40, 80, 160]) {
        const options = { columns, color: true };
        const whole = show(text, options);
        assertEquals(screenOf(byBytes(text), options).rows, whole.rows);
        assertEquals(whole.overflows, []);
      }
    }
  });

  test("createMarkdown() loses no word, whatever marks are around it", () => {
    const marks = fc.constantFrom(
      ...[
        "*",
        "**",
        "_",
        "__",
        "~~",
        "`",
        "``",
        " ",
        " ",
        "\n",
        "\n\n",
        "> ",
        "- ",
        "1. ",
        "# ",
        "| ",
        " |",
        "\n|-|\n",
        "[",
      ],
      ...["](", ")", "\\", "\n---\n", "    ", "\t", "\n```\n", "\n~~~\n", "&lt;", ":", "!", "[x] ", "<br>"],
    );
    fc.assert(
      fc.property(fc.array(fc.array(marks, { maxLength: 3 }), { maxLength: 20 }), (gaps) => {
        const text = gaps.map((gap, index) => `${gap.join("")}Word${index}Q`).join("");
        // The first word behind the marks of a fence is its language
        const languages = new Set(
          Array.from(text.matchAll(/(?:```|~~~)[`~]*[^\n]*/g), ([fence]) => fence).join(" ").match(/Word\d+Q/g),
        );
        const shown = show(text, { columns: 5000, color: false }).text;
        gaps.forEach((_, index) => {
          const word = `Word${index}Q`;
          if (!languages.has(word)) assertStringIncludes(shown, word);
        });
      }),
      { numRuns: 500 },
    );
  });

  test("createMarkdown() gives up holding a line that does not tell what it is", () => {
    const markdown = createMarkdown(PLAIN);
    assertEquals(markdown.write("|" + "a ".repeat(2000)), "");
    assertStringIncludes(markdown.write("a ".repeat(100)), "a a a");
    for (const mark of ["-", "`", " ", "\t", ">", "#", "*", "|", "=", "&", "[", "\\"]) {
      const text = `${mark.repeat(5000)}\nend`;
      assertEquals(screenOf(text, PLAIN).rows, show(text, PLAIN).rows, mark);
    }
  });

  test("createMarkdown() reads hostile texts of 200 KB in small pieces, in a time that grows with their length", () => {
    const marks = ["*a ", "``a`", "[", "> ", "- ", " ", "|", "-", "#", "&lt", "~~a", "\u0301", "中"];
    const cost = (pattern: string, chars: number) => {
      const text = pattern.repeat(Math.ceil(chars / pattern.length));
      const start = process.cpuUsage();
      screenOf(inPieces(text, [7]), PLAIN);
      return process.cpuUsage(start).user / 1000;
    };
    for (const pattern of [...marks, "  - a\n", "|a|\n|-|\n", "```\n"]) {
      // Ten times the text; a quadratic reading would cost a hundred times as much
      const small = Math.max(50, cost(pattern, 20_000));
      assert(cost(pattern, 200_000) < 40 * small, JSON.stringify(pattern));
    }
  });
});

test("the reviews of the golden files look the same in the terminal of these tests as in tmux", () => {
  for (const columns of [40, 80, 160]) {
    const golden = readFileSync(join(root, `tests/fixtures/terminal/review-${columns}.txt`), "utf8");
    assertEquals(show(review, { columns, color: true }).text, golden);
  }
});
