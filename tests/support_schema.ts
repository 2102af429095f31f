/** Checks a value against a JSON schema. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv, type SchemaObject } from "ajv";
import { root } from "./support.ts";

/** What is wrong with a value, or nothing. */
export function violations(schema: SchemaObject, value: unknown): string[] {
  const ajv = new Ajv({
    allErrors: true,
    strict: false,
    unicodeRegExp: false, // as JSON Schema has it: ECMA-262 without flags
    formats: {
      uri: (text: string) => URL.canParse(text),
      "uri-reference": /^(?:[\w\-.~!$&'()*+,;=:@/?#[\]]|%[\dA-F]{2})*$/,
      "date-time": (text: string) => !Number.isNaN(Date.parse(text)),
    },
  });
  const validate = ajv.compile(schema);
  validate(value);
  return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
}

/** The schema of SARIF 2.1.0. It is written in draft 4, of which it uses nothing that later drafts read differently but `id`. */
export function sarifSchema(): SchemaObject {
  const text = readFileSync(join(root, "tests/fixtures/schemas/sarif-2.1.0-rtm.5.json"), "utf8");
  const { $schema: _, id, ...schema } = JSON.parse(text);
  return { ...schema, $id: id };
}
