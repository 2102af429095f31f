/** A report with something of everything in it, and the diff it is about. */
import { parseUnifiedDiff, planReview } from "../diff.ts";
import type { FileDiff } from "../diff.ts";
import type { Finding } from "../finding.ts";
import type { Report } from "../report.ts";

/** Text that tries everything: markup, script, attributes, workflow commands, escapes, bidi, other directions. */
export const HOSTILE =
  "</td></div></style><script>alert(1)</script><img src=x onerror=alert(2)> \" ' & ]]> ##[error]pwned \x1b[2J \u202e\n::error::pwned\n::set-output name=a::b";

/** The patch that the sample report is about. */
export const PATCH = `diff --git a/src/cart.ts b/src/cart.ts
--- a/src/cart.ts
+++ b/src/cart.ts
@@ -1,7 +1,9 @@ import { rates } from "./rates.ts";
 export interface Item { price: number; amount: number }
 
-export function total(items: Item[]): number {
-  return items.map((item) => item.price * item.amount).reduce((a, b) => a + b, 0);
+export function total(items: Item[], country = "NO"): number {
+  const rate = rates[country].vat;
+  debugger;
+  return items.map((item) => item.price * item.amount).reduce((a, b) => a + b) * (1 + rate);
 }
 
 export function count(items: Item[]): number {
@@ -40,6 +42,7 @@ export function describe(items: Item[]): string {
   const lines: string[] = [];
   for (const item of items) {
     const price = format(item.price);
+\tlines.push(\`\${item.amount} × \${price} — ein ziemlich langer Text mit vielen Wörtern, der auf keinem Telefon in eine Zeile passt, und-ein-Wort-ohne-jede-Trennstelle-${
  "x".repeat(120)
}\`);
     lines.push(price);
   }
   return lines.join("\\n");
diff --git a/old/legacy.ts b/old/legacy.ts
deleted file mode 100644
--- a/old/legacy.ts
+++ /dev/null
@@ -1,3 +0,0 @@
-export const taxes = { NO: 0.25 };
-
-export default taxes;
diff --git a/src/a file & its <name>.ts b/src/a file & its <name>.ts
new file mode 100644
--- /dev/null
+++ b/src/a file & its <name>.ts
@@ -0,0 +1,2 @@
+export const html = "</td><script>alert(1)</script>";
+// ##[error]pwned ::error::pwned
diff --git a/package-lock.json b/package-lock.json
--- a/package-lock.json
+++ b/package-lock.json
@@ -1 +1 @@
-{}
+{ "lockfileVersion": 3 }
`;

/** A finding with what is not given made up. */
export function finding(fields: Partial<Finding> = {}): Finding {
  return {
    severity: "risk",
    path: "src/cart.ts",
    side: "new",
    line: 4,
    title: "Unknown country",
    body: "",
    quote: "  const rate = rates[country].vat;",
    anchor: "quote",
    grounded: true,
    source: "model",
    parts: [1],
    ...fields,
  };
}

/** A finding about a file as a whole. */
export function fileFinding(fields: Partial<Finding> = {}): Finding {
  const { side: _, line: __, quote: ___, ...rest } = finding({ anchor: "file", grounded: false, ...fields });
  return rest;
}

const FINDINGS: Finding[] = [
  finding({
    severity: "bug",
    line: 5,
    title: "Debugger statement left in",
    body: "It stops the program, or prints what only its author wanted to see.",
    quote: "  debugger;",
    anchor: "line",
    source: "check",
    rule: "debugger",
    parts: [],
  }),
  finding({
    severity: "bug",
    line: 6,
    title: "`reduce` without an initial value throws for an empty cart",
    body:
      "`[].reduce((a, b) => a + b)` throws **TypeError**. Keep the `0`:\n\n```ts\nitems.reduce((a, b) => a + b, 0)\n```\n\n- an empty cart is the first thing a customer has\n- the old code had it",
    quote: "  return items.map((item) => item.price * item.amount).reduce((a, b) => a + b) * (1 + rate);",
  }),
  finding({ body: "A country that is not in `rates` makes this throw." }),
  finding({
    severity: "nit",
    path: "old/legacy.ts",
    side: "old",
    line: 1,
    title: "Somebody may still import this",
    quote: "export const taxes = { NO: 0.25 };",
  }),
  fileFinding({ severity: "nit", title: "The names could be clearer", body: "" }),
  finding({
    severity: "risk",
    line: 45,
    endLine: 46,
    title: "The price is pushed twice",
    body: "",
    quote: PATCH.split("\n").filter((line) => /lines\.push/.test(line)).map((line) => line.slice(1)).join("\n"),
  }),
  finding({
    severity: "bug",
    path: "src/a file & its <name>.ts",
    line: 1,
    title: HOSTILE,
    body: HOSTILE,
    quote: HOSTILE,
  }),
  fileFinding({
    severity: "bug",
    path: "nowhere.ts",
    title: "It was said of a file that is not there",
    anchor: "none",
  }),
];

/** The sample report, with its fields replaced. */
export function sampleReport(fields: Partial<Report> = {}): Report {
  const { files, parts, totals } = planReview(diffFiles());
  return {
    version: 1,
    title: "tax against main",
    source: { kind: "branch", base: "a".repeat(40), head: "b".repeat(40) },
    model: "ollama/qwen2.5-coder:7b",
    status: "complete",
    totals,
    files,
    parts: parts.map(({ number, files, chars }) => ({
      number,
      files: files.map(({ path }) => path),
      chars,
      status: "done" as const,
      review:
        "## Summary\n\nAdds value added tax to the cart.\n\n## Issues\n\n- 🔴 `src/cart.ts:6` — `reduce` without an initial value\n  `reduce((a, b) => a + b)`\n  It throws for an empty cart.\n\n| file | verdict |\n|---|---|\n| `src/cart.ts` | **no** |\n\nNot ready.\n",
    })),
    findings: FINDINGS,
    ...fields,
  };
}

/** The files of the sample patch. */
export function diffFiles(): FileDiff[] {
  return parseUnifiedDiff(PATCH).files;
}
