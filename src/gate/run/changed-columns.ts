import type { AnyEntity, ColumnDefinition } from "../../entity/index.ts";
import type { Row } from "../condition/condition.ts";
import type { MutableOperation } from "../operation/new-operation.ts";
import type { Operation } from "../operation/operation.ts";

/** The columns that an update may change: those it sets, and those that the database computes from others. */
export function changedColumns(entity: AnyEntity, data: Row): readonly string[] {
  const names = Object.keys(data);
  const { computed } = kindsOfColumns(entity);
  return names.length === 0 || computed.length === 0 ? names : [...names, ...computed];
}

/** Whether the database may compute values of a record anew after an update. */
export function mayCompute(entity: AnyEntity, data: Row): boolean {
  return Object.keys(data).length > 0 && kindsOfColumns(entity).computed.length > 0;
}

/** Whether an update may change computed values among these columns. */
export function changesComputed(entity: AnyEntity, data: Row, columns: ReadonlySet<string>): boolean {
  return mayCompute(entity, data) && kindsOfColumns(entity).computed.some((name) => columns.has(name));
}

/** The columns of an entity that need special treatment on changes. */
interface ColumnKinds {
  readonly computed: readonly string[];
  /** Columns whose changes may wait for other transactions. */
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
 * Whether the statement of a write may wait for other transactions, for an update even after it has locked the record:
 * other transactions may store the same unique value, refer to the record by one, or change the record that it will
 * refer to.
 */
export function mayWaitForOthers(operation: Operation): boolean {
  const { entity, data, scope } = operation as MutableOperation;
  if (!scope.store.capabilities.concurrentTransactions) return false;
  const { keys } = kindsOfColumns(entity);
  return changedColumns(entity, data).some((name) => keys.has(name));
}

function isKey({ columns, uniques, softDelete, existing }: AnyEntity, name: string): boolean {
  const { unique, role } = columns[name] as ColumnDefinition;
  if (existing) return true; // its indexes may use expressions that the entity does not declare
  if (name === softDelete?.field) return true; // a restored record takes its unique values again
  if (unique || role === "foreignKey" || uniques.some((names) => names.includes(name))) return true;
  return Object.values(columns).some((column) => column.of === name && column.unique);
}
