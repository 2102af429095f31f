/**
 * octavo reviews a change in parts, with the chat model one already has.
 *
 * As a program (`deno run mod.ts`, `bun mod.ts`) it is the command line. As a library it has what the command line is made
 * of: sources, plan, review, formats. `diff.ts` alone is pure and needs nothing.
 *
 * @example Review the working tree of the current folder with a local model
 * ```ts
 * import { createFormatter, findModel, loadTemplates, openSource, review } from "./mod.ts";
 *
 * const env = {}; // what octavo may know of the environment
 * async function reviewTree(dir: string) {
 *   const stdin = () => { throw new Error("not needed"); };
 *   const source = await openSource({ kind: "tree" }, { dir, env, stdin });
 *   const model = await findModel({ model: "builtin", env });
 *   const format = await createFormatter("markdown");
 *   const options = { source, model, env, templates: loadTemplates(), plan: { maxDiffChars: 16_000 }, timeoutMs: 600_000 };
 *   for await (const event of review(options)) console.log(format(event));
 * }
 * ```
 *
 * @module
 */

export * from "./diff.ts";
export * from "./errors.ts";
export { chat, type ChatEvent, type ChatRequest, type Message, type StopReason } from "./chat.ts";
export { type Finding, mergeFindings, readFindings, type ReviewedPart, type Severity } from "./findings.ts";
export { type MaskedStream, Redactor } from "./secret_mask.ts";
export type { PlacedSecret, RedactedSecret, SecretRule } from "./secrets.ts";
export { planSource, type SourcePlan, type SourcePlanOptions } from "./plan.ts";
export {
  BUILTIN,
  contextWindow,
  findModel,
  type Model,
  type ModelSettings,
  type Protocol,
  type ProviderSettings,
} from "./providers.ts";
export type { Env } from "./paths.ts";
export type {
  PartStatus,
  PlannedPart,
  Report,
  ReportPart,
  ReportSummary,
  ReviewEvent,
  Section,
  Usage,
} from "./report.ts";
export { createFormatter, type Format, FORMATS, type Formatter, type FormatterOptions } from "./reports.ts";
export { type EarlierRun, review, type ReviewKeeper, type ReviewOptions, type ReviewState } from "./review.ts";
export type { AskOptions } from "./endpoint.ts";
export { openSource, type Source, type SourceContext, type SourceKind, type SourceRequest } from "./sources.ts";
export {
  loadTemplates,
  SHIPPED,
  type TemplateName,
  templateNames,
  type Templates,
  type TemplatesOptions,
} from "./templates.ts";
export { VERSION } from "./version.ts";

if (import.meta.main) await import("./main.ts");
