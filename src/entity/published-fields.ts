import type { FieldDefinition } from "./kinds/field-definition.ts";

type Fields = Readonly<Record<string, FieldDefinition>>;

/**
 * Fields as anyone may inspect them. A protected field's literal default is left out, because it is one of its values.
 */
export function publishedFields(fields: Fields): Fields {
  return Object.freeze(Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, published(field)])));
}

function published(field: FieldDefinition): FieldDefinition {
  const isProtected = field.omit || field.password || field.encrypted || field.readable;
  if (!isProtected || field.default === undefined || "make" in field.default) return field;
  const { default: _, ...rest } = field;
  return Object.freeze(rest);
}
