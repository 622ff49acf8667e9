import { allOf } from "../condition/compile-where.ts";
import type { Row, Where } from "../condition/where.ts";
import type { MutableOperation } from "../operation/new-operation.ts";
import type { Decision, Operation, OperationInput } from "../operation/operation.ts";
import { conditionUpTo } from "../operation/requirement.ts";
import type { GateScope } from "../operation/runtime.ts";
import { decide } from "./decisions.ts";
import { asItPasses } from "./passes.ts";

const NO_RECORD: Where = Object.freeze({ id: { in: [] } });

/**
 * The stored record of an update or delete as hooks may look at it before the statement: only if it exists for the
 * operation, the rules let the caller change it, and it meets the request's precondition. A record that is to be left as it
 * is is not missing. Nothing that depends on another record's values may be told; the statement refuses it. If the operation
 * reaches it by then, it is asked again from what was submitted, because hooks have not seen it.
 * @returns null where the operation does not reach the record
 */
export async function storedRecord(operation: Operation): Promise<Row | null> {
  const record = await reachedRecord(operation as MutableOperation);
  if (record === null) operation.require(NO_RECORD, "changed");
  return record;
}

async function reachedRecord({ entity, id, decision, scope, requirements }: MutableOperation): Promise<Row | null> {
  const { predicate, guard } = decision;
  const rule = guard === undefined ? predicate : undefined;
  const row = await scope.store.findOne(entity, allOf({ id }, rule, conditionUpTo(requirements, "asked")));
  if (row === null || guard === undefined) return row;
  return (await asItPasses(asking(scope), entity, decision, row)) ?? null;
}

/**
 * A condition on the stored record that comes from the caller, so that the response tells whether it holds: it holds of no
 * record that they may not read. An operation on several records of which they may read some is done one by one.
 */
export function asReader(operation: Operation, where: Where): Where | Promise<Where> {
  if (operation.principal.kind === "system") return where;
  const { ids } = operation;
  const decision = readDecisionOf(
    operation as MutableOperation,
    ids === undefined ? { id: String(operation.id) } : { ids },
  );
  return !(decision instanceof Promise) && readsAll(decision) ? where : narrowed(operation, where, decision);
}

const readsAll = ({ allowed, predicate, guard }: Decision): boolean =>
  allowed && predicate === undefined && guard === undefined;

async function narrowed(operation: Operation, where: Where, asked: Decision | Promise<Decision>): Promise<Where> {
  const { entity, scope } = operation as MutableOperation;
  const decision = await asked;
  if (readsAll(decision)) return where;
  if (operation.ids !== undefined && decision.forSome) {
    operation.apart = true;
    return NO_RECORD;
  }
  if (!decision.allowed) return NO_RECORD;
  if (decision.guard === undefined) return allOf(where, decision.predicate);
  const row = await scope.store.findOne(entity, { id: operation.id });
  const passing = row && (await asItPasses(asking(scope), entity, decision, row));
  return passing ? where : NO_RECORD;
}

/**
 * What is said about reading the record of a write. Where code reaches deleted records, these are there for the write, and so
 * for its answer and its precondition.
 */
export function readDecisionOf(
  { entity, scope, query }: MutableOperation,
  which: Pick<OperationInput, "id" | "ids">,
): Decision | Promise<Decision> {
  return decide(scope, { kind: "read", entity, ...which }, query.deleted === undefined);
}

const asking = ({ model, store }: GateScope) => ({ model, driver: store });
