/**
 * What GitHub's answers mean when they are not what was asked for: each status as an error that says what to do next.
 *
 * @module
 */

import { GitHubError } from "./errors.ts";
import { isGitHubs } from "./github_names.ts";

/** The version of the API that octavo speaks. */
export const API_VERSION = "2022-11-28";

/** Milliseconds to wait where a secondary limit does not say how long: GitHub asks for a minute at least. */
const SECONDARY_WAIT_MS = 60_000;

/** An answer with a status that is no success. */
export interface Refusal {
  /** HTTP status. */
  status: number;
  /** Its headers. */
  headers: Headers;
  /** What its body says: one clean line, or nothing. */
  detail: string;
  /** Its body as JSON, where it is that. */
  json: unknown;
}

/** What was asked for, and as whom. */
export interface Asked {
  /** `pull request 12 of "o/r"`. */
  what: string;
  /** Host the repository is on. */
  host: string;
  /** Where the token is from that was sent along. */
  token: { from: string } | undefined;
}

/** A limit on the number of requests. */
export interface RateLimit {
  /** Primary: the requests of an hour. Secondary: too many at once. */
  kind: "primary" | "secondary";
  /** Milliseconds until requests are answered again. */
  waitMs: number;
}

/**
 * The rate limit that an answer tells of, if it does (docs.github.com, "Rate limits for the REST API").
 *
 * @param now Milliseconds since 1970, for answers that do not tell their time.
 */
export function rateLimitOf({ status, headers, detail }: Refusal, now: number): RateLimit | undefined {
  if (status !== 403 && status !== 429) return undefined;
  const secondary = /secondary rate limit|abuse detection/i.test(detail);
  const after = headers.get("retry-after");
  const serverNow = Date.parse(headers.get("date") ?? "") || now;
  if (after !== null) {
    const seconds = /^\d+$/.test(after) ? Number(after) : (Date.parse(after) - serverNow) / 1000;
    return { kind: secondary ? "secondary" : "primary", waitMs: Math.max(0, seconds * 1000) || 0 };
  }
  const reset = Number(headers.get("x-ratelimit-reset"));
  if (headers.get("x-ratelimit-remaining") === "0" && reset > 0) {
    return { kind: "primary", waitMs: Math.max(0, reset * 1000 - serverNow) };
  }
  return secondary || status === 429 ? { kind: "secondary", waitMs: SECONDARY_WAIT_MS } : undefined;
}

/** A rate limit that is too long to wait for. */
export function rateLimitError(limit: RateLimit, { token }: Asked, now: number): GitHubError {
  const clock = new Date(now + limit.waitMs).toISOString().slice(11, 16);
  const until = `it answers again at ${clock} UTC, in ${minutes(limit.waitMs)}`;
  if (limit.kind === "secondary") {
    return new GitHubError(`GitHub has had too many requests at once: ${until}`, { hint: "try again then" });
  }
  const hint = token
    ? `try again then: these are the requests of an hour of the token from ${token.from}`
    : "try again then, or set OCTAVO_GITHUB_TOKEN: with a token it is 5,000 requests an hour instead of 60";
  return new GitHubError(`GitHub's rate limit is used up: ${until}`, { hint });
}

function minutes(milliseconds: number): string {
  return milliseconds < 90_000 ? `${Math.ceil(milliseconds / 1000)} s` : `${Math.ceil(milliseconds / 60_000)} min`;
}

/**
 * Whether an answer to the request for a diff means that it is too large: by the code in its body, whatever the status
 * (406, and 422 have been seen), and by a 504, which a diff gets that takes GitHub too long.
 */
export function isTooLarge({ status, json }: Refusal): boolean {
  if (status === 504) return true;
  return errorsOf(json).some(({ code, field }) =>
    code === "too_large" || (code === "not_available" && field === "diff")
  );
}

function errorsOf(json: unknown): Record<string, unknown>[] {
  if (typeof json !== "object" || json === null || !("errors" in json) || !Array.isArray(json.errors)) return [];
  return json.errors.map((error: unknown) => typeof error === "object" && error !== null ? { ...error } : {});
}

/** Any other refusal, with what to do next. */
export function refusalError({ status, headers, detail }: Refusal, { what, host, token }: Asked): GitHubError {
  const said = detail === "" ? `${status}` : `${status}: ${detail}`;
  const fail = (message: string, hint: string) => new GitHubError(`${message} (${said})`, { hint });
  if (status === 401) {
    return token
      ? fail(`GitHub does not accept the token from ${token.from}`, newToken(token))
      : fail(`GitHub wants a token for ${what}`, getToken(host));
  }
  const sso = ssoUrl(headers);
  if (status === 403 && sso) {
    return fail(
      `The token from ${token?.from} is not authorised for the organisation of ${what}`,
      `authorise it: ${sso}`,
    );
  }
  if (status === 403) {
    const needs = headers.get("x-accepted-github-permissions");
    const permission = needs && /^[\w=;, -]{1,200}$/.test(needs) ? `: ${needs}` : "";
    return token
      ? fail(
        `The token from ${token.from} may not read ${what}`,
        `give it the permission to${permission || " read pull requests"}`,
      )
      : fail(`GitHub does not show ${what} to everybody`, getToken(host));
  }
  if (status === 404) {
    return token
      ? fail(
        `GitHub knows no ${what}, or the token from ${token.from} may not see it`,
        `check the name and the number; for a private repository give the token access to it (Pull requests: read)`,
      )
      : fail(
        `GitHub knows no ${what}, or it is private`,
        `check the name and the number; for a private repository: ${getToken(host)}`,
      );
  }
  if (status === 410) return fail(`GitHub has retired version ${API_VERSION} of its API`, "update octavo");
  if (status >= 500) return fail(`GitHub failed over ${what}`, "try again in a moment");
  return fail(`GitHub refused ${what}`, "review it from a clone: octavo branch, or git diff … | octavo diff -");
}

function newToken({ from }: { from: string }): string {
  if (from === "gh") return "log in again with: gh auth login";
  return "put a valid one there, or remove it: public repositories are read without a token";
}

function getToken(host: string): string {
  if (isGitHubs(host)) return "set OCTAVO_GITHUB_TOKEN, or log in with: gh auth login";
  return `set GH_HOST=${host} and GH_ENTERPRISE_TOKEN, or log in with: gh auth login --hostname ${host}`;
}

/** The address that authorises a token for an organisation with single sign-on: `required; url=https://…`. */
function ssoUrl(headers: Headers): string | undefined {
  const url = /\burl=(https:\/\/[\x21-\x7e]+)/.exec(headers.get("x-github-sso") ?? "")?.[1];
  return url !== undefined && URL.parse(url) ? url : undefined;
}

/** The address with `rel="next"` in a `Link` header (RFC 8288). */
export function nextPage(headers: Headers): string | undefined {
  for (const link of (headers.get("link") ?? "").split(/,\s*(?=<)/)) {
    const [, url, parameters = ""] = /^<([^>]*)>(.*)$/.exec(link) ?? [];
    if (/;\s*rel="?(?:[^"]*\s)?next\b/i.test(parameters)) return url;
  }
  return undefined;
}
