import type { AnyEntity, EntityModel } from "../../entity/index.ts";
import type { ServiceSource } from "../container/scoped-container.ts";
import type { Hook, HookRegistry } from "../hooks/hook-registry.ts";
import type { Limits } from "../limits.ts";
import type { Clock, IdGenerator } from "../ports/clock.ts";
import type { Driver } from "../ports/driver.ts";
import type { Logger } from "../ports/logger.ts";
import { baseMask, type FieldMask } from "../records/mask.ts";
import type { Operation, OperationKind } from "./operation.ts";

const KINDS: readonly OperationKind[] = ["create", "list", "read", "count", "update", "delete"];

/** The hook functions of one entity and kind, phase by phase; compiled at boot so that a phase without hooks costs nothing. */
export interface OperationPlan {
  readonly authorize: readonly Hook<Operation>[];
  readonly normalize: readonly Hook<Operation>[];
  readonly validate: readonly Hook<Operation>[];
  readonly protect: readonly Hook<Operation>[];
  readonly execute: readonly Hook<Operation>[];
  readonly reveal: readonly Hook<Operation>[];
  readonly join: readonly Hook<Operation>[];
  readonly redact: readonly Hook<Operation>[];
  readonly committed: readonly Hook<Operation>[];
}

/** What operations of one app share. */
export interface OperationRuntime {
  readonly model: EntityModel;
  readonly driver: Driver;
  readonly limits: Limits;
  readonly log: Logger;
  readonly production: boolean;
  readonly clock: Clock;
  readonly ids: IdGenerator;
  readonly container: ServiceSource;
  readonly hooks: HookRegistry;
  plan(entity: AnyEntity, kind: OperationKind): OperationPlan;
  baseMask(entity: AnyEntity): FieldMask;
}

/** Compiles the plans and masks of all entities. Called once, after all plugins are set up. */
export function compileRuntime(parts: Omit<OperationRuntime, "plan" | "baseMask">): OperationRuntime {
  const plans = new Map<AnyEntity, Map<OperationKind, OperationPlan>>();
  const masks = new Map<AnyEntity, FieldMask>();
  for (const entity of parts.model.entities) {
    plans.set(entity, new Map(KINDS.map((kind) => [kind, compilePlan(parts.hooks, entity, kind)])));
    masks.set(entity, baseMask(entity));
  }
  return Object.freeze({
    ...parts,
    plan: (entity: AnyEntity, kind: OperationKind) => plans.get(entity)?.get(kind) as OperationPlan,
    baseMask: (entity: AnyEntity) => masks.get(entity) as FieldMask,
  });
}

function compilePlan(hooks: HookRegistry, entity: AnyEntity, kind: OperationKind): OperationPlan {
  return Object.freeze({
    authorize: hooks.listFor("operation:authorize", entity, kind),
    normalize: hooks.listFor("operation:normalize", entity, kind),
    validate: hooks.listFor("operation:validate", entity, kind),
    protect: hooks.listFor("operation:protect", entity, kind),
    execute: hooks.listFor("operation:execute", entity, kind),
    reveal: hooks.listFor("operation:reveal", entity, kind),
    join: hooks.listFor("operation:join", entity, kind),
    redact: hooks.listFor("operation:redact", entity, kind),
    committed: hooks.listFor("operation:committed", entity, kind),
  });
}
