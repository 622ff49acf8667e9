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

/** Tries of an update whose record keeps changing after rules have read it. */
const ATTEMPTS = 3;
/** Columns that the driver maintains, and that have no field rules. */
const OWN_ROLES: ReadonlySet<string> = new Set(["id", "createdAt", "updatedAt", "version"]);

/**
 * A driver for a caller. It filters records with `filterReadableFields` and data with `filterWritableFields`. An update
 * of one record is decided on the stored record, and the statement requires that record to be unchanged. An update of
 * several records reads none of them, so fields whose rules read the record are dropped. The driver does not restrict
 * which records are found, conditions or sorting.
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

/** Selects all columns if rules are involved, because they may read columns that were not selected. */
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
  // Without its tag: the rules of the entity in which it is stored apply, not those of the entity from which it was
  // read.
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
 * Updates a record if the values that a rule has read are unchanged. Values that conditions cannot compare, such as
 * encrypted ones, are compared after the record is locked.
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
