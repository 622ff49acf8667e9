import { runHooks } from "../../kernel/index.ts";
import { allOf } from "../condition/compile-where.ts";
import type { Row, Where } from "../condition/where.ts";
import { type MutableOperation, newOperation } from "../operation/new-operation.ts";
import type { Decision, Operation } from "../operation/operation.ts";
import { conditionUpTo } from "../operation/requirement.ts";
import { asItPasses } from "./passes.ts";

const NO_RECORD: Where = Object.freeze({ id: { in: [] } });

/**
 * The stored record of an update or delete as hooks may look at it before the statement: only if it exists for the
 * operation, the rules let the caller change it, and it meets the request's precondition. Any other record is for the
 * statement to refuse, and nothing that depends on its values may be told before. A record that is to be left as it is
 * is not missing.
 * @returns null where the operation does not reach the record
 */
export async function storedRecord(operation: Operation): Promise<Row | null> {
  const { entity, id, decision, scope, requirements } = operation as MutableOperation;
  const { predicate, guard } = decision;
  const rule = guard === undefined ? predicate : undefined;
  const row = await scope.store.findOne(entity, allOf({ id }, rule, conditionUpTo(requirements, "asked")));
  if (row === null || guard === undefined) return row;
  return (await asItPasses(operation as MutableOperation, decision, row)) ?? null;
}

/**
 * A condition on the stored record that comes from the caller, so that the response tells whether it holds: it holds of no
 * record that they may not read. An operation on several records of which they may read some is done one by one.
 */
export function asReader(operation: Operation, where: Where): Where | Promise<Where> {
  if (operation.principal.kind === "system") return where;
  // Whether rules let the caller read all or some of several records does not depend on which.
  const id = operation.ids === undefined ? String(operation.id) : "";
  const decision = readDecisionOf(operation as MutableOperation, id);
  return !(decision instanceof Promise) && readsAll(decision) ? where : narrowed(operation, where, decision);
}

const readsAll = ({ allowed, predicate, guard }: Decision): boolean =>
  allowed && predicate === undefined && guard === undefined;

async function narrowed(operation: Operation, where: Where, asked: Decision | Promise<Decision>): Promise<Where> {
  const { entity, scope } = operation as MutableOperation;
  const decision = await asked;
  if (readsAll(decision)) return where;
  if (operation.ids !== undefined) operation.apart = true;
  if (!decision.allowed || operation.ids !== undefined) return NO_RECORD;
  if (decision.guard === undefined) return allOf(where, decision.predicate);
  const row = await scope.store.findOne(entity, { id: operation.id });
  const passing = row && (await asItPasses(operation as MutableOperation, decision, row));
  return passing ? where : NO_RECORD;
}

/** What the rules say about reading a record whose id is known. */
export function readDecisionOf({ entity, scope }: MutableOperation, id: string): Decision | Promise<Decision> {
  const asked = newOperation(scope, entity, { kind: "read", entity, id });
  const asking = runHooks(scope.runtime.find(entity).plans.read.authorize, asked);
  return asking === undefined ? asked.decision : asking.then(() => asked.decision);
}
