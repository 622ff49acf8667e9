import { ConfigurationError } from "../../../entity/index.ts";
import { type EntityRef, entityName } from "../../../gate/index.ts";
import { ConflictError, EntityNotFoundError } from "../../../kernel/index.ts";
import type { StepContext } from "../definition/step.ts";
import type { Phase, SagaRuntime, SagaState, StepEnvironment } from "./saga-runtime.ts";

/** One try of a step or a compensation. */
export interface Try {
  readonly seq: number;
  readonly phase: Phase;
  readonly attempt: number;
  readonly signal: AbortSignal;
  /** Returns the results so far; called when a step reads them. */
  results(): Readonly<Record<string, unknown>>;
  /** Aborted when the try is over. */
  readonly over: AbortSignal;
}

/** The context of a step's code. Its data only takes effect when the try succeeds. */
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

/**
 * Limits an object to the duration of its step: afterwards, calls are refused and open transactions roll back. A step
 * that continues after its time limit therefore changes nothing.
 */
function untilEnded<T extends object>(inner: T, over: AbortSignal): T {
  return new Proxy({} as T, {
    get(_, name) {
      const value: unknown = Reflect.get(inner, name, inner);
      if (name === "driver") return untilEnded(value as object, over);
      if (typeof value !== "function") return value;
      return (...args: unknown[]) => {
        if (over.aborted) throw stepIsOver();
        const [work, ...rest] = args;
        if (name !== "transaction" || typeof work !== "function") return value.apply(inner, args);
        const guarded = async (within: object): Promise<unknown> => {
          const result: unknown = await beforeEnd(work(untilEnded(within, over)), over);
          if (over.aborted) throw stepIsOver();
          return result;
        };
        return value.call(inner, guarded, ...rest);
      };
    },
  });
}

/** The error for a step that continues after its end. */
function stepIsOver(): ConflictError {
  return new ConflictError("The step is over");
}

/** Waits for work of a step. Rejects when the step ends, so that a transaction does not stay open for it. */
async function beforeEnd(work: unknown, over: AbortSignal): Promise<unknown> {
  let refuse: () => void = () => {};
  const ended = new Promise<never>((_, reject) => {
    refuse = () => reject(stepIsOver());
    over.addEventListener("abort", refuse, { once: true });
  });
  try {
    return await Promise.race([work, ended]);
  } finally {
    over.removeEventListener("abort", refuse);
  }
}

/**
 * A deep copy of lists, plain objects (records stay records), maps, sets and dates. Other values are not copied:
 * functions, streams and instances of classes.
 */
export function copyOf<T>(value: T, copies = new Map<object, unknown>()): T {
  if (typeof value !== "object" || value === null) return value;
  const known = copies.get(value);
  if (known !== undefined) return known as T;
  const copy = emptyLike(value);
  if (copy === undefined) return value;
  copies.set(value, copy);
  if (value instanceof Map)
    for (const [key, inner] of value) (copy as Map<unknown, unknown>).set(key, copyOf(inner, copies));
  else if (value instanceof Set) for (const inner of value) (copy as Set<unknown>).add(copyOf(inner, copies));
  else if (!(value instanceof Date)) copyMembers(value, copy, copies);
  return copy as T;
}

/** An empty container of the same type; undefined for values that are not copied. */
function emptyLike(value: object): object | undefined {
  if (Array.isArray(value)) return [];
  if (value instanceof Date) return new Date(value);
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === Map.prototype) return new Map();
  if (prototype === Set.prototype) return new Set();
  return prototype === Object.prototype || prototype === null ? Object.create(prototype) : undefined;
}

/** Copies property descriptors, so that hidden fields of a record stay hidden and its symbol is kept. */
function copyMembers(value: object, copy: object, copies: Map<object, unknown>): void {
  for (const name of Reflect.ownKeys(value)) {
    const member = Object.getOwnPropertyDescriptor(value, name) as PropertyDescriptor;
    Object.defineProperty(
      copy,
      name,
      "value" in member
        ? { ...member, value: copyOf(member.value, copies), writable: true, configurable: name !== "length" }
        : member,
    );
  }
}
