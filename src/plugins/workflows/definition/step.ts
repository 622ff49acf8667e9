import { type AnyEntity, ConfigurationError } from "../../../entity/index.ts";
import type { Driver, EntityClient, EntityRef, OperationScope } from "../../../gate/index.ts";
import type { Logger, User } from "../../../kernel/index.ts";

/** How often something is retried, and after which delay. */
export interface RetryOptions {
  /** The number of tries, including the first. @default 1 for steps, 5 for compensations */
  readonly attempts?: number | undefined;
  /** Milliseconds before the second try. @default 100 */
  readonly delay?: number | undefined;
  /** The factor by which the delay grows after each try. @default 2 */
  readonly backoff?: number | undefined;
}

/** Options of a step. */
export interface StepOptions {
  /** @default tried once; Keelson errors with a 4xx status are never retried */
  readonly retry?: RetryOptions | undefined;
  /** Retries of the compensation. @default 5 attempts */
  readonly compensationRetry?: RetryOptions | undefined;
  /** Milliseconds for one try. @default 30000 */
  readonly timeout?: number | undefined;
  /**
   * Whether the step may run again after its process died while it ran, so that its outcome is unknown. Pass the
   * `idempotencyKey` to the services it calls. Without this option, such a run is compensated.
   * @default false
   */
  readonly idempotent?: boolean | undefined;
  /**
   * Whether it runs with the system's rights instead of the caller's, without rules. Only works in an app. @default
   * false
   */
  readonly asSystem?: boolean | undefined;
  /**
   * Whether all its effects are in the database: a `.transactional()` workflow rolls it back instead of compensating
   * it. @default false
   */
  readonly transactional?: boolean | undefined;
}

/** Types of the functions of a step. */
export type ExecuteStep<TInput = unknown, TResult = unknown> = (
  context: StepContext<TInput>,
) => TResult | Promise<TResult>;
/** Undoes a step, given its result. */
export type CompensateStep<TInput = unknown, TResult = unknown> = (
  context: StepContext<TInput>,
  result: TResult,
) => unknown;

/** One step of a workflow, with the compensation that undoes it. */
export interface Step<TInput = unknown, TResult = unknown> extends StepOptions {
  readonly name: string;
  execute(context: StepContext<TInput>): TResult | Promise<TResult>;
  /**
   * Undoes the step. The result is undefined when it is unknown because the try timed out or its process died.
   * @param memo data that `execute` returned in a `WithMemo`
   */
  compensate?(context: StepContext<TInput>, result: TResult, memo?: unknown): unknown;
  /** Whether it consists of operations in one transaction, to which the journal can add its entry. @default false */
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

/** A step as callers may write it: made by `step()`, or an object with `execute` or `run`. */
export type StepLike =
  | Step<never>
  | (Omit<Step<never>, "execute" | "atomic"> & { run(context: StepContext<never>): unknown });

/**
 * Makes a step.
 * @param name unique in its workflow
 * @param execute the work of the step; its return value is the step's result
 * @param compensate undoes the step when a later step fails
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
 * Returns a step with other options. Entity steps take their options this way.
 * @example
 * withOptions(updateEntityStep("stock", { id }, { left }), { asSystem: true })
 */
export function withOptions(made: Step, options: StepOptions): Step {
  return checkedStep({ ...made, ...options });
}

/** Normalizes a step. @throws ConfigurationError */
export function toStep(like: StepLike): Step {
  if (Object.isFrozen(like)) return checkedStep((like ?? {}) as Step);
  const { name, execute, run, compensate } = like as Partial<Step> & { readonly run?: Step["execute"] };
  const { run: _, ...rest } = like as Partial<Step> & { readonly run?: unknown };
  // It may be an instance of a class, whose methods need their `this`.
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

/** Checks that timers support a time limit: from one millisecond to nearly 25 days. @throws ConfigurationError */
export function checkTimeout(whose: string, timeout: number | undefined): void {
  if (timeout !== undefined && !(timeout >= 1 && timeout < 2 ** 31))
    throw new ConfigurationError(`${whose}: timeout must be milliseconds, from 1 to ${2 ** 31 - 1}`);
}

/** The context of a step or of its compensation. */
export interface StepContext<TInput = unknown> {
  /** The input of the run. */
  readonly input: TInput;
  /** Data that steps pass on to later steps; it is kept with the run. Change it with `set`. */
  readonly data: Readonly<Record<string, unknown>>;
  get<T = unknown>(key: string): T | undefined;
  set(key: string, value: unknown): void;
  /** Results of the previous steps, by name. */
  readonly results: Readonly<Record<string, unknown>>;
  /** The user whose rights the run has, or null. */
  readonly user: User | null;
  /**
   * The driver, with field security. In entity steps and `.transactional()` workflows it is the driver of one
   * transaction. It checks no rules. After the end of the step it refuses calls.
   */
  readonly driver: Driver;
  /** The scope of operations; undefined outside of an app. In a compensation it is the system's. */
  readonly scope: OperationScope | undefined;
  /** An entity's client with the rights of `scope`. @throws ConfigurationError outside of an app */
  client<E extends EntityRef>(entity: E): EntityClient<E extends string ? AnyEntity : E>;
  resolve<T = unknown>(service: string): T;
  /** Aborted when the try times out, or the run is given up. */
  readonly signal: AbortSignal;
  /** The number of the try, from 1. */
  readonly attempt: number;
  /**
   * The same for each try of this step in this run, even after a restart, so that services can recognise repetitions.
   */
  readonly idempotencyKey: string;
  /** The `idempotencyKey` of the step's execution. A compensation can use it to find the work that it has to undo. */
  readonly executionKey: string;
  readonly runId: string;
  readonly log: Logger;
}
