/** What the tests of git.ts share. */
import { createHash } from "node:crypto";
import { lstatSync, readdirSync, readFileSync } from "node:fs";
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { type FileDiff, PatchParser } from "../patch.ts";
import { type GitPatch, openRepository, type Repository } from "../git.ts";
import { cleanEnv, git } from "./support.ts";

/** Opens a repository in an environment with nothing of the person who runs the tests. */
export function open(dir: string, more: Record<string, string> = {}, signal?: AbortSignal): Promise<Repository> {
  return openRepository(dir, cleanEnv(join(dir, "no-home"), more), signal);
}

/** The whole text of a patch. */
export async function textOf(patch: GitPatch | Promise<GitPatch>): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const piece of (await patch).chunks) text += decoder.decode(piece, { stream: true });
  return text;
}

/** The files of a patch as a review sees them: read beside the stream, hidden ones without the record of git. */
export async function filesOf(patch: GitPatch | Promise<GitPatch>): Promise<FileDiff[]> {
  const { chunks, hidden } = await patch;
  const names = await hidden;
  const parser = new PatchParser();
  const files: FileDiff[] = [];
  for await (const piece of chunks) files.push(...parser.push(piece));
  return [...files, ...parser.end()].filter((file) => !(file.binary && names.has(file.path)));
}

/** A line a file: status, path, counts. */
export async function outline(patch: GitPatch | Promise<GitPatch>): Promise<string[]> {
  return (await filesOf(patch)).map(({ status, oldPath, path, binary, additions, deletions }) =>
    `${status} ${oldPath ? `${oldPath} -> ` : ""}${path} ${binary ? "binary" : `+${additions} -${deletions}`}`
  );
}

/** Everything below a folder: a line a file, with its content's hash and the time it was last written. */
export function snapshot(dir: string): string[] {
  return readdirSync(dir, { recursive: true, encoding: "utf8" }).sort().map((name) => {
    const info = lstatSync(join(dir, name));
    const content = info.isFile() ? createHash("sha1").update(readFileSync(join(dir, name))).digest("hex") : "";
    return `${name} ${info.mode} ${info.isFile() ? info.mtimeMs : ""} ${content}`;
  });
}

/** Runs git with something on its stdin. */
export function gitInput(dir: string, input: string | Uint8Array, ...args: string[]): string {
  return execFileSync("git", args, { cwd: dir, input, encoding: "utf8", env: cleanEnv(join(dir, "..")) }).trim();
}

/** The full hash of a revision. */
export function hashOf(dir: string, rev = "HEAD"): string {
  return git(dir, "rev-parse", rev).trim();
}
