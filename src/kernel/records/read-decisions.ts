import type { AnyEntity } from "../../entity/index.ts";
import { runHooks } from "../hooks/hook-registry.ts";
import { newOperation } from "../operations/new-operation.ts";
import type { Decision } from "../operations/operation.ts";
import type { RequestScope } from "../operations/request-scope.ts";
import type { CompiledEntity } from "../operations/runtime.ts";

/** What the rules say about one caller's reading of lists, each asked once. */
export class ReadDecisions {
  readonly #decisions = new Map<AnyEntity, Promise<Decision>>();
  readonly #scope: RequestScope;

  constructor(scope: RequestScope) {
    this.#scope = scope;
  }

  of(compiled: CompiledEntity): Promise<Decision> {
    let decision = this.#decisions.get(compiled.entity);
    if (decision === undefined) {
      decision = this.#decide(compiled);
      this.#decisions.set(compiled.entity, decision);
    }
    return decision;
  }

  async #decide({ entity, plans }: CompiledEntity): Promise<Decision> {
    const operation = newOperation(this.#scope, entity, { kind: "list", entity });
    if (this.#scope.principal.kind === "system") operation.decision.allowed = true;
    else await runHooks(plans.list.authorize, operation);
    return operation.decision;
  }
}
