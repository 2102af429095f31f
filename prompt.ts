/**
 * Questions to the person at the terminal. They stand on stderr, since stdout is the result.
 *
 * @module
 */

import type { Dialogue, World } from "./world.ts";

/** One answer to choose. */
export interface Choice<T> {
  /** What is chosen with it. */
  value: T;
  /** One line of visible text. */
  label: string;
}

/** The person to ask; `undefined` where nobody can answer: no terminal, a workflow. */
export function personAt(world: World): Dialogue | undefined {
  return world.env.CI ? undefined : world.dialogue?.();
}

/** Lets the person choose one of several; typing narrows the list. `undefined` when they would rather not. */
export async function choose<T>(
  { input, output }: Dialogue,
  message: string,
  choices: readonly Choice<T>[],
): Promise<T | undefined> {
  const { autocomplete, isCancel } = await import("@clack/prompts");
  const options = choices.map(({ label }, index) => ({ value: index, label }));
  const chosen = await autocomplete({ message, options, maxItems: MAX_SHOWN, input, output });
  return isCancel(chosen) ? undefined : choices[chosen]?.value;
}

/** Choices on the screen at once. */
const MAX_SHOWN = 10;

/** Asks for a yes; anything else is no. */
export async function confirm({ input, output }: Dialogue, message: string): Promise<boolean> {
  const { confirm, isCancel } = await import("@clack/prompts");
  const said = await confirm({ message, initialValue: false, input, output });
  return !isCancel(said) && said;
}

/** Asks for something that is not to be seen. `undefined` when the person would rather not. */
export async function askSecret({ input, output }: Dialogue, message: string): Promise<string | undefined> {
  const { password, isCancel } = await import("@clack/prompts");
  const said = await password({ message, input, output });
  return isCancel(said) ? undefined : said;
}
