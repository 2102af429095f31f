import { test } from "node:test";
import { assertEquals } from "@std/assert";
import { splitCommand } from "../editor.ts";

const SPLIT: [name: string, line: string, words: string[] | undefined][] = [
  ["a program", "vim", ["vim"]],
  ["arguments", "code --wait  -n", ["code", "--wait", "-n"]],
  ["single quotes", "'/opt/my editor/ed' -w", ["/opt/my editor/ed", "-w"]],
  ["double quotes", '"/opt/my editor/ed" "-a \\"b\\""', ["/opt/my editor/ed", '-a "b"']],
  ["an escaped space", "/opt/my\\ editor/ed", ["/opt/my editor/ed"]],
  ["a word of several quotes", `a'b'"c"d`, ["abcd"]],
  ["an empty argument", "ed ''", ["ed", ""]],
  ["an option with a value", "emacsclient --socket-name=x -c", ["emacsclient", "--socket-name=x", "-c"]],
  ["a variable, which only a shell knows", "$HOME/bin/ed", undefined],
  ["a variable in quotes", '"$HOME/bin/ed"', undefined],
  ["a command in quotes", '"`which ed`"', undefined],
  ["a pipe", "ed | cat", undefined],
  ["two commands", "true; ed", undefined],
  ["a home", "~/bin/ed", undefined],
  ["a variable set for it", "TERM=xterm vim", undefined],
  ["a quote that does not end", "'ed", undefined],
  ["nothing", "  ", undefined],
];

for (const [name, line, words] of SPLIT) {
  test(`splitCommand() reads ${name}`, () => assertEquals(splitCommand(line, "linux"), words));
}

test("splitCommand() keeps a backslash on Windows, where it stands between folders", () => {
  assertEquals(splitCommand('"C:\\Program Files\\ed.exe" -w', "win32"), ["C:\\Program Files\\ed.exe", "-w"]);
  assertEquals(splitCommand("C:\\tools\\ed.exe -w", "win32"), ["C:\\tools\\ed.exe", "-w"]);
});
