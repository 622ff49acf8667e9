import type { AnyEntity, EntityModel } from "../../entity/index.ts";
import {
  type Driver,
  entityOf,
  type Find,
  type Middleware,
  type Row,
  tagRecord,
  withMiddleware,
} from "../../gate/index.ts";
import { AuthorizationError } from "../../kernel/index.ts";
import { ENTRY } from "./audit-entry.ts";

/** The most entries that wait to be stored together. */
const MOST_WAITING = 500;

/**
 * A driver that refuses to change or delete entries, and that masks their old and new values. The values are tagged as
 * records of their entity, so that its field rules apply wherever they are shown. Entries of a transaction are stored
 * together, before it commits.
 */
export function entriesDriver(inner: Driver, model: EntityModel): Driver {
  const joins = true; // no relation has entries as its target
  return withMiddleware(inner, entriesAsRead(model), {
    joins,
    transaction: (work, options) =>
      inner.transaction(async (driver) => {
        const waiting = new WaitingEntries(driver);
        const collecting = withMiddleware(driver, waiting.middleware, { joins });
        const result = await work(withMiddleware(collecting, entriesAsRead(model), { joins }).execute);
        await waiting.flush();
        return result;
      }, options),
  });
}

/** Collects the new entries of a transaction until they are stored together. */
class WaitingEntries {
  readonly #driver: Driver;
  #rows: Row[] = [];

  constructor(driver: Driver) {
    this.#driver = driver;
  }

  readonly middleware: Middleware = async (statement, next) => {
    if (entityOf(statement).name !== ENTRY) return next(statement);
    if (statement.kind !== "insert") {
      await this.flush(); // before entries are read
      return next(statement);
    }
    const { rows, returning } = statement;
    this.#rows.push(...rows);
    if (this.#rows.length >= MOST_WAITING) await this.flush();
    return { count: rows.length, rows: returning === true ? rows.map((row) => ({ ...row })) : [] };
  };

  async flush(): Promise<void> {
    const rows = this.#rows;
    this.#rows = [];
    if (rows.length > 0) await this.#driver.createMany(ENTRY, rows);
  }
}

function entriesAsRead(model: EntityModel): Middleware {
  return async (statement, next) => {
    if (entityOf(statement).name !== ENTRY) return next(statement);
    switch (statement.kind) {
      case "find": {
        const rows = await next(withEntity(statement));
        for (const row of rows) openEntry(model, row);
        return rows;
      }
      case "update":
      case "delete":
        throw new AuthorizationError("Entries of the audit log are not changed, and not deleted");
      default:
        return next(statement);
    }
  };
}

/** Also selects the entity, which decides how values are read and who may see them. */
function withEntity(find: Find): Find {
  const { select } = find;
  const isEnough = select === undefined || !select.some((name) => name === "before" || name === "after");
  return isEnough ? find : { ...find, select: [...new Set([...select, "entity"])] };
}

function openEntry(model: EntityModel, row: Row): void {
  const entity = typeof row.entity === "string" ? model.get(row.entity) : undefined;
  for (const side of ["before", "after"]) {
    const values = row[side];
    if (values === undefined || values === null) continue;
    // Without a known entity there are no field rules to decide who may see the values.
    row[side] = entity === undefined ? null : tagRecord(entity, typed(entity, values as Row));
  }
}

/** Values in the types of their columns. Values of removed columns are left out. */
function typed({ columns, relations }: AnyEntity, values: Row): Row {
  const row: Row = {};
  for (const [name, value] of Object.entries(values)) {
    const kind = columns[name]?.kind;
    if (kind === undefined && !Object.hasOwn(relations, name)) continue;
    if (kind?.toWire === undefined || typeof value !== "string") row[name] = value;
    else {
      const read = kind.parse(value);
      row[name] = read.ok ? read.value : null;
    }
  }
  return row;
}
