import { test } from "node:test";
import { assertEquals } from "@std/assert";
import { BusyError, describeError, EXIT, exitCodeOf, GitError, ProviderError, UsageError } from "../errors.ts";

test("exitCodeOf() gives each class of error the exit code of its meaning", () => {
  assertEquals(exitCodeOf(new UsageError("x")), EXIT.usage);
  assertEquals(exitCodeOf(new GitError("x")), EXIT.failed);
  assertEquals(exitCodeOf(new ProviderError("x")), EXIT.failed);
  assertEquals(exitCodeOf(new BusyError("x")), EXIT.failed);
  assertEquals(exitCodeOf(new TypeError("x")), EXIT.failed);
});

test("describeError() prints what to do next on a line of its own", () => {
  assertEquals(
    describeError(new UsageError('Unknown base "mian"', { hint: "branches here: main, dev" })),
    'Unknown base "mian"\n  branches here: main, dev',
  );
  assertEquals(describeError(new UsageError("No base")), "No base");
});
