import { type AnyEntity, ConfigurationError } from "../../../entity/index.ts";
import type { Driver, EntityClient, EntityRef, OperationScope } from "../../../gate/index.ts";
import type { Logger, User } from "../../../kernel/index.ts";

/** How often something is tried again, and after which pause. */
export interface RetryOptions {
  /** Tries in all. @default 1 for steps, 5 for compensations */
  readonly attempts?: number | undefined;
  /** Milliseconds before the second try. @default 100 */
  readonly delay?: number | undefined;
  /** What the pause is multiplied with from try to try. @default 2 */
  readonly backoff?: number | undefined;
}

/** Options of a step. */
export interface StepOptions {
  /** @default tried once; Keelson errors with a 4xx status are never retried */
  readonly retry?: RetryOptions | undefined;
  /** The same for its compensation. @default 5 attempts */
  readonly compensationRetry?: RetryOptions | undefined;
  /** Milliseconds for one try. @default 30000 */
  readonly timeout?: number | undefined;
  /**
   * Whether the step may run again after its process died while it ran, so that its outcome is unknown. Pass the
   * `idempotencyKey` to the services it calls. Without this option such a run is compensated.
   * @default false
   */
  readonly idempotent?: boolean | undefined;
  /** Whether it has the system's rights in place of the caller's: no rules are asked. In an app only. @default false */
  readonly asSystem?: boolean | undefined;
  /** Whether all it does is in the database: in a `.transactional()` workflow it is rolled back, not compensated. @default false */
  readonly transactional?: boolean | undefined;
}

/** Types of the functions of a step. */
export type ExecuteStep<TInput = unknown, TResult = unknown> = (
  context: StepContext<TInput>,
) => TResult | Promise<TResult>;
/** Takes back what a step has done, given its result. */
export type CompensateStep<TInput = unknown, TResult = unknown> = (
  context: StepContext<TInput>,
  result: TResult,
) => unknown;

/** One step of a workflow: what it does, and what takes that back. */
export interface Step<TInput = unknown, TResult = unknown> extends StepOptions {
  readonly name: string;
  execute(context: StepContext<TInput>): TResult | Promise<TResult>;
  /**
   * Given the result, or undefined when it is unknown: the try ran out of time, or its process died.
   * @param memo what execute left for it with `WithMemo`
   */
  compensate?(context: StepContext<TInput>, result: TResult, memo?: unknown): unknown;
  /** Whether all it does are operations in one transaction, which its entry in a journal can share. @default false */
  readonly atomic?: boolean | undefined;
}

/** A result together with data that only its compensation needs. */
export class WithMemo<T = unknown> {
  readonly result: T;
  readonly memo: unknown;

  constructor(result: T, memo: unknown) {
    this.result = result;
    this.memo = memo;
  }
}

/** A step as it may be written: made by `step()`, or an object with `execute` or `run`. */
export type StepLike =
  | Step<never>
  | (Omit<Step<never>, "execute" | "atomic"> & { run(context: StepContext<never>): unknown });

/**
 * Makes a step.
 * @param name unique in its workflow
 * @param execute what it does; what it returns is the step's result
 * @param compensate takes it back when a later step fails
 * @throws ConfigurationError
 * @example
 * step("charge", ({ input, idempotencyKey }) => bank.charge(input.card, input.total, { idempotencyKey }),
 *   (_, charge) => bank.refund(charge.id), { retry: { attempts: 3 } })
 */
export function step<TInput = unknown, TResult = unknown>(
  name: string,
  execute: ExecuteStep<TInput, TResult>,
  compensate?: CompensateStep<TInput, TResult>,
  options: StepOptions = {},
): Step<TInput, TResult> {
  return checkedStep({ ...options, name, execute, ...(compensate === undefined ? {} : { compensate }) });
}

/**
 * The same step with other options: how the entity steps get theirs.
 * @example
 * withOptions(updateEntityStep("stock", { id }, { left }), { asSystem: true })
 */
export function withOptions(made: Step, options: StepOptions): Step {
  return checkedStep({ ...made, ...options });
}

/** A step in its one shape. @throws ConfigurationError */
export function toStep(like: StepLike): Step {
  if (Object.isFrozen(like)) return checkedStep((like ?? {}) as Step);
  const { name, execute, run, compensate } = like as Partial<Step> & { readonly run?: Step["execute"] };
  const { run: _, ...rest } = like as Partial<Step> & { readonly run?: unknown };
  // It may be an instance of a class, whose methods want it as `this`.
  const own = (method: unknown): unknown => (typeof method === "function" ? method.bind(like) : method);
  const made = { ...rest, name, execute: own(execute ?? run) };
  return checkedStep((compensate === undefined ? made : { ...made, compensate: own(compensate) }) as Step);
}

function checkedStep<S extends Pick<Step, "name" | "retry" | "compensationRetry" | "timeout">>(made: S): Readonly<S> {
  const { name, retry, compensationRetry, timeout } = made;
  const { execute, compensate } = made as { execute?: unknown; compensate?: unknown };
  if (typeof name !== "string" || name === "") throw new ConfigurationError("A step needs a name");
  if (typeof execute !== "function") throw new ConfigurationError(`Step "${name}" needs a function that it executes`);
  if (compensate !== undefined && typeof compensate !== "function")
    throw new ConfigurationError(`Step "${name}": compensate must be a function`);
  for (const { attempts = 1, delay = 0, backoff = 1 } of [retry ?? {}, compensationRetry ?? {}]) {
    if (!(Number.isInteger(attempts) && attempts > 0))
      throw new ConfigurationError(`Step "${name}": attempts must be a whole number from 1`);
    if (!(delay >= 0 && backoff >= 0))
      throw new ConfigurationError(`Step "${name}": delay and backoff must be numbers from 0`);
  }
  checkTimeout(`Step "${name}"`, timeout);
  return Object.freeze(made);
}

/** What timers know: from one millisecond to nearly 25 days. */
export function checkTimeout(whose: string, timeout: number | undefined): void {
  if (timeout !== undefined && !(timeout >= 1 && timeout < 2 ** 31))
    throw new ConfigurationError(`${whose}: timeout must be milliseconds, from 1 to ${2 ** 31 - 1}`);
}

/** What a step is given; a compensation, too. */
export interface StepContext<TInput = unknown> {
  /** What the run was started with. */
  readonly input: TInput;
  /** What steps leave for those after them; kept with the run. Change it with `set`. */
  readonly data: Readonly<Record<string, unknown>>;
  get<T = unknown>(key: string): T | undefined;
  set(key: string, value: unknown): void;
  /** Results of the steps before, by name. */
  readonly results: Readonly<Record<string, unknown>>;
  /** On whose behalf it runs, or null. */
  readonly user: User | null;
  /**
   * The driver with field security on; of one transaction in entity steps and `.transactional()` workflows. It asks no
   * rules. When the step has ended, it refuses.
   */
  readonly driver: Driver;
  /** What operations run in; undefined outside an app. In a compensation it is the system's. */
  readonly scope: OperationScope | undefined;
  /** An entity's client with the rights of `scope`. @throws ConfigurationError outside an app */
  client<E extends EntityRef>(entity: E): EntityClient<E extends string ? AnyEntity : E>;
  resolve<T = unknown>(service: string): T;
  /** Aborted when the try has run out of time, or the run is given up. */
  readonly signal: AbortSignal;
  /** From 1. */
  readonly attempt: number;
  /** The same for each try of this step in this run, also after a restart: what is called with it can tell repetitions. */
  readonly idempotencyKey: string;
  /** The key its execution had: in a compensation, what it is to take back; in a step the same as `idempotencyKey`. */
  readonly executionKey: string;
  readonly runId: string;
  readonly log: Logger;
}
