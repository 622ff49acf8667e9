import type { FieldDescription } from "../../app-document.ts";

/** How a value is shown and edited. */
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

/** The widget of a field: by its kind, and for values without a kind by their schema. */
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

/** The field of one value in a condition: of an array, an item. */
export function itemOf(field: FieldDescription): FieldDescription {
  const { items } = field.schema;
  if (typeof items !== "object" || items === null) return field;
  const kind = field.kind?.replace("[]", "");
  return { ...field, ...(kind === undefined ? {} : { kind }), schema: items as FieldDescription["schema"] };
}

const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;

/**
 * The value on the wire for what a person wrote. What cannot be read is sent as it is, because the API says best what is
 * wrong with it.
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

/** A datetime that is written without a zone is in UTC, as the API shows it. */
function toMoment(text: string): string {
  const time = Date.parse(/(Z|[+-]\d\d:?\d\d)$/i.test(text) ? text : `${text}Z`);
  return Number.isNaN(time) ? text : new Date(time).toISOString();
}

/** JSON, or else the text itself. */
function toJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Whether a text is not the JSON it should be. */
export function isBrokenJson(field: FieldDescription, text: string): boolean {
  if (widgetOf(field) !== "json" || text === "") return false;
  try {
    JSON.parse(text);
    return false;
  } catch {
    return true;
  }
}

/** What a person edits of a value on the wire. */
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
