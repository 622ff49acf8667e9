import type { AnyEntity } from "../../entity/index.ts";
import { runHooks } from "../../kernel/index.ts";
import { type MutableOperation, newOperation } from "../operation/new-operation.ts";
import type { Decision, OperationInput } from "../operation/operation.ts";
import { authorize, both } from "../operation/policy.ts";
import { conditionUpTo, isRequired } from "../operation/requirement.ts";
import type { GateScope, OperationPlan } from "../operation/runtime.ts";

/**
 * What policies and hooks say about an operation, without running it. A promise only where one of them waits.
 * @param includesReach whether the decision includes all that is required of a record for the caller to reach it
 */
export function decide(scope: GateScope, input: OperationInput, includesReach = true): Decision | Promise<Decision> {
  const { entity, planOf } = scope.runtime.find(input.entity);
  const operation = newOperation(scope, entity, input);
  const plan = planOf(operation.kind, operation.access);
  const conclude = (): Decision | Promise<Decision> =>
    includesReach ? withReach(plan, operation) : operation.decision;
  const isSystem = scope.principal.kind === "system";
  if (isSystem) operation.decision.allowed = true;
  const asked = isSystem ? undefined : authorize(plan, operation);
  return asked === undefined ? conclude() : asked.then(conclude);
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
  return reach === undefined ? decision : Object.assign(decision, both(decision, { allowed: true, predicate: reach }));
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
