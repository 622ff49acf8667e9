import type { AnyEntity } from "../../entity/index.ts";
import type { Row } from "../ports/driver.ts";

// Enumerable, so that `{ ...record }` keeps it; a symbol, so that JSON never shows it.
const kEntity: unique symbol = Symbol("keelson.entity");

/** Marks a row as a record of an entity, so that the serializer knows which mask applies wherever it ends up. */
export function tagRecord(entity: AnyEntity, row: Row): Row {
  (row as Record<symbol, unknown>)[kEntity] = entity;
  if (entity.hidden.length > 0) hide(entity, row);
  return row;
}

/** Code can read `user.apiToken`; spread, `Object.keys`, JSON, CSV and loggers do not see it (architecture.md 3.4). */
function hide(entity: AnyEntity, row: Row): void {
  for (const name of entity.hidden)
    if (Object.hasOwn(row, name)) Object.defineProperty(row, name, { enumerable: false });
}

/** The entity a value is a record of, or undefined. */
export function entityOfRecord(value: object): AnyEntity | undefined {
  return (value as Record<symbol, AnyEntity | undefined>)[kEntity];
}
