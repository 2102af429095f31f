/**
 * fetch as octavo needs it: redirects by hand, one rule for proxies in every runtime, no time limit but ours, and what
 * the body of an error says.
 *
 * @module
 */

import { OctavoError } from "./errors.ts";

/** The environment: the variables that name proxies are read from it. */
export type Env = Record<string, string | undefined>;

/** One request. */
export interface HttpRequest {
  /** Where it goes: http or https. */
  url: string;
  /** @default "GET" */
  method?: string;
  /** Sent as they are, beside `user-agent: octavo`. */
  headers?: Record<string, string>;
  /** Sent as UTF-8. */
  body?: string;
  /** Names of the headers that a redirect to another origin does not carry, beside `authorization` and `cookie`. */
  credentials?: string[];
  /** Where `HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY` and `NO_PROXY` are looked up. */
  env: Env;
  /** Ends the request and its body, at any point. */
  signal?: AbortSignal;
  /**
   * Milliseconds until the headers must be there.
   * @default no limit
   */
  timeoutMs?: number;
  /**
   * Whether a proxy of the environment may be used; loopback never goes through one.
   * @default true
   */
  proxy?: boolean;
}

/** Why a request got no response. */
export type HttpFailure =
  | "refused"
  | "reset"
  | "unknown host"
  | "certificate"
  | "timeout"
  | "redirect"
  | "proxy"
  | "network";

/** A request that got no response. */
export class HttpError extends OctavoError {
  override name = "HttpError";
  /** Why. */
  readonly failure: HttpFailure;

  /** @param message What failed; no key and no query of a URL is in it. */
  constructor(message: string, failure: HttpFailure, options: { hint?: string; cause?: unknown } = {}) {
    super(message, options);
    this.failure = failure;
  }
}

/** Sends a request; any status is a response. Throws {@linkcode HttpError}, or the signal's reason when aborted. */
export function request(_request: HttpRequest): Promise<Response> {
  throw new HttpError("not there yet", "network");
}

/** Whether a URL's host is this machine by its address: 127.0.0.0/8, ::1, localhost. */
export function isLoopback(_url: string | URL): boolean {
  throw new HttpError("not there yet", "network");
}

/** What the body of an error says: one clean line of at most 200 characters, the status in front. */
export function errorText(_status: number, _body: string): string {
  throw new HttpError("not there yet", "network");
}

/** What this runtime limits against our will, if it does: a sentence for the person, or `undefined`. */
export function runtimeLimit(_env: Env): Promise<string | undefined> {
  throw new HttpError("not there yet", "network");
}
