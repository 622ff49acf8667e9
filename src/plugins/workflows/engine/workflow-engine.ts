import { isDeepStrictEqual } from "node:util";
import type { AnyEntity, EntityModel } from "../../../entity/index.ts";
import {
  type EntityClient,
  notingScope,
  type OperationScope,
  type ScopeState,
  tracerOf,
  type Use,
} from "../../../gate/index.ts";
import { ConflictError, type Logger, type User } from "../../../kernel/index.ts";
import {
  definitionHash,
  type WorkflowDefinition,
  type WorkflowResult,
  type WorkflowStatus,
} from "../definition/workflow.ts";
import { runSaga } from "../saga/run-saga.ts";
import type { Rights, SagaRuntime, SagaState, StepEnvironment } from "../saga/saga-runtime.ts";

/** The caller a run works for: a user, null for an anonymous caller, or the system. */
export type Caller = User | null | "system";

/** The parameters of a new run. */
export interface RunRequest {
  readonly workflow: WorkflowDefinition;
  readonly input: unknown;
  /** Initial `data`, in addition to the workflow's own. */
  readonly data?: Readonly<Record<string, unknown>> | undefined;
  readonly caller: Caller;
  /** The request's precondition on the record of the run. @default none */
  readonly precondition?: ScopeState["precondition"];
  /** Notes what the response of the request may show. */
  readonly shown?: ScopeState["shown"];
  /** The use for which the run's action was authorized. */
  readonly use?: Use | undefined;
  /** The run's id. A second run with the same id attaches to the first. @default a new id */
  readonly runId?: string | undefined;
}

/** A run that has started. */
export interface RunHandle {
  readonly runId: string;
  /**
   * The outcome. Rejects when this process cannot know it: the journal is unavailable, or another process has the run.
   */
  readonly result: Promise<WorkflowResult>;
}

/** The state of a step's execution or its compensation. */
export interface StepState {
  readonly status: "started" | "done" | "failed" | "unknown";
  readonly attempt: number;
  readonly startedAt: Date;
  readonly updatedAt: Date;
  /** The error, with only its code and message. */
  readonly error?: { readonly code: string; readonly message: string } | undefined;
}

/** The report of a step. */
export interface StepReport {
  readonly name: string;
  /** Undefined for a step that has not begun. */
  readonly execute?: StepState | undefined;
  /** Undefined for a step that was not compensated. */
  readonly compensate?: StepState | undefined;
}

/** The report of a run. */
export interface RunReport {
  readonly id: string;
  readonly name: string;
  readonly status: WorkflowStatus;
  readonly startedAt: Date;
  readonly updatedAt: Date;
  /** Id of the user whose rights it has; null for an anonymous caller and for the system. */
  readonly userId: string | null;
  readonly failedStep?: string | undefined;
  /** The error of the failed step, with only its code and message. */
  readonly error?: { readonly code: string; readonly message: string } | undefined;
  /** Only callers who may use this action on this record see the result. @default all readers of the report */
  readonly use?: Use | undefined;
  /** The result of the last step, when the run has completed. */
  readonly result?: unknown;
  /** In their order. Undefined if the engine does not report steps, and if the workflow's steps have changed. */
  readonly steps?: readonly StepReport[] | undefined;
}

/** The parts of the app that engines use. */
export interface EngineHost {
  readonly log: Logger;
  readonly entities: EntityModel;
  /** Workflows by name. Resumed runs find theirs here. */
  readonly workflows: ReadonlyMap<string, WorkflowDefinition>;
  /**
   * Loads the current user when one of their runs is resumed; null if the user no longer exists. @default the user from
   * when the run started
   */
  readonly userOf?: ((id: string) => User | null | Promise<User | null>) | undefined;
  runAs<T>(caller: Caller, work: (scope: OperationScope) => Promise<T>): Promise<T>;
  clientFor(scope: OperationScope): Readonly<Record<string, EntityClient<AnyEntity>>>;
}

/** Runs workflows, and resumes runs whose process died. One behaviour suite tests every engine. */
export interface WorkflowEngine {
  readonly name: string;
  /** Whether it keeps runs in the app's database, which declares the journal's entities. @default false */
  readonly usesJournal?: boolean | undefined;
  /** Called when the app has started. Begins to resume interrupted runs, without waiting for them. */
  start(host: EngineHost): void | Promise<void>;
  /**
   * Starts a run. Resolves when it is certain to run, in this process or another.
   * @throws DatabaseUnavailableError when the run cannot be recorded
   */
  run(request: RunRequest): Promise<RunHandle>;
  /** Undefined if there is no such run, or if the engine does not keep runs. */
  report(runId: string): Promise<RunReport | undefined>;
  /** Stops resuming runs. Runs in progress end, or are left to another process. */
  stop(): Promise<void>;
}

/** The identity of a run: two runs with the same id must have the same workflow, caller and input. */
export interface SameRun {
  readonly key: string;
  readonly input: unknown;
}

export function sameRun(
  workflow: WorkflowDefinition,
  caller: Caller,
  input: unknown,
  definition: unknown = definitionHash(workflow),
): SameRun {
  const whose = caller === null || caller === "system" ? caller : { id: caller.id };
  return { key: JSON.stringify([workflow.name, definition, whose]), input };
}

/** @throws ConflictError when the id belongs to another run, whose result this caller must not see */
export function assertSameRun(runId: string, known: SameRun, asked: SameRun): void {
  if (known.key !== asked.key)
    throw new ConflictError(`A run "${runId}" exists already, of another workflow or for another caller`);
  if (!isDeepStrictEqual(known.input, asked.input))
    throw new ConflictError(`There is a run "${runId}" already, with another input`);
}

/** The parts of a run that do not come from the app. */
type RunParts = Pick<SagaRuntime, "runId" | "input" | "startedAt" | "journal" | "isDurable" | "lost" | "reached">;

/**
 * Runs a workflow in its own scopes, so that it outlives the request that started it. Steps have the caller's rights.
 * Compensations have the system's, because they must succeed even after the caller has lost their rights.
 */
export function runInApp(
  host: EngineHost,
  definition: WorkflowDefinition,
  caller: Caller,
  state: SagaState,
  parts: (system: OperationScope) => RunParts,
): Promise<WorkflowResult> {
  return host.runAs(caller, (own) =>
    host.runAs("system", (system) => {
      own.state.precondition = state.precondition;
      own.state.shown = state.shown;
      const given = { ...parts(system), log: host.log, signal: undefined, isClosing: () => isClosing(host) };
      return runInScopes(host, definition, { caller: own, system }, state, given);
    }),
  );
}

/**
 * Runs a workflow in the scope of its caller, within any transaction of that scope. Compensations run there as the
 * system.
 */
export function runInScope(
  host: EngineHost,
  definition: WorkflowDefinition,
  own: OperationScope,
  state: SagaState,
  parts: ScopedParts,
): Promise<WorkflowResult> {
  return own.asSystem((system) => runInScopes(host, definition, { caller: own, system }, state, parts));
}

type ScopedParts = RunParts & Pick<SagaRuntime, "log" | "signal" | "isClosing">;

function runInScopes(
  host: EngineHost,
  definition: WorkflowDefinition,
  scopes: Readonly<Record<Rights, OperationScope>>,
  state: SagaState,
  parts: ScopedParts,
): Promise<WorkflowResult> {
  const { caller: own, system } = scopes;
  const tracer = tracerOf(system.services);
  const runtime: SagaRuntime = {
    ...parts,
    hookMs: system.app.limits.hookMs,
    tracer,
    now: () => system.app.now(),
    environment: (rights) => environmentOf(host, scopes[rights], own),
    transaction: (rights, work) => scopes[rights].transaction((inner) => work(environmentOf(host, inner, own))),
  };
  const run = (): Promise<WorkflowResult> => runSaga(definition, runtime, state);
  return tracer === undefined ? run() : tracer.workflow({ name: definition.name, runId: runtime.runId }, run);
}

function environmentOf(host: EngineHost, given: OperationScope, own: OperationScope): StepEnvironment {
  const scope = notingScope(given);
  return {
    driver: scope.driver,
    user: own.principal.user,
    scope,
    get clients() {
      return host.clientFor(scope);
    },
    resolve: (service) => scope.services.resolve(service),
  };
}

/** A closing app refuses calls, including those that steps make through services. */
export function isClosing(host: EngineHost): Promise<boolean> {
  return host
    .runAs(null, async () => {})
    .then(
      () => false,
      () => true,
    );
}
