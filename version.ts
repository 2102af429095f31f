/**
 * The version, in the one place that the program reads (a test compares it with package.json and deno.json).
 *
 * @module
 */

/** The version of octavo. */
export const VERSION = "0.1.0";
