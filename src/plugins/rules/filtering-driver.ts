import type { AnyEntity } from "../../entity/index.ts";
import {
  and,
  compileWhere,
  type Driver,
  type Find,
  type Middleware,
  type Observation,
  observe,
  type Row,
  type Update,
  type Written,
  withMiddleware,
} from "../../gate/index.ts";
import { ConflictError } from "../../kernel/index.ts";
import type { FieldFilterOptions } from "./field-filter.ts";
import { filterReadableFields } from "./filter-readable-fields.ts";
import { filterWritableFields } from "./filter-writable-fields.ts";

/** A record that changes under the eyes of a rule again and again is given up on. */
const ATTEMPTS = 3;
/** Columns that the driver fills in, and that no rule is about. */
const OWN_ROLES: ReadonlySet<string> = new Set(["id", "createdAt", "updatedAt", "version"]);

/**
 * A driver on behalf of a caller: it returns what `filterReadableFields` leaves of records and stores what
 * `filterWritableFields` leaves of data. An update of one record is decided on the stored record, which the statement then
 * requires to be unchanged. In an update of several no record is looked at, so fields whose rules look at it are dropped.
 * Which records there are, conditions and orders are not restricted.
 */
export function filteringDriver(inner: Driver, caller: FieldFilterOptions): Driver {
  const middleware: Middleware = async (statement, next, driver) => {
    switch (statement.kind) {
      case "find":
        return shown(caller, statement, await next(whole(statement)));
      case "insert": {
        const rows = statement.rows.map((row) => written(caller, statement.entity, row, "create"));
        return shownOf(caller, statement, await next({ ...statement, rows }));
      }
      case "update":
        return shownOf(caller, statement, await update(caller, statement, driver));
      default:
        return next(statement);
    }
  };
  return withMiddleware(inner, middleware);
}

/** Rules may look at columns that were not asked for. */
function whole(find: Find): Find {
  const isRuled = find.select?.some((name) => find.entity.columns[name]?.field?.readable !== undefined);
  return isRuled ? { ...find, select: undefined } : find;
}

function shown(
  caller: FieldFilterOptions,
  { entity, select }: Pick<Find, "entity" | "select">,
  rows: readonly Row[],
): Row[] {
  const records = filterReadableFields([...rows], entity, caller) as Row[];
  if (select === undefined) return records;
  for (const record of records) for (const name of Object.keys(record)) if (!select.includes(name)) delete record[name];
  return records;
}

function shownOf(caller: FieldFilterOptions, { entity }: Pick<Find, "entity">, { count, rows }: Written): Written {
  return { count, rows: shown(caller, { entity }, rows) };
}

function written(
  caller: FieldFilterOptions,
  entity: AnyEntity,
  data: Row,
  operation: "create" | "update",
  existing?: Row,
): Row {
  const entries = Object.entries(data);
  // Without its tag: the rules of where it is stored count, not of where it was read.
  const plain = Object.fromEntries(entries);
  const own = entries.filter(([name]) => OWN_ROLES.has(entity.columns[name]?.role ?? ""));
  return { ...Object.fromEntries(own), ...filterWritableFields(plain, entity, { ...caller, operation, existing }) };
}

async function update(caller: FieldFilterOptions, statement: Update, driver: Driver): Promise<Written> {
  const { entity, where, data, returning } = statement;
  const isRuled = Object.keys(data).some((name) => entity.columns[name]?.field?.writable !== undefined);
  if (!isRuled || returning !== true)
    return driver.execute({ ...statement, data: written(caller, entity, data, "update") });
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    const [existing] = await driver.execute({ kind: "find", entity, where, limit: 1 });
    if (existing === undefined) return { count: 0, rows: [] };
    const seen = observe(entity, existing);
    const changes = written(caller, entity, data, "update", seen.record);
    const result = await updateSeen(driver, { ...statement, data: changes }, seen);
    if (result.count > 0) return result;
  }
  throw new ConflictError("The record is being changed by others; try again");
}

/**
 * Changes a record while it still is what a rule has seen of it. What no condition can compare, such as encrypted values,
 * is compared once the record is locked.
 */
async function updateSeen(driver: Driver, statement: Update, seen: Observation): Promise<Written> {
  const { entity } = statement;
  const where = and([statement.where, compileWhere(driver.model, entity, seen.conditions())]);
  const isSame = seen.comparison();
  if (isSame === undefined) return driver.execute({ ...statement, where });
  return driver.transaction(async ({ execute }) => {
    const [row] = await execute({ kind: "find", entity, where, limit: 1, lock: true });
    return row !== undefined && isSame(row) ? execute({ ...statement, where }) : { count: 0, rows: [] };
  });
}
