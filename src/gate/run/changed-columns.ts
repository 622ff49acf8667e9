import type { AnyEntity, ColumnDefinition } from "../../entity/index.ts";
import type { Row } from "../condition/condition.ts";
import type { MutableOperation } from "../operation/new-operation.ts";
import type { Operation } from "../operation/operation.ts";

/** The columns that a change may change: those it names, and those that the database computes of others. */
export function changedColumns(entity: AnyEntity, data: Row): readonly string[] {
  const names = Object.keys(data);
  const { computed } = kindsOfColumns(entity);
  return names.length === 0 || computed.length === 0 ? names : [...names, ...computed];
}

/** What changes of an entity depend on. */
interface ColumnKinds {
  readonly computed: readonly string[];
  /** Columns whose statement may wait for other transactions. */
  readonly keys: ReadonlySet<string>;
}

const columnKinds = new WeakMap<AnyEntity, ColumnKinds>();

function kindsOfColumns(entity: AnyEntity): ColumnKinds {
  let kinds = columnKinds.get(entity);
  if (kinds === undefined) {
    const columns = Object.values(entity.columns);
    const computed = columns.filter(({ field }) => field?.filledBy === "computation").map(({ name }) => name);
    const keys = new Set(columns.map(({ name }) => name).filter((name) => isKey(entity, name)));
    kinds = { computed, keys };
    columnKinds.set(entity, kinds);
  }
  return kinds;
}

/**
 * Whether the statement of a write may wait for other transactions, an update's although it has locked the record: they store
 * the same unique value, refer to the record by one, or change the record that it will refer to.
 */
export function mayWaitForOthers(operation: Operation): boolean {
  const { entity, data, scope } = operation as MutableOperation;
  if (!scope.store.capabilities.concurrentTransactions) return false;
  const { keys } = kindsOfColumns(entity);
  return changedColumns(entity, data).some((name) => keys.has(name));
}

function isKey({ columns, uniques, softDelete, existing }: AnyEntity, name: string): boolean {
  const { unique, role } = columns[name] as ColumnDefinition;
  if (existing) return true; // its indexes may be of expressions, which no entity says
  if (name === softDelete?.field) return true; // values of deleted records are free, and taken again with the record
  if (unique || role === "foreignKey" || uniques.some((names) => names.includes(name))) return true;
  return Object.values(columns).some((column) => column.of === name && column.unique);
}
