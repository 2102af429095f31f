/**
 * Reasoning that a model writes into its answer, between `<think>` and `</think>`, taken out while it streams.
 *
 * @module
 */

/** What came of a piece. `discard`: all text given out so far was reasoning. */
export type Thought = { type: "text"; text: string } | { type: "reasoning"; text: string } | { type: "discard" };

const OPEN = "<think>";
const CLOSE = "</think>";

/** Settings of a {@linkcode ThinkFilter}. */
export interface ThinkFilterOptions {
  /**
   * Whether the model is known to begin with reasoning and to close it with a bare `</think>`. Its text is then given
   * out as reasoning until that tag comes, and as the answer after all when none does.
   * @default false
   */
  startsThinking?: boolean;
}

/**
 * Splits an answer into text and reasoning. The tags count where Markdown would show them: inside code they are text. A
 * block that opens within the answer and never closes is text as well; one that opens the answer is reasoning.
 */
export class ThinkFilter {
  /** Not decided: the start of a tag, or white space in front of the answer. */
  #held = "";
  #thinking = false;
  /** Whether the open block began before any text of the answer. */
  #leading = false;
  /** What is inside a block that began within the answer. */
  #inside: string[] = [];
  #answered = false;
  /** Whether text of the answer left with an earlier piece. */
  #gave = false;
  #sawTag = false;
  #trim = false;
  #code = new CodeState();
  /** Text that may turn out to be reasoning; `undefined` once that is decided. */
  #provisional: string[] | undefined;

  /** For one answer. */
  constructor(options: ThinkFilterOptions = {}) {
    if (options.startsThinking) this.#provisional = [];
  }

  /** Takes the next piece of the answer. */
  push(piece: string): Thought[] {
    const out: Thought[] = [];
    const text = this.#held + piece;
    this.#held = "";
    let at = 0;
    while (at < text.length) at = this.#thinking ? this.#readThinking(text, at, out) : this.#readText(text, at, out);
    this.#gave ||= out.some((thought) => thought.type === "text");
    return out;
  }

  /** Says that the server keeps the reasoning apart by itself: what comes as text is the answer. */
  settle(): Thought[] {
    const out: Thought[] = [];
    const held = this.#provisional?.join("") ?? "";
    this.#provisional = undefined;
    if (held !== "") out.push({ type: "text", text: held });
    return out;
  }

  /** Takes the end: what was held back. */
  end(): Thought[] {
    const out: Thought[] = [];
    if (this.#thinking) {
      this.#reason(this.#held, out);
      if (!this.#leading) out.push({ type: "text", text: OPEN + this.#inside.join("") });
    } else if (this.#held !== "") {
      this.#give(this.#held, out);
    }
    this.#held = "";
    out.push(...this.settle());
    return out;
  }

  /** Reads text up to the next tag; returns where it stands then. */
  #readText(text: string, from: number, out: Thought[]): number {
    let at = from;
    while ((at = text.indexOf("<", at)) >= 0) {
      const tag = text.startsWith(OPEN, at) ? OPEN : text.startsWith(CLOSE, at) ? CLOSE : undefined;
      const tail = text.length - at < CLOSE.length ? text.slice(at) : "";
      if (tag === undefined && tail !== "" && (OPEN.startsWith(tail) || CLOSE.startsWith(tail))) break;
      if (tag !== undefined && this.#isTag(tag, text.slice(from, at))) return this.#takeTag(tag, text, from, at, out);
      at++;
    }
    const end = at < 0 ? text.length : at;
    const ready = text.slice(from, end);
    if (!this.#answered && ready.trim() === "") {
      this.#held = text.slice(from);
      return text.length;
    }
    this.#give(ready, out);
    this.#held = text.slice(end);
    return text.length;
  }

  /** Whether a tag is one: outside of code, and a closing one only while none was seen. */
  #isTag(tag: string, before: string): boolean {
    if (tag === CLOSE && this.#sawTag) return false;
    return !this.#code.isCode(before);
  }

  #takeTag(tag: string, text: string, from: number, at: number, out: Thought[]): number {
    const before = text.slice(from, at);
    if (tag === CLOSE) this.#discard(before, out);
    else this.#open(before, out);
    this.#sawTag = true;
    return at + tag.length;
  }

  #open(before: string, out: Thought[]): void {
    out.push(...this.settle());
    if (before.trim() !== "" || this.#answered) this.#give(before, out);
    this.#thinking = true;
    this.#leading = !this.#answered;
    this.#inside = [];
  }

  /** A bare closing tag: all that stood before it was reasoning. */
  #discard(before: string, out: Thought[]): void {
    const reasoning = out.flatMap((thought) => thought.type === "discard" ? [] : [thought.text]).join("") + before;
    out.length = 0;
    if (this.#gave) out.push({ type: "discard" });
    if (reasoning !== "") out.push({ type: "reasoning", text: reasoning });
    this.#gave = false;
    this.#provisional = undefined;
    this.#answered = false;
    this.#trim = true;
    this.#code = new CodeState();
  }

  #readThinking(text: string, from: number, out: Thought[]): number {
    const at = text.indexOf(CLOSE, from);
    if (at < 0) {
      const end = text.length - tailOf(text, from);
      this.#reason(text.slice(from, end), out);
      this.#held = text.slice(end);
      return text.length;
    }
    this.#reason(text.slice(from, at), out);
    this.#thinking = false;
    this.#trim = !this.#answered;
    return at + CLOSE.length;
  }

  #reason(text: string, out: Thought[]): void {
    if (text === "") return;
    if (!this.#leading) this.#inside.push(text);
    out.push({ type: "reasoning", text });
  }

  #give(text: string, out: Thought[]): void {
    if (this.#provisional !== undefined) {
      this.#provisional.push(text);
      this.#answered = true;
      this.#code.take(text);
      out.push({ type: "reasoning", text });
    } else {
      this.#answer(text, out);
    }
  }

  #answer(text: string, out: Thought[]): void {
    const trimmed = this.#trim ? text.trimStart() : text;
    if (trimmed === "") return;
    this.#trim = false;
    this.#answered = true;
    this.#code.take(trimmed);
    out.push({ type: "text", text: trimmed });
  }
}

/** How many characters at a text's end may be the start of a closing tag. */
function tailOf(text: string, from: number): number {
  for (let length = Math.min(CLOSE.length - 1, text.length - from); length > 0; length--) {
    if (text.endsWith(CLOSE.slice(0, length))) return length;
  }
  return 0;
}

/** Whether a place in Markdown is inside code; looked at only when a tag is met. */
class CodeState {
  /** Taken, not looked at yet. */
  #pieces: string[] = [];
  #line = "";
  #fence: string | undefined;

  take(text: string): void {
    this.#pieces.push(text);
  }

  /** Whether the place behind everything taken and `before` is inside a fence or between backticks. */
  isCode(before: string): boolean {
    this.#advance(this.#pieces.join(""));
    this.#pieces = [];
    const ahead = new CodeState();
    ahead.#line = this.#line;
    ahead.#fence = this.#fence;
    ahead.#advance(before);
    return ahead.#fence !== undefined || FENCE.test(ahead.#line) || isSpanOpen(ahead.#line);
  }

  #advance(text: string): void {
    const lines = (this.#line + text).split("\n");
    this.#line = lines.pop() ?? "";
    for (const line of lines) this.#fence = fenceAfter(line, this.#fence);
  }
}

// CommonMark allows three spaces in front; lists and quotes, which this does not follow, bring more
const FENCE = /^[\s>]*(`{3,}|~{3,})([^\n]*)$/;

/** The fence that is open behind a line, given the one before it (CommonMark 4.5). */
function fenceAfter(line: string, open: string | undefined): string | undefined {
  const [, marks, rest = ""] = FENCE.exec(line) ?? [];
  if (marks === undefined) return open;
  if (open === undefined) return marks.startsWith("`") && rest.includes("`") ? undefined : marks;
  return marks.startsWith(open) && rest.trim() === "" ? undefined : open;
}

/** Whether a run of backticks on a line waits for its like. */
function isSpanOpen(line: string): boolean {
  let open: string | undefined;
  for (const [run] of line.matchAll(/`+/g)) {
    if (open === undefined) open = run;
    else if (open === run) open = undefined;
  }
  return open !== undefined;
}
