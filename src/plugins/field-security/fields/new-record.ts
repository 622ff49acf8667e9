import { type AnyEntity, type ColumnDefinition, type FieldKind, plainField } from "../../../entity/index.ts";
import type { Row } from "../../../kernel/index.ts";

const schemas = new WeakMap<ColumnDefinition, ReturnType<FieldKind["schema"]>>();

/**
 * The record that a create is about to store, as far as it is beyond doubt: values as validation will read them, defaults
 * and nulls. A column is left out while it is undecided who may write it, because a value that may turn out not to count
 * must not vouch for another one; so is one whose value will be refused. A default that is made is made once, here.
 */
export function newRecord(entity: AnyEntity, data: Row, undecided: ReadonlyMap<string, unknown>): Row {
  const record: Row = {};
  for (const column of Object.values(entity.columns)) {
    const { name, role, optional } = column;
    if ((role !== "field" && role !== "foreignKey") || undecided.has(name)) continue;
    const value = data[name] ?? defaultOf(column, data);
    if (value !== undefined && value !== null) readInto(record, column, value);
    else if (optional) record[name] = null;
  }
  return record;
}

function defaultOf({ name, field }: ColumnDefinition, data: Row): unknown {
  const given = field?.default;
  if (given === undefined || data[name] === null) return undefined;
  if ("value" in given) return given.value;
  data[name] = given.make() ?? undefined;
  return data[name];
}

function readInto(record: Row, column: ColumnDefinition, value: unknown): void {
  const { name, kind, field } = column;
  const schema = schemas.get(column) ?? kind.schema(field ?? plainField(kind));
  schemas.set(column, schema);
  const read = schema.safeParse(value);
  if (read.success) record[name] = read.data;
}
