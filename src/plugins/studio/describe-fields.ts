import {
  type AnyEntity,
  type ColumnDefinition,
  type FieldDefinition,
  type FieldKind,
  jsonSchemaOf,
  publishedFields,
} from "../../entity/index.ts";
import type { FieldMask } from "../../gate/index.ts";
import type { FieldDescription, Right } from "./app-document.ts";

/** The fields of an entity that a caller may read or write. */
export function describeFields(entity: AnyEntity, mask: FieldMask): readonly FieldDescription[] {
  return Object.values(entity.columns)
    .filter(({ name }) => mask.readable.has(name) || mask.writable.has(name))
    .map((column) => describeColumn(entity, column, mask));
}

function describeColumn(entity: AnyEntity, column: ColumnDefinition, mask: FieldMask): FieldDescription {
  const { name, kind, relation } = column;
  const read = rightOf(mask.readable, mask.readablePerRow, name);
  const write = rightOf(mask.writable, mask.writablePerRow, name);
  const isOwner = relation !== undefined && relation === entity.ownedBy; // set from the caller
  return {
    ...valueIn(column),
    optional: column.optional || isOwner,
    ...(read === undefined ? {} : { read }),
    ...(write === undefined ? {} : { write }),
    ...(read !== undefined && mask.filterable.has(name) ? { operators: [...kind.operators] } : {}),
    ...(read !== undefined && mask.sortable.has(name) ? { sortable: true } : {}),
    ...(relation === undefined ? {} : { relation }),
  };
}

/** The descriptions of columns' values, which are the same for all callers. */
const values = new WeakMap<ColumnDefinition, FieldDescription>();

function valueIn(column: ColumnDefinition): FieldDescription {
  let value = values.get(column);
  if (value === undefined) {
    value = describeValue(column.name, column.kind, column.field);
    values.set(column, value);
  }
  return value;
}

function rightOf(
  names: ReadonlySet<string>,
  perRow: ReadonlyMap<string, unknown> | undefined,
  name: string,
): Right | undefined {
  if (!names.has(name)) return undefined;
  return perRow?.has(name) === true ? "some" : "all";
}

/** Describes a value. The literal default of a protected field is left out, because it is one of its values. */
export function describeValue(name: string, kind: FieldKind, field: FieldDefinition | undefined): FieldDescription {
  const given = field && publishedFields({ field }).field?.default;
  const value = given !== undefined && "value" in given ? given.value : undefined;
  return {
    name,
    kind: kind.name,
    schema: jsonSchemaOf(kind, field),
    optional: field?.optional === true || given !== undefined,
    ...(field?.description === undefined ? {} : { description: field.description }),
    ...(value === undefined ? {} : { default: value === null ? null : (kind.toWire?.(value) ?? value) }),
    ...(field?.password === undefined ? {} : { isPassword: true }),
  };
}

/** Common names of the field that names a record, the best first. */
const TITLES = ["title", "name", "label", "subject", "number", "code", "email", "slug"];
const TEXTS = new Set(["string", "text"]);

/** The field whose value is shown as the name of a record, among those that the caller may read in every record. */
export function titleField(fields: readonly FieldDescription[]): string {
  const shown = fields.filter(({ read }) => read === "all");
  const named = TITLES.find((name) => shown.some((field) => field.name === name));
  const isWord = ({ kind = "", schema }: FieldDescription): boolean => TEXTS.has(kind) && schema.enum === undefined;
  return named ?? shown.find(isWord)?.name ?? "id";
}
