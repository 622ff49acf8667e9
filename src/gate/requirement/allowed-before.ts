import type { AnyEntity } from "../../entity/index.ts";
import { allOf, compileWhere } from "../condition/compile-where.ts";
import type { Condition, Row, Where } from "../condition/condition.ts";
import type { Decision } from "../operation/operation.ts";
import type { OperationScope } from "../operation/operation-scope.ts";
import { allowsOf } from "../operation/policy.ts";
import { asBeforeWrites, type FurtherWrite, meetsChanged } from "./new-record.ts";
import { isWhere, observe } from "./passes.ts";

/** The most ids of one statement. */
const PORTION = 500;

/**
 * The stored records that a decision allows, as if some writes had not been made: they neither justify nor refuse
 * anything.
 * @param writes in their order
 * @returns the ids of these records
 */
export async function allowedBefore(
  { app, driver }: Pick<OperationScope, "app" | "driver">,
  entity: AnyEntity,
  decision: Decision,
  ids: readonly string[],
  writes: readonly FurtherWrite[],
): Promise<ReadonlySet<string>> {
  const { allowed: isAllowed, predicate, guard } = decision;
  if (!isAllowed) return new Set();
  if (predicate === undefined && guard === undefined) return new Set(ids);
  /** The ids of records that meet a condition. */
  const thatMeet = async (which: readonly string[], given: Where): Promise<readonly string[]> => {
    const where = await asBeforeWrites(driver, compileWhere(app.model, entity, given), writes);
    const written = which.flatMap((id) => changeOf(entity, id, writes) ?? []);
    const others = which.filter((id) => changeOf(entity, id, writes) === undefined);
    const found = await findIds(driver, entity, others, where);
    for (const { before, pairs } of written)
      if (await meetsChanged(driver, where, before, pairs)) found.push(String(before.id));
    return found;
  };
  const allowed = new Set(predicate === undefined ? [] : await thatMeet(ids, predicate));
  if (guard === undefined) return allowed;
  for (const id of ids) {
    if (allowed.has(id)) continue;
    const row = changeOf(entity, id, writes)?.before ?? (await driver.findOne(entity, { id }));
    if (row === null) continue;
    const seen = observe(entity, row);
    const answer = await allowsOf({ predicate, guard }, seen.record);
    const isMet = isWhere(answer) ? (await thatMeet([id], allOf(answer, seen.conditions()))).length > 0 : answer;
    if (isMet) allowed.add(id);
  }
  return allowed;
}

interface Change extends FurtherWrite {
  readonly before: Row;
}

/** The first change of a stored record among writes. */
function changeOf(entity: AnyEntity, id: string, writes: readonly FurtherWrite[]): Change | undefined {
  const first = writes.find((one) => one.entity === entity && one.id === id);
  return first?.before ? (first as Change) : undefined;
}

async function findIds(
  driver: OperationScope["driver"],
  entity: AnyEntity,
  ids: readonly string[],
  where: Condition,
): Promise<string[]> {
  const found: string[] = [];
  for (let start = 0; start < ids.length; start += PORTION) {
    const some = ids.slice(start, start + PORTION);
    const query = { where: allOf({ id: { in: some } }, where), select: ["id"], limit: some.length };
    for (const { id } of await driver.findMany(entity, query)) found.push(String(id));
  }
  return found;
}
