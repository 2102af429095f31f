// Types of the modules that come as plain JavaScript or as text: the part of each that octavo uses.

declare module "*.md" {
  const text: string;
  export default text;
}

declare module "@std/assert" {
  export function assert(value: unknown, message?: string): asserts value;
  export function assertEquals<T>(actual: T, expected: T, message?: string): void;
  export function assertNotEquals<T>(actual: T, expected: T, message?: string): void;
  export function assertStrictEquals<T>(actual: unknown, expected: T, message?: string): asserts actual is T;
  export function assertExists<T>(actual: T, message?: string): asserts actual is NonNullable<T>;
  export function assertInstanceOf<T>(
    actual: unknown,
    type: abstract new (...args: never[]) => T,
    message?: string,
  ): asserts actual is T;
  export function assertMatch(actual: string, expected: RegExp, message?: string): void;
  export function assertNotMatch(actual: string, expected: RegExp, message?: string): void;
  export function assertStringIncludes(actual: string, expected: string, message?: string): void;
  export function assertObjectMatch(actual: object, expected: object, message?: string): void;
  export function assertGreater<T>(actual: T, expected: T, message?: string): void;
  export function assertLess<T>(actual: T, expected: T, message?: string): void;
  export function assertGreaterOrEqual<T>(actual: T, expected: T, message?: string): void;
  export function assertLessOrEqual<T>(actual: T, expected: T, message?: string): void;
  export function assertThrows<E extends Error>(
    fn: () => unknown,
    type: abstract new (...args: never[]) => E,
    messageIncludes?: string,
  ): E;
  export function assertThrows(fn: () => unknown): unknown;
  export function assertRejects<E extends Error>(
    fn: () => PromiseLike<unknown>,
    type: abstract new (...args: never[]) => E,
    messageIncludes?: string,
  ): Promise<E>;
  export function assertRejects(fn: () => PromiseLike<unknown>): Promise<unknown>;
  export function fail(message?: string): never;
}

declare module "@std/cli/parse-args" {
  export interface ParseOptions {
    "--"?: boolean;
    alias?: Record<string, string | readonly string[]>;
    boolean?: boolean | string | readonly string[];
    default?: Record<string, unknown>;
    stopEarly?: boolean;
    string?: string | readonly string[];
    collect?: string | readonly string[];
    negatable?: string | readonly string[];
    unknown?: (arg: string, key?: string, value?: unknown) => unknown;
  }
  export interface Args {
    _: (string | number)[];
    [name: string]: unknown;
  }
  export function parseArgs(args: readonly string[], options?: ParseOptions): Args;
}

declare module "@std/fmt/bytes" {
  export interface FormatOptions {
    bits?: boolean;
    binary?: boolean;
    signed?: boolean;
    locale?: boolean | string | string[];
    minimumFractionDigits?: number;
    maximumFractionDigits?: number;
  }
  export function format(bytes: number, options?: FormatOptions): string;
}

declare module "@std/fmt/colors" {
  export function setColorEnabled(value: boolean): void;
  export function getColorEnabled(): boolean;
  export function bold(text: string): string;
  export function dim(text: string): string;
  export function italic(text: string): string;
  export function underline(text: string): string;
  export function strikethrough(text: string): string;
  export function red(text: string): string;
  export function green(text: string): string;
  export function yellow(text: string): string;
  export function blue(text: string): string;
  export function magenta(text: string): string;
  export function cyan(text: string): string;
  export function gray(text: string): string;
  export function stripAnsiCode(text: string): string;
}

declare module "@std/fmt/duration" {
  export interface DurationOptions {
    style?: "narrow" | "full" | "digital";
    ignoreZero?: boolean;
  }
  export function format(milliseconds: number, options?: DurationOptions): string;
}

declare module "@std/jsonc/parse" {
  export function parse(text: string): unknown;
}

declare module "@std/streams/text-line-stream" {
  export class TextLineStream extends TransformStream<string, string> {
    constructor(options?: { allowCR: boolean });
  }
}

declare module "@std/yaml/parse" {
  export function parse(content: string): unknown;
  export function parseAll(content: string): unknown;
}

declare module "@secretlint/secretlint-rule-preset-recommend" {
  export interface Context {
    sharedOptions: object;
    createTranslator(messages: unknown): (messageId: string, data?: unknown) => { message: string; messageId: string };
    report(found: { range: readonly [number, number]; message: { messageId: string } }): void;
    ignore(ignored: unknown): void;
  }
  export interface Source {
    content: string;
    filePath: string;
    ext: string;
    contentType: string;
  }
  export interface Rule {
    meta: { id: string };
    messages?: Record<string, unknown>;
    create(context: Context, options: object): { file?(source: Source): void | Promise<void> };
  }
  export const rules: readonly Rule[];
}
