import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { parseUnifiedDiff, type PartFile } from "../diff.ts";
import { type Finding, mergeFindings, readFindings } from "../findings.ts";
import { root } from "./support.ts";

const corpus = join(root, "tests/fixtures/reviews");

/** What a fixture expects of a finding. `title` is a piece of it. */
interface Expected {
  severity: string;
  path?: string;
  side?: string;
  line?: number;
  endLine?: number;
  anchor: string;
  title: string;
}

interface Fixture {
  patch: string;
  shape: string;
  /** Why the reader finds none of them, where it does not. */
  missed?: string;
  findings: Expected[];
}

function partFiles(patch: string): PartFile[] {
  const parsed = parseUnifiedDiff(patch);
  const files = Array.isArray(parsed) ? parsed : parsed.files;
  return files.map(({ path, oldPath, status, text, hunks }) => ({
    path,
    ...(oldPath !== undefined && { oldPath }),
    status,
    text,
    hunks,
    trimmed: false,
  }));
}

function read(review: string, patch: string): Finding[] {
  return readFindings(review, { number: 1, files: partFiles(patch) }, "model");
}

function fixture(name: string): string {
  return readFileSync(join(corpus, name), "utf8");
}

/** What a finding has of what is expected, in the fixture's form. */
function seen(
  { severity, path, side, line, endLine, anchor, title }: Finding,
  expected: Expected | undefined,
): Expected {
  return {
    severity,
    ...(path !== undefined && { path }),
    ...(side !== undefined && { side }),
    ...(line !== undefined && { line }),
    ...(endLine !== undefined && { endLine }),
    anchor,
    title: expected !== undefined && title.includes(expected.title) ? expected.title : title,
  };
}

describe("readFindings() reads of a review what a careful reader takes from it:", () => {
  for (const file of readdirSync(corpus).filter((name) => name.endsWith(".json"))) {
    const name = file.replace(/\.json$/, "");
    const { patch, findings: expected, missed } = JSON.parse(fixture(file)) as Fixture;
    test(`${name}${missed ? ` (not read: ${missed})` : ""}`, () => {
      const findings = read(fixture(`${name}.md`), fixture(patch));
      if (missed) return assertEquals(findings, []);
      assertEquals(findings.map((finding, at) => seen(finding, expected[at])), expected);
      for (const { title, anchor, grounded, quote } of findings) {
        assert(!/\*\*|[🔴🟠🟡\n]|^\s|\s$/u.test(title), `no plain title: "${title}"`);
        assertEquals(grounded, anchor === "quote" || anchor === "line");
        assertEquals(quote !== undefined, anchor === "quote");
      }
    });
  }
});

const shop = fixture("shop.diff");
const loop = "for (let i = 0; i <= cart.items.length; i++) {";

describe("readFindings()", () => {
  test("takes the line of the quote where the stated line is 3 off", () => {
    for (const stated of [22, 28]) {
      const [finding] = read(`## Issues\n- 🔴 \`src/cart.ts:${stated}\` — reads too far\n  \`${loop}\``, shop);
      assertEquals([finding?.line, finding?.anchor, finding?.grounded], [25, "quote", true]);
    }
  });

  test("takes, of several equal lines, the one nearest to the stated line", () => {
    const header = "headers: { authorization: `Bearer ${options.token}` },";
    const lineFor = (stated: number) =>
      read(`- 🔴 \`src/api/client.ts:${stated}\` — x y\n  \`\`${header}\`\``, shop)[0]?.line;
    assertEquals([lineFor(10), lineFor(26), lineFor(99)], [13, 24, 24]);
  });

  test("finds a removed line on the old side, and a line that is on both sides on the new one", () => {
    const removed = read("- 🔴 `src/api/client.ts:12` — the check is gone\n  `if (!response.ok) {`", shop)[0];
    assertEquals([removed?.side, removed?.line], ["old", 12]);
    const moved = read("- 🔴 `src/ring.c:33` — use after free\n  `free(ring->data);`", fixture("ring.diff"))[0];
    assertEquals([moved?.side, moved?.line], ["new", 33]);
    const marked = read("- 🔴 `src/ring.c:33` — freed too late\n  `-\tfree(ring->data);`", fixture("ring.diff"))[0];
    assertEquals([marked?.side, marked?.line], ["old", 33]);
  });

  test("grounds nothing in a file that is not in the diff, whatever is quoted", () => {
    const [finding] = read(`- 🔴 \`src/invented.ts:25\` — reads too far\n  \`${loop}\``, shop);
    assertEquals([finding?.anchor, finding?.grounded, finding?.path, finding?.line], [
      "none",
      false,
      undefined,
      undefined,
    ]);
    assertStringIncludes(finding?.body ?? "", "src/invented.ts:25");
  });

  test("anchors to the file alone what is stated for a line that the diff does not show", () => {
    const [finding] = read("- 🔴 `src/cart.ts:20` — wrong filter", shop);
    assertEquals([finding?.anchor, finding?.grounded, finding?.path, finding?.line], [
      "file",
      false,
      "src/cart.ts",
      undefined,
    ]);
  });

  test("takes no name in a sentence for a quote", () => {
    const [finding] = read("- 🔴 `src/cart.ts` — `applyCoupon` has no error handling, see `cart.coupon`", shop);
    assertEquals([finding?.anchor, finding?.grounded], ["file", false]);
  });

  test("keeps the words of a quote as the diff has them, not as the model wrote them", () => {
    const [finding] = read("- 🔴 `src/cart.ts:25` — x y\n  `for(let i=0;i<=cart.items.length;i++){`", shop);
    assertEquals(finding?.quote, `  ${loop}`);
  });

  test("knows a renamed file by its old path, and gives the new one", () => {
    const [finding] = read("- 🟡 `crates/reader/src/error.rs:13` — the text changed", fixture("frames.diff"));
    assertEquals([finding?.path, finding?.line], ["crates/frame/src/error.rs", 13]);
  });

  test("says the part it was read in, and of the summing up none", () => {
    const files = partFiles(shop);
    const review = "- 🔴 `src/cart.ts:25` — reads too far";
    assertEquals(readFindings(review, { number: 3, files }, "model").map(({ source, parts }) => ({ source, parts })), [
      { source: "model", parts: [3] },
    ]);
    assertEquals(
      readFindings(review, { number: 0, files }, "summary").map(({ source, parts }) => ({ source, parts })),
      [
        { source: "summary", parts: [] },
      ],
    );
  });

  test("reads every severity and place of a review that follows the prompt's form", () => {
    const template = readFileSync(join(root, "templates/review.md"), "utf8");
    const form = /- 🔴 [^]*?\n(?=\n)/.exec(template)?.[0] ?? "";
    assertStringIncludes(form, "`path/to/file.ext:42`");
    assertStringIncludes(form, "`the changed line, copied from the diff`");
    const filled = [
      ["🔴", "src/cart.ts:26", loop],
      ["🟠", "src/api/client.ts:16", "if (attempt++ >= options.retries!) return null;"],
      ["🟡", "src/utils/format.ts:6", 'return value.toFixed(2) + " " + currency;'],
    ].map(([mark, place, quote]) =>
      form.replace("🔴", mark!).replace("path/to/file.ext:42", place!).replace(
        "the changed line, copied from the diff",
        quote!,
      )
    );
    const findings = read(`## Issues\n\n${filled.join("")}`, shop);
    assertEquals(findings.map(({ severity, path, line, anchor }) => [severity, path, line, anchor]), [
      ["bug", "src/cart.ts", 25, "quote"],
      ["risk", "src/api/client.ts", 16, "quote"],
      ["nit", "src/utils/format.ts", 6, "quote"],
    ]);
    assertEquals(read(`## Issues\n\n${form}`, shop), [], "the form itself is no finding");
  });

  test("finds nothing in an empty review, in no files, in a patch read back", () => {
    assertEquals(read("", shop), []);
    assertEquals(readFindings("- 🔴 `a.ts:1` — wrong", { number: 1, files: [] }, "model").map(({ anchor }) => anchor), [
      "none",
    ]);
    assertEquals(read(shop, shop), []);
  });

  test("reads a megabyte of anything without going quadratic", () => {
    const pieces = [
      "a",
      " ",
      "*",
      "`",
      "[",
      "((",
      "[a](",
      "<b",
      "> ",
      "```\n",
      "```json\n",
      "{\n",
      "|",
      "🔴",
      "line 1 ",
      "a:",
      "...",
      "- ",
      "_",
      "**a** ",
      "- 🔴 `src/cart.ts:25` — x\n",
      "- a\n  - b\n",
      "## 🔴 x\n",
      "🔴 src/cart.ts:1 x ",
      "a/",
      "\n",
      "\r",
      "&lt;",
      "\\",
      "(🔴",
      "no issues ",
    ];
    const files = partFiles(shop);
    const start = performance.now();
    for (const piece of pieces) {
      for (const head of ["", "## Issues\n- 🔴 src/cart.ts:25 ", "- 🔴 x\n  `", "|File|Line|Issue|\n|-|-|-|\n|"]) {
        readFindings(head + piece.repeat(Math.ceil(1_000_000 / piece.length)), { number: 1, files }, "model");
      }
    }
    // 124 megabytes: a reader that is quadratic in one of them takes minutes for that one.
    assert(performance.now() - start < 60_000);
  });
});

const base: Finding = {
  severity: "risk",
  path: "src/cart.ts",
  side: "new",
  line: 25,
  title: "Loop reads past the end of the items",
  body: "",
  anchor: "line",
  grounded: true,
  source: "model",
  parts: [1],
};

describe("mergeFindings()", () => {
  test("makes one of the same remark from three parts, with the highest severity and all parts", () => {
    const { path: _, side: __, line: ___, ...nowhere } = base;
    const said: Finding[] = [1, 2, 3].map((part) => ({
      ...nowhere,
      severity: part === 2 ? "bug" : "risk",
      title: [
        "No tests for the new coupon code",
        "New coupon code has no tests",
        "Tests for the coupon code are missing",
      ][part - 1]!,
      anchor: "none",
      grounded: false,
      parts: [part],
    }));
    assertEquals(mergeFindings(said).map(({ severity, parts }) => ({ severity, parts })), [{
      severity: "bug",
      parts: [1, 2, 3],
    }]);
  });

  test("takes neighbouring lines and the same quote in different reviews for one", () => {
    const near: Finding = {
      ...base,
      line: 27,
      title: "The loop reads past the items' end",
      source: "summary",
      parts: [],
    };
    assertEquals(mergeFindings([base, near]).length, 1);
    const quoted: Finding = { ...base, quote: "x <= y", anchor: "quote" };
    const other: Finding = { ...quoted, title: "Off by one", source: "summary", parts: [], body: "See there." };
    assertEquals(mergeFindings([quoted, other]).map(({ body }) => body), ["See there.\n\nAlso: Off by one"]);
  });

  test("keeps apart what is far away, on another side, in another file or about other code", () => {
    const others: Partial<Finding>[] = [
      { line: 40 },
      { side: "old" },
      { path: "src/api/client.ts" },
      { title: "Token is written to the log" },
    ];
    for (const other of others) {
      assertEquals(
        mergeFindings([base, { ...base, ...other, source: "summary", parts: [] }]).length,
        2,
        JSON.stringify(other),
      );
    }
    const named = (name: string): Finding => ({
      ...base,
      title: `Missing null check for \`${name}\``,
      parts: name === "a" ? [1] : [2],
    });
    assertEquals(mergeFindings([named("a"), named("b")]).length, 2);
  });

  test("keeps two remarks of one review on neighbouring lines", () => {
    const first: Finding = { ...base, line: 9, title: "A short write loses data" };
    assertEquals(mergeFindings([first, { ...first, line: 10, title: "A short write loses the data" }]).length, 2);
  });

  test("takes the better anchor of two, and keeps a check a check", () => {
    const check: Finding = {
      ...base,
      severity: "nit",
      title: "Debugger statement left in",
      quote: "debugger;",
      anchor: "line",
      source: "check",
      rule: "debugger",
      parts: [],
    };
    const model: Finding = {
      ...base,
      title: "A debugger statement is left in the loop",
      quote: "debugger;",
      anchor: "quote",
      body: "It stops.",
    };
    const [merged] = mergeFindings([check, model]);
    assertEquals(merged, {
      ...check,
      severity: "risk",
      anchor: "quote",
      body: "It stops.",
      parts: [1],
    });
  });

  test("leaves its argument as it was and the order as it is", () => {
    const list = [base, { ...base, line: 80, title: "Something else" }, { ...base }];
    const before = structuredClone(list);
    assertEquals(mergeFindings(list).map(({ line }) => line), [25, 80]);
    assertEquals(list, before);
  });

  test("takes a hundred thousand findings of checks", () => {
    const many = Array.from(
      { length: 100_000 },
      (_, at): Finding => ({ ...base, line: at + 1, source: "check", rule: "x", parts: [] }),
    );
    assertEquals(mergeFindings(many).length, many.length);
  });
});
