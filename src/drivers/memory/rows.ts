import { type AnyEntity, type ColumnDefinition, canHold, type ResolvedRelation } from "../../entity/index.ts";
import {
  askedOfStored,
  type Condition,
  columnOf,
  type JoinedFind,
  type KnownAnswers,
  matches,
  RANK,
  type RelatedRows,
  type Row,
  type SortKey,
  soleId,
  totalOrder,
} from "../../gate/index.ts";
import { BadRequestError, DatabaseError } from "../../kernel/index.ts";
import { linkTableOf, type Store } from "./store.ts";

function copyValue(value: unknown): unknown {
  return typeof value === "object" && value !== null ? structuredClone(value) : value;
}

/** A deep copy, independent of the stored row. */
export function copyRow(row: Row, columns: readonly string[]): Row {
  const copy: Row = {};
  for (const name of columns) copy[name] = copyValue(row[name]);
  return copy;
}

/**
 * Converts submitted values to their stored form. Returns a copy, so that the caller may change the original. Undefined
 * values count as absent.
 * @throws DatabaseError for names that are not columns and values that the column cannot hold
 */
export function takeIn(entity: AnyEntity, data: Row): Row {
  const taken: Row = {};
  for (const [name, value] of Object.entries(data)) {
    const column = Object.hasOwn(entity.columns, name) ? entity.columns[name] : undefined;
    if (column === undefined) throw new DatabaseError(`${entity.name} has no column "${name}"`);
    if (value === undefined) continue;
    if (!canHold(column, value)) throw new DatabaseError(`${entity.name}.${name} cannot hold this value`);
    const converted = column.field?.encrypted ? undefined : column.kind.convert?.(value);
    taken[name] = copyValue(converted?.ok === true ? converted.value : value);
  }
  return taken;
}

/** A new row with a value for every column: the given value, a literal default as databases apply it, or null. */
export function newRow(entity: AnyEntity, given: Row): Row {
  const row: Row = {};
  for (const column of Object.values(entity.columns)) {
    const { name } = column;
    const value = Object.hasOwn(given, name) ? given[name] : copyValue(literalDefault(column));
    // A database would fill it in.
    const isFilled = value === null && column.field?.filledBy !== undefined;
    if (!isFilled && !canHold(column, value)) throw new DatabaseError(`${entity.name}.${name} needs a value`);
    row[name] = value;
  }
  return row;
}

/** The stored form of a protected field differs from its value, so databases have no default for it. */
function literalDefault({ role, field }: ColumnDefinition): unknown {
  if (role === "version") return 1;
  if (field?.default === undefined || field.password || field.encrypted) return null;
  return "value" in field.default ? field.default.value : null;
}

/**
 * The row that replaces a stored one. Its version is incremented if the entity is versioned and the changes are not
 * empty.
 */
export function changedRow(entity: AnyEntity, given: Row, previous: Row): Row {
  const row = { ...previous, ...given };
  return entity.versioned === undefined || Object.keys(given).length === 0
    ? row
    : { ...row, version: (previous.version as number) + 1 };
}

/** All rows of a to-many relation, by the id of the record they belong to. */
function relatedById(store: Store, relation: ResolvedRelation): Map<string, Row[]> {
  const { rows } = store.table(relation.target);
  const lists = new Map<string, Row[]>();
  const add = (id: string, row: Row): void => {
    const list = lists.get(id);
    if (list === undefined) lists.set(id, [row]);
    else list.push(row);
  };
  if (relation.type === "manyToMany") {
    const { name, turned } = linkTableOf(relation);
    for (const { source, target } of store.links(name).pairs.values())
      add(turned ? target : source, rows.get(turned ? source : target) as Row);
  } else for (const row of rows.values()) add(row[relation.foreignKey as string] as string, row);
  return lists;
}

/** Finds related rows during one statement: each relation is grouped once, on first use. */
function relatedIn(store: Store): RelatedRows {
  const grouped = new Map<ResolvedRelation, Map<string, Row[]>>();
  return (relation, row) => {
    if (relation.type === "belongsTo") {
      const found = store.table(relation.target).rows.get(row[relation.foreignKey as string] as string);
      return found === undefined ? [] : [found];
    }
    let lists = grouped.get(relation);
    if (lists === undefined) {
      lists = relatedById(store, relation);
      grouped.set(relation, lists);
    }
    return lists.get(row.id as string) ?? [];
  };
}

/** Stored rows that satisfy a condition, in no particular order. */
export function filterRows(store: Store, entity: AnyEntity, condition: Condition): Row[] {
  const { rows } = store.table(entity);
  const id = soleId(condition);
  const row = id === undefined ? undefined : rows.get(id);
  const candidates = id === undefined ? [...rows.values()] : row === undefined ? [] : [row];
  const related = relatedIn(store);
  const known: KnownAnswers = new Map();
  return candidates.filter((candidate) => matches(condition, candidate, related, known));
}

/** Whether a condition holds for a row that is not stored yet. */
export function holdsForNew(store: Store, condition: Condition, row: Row): boolean {
  return matches(askedOfStored(condition, row), row, relatedIn(store));
}

/** Sorts rows like the databases do: null is the smallest value. @throws BadRequestError */
export function sortRows(
  store: Store,
  entity: AnyEntity,
  rows: Row[],
  sort: readonly SortKey[] | undefined,
  rankOf?: (row: Row) => number,
): Row[] {
  const related = relatedIn(store);
  const keys = totalOrder(sort).map((key) => {
    const { field, direction, through } = key;
    const sign = direction === "desc" ? -1 : 1;
    if (field === RANK && rankOf !== undefined) return { kind: undefined, sign, read: rankOf };
    const column = columnOf(entity, key);
    if (column?.kind.sortable !== true) throw new BadRequestError(`${entity.name} cannot be sorted by "${field}"`);
    const read = (row: Row): unknown => row[column.name];
    return {
      kind: column.kind,
      sign,
      read: through === undefined ? read : valuesAlong(rows, through, related, read),
    };
  });
  return rows.sort((first, second) => {
    for (const { kind, sign, read } of keys) {
      if (kind === undefined) {
        const difference = read(first) - read(second);
        if (difference !== 0) return difference * sign;
        continue;
      }
      const a = read(first);
      const b = read(second);
      const order = a === null || b === null ? Number(b === null) - Number(a === null) : kind.compare(a, b);
      if (order !== 0) return order * sign;
    }
    return 0;
  });
}

/** Values of the records at the end of belongsTo relations, by row; null if there is no such record. */
function valuesAlong(
  rows: readonly Row[],
  through: readonly JoinedFind[],
  related: RelatedRows,
  read: (row: Row) => unknown,
): (row: Row) => unknown {
  const values = new Map<Row, unknown>();
  const known: KnownAnswers = new Map();
  for (const row of rows) {
    let at: Row | undefined = row;
    for (const { relation, where } of through)
      at = at && [...related(relation, at)].find((one) => matches(where, one, related, known));
    values.set(row, at === undefined ? null : read(at));
  }
  return (row) => values.get(row);
}

/** The columns to return. @throws BadRequestError for a name that is not a column */
export function selectedColumns(entity: AnyEntity, select: readonly string[] | undefined): readonly string[] {
  for (const name of select ?? [])
    if (!Object.hasOwn(entity.columns, name)) throw new BadRequestError(`${entity.name} has no field "${name}"`);
  return select ?? Object.keys(entity.columns);
}
