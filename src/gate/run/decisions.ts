import type { AnyEntity } from "../../entity/index.ts";
import { runHooks } from "../../kernel/index.ts";
import { allOf } from "../condition/compile-where.ts";
import { newOperation } from "../operation/new-operation.ts";
import type { Decision, OperationInput } from "../operation/operation.ts";
import { conditionUpTo } from "../operation/requirement.ts";
import type { GateScope } from "../operation/runtime.ts";

/** What the rules of one entity say about an operation, without running it. */
export async function decide(scope: GateScope, input: OperationInput): Promise<Decision> {
  const { entity, plans } = scope.runtime.find(input.entity);
  const plan = plans[input.kind];
  const operation = newOperation(scope, entity, input);
  const { decision } = operation;
  if (typeof input.query === "object") operation.query = input.query;
  if (scope.principal.kind === "system") decision.allowed = true;
  else await runHooks(plan.authorize, operation);
  decision.forSome = decision.predicate !== undefined || decision.guard !== undefined;
  if (!decision.allowed || plan.narrow.length === 0) return decision;
  await runHooks(plan.narrow, operation);
  const exists = conditionUpTo(operation.requirements, "missing");
  if (exists !== undefined) decision.predicate = allOf(decision.predicate, exists);
  return decision;
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
      decision = decide(this.#scope, { kind: "list", entity });
      this.#decisions.set(entity, decision);
    }
    return decision;
  }
}
