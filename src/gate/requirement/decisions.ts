import type { AnyEntity } from "../../entity/index.ts";
import { runHooks } from "../../kernel/index.ts";
import type { Guard } from "../operation/mask.ts";
import { type MutableOperation, newOperation, ONE_BY_ONE } from "../operation/new-operation.ts";
import type { Decision, OperationInput } from "../operation/operation.ts";
import { allowsOf, authorize, both } from "../operation/policy.ts";
import { conditionUpTo, isRequired } from "../operation/requirement.ts";
import type { GateScope, OperationPlan } from "../operation/runtime.ts";

/**
 * What policies and hooks say about an operation, without running it. A promise only where one of them waits, or for several
 * records.
 * @param includesReach whether the decision includes all that is required of a record for the caller to reach it
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

/** One decision about all of them, or one about each where a rule or a hook has to look at each: as for the operations themselves. */
async function decideSeveral(
  scope: GateScope,
  input: OperationInput,
  ids: readonly string[],
  includesReach: boolean,
): Promise<Decision> {
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

/** What the rules say about one caller's reading of lists, each asked once. */
export class ReadDecisions {
  readonly #decisions = new Map<AnyEntity, Promise<Decision>>();
  readonly #scope: GateScope;

  constructor(scope: GateScope) {
    this.#scope = scope;
  }

  of(entity: AnyEntity): Promise<Decision> {
    let decision = this.#decisions.get(entity);
    if (decision === undefined) {
      decision = Promise.resolve(decide(this.#scope, { kind: "list", entity }));
      this.#decisions.set(entity, decision);
    }
    return decision;
  }
}
