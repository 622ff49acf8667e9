import { type AnyEntity, ConfigurationError } from "../../../entity/index.ts";
import type { Driver, EntityClient, OperationScope, ScopeState, Tracer } from "../../../gate/index.ts";
import type { Logger, User } from "../../../kernel/index.ts";
import type {
  CompensationFailure,
  WorkflowDefinition,
  WorkflowResult,
  WorkflowStatus,
} from "../definition/workflow.ts";

/** The environment in which the code of a step runs. */
export interface StepEnvironment {
  readonly driver: Driver;
  readonly user: User | null;
  readonly scope: OperationScope | undefined;
  /** Undefined outside of an app. */
  readonly clients: Readonly<Record<string, EntityClient<AnyEntity>>> | undefined;
  resolve<T = unknown>(service: string): T;
}

/** A step's execution or its compensation. */
export type Phase = "execute" | "compensate";

/**
 * The rights of code. Steps have the caller's by default. Compensations have the system's, because they must succeed
 * even after the caller has lost their rights.
 */
export type Rights = "caller" | "system";

/** The known outcome of a step or its compensation. */
export type Outcome =
  | {
      readonly status: "done";
      readonly result: unknown;
      readonly data: Readonly<Record<string, unknown>>;
      /** What the steps have read so far for the response. */
      readonly shown?: ScopeState["shown"];
      /** Additional data for its compensation. */
      readonly memo?: unknown;
    }
  | { readonly status: "failed"; readonly error: Error; readonly shown?: ScopeState["shown"] }
  /** It was started, and its outcome is unknown. */
  | { readonly status: "unknown" };

/** Points of a run at which a process may die; see `SagaRuntime.reached`. */
export type SagaPoint = "before-start" | "started" | "after-effect" | "after-commit" | "between";

/**
 * The records of a run with which another process can continue it. Methods resolve when the entry is stored, or throw.
 */
export interface Journal {
  /** Called before a step runs. */
  started(seq: number, phase: Phase, attempt: number): Promise<void>;
  /** @param environment its driver's transaction stores the entry, together with the step's own writes */
  finished(seq: number, phase: Phase, outcome: Outcome, environment: StepEnvironment | undefined): Promise<void>;
  moved(status: WorkflowStatus, failure?: SagaState["failure"] & Pick<SagaState, "shown">): Promise<void>;
}

/** The dependencies of a run. */
export interface SagaRuntime {
  readonly runId: string;
  readonly input: unknown;
  readonly startedAt: Date;
  readonly log: Logger;
  readonly journal: Journal;
  /** Whether another process can continue the run. If so, that process takes over a step that cannot be recorded. */
  readonly isDurable: boolean;
  /** Once aborted, no more steps run, and completed ones are compensated. */
  readonly signal: AbortSignal | undefined;
  /** Aborted when this process no longer holds the run: it is stopping, or another process has taken over the run. */
  readonly lost: AbortSignal | undefined;
  environment(rights: Rights): StepEnvironment;
  /** An environment whose driver is in a transaction. */
  transaction<T>(rights: Rights, work: (environment: StepEnvironment) => Promise<T>): Promise<T>;
  /** Time limit of a hook in milliseconds; 0 is no limit. @default 5000 */
  readonly hookMs?: number | undefined;
  /** Traces the run's steps. @default none */
  readonly tracer?: Tracer | undefined;
  /** @default the system's time */
  readonly now?: (() => Date) | undefined;
  /** Whether the app is closing: an unavailable service then does not mean that a step failed. @default it is not */
  readonly isClosing?: (() => Promise<boolean>) | undefined;
  /** Called with each point that the run reaches. @default none */
  readonly reached?:
    | ((point: SagaPoint, phase: Phase, step: string, runId: string) => void | Promise<void>)
    | undefined;
}

/** The time of a run. */
export function nowOf({ now }: SagaRuntime): Date {
  return now?.() ?? new Date();
}

/** The state from which a run starts or resumes. */
export interface SagaState {
  /** By position in the list of steps; undefined for steps that have not begun. */
  readonly executed: (Outcome | undefined)[];
  readonly compensated: (Outcome | undefined)[];
  data: Record<string, unknown>;
  /** The failure for which it is being compensated, if any. */
  failure: { readonly failedStep: string; readonly error: Error } | undefined;
  /**
   * The precondition for the first change of the run's record, for steps with the caller's rights. It held when the run
   * was requested, and only the process that started the run checks it.
   */
  readonly precondition?: ScopeState["precondition"];
  /** Notes what the response of the request that started the run may show; undefined when no request waits for it. */
  readonly shown?: ScopeState["shown"];
}

/** The state of a run that has not begun. @throws ConfigurationError when its initial data cannot be copied */
export function newState(
  data: Readonly<Record<string, unknown>>,
  { precondition, shown }: Pick<SagaState, "precondition" | "shown"> = {},
): SagaState {
  return { executed: [], compensated: [], data: copied(data), failure: undefined, precondition, shown };
}

function copied(data: Readonly<Record<string, unknown>>): Record<string, unknown> {
  try {
    return structuredClone(data);
  } catch (cause) {
    throw new ConfigurationError("The data of a workflow must be values that can be copied for each run", { cause });
  }
}

/** A run in progress: its definition, its dependencies and its state. */
export interface Saga {
  readonly definition: WorkflowDefinition;
  readonly runtime: SagaRuntime;
  readonly state: SagaState;
}

/** Results of completed steps, by name. */
export function resultsOf({ steps }: WorkflowDefinition, { executed }: SagaState): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    steps.flatMap(({ name }, seq) => {
      const outcome = executed[seq];
      return outcome?.status === "done" ? [[name, outcome.result] as const] : [];
    }),
  );
}

/** The outcomes of the compensations, in the order in which they ran. */
interface TakenBack {
  readonly compensatedSteps: readonly string[];
  readonly compensationErrors: readonly CompensationFailure[];
}

function takenBack({ steps }: WorkflowDefinition, { compensated }: SagaState): TakenBack {
  const compensatedSteps: string[] = [];
  const compensationErrors: CompensationFailure[] = [];
  for (const [seq, { name }] of [...steps.entries()].reverse()) {
    const outcome = compensated[seq];
    if (outcome?.status === "done") compensatedSteps.push(name);
    else if (outcome?.status === "failed") compensationErrors.push({ step: name, error: outcome.error });
  }
  return { compensatedSteps, compensationErrors };
}

/** The id and the times of a run. */
interface RunTimes {
  readonly runId: string;
  readonly startedAt: Date;
  readonly endedAt: Date;
}

/** What the responses with the outcomes of runs depend on. */
const shownBy = new WeakMap<WorkflowResult, ScopeState["shown"]>();

/** What a response with the outcome of a run depends on; undefined if it was not noted. */
export function shownIn(result: WorkflowResult): ScopeState["shown"] {
  return shownBy.get(result);
}

/** The outcome of a run, in the form that callers receive. */
export function sagaResult(
  definition: WorkflowDefinition,
  state: SagaState,
  status: WorkflowStatus,
  { runId, startedAt, endedAt }: RunTimes,
): WorkflowResult {
  const result: WorkflowResult = {
    success: status === "completed",
    data: state.data,
    results: resultsOf(definition, state),
    ...(state.failure ?? {}),
    ...takenBack(definition, state),
    status,
    duration: endedAt.getTime() - startedAt.getTime(),
    metadata: { id: runId, name: definition.name, startedAt },
  };
  shownBy.set(result, state.shown);
  return result;
}

/** Stores nothing: the run ends with its process. */
export const memoryJournal: Journal = Object.freeze<Journal>({
  started: async () => {},
  finished: async () => {},
  moved: async () => {},
});
