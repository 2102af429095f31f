/**
 * Files that must never be half there.
 *
 * @module
 */

import { randomBytes } from "node:crypto";
import { open, rename, rm } from "node:fs/promises";

/** How a file is replaced. */
export interface ReplaceOptions {
  /** Permissions of the new file. @default 0o600 */
  mode?: number;
}

/**
 * Writes a file, whole or not at all, whatever happens meanwhile. What is left of a process that was killed is
 * `FILE.….tmp`.
 */
export async function replaceFile(file: string, text: string, options: ReplaceOptions = {}): Promise<void> {
  const temporary = `${file}.${randomBytes(6).toString("hex")}.tmp`;
  try {
    await writeThrough(temporary, text, options.mode ?? 0o600);
    await rename(temporary, file);
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => undefined); // the first failure says more
    throw error;
  }
}

/** Writes a new file and waits until it is on the disk: a rename that comes through a power failure must not be empty. */
async function writeThrough(file: string, text: string, mode: number): Promise<void> {
  const handle = await open(file, "wx", mode);
  try {
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
}
