import type { AnyEntity } from "../../entity/index.ts";
import type { Decision } from "../operations/operation.ts";
import type { RequestScope } from "../operations/request-scope.ts";
import type { OperationScope } from "../operations/scope.ts";
import type { Row, Where } from "../ports/driver.ts";
import { allOf, compileWhere } from "./compile-where.ts";
import { matchesAlone } from "./matches.ts";
import { observe } from "./observe.ts";

/** Whether a stored record meets a condition; the database is asked where the record alone does not tell. */
export async function meets(
  { model, driver }: Pick<OperationScope, "model" | "driver">,
  entity: AnyEntity,
  where: Where,
  row: Row,
): Promise<boolean> {
  const alone = matchesAlone(compileWhere(model, entity, where), row);
  return alone ?? (await driver.findOne(entity, allOf({ id: row.id }, where), { select: ["id"] })) !== null;
}

/** Whether a stored record is one of those that a decision allows something with. */
export async function passes(
  { entity, scope }: { readonly entity: AnyEntity; readonly scope: RequestScope },
  { predicate, guard }: Decision,
  row: Row,
): Promise<boolean> {
  if (predicate === undefined && guard === undefined) return true;
  const { model, store: driver } = scope;
  if (predicate !== undefined && (await meets({ model, driver }, entity, predicate, row))) return true;
  const answer = await guard?.(observe(entity, row).record);
  return isWhere(answer) ? meets({ model, driver }, entity, answer, row) : answer === true;
}

/** Whether a guard leaves its answer to a condition. */
export function isWhere(answer: unknown): answer is Where {
  return typeof answer === "object" && answer !== null;
}
