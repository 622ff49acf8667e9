import type { AnyEntity } from "../../entity/index.ts";
import type { Row, Where } from "../ports/driver.ts";

/** A record as a rule sees it, and the columns the rule looked at. */
export interface Observation {
  readonly record: Row;
  /** The observed values as conditions: a record that has changed in them no longer matches. */
  conditions(): Where;
  columns(): ReadonlySet<string>;
}

/**
 * Lets a rule look at a record and notes which columns it read. What the rule saw goes into the statement's `where`, so
 * a decision is never applied to a record that changed after it was made.
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
    conditions() {
      const where: Record<string, unknown> = {};
      for (const name of seen) {
        // JSON cannot be compared in SQL; the time of the last change stands in for it.
        const column = entity.columns[name]?.kind.sortable ? name : "updatedAt";
        if (column in row) where[column] = row[column] ?? null;
      }
      return where;
    },
  };
}
