/**
 * The entry of the binary: answers `--version` by itself, so that it costs nothing, and loads the commands for all else.
 * Importing it runs it.
 *
 * @module
 */

import { VERSION } from "./version.ts";

const args = process.argv.slice(2);
if (args.length === 1 && (args[0] === "--version" || args[0] === "-V")) {
  console.log(`octavo ${VERSION}`);
} else {
  const { main } = await import("./cli.ts");
  // process.exit() would cut what is still on its way into a pipe.
  process.exitCode = await main(args);
}
