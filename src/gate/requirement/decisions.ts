import { passesRules, runHooks } from "../../kernel/index.ts";
import { allOf } from "../condition/compile-where.ts";
import type { Row, Where } from "../condition/condition.ts";
import type { Guard } from "../operation/mask.ts";
import {
  conditionUpTo,
  isRequired,
  type MutableOperation,
  newOperation,
  ONE_BY_ONE,
} from "../operation/new-operation.ts";
import type { Decision, Operation, OperationInput } from "../operation/operation.ts";
import type { RouteAccess } from "../operation/operation-scope.ts";
import { allowsOf, authorize, both } from "../operation/policy.ts";
import type { Route } from "../operation/route.ts";
import type { GateScope, OperationPlan } from "../operation/runtime.ts";
import { asItPasses } from "./passes.ts";

/**
 * Runs the policies and hooks that decide on an operation, without running the operation. Returns a promise only if one
 * of them is asynchronous, or for several records.
 * @param includesReach whether the decision includes the requirements that make a record reachable for the caller
 */
export function decide(scope: GateScope, input: OperationInput, includesReach = true): Decision | Promise<Decision> {
  if (input.ids !== undefined) return decideSeveral(scope, input, input.ids, includesReach);
  const { entity } = scope.runtime.find(input.entity);
  return decideAbout(newOperation(scope, entity, input), includesReach);
}

function decideAbout(operation: MutableOperation, includesReach: boolean): Decision | Promise<Decision> {
  const { entity, kind, access, scope } = operation;
  const plan = scope.runtime.find(entity).planOf(kind, access);
  const conclude = (): Decision | Promise<Decision> =>
    includesReach ? withReach(plan, operation) : operation.decision;
  const isSystem = scope.principal.kind === "system";
  if (isSystem) operation.decision.allowed = true;
  const asked = isSystem ? undefined : authorize(plan, operation);
  return asked === undefined ? conclude() : asked.then(conclude);
}

/**
 * Makes one decision for all records, or one for each when a rule or a hook needs the individual records, as the
 * operations themselves do.
 */
async function decideSeveral(
  scope: GateScope,
  input: OperationInput,
  ids: readonly string[],
  includesReach: boolean,
): Promise<Decision> {
  // Without ids, the decision is about records in general.
  if (ids.length === 0) return decide(scope, { ...input, ids: undefined }, includesReach);
  const { entity } = scope.runtime.find(input.entity);
  const together = newOperation(scope, entity, input);
  try {
    const decision = await decideAbout(together, includesReach);
    if (!together.apart) return decision;
  } catch (error) {
    if (error !== ONE_BY_ONE) throw error;
  }
  const each = new Map<unknown, Decision>();
  for (const id of ids) {
    const decision = await decide(scope, { ...input, ids: undefined, id }, includesReach);
    if (!decision.allowed) return { ...decision, forSome: true };
    each.set(id, decision);
  }
  const decisions = [...each.values()];
  const rules = decisions[0]?.rules;
  if (decisions.every(({ predicate, guard }) => predicate === undefined && guard === undefined))
    return { allowed: true, forSome: decisions.some(({ forSome }) => forSome), rules };
  const guard: Guard = (record) => {
    const decision = each.get(record.id);
    return decision !== undefined && allowsOf(decision, record);
  };
  return { allowed: true, forSome: true, guard, rules };
}

function withReach(plan: OperationPlan, operation: MutableOperation): Decision | Promise<Decision> {
  const { decision, requirements } = operation;
  decision.forSome = decision.predicate !== undefined || decision.guard !== undefined || requirements.length > 0;
  if (!decision.allowed) return decision;
  const asked = runHooks(plan.narrow, operation);
  return asked === undefined ? addReach(operation) : asked.then(() => addReach(operation));
}

function addReach({ decision, requirements }: MutableOperation): Decision {
  if (isRequired(requirements, "denied")) decision.forSome = true;
  const reach = conditionUpTo(requirements, "denied");
  return reach === undefined
    ? decision
    : Object.assign(decision, both(decision, { allowed: true, predicate: reach }), { reach });
}

const NO_RECORD: Where = Object.freeze({ id: { in: [] } });

/**
 * Returns the stored record of an update or delete to hooks before the statement: only if it exists for the operation,
 * the caller may change it, and it meets the request's precondition. A record that `when` leaves unchanged is still
 * returned. Nothing that depends on another record's values may be revealed; the statement refuses it. If the record
 * becomes reachable before the statement, the operation starts again from the input, because hooks have not seen it.
 * @returns null when the operation cannot reach the record
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
 * Restricts a caller's condition on a stored record to records they may read, since the response reveals whether it
 * holds. An operation on several records, of which the caller may read only some, runs one by one.
 */
export function asReader(operation: Operation, where: Where): Where | Promise<Where> {
  if (operation.principal.kind === "system") return where;
  const { ids } = operation;
  const which = ids === undefined ? { id: String(operation.id) } : { ids };
  const decision = readDecisionOf(operation as MutableOperation, which);
  return allowsAll(decision) ? where : narrowed(operation, where, decision);
}

/** Whether a decision is already made and allows all records. */
export const allowsAll = (decision: Decision | Promise<Decision>): boolean =>
  !(decision instanceof Promise) && readsAll(decision);

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
 * The decision on reading the record of a write. When code includes deleted records in the write, its response and
 * precondition include them, too.
 */
export function readDecisionOf(
  { entity, scope, query }: MutableOperation,
  which: Pick<OperationInput, "id" | "ids">,
): Decision | Promise<Decision> {
  return decide(scope, { kind: "read", entity, ...which }, query.deleted === undefined);
}

const asking = ({ app, store }: GateScope) => ({ app, driver: store });

const OPEN: RouteAccess = Object.freeze({ allowed: true, forAll: true, rules: undefined });

/** The gate's decision on a route: its own rules first, then its operation, if known. */
export async function mayUse(scope: GateScope, route: Route): Promise<RouteAccess> {
  const { entity, access, obeys, path, rules } = route;
  const isSystem = scope.principal.kind === "system";
  if (rules !== undefined && !isSystem && !(await passesRules(scope.runtime.hooks, route, rules, scope)))
    return { allowed: false, forAll: false, rules };
  if (entity === undefined || access === undefined)
    return rules === undefined ? { ...OPEN, forAll: false } : { ...OPEN, rules };
  const kind = access === "read" && !path.split("/").includes(":id") ? "list" : access;
  const decision = await decide(scope, { kind, access, entity, rules: obeys });
  return { allowed: decision.allowed, forAll: decision.allowed && decision.forSome !== true, rules: decision.rules };
}
