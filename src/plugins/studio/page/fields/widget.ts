import type { FieldDescription } from "../../app-document.ts";

/** How a field is shown and edited. */
export type Widget =
  | "text"
  | "long"
  | "password"
  | "number"
  | "exact"
  | "bool"
  | "choice"
  | "datetime"
  | "date"
  | "time"
  | "json";

const BY_KIND: Readonly<Record<string, Widget>> = {
  text: "long",
  int: "number",
  float: "number",
  bigint: "exact",
  decimal: "exact",
  bool: "bool",
  datetime: "datetime",
  date: "date",
  time: "time",
  json: "json",
};

const BY_TYPE: Readonly<Record<string, Widget>> = {
  integer: "number",
  number: "number",
  boolean: "bool",
  object: "json",
  array: "json",
};

/** The widget of a field: from its kind, or from its schema when it has no known kind. */
export function widgetOf({ kind, schema, isPassword }: FieldDescription): Widget {
  if (isPassword === true) return "password";
  if (choicesOf(schema).length > 0) return "choice";
  const known = kind === undefined ? undefined : BY_KIND[kind];
  if (known !== undefined) return known;
  if (schema.format === "date-time") return "datetime";
  if (kind === undefined && Object.keys(schema).length === 0) return "json";
  return BY_TYPE[String(schema.type)] ?? "text";
}

/** The values that a schema lists. */
export function choicesOf(schema: FieldDescription["schema"]): readonly string[] {
  return Array.isArray(schema.enum) ? schema.enum.filter((value): value is string => typeof value === "string") : [];
}

/** The field for one value of a condition; for an array, the field of an item. */
export function itemOf(field: FieldDescription): FieldDescription {
  const { items } = field.schema;
  if (typeof items !== "object" || items === null) return field;
  const kind = field.kind?.replace("[]", "");
  return { ...field, ...(kind === undefined ? {} : { kind }), schema: items as FieldDescription["schema"] };
}

const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;

/**
 * The value to send for a text that was typed. A text that cannot be converted is sent unchanged, because the API has
 * the best error message.
 */
export function toWire(field: FieldDescription, text: string): unknown {
  const widget = widgetOf(field);
  if (text === "") return field.optional || !["text", "long"].includes(widget) ? null : "";
  switch (widget) {
    case "number":
      return NUMBER.test(text.trim()) ? Number(text) : text;
    case "bool":
      return text === "true";
    case "datetime":
      return toMoment(text);
    case "json":
      return toJson(text);
    default:
      return text;
  }
}

/** A datetime without a time zone is in UTC, as the API shows it. */
function toMoment(text: string): string {
  const time = Date.parse(/(Z|[+-]\d\d:?\d\d)$/i.test(text) ? text : `${text}Z`);
  return Number.isNaN(time) ? text : new Date(time).toISOString();
}

/** The parsed JSON, or the text itself when it is not valid JSON. */
function toJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Whether the text of a JSON field is not valid JSON. */
export function isBrokenJson(field: FieldDescription, text: string): boolean {
  if (widgetOf(field) !== "json" || text === "") return false;
  try {
    JSON.parse(text);
    return false;
  } catch {
    return true;
  }
}

/** The text to edit for a value from the API. */
export function toText(field: FieldDescription, value: unknown): string {
  if (value === null || value === undefined) return "";
  switch (widgetOf(field)) {
    case "json":
      return JSON.stringify(value, null, 2);
    case "datetime":
      return String(value).replace(/(\.000)?Z$/, "");
    default:
      return String(value);
  }
}
