/**
 * Keeps secrets out of what is shown and saved: those that are known from what was read, also where a stream cuts them,
 * and those that their form gives away.
 *
 * @module
 */

import { hasHint, kindOf, redact, type RedactedSecret } from "./secrets.ts";

/** Whether secrets are sent to an endpoint as they are: on this machine, or by the user's word. */
export function sendsSecrets({ local }: { local: boolean }, sendSecrets = false): boolean {
  return local || sendSecrets;
}

/** Characters of a known secret at least: anything shorter may be part of other words. */
const MIN_KNOWN = 6;

/** Characters of a line of a private key that are known again. */
const MIN_KEY_LINE = 16;

/** Replaces secrets in all that leaves a run. It learns them as they are found. */
export class Redactor {
  /** What stands for each known secret. */
  readonly #marks = new Map<string, string>();
  /** The known ones by their first character. */
  readonly #byFirst = new Map<string, string[]>();
  #longest = 0;
  #pattern: RegExp | undefined;

  /** Takes secrets in, to replace them wherever they come again. */
  learn(secrets: Iterable<RedactedSecret>): void {
    for (const { id, values } of secrets) {
      const known = id === "private-key"
        ? values.flatMap(keyLines)
        : values.filter(({ length }) => length >= MIN_KNOWN);
      for (const value of known) this.#add(value, `[secret: ${id}]`);
    }
  }

  #add(value: string, mark: string): void {
    if (this.#marks.has(value)) return;
    this.#marks.set(value, mark);
    const first = value[0]!;
    this.#byFirst.set(first, [...this.#byFirst.get(first) ?? [], value]);
    this.#longest = Math.max(this.#longest, value.length);
    this.#pattern = undefined;
  }

  /** A text without the known secrets. */
  mask(text: string): string {
    const pattern = this.#known();
    return pattern ? text.replace(pattern, (value) => this.#marks.get(value)!) : text;
  }

  /** A text without the known secrets and without those that their form gives away; the latter are known from then on. */
  async text(text: string): Promise<string> {
    const masked = this.mask(text);
    if (!hasHint(masked)) return masked;
    const redacted = await redact(masked, kindOf(masked));
    this.learn(redacted.secrets);
    return redacted.text;
  }

  /** Data with all of its texts like {@linkcode Redactor.text}; the same object where there is nothing to replace. */
  async deep<T>(value: T): Promise<T> {
    return this.#isClean(value) ? value : await this.#copy(value) as T; // #copy changes nothing but texts
  }

  #isClean(value: unknown): boolean {
    if (typeof value === "string") return !hasHint(value) && this.mask(value) === value;
    return typeof value !== "object" || value === null || Object.values(value).every((item) => this.#isClean(item));
  }

  async #copy(value: unknown): Promise<unknown> {
    if (typeof value === "string") return await this.text(value);
    if (Array.isArray(value)) return await Promise.all(value.map((item) => this.#copy(item)));
    if (typeof value !== "object" || value === null) return value;
    const entries = Object.entries(value).map(async ([key, item]) => [key, await this.#copy(item)] as const);
    return Object.fromEntries(await Promise.all(entries));
  }

  /** A text that comes in pieces. */
  stream(): MaskedStream {
    let held = "";
    return {
      push: (piece) => {
        const text = held + piece;
        const hold = this.#holdFrom(text);
        const pattern = this.#known();
        let [out, at] = ["", 0];
        for (const match of pattern ? text.matchAll(pattern) : []) {
          if (match.index >= hold) break;
          out += text.slice(at, match.index) + this.#marks.get(match[0])!;
          at = match.index + match[0].length;
        }
        out += text.slice(at, Math.max(at, hold));
        held = text.slice(Math.max(at, hold));
        return out;
      },
      end: () => {
        const out = this.mask(held);
        held = "";
        return out;
      },
    };
  }

  /** Where the first known secret may have begun that is not there as a whole. */
  #holdFrom(text: string): number {
    for (let at = Math.max(0, text.length - this.#longest + 1); at < text.length; at++) {
      const rest = text.slice(at);
      if (this.#byFirst.get(rest[0]!)?.some((value) => value.length > rest.length && value.startsWith(rest))) return at;
    }
    return text.length;
  }

  #known(): RegExp | undefined {
    if (this.#marks.size === 0) return undefined;
    this.#pattern ??= new RegExp(
      [...this.#marks.keys()].sort((a, b) => b.length - a.length).map(escaped).join("|"),
      "g",
    );
    return this.#pattern;
  }
}

/** A text that comes in pieces, without the known secrets: of the end no more is held back than may be part of one. */
export interface MaskedStream {
  /** Takes the next piece; gives what is certain by now. */
  push(piece: string): string;
  /** Gives the rest; what is pushed then begins anew. */
  end(): string;
}

/** The runs of base64 in a line of a private key, or in all of its lines where it has one with `\n` in it. */
function keyLines(value: string): string[] {
  const runs = value.replace(/\\[nr]/g, "\n").match(/[A-Za-z0-9+/=]+/g) ?? [];
  return runs.filter(({ length }) => length >= MIN_KEY_LINE);
}

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");
}
