import { type AnyEntity, createModel, type EntityLike, type EntityModel, type EntityRules } from "../entity/index.ts";
import {
  type Base,
  type Clock,
  createKernel,
  type Ground,
  type HookRegistry,
  type Kernel,
  type KernelOptions,
  type KernelPlugin,
  type KernelPluginOptions,
  makePlugin,
  type Principal,
  routeSegment,
  SYSTEM,
  shapeProblems,
  type User,
} from "../kernel/index.ts";
import { createChangeSeam, type DeclaredListener } from "./change/change-seam.ts";
import type { ChangeOptions } from "./change/record-change.ts";
import { createStamps, type DeclaredStamp } from "./change/stamps.ts";
import { compileClients, type EntityClient } from "./client/in-process-client.ts";
import { entitiesWith } from "./entity-schema.ts";
import { layerDriver, missingFeatures } from "./features.ts";
import type { Plugin, PluginConfig, PluginContext } from "./gate-plugin.ts";
import { HOOK_NAMES, type HookMap } from "./operation/hook-map.ts";
import { defaultIds, type IdGenerator } from "./operation/new-ids.ts";
import type { OperationScope } from "./operation/operation-scope.ts";
import type { DeclaredPolicy } from "./operation/policy.ts";
import type { Route } from "./operation/route.ts";
import { compileRuntime, type GateScope, tracerOf } from "./operation/runtime.ts";
import { presentError, toJson } from "./record/serialize.ts";
import { taggingDriver } from "./record/tag-record.ts";
import { RequestScope } from "./run/request-scope.ts";
import type { Driver } from "./statement/driver-port.ts";

/** Options of the gate: the entities it guards and where they are stored. */
export interface GateOptions {
  readonly entities: readonly EntityLike[];
  readonly driver: Driver;
  /** Rules for entities without their own. @default no rules: such an entity denies all access */
  readonly defaultRules?: EntityRules | undefined;
  /** @default the system's time */
  readonly clock?: Clock | undefined;
  /** Makes record ids. @default UUID version 7 */
  readonly ids?: IdGenerator | undefined;
}

/** The service `gate.records`: the records of an app, for code outside its plugins. */
export interface Records {
  readonly model: EntityModel;
  /** The driver passed to the app. */
  readonly driver: Driver;
  /** Access as a user: same rules, same field masks, no HTTP. */
  as(user: User): Record<string, EntityClient<AnyEntity>>;
  /** Access without rules and field masks. */
  asSystem(): Record<string, EntityClient<AnyEntity>>;
  /** Runs work in one transaction; an error rolls all calls back. */
  transaction<T>(work: (records: Callers) => Promise<T>): Promise<T>;
}

/** Access to records as a user or as the system. */
export type Callers = Pick<Records, "as" | "asSystem">;

/** The types of the plugin members that the gate adds. */
export const GATE_SHAPES = {
  plugin: { schema: "object", extend: "object", wrapDriver: "function", wrapHandlerDriver: "function" },
  hook: { appliesTo: "function" },
  listener: { appliesTo: "function" },
  policy: { name: "string", appliesTo: "function", allows: "function", visible: "function" },
  endpoint: { describe: "function", transactional: "boolean" },
  route: { access: "string", obeys: undefined, call: "function" },
  change: { describe: "function" },
} as const;

/**
 * The plugin that all reads and writes of records pass through. It is the first plugin of an app: the others get
 * entities, driver and clients from their contexts.
 */
export function gate(options: GateOptions): KernelPlugin {
  return makePlugin<KernelPluginOptions>({ id: "gate", base: (ground) => layGate(options, ground) });
}

function layGate({ driver, ...options }: GateOptions, ground: Ground): Base {
  const { container, log, problem } = ground;
  const { production, limits } = ground.config;
  const plugins = ground.plugins as unknown as readonly Plugin[];
  const model = createModel(entitiesWith(options.entities, plugins, problem));
  for (const sentence of [...model.problems, ...missingFeatures(model, plugins), ...collidingSegments(model)])
    problem(sentence);
  const declared: DeclaredRecords = { policies: [], listeners: [], stamps: [] };
  const bindClients = compileClients(model.entities, ground.routes as () => readonly Route[]);
  const clientsFor = (principal: () => Principal): Record<string, EntityClient<AnyEntity>> =>
    bindClients((work) => ground.run(principal, work as never));
  const records: Records = {
    model,
    driver,
    as: (user) => clientsFor(() => ground.toPrincipal(user)),
    asSystem: () => clientsFor(() => SYSTEM),
    transaction: (work) =>
      ground.run(
        () => SYSTEM,
        (outer) =>
          (outer as GateScope).transaction((scope) => {
            const within = (principal: Principal) => bindClients((call) => (scope as GateScope).actAs(principal, call));
            return work({ as: (user) => within(ground.toPrincipal(user)), asSystem: () => within(SYSTEM) });
          }),
      ),
  };
  container.register("gate.records", () => records);
  const defaultRules = options.defaultRules ?? {};
  const config: PluginConfig = Object.freeze({ ...ground.config, defaultRules });
  return {
    contextOf: (plugin, inSetup) => ({
      entities: model,
      driver,
      config,
      records: recordsDoor(plugin.id, declared, inSetup, problem),
      clientFor: (scope: OperationScope) => bindClients((work) => work(scope)),
    }),
    hookNames: HOOK_NAMES,
    shapes: GATE_SHAPES,
    complete(setUp) {
      const layered = layerDriver(driver, setUp as unknown as Parameters<typeof layerDriver>[1]);
      const changes = createChangeSeam(model, declared.listeners, log);
      const stamps = createStamps(model, declared.stamps);
      const around = (given: Driver, scope: GateScope): Driver => {
        const reported = changes?.around(given, scope) ?? given;
        return stamps?.around(reported, scope) ?? reported;
      };
      const runtime = compileRuntime({
        model,
        ...layered,
        limits,
        log,
        production,
        clock: options.clock ?? { now: () => new Date() },
        ids: options.ids ?? defaultIds,
        container,
        policies: declared.policies,
        hasValidation: plugins.some(({ id, provides }) => id === "validation" || provides.includes("validation")),
        around: changes === undefined && stamps === undefined ? undefined : around,
        stampOf: stamps?.of,
        hooks: ground.hooks as unknown as HookRegistry<HookMap>,
        tracer: tracerOf(container),
      });
      container.setDriver(
        taggingDriver(layered.handlerDriver(changes?.around(layered.driver, undefined) ?? layered.driver), runtime),
      );
      return {
        scopes: {
          open: (init) => new RequestScope(runtime, init),
          toJson: (value, scope) => toJson(value, scope as OperationScope),
          presentError: (error, scope) => presentError(error, scope as OperationScope),
        },
        rulesOf: (route) => rulesOf(route as Route, defaultRules),
        connect: () => driver.connect({ model, log, production }),
        disconnect: () => driver.disconnect(),
      };
    },
  };
}

/** The record policies, listeners and stamps that plugins declared. */
export interface DeclaredRecords {
  readonly policies: DeclaredPolicy[];
  readonly listeners: DeclaredListener[];
  readonly stamps: DeclaredStamp[];
}

/** Makes `context.records`, where a plugin declares policies, listeners, validators and stamps. */
export function recordsDoor(
  plugin: string,
  { policies, listeners, stamps }: DeclaredRecords,
  inSetup: (call: string) => void,
  problem: (sentence: string) => void,
): PluginContext["records"] {
  /** Reports problems of a function and its options; returns whether both are valid. */
  const takes = (call: string, fn: unknown, options: ChangeOptions): boolean => {
    inSetup(call);
    const problems = shapeProblems(options, GATE_SHAPES.listener);
    if (typeof fn !== "function") problems.push("it takes a function");
    for (const one of problems) problem(`plugin "${plugin}": ${call}: ${one}`);
    return problems.length === 0;
  };
  return {
    onChange(onChange, options = {}) {
      if (takes("records.onChange", onChange, options)) listeners.push({ plugin, options, onChange });
    },
    onCommitted(onCommitted, options = {}) {
      if (takes("records.onCommitted", onCommitted, options)) listeners.push({ plugin, options, onCommitted });
    },
    validate(validate, options = {}) {
      if (takes("records.validate", validate, options)) listeners.push({ plugin, options, validate });
    },
    stamp(stamp, options = {}) {
      if (takes("records.stamp", stamp, options)) stamps.push({ plugin, options, stamp });
    },
    policy(policy) {
      inSetup(`records.policy("${policy?.name}")`);
      const problems = shapeProblems(policy, GATE_SHAPES.policy);
      if (policy?.name === undefined) problems.push("it has no name");
      if (policy?.allows === undefined && policy?.visible === undefined)
        problems.push("it needs at least one of `allows` and `visible`");
      for (const one of problems) problem(`plugin "${plugin}": policy "${policy?.name}": ${one}`);
      if (problems.length === 0) policies.push({ plugin, policy });
    },
  };
}

function rulesOf({ entity, access, obeys }: Route, defaultRules: EntityRules): readonly string[] {
  if (obeys !== undefined) return obeys;
  return entity === undefined || access === undefined ? [] : ((entity.rules ?? defaultRules)[access] ?? []);
}

/** Reports entities that would share a route path. */
function collidingSegments(model: EntityModel): string[] {
  const owners = new Map<string, string>();
  const problems: string[] = [];
  for (const entity of model.entities) {
    if (entity.internal) continue;
    const segment = routeSegment(entity);
    const owner = owners.get(segment);
    if (owner !== undefined)
      problems.push(
        `entities "${owner}" and "${entity.name}" share the path /${segment}; give one of them .plural("…")`,
      );
    owners.set(segment, entity.name);
  }
  return problems;
}

/** Options of an app. `keelson()` adds the default driver and plugins. */
export interface AppOptions extends Omit<KernelOptions, "plugins">, GateOptions {
  readonly plugins: Iterable<Plugin>;
}

/** A booted app, without the types of its entities. */
export interface App extends Kernel, Records {}

/**
 * Boots a kernel with the gate as its first plugin.
 * @throws ConfigurationError with all problems of the configuration
 */
export function createApp({ entities, driver, defaultRules, clock, ids, plugins, ...options }: AppOptions): App {
  const first = gate({ entities, driver, defaultRules, clock, ids });
  const kernel = createKernel({ ...options, plugins: [first, ...(plugins as Iterable<never>)] });
  return Object.freeze({ ...kernel, ...kernel.container.resolve<Records>("gate.records") });
}
