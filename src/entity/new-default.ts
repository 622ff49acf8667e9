import type { FieldDefinition } from "./kinds/field-definition.ts";

/**
 * A field's default for one new record: made by its function, or copied so that records never share an object;
 * undefined when the field has none.
 */
export function newDefault({ default: given }: Pick<FieldDefinition, "default">): unknown {
  if (given === undefined) return undefined;
  if ("make" in given) return given.make();
  const { value } = given;
  return typeof value === "object" && value !== null ? structuredClone(value) : value;
}
