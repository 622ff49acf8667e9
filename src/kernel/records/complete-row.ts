import { type AnyEntity, type ColumnDefinition, newDefault } from "../../entity/index.ts";
import type { Clock, IdGenerator } from "../ports/clock.ts";
import type { Row } from "../ports/driver.ts";

/** Where ids and moments come from. */
export interface RowSources {
  readonly clock: Clock;
  readonly ids: IdGenerator;
}

/** A new record as it is stored: what nobody said is an id, a moment, the field's default, or null where that is allowed. */
export function newRow(entity: AnyEntity, data: Row, sources: RowSources): Row {
  const row: Row = { ...data };
  const now = sources.clock.now();
  for (const column of Object.values(entity.columns)) {
    if (row[column.name] !== undefined) continue;
    const value = valueOfNew(column, now, sources);
    if (value !== undefined) row[column.name] = value;
  }
  return row;
}

function valueOfNew({ role, field, optional }: ColumnDefinition, now: Date, { ids }: RowSources): unknown {
  if (role === "id") return ids.next();
  if (role === "createdAt" || role === "updatedAt") return now;
  if (role === "blindIndex") return undefined; // made of the value it finds
  return (field && newDefault(field)) ?? (optional ? null : undefined);
}

/** Changes as they are stored: with the moment, unless nothing is changed but looked at and held. */
export function changedRow(entity: AnyEntity, data: Row, { clock }: RowSources): Row {
  const isChange = Object.keys(data).some((name) => name !== "id");
  return entity.timestamps && isChange && data.updatedAt === undefined ? { ...data, updatedAt: clock.now() } : data;
}
