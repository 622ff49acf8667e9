import { ConfigurationError } from "../../../entity/index.ts";
import { EntityNotFoundError, type EntityRef, entityName } from "../../../kernel/index.ts";
import type { StepContext } from "../step-context.ts";
import { copyOf } from "./copy-of.ts";
import type { Phase, SagaRuntime, SagaState, StepEnvironment } from "./saga-runtime.ts";
import { stepIsOver, untilEnded } from "./until-ended.ts";

/** One try of a step, or of a compensation. */
export interface Try {
  readonly seq: number;
  readonly phase: Phase;
  readonly attempt: number;
  readonly signal: AbortSignal;
  /** Puts the results so far together; asked when somebody looks at them. */
  results(): Readonly<Record<string, unknown>>;
  /** Aborted when the try is over. */
  readonly over: AbortSignal;
}

/** What the code of a step is given. Of what it sets, nothing counts before the try has succeeded. */
export function createStepContext(
  { runId, input: given, log }: SagaRuntime,
  state: SagaState,
  environment: StepEnvironment,
  { seq, phase, attempt, signal, results, over }: Try,
): StepContext & { readonly data: Record<string, unknown> } {
  const data = copyOf(state.data);
  let input: { readonly value: unknown } | undefined;
  let known: ReturnType<Try["results"]> | undefined;
  const { user, scope, clients } = environment;
  return {
    get input() {
      input ??= { value: copyOf(given) };
      return input.value;
    },
    data,
    get: <T>(key: string) => (Object.hasOwn(data, key) ? (data[key] as T) : undefined),
    set(key, value) {
      if (over.aborted) throw stepIsOver();
      Object.defineProperty(data, key, { value, enumerable: true, writable: true, configurable: true });
    },
    get results() {
      known ??= results();
      return known;
    },
    user,
    driver: untilEnded(environment.driver, over),
    scope: scope && untilEnded(scope, over),
    client<E extends EntityRef>(entity: E) {
      if (clients === undefined) throw new ConfigurationError("Clients of entities are there in an app only");
      const found = clients[entityName(entity)];
      if (found === undefined) throw new EntityNotFoundError(`There is no entity "${entityName(entity)}"`);
      return untilEnded(found, over) as unknown as ReturnType<StepContext["client"]> as never;
    },
    resolve: environment.resolve,
    signal,
    attempt,
    idempotencyKey: `${runId}:${seq}:${phase}`,
    executionKey: `${runId}:${seq}:execute`,
    runId,
    log,
  };
}
