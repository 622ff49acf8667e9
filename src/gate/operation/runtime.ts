import { type Access, type AnyEntity, type EntityModel, reachesOwnKind } from "../../entity/index.ts";
import type {
  Clock,
  Hook,
  HookRegistry,
  Limits,
  Logger,
  Principal,
  RequestTracer,
  ServiceSource,
} from "../../kernel/index.ts";
import type { EntityRef, Row } from "../condition/condition.ts";
import { entityName, foundEntity } from "../statement/define-driver.ts";
import type { Driver } from "../statement/driver-port.ts";
import type { HookMap, HookOptions, MaskDraft } from "./hook-map.ts";
import { baseMask, type FieldMask } from "./mask.ts";
import type { IdGenerator } from "./new-ids.ts";
import { ACCESS, type Operation, type OperationInput, type OperationKind } from "./operation.ts";
import type { OperationScope, ScopeApp } from "./operation-scope.ts";
import { type DeclaredPolicy, policyHooks } from "./policy.ts";

/** What runs at operations of one entity and kind, phase by phase; compiled at start, so that an empty phase costs nothing. */
export interface OperationPlan {
  /** Policies and hooks that say who may do what. */
  readonly authorize: readonly Hook<Operation>[];
  /** Policies and hooks that say which records exist. */
  readonly narrow: readonly Hook<Operation>[];
  readonly plan: readonly Hook<Operation>[];
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
  /** Whether datetimes may stay texts: no hook or field rule looks at the records between statement and response. */
  readonly textMoments: boolean;
  /** Whether its records are the rows under its decision's predicate, as long as it includes nothing. */
  readonly isPlain: boolean;
  /** Whether one operation may change several records. */
  readonly takesSeveral: boolean;
  /** Whether callers may not store anything by it, because no plugin looks at what they send. */
  readonly isUnguarded: boolean;
  /** Whether no hook looks at what was stored. */
  readonly isUnseen: boolean;
}

/** What is known about an entity before any operation on it. */
export interface CompiledEntity {
  readonly entity: AnyEntity;
  /**
   * What runs at an operation.
   * @param access whose rules allow it. Where it differs from the kind, what applies to either kind decides: an action
   *   that reads a record under the rules of update is for callers who may update it.
   */
  planOf(kind: OperationKind, access: Access): OperationPlan;
  /** The widest mask. */
  readonly mask: FieldMask;
  /** What narrows it for a caller. */
  readonly maskHooks: readonly Hook<MaskDraft>[];
}

/** What operations of one app share. */
export interface OperationRuntime {
  /** The part that scopes show. */
  readonly app: ScopeApp;
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
  readonly hooks: HookRegistry<HookMap>;
  readonly policies: readonly DeclaredPolicy[];
  /** Whether a plugin says what callers may store. */
  readonly hasValidation: boolean;
  /** What stands around the driver of a scope: stamps, and listeners to changes. @default the driver as it is */
  readonly around?: ((driver: Driver, scope: GateScope) => Driver) | undefined;
  /** What plugins store with every new record. @default nothing */
  readonly stampOf?: ((scope: GateScope, entity: AnyEntity) => Row | undefined) | undefined;
  /** Observes operations, hooks and calls of services, for traces. @default no tracer */
  readonly tracer?: Tracer | undefined;
  /** @throws EntityNotFoundError when the app has no entity of that name */
  find(entity: EntityRef): CompiledEntity;
}

/** A scope as the gate's own code has it. */
export interface GateScope extends OperationScope {
  readonly runtime: OperationRuntime;
  /** The driver as it is, for the gate's own statements. */
  readonly store: Driver;
  /** Whether the caller has been sent a timeout. */
  readonly isExpired: boolean;
  /**
   * Runs a task once what was written so far is committed: at once, or after the surrounding transaction. It gets the
   * scope outside all transactions, because a finished transaction runs no more statements.
   */
  whenCommitted(task: (outermost: GateScope) => Promise<void>): Promise<void>;
  /** Runs work on behalf of another caller, in the same transaction when there is one. */
  actAs<T>(principal: Principal, work: (scope: OperationScope) => Promise<T>): Promise<T>;
}

/**
 * Compiles the plans and masks of all entities, those of other services included, whose records are masked here. Called
 * once, after all plugins are set up.
 */
export function compileRuntime(parts: Omit<OperationRuntime, "find" | "app">): OperationRuntime {
  const all = [...parts.model.entities, ...parts.model.foreign];
  const asked = askedOf(parts);
  const compiled = new Map<EntityRef, CompiledEntity>();
  for (const entity of all) {
    const own = compileEntity(asked, entity, parts.model);
    compiled.set(entity, own).set(entity.name, own);
  }
  // Most callers pass the app's own definition; another definition of the same name stands for it.
  const find = (ref: EntityRef): CompiledEntity => compiled.get(ref) ?? foundEntity(ref, compiled.get(entityName(ref)));
  const { model, limits, log, clock } = parts;
  return Object.freeze({ ...parts, app: Object.freeze({ model, limits, log, now: () => clock.now() }), find });
}

/** Hooks and policies of any of them apply. */
type Kinds = readonly OperationKind[];

/** What the tracer sees of an entity's operations. */
interface Asked {
  readonly hasValidation: boolean;
  hooks<N extends keyof HookMap>(name: N, entity: AnyEntity, kinds: Kinds): readonly Hook<HookMap[N]>[];
  policies(says: "allows" | "visible", entity: AnyEntity, kinds: Kinds): readonly Hook<Operation>[];
}

function askedOf({ hooks, policies, hasValidation, limits, tracer }: Omit<OperationRuntime, "find" | "app">): Asked {
  const traced = <P>(found: readonly Hook<P>[]): readonly Hook<P>[] =>
    tracer === undefined
      ? found
      : found.map((hook) => ({ ...hook, run: (payload) => tracer.hook(hook, () => hook.run(payload)) }));
  return {
    hasValidation,
    hooks: (name, entity, kinds) =>
      traced(
        hooks
          .list(name)
          .filter(({ options }) => kinds.some((kind) => (options as HookOptions).appliesTo?.(entity, kind) ?? true)),
      ),
    policies(says, entity, kinds) {
      const applying = policies.filter(({ policy }) => kinds.some((kind) => policy.appliesTo?.(entity, kind) ?? true));
      return traced(policyHooks(applying, says, limits.hookMs));
    },
  };
}

const KINDS = Object.keys(ACCESS) as readonly OperationKind[];

type Phase = "authorize" | "narrow" | "execute" | "reveal" | "redact" | "committed";

function compileEntity(asked: Asked, entity: AnyEntity, model: EntityModel): CompiledEntity {
  const takes = (kind: OperationKind): boolean =>
    kind === "update" || (kind === "delete" && !reachesOwnKind(model, entity));
  const plan = (kind: OperationKind, access: Access): OperationPlan =>
    compilePlan(asked, entity, kind, access, takes(kind));
  const plans = Object.fromEntries(KINDS.map((kind) => [kind, plan(kind, ACCESS[kind])]));
  const others = new Map<string, OperationPlan>();
  function planOf(kind: OperationKind, access: Access): OperationPlan {
    if (access === ACCESS[kind]) return plans[kind] as OperationPlan;
    const key = `${kind} by ${access}`;
    const known = others.get(key) ?? plan(kind, access);
    others.set(key, known);
    return known;
  }
  const maskHooks = asked.hooks("access:mask", entity, ["read"]);
  return Object.freeze({ entity, planOf, mask: baseMask(entity), maskHooks });
}

function compilePlan(
  asked: Asked,
  entity: AnyEntity,
  kind: OperationKind,
  access: Access,
  takesSeveral: boolean,
): OperationPlan {
  const deciding: Kinds = access === ACCESS[kind] ? [kind] : [kind, access];
  const stores = kind === "create" || kind === "update";
  const changes = stores || kind === "delete";
  const hooks = <N extends keyof HookMap>(name: N, kinds: Kinds = [kind]): readonly Hook<HookMap[N]>[] =>
    asked.hooks(name, entity, kinds);
  const hasHooks = (...phases: readonly Phase[]): boolean =>
    phases.some((phase) => hooks(`operation:${phase}`).length > 0);
  const narrow = [...asked.policies("visible", entity, deciding), ...hooks("operation:narrow", deciding)];
  // A rule for a field compares what was read.
  const isAsRead =
    !hasHooks("execute", "reveal", "redact") &&
    Object.values(entity.fields).every(({ readable }) => readable === undefined);
  return Object.freeze({
    isRead: !changes,
    textMoments: isAsRead,
    isUnguarded: stores && !asked.hasValidation,
    takesSeveral: takesSeveral && !hasHooks("execute", "committed"),
    isUnseen: !hasHooks("execute", "reveal", "redact", "committed"),
    isPlain: isAsRead && !hasHooks("authorize", "narrow"),
    authorize: [...asked.policies("allows", entity, deciding), ...hooks("operation:authorize", deciding)],
    narrow: kind === "create" ? [] : narrow,
    plan: kind === "list" ? hooks("operation:plan") : [],
    normalize: stores ? hooks("operation:normalize") : [],
    validate: stores ? hooks("operation:validate") : [],
    protect: stores ? hooks("operation:protect") : [],
    execute: hooks("operation:execute"),
    reveal: hooks("operation:reveal"),
    join: hooks("operation:join"),
    redact: hooks("operation:redact"),
    committed: changes ? hooks("operation:committed") : [],
  });
}

/** An attempt of a workflow step, or of its compensation. */
export interface TracedStep {
  readonly step: string;
  readonly phase: "execute" | "compensate";
  /** From 1. */
  readonly attempt: number;
}

/**
 * The service `kernel.tracer`: observes the parts of an app's work as they begin and end, nested. Every method runs the
 * given work once and returns its result. An app without such a service pays nothing.
 */
export interface Tracer extends RequestTracer {
  /** An operation, through all its phases. */
  operation(input: OperationInput, work: () => Promise<Operation>): Promise<Operation>;
  /** A function of a hook, at one operation. */
  hook<T>(hook: { readonly name: string; readonly plugin: string }, work: () => T): T;
  /** A call of a remote service. The headers carry the trace context. */
  remote<T>(
    call: { readonly service: string; readonly entity: string },
    work: (headers: Readonly<Record<string, string>>) => Promise<T>,
  ): Promise<T>;
  /** A run of a workflow. */
  workflow<T>(workflow: { readonly name: string; readonly runId: string }, work: () => Promise<T>): Promise<T>;
  /** One attempt of a step. */
  step<T>(step: TracedStep, work: () => Promise<T>): Promise<T>;
}

/** The app's tracer, if it has one. */
export function tracerOf(services: { has(id: string): boolean; resolve(id: string): unknown }): Tracer | undefined {
  return services.has("kernel.tracer") ? (services.resolve("kernel.tracer") as Tracer) : undefined;
}
