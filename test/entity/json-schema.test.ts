import { describe, expect, it } from "vitest";
import {
  type AnyField,
  bool,
  datetime,
  email,
  enums,
  float,
  int,
  json,
  jsonSchemaOf,
  string,
  text,
} from "../../src/entity/index.ts";

const schemaOf = ({ definition }: AnyField) => jsonSchemaOf(definition.kind, definition);

describe("the JSON schema of a field", () => {
  it.each([
    ["a string", string, { type: "string", maxLength: 255 }],
    ["a string with limits", string.trim().min(2).max(9), { type: "string", minLength: 2, maxLength: 9 }],
    ["a string of one length", string.length(4), { type: "string", minLength: 4, maxLength: 4 }],
    ["a URL", string.url(), { type: "string", format: "uri", maxLength: 255 }],
    ["a pattern", string.regex(/^\w+$/), { type: "string", pattern: "^\\w+$", maxLength: 255 }],
    [
      "two patterns",
      string.regex(/^a/).regex(/z$/),
      { type: "string", allOf: [{ pattern: "^a" }, { pattern: "z$" }], maxLength: 255 },
    ],
    ["a text", text, { type: "string", maxLength: 1_048_576 }],
    ["an e-mail address", email, { type: "string", format: "email", maxLength: 255 }],
    ["a word", enums("a", "b"), { type: "string", enum: ["a", "b"], maxLength: 255 }],
    ["a whole number", int.min(1), { type: "integer", minimum: 1, maximum: 2_147_483_647 }],
    ["a number", float.positive().max(5), { type: "number", exclusiveMinimum: 0, maximum: 5 }],
    ["a truth value", bool, { type: "boolean" }],
    ["a moment", datetime, { type: "string", format: "date-time" }],
    ["JSON", json, {}],
    ["a password", string.password(), { type: "string", format: "password", minLength: 8, maxLength: 1_024 }],
    ["an encrypted number", int.encrypted(), { type: "integer", minimum: -2_147_483_648, maximum: 2_147_483_647 }],
  ] as const)("of %s describes the accepted values", (_title, field, schema) => {
    expect(schemaOf(field)).toEqual(schema);
  });

  const escaped = "\\'a"; // a needless escape, which Unicode mode refuses
  it.each([/^a/i, new RegExp(escaped), /^a/s])("omits %s, which has another meaning there", (regex) => {
    expect(schemaOf(string.regex(regex))).toEqual({ type: "string", maxLength: 255 });
  });

  it("of a kind alone has no limits of a field", () => {
    expect(jsonSchemaOf(string.min(3).definition.kind)).toEqual({ type: "string", maxLength: 255 });
  });
});
