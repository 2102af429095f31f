/**
 * The prompts: shipped ones, the user's own in their place, rendered with Handlebars.
 *
 * @module
 */

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { UsageError } from "./errors.ts";
import review from "./templates/review.md" with { type: "text" };
import reviewSummary from "./templates/review-summary.md" with { type: "text" };

/** The templates that ship with octavo, by name. */
export const SHIPPED = { "review": review, "review-summary": reviewSummary } as const;

/** The name of a template. */
export type TemplateName = keyof typeof SHIPPED;

/** A variable of a template: a plain value, or a list whose items have fields (none: the item itself is the value). */
type Variable = "value" | { readonly fields: readonly string[] };

/** What each template may name. Anything else in a template of the user's is a mistake, and said. */
export const VARIABLES: { readonly [N in TemplateName]: { readonly [name: string]: Variable } } = {
  "review": {
    title: "value",
    part: "value",
    parts: "value",
    multipart: "value",
    files: { fields: [] },
    moreFiles: "value",
    shown: { fields: ["path", "trimmed"] },
    trimmedFiles: { fields: [] },
    known: { fields: [] },
    fence: "value",
    diff: "value",
  },
  "review-summary": {
    title: "value",
    parts: "value",
    reviews: { fields: ["number", "files", "text"] },
    findings: { fields: ["severity", "icon", "path", "line", "title", "grounded"] },
    coverage: "value",
  },
};

/** Templates ready to be rendered. */
export interface Templates {
  /** Renders a template; nothing is escaped, since prompts are not HTML. */
  render(name: TemplateName, values: Readonly<Record<string, unknown>>): string;
  /** Where each template comes from: the user's file, or `undefined` for the shipped one. */
  readonly files: { readonly [N in TemplateName]: string | undefined };
}

/** Where the user's own templates are looked for. */
export interface TemplatesOptions {
  /** Folder of the user's own templates, each named like the shipped one (`review.md`). @default only the shipped ones */
  dir?: string | undefined;
}

/**
 * Loads the templates, the user's own in place of the shipped ones.
 *
 * @throws {UsageError} for a template that has a syntax error or names a variable that is not there, with its line.
 */
export async function loadTemplates({ dir }: TemplatesOptions = {}): Promise<Templates> {
  const { default: Handlebars } = await import("handlebars");
  const renderers = new Map<string, (values: Readonly<Record<string, unknown>>) => string>();
  const files: { [N in TemplateName]: string | undefined } = { "review": undefined, "review-summary": undefined };
  for (const name of templateNames()) {
    const own = dir === undefined ? undefined : await readOwnTemplate(dir, name);
    if (own !== undefined && dir !== undefined) files[name] = templateFile(dir, name);
    checkTemplate(name, own ?? SHIPPED[name], files[name] ?? `shipped template "${name}"`, Handlebars.parse);
    renderers.set(name, Handlebars.compile(own ?? SHIPPED[name], { noEscape: true }));
  }
  return { files, render: (name, values) => renderers.get(name)!(values) };
}

/** The file of the user's own template, whether it is there or not. */
export function templateFile(dir: string, name: TemplateName): string {
  return join(dir, `${name}.md`);
}

/**
 * The user's own template as it is, right or wrong; `undefined` if there is none.
 *
 * @throws {UsageError} if it cannot be read.
 */
export async function readOwnTemplate(dir: string, name: TemplateName): Promise<string | undefined> {
  return await readIfThere(templateFile(dir, name));
}

/**
 * Checks a template of the user's.
 *
 * @param file What it is called in a message.
 * @throws {UsageError} if it has a syntax error or names a variable that is not there, with its line.
 */
export async function validateTemplate(name: TemplateName, text: string, file: string): Promise<void> {
  const { default: Handlebars } = await import("handlebars");
  checkTemplate(name, text, file, Handlebars.parse);
}

/** The names of all templates. */
export function templateNames(): TemplateName[] {
  return Object.keys(SHIPPED) as TemplateName[];
}

async function readIfThere(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw new UsageError(`Cannot read the template "${file}"`, { cause: error });
  }
}

/** A node of Handlebars' syntax tree, as far as the names in it are concerned. */
interface Node {
  type: string;
  loc?: { start: { line: number } };
  body?: Node[];
  path?: Node;
  params?: Node[];
  hash?: { pairs: { value: Node }[] };
  program?: Node | null;
  inverse?: Node | null;
  original?: string;
  parts?: string[];
  data?: boolean;
  depth?: number;
}

const BLOCKS = ["if", "unless", "each", "with"];

function checkTemplate(name: TemplateName, text: string, file: string, parse: (text: string) => unknown): void {
  let tree: Node;
  try {
    tree = parse(text) as Node;
  } catch (error) {
    const said = error instanceof Error ? error.message : String(error);
    const line = /line (\d+)/.exec(said)?.[1];
    throw new UsageError(`The template ${file}${line ? `:${line}` : ""} has a syntax error`, {
      hint: said.split("\n")[0],
      cause: error,
    });
  }
  checkNodes([tree], [VARIABLES[name]], file);
}

type Scope = { readonly [name: string]: Variable };

/** `scopes` are the names that can be used, innermost block last. */
function checkNodes(nodes: readonly Node[], scopes: readonly Scope[], file: string): void {
  for (const node of nodes) {
    if (node.type === "Program") checkNodes(node.body ?? [], scopes, file);
    else if (node.type === "MustacheStatement") checkMustache(node, scopes, file);
    else if (node.type === "BlockStatement") checkBlock(node, scopes, file);
    else if (node.type !== "ContentStatement" && node.type !== "CommentStatement") {
      throw notThere(`"${node.type}" is not used in templates`, node, scopes, file);
    }
  }
}

function checkMustache(node: Node, scopes: readonly Scope[], file: string): void {
  if (node.params?.length || node.hash) throw notThere(`No helper "${node.path?.original}"`, node, scopes, file);
  if (node.path) checkPath(node.path, scopes, file);
}

function checkBlock(node: Node, scopes: readonly Scope[], file: string): void {
  const block = node.path?.original ?? "";
  const param = node.params?.[0];
  if (!BLOCKS.includes(block) || !param) throw notThere(`No block "${block}"`, node, scopes, file);
  const variable = checkPath(param, scopes, file);
  const inner = block === "each" && typeof variable === "object"
    ? [...scopes, Object.fromEntries(variable.fields.map((field) => [field, "value" as const]))]
    : scopes;
  if (node.program) checkNodes([node.program], inner, file);
  if (node.inverse) checkNodes([node.inverse], scopes, file);
}

function checkPath(path: Node, scopes: readonly Scope[], file: string): Variable | undefined {
  if (path.type !== "PathExpression" || path.data) return undefined; // a literal, or @index, @first …
  const [name, ...rest] = path.parts ?? [];
  if (name === undefined) return undefined; // {{this}}
  const scope = scopes[scopes.length - 1 - (path.depth ?? 0)];
  const variable = scope && Object.hasOwn(scope, name) ? scope[name] : undefined;
  const isLength = rest.length === 1 && rest[0] === "length" && typeof variable === "object";
  if (variable === undefined || (rest.length > 0 && !isLength)) {
    throw notThere(`No variable "${path.original}"`, path, scopes, file);
  }
  return variable;
}

function notThere(message: string, node: Node, scopes: readonly Scope[], file: string): UsageError {
  const names = Object.keys(scopes[scopes.length - 1] ?? {}).join(", ");
  return new UsageError(`${message} in the template ${file}:${node.loc?.start.line ?? 1}`, {
    hint: names ? `there are: ${names}` : "in this block there is only {{this}}",
  });
}
