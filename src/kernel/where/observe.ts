import type { AnyEntity } from "../../entity/index.ts";
import type { Row, Where } from "../ports/driver.ts";

/** A record as somebody who decides sees it, and the columns they looked at. */
export interface Observation {
  readonly record: Row;
  /**
   * The observed values as conditions: a record that has changed in them no longer matches. JSON cannot be compared in
   * SQL, nor can a value that its field would refuse today; the time of the last change stands in for them, and an
   * entity without timestamps has nothing that could.
   * @param except columns that do not count, because they are being overwritten
   */
  conditions(except?: Readonly<Record<string, unknown>>): Where;
  columns(): ReadonlySet<string>;
}

/**
 * Lets a rule or a validator look at a record and notes which columns it read. What was seen goes into the statement's
 * `where`, so a decision is never applied to a record that changed after it was made. The record cannot be changed.
 */
export function observe(entity: AnyEntity, row: Row): Observation {
  const seen = new Set<string>();
  const note = (name: string | symbol): void => {
    if (typeof name === "string" && Object.hasOwn(entity.columns, name)) seen.add(name);
  };
  const record = new Proxy(row, {
    get(target, name) {
      note(name);
      return Reflect.get(target, name);
    },
    has(target, name) {
      note(name);
      return Reflect.has(target, name);
    },
    ownKeys(target) {
      for (const name of Object.keys(entity.columns)) seen.add(name);
      return Reflect.ownKeys(target);
    },
    set: () => false,
    deleteProperty: () => false,
    defineProperty: () => false,
  });
  return {
    record,
    columns: () => seen,
    conditions(except = {}) {
      const where: Record<string, unknown> = {};
      for (const name of seen) {
        if (Object.hasOwn(except, name)) continue;
        const kind = entity.columns[name]?.kind;
        const comparable = kind?.sortable && (row[name] === null || kind.accepts(row[name]));
        const column = comparable ? name : "updatedAt";
        if (column in row) where[column] = row[column] ?? null;
      }
      return where;
    },
  };
}
