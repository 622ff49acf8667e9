import { type ColumnDefinition, type JsonSchema, jsonSchemaOf } from "../../entity/index.ts";

const BY_FORMAT: Readonly<Record<string, unknown>> = {
  email: "ann@example.com",
  uri: "https://example.com",
  "date-time": "2026-01-31T12:00:00.000Z",
  date: "2026-01-31",
  time: "12:00:00",
  uuid: "01890a5d-ac96-774b-bcce-b302099a8057",
};

/**
 * An example body for creating a record: values of the required columns, and of fields with an example. Ids of other
 * records have to be filled in.
 * @param isNeeded whether a record cannot be created without a column
 */
export function exampleRecord(
  columns: readonly ColumnDefinition[],
  isNeeded: (column: ColumnDefinition) => boolean,
): Readonly<Record<string, unknown>> {
  const entries = columns.flatMap((column) => {
    const { name, kind, field } = column;
    if (field?.example !== undefined) return [[name, kind.toWire?.(field.example) ?? field.example] as const];
    return isNeeded(column) ? [[name, exampleOf(jsonSchemaOf(kind, field), name)] as const] : [];
  });
  return Object.fromEntries(entries);
}

function exampleOf(schema: JsonSchema, name: string): unknown {
  const { type, format, enum: words, const: only, examples } = schema;
  if (Array.isArray(examples) && examples.length > 0) return examples[0];
  if (only !== undefined) return only;
  if (Array.isArray(words)) return words[0];
  switch (type) {
    case "integer":
    case "number":
      return numberIn(schema);
    case "boolean":
      return true;
    case "array":
      return [];
    case "object":
      return {};
    default:
      return BY_FORMAT[String(format)] ?? textIn(schema, name);
  }
}

function numberIn({ minimum, exclusiveMinimum, maximum = Number.POSITIVE_INFINITY }: JsonSchema): number {
  const least = typeof exclusiveMinimum === "number" ? exclusiveMinimum + 1 : ((minimum as number | undefined) ?? 1);
  return Math.min(Math.max(least, 1), maximum as number);
}

/**
 * The name of the field, adjusted to its length limits. For a field with a pattern, one of a few texts that matches, if
 * any does.
 */
function textIn({ minLength = 1, maxLength = 80, pattern }: JsonSchema, name: string): string {
  const fit = (text: string): string => text.padEnd(minLength as number, "-").slice(0, maxLength as number);
  const texts = [name, name.toLowerCase(), name.toUpperCase(), "1", "1.00"].map(fit);
  const regex = pattern === undefined ? undefined : new RegExp(String(pattern), "u");
  return texts.find((text) => regex?.test(text) ?? true) ?? (texts[0] as string);
}
