import {
  type FieldDefinition,
  type FieldKind,
  type JsonSchema,
  jsonSchemaOf,
  publishedFields,
} from "../../entity/index.ts";

/** A value as a document describes it. */
export interface DescribedValue {
  readonly kind: FieldKind;
  /** Absent for what the framework keeps itself: ids, keys, timestamps. */
  readonly field?: FieldDefinition | undefined;
  readonly optional: boolean;
}

/** The schema of a value that is shown. */
export function shownSchema({ kind, field, optional }: DescribedValue): JsonSchema {
  return { ...nullable(jsonSchemaOf(kind, field), optional), ...annotations(kind, field) };
}

/** The schema of a value that is sent. */
export function sentSchema({ kind, field, optional }: DescribedValue): JsonSchema {
  return {
    ...nullable(jsonSchemaOf(kind, field), optional),
    ...annotations(kind, field),
    ...defaultOf(kind, field),
    ...(field?.password === undefined ? {} : { writeOnly: true }),
  };
}

/** The schema of an object with some fields. */
export function fieldsSchema(fields: Readonly<Record<string, FieldDefinition>>, side: "input" | "output"): JsonSchema {
  const schema = side === "input" ? sentSchema : shownSchema;
  const entries = Object.entries(fields);
  const properties = entries.map(([name, field]) => {
    const { kind, optional } = field;
    return [name, schema({ kind, field, optional })] as const;
  });
  const needed = entries.filter(([, { optional, default: given }]) => side === "output" || (!optional && !given));
  return {
    type: "object",
    properties: Object.fromEntries(properties),
    ...requiredNames(needed.map(([name]) => name)),
    ...(side === "input" ? { additionalProperties: false } : {}),
  };
}

/** An empty list says nothing, and some tools refuse it. */
export function requiredNames(names: readonly string[]): { readonly required?: readonly string[] } {
  return names.length === 0 ? {} : { required: names };
}

/** The same, or null. */
export function nullable(schema: JsonSchema, optional = true): JsonSchema {
  if (!optional || Object.keys(schema).length === 0) return schema; // what says nothing takes null already
  const { type, enum: words } = schema;
  if (typeof type !== "string") return { anyOf: [schema, { type: "null" }] };
  return { ...schema, type: [type, "null"], ...(Array.isArray(words) ? { enum: [...words, null] } : {}) };
}

function annotations(kind: FieldKind, { description, example }: Partial<FieldDefinition> = {}): JsonSchema {
  return {
    ...(description === undefined ? {} : { description }),
    ...(example === undefined ? {} : { examples: [toWire(kind, example)] }),
  };
}

/** A literal default, unless it is one of a protected field. */
function defaultOf(kind: FieldKind, field: FieldDefinition | undefined): JsonSchema {
  const given = field && publishedFields({ field }).field?.default;
  return given !== undefined && "value" in given ? { default: toWire(kind, given.value) } : {};
}

function toWire(kind: FieldKind, value: unknown): unknown {
  return value === null ? null : (kind.toWire?.(value) ?? value);
}
