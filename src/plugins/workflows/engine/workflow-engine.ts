import { isDeepStrictEqual } from "node:util";
import type { AnyEntity, EntityModel } from "../../../entity/index.ts";
import { type EntityClient, type OperationScope, type ScopeState, tracerOf, type Use } from "../../../gate/index.ts";
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

/** What a run is started with. */
export interface RunRequest {
  readonly workflow: WorkflowDefinition;
  readonly input: unknown;
  /** What `data` begins with, besides what the workflow says. */
  readonly data?: Readonly<Record<string, unknown>> | undefined;
  readonly caller: Caller;
  /** What the request asks of the record that it is about. @default nothing */
  readonly precondition?: ScopeState["precondition"];
  /** Notes what the answer of the request may show. */
  readonly shown?: ScopeState["shown"];
  /** What the action that it is the work of was allowed for. */
  readonly use?: Use | undefined;
  /** The run's id; a second run of the same id is the first one. @default a new one */
  readonly runId?: string | undefined;
}

/** A run that has begun. */
export interface RunHandle {
  readonly runId: string;
  /** How it ends. Rejects when this process cannot see to that: the journal is away, or another process has the run. */
  readonly result: Promise<WorkflowResult>;
}

/** How a step of a run went, or its compensation. */
export interface StepState {
  readonly status: "started" | "done" | "failed" | "unknown";
  readonly attempt: number;
  readonly startedAt: Date;
  readonly updatedAt: Date;
  /** What it said; only code and message. */
  readonly error?: { readonly code: string; readonly message: string } | undefined;
}

/** What is known of a step. */
export interface StepReport {
  readonly name: string;
  /** Undefined for a step that has not begun. */
  readonly execute?: StepState | undefined;
  /** Undefined for a step that was not taken back. */
  readonly compensate?: StepState | undefined;
}

/** What is known of a run. */
export interface RunReport {
  readonly id: string;
  readonly name: string;
  readonly status: WorkflowStatus;
  readonly startedAt: Date;
  readonly updatedAt: Date;
  /** Id of the user it works for; null for an anonymous caller and for the system. */
  readonly userId: string | null;
  readonly failedStep?: string | undefined;
  /** What the failed step said; only code and message. */
  readonly error?: { readonly code: string; readonly message: string } | undefined;
  /** Who may not use this action, of this record, is not told the result. @default they are */
  readonly use?: Use | undefined;
  /** What the last step gave, when it has completed. */
  readonly result?: unknown;
  /** In their order; undefined where the engine does not tell, and where the workflow has other steps by now. */
  readonly steps?: readonly StepReport[] | undefined;
}

/** What an engine needs of the app. */
export interface EngineHost {
  readonly log: Logger;
  readonly entities: EntityModel;
  /** Workflows by name: what a run that is taken up goes on with. */
  readonly workflows: ReadonlyMap<string, WorkflowDefinition>;
  /** Who a user is by now, when a run of theirs is taken up; null: there is no such user. @default as when it began */
  readonly userOf?: ((id: string) => User | null | Promise<User | null>) | undefined;
  runAs<T>(caller: Caller, work: (scope: OperationScope) => Promise<T>): Promise<T>;
  clientFor(scope: OperationScope): Readonly<Record<string, EntityClient<AnyEntity>>>;
}

/** Runs workflows, and goes on with those that a process left behind. One behaviour suite runs on every engine. */
export interface WorkflowEngine {
  readonly name: string;
  /** Whether it keeps runs in the app's database: the journal's entities are declared then. @default false */
  readonly usesJournal?: boolean | undefined;
  /** The app has started: runs that were left behind may be taken up. Does not wait for them. */
  start(host: EngineHost): void | Promise<void>;
  /**
   * Begins a run. Resolves when it is sure to be run, here or elsewhere.
   * @throws DatabaseUnavailableError when it cannot be recorded
   */
  run(request: RunRequest): Promise<RunHandle>;
  /** Undefined when there is no such run, or when the engine does not keep runs. */
  report(runId: string): Promise<RunReport | undefined>;
  /** Takes up no more runs. Runs in progress here end, or are left to another process. */
  stop(): Promise<void>;
}

/** What two runs of one id have to agree in: the workflow as it is, on whose behalf, and with what. */
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

/** What a run brings besides the app. */
type RunParts = Pick<SagaRuntime, "runId" | "input" | "startedAt" | "journal" | "isDurable" | "lost" | "reached">;

/**
 * Runs a workflow in scopes of its own, so that it outlives the request that began it: steps with the caller's rights,
 * compensations with the system's, because what was done must be taken back even when the caller's rights are gone.
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

/** Runs a workflow in the scope of its caller, and of the transaction that it may be in; compensations as the system there. */
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

function environmentOf(host: EngineHost, scope: OperationScope, own: OperationScope): StepEnvironment {
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

/** A closing app refuses calls, and with them whatever steps ask of services that make some. */
export function isClosing(host: EngineHost): Promise<boolean> {
  return host
    .runAs(null, async () => {})
    .then(
      () => false,
      () => true,
    );
}
