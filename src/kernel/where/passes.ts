import type { AnyEntity } from "../../entity/index.ts";
import type { Decision } from "../operations/operation.ts";
import type { RequestScope } from "../operations/request-scope.ts";
import type { OperationScope } from "../operations/scope.ts";
import type { Row, Where } from "../ports/driver.ts";
import { allOf, compileWhere } from "./compile-where.ts";
import { matchesAlone } from "./matches.ts";
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
  { entity, scope }: { readonly entity: AnyEntity; readonly scope: RequestScope },
  { predicate, guard }: Decision,
  row: Row,
): Promise<Row | undefined> {
  if (predicate === undefined && guard === undefined) return row;
  const asking = { model: scope.model, driver: scope.store };
  const met = predicate && (await asItMeets(asking, entity, predicate, row));
  if (met !== undefined) return met;
  const answer = await guard?.(observe(entity, row).record);
  if (isWhere(answer)) return asItMeets(asking, entity, answer, row);
  return answer === true ? row : undefined;
}

/** Whether a guard leaves its answer to a condition. */
export function isWhere(answer: unknown): answer is Where {
  return typeof answer === "object" && answer !== null;
}
