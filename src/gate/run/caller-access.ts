import type { AnyEntity } from "../../entity/index.ts";
import { runHooks } from "../../kernel/index.ts";
import type { EntityRef } from "../condition/condition.ts";
import type { MaskDraft } from "../operation/hook-map.ts";
import type { FieldMask } from "../operation/mask.ts";
import { newOperation } from "../operation/new-operation.ts";
import type { Decision, OperationInput } from "../operation/operation.ts";
import type { RouteAccess, ScopeAccess } from "../operation/operation-scope.ts";
import type { Route } from "../operation/route.ts";
import type { CompiledEntity, GateScope } from "../operation/runtime.ts";
import { decide, mayUse } from "../requirement/decisions.ts";
import { deniedError } from "../requirement/unmatched.ts";

interface Entry {
  readonly draft: MaskDraft;
  /** Until it settles, the mask may be narrower than the final one. */
  pending: Promise<void> | undefined;
}

/** The access of one caller; masks and decisions are made on first use. */
export class CallerAccess implements ScopeAccess {
  /** Created on first use: most callers have the shared masks. */
  #masks: Map<AnyEntity, Entry> | undefined;
  /** The rules' decisions on lists, each made once. */
  #decisions: Map<AnyEntity, Promise<Decision>> | undefined;
  readonly #scope: GateScope;

  constructor(scope: GateScope) {
    this.#scope = scope;
  }

  mask(ref: EntityRef): FieldMask {
    const compiled = this.#scope.runtime.find(ref);
    return compiled.maskHooks.length === 0 ? compiled.mask : this.#entry(compiled).draft.mask;
  }

  get masked(): readonly AnyEntity[] {
    return [...(this.#masks?.keys() ?? [])];
  }

  maskReady(ref?: EntityRef): Promise<void> | undefined {
    if (ref === undefined) return this.#allReady();
    const compiled = this.#scope.runtime.find(ref);
    return compiled.maskHooks.length === 0 ? undefined : this.#entry(compiled).pending;
  }

  async readDecision(ref: EntityRef): Promise<Decision> {
    const { entity } = this.#scope.runtime.find(ref);
    await this.maskReady(ref);
    this.#decisions ??= new Map();
    const decision = this.#decisions.get(entity) ?? Promise.resolve(decide(this.#scope, { kind: "list", entity }));
    this.#decisions.set(entity, decision);
    return decision;
  }

  listsPlainly(ref: EntityRef): boolean {
    return this.#scope.runtime.find(ref).planOf("list", "read").isPlain;
  }

  async decide(input: OperationInput): Promise<Decision> {
    const decision = await decide(this.#scope, input);
    if (decision.allowed) return decision;
    const { find, production } = this.#scope.runtime;
    throw deniedError({ ...newOperation(this.#scope, find(input.entity).entity, input), decision }, production);
  }

  mayUse(route: Route): Promise<RouteAccess> {
    return mayUse(this.#scope, route);
  }

  #allReady(): Promise<void> | undefined {
    if (this.#masks === undefined) return undefined;
    const pending = [...this.#masks.values()].flatMap((entry) => entry.pending ?? []);
    return pending.length === 0 ? undefined : Promise.all(pending).then(() => {});
  }

  #entry({ entity, mask, maskHooks }: CompiledEntity): Entry {
    this.#masks ??= new Map();
    const entries = this.#masks;
    const known = entries.get(entity);
    if (known !== undefined) return known;
    const entry: Entry = {
      draft: { entity, principal: this.#scope.principal, scope: this.#scope, mask },
      pending: undefined,
    };
    entries.set(entity, entry); // before the hooks run: their rules may read records, which needs this mask
    const forget = (error: unknown): never => {
      entries.delete(entity); // some of its hooks have not narrowed it; the next call runs them again
      throw error;
    };
    try {
      entry.pending = runHooks(maskHooks, entry.draft)?.then(() => {
        entry.pending = undefined;
      }, forget);
    } catch (error) {
      forget(error);
    }
    entry.pending?.catch(() => {}); // reported by `maskReady`; an unhandled rejection would end the process
    return entry;
  }
}
