import { type AnyEntity, type ColumnDefinition, jsonText } from "../../entity/index.ts";
import { allOf, compileWhere } from "../condition/compile-where.ts";
import { and, type Condition, compare, type Row, type Where } from "../condition/condition.ts";
import { forDecisions, matchesAlone } from "../condition/matches.ts";
import type { Decision, Operation } from "../operation/operation.ts";
import type { OperationScope } from "../operation/operation-scope.ts";
import { allowsOf } from "../operation/policy.ts";

type Asking = Pick<OperationScope, "app" | "driver">;

/** Whether a stored record meets a condition. The database decides when the record alone is not sufficient. */
export async function meets(asking: Asking, entity: AnyEntity, where: Where, row: Row): Promise<boolean> {
  return (await asItMeets(asking, entity, where, row, ["id"])) !== undefined;
}

/**
 * Returns a stored record that meets a condition: as it was read if that is sufficient, otherwise re-read from the
 * database, because it may have changed and the caller may not see the earlier values. Undefined if it does not meet
 * the condition.
 */
export async function asItMeets(
  { app, driver }: Asking,
  entity: AnyEntity,
  where: Where,
  row: Row,
  select?: readonly string[],
): Promise<Row | undefined> {
  const alone = matchesAlone(compileWhere(app.model, entity, where), row);
  if (alone !== undefined) return alone ? row : undefined;
  return (await driver.findOne(entity, allOf({ id: row.id }, where), { select })) ?? undefined;
}

/**
 * Returns a stored record that a decision allows; undefined if it does not. As with `asItMeets`, it may have been
 * re-read.
 */
export async function asItPasses(
  asking: Asking,
  entity: AnyEntity,
  { predicate, guard }: Decision,
  row: Row,
): Promise<Row | undefined> {
  if (predicate === undefined && guard === undefined) return row;
  const met = predicate && (await asItMeets(asking, entity, predicate, row));
  if (met !== undefined) return met;
  const seen = observe(entity, row);
  const answer = guard && (await allowsOf({ predicate, guard }, seen.record));
  if (!isWhere(answer)) return answer === true ? row : undefined;
  // The values that the guard saw and the condition it returned must hold for the same state of the record.
  const again = await asItMeets(asking, entity, allOf(answer, seen.conditions()), row);
  return again !== undefined && seen.comparison()?.(again) !== false ? again : undefined;
}

/** Whether a guard returned a condition. */
export function isWhere(answer: unknown): answer is Where {
  return typeof answer === "object" && answer !== null;
}

/** A record as a rule or a validator sees it, with the columns that it has read. */
export interface Observation {
  readonly record: Row;
  /**
   * The observed values as conditions: a record with changed values does not match.
   * @param except columns to leave out, because they are being overwritten
   */
  conditions(except?: Readonly<Row>): Where;
  /**
   * Compares a re-read record with the observed values that a condition cannot express: JSON, and values that their
   * field would refuse today. Undefined when conditions are sufficient.
   * @param except columns to leave out, because they are being overwritten
   */
  comparison(except?: Readonly<Row>): ((record: Row) => boolean) | undefined;
  columns(): ReadonlySet<string>;
}

/**
 * Wraps a record for a rule or a validator and records which columns are read. The observed values become part of the
 * write, so that a decision is never applied to a record that has changed since. The record is read-only, and reading a
 * value that could not be decrypted throws.
 */
export function observe(entity: AnyEntity, given: Row): Observation {
  const row = forDecisions(given);
  /** The observed values; as text where a condition cannot express them, since code may change the JSON it reads. */
  const seen = new Map<string, string | undefined>();
  const note = (name: string | symbol): void => {
    if (typeof name !== "string" || seen.has(name) || !Object.hasOwn(entity.columns, name)) return;
    const kind = entity.columns[name]?.kind;
    const isComparable = kind?.sortable && (row[name] === null || kind.accepts(row[name]));
    seen.set(name, isComparable ? undefined : jsonText(row[name]));
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
      const parts: Condition[] = [];
      for (const [name, text] of seen)
        if (text === undefined && name in row && !Object.hasOwn(except, name))
          parts.push(compare(entity.columns[name] as ColumnDefinition, "eq", row[name] ?? null));
      return and(parts);
    },
    comparison(except = {}) {
      const texts = [...seen].filter(([name, text]) => text !== undefined && !Object.hasOwn(except, name));
      if (texts.length === 0) return undefined;
      return (again) => texts.every(([name, text]) => jsonText(again[name]) === text);
    },
  };
}

/**
 * Requires that the values which a rule or a validator observed are unchanged at the write.
 * @param except columns to leave out, because they are being overwritten @default no columns
 */
export function expectUnchanged(operation: Operation, seen: Observation, except?: Readonly<Row>): void {
  const conditions = seen.conditions(except);
  if (Object.keys(conditions).length > 0) operation.require(conditions, "changed");
  const isSame = seen.comparison(except);
  if (isSame !== undefined) operation.require(isSame, "changed");
}
