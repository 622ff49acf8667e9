import * as z from "zod";
import { type FieldDefinition, type FieldKind, plainField } from "./kinds/kind.ts";

/** A JSON Schema of draft 2020-12, the version that OpenAPI 3.1 uses. */
export type JsonSchema = Readonly<Record<string, unknown>>;

const made = new WeakMap<FieldDefinition | FieldKind, JsonSchema>();

/**
 * The JSON Schema of one value in its JSON form, derived from the kind's zod schema.
 * @param field the field whose limits and formats apply; without it, any value of the kind
 */
export function jsonSchemaOf(kind: FieldKind, field?: FieldDefinition): JsonSchema {
  const known = made.get(field ?? kind);
  if (known !== undefined) return known;
  // Describes the input, not the parsed value. Checks without a JSON Schema keyword are omitted.
  const { $schema: _, ...schema } = z.toJSONSchema(kind.schema(field ?? plainField(kind)), {
    io: "input",
    unrepresentable: "any",
  });
  const said = Object.entries(schema).filter(([, value]) => value !== undefined);
  const frozen: JsonSchema = Object.freeze(Object.fromEntries(said));
  made.set(field ?? kind, frozen);
  return frozen;
}
