import { ConfigurationError } from "../../entity/index.ts";
import { type Driver, defaultIds, type OperationScope } from "../../gate/index.ts";
import {
  BadRequestError,
  getLogger,
  isUserId,
  type Limits,
  type Logger,
  safeLogger,
  UnavailableError,
  type User,
} from "../../kernel/index.ts";
import {
  toWorkflow,
  UNNAMED,
  type WorkflowDefinition,
  type WorkflowLike,
  type WorkflowResult,
} from "./definition/workflow.ts";
import { memoryEngine } from "./engine/memory-engine.ts";
import {
  type Caller,
  type EngineHost,
  type RunHandle,
  type RunRequest,
  runInScope,
  type WorkflowEngine,
} from "./engine/workflow-engine.ts";
import { joinShown, ownNotes } from "./readable-only.ts";
import { noteRights } from "./saga/noted-rights.ts";
import { runSaga } from "./saga/run-saga.ts";
import { memoryJournal, newState, type SagaRuntime, type StepEnvironment } from "./saga/saga-runtime.ts";

/**
 * Runs a workflow in the memory of this process. A failure is compensated, a crash of the process is not: use
 * `runWorkflow` for runs that survive one.
 *
 * With a handler's context, or with `resolve` of an app, entity steps are operations of the caller: rules, validation
 * and field security apply. With only a driver there are no rules. Entity steps then need a driver that protects fields
 * (`createEnhancedDriver`), or entities without rules and protected fields.
 * @param workflow steps, or a definition
 * @param options a handler's context, or input, driver, services and user
 * @returns the outcome; a failed step does not throw
 * @throws ConfigurationError for a `scope` of an app without the plugin "workflows", and for a driver other than the
 * scope's
 * @example
 * const { success, results, error } = await executeWorkflow([reserve, charge, ship], { resolve: api.resolve, user, input })
 */
export function executeWorkflow(workflow: WorkflowLike, options?: ExecuteOptions): Promise<WorkflowResult>;
export function executeWorkflow(
  driver: Driver,
  workflow: WorkflowLike,
  options?: ExecuteOptions,
): Promise<WorkflowResult>;
export async function executeWorkflow(
  first: WorkflowLike | Driver,
  second?: WorkflowLike | ExecuteOptions,
  third?: ExecuteOptions,
): Promise<WorkflowResult> {
  if (isDriver(first)) return execute(second as WorkflowLike, { ...third, driver: first });
  return execute(first, (second ?? {}) as ExecuteOptions);
}

function isDriver(value: WorkflowLike | Driver): value is Driver {
  return typeof (value as Partial<Driver> | undefined)?.findMany === "function";
}

async function execute(like: WorkflowLike, options: ExecuteOptions): Promise<WorkflowResult> {
  const definition = toWorkflow(like);
  const app = appOf(options);
  if (app !== undefined) return app.execute(definition, options);
  const { input, data = {}, driver = missingDriver(), user = null, signal, log = safeLogger(getLogger()) } = options;
  const environmentOn = (on: Driver): StepEnvironment => ({
    driver: on,
    user,
    scope: undefined,
    clients: undefined,
    resolve: options.resolve ?? missingService,
  });
  const outside = environmentOn(driver);
  const runtime: SagaRuntime = {
    runId: defaultIds.next(),
    input,
    startedAt: new Date(),
    log,
    journal: memoryJournal,
    isDurable: false,
    signal,
    lost: undefined,
    environment: () => outside,
    transaction: (_, work) => driver.transaction((inner) => work(environmentOn(inner))),
  };
  return runSaga(definition, runtime, newState({ ...definition.data, ...data }));
}

function missingService<T>(service: string): T {
  throw new ConfigurationError(`Service "${service}" not found: the workflow was given no \`resolve\``);
}

/** Fails only when it is used: many steps never use a driver. */
function missingDriver(): Driver {
  return new Proxy({} as Driver, {
    get(): never {
      throw new ConfigurationError("The workflow was given no driver: executeWorkflow(steps, { driver })");
    },
  });
}

/** Options of a run: the context of a handler, an app's `resolve` with a user, or a driver. */
export interface ExecuteOptions {
  readonly input?: unknown;
  /** Initial `data`, in addition to the workflow's own. */
  readonly data?: Readonly<Record<string, unknown>> | undefined;
  /** The scope of a handler's context: its caller, its driver and its transaction. @default none */
  readonly scope?: OperationScope | undefined;
  /**
   * With a `scope`, only its own driver is allowed; with an app, it is ignored. @default none: entity steps, and steps
   * that use a driver, fail
   */
  readonly driver?: Driver | undefined;
  /** The user whose rights it has, when there is no `scope`. @default null, the anonymous caller */
  readonly user?: User | null | undefined;
  /** In an app: runs with the system's rights, and so without rules. @default false */
  readonly asSystem?: boolean | undefined;
  /** Resolves services. With an app's own `resolve`, the workflow runs in this app. @default there are no services */
  readonly resolve?: (<T = unknown>(service: string) => T) | undefined;
  /** Gives up the run: the running step is abandoned, and completed steps are compensated. */
  readonly signal?: AbortSignal | undefined;
  /** @default the app's logger, or the process-wide one */
  readonly log?: Logger | undefined;
}

/** Options of `runWorkflow`: those of `executeWorkflow`, and the run's id. */
export interface RunOptions extends Omit<ExecuteOptions, "signal"> {
  /** The run's id. A second run with the same id attaches to the first. @default a new id */
  readonly runId?: string | undefined;
}

/** Name of the service that runs an app's workflows. */
export const ENGINE_SERVICE = "workflows.engine";

/** The service `workflows.engine`, which `runWorkflow` and `executeWorkflow` use. */
export interface AppWorkflows {
  /** Starts a run on the app's engine. */
  begin(workflow: WorkflowDefinition, options: RunOptions): Promise<RunHandle & Pick<RunRequest, "shown">>;
  /** Runs a workflow in this process, in the scope of the options or in its own. */
  execute(workflow: WorkflowDefinition, options: ExecuteOptions): Promise<WorkflowResult>;
}

/**
 * The service's implementation. It runs workflows without a name in memory, because a journal could not find them
 * again.
 */
export interface LocalWorkflows extends AppWorkflows {
  start(host: EngineHost): void;
  stop(): Promise<void>;
}

/** @param engine runs the workflows that the app knows by name */
export function createAppWorkflows(engine: WorkflowEngine, limits: Limits): LocalWorkflows {
  const local = memoryEngine();
  let host: EngineHost | undefined;
  function started(): EngineHost {
    if (host === undefined) throw new UnavailableError("The app has not started yet; await api.ready first");
    return host;
  }
  return {
    async begin(workflow, { scope, user = null, asSystem, input, data, runId }) {
      const { workflows } = started();
      if (runId !== undefined && !isUserId(runId, limits))
        throw new BadRequestError(`A runId is a text of 1 to ${limits.idLength} characters`);
      // A list of steps has no name by which a run could be resumed after a restart.
      const isList = workflow.name === UNNAMED && workflows.get(UNNAMED) !== workflow;
      const caller = asSystem === true ? "system" : callerOf(scope, user);
      const shown = scope && caller !== "system" ? ownNotes(scope) : undefined; // a kept response may show what steps read
      if (scope !== undefined && shown !== undefined) await noteRights(scope, shown);
      return { ...(await (isList ? local : engine).run({ workflow, caller, input, data, runId, shown })), shown };
    },
    async execute(workflow, options) {
      const { scope, user = null, asSystem, input, data, signal, log } = options;
      refuseOtherDriver(options);
      const app = started();
      const state = newState({ ...workflow.data, ...data });
      const run = (own: OperationScope): Promise<WorkflowResult> => {
        const parts = { journal: memoryJournal, isDurable: false, lost: undefined, isClosing: undefined };
        const about = { runId: defaultIds.next(), input, startedAt: own.app.now(), signal, log: log ?? app.log };
        return runInScope(app, workflow, own, state, { ...parts, ...about });
      };
      if (scope === undefined) return app.runAs(asSystem === true ? "system" : user, run);
      return asSystem === true ? scope.asSystem(run) : run(scope);
    },
    start(given) {
      host = given;
      void local.start(given); // the memory engine starts synchronously
    },
    stop: () => local.stop(),
  };
}

/**
 * The app in which a workflow runs, if any.
 * @throws ConfigurationError for a scope of an app without the plugin "workflows"
 */
function appOf({ scope, resolve }: ExecuteOptions): AppWorkflows | undefined {
  if (scope !== undefined) {
    if (scope.services.has(ENGINE_SERVICE)) return scope.services.resolve<AppWorkflows>(ENGINE_SERVICE);
    throw new ConfigurationError('A workflow runs in an app that has the plugin "workflows"; add it');
  }
  try {
    const found = resolve?.<Partial<AppWorkflows> | undefined>(ENGINE_SERVICE);
    return typeof found?.execute === "function" ? (found as AppWorkflows) : undefined;
  } catch {
    return undefined; // the services are not an app's
  }
}

/**
 * Refuses a driver other than the scope's. Steps write through the scope: if the driver were another transaction's,
 * each would wait for the other.
 * @throws ConfigurationError
 */
function refuseOtherDriver({ scope, driver }: ExecuteOptions): void {
  if (scope === undefined || driver === undefined || driver === scope.driver) return;
  throw new ConfigurationError(
    "A workflow in a handler runs on the driver of its context, so leave `driver` out; to join a transaction, pass the " +
      "context that `ctx.transaction((inner) => …)` gives",
  );
}

/** The caller of a scope. */
export function callerOf(scope: OperationScope | undefined, user: User | null): Caller {
  if (scope === undefined) return user;
  return scope.principal.kind === "system" ? "system" : scope.principal.user;
}

/**
 * Runs a workflow on the app's engine. With a journal, the run continues after a crash. A list of steps has no name to
 * be found by, so it runs in memory. Without an app, this is `executeWorkflow`.
 * @param context the context of a handler, or `{ resolve: api.resolve, user, input }`
 * @returns the outcome; a failed step does not throw
 * @throws ConfigurationError within a transaction, and for a named workflow that the app could not find again after a
 * restart; BadRequestError for an invalid `runId`; ConflictError for a `runId` that is taken; UnavailableError when the
 * run continues in another process, or later
 */
export async function runWorkflow(workflow: WorkflowLike, context: RunOptions): Promise<WorkflowResult> {
  const { scope } = context;
  const resolve = context.resolve ?? (scope && ((service: string) => scope.services.resolve(service)));
  if (resolve === undefined) return executeWorkflow(workflow, context);
  const definition = toWorkflow(workflow);
  refuseInTransaction(definition.name, scope);
  const app = resolve(ENGINE_SERVICE) as AppWorkflows;
  const { result, shown } = await app.begin(definition, context);
  const ended = await result;
  if (scope !== undefined && context.asSystem !== true) await joinShown(scope, ended, shown);
  return ended;
}

/**
 * Refuses to start a run within a transaction. A run has its own transactions: it would wait for the locks of the outer
 * one, and would not roll back with it.
 * @throws ConfigurationError
 */
export function refuseInTransaction(workflow: string, scope: OperationScope | undefined): void {
  if (scope?.isTransaction === true)
    throw new ConfigurationError(
      `Workflow "${workflow}" cannot be run within a transaction; run it when that has ended`,
    );
}
