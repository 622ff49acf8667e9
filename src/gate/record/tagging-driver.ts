import { type AnyEntity, type ColumnDefinition, newDefault } from "../../entity/index.ts";
import type { Clock } from "../../kernel/index.ts";
import type { Row } from "../condition/condition.ts";
import type { IdGenerator } from "../operation/runtime.ts";
import type { Driver } from "../statement/driver.ts";
import { type Middleware, withMiddleware } from "../statement/with-middleware.ts";
import { tagRecord } from "./tag-record.ts";

/**
 * A driver as handlers, hooks and rules get it: what it returns is tagged, so that a record is masked on its way out
 * whichever code has read it. The gate's own statements run on the driver inside, without this cost. It does not wait for
 * masks, because the rules that a mask waits for read with it, too.
 * @param sources of what is left out of new records and changes @default nothing is filled in
 */
export function taggingDriver(inner: Driver, sources?: RowSources): Driver {
  const middleware: Middleware = async (statement, next) => {
    switch (statement.kind) {
      case "find": {
        const rows = await next(statement);
        for (const row of rows) tagRecord(statement.entity, row);
        return rows;
      }
      case "insert": {
        const { entity, rows } = statement;
        const made = sources === undefined ? rows : rows.map((row) => newRow(entity, row, sources));
        const written = await next({ ...statement, rows: made });
        for (const row of written.rows) tagRecord(entity, row);
        return written;
      }
      case "update": {
        const { entity, data } = statement;
        const written = await next({
          ...statement,
          data: sources === undefined ? data : changedRow(entity, data, sources),
        });
        for (const row of written.rows) tagRecord(entity, row);
        return written;
      }
      default:
        return next(statement);
    }
  };
  return withMiddleware(inner, middleware);
}

/** Where ids and moments come from. */
interface RowSources {
  readonly clock: Clock;
  readonly ids: IdGenerator;
}

/** A new record as it is stored. What was not given is an id, a moment, the field's default, or null where that is allowed. */
function newRow(entity: AnyEntity, data: Row, sources: RowSources): Row {
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

/** Changes as they are stored: with the moment, if there are any. */
function changedRow({ timestamps }: AnyEntity, data: Row, { clock }: RowSources): Row {
  const isChange = Object.keys(data).length > 0;
  return timestamps && isChange && data.updatedAt === undefined ? { ...data, updatedAt: clock.now() } : data;
}
