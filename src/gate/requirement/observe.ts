import type { AnyEntity } from "../../entity/index.ts";
import { forDecisions } from "../condition/undecryptable.ts";
import type { Row, Where } from "../condition/where.ts";

/** A record as a rule or a validator sees it, and the columns that it has read. */
export interface Observation {
  readonly record: Row;
  /**
   * The observed values as conditions: a record that has changed in them no longer matches.
   * @param except columns that do not count, because they are being overwritten
   */
  conditions(except?: Readonly<Row>): Where;
  /**
   * Whether the record, read again, is still what was observed of it where no condition can say so: JSON, and values that
   * their field would refuse today. Undefined when the conditions say all.
   * @param except columns that do not count, because they are being overwritten
   */
  comparison(except?: Readonly<Row>): ((record: Row) => boolean) | undefined;
  columns(): ReadonlySet<string>;
}

/**
 * Lets a rule or a validator look at a record and notes which columns it read. What was seen becomes part of the write,
 * so a decision is never applied to a record that changed after it was made. The record cannot be changed, and looking at
 * a value that could not be decrypted throws.
 */
export function observe(entity: AnyEntity, given: Row): Observation {
  const row = forDecisions(given);
  /** What was looked at; as text where no condition can say it, since the code that is given JSON may change it. */
  const seen = new Map<string, string | undefined>();
  const note = (name: string | symbol): void => {
    if (typeof name !== "string" || seen.has(name) || !Object.hasOwn(entity.columns, name)) return;
    const kind = entity.columns[name]?.kind;
    const isComparable = kind?.sortable && (row[name] === null || kind.accepts(row[name]));
    seen.set(name, isComparable ? undefined : JSON.stringify(row[name]));
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
      for (const name of Object.keys(entity.columns)) note(name);
      return Reflect.ownKeys(target);
    },
    set: () => false,
    deleteProperty: () => false,
    defineProperty: () => false,
  });
  return {
    record,
    columns: () => new Set(seen.keys()),
    conditions(except = {}) {
      const where: Record<string, unknown> = {};
      for (const [name, text] of seen)
        if (text === undefined && name in row && !Object.hasOwn(except, name)) where[name] = row[name] ?? null;
      return where;
    },
    comparison(except = {}) {
      const texts = [...seen].filter(([name, text]) => text !== undefined && !Object.hasOwn(except, name));
      if (texts.length === 0) return undefined;
      return (again) => texts.every(([name, text]) => JSON.stringify(again[name]) === text);
    },
  };
}
