/**
 * What the environment says of GitHub: the hosts it is on, where the API of each is, which token may go there, and the
 * pull request that a workflow runs for.
 *
 * A token goes only to a host that is GitHub's own or that the user's environment names; hosts are compared whole. What
 * a repository says of its remotes names no host in this sense.
 *
 * @module
 */

import { UsageError } from "./errors.ts";
import { fields, isGitHubs, pullName, type PullRequest, readPull } from "./github_names.ts";
import type { Env } from "./paths.ts";

/** A GitHub token, and where it is from. */
export interface HostToken {
  /** Never printed. */
  value: string;
  /** The variable or setting it stands in, or `gh`. */
  from: string;
}

/** Variables that hold tokens: for github.com and `*.ghe.com` … */
const TOKENS = ["OCTAVO_GITHUB_TOKEN", "GH_TOKEN", "GITHUB_TOKEN"] as const;
/** … and for GitHub Enterprise Server. */
const ENTERPRISE_TOKENS = ["GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN"] as const;

/** Whether octavo may take a host for GitHub without asking anybody: GitHub's own, or named by the user's environment. */
export function isKnownHost(env: Env, host: string): boolean {
  return isGitHubs(host) || host === namedHost(env) || host === actionsHost(env);
}

/** The host of a repository that is named without one: `GH_HOST`, that of the workflow in GitHub Actions, github.com. */
export function defaultHost(env: Env): string {
  return namedHost(env) ?? actionsHost(env) ?? "github.com";
}

/** Address of a host's API, without a slash at the end. */
export function apiBase(env: Env, host: string): string {
  const own = host === actionsHost(env) ? env["GITHUB_API_URL"]?.trim() : undefined;
  if (own) return withoutSlash(own);
  if (host === "github.com") return "https://api.github.com";
  return isGitHubs(host) ? `https://api.${host}` : `https://${host}/api/v3`;
}

/** Address of a host's web pages and repositories, without a slash at the end. */
export function webBase(env: Env, host: string): string {
  const own = host === actionsHost(env) ? env["GITHUB_SERVER_URL"]?.trim() : undefined;
  return own ? withoutSlash(own) : `https://${host}`;
}

/**
 * The token that the environment or the user's settings have for a host.
 *
 * @param setting The user file's `githubToken`: for GitHub's own hosts.
 * @throws {UsageError} If it cannot be a token: a line break in it, say.
 */
export function configuredToken(env: Env, host: string, setting: string | undefined): HostToken | undefined {
  for (const name of tokenVariables(env, host)) {
    const value = env[name]?.trim();
    if (value) return checked({ value, from: name });
  }
  const value = setting?.trim();
  return value && isGitHubs(host) ? checked({ value, from: "githubToken" }) : undefined;
}

function tokenVariables(env: Env, host: string): readonly string[] {
  const workflows = actionsHost(env);
  if (isGitHubs(host)) {
    // In a workflow GITHUB_TOKEN belongs to the server that the workflow runs on, and to no other.
    return workflows === undefined || workflows === host ? TOKENS : TOKENS.filter((name) => name !== "GITHUB_TOKEN");
  }
  if (host === workflows) return ["OCTAVO_GITHUB_TOKEN", ...ENTERPRISE_TOKENS, "GH_TOKEN", "GITHUB_TOKEN"];
  return host === namedHost(env) ? ENTERPRISE_TOKENS : [];
}

/** The environment for `gh`, without the tokens: gh would give them out for any host that one asks it about. */
export function withoutTokens(env: Env): Env {
  const clean = { ...env };
  for (const name of [...TOKENS, ...ENTERPRISE_TOKENS]) delete clean[name];
  return clean;
}

function checked(token: HostToken): HostToken {
  if (isToken(token.value)) return token;
  throw new UsageError(`What is in ${token.from} is no GitHub token: it has a space or another odd character in it`, {
    hint: `set ${token.from} to the token alone`,
  });
}

/** Whether a text can go into a header as a token. */
export function isToken(text: string): boolean {
  return /^[\x21-\x7e]{1,1000}$/.test(text);
}

function namedHost(env: Env): string | undefined {
  return env["GH_HOST"]?.trim().toLowerCase() || undefined;
}

/** The host of the server that the workflow runs on; `undefined` outside GitHub Actions. */
function actionsHost(env: Env): string | undefined {
  if (env["GITHUB_ACTIONS"] !== "true") return undefined;
  return URL.parse(env["GITHUB_SERVER_URL"]?.trim() || "https://github.com")?.host;
}

function withoutSlash(url: string): string {
  return url.replace(/\/+$/, "");
}

/**
 * The pull request that a workflow of GitHub Actions runs for: `pull_request` of the file `GITHUB_EVENT_PATH`, else
 * `GITHUB_REF`. `undefined` elsewhere and for other events.
 *
 * @param readFile Reads a text file.
 */
export async function pullFromEvent(
  env: Env,
  readFile: (path: string) => Promise<string>,
): Promise<PullRequest | undefined> {
  const [owner, repo, ...more] = (env["GITHUB_REPOSITORY"] ?? "").split("/");
  if (env["GITHUB_ACTIONS"] !== "true" || !owner || !repo || more.length > 0) return undefined;
  const repository = { host: actionsHost(env) ?? "github.com", owner, repo };
  const event = env["GITHUB_EVENT_PATH"] ? await readEvent(env["GITHUB_EVENT_PATH"], readFile) : undefined;
  const pull = readPull(fields(event)["pull_request"], repository);
  if (pull) return pull.pull;
  const number = Number(/^refs\/pull\/([1-9]\d{0,8})\/(?:merge|head)$/.exec(env["GITHUB_REF"] ?? "")?.[1]);
  return number > 0 ? { ...repository, number, title: pullName({ ...repository, number }) } : undefined;
}

async function readEvent(path: string, readFile: (path: string) => Promise<string>): Promise<unknown> {
  try {
    return JSON.parse(await readFile(path));
  } catch {
    return undefined; // not there or no JSON: GITHUB_REF says the number, too
  }
}
