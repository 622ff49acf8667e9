import type { FieldDefinition } from "./kinds/field-definition.ts";

type Fields = Readonly<Record<string, FieldDefinition>>;

/** Fields as anybody may inspect them: a literal default of a protected one is a value of it, and is left out. */
export function publishedFields(fields: Fields): Fields {
  return Object.freeze(Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, published(field)])));
}

function published(field: FieldDefinition): FieldDefinition {
  const isProtected = field.omit || field.password || field.encrypted || field.readable;
  if (!isProtected || field.default === undefined || "make" in field.default) return field;
  const { default: _, ...rest } = field;
  return Object.freeze(rest);
}
