import { ConfigurationError } from "../../entity/index.ts";
import { type Driver, defaultIds, getLogger, type Logger, safeLogger, type User } from "../../kernel/index.ts";
import { memoryJournal } from "./saga/memory-journal.ts";
import { runSaga } from "./saga/run-saga.ts";
import { newState, type SagaRuntime, type StepEnvironment } from "./saga/saga-runtime.ts";
import { toWorkflow, type WorkflowLike } from "./workflow-builder.ts";
import type { WorkflowResult } from "./workflow-result.ts";

/** What a workflow runs with. */
export interface ExecuteOptions {
  readonly input?: unknown;
  /** What `data` begins with, besides what the workflow says. */
  readonly data?: Readonly<Record<string, unknown>> | undefined;
  /** @default none: entity steps, and steps that use a driver, fail */
  readonly driver?: Driver | undefined;
  readonly user?: User | null | undefined;
  /** @default there are no services */
  readonly resolve?: (<T = unknown>(service: string) => T) | undefined;
  /** Gives the run up: the step that runs is waited for no longer, and what was done is taken back. */
  readonly signal?: AbortSignal | undefined;
  /** @default the process-wide logger */
  readonly log?: Logger | undefined;
}

/**
 * Runs a workflow in this process and memory: a failure is taken back, a crash of the process is not. For runs that survive
 * one, see `runWorkflow`.
 * @param workflow steps, or a definition
 * @param options input, driver, services, who the user is
 * @returns how it ended; a step that fails is no exception
 * @example
 * const { success, results, error } = await executeWorkflow([reserve, charge, ship], { driver, input: order })
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
