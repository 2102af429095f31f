/**
 * What is said of a plan beside the review: whatever is left out, changed or replaced.
 *
 * @module
 */

import { MIN_PART_CHARS, type Plan } from "./diff.ts";
import type { PlacedSecret } from "./secrets.ts";
import type { ReviewEvent } from "./report.ts";

/** Of each kind so many are said one by one. */
const MOST = 10;

const warn = (message: string): ReviewEvent => ({ type: "notice", level: "warning", message });

/** Whatever the plan leaves out or changes is said. */
export function* planNotices({ files, problems, raisedFrom }: Plan): Generator<ReviewEvent> {
  const count = (n: number, noun: string) => `${n} ${noun}${n === 1 ? "" : "s"}`;
  if (raisedFrom !== undefined) {
    yield warn(`A part of ${raisedFrom} characters is too small: ${MIN_PART_CHARS} are taken, the least there is`);
  }
  for (const { line, message } of problems.slice(0, MOST)) yield warn(`Line ${line} of the patch: ${message}`);
  if (problems.length > MOST) yield warn(`${problems.length - MOST} more problems in the patch`);
  const trimmed = files.filter(({ coverage }) => coverage === "trimmed");
  for (const { path, hunks, hunksSent, linesOmitted } of trimmed.slice(0, MOST)) {
    yield warn(
      `${path} is trimmed: ${hunksSent} of ${count(hunks, "hunk")} sent, ${count(linesOmitted, "line")} omitted`,
    );
  }
  if (trimmed.length > MOST) yield warn(`${count(trimmed.length - MOST, "more file")} trimmed`);
  const left = files.filter(({ coverage }) => coverage === "unreviewed");
  if (left.length === 0) return;
  const names = left.slice(0, MOST).map(({ path }) => path).join(", ");
  yield warn(
    `${count(left.length, "file")} not reviewed (too large for one review): ${names}${
      left.length > MOST ? ` and ${left.length - MOST} more` : ""
    }; split the change, or raise --max-diff-chars`,
  );
}

/** Secrets that are said one by one. */
const MOST_SECRETS = 50;

/** What becomes of each secret in what is planned. */
export function* secretNotices(
  secrets: readonly PlacedSecret[],
  options: { sent: boolean },
): Generator<ReviewEvent> {
  for (const message of secretMessages(secrets, options)) yield warn(message);
}

/** A sentence on each secret: it is replaced, or sent by the user's word. */
export function secretMessages(secrets: readonly PlacedSecret[], { sent }: { sent: boolean }): string[] {
  const messages = secrets.slice(0, MOST_SECRETS).map(({ id, title, path, line, side }) => {
    const place = `${path}${line === undefined ? "" : `:${line}`}${side === "old" ? " (removed)" : ""}`;
    return `${title} in ${place}: ${sent ? "sent as it is (--send-secrets)" : `replaced by [secret: ${id}]`}`;
  });
  const more = secrets.length - messages.length;
  if (more === 0) return messages;
  return [
    ...messages,
    `${more} more secrets ${sent ? "sent as they are (--send-secrets)" : "replaced"}: --plan lists all`,
  ];
}
