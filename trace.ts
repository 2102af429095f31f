/**
 * What octavo runs and asks, for whoever wants to see it (`--debug`): programs and requests tell here, and pay nothing
 * where nobody listens.
 *
 * @module
 */

import { channel } from "node:diagnostics_channel";

/** Something that was run or asked, and is over. */
export interface Trace {
  /** The program with its arguments, or the method and the address without what is secret in it. */
  what: string;
  /** How it ended: an exit code, a status. */
  outcome: string;
  /** How long it took until then. */
  milliseconds: number;
}

const traces = channel("octavo:trace");

/** Begins something; the function that it gives tells how it ended. `what` is made only where somebody listens. */
export function begin(what: () => string): (outcome: string) => void {
  if (!traces.hasSubscribers) return () => {};
  const started = performance.now();
  return (outcome) =>
    traces.publish({ what: what(), outcome, milliseconds: performance.now() - started } satisfies Trace);
}

/** Listens until the returned function is called. */
export function onTrace(listener: (trace: Trace) => void): () => void {
  const onMessage = (message: unknown) => listener(message as Trace); // only begin() publishes here
  traces.subscribe(onMessage);
  return () => void traces.unsubscribe(onMessage);
}
