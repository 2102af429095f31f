/**
 * A queue between a producer that must not wait and a consumer that iterates.
 *
 * @module
 */

/** Values go in with `push`, come out by iterating, once; `close` or `fail` ends it after what is still in it. */
export class Channel<T> implements AsyncIterable<T> {
  readonly #queue: T[] = [];
  #ended = false;
  #error: unknown;
  #wake: (() => void) | undefined;

  /** Adds a value. */
  push(value: T): void {
    this.#queue.push(value);
    this.#wake?.();
  }

  /** Ends the channel; with an error, iterating throws it after the last value. */
  close(error?: unknown): void {
    this.#ended = true;
    this.#error = error;
    this.#wake?.();
  }

  /** The values in the order they came. */
  async *[Symbol.asyncIterator](): AsyncGenerator<T> {
    while (true) {
      while (this.#queue.length > 0) yield this.#queue.shift()!;
      if (this.#ended) break;
      await new Promise<void>((resolve) => this.#wake = resolve);
      this.#wake = undefined;
    }
    if (this.#error !== undefined) throw this.#error;
  }
}
