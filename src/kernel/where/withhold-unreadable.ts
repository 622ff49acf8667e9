import { runHooks } from "../hooks/hook-registry.ts";
import { type MutableOperation, newOperation } from "../operations/new-operation.ts";
import type { Decision } from "../operations/operation.ts";
import type { Row } from "../ports/driver.ts";
import { allOf, compileWhere } from "./condition.ts";
import { matchesAlone } from "./matches.ts";
import { observe } from "./observe.ts";

/**
 * A write must not be a way to read: who may not read the record they wrote is told its id and nothing else, and
 * nothing of what is related to it (security.md item 1).
 */
export async function withholdUnreadable(operation: MutableOperation): Promise<void> {
  const row = operation.records[0];
  if (row === undefined || (await mayRead(operation, row))) return;
  operation.records = [{ id: row.id }];
  operation.query = { ...operation.query, include: undefined };
}

async function mayRead(operation: MutableOperation, row: Row): Promise<boolean> {
  const decision = await readDecisionOf(operation, String(row.id));
  return decision.allowed && (await passes(operation, decision, row));
}

/** What the rules say about reading a record whose id is known. */
export async function readDecisionOf({ entity, scope }: MutableOperation, id: string): Promise<Decision> {
  const asked = newOperation(scope, entity, { kind: "read", entity, id });
  await runHooks(scope.runtime.find(entity).plans.read.authorize, asked);
  return asked.decision;
}

/** Whether a record is one of those that a decision allows something with. */
export async function passes({ entity, scope }: MutableOperation, decision: Decision, row: Row): Promise<boolean> {
  const { predicate, guard } = decision;
  if (predicate === undefined && guard === undefined) return true;
  if (predicate !== undefined) {
    const alone = matchesAlone(compileWhere(scope.model, entity, predicate), row);
    const where = allOf({ id: row.id }, predicate);
    if (alone ?? (await scope.store.findOne(entity, where, { select: ["id"] })) !== null) return true;
  }
  return (await guard?.(observe(entity, row).record)) === true;
}
