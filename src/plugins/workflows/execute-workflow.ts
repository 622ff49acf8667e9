import { ConfigurationError } from "../../entity/index.ts";
import { type Driver, defaultIds } from "../../gate/index.ts";
import { getLogger, safeLogger } from "../../kernel/index.ts";
import { appOf } from "./app-workflows.ts";
import { toWorkflow, type WorkflowLike } from "./definition/workflow-builder.ts";
import type { WorkflowResult } from "./definition/workflow-result.ts";
import type { ExecuteOptions } from "./execute-options.ts";
import { memoryJournal } from "./saga/memory-journal.ts";
import { runSaga } from "./saga/run-saga.ts";
import { newState, type SagaRuntime, type StepEnvironment } from "./saga/saga-runtime.ts";

/**
 * Runs a workflow in this process and memory: a failure is taken back, a crash of the process is not. For runs that survive
 * one, see `runWorkflow`.
 *
 * With a handler's context, or with `resolve` of an app, entity steps are operations of the caller: rules, validation and
 * field security apply. With a driver alone there are no rules to ask: entity steps then need a driver that protects fields
 * (`createEnhancedDriver`), or a definition without rules and protected fields.
 * @param workflow steps, or a definition
 * @param options a handler's context, or input, driver, services and user
 * @returns how it ended; a step that fails is no exception
 * @throws ConfigurationError for a `scope` of an app without the plugin "workflows", and for another driver than the scope's
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

/** Complains only when it is used: many steps never touch a driver. */
function missingDriver(): Driver {
  return new Proxy({} as Driver, {
    get(): never {
      throw new ConfigurationError("The workflow was given no driver: executeWorkflow(steps, { driver })");
    },
  });
}
