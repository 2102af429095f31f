/**
 * The errors octavo reports: each class is a meaning, and each meaning has its exit code.
 *
 * @module
 */

/** Exit codes of the command line. `3` outranks `1`. */
export const EXIT = {
  /** Finished, or nothing to review. */
  ok: 0,
  /** Findings at or above the severity asked for. */
  findings: 1,
  /** Wrong usage or configuration, no repository or an unsafe one: nothing was sent. */
  usage: 2,
  /** git, GitHub or the provider failed, the review is incomplete, or another review runs. */
  failed: 3,
  /** Stopped by Ctrl-C (128 + SIGINT). */
  interrupted: 130,
  /** Stopped by SIGTERM (128 + 15). */
  terminated: 143,
} as const;

/** What an error may carry beside its message. */
export interface OctavoErrorOptions {
  /** What to do next: one sentence or line, no final period. */
  hint?: string | undefined;
  /** The error that led to this one. */
  cause?: unknown;
}

/** Base of all errors that octavo reports with a message instead of a stack trace. */
export class OctavoError extends Error {
  /** The name of the class. */
  override name = "OctavoError";
  /** What to do next, if there is something to say. */
  readonly hint: string | undefined;
  /** The exit code that a command ending with this error has. */
  readonly exitCode: number = EXIT.failed;

  /**
   * An error to report.
   *
   * @param message What failed, with the value in quotes; no final period.
   */
  constructor(message: string, options: OctavoErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.hint = options.hint;
  }
}

/** The command line or a setting is wrong. Nothing was sent. */
export class UsageError extends OctavoError {
  /** The name of the class. */
  override name = "UsageError";
  /** Nothing was sent. */
  override readonly exitCode: number = EXIT.usage;
}

/** There is no repository, or one that octavo must not read. Nothing was sent. */
export class RepositoryError extends OctavoError {
  /** The name of the class. */
  override name = "RepositoryError";
  /** Nothing was sent. */
  override readonly exitCode: number = EXIT.usage;
}

/** git failed. */
export class GitError extends OctavoError {
  /** The name of the class. */
  override name = "GitError";
}

/** GitHub refused, failed or could not be reached. */
export class GitHubError extends OctavoError {
  /** The name of the class. */
  override name = "GitHubError";
}

/** The provider refused, failed, broke off or could not be reached. */
export class ProviderError extends OctavoError {
  /** The name of the class. */
  override name = "ProviderError";
}

/** Another review of the same repository runs. */
export class BusyError extends OctavoError {
  /** The name of the class. */
  override name = "BusyError";
}

/** The exit code that stands for an error: octavo's own, else that of a failure. */
export function exitCodeOf(error: unknown): number {
  return error instanceof OctavoError ? error.exitCode : EXIT.failed;
}

/** How an error is printed: its message, and what to do next on a line of its own. */
export function describeError(error: unknown): string {
  if (error instanceof OctavoError) return error.hint ? `${error.message}\n  ${error.hint}` : error.message;
  return error instanceof Error ? error.message : String(error);
}
