import type { AnyEntity } from "../../../entity/index.ts";
import type { Driver, EntityClient, EntityRef, OperationScope } from "../../../gate/index.ts";
import type { Logger, User } from "../../../kernel/index.ts";

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
