import type { AnyEntity } from "../../entity/index.ts";
import { allOf, compileWhere } from "../condition/compile-where.ts";
import { matchesAlone } from "../condition/matches.ts";
import type { Row, Where } from "../condition/where.ts";
import type { Decision } from "../operation/operation.ts";
import type { OperationScope } from "../operation/operation-scope.ts";
import { observe } from "./observe.ts";

type Asking = Pick<OperationScope, "model" | "driver">;

/** Whether a stored record meets a condition; the database is asked where the record alone does not tell. */
export async function meets(asking: Asking, entity: AnyEntity, where: Where, row: Row): Promise<boolean> {
  return (await asItMeets(asking, entity, where, row, ["id"])) !== undefined;
}

/**
 * A stored record as it is when it meets a condition: as it was read where that alone tells, else as the database has it by
 * then, because it may have changed and what was read may not be for the caller. Undefined when it does not meet it.
 */
export async function asItMeets(
  { model, driver }: Asking,
  entity: AnyEntity,
  where: Where,
  row: Row,
  select?: readonly string[],
): Promise<Row | undefined> {
  const alone = matchesAlone(compileWhere(model, entity, where), row);
  if (alone !== undefined) return alone ? row : undefined;
  return (await driver.findOne(entity, allOf({ id: row.id }, where), { select })) ?? undefined;
}

/**
 * A stored record as it is when a decision allows something with it; undefined when it does not. It may differ from what was
 * read, as with `asItMeets`.
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
  const answer = await guard?.(seen.record);
  if (!isWhere(answer)) return answer === true ? row : undefined;
  // What the guard saw and what it leaves to a condition must be true of the record at one moment.
  const again = await asItMeets(asking, entity, allOf(answer, seen.conditions()), row);
  return again !== undefined && seen.comparison()?.(again) !== false ? again : undefined;
}

/** Whether a guard leaves its answer to a condition. */
export function isWhere(answer: unknown): answer is Where {
  return typeof answer === "object" && answer !== null;
}
