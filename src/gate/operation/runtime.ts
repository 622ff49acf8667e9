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

/**
 * The hooks and policies of operations of one entity and kind, by phase. Compiled at start, so that an empty phase
 * costs nothing.
 */
export interface OperationPlan {
  /** Policies and hooks that decide what callers may do. */
  readonly authorize: readonly Hook<Operation>[];
  /** Policies and hooks that restrict which records exist. */
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
  /** Whether the operation only reads. */
  readonly isRead: boolean;
  /** Whether datetimes may stay texts: no hook or field rule reads the records between statement and response. */
  readonly textMoments: boolean;
  /**
   * Whether the records are exactly the rows that match the decision's predicate, unless the query includes related
   * records.
   */
  readonly isPlain: boolean;
  /** Whether one operation may change several records. */
  readonly takesSeveral: boolean;
  /** Whether callers may not write anything with it, because no plugin validates their input. */
  readonly isUnguarded: boolean;
  /** Whether no hook reads the stored record. */
  readonly isUnseen: boolean;
}

/** The compiled plans and mask of an entity. */
export interface CompiledEntity {
  readonly entity: AnyEntity;
  /**
   * Returns the plan of an operation.
   * @param access the rules that the operation is checked against. If they belong to another kind, the policies and
   *   hooks of both kinds decide: an action that reads a record under the rules of update is for callers who may update
   *   it.
   */
  planOf(kind: OperationKind, access: Access): OperationPlan;
  /** The widest mask. */
  readonly mask: FieldMask;
  /** The hooks that narrow the mask for a caller. */
  readonly maskHooks: readonly Hook<MaskDraft>[];
}

/** The state that all operations of an app share. */
export interface OperationRuntime {
  /** The part that scopes expose. */
  readonly app: ScopeApp;
  readonly model: EntityModel;
  /** Runs the gate's statements: the app's driver, wrapped in the plugins' layers. */
  readonly driver: Driver;
  /** Wraps a driver in the plugins' layers for handlers, hooks and rules. */
  readonly handlerDriver: (driver: Driver, scope?: OperationScope) => Driver;
  readonly limits: Limits;
  readonly log: Logger;
  readonly production: boolean;
  readonly clock: Clock;
  readonly ids: IdGenerator;
  readonly container: ServiceSource;
  readonly hooks: HookRegistry<HookMap>;
  readonly policies: readonly DeclaredPolicy[];
  /** Whether a plugin validates input. */
  readonly hasValidation: boolean;
  /** Wraps the driver of a scope with stamps and change listeners. @default no wrapper */
  readonly around?: ((driver: Driver, scope: GateScope) => Driver) | undefined;
  /** The values that plugins store with every new record. @default none */
  readonly stampOf?: ((scope: GateScope, entity: AnyEntity) => Row | undefined) | undefined;
  /** Observes operations, hooks and calls of services, for traces. @default no tracer */
  readonly tracer?: Tracer | undefined;
  /** @throws EntityNotFoundError when the app has no entity of that name */
  find(entity: EntityRef): CompiledEntity;
}

/** A scope with the members that only the gate uses. */
export interface GateScope extends OperationScope {
  readonly runtime: OperationRuntime;
  /** The unwrapped driver, for the gate's own statements. */
  readonly store: Driver;
  /** Whether the request has timed out. */
  readonly isExpired: boolean;
  /** Whether its transaction can only be rolled back, since joined work has failed after a write. */
  readonly isFailed: boolean;
  /**
   * Runs a task after the writes so far are committed: immediately, or after the surrounding transaction. The task
   * receives the scope outside all transactions, because a finished transaction cannot run statements.
   */
  whenCommitted(task: (outermost: GateScope) => Promise<void>): Promise<void>;
  /** Runs work as another caller, in the same transaction if there is one. */
  actAs<T>(principal: Principal, work: (scope: OperationScope) => Promise<T>): Promise<T>;
}

/**
 * Compiles the plans and masks of all entities. They include entities of other services, whose records are masked here.
 * Called once, after all plugins are set up.
 */
export function compileRuntime(parts: Omit<OperationRuntime, "find" | "app">): OperationRuntime {
  const all = [...parts.model.entities, ...parts.model.foreign];
  const asked = askedOf(parts);
  const compiled = new Map<EntityRef, CompiledEntity>();
  for (const entity of all) {
    const own = compileEntity(asked, entity, parts.model);
    compiled.set(entity, own).set(entity.name, own);
  }
  // Most callers pass the app's own definition; other definitions are looked up by name.
  const find = (ref: EntityRef): CompiledEntity => compiled.get(ref) ?? foundEntity(ref, compiled.get(entityName(ref)));
  const { model, limits, log, clock } = parts;
  return Object.freeze({ ...parts, app: Object.freeze({ model, limits, log, now: () => clock.now() }), find });
}

/** Hooks and policies that apply to any of these kinds are used. */
type Kinds = readonly OperationKind[];

/** Finds the hooks and policies of an entity's operations, wrapped for the tracer. */
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
  // Rules of fields compare the values that were read, so datetimes must be `Date`s for them.
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
  /** Starts at 1. */
  readonly attempt: number;
}

/**
 * The service `kernel.tracer`: observes the parts of an app's work, which may be nested. Every method runs the given
 * work once and returns its result. Without the service, tracing costs nothing.
 */
export interface Tracer extends RequestTracer {
  /** An operation, through all its phases. */
  operation(input: OperationInput, work: () => Promise<Operation>): Promise<Operation>;
  /** One call of a hook function. */
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
