/**
 * Where a remark says it is: paths as models write them (`a/x.ts`, `x.ts:40`, `x.ts#L10-L12`, "line 40 of x.ts"), matched
 * with the paths of a change.
 *
 * @module
 */

/** A place as it was read. */
export interface Place {
  /** The path as it was written. */
  said?: string;
  /** The path of the change that it means. */
  path?: string;
  /** First line, from 1. */
  line?: number;
  /** Last line, where there are several. */
  endLine?: number;
}

/** A place at the start of a text, and what stands behind it. */
export interface PlaceAtStart {
  /** What was read. */
  place: Place;
  /** The text behind it. */
  rest: string;
}

/** A character for private use: stands for `**` in texts that were prepared by {@linkcode plainInline}. */
export const BOLD = "\ue000";

const LINE_WORDS = "lines?|ln\\.?|zeilen?|lignes?|l[ií]neas?|linhas?|righe?|riga|строк[аиуе]|줄|L(?=\\d)";
const RANGE = "(?:\\s*(?:[-–—~～至到]|to|bis|à|through|until)\\s*L?(\\d{1,7}))?";
const FURTHER = "(?:\\s*(?:,|&|and|und|et|y|e|и)\\s*L?\\d{1,7}(?![\\w.]))*";
/** "line 40", "lines 40-42", "L40", "строка 40"; "第40行", "40行目", "40번째 줄". */
const LINE_IN_WORDS = new RegExp(
  `(?:(?<![\\p{L}\\d])(?:${LINE_WORDS})\\s*[:#]?\\s*(\\d{1,7})${RANGE}${FURTHER}(?!\\d))|` +
    `(?:第?\\s*(\\d{1,7})(?:\\s*[-–~～至到]\\s*(\\d{1,7}))?\\s*(?:行目?|번째\\s?줄|행))`,
  "iu",
);
const LINE_AT_START = new RegExp(`^(?:${LINE_IN_WORDS.source})`, "iu");
/** `16-18`: in front of a remark. */
const BARE_LINES = /^`?(\d{1,7})[-–—](\d{1,7})`?(?=\s*[:：])/;
/** `:40`, `:40-42`, `:40:7`, `:L40`, `#L10-L12`, `#L10`; `(40)`, `(L40-42)`, `[40]`, `@ 40`. */
const LINE_BEHIND_PATH =
  /^(?::L?|#L?)(\d{1,7})(?:(?::\d{1,5})?[-–—]L?(\d{1,7})|:\d{1,5})?(?![\d.]*\w)|^\s?(?:[([]L?(\d{1,7})(?:[-–—]L?(\d{1,7}))?[)\]]|@\s?L?(\d{1,7})(?!\w))/;
const WORDS_BEFORE_PLACE =
  /^(?:(?:in|at|on|of|see|file|path|location|the|from|datei|fichier|archivo|arquivo|файл|dans|en|em|в|au|à|à la|a la|na|der|im|auf|文件|ファイル)\s*[:：]?\s*)+(?=\S)/iu;

/** The paths of a change, to be found by what models write for them. */
export class PathIndex {
  /** The only path of the change, if there is one. */
  readonly only: string | undefined;
  readonly #exact = new Map<string, string>();
  /** From a suffix, such as a basename, to its path; `null` for several. */
  readonly #suffixes = new Map<string, string | null>();
  /** Paths that no token can hold, since they have spaces, brackets or the like. */
  readonly #odd: { name: string; path: string }[] = [];

  /** Takes the paths of a change, with the old ones of renamed files. */
  constructor(files: readonly { path: string; oldPath?: string }[]) {
    this.only = files.length === 1 ? files[0]!.path : undefined;
    for (const { path, oldPath } of files) {
      if (oldPath !== undefined && !this.#exact.has(oldPath)) this.#exact.set(oldPath, path);
      this.#exact.set(path, path);
    }
    for (const [name, path] of this.#exact) {
      if (!/^[\w./@+~-]+$/.test(name)) this.#odd.push({ name, path });
      for (let at = name.indexOf("/"); at >= 0; at = name.indexOf("/", at + 1)) {
        this.#addSuffix(name.slice(at + 1), path);
      }
    }
  }

  #addSuffix(suffix: string, path: string): void {
    const other = this.#suffixes.get(suffix);
    this.#suffixes.set(suffix, other === undefined || other === path ? path : null);
  }

  /** The path that a written one means: itself, without `a/`, `b/`, `./` or `/` in front, or as the end of one path only. */
  find(said: string): string | undefined {
    const plain = said.replaceAll("\\", "").replace(/^\.?\/+/, "");
    const bare = /^[ab]\//.test(plain) ? plain.slice(2) : undefined;
    return this.#exact.get(plain) ?? (bare === undefined ? undefined : this.#exact.get(bare)) ??
      this.#suffixes.get(plain) ?? (bare === undefined ? undefined : this.#suffixes.get(bare) ?? undefined);
  }

  /** Whether several paths end like this. */
  isAmbiguous(said: string): boolean {
    return this.#suffixes.get(said.replace(/^\.?\/+/, "")) === null;
  }

  /** The odd path that a text starts with, and its length. */
  oddAtStart(text: string): { path: string; length: number } | undefined {
    const prefix = /^(?:\.?\/|[ab]\/)?/.exec(text)![0].length;
    for (const { name, path } of this.#odd) {
      if (text.startsWith(name)) return { path, length: name.length };
      if (prefix > 0 && text.startsWith(name, prefix)) return { path, length: prefix + name.length };
    }
    return undefined;
  }

  /** Where in a text an odd path stands. */
  oddIn(text: string): number {
    const at = this.#odd.map(({ name }) => text.indexOf(name)).filter((index) => index >= 0);
    return at.length === 0 ? -1 : Math.min(...at);
  }
}

/** Reads the place that a text starts with: a path, a path with lines, or lines. */
export function placeAtStart(text: string, paths: PathIndex): PlaceAtStart | undefined {
  const words = WORDS_BEFORE_PLACE.exec(text)?.[0].length ?? 0;
  return readPlace(text, paths, false) ?? (words > 0 ? readPlace(text.slice(words), paths, true) : undefined);
}

function readPlace(text: string, paths: PathIndex, afterWord: boolean): PlaceAtStart | undefined {
  const line = LINE_AT_START.exec(text) ?? BARE_LINES.exec(text);
  if (line) return withPathBehind(linesOf(line), text.slice(line[0].length), paths);
  const named = readPath(text, paths, afterWord);
  if (!named) return undefined;
  const { rest, ...place } = named;
  if (place.line !== undefined) return { place, rest };
  // "x.ts, line 40", "x.ts (line 40)", "x.ts 第40行", "x.ts at line 40", "x.ts | 40"
  const between = /^[\s,:：;(\ue000–—→-]*(?:(?:at|on|in|à la|a la|na|auf|в)\s+)?/iu.exec(rest)![0].length;
  const behind = LINE_AT_START.exec(rest.slice(between));
  if (!behind) return { place, rest };
  return { place: { ...place, ...linesOf(behind) }, rest: rest.slice(between + behind[0].length).replace(/^\)/, "") };
}

/** "line 9 of src/ring.c", "line 9 in `src/ring.c`". */
function withPathBehind(lines: Place, rest: string, paths: PathIndex): PlaceAtStart {
  const between = /^\s*(?:of|in|von|de|du|of file|в|файла)\s+(?:file\s+)?/iu.exec(rest);
  const named = between ? readPath(rest.slice(between[0].length), paths, true) : undefined;
  if (!named) return { place: lines, rest };
  return {
    place: { ...lines, ...(named.said && { said: named.said }), ...(named.path && { path: named.path }) },
    rest: named.rest,
  };
}

/** Lines from a match of {@linkcode LINE_IN_WORDS}. */
function linesOf(match: RegExpExecArray): Place {
  return toLines(match[1] ?? match[3], match[2] ?? match[4]);
}

function toLines(first: string | undefined, last: string | undefined): Place {
  const line = Number(first);
  const endLine = last === undefined ? line : Number(last);
  return endLine > line ? { line, endLine } : { line };
}

function readPath(text: string, paths: PathIndex, afterWord: boolean): (Place & { rest: string }) | undefined {
  const open = /^[`"'“‘\ue000*([]*/.exec(text)![0];
  const inner = text.slice(open.length);
  const odd = paths.oddAtStart(inner);
  const name = odd
    ? inner.slice(0, odd.length)
    : /^[^\s`"'“”‘’,;:：#()<>|[\]\ue000*]*/.exec(inner)![0].replace(/[.!?]+$/, "");
  const path = odd?.path ?? paths.find(name);
  let rest = inner.slice(name.length);
  const close = /^[`"'”’\ue000*]*/.exec(rest)![0];
  const numbers = LINE_BEHIND_PATH.exec(rest) ?? LINE_BEHIND_PATH.exec(rest.slice(close.length));
  const marked = open !== "" || numbers !== null || afterWord;
  if (path === undefined ? !paths.isAmbiguous(name) && !looksLikePath(name, marked) : !isDistinct(name, marked)) {
    return undefined;
  }
  if (numbers) rest = rest.slice(rest.indexOf(numbers[0]) + numbers[0].length);
  rest = rest.replace(/^[`"'”’\ue000*]+/, "");
  if (/[([]/.test(open)) rest = rest.replace(/^[)\]]/, "");
  const lines = numbers ? toLines(numbers[1] ?? numbers[3] ?? numbers[5], numbers[2] ?? numbers[4]) : {};
  return { said: name, ...(path !== undefined && { path }), ...lines, rest };
}

/** A word such as "index" may be the end of a path by chance. */
function isDistinct(name: string, marked: boolean): boolean {
  return /[./]/.test(name) || (marked && name.length > 2) || /^[A-Z][a-z]+file$|^[A-Z]{4,}$/.test(name);
}

const EXTENSIONS =
  /\.(?:[cm]?[jt]sx?|py|pyi|go|rs|java|kt|kts|scala|groovy|gradle|rb|php|c|h|cc|cpp|cxx|hpp|hh|m|mm|cs|fs|swift|dart|lua|pl|pm|r|jl|ex|exs|erl|hs|elm|clj|ml|vue|svelte|astro|html?|css|scss|less|sql|sh|bash|zsh|ps1|bat|ya?ml|json|toml|ini|cfg|conf|xml|md|mdx|rst|txt|proto|graphql|tf|nix|lock|env|properties|vb|zig|nim|sol)$/i;
const PRODUCTS = /^(?:node|next|nuxt|vue|react|express|three|d3|angular|backbone|ember|deno|bun)\.js$|^asp\.net$/i;

/** Whether a token that is no path of the change was meant as one. */
function looksLikePath(name: string, marked: boolean): boolean {
  if (!EXTENSIONS.test(name) || PRODUCTS.test(name) || name.includes("://")) return false;
  return name.includes("/") || marked;
}

/** The first place anywhere in a text, one with lines before one without. */
export function placeIn(text: string, paths: PathIndex): Place | undefined {
  let found: Place | undefined;
  const lines = LINE_IN_WORDS.exec(text);
  const starts = [...text.matchAll(/(?:^|[\s`"'“‘(\ue000])(?=[^\s`"'“‘(\ue000]*[./])/g)].map((
    { index, 0: { length } },
  ) => index + length);
  const odd = paths.oddIn(text);
  if (odd >= 0) starts.unshift(odd);
  for (const start of starts.slice(0, 60)) {
    const place = readPlace(text.slice(start), paths, false)?.place;
    if (place?.path === undefined) continue;
    if (place.line !== undefined) return place;
    found ??= place;
  }
  if (!lines) return found;
  return { ...found, ...linesOf(lines) };
}
