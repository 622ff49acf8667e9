import { type AnyEntity, type EntityModel, reachesOwnKind } from "../../entity/index.ts";
import type { ServiceSource } from "../container/scoped-container.ts";
import type { MaskDraft } from "../hooks/hook-map.ts";
import type { Hook, HookRegistry } from "../hooks/hook-registry.ts";
import type { Limits } from "../limits.ts";
import type { Clock, IdGenerator } from "../ports/clock.ts";
import type { Driver, EntityRef } from "../ports/driver.ts";
import type { Logger } from "../ports/logger.ts";
import type { Tracer } from "../ports/tracer.ts";
import { entityName, foundEntity } from "../records/find-entity.ts";
import { baseMask, type FieldMask } from "../records/mask.ts";
import { tracedHooks } from "../trace/traced-hooks.ts";
import type { Operation, OperationKind } from "./operation.ts";
import type { OperationScope } from "./scope.ts";

/** The hook functions of one entity and kind, phase by phase; compiled at boot so that a phase without hooks costs nothing. */
export interface OperationPlan {
  readonly authorize: readonly Hook<Operation>[];
  readonly narrow: readonly Hook<Operation>[];
  readonly normalize: readonly Hook<Operation>[];
  readonly validate: readonly Hook<Operation>[];
  readonly protect: readonly Hook<Operation>[];
  readonly execute: readonly Hook<Operation>[];
  readonly reveal: readonly Hook<Operation>[];
  readonly join: readonly Hook<Operation>[];
  readonly redact: readonly Hook<Operation>[];
  readonly committed: readonly Hook<Operation>[];
  /** Whether it changes nothing. */
  readonly isRead: boolean;
  /** Whether nobody on the way needs the records' moments as `Date`s. */
  readonly textMoments: boolean;
  /** Whether its records are the rows under its decision's predicate, as long as it includes nothing. */
  readonly isPlain: boolean;
  /** Whether one operation may change several records. */
  readonly takesSeveral: boolean;
}

/** What is known about an entity before anybody asks. */
export interface CompiledEntity {
  readonly entity: AnyEntity;
  readonly plans: Readonly<Record<OperationKind, OperationPlan>>;
  /** The widest mask. */
  readonly mask: FieldMask;
  /** What narrows it for a caller. */
  readonly maskHooks: readonly Hook<MaskDraft>[];
}

/** What operations of one app share. */
export interface OperationRuntime {
  readonly model: EntityModel;
  /** What the gate's statements run on: the app's driver with the layers of plugins around it. */
  readonly driver: Driver;
  /** What plugins put around a driver before handlers, hooks and rules get it. */
  readonly handlerDriver: (driver: Driver, scope?: OperationScope) => Driver;
  readonly limits: Limits;
  readonly log: Logger;
  readonly production: boolean;
  readonly clock: Clock;
  readonly ids: IdGenerator;
  readonly container: ServiceSource;
  readonly hooks: HookRegistry;
  /** What sees the app's work. @default nobody does */
  readonly tracer?: Tracer | undefined;
  /** @throws EntityNotFoundError when the app has no entity of that name */
  find(entity: EntityRef): CompiledEntity;
}

/**
 * Compiles the plans and masks of all entities, those of other services included, whose records are masked here. Called
 * once, after all plugins are set up.
 */
export function compileRuntime(parts: Omit<OperationRuntime, "find">): OperationRuntime {
  const all = [...parts.model.entities, ...parts.model.foreign];
  const hooks = tracedHooks(parts.hooks, parts.tracer);
  const compiled = new Map<EntityRef, CompiledEntity>();
  for (const entity of all) {
    const own = compileEntity(hooks, entity, parts.model);
    compiled.set(entity, own).set(entity.name, own);
  }
  // Nearly all who ask have the app's own definition; another one of the same name means it.
  const find = (ref: EntityRef): CompiledEntity => compiled.get(ref) ?? foundEntity(ref, compiled.get(entityName(ref)));
  return Object.freeze({ ...parts, find });
}

function compileEntity(hooks: Pick<HookRegistry, "listFor">, entity: AnyEntity, model: EntityModel): CompiledEntity {
  const takes = (kind: OperationKind): boolean =>
    kind === "update" || (kind === "delete" && !reachesOwnKind(model, entity));
  const plan = (kind: OperationKind): OperationPlan => compilePlan(hooks, entity, kind, takes(kind));
  const reads = { list: plan("list"), read: plan("read"), count: plan("count") };
  const plans = { ...reads, create: plan("create"), update: plan("update"), delete: plan("delete") };
  const maskHooks = hooks.listFor("access:mask", entity, "read");
  return Object.freeze({ entity, plans, mask: baseMask(entity), maskHooks });
}

function compilePlan(
  hooks: Pick<HookRegistry, "listFor">,
  entity: AnyEntity,
  kind: OperationKind,
  takesSeveral: boolean,
): OperationPlan {
  const stores = kind === "create" || kind === "update";
  const changes = stores || kind === "delete";
  const of = (
    ...phases: readonly Exclude<keyof OperationPlan, "isRead" | "textMoments" | "isPlain" | "takesSeveral">[]
  ) => phases.flatMap((phase) => hooks.listFor(`operation:${phase}`, entity, kind));
  const seeing = of("execute", "reveal", "join", "redact");
  const deciding = of("authorize", "narrow");
  const changing = of("authorize", "narrow", "normalize", "validate", "protect", "execute", "committed");
  // A rule for a field compares what was read.
  const isRuled = Object.values(entity.fields).some(({ readable }) => readable !== undefined);
  return Object.freeze({
    isRead: !changes,
    textMoments: !isRuled && seeing.every((hook) => hook.textMoments),
    takesSeveral: takesSeveral && changing.every((hook) => hook.severalRecords),
    isPlain: !isRuled && [...deciding, ...seeing].every((hook) => hook.plainLists),
    authorize: hooks.listFor("operation:authorize", entity, kind),
    narrow: kind === "create" ? [] : hooks.listFor("operation:narrow", entity, kind),
    normalize: stores ? hooks.listFor("operation:normalize", entity, kind) : [],
    validate: stores ? hooks.listFor("operation:validate", entity, kind) : [],
    protect: stores ? hooks.listFor("operation:protect", entity, kind) : [],
    execute: hooks.listFor("operation:execute", entity, kind),
    reveal: hooks.listFor("operation:reveal", entity, kind),
    join: hooks.listFor("operation:join", entity, kind),
    redact: hooks.listFor("operation:redact", entity, kind),
    committed: changes ? hooks.listFor("operation:committed", entity, kind) : [],
  });
}
