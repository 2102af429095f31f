/**
 * The JSON schema of the user's settings file, made from the table of settings.
 *
 * @module
 */

import { type Setting, SETTINGS } from "./settings.ts";

/** A JSON schema, or a part of one. */
export type Schema = { readonly [keyword: string]: unknown };

/** What a switch can be written as. */
const SWITCH_WORDS = ["1", "true", "yes", "on", "0", "false", "no", "off"];

/** The schema of `config.json`, in the dialect that editors know best (draft 7). */
export function settingsSchema(): Schema {
  const settings = SETTINGS.filter(({ file }) => file !== undefined);
  return {
    $schema: "http://json-schema.org/draft-07/schema#",
    title: "Settings of octavo",
    type: "object",
    properties: {
      $schema: { type: "string" },
      ...Object.fromEntries(
        settings.map((setting) => [setting.key, { description: setting.help, ...valueOf(setting) }]),
      ),
      providers: {
        description: "endpoints of your own, by the name that stands in front of a model's: PROVIDER/NAME",
        type: "object",
        additionalProperties: PROVIDER,
      },
    },
    additionalProperties: false,
  };
}

const TEXT: Schema = { type: "string", minLength: 1 };

/** What a setting takes: as JSON, or as the text that the command line would have. */
function valueOf({ kind }: Setting): Schema {
  switch (kind.type) {
    case "text":
      return TEXT;
    case "list":
      return { anyOf: [{ type: "array", items: TEXT }, { type: "string" }] };
    case "choice":
      return { enum: kind.choices };
    case "switch":
      return { anyOf: [{ type: "boolean" }, { enum: SWITCH_WORDS }] };
    case "number": {
      const number = { type: "integer", minimum: kind.min, maximum: kind.max };
      const text = { type: "string", pattern: "^\\s*\\d+\\s*$" };
      return { anyOf: [number, ...(kind.word === undefined ? [] : [{ const: kind.word }]), text] };
    }
  }
}

/** One of the `providers`. */
const PROVIDER: Schema = {
  type: "object",
  properties: {
    baseUrl: { description: "its address, such as https://llm.example.org/v1", type: "string" },
    apiKey: { description: "its key; better: apiKeyCommand", type: "string" },
    apiKeyCommand: {
      description: "a program and its arguments; the first line it prints is the key",
      type: "array",
      items: { type: "string" },
      minItems: 1,
    },
    headers: { description: "further headers", type: "object", additionalProperties: { type: "string" } },
    contextWindow: { description: "tokens", type: "integer", minimum: 1 },
    protocol: { description: "how it is spoken to (default: openai)", enum: ["openai", "ollama", "anthropic"] },
  },
  additionalProperties: false,
};
