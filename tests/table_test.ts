import { test } from "node:test";
import { assertEquals } from "@std/assert";
import { table, wrap } from "../table.ts";

const ROWS = [["a", "漢字", "what there is to say of it"], ["long", "x", "short"]];

test("table() lines up the cells by the columns they take, and cuts nothing where there is no terminal", () => {
  assertEquals(table(ROWS), "a     漢字  what there is to say of it\nlong  x     short\n");
});

test("table() clips the last cell at the edge of the terminal", () => {
  assertEquals(table(ROWS, { columns: 37 }), "a     漢字  what there is to say of …\nlong  x     short\n");
});

test("table() wraps the last cell below its beginning", () => {
  assertEquals(
    table(ROWS, { columns: 37, last: "wrap" }),
    "a     漢字  what there is to say of\n            it\nlong  x     short\n",
  );
});

test("table() puts the last cell on a line of its own in a terminal that is too narrow", () => {
  assertEquals(table(ROWS, { columns: 20 }), "a     漢字\n  what there is to …\nlong  x\n  short\n");
  assertEquals(
    table(ROWS, { columns: 20, last: "wrap" }),
    "a     漢字\n  what there is to\n  say of it\nlong  x\n  short\n",
  );
});

test("table() aligns numbers at their right", () => {
  assertEquals(table([["9", "a"], ["10", "b"]], { right: [0] }), " 9  a\n10  b\n");
});

test("table() of nothing is nothing", () => assertEquals(table([]), ""));

test("wrap() gives a word that is too long a line to itself", () => {
  assertEquals(wrap("ab abcdef c d", 3), ["ab", "abcdef", "c d"]);
});
