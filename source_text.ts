/**
 * What the built-in checks know of source text: which language a path is, whether it is a test, and which characters of a
 * line are code, which a comment and which a string.
 *
 * @module
 */

/** Characters of a line that are taken apart: longer ones are data. */
const MAX_LINE_CHARS = 2_000;

/** Languages that the checks tell apart, by what they share. */
export type Language =
  | "javascript"
  | "python"
  | "ruby"
  | "php"
  | "go"
  | "rust"
  | "java"
  | "csharp"
  | "c"
  | "swift"
  | "dart"
  | "elixir"
  | "perl"
  | "r"
  | "shell"
  | "powershell"
  | "config"
  | "data"
  | "markup"
  | "prose"
  | "other";

const EXTENSIONS: Readonly<Record<Exclude<Language, "other">, string>> = {
  javascript: "js jsx mjs cjs ts tsx mts cts vue svelte astro",
  python: "py pyi pyw",
  ruby: "rb rake gemspec",
  php: "php phtml",
  go: "go",
  rust: "rs",
  java: "java kt kts scala groovy gradle",
  csharp: "cs",
  c: "c h cc cpp cxx hpp hh hxx m mm cu glsl",
  swift: "swift",
  dart: "dart",
  elixir: "ex exs",
  perl: "pl pm t",
  r: "r",
  shell: "sh bash zsh ksh bats",
  powershell: "ps1 psm1",
  config: "yml yaml toml ini cfg conf properties env tf hcl nix mk cmake dockerfile",
  data: "json jsonc json5 csv tsv xml lock po pot arb strings resx svg ipynb sql graphql proto plist",
  markup: "html htm xhtml css scss sass less hbs ejs erb haml pug twig liquid",
  prose: "md mdx markdown rst txt adoc asciidoc org tex log",
};

const languages: ReadonlyMap<string, Language> = new Map(
  (Object.entries(EXTENSIONS) as [Language, string][]).flatMap(([language, list]) =>
    list.split(" ").map((extension) => [extension, language] as const)
  ),
);

/** The language of a file, by its name. */
export function languageOf(path: string): Language {
  const name = baseName(path).toLowerCase();
  if (
    /^(?:dockerfile|containerfile|makefile|gnumakefile|justfile|\.env|\.npmrc|\.yarnrc|\.gitconfig)(?:\.|$)/.test(name)
  ) {
    return "config";
  }
  if (/^(?:gemfile|rakefile|podfile|fastfile|vagrantfile|guardfile|brewfile)$/.test(name)) return "ruby";
  if (/^(?:readme|changelog|changes|news|license|copying|authors|contributing|todo)$/.test(name)) return "prose";
  return languages.get(name.slice(name.lastIndexOf(".") + 1)) ?? "other";
}

/** The last part of a path. */
export function baseName(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

const TEST_FOLDERS =
  /(?:^|\/)(?:tests?|specs?|__tests__|__mocks__|__fixtures__|fixtures?|testdata|test[-_]?data|testing|test[-_]?utils?|e2e|cypress|playwright|integration|mocks?|stubs?|examples?|samples?|demos?|benches|benchmarks?|playground|unittests?)\//i;
const FOREIGN =
  /(?:^|\/)(?:vendor(?:ed)?|third[-_]?party|externals?|contrib|deps|static|public|assets|generated|gen|docs?|documentation|website)\/|(?:^|[/._-])(?:vendor|bundle|polyfills?|pb2?|generated|min)[._-][^/]*$/i;
const TEST_NAMES =
  /(?:[._-](?:test|tests|spec|specs|e2e|cy|stories|bench)\.[a-z]+$)|^(?:test|tests|spec|conftest|bench)[._-].*|^tests?\.[a-z]+$|(?:Test|Tests|Spec|Specs|IT|TestCase)\.[A-Za-z]+$/;

/** Whether a file is a test, or what tests, examples and benchmarks use. */
export function isTest(path: string): boolean {
  return TEST_FOLDERS.test(path) || /(?:^|\/)[\w-]*[-_.]tests?\//i.test(path) || TEST_NAMES.test(baseName(path));
}

/** Whether a file is likely somebody else's, built or generated, or shown in documentation: its style is not the author's. */
export function isForeign(path: string): boolean {
  return FOREIGN.test(path);
}

/** What a rule may ask of a file. */
export interface FileFacts {
  /** Its path in the repository. */
  path: string;
  /** By its name. */
  language: Language;
  /** It is a test, or what tests and examples use. */
  test: boolean;
  /** It is somebody else's, built, generated or part of documentation. */
  foreign: boolean;
}

/** A line with all but one kind of its characters blanked. */
export interface LineParts {
  /** Code; of strings only the quotes are left. */
  code: string;
  /** Comments, their marks included. */
  comment: string;
}

/** How a language marks comments and strings. */
interface Syntax {
  line: readonly string[];
  /** A slash and a star open a comment that may go on. */
  blocks: boolean;
  /** Quotes of strings that end with their line. */
  quotes: string;
  /** Quotes of strings that go on. */
  long: readonly string[];
  /** A backtick opens a template with `${…}` in it. */
  templates: boolean;
  /** `/…/` may be a regular expression. */
  regexes: boolean;
}

const C_LIKE: Syntax = { line: ["//"], blocks: true, quotes: `"'`, long: [], templates: false, regexes: false };
const HASH: Syntax = { line: ["#"], blocks: false, quotes: `"'`, long: [], templates: false, regexes: false };

const SYNTAXES: { readonly [L in Language]?: Syntax } = {
  javascript: { ...C_LIKE, templates: true, regexes: true },
  python: { ...HASH, long: ['"""', "'''"] },
  ruby: { ...HASH, regexes: true },
  php: { ...C_LIKE, line: ["//", "#"] },
  go: { ...C_LIKE, long: ["`"] },
  rust: { ...C_LIKE, quotes: '"' },
  java: { ...C_LIKE, long: ['"""'] },
  csharp: { ...C_LIKE, long: ['"""', '@"'] },
  c: C_LIKE,
  swift: { ...C_LIKE, long: ['"""'], quotes: '"' },
  dart: { ...C_LIKE, long: ['"""', "'''"] },
  elixir: { ...HASH, long: ['"""'] },
  perl: HASH,
  r: HASH,
  shell: HASH,
  powershell: HASH,
  config: HASH,
};

/** Where a line starts: in code, in a comment, in a long string, in a template. */
type Mode = { kind: "code"; braces: number } | { kind: "comment" } | { kind: "string"; end: string } | {
  kind: "template";
};

/**
 * Takes the lines of one piece of a file apart. A piece may start anywhere: where it cannot be told whether a line is in a
 * long string, the answer is `undefined`.
 */
export function splitLines(lines: readonly string[], language: Language): LineParts[] | undefined {
  const syntax = SYNTAXES[language];
  if (!syntax) return undefined;
  const modes: Mode[] = [{ kind: "code", braces: 0 }];
  if (startsInComment(lines, syntax)) modes.push({ kind: "comment" });
  else if (startsInTemplate(lines, syntax)) modes.push({ kind: "template" });
  const parts = lines.map((line) => new LineSplitter(line.slice(0, MAX_LINE_CHARS), syntax, modes).split());
  // A long string that is open at the end may be one that was open at the start.
  return modes.some(({ kind }) => kind === "string" || kind === "template") ? undefined : parts;
}

/** Whether the first backtick stands like one that closes a template: alone, or with no more than what ends a call. */
function startsInTemplate(lines: readonly string[], { templates }: Syntax): boolean {
  const first = templates ? lines.find((line) => line.includes("`")) : undefined;
  return first !== undefined && /^\s*`[\s,;)\]}.]*(?:trim\(\)[\s,;)]*)?$/.test(first);
}

/** Whether a comment is closed before one is opened, or the first line looks like the middle of one. */
function startsInComment(lines: readonly string[], { blocks }: Syntax): boolean {
  if (!blocks) return false;
  for (const line of lines) {
    const open = line.indexOf("/*");
    const close = line.indexOf("*/");
    if (close >= 0 && (open < 0 || close < open)) return true;
    if (open >= 0) return false;
  }
  return /^\s*\*\s/.test(lines[0] ?? "");
}

/** Characters that open nothing in any language. */
const PLAIN = /[^"'`/#{}@*-]*/y;

/** Splits one line. `modes` is the stack of what is open; it is left as the next line finds it. */
class LineSplitter {
  readonly #line: string;
  readonly #syntax: Syntax;
  readonly #modes: Mode[];
  #at = 0;
  #code = "";
  #comment = "";

  constructor(line: string, syntax: Syntax, modes: Mode[]) {
    this.#line = line;
    this.#syntax = syntax;
    this.#modes = modes;
  }

  split(): LineParts {
    while (this.#at < this.#line.length) {
      const mode = this.#modes.at(-1) ?? { kind: "code", braces: 0 };
      if (mode.kind === "comment") this.#readComment();
      else if (mode.kind === "string") this.#readLong(mode.end);
      else if (mode.kind === "template") this.#readTemplate();
      else this.#readCode(mode);
    }
    return { code: this.#code, comment: this.#comment };
  }

  /** Takes the next characters as code, comment or neither. */
  #take(length: number, as: "code" | "comment" | "string"): void {
    const text = this.#line.slice(this.#at, this.#at + length);
    this.#code += as === "code" ? text : " ".repeat(text.length);
    this.#comment += as === "comment" ? text : " ".repeat(text.length);
    this.#at += length;
  }

  #readComment(): void {
    const end = this.#line.indexOf("*/", this.#at);
    if (end >= 0) this.#modes.pop();
    this.#take(end < 0 ? this.#line.length - this.#at : end + 2 - this.#at, "comment");
  }

  #readLong(quote: string): void {
    const end = this.#line.indexOf(quote, this.#at);
    if (end < 0) return this.#take(this.#line.length - this.#at, "string");
    this.#take(end - this.#at, "string");
    this.#take(quote.length, "code");
    this.#modes.pop();
  }

  #readTemplate(): void {
    const { length } = /^(?:[^`$\\]|\\.?|\$(?!\{))*/.exec(this.#line.slice(this.#at))![0];
    this.#take(length, "string");
    if (this.#at >= this.#line.length) return;
    if (this.#line[this.#at] === "`") {
      this.#modes.pop();
      this.#take(1, "code");
    } else {
      this.#modes.push({ kind: "code", braces: 0 });
      this.#take(2, "code");
    }
  }

  #readCode(mode: Mode & { kind: "code" }): void {
    const rest = this.#line.slice(this.#at, this.#at + 3);
    const char = rest[0]!;
    const { line, blocks, quotes, long, templates, regexes } = this.#syntax;
    const opener = long.find((quote) => rest.startsWith(quote));
    if (blocks && rest.startsWith("/*")) {
      this.#modes.push({ kind: "comment" });
      this.#take(2, "comment");
    } else if (line.some((mark) => rest.startsWith(mark) && this.#opensComment(mark))) {
      this.#take(this.#line.length - this.#at, "comment");
    } else if (opener !== undefined) {
      this.#modes.push({ kind: "string", end: opener === '@"' ? '"' : opener });
      this.#take(opener.length, "code");
    } else if (templates && char === "`") {
      this.#modes.push({ kind: "template" });
      this.#take(1, "code");
    } else if (quotes.includes(char)) this.#readString(char);
    else if (regexes && char === "/" && this.#opensRegex()) this.#readRegex();
    else {
      this.#countBraces(mode, char);
      PLAIN.lastIndex = this.#at + 1;
      this.#take(1 + PLAIN.exec(this.#line)![0].length, "code");
    }
  }

  /** In a shell `#` opens a comment only behind a space; `$#` and `#{` do not. */
  #opensComment(mark: string): boolean {
    const before = this.#line[this.#at - 1];
    return mark !== "#" || before === undefined || /[\s;(){},]/.test(before);
  }

  /** `}` ends what `${` opened in a template. */
  #countBraces(mode: Mode & { kind: "code" }, char: string): void {
    if (char === "{") mode.braces++;
    else if (char === "}" && mode.braces > 0) mode.braces--;
    else if (char === "}" && this.#modes.at(-2)?.kind === "template") this.#modes.pop();
  }

  #readString(quote: string): void {
    let end = this.#at + 1;
    while (end < this.#line.length && this.#line[end] !== quote) end += this.#line[end] === "\\" ? 2 : 1;
    this.#take(1, "code");
    this.#take(Math.min(end, this.#line.length) - this.#at, "string");
    if (this.#at < this.#line.length) this.#take(1, "code");
  }

  /** A slash behind an operator or at the start opens a regular expression; behind a value it divides. */
  #opensRegex(): boolean {
    const before = this.#code.trimEnd();
    return /(?:^|[(,=:[!&|?{};+]|\b(?:return|typeof|case|in|of|when|if|and|or))$/.test(before.slice(-10)) &&
      /^\/(?:[^/\\[\s*]|\\.|\[)/.test(this.#line.slice(this.#at, this.#at + 3));
  }

  #readRegex(): void {
    const { length } = /^\/(?:[^/\\[]|\\.|\[(?:[^\]\\]|\\.)*\]?)*\/?/.exec(this.#line.slice(this.#at))![0];
    this.#take(length, "string");
  }
}
