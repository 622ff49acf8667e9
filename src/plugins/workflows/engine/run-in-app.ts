import { type OperationScope, tracerOf } from "../../../gate/index.ts";
import type { WorkflowDefinition } from "../definition/workflow-definition.ts";
import type { WorkflowResult } from "../definition/workflow-result.ts";
import { runSaga } from "../saga/run-saga.ts";
import type { Rights, SagaRuntime, SagaState, StepEnvironment } from "../saga/saga-runtime.ts";
import { isClosing } from "./is-closing.ts";
import type { Caller, EngineHost } from "./workflow-engine.ts";

/** What a run brings besides the app. */
export type RunParts = Pick<
  SagaRuntime,
  "runId" | "input" | "startedAt" | "journal" | "isDurable" | "lost" | "reached"
>;

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
      own.precondition = state.precondition;
      own.shown = state.shown;
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
    hookMs: system.limits.hookMs,
    tracer,
    now: () => system.now(),
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
