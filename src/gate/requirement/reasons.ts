import { type AnyEntity, jsonText } from "../../entity/index.ts";
import { allOf, compileWhere } from "../condition/compile-where.ts";
import { ALWAYS, type Condition } from "../condition/condition.ts";
import type { FurtherWrite } from "../operation/further-write.ts";
import type { Decision } from "../operation/operation.ts";
import type { OperationScope } from "../operation/operation-scope.ts";
import { allowsOf } from "../operation/policy.ts";
import { asBeforeWrites, meetsChanged, writesById } from "./new-record.ts";
import { isWhere, observe } from "./passes.ts";

/** The records that a decision allows: for each id a condition that the record meets, and by which it is allowed. */
export type Reasons = ReadonlyMap<string, Condition>;

type Asking = Pick<OperationScope, "app" | "driver">;

/** The most ids of one statement. */
const PORTION = 500;

/** Asks the database and the rules which stored records a decision allows. */
export async function reasonsFor(
  { app, driver }: Asking,
  entity: AnyEntity,
  { allowed, predicate, guard }: Decision,
  ids: readonly string[],
): Promise<Reasons> {
  const reasons = new Map<string, Condition>();
  if (!allowed) return reasons;
  if (predicate === undefined && guard === undefined) return new Map(ids.map((id) => [id, ALWAYS]));
  if (predicate !== undefined) {
    const rule = compileWhere(app.model, entity, predicate);
    for (const id of await findIds(driver, entity, ids, rule)) reasons.set(id, rule);
  }
  if (guard === undefined) return reasons;
  const known = new Map<string, Condition>();
  for (const id of ids) {
    const row = reasons.has(id) ? null : await driver.findOne(entity, { id });
    if (row === null) continue;
    const seen = observe(entity, row);
    const answer = await allowsOf({ predicate, guard }, seen.record);
    if (!isWhere(answer)) {
      if (answer) reasons.set(id, ALWAYS);
      continue;
    }
    // The values that the guard saw and the condition that it returned must hold for the same state of the record.
    const rule = compileWhere(app.model, entity, answer);
    const now = compileWhere(app.model, entity, allOf(rule, seen.conditions()));
    if ((await findIds(driver, entity, [id], now)).length === 0) continue;
    const text = textOf(rule);
    const reason = known.get(text) ?? rule;
    known.set(text, reason);
    reasons.set(id, reason);
  }
  return reasons;
}

/**
 * The records that are still allowed for the same reasons, as if writes had not been made. Rules are not called again,
 * since the data that they ask for may contain these writes.
 * @param writes in their order
 */
export async function stillAllowed(
  { driver }: Asking,
  entity: AnyEntity,
  reasons: Reasons,
  writes: readonly FurtherWrite[],
): Promise<ReadonlySet<string>> {
  const allowed = new Set<string>();
  const written = writesById(entity, writes);
  for (const reason of new Set(reasons.values())) {
    const ids = [...reasons.keys()].filter((id) => reasons.get(id) === reason);
    if (reason === ALWAYS) {
      for (const id of ids) allowed.add(id);
      continue;
    }
    const where = await asBeforeWrites(driver, reason, writes);
    const others: string[] = [];
    for (const id of ids) {
      const { before, pairs } = written.get(id) ?? {};
      if (before == null) others.push(id);
      else if (await meetsChanged(driver, where, before, pairs)) allowed.add(id);
    }
    for (const id of await findIds(driver, entity, others, where)) allowed.add(id);
  }
  return allowed;
}

/** The same text for conditions that say the same, so that they are checked once. */
function textOf(condition: Condition): string {
  switch (condition.op) {
    case "and":
    case "or":
      return `${condition.op}(${condition.of.map(textOf).join()})`;
    case "not":
      return `not(${textOf(condition.of)})`;
    case "related":
      return `${condition.relation.source.name}.${condition.relation.name}(${textOf(condition.matches)})`;
    case "compare": {
      const { column, test, value, record } = condition;
      const about = record && `${record.entity.name}(${textOf(record.where)})`;
      return jsonText([column.name, test, value, about]);
    }
    default:
      return condition.op;
  }
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
