import type { RemoteService, Tracer } from "../../../gate/index.ts";
import { type Answer, checkRecords } from "./check-records.ts";
import { failAll, RemoteFailure, toFailure } from "./failures.ts";
import type { FetchPlan } from "./fetch-plan.ts";
import type { JoinSettings } from "./remote-joins-options.ts";
import { type Cockatiel, cockatiel, type Gate, type StitchContext } from "./stitch-context.ts";
import type { Deadline } from "./stitch-deadline.ts";

/** A request to a service, without the ids. */
export interface Question {
  /** The name of the service. */
  readonly name: string;
  readonly service: RemoteService;
  readonly plan: FetchPlan;
  readonly caller: StitchContext["caller"];
  readonly tracer: Tracer | undefined;
  readonly deadline: Deadline;
  readonly gate: Gate;
}

/** Fetches the records of some ids in one call: one result per id, in their order. Never rejects. */
export type AskBatch = (question: Question, ids: readonly string[]) => Promise<readonly Answer[]>;

/** Creates the function that calls an app's services in batches, through their circuit breakers. */
export function createAskBatch(settings: JoinSettings, breakerOf: (service: string) => Breaker): AskBatch {
  return async (question, ids) => {
    const { name, deadline, gate } = question;
    const breaker = breakerOf(name);
    const inTurn = async (): Promise<readonly Answer[]> => {
      // Work whose time was up before its turn is not started, and does not count as a failure of the service.
      if (deadline.failure !== undefined) throw deadline.failure;
      return await breaker(() => fetchRecords(question, ids, settings), deadline);
    };
    try {
      return await deadline.within(gate(inTurn));
    } catch (error) {
      return failAll(ids, toFailure(error, name));
    }
  };
}

/** @throws RemoteFailure */
async function fetchRecords(
  { name, service, plan, caller, deadline, tracer }: Question,
  ids: readonly string[],
  { maxRecordBytes }: JoinSettings,
): Promise<readonly Answer[]> {
  const { entity, include, select } = plan;
  const { signal } = deadline;
  // Copies, because a service may sort its arguments.
  const options = { select: [...select], signal, ...(include && { include }), ...(caller && { caller }) };
  try {
    const fetch = async (traceHeaders?: Readonly<Record<string, string>>): Promise<readonly unknown[]> =>
      service.fetchByIds(entity.name, [...ids], traceHeaders === undefined ? options : { ...options, traceHeaders });
    const called = tracer === undefined ? fetch() : tracer.remote({ service: name, entity: entity.name }, fetch);
    const returned = await deadline.within(called);
    return checkRecords(returned, ids, plan, maxRecordBytes);
  } catch (error) {
    throw toFailure(error, name);
  }
}

/**
 * Runs work unless the service has failed too often lately.
 * @throws RemoteFailure ("unavailable") at once if it has; any error that the work throws
 */
type Breaker = <T>(work: () => Promise<T>, deadline: Deadline) => Promise<T>;

/** The state of a circuit breaker: it lets calls through, refuses them, or lets one through as a test. */
export type BreakerState = "closed" | "open" | "half-open";

/** The breakers of one app's services. */
export interface Breakers {
  /** The breaker of a service, created at the first call. */
  of(service: string): Breaker;
  stateOf(service: string): BreakerState;
}

export function createBreakers({ breaker }: JoinSettings): Breakers {
  if (breaker === false) return { of: () => (work) => work(), stateOf: () => "closed" };
  const known = new Map<string, OwnBreaker>();
  return {
    of: (service) => async (work, deadline) => {
      const library = await cockatiel();
      const own = known.get(service) ?? createBreaker(library, service, breaker);
      known.set(service, own);
      return own.run(work, deadline);
    },
    stateOf: (service) => known.get(service)?.state() ?? "closed",
  };
}

interface OwnBreaker {
  readonly run: Breaker;
  state(): BreakerState;
}

function createBreaker(
  { BrokenCircuitError, CircuitState, ConsecutiveBreaker, circuitBreaker, handleWhen }: Cockatiel,
  service: string,
  { failures, resetAfter }: Exclude<JoinSettings["breaker"], false>,
): OwnBreaker {
  // A caller who leaves does not count as a failure of the service, unless theirs is the test call.
  const counts = (error: Error): boolean =>
    !(error instanceof RemoteFailure && error.reason === "gone") || policy.state === CircuitState.HalfOpen;
  const policy = circuitBreaker(handleWhen(counts), {
    breaker: new ConsecutiveBreaker(failures),
    halfOpenAfter: resetAfter,
  });
  const unavailable = (): RemoteFailure =>
    new RemoteFailure("unavailable", `The service "${service}" failed too often, and is left alone for a while`);
  /** The deadline of the work that tests whether the service is back. Other work is refused meanwhile. */
  let tester: Deadline | undefined;

  const run: Breaker = async (work, deadline) => {
    if (policy.state === CircuitState.HalfOpen && tester !== deadline) throw unavailable();
    if (policy.state === CircuitState.Open) tester = deadline;
    try {
      return await policy.execute(work);
    } catch (error) {
      throw error instanceof BrokenCircuitError ? unavailable() : error;
    }
  };
  const state = (): BreakerState =>
    policy.state === CircuitState.Closed ? "closed" : policy.state === CircuitState.HalfOpen ? "half-open" : "open";
  return { run, state };
}
