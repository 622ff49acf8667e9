import { BrokenCircuitError, CircuitState, ConsecutiveBreaker, circuitBreaker, handleWhen } from "cockatiel";
import type { Deadline } from "./deadline.ts";
import { RemoteFailure } from "./remote-failure.ts";
import type { JoinSettings } from "./remote-joins-options.ts";

/**
 * Does some work unless it has failed too often lately.
 * @throws RemoteFailure ("unavailable") at once when it has; whatever the work throws
 */
export type Breaker = <T>(work: () => Promise<T>, deadline: Deadline) => Promise<T>;

/** A breaker per service, made when the service is first asked. */
export function createBreakers({ breaker }: JoinSettings): (service: string) => Breaker {
  if (breaker === false) return () => (work) => work();
  const known = new Map<string, Breaker>();
  return (service) => {
    let found = known.get(service);
    if (found === undefined) {
      found = createBreaker(service, breaker);
      known.set(service, found);
    }
    return found;
  };
}

function createBreaker(service: string, { failures, resetAfter }: Exclude<JoinSettings["breaker"], false>): Breaker {
  // A caller who leaves says nothing about the service, unless it is the one that was to find out.
  const counts = (error: Error): boolean =>
    !(error instanceof RemoteFailure && error.reason === "gone") || policy.state === CircuitState.HalfOpen;
  const policy = circuitBreaker(handleWhen(counts), {
    breaker: new ConsecutiveBreaker(failures),
    halfOpenAfter: resetAfter,
  });
  const unavailable = (): RemoteFailure =>
    new RemoteFailure("unavailable", `The service "${service}" failed too often, and is left alone for a while`);
  /** Whose work finds out whether the service is back. Their own batches wait for that; others do without. */
  let tester: Deadline | undefined;

  return async (work, deadline) => {
    if (policy.state === CircuitState.HalfOpen && tester !== deadline) throw unavailable();
    if (policy.state === CircuitState.Open) tester = deadline;
    try {
      return await policy.execute(work);
    } catch (error) {
      throw error instanceof BrokenCircuitError ? unavailable() : error;
    }
  };
}
