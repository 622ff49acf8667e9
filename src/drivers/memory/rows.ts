import { type AnyEntity, type ColumnDefinition, canHold } from "../../entity/index.ts";
import type { Row } from "../../gate/index.ts";
import { DatabaseError } from "../../kernel/index.ts";

function copyValue(value: unknown): unknown {
  return typeof value === "object" && value !== null ? structuredClone(value) : value;
}

/** A deep copy: changing it changes nothing that is stored. */
export function copyRow(row: Row, columns: readonly string[]): Row {
  const copy: Row = {};
  for (const name of columns) copy[name] = copyValue(row[name]);
  return copy;
}

/**
 * Submitted values as they will be stored: a copy, so that the caller may go on with the original. What is undefined
 * counts as not submitted.
 * @throws DatabaseError for names that are no columns and values that the column cannot hold
 */
export function takeIn(entity: AnyEntity, data: Row): Row {
  const taken: Row = {};
  for (const [name, value] of Object.entries(data)) {
    const column = Object.hasOwn(entity.columns, name) ? entity.columns[name] : undefined;
    if (column === undefined) throw new DatabaseError(`${entity.name} has no column "${name}"`);
    if (value === undefined) continue;
    if (!canHold(column, value)) throw new DatabaseError(`${entity.name}.${name} cannot hold this value`);
    taken[name] = copyValue(value);
  }
  return taken;
}

/** A new row with a value for every column: the one given, a literal default as databases know it, or null. */
export function newRow(entity: AnyEntity, given: Row): Row {
  const row: Row = {};
  for (const column of Object.values(entity.columns)) {
    const { name } = column;
    const value = Object.hasOwn(given, name) ? given[name] : copyValue(literalDefault(column));
    if (!canHold(column, value)) throw new DatabaseError(`${entity.name}.${name} needs a value`);
    row[name] = value;
  }
  return row;
}

/** What is stored of a protected field is not its value, so databases have no default for it. */
function literalDefault({ role, field }: ColumnDefinition): unknown {
  if (role === "version") return 1;
  if (field?.default === undefined || field.password || field.encrypted) return null;
  return "value" in field.default ? field.default.value : null;
}

/** The row that takes the place of a stored one: its next version, where the entity has versions and something changes. */
export function changedRow(entity: AnyEntity, given: Row, previous: Row): Row {
  const row = { ...previous, ...given };
  return entity.versioned === undefined || Object.keys(given).length === 0
    ? row
    : { ...row, version: (previous.version as number) + 1 };
}
