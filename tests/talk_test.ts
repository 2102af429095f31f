import { test } from "node:test";
import { assertEquals } from "@std/assert";
import { splitQuestion } from "../talk.ts";

const LINES: [name: string, line: string, text: string, paths: string[]][] = [
  ["a question alone", "Is it real?", "Is it real?", []],
  ["a file in the middle", "Why does @src/a.ts:10-40 fail?", "Why does src/a.ts:10-40 fail?", ["src/a.ts:10-40"]],
  ["a file at the end of the question", "What is in @src/a.ts?", "What is in src/a.ts?", ["src/a.ts"]],
  ["several, and a diff", "@a.ts @diff:b.ts same?", "a.ts diff:b.ts same?", ["a.ts", "diff:b.ts"]],
  ["a path with a space", 'See @"my file.ts", please', "See my file.ts, please", ["my file.ts"]],
  ["an address, which is no file", "Ask ann@example.org", "Ask ann@example.org", []],
  ["an at sign alone", "What is @ here?", "What is @ here?", []],
  ["several lines", "One\n@a.ts two", "One\na.ts two", ["a.ts"]],
];

for (const [name, line, text, paths] of LINES) {
  test(`splitQuestion() reads ${name}`, () => assertEquals(splitQuestion(line), { text, paths }));
}
