import { test } from "node:test";
import { Ajv } from "ajv";
import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { PROVIDER_FIELDS, resolveConfig } from "../config.ts";
import { UsageError } from "../errors.ts";
import { type Setting, SETTINGS } from "../settings.ts";
import { settingsSchema } from "../settings_schema.ts";

const validate = new Ajv({ allErrors: true }).compile(settingsSchema());
const inFile = SETTINGS.filter(({ file }) => file !== undefined);

/** Whether the settings file may hold this: no error, and no warning about a key. */
function isAccepted(user: Record<string, unknown>): boolean {
  try {
    return resolveConfig({ flags: {}, env: {}, user }).warnings.length === 0;
  } catch (error) {
    if (error instanceof UsageError) return false;
    throw error;
  }
}

/** Values that a setting may take, and such as it may not. */
function valueOf({ kind }: Setting): fc.Arbitrary<unknown> {
  const anything = fc.oneof(
    fc.string(),
    fc.integer(),
    fc.boolean(),
    fc.array(fc.string()),
    fc.constant(null),
    fc.double(),
  );
  switch (kind.type) {
    case "number": {
      const near = fc.integer({ min: kind.min - 2, max: Math.min(kind.max + 2, 2 ** 31 - 1) });
      return fc.oneof(near, near.map(String), near.map((n) => ` ${n}\n`), fc.constant(kind.word ?? "auto"), anything);
    }
    case "choice":
      return fc.oneof(fc.constantFrom(...kind.choices), anything);
    case "switch":
      return fc.oneof(
        fc.boolean(),
        fc.constantFrom("1", "0", "yes", "no", "on", "off", "true", "false", "Yes", ""),
        anything,
      );
    case "list":
      return fc.oneof(fc.array(fc.string()), fc.string(), anything);
    case "text":
      return fc.oneof(fc.string(), anything);
  }
}

const good = {
  baseUrl: fc.string(),
  apiKey: fc.string(),
  apiKeyCommand: fc.array(fc.string()),
  headers: fc.dictionary(fc.string(), fc.string()),
  contextWindow: fc.integer({ min: 0, max: 100_000 }),
  protocol: fc.constantFrom("openai", "ollama", "anthropic"),
};
const bad = {
  baseUrl: fc.integer(),
  apiKey: fc.constant(null),
  apiKeyCommand: fc.string(),
  headers: fc.dictionary(fc.string(), fc.integer()),
  contextWindow: fc.oneof(fc.integer(), fc.double(), fc.string()),
  protocol: fc.string(),
  unknown: fc.string(),
};
const records = { requiredKeys: [] };
const provider = fc.oneof(
  fc.record(good, records),
  fc.tuple(fc.record(good, records), fc.record(bad, records)).map(([one, other]) => ({ ...one, ...other })),
);

/** Only what the file may hold under a key. */
function accepted(key: string, values: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  return values.filter((value) => isAccepted({ [key]: value }));
}

const file = fc.record({
  ...Object.fromEntries(inFile.map((setting) => [setting.key, accepted(setting.key, valueOf(setting))])),
  providers: accepted("providers", fc.dictionary(fc.string(), provider, { maxKeys: 2 })),
  $schema: fc.string(),
}, { requiredKeys: [] });

test("the schema accepts whatever the settings file may hold", () => {
  fc.assert(fc.property(file, (user) => {
    assert(isAccepted(user));
    assert(validate(user), `${JSON.stringify(user)}: ${JSON.stringify(validate.errors)}`);
  }));
});

test("the schema accepts the providers that the settings file may hold, and refuses others", () => {
  let [taken, refused] = [0, 0];
  fc.assert(
    fc.property(provider, (one) => {
      const user = { providers: { one } };
      assertEquals(validate(user), isAccepted(user), JSON.stringify(user));
      if (isAccepted(user)) taken++;
      else refused++;
    }),
    { numRuns: 500 },
  );
  assert(taken > 10 && refused > 10, `${taken} taken, ${refused} refused`);
});

for (const setting of inFile) {
  test(`the schema accepts what ${setting.key} takes, and refuses what it does not`, () => {
    let [accepted, refused] = [0, 0];
    fc.assert(fc.property(valueOf(setting), (value) => {
      const user = { [setting.key]: value };
      if (isAccepted(user)) accepted++;
      else refused++;
      if (isAccepted(user)) assert(validate(user), JSON.stringify(user));
      // of a number in a text it knows the form, not the size
      else if (!(setting.kind.type === "number" && typeof value === "string")) {
        assert(!validate(user), JSON.stringify(user));
      }
    }));
    assert(accepted > 0 && refused > 0);
  });
}

test("the schema refuses unknown keys, and providers that are not as they should be", () => {
  for (
    const user of [
      { modle: "x" },
      { providers: { a: { modle: "x" } } },
      { providers: { a: { apiKeyCommand: [] } } },
      {
        providers: { a: { contextWindow: 0 } },
      },
      { providers: [] },
      [],
    ]
  ) assert(!validate(user), JSON.stringify(user));
});

test("the schema has every setting that may stand in the file, with its help, and every field of a provider", () => {
  const { properties } = settingsSchema() as { properties: Record<string, { description: string }> };
  for (const { key, help } of inFile) assertEquals(properties[key]?.description, help);
  assertEquals(Object.keys(properties).length, inFile.length + 2);
  const { additionalProperties } = properties.providers as unknown as { additionalProperties: { properties: object } };
  assertEquals(Object.keys(additionalProperties.properties).toSorted(), PROVIDER_FIELDS.toSorted());
});
