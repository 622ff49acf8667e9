import { type AnyEntity, ConfigurationError } from "../../../entity/index.ts";
import type { Driver, EntityClient, OperationScope, ScopeState, Tracer } from "../../../gate/index.ts";
import type { Logger, User } from "../../../kernel/index.ts";
import type {
  CompensationFailure,
  WorkflowDefinition,
  WorkflowResult,
  WorkflowStatus,
} from "../definition/workflow.ts";

/** Where the code of a step runs. */
export interface StepEnvironment {
  readonly driver: Driver;
  readonly user: User | null;
  readonly scope: OperationScope | undefined;
  /** Undefined outside an app. */
  readonly clients: Readonly<Record<string, EntityClient<AnyEntity>>> | undefined;
  resolve<T = unknown>(service: string): T;
}

/** A step, or what takes it back. */
export type Phase = "execute" | "compensate";

/**
 * Whose rights code has: steps have the caller's unless they say otherwise, compensations the system's, because what was done
 * must be taken back even when the caller's rights are gone.
 */
export type Rights = "caller" | "system";

/** What is known of a step, or of its compensation. */
export type Outcome =
  | {
      readonly status: "done";
      readonly result: unknown;
      readonly data: Readonly<Record<string, unknown>>;
      /** What its compensation needs to know besides. */
      readonly memo?: unknown;
    }
  | { readonly status: "failed"; readonly error: Error }
  /** It was started, and its outcome is unknown. */
  | { readonly status: "unknown" };

/** Places in a run where a process may die; see `SagaRuntime.reached`. */
export type SagaPoint = "before-start" | "started" | "after-effect" | "after-commit" | "between";

/**
 * What a run records, so that another process can continue it. Every method resolves when the entry is safe, or throws.
 */
export interface Journal {
  /** A step is about to run; nothing of it has happened yet. */
  started(seq: number, phase: Phase, attempt: number): Promise<void>;
  /** @param environment its driver's transaction is where the entry goes, with what the step did */
  finished(seq: number, phase: Phase, outcome: Outcome, environment: StepEnvironment | undefined): Promise<void>;
  moved(status: WorkflowStatus, failure?: { readonly failedStep: string; readonly error: Error }): Promise<void>;
}

/** What the executor needs of the world. */
export interface SagaRuntime {
  readonly runId: string;
  readonly input: unknown;
  readonly startedAt: Date;
  readonly log: Logger;
  readonly journal: Journal;
  /** Whether another process can continue the run. If so, a step that cannot be recorded is left to that process. */
  readonly isDurable: boolean;
  /** Once aborted, no more steps are run and finished ones are compensated. */
  readonly signal: AbortSignal | undefined;
  /** Aborted when this process no longer holds the run: it stops, or another one has taken the run over. */
  readonly lost: AbortSignal | undefined;
  environment(rights: Rights): StepEnvironment;
  /** The same in a transaction. */
  transaction<T>(rights: Rights, work: (environment: StepEnvironment) => Promise<T>): Promise<T>;
  /** Milliseconds for a hook; 0 is no limit. @default 5000 */
  readonly hookMs?: number | undefined;
  /** Traces the run's steps. @default none */
  readonly tracer?: Tracer | undefined;
  /** @default the system's time */
  readonly now?: (() => Date) | undefined;
  /** Whether the app is closing: a service that is away then says nothing about a step. @default it is not */
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

/** Where a run is taken up. */
export interface SagaState {
  /** By place in the list of steps; undefined: not begun. */
  readonly executed: (Outcome | undefined)[];
  readonly compensated: (Outcome | undefined)[];
  data: Record<string, unknown>;
  /** Why it is being taken back, if it is. */
  failure: { readonly failedStep: string; readonly error: Error } | undefined;
  /**
   * The precondition for the first change of the run's record, for steps with the caller's rights. It held when the run
   * was requested, and only the process that started the run checks it.
   */
  readonly precondition?: ScopeState["precondition"];
  /** Notes what the answer of the request that began the run may show; absent where no request waits for it. */
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

/** A run that is going on: what is to be done, with what, and how far it is. */
export interface Saga {
  readonly definition: WorkflowDefinition;
  readonly runtime: SagaRuntime;
  readonly state: SagaState;
}

/** What the steps that are done gave, by name. */
export function resultsOf({ steps }: WorkflowDefinition, { executed }: SagaState): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    steps.flatMap(({ name }, seq) => {
      const outcome = executed[seq];
      return outcome?.status === "done" ? [[name, outcome.result] as const] : [];
    }),
  );
}

/** What came of the compensations, in the order in which they ran. */
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

/** Which run, and when. */
interface RunTimes {
  readonly runId: string;
  readonly startedAt: Date;
  readonly endedAt: Date;
}

/** How a run ended, in the form that callers receive. */
export function sagaResult(
  definition: WorkflowDefinition,
  state: SagaState,
  status: WorkflowStatus,
  { runId, startedAt, endedAt }: RunTimes,
): WorkflowResult {
  return {
    success: status === "completed",
    data: state.data,
    results: resultsOf(definition, state),
    ...(state.failure ?? {}),
    ...takenBack(definition, state),
    status,
    duration: endedAt.getTime() - startedAt.getTime(),
    metadata: { id: runId, name: definition.name, startedAt },
  };
}

/** Remembers nothing: the run lives as long as its process. */
export const memoryJournal: Journal = Object.freeze<Journal>({
  started: async () => {},
  finished: async () => {},
  moved: async () => {},
});
