import {
  describeError,
  type HttpExchange,
  type Principal,
  RecordChangedError,
  ScopedContainer,
  type ScopeInit,
  SYSTEM,
} from "../../kernel/index.ts";
import type { Operation, OperationInput } from "../operation/operation.ts";
import type {
  OperationScope,
  Precondition,
  ScopeAccess,
  ScopeApp,
  ScopeState,
  ScopeTransactionOptions,
} from "../operation/operation-scope.ts";
import type { GateScope, OperationRuntime } from "../operation/runtime.ts";
import { taggingDriver } from "../record/tag-record.ts";
import { NOTHING_DONE } from "../requirement/unmatched.ts";
import type { Driver } from "../statement/driver-port.ts";
import { HeldInserts, NOT_HELD } from "../statement/held-inserts.ts";
import { lateTransaction, OpenTransaction } from "../statement/late-transaction.ts";
import { CallerAccess } from "./caller-access.ts";
import { runOperation } from "./run-operation.ts";
import { runSeveral } from "./run-several.ts";

/**
 * The values that services of a request can resolve by name. Created lazily; a signal costs more than most requests.
 */
class RequestValues {
  readonly #scope: RequestScope;

  constructor(scope: RequestScope) {
    this.#scope = scope;
  }
  has(id: string): boolean {
    return id === "driver" || id === "currentUser" || id === "requestId" || id === "signal";
  }
  get(id: string): unknown {
    if (id === "currentUser") return this.#scope.principal.user;
    if (id === "signal") return this.#scope.exchange?.signal;
    return this.has(id) ? this.#scope[id as "driver" | "requestId"] : undefined;
  }
}

/** The initial state of a scope that another scope creates. */
interface ScopeParts {
  /** The driver without the seam for changes. @default the app's */
  readonly bare?: Driver;
  readonly open?: OpenTransaction<GateScope> | undefined;
  /** Whether the driver's transaction may not have begun yet. @default false */
  readonly isLate?: boolean;
  readonly state?: ScopeState;
}

const noState = (): ScopeState => ({ precondition: undefined, idempotencyKey: undefined, shown: undefined });

/** The only implementation of a scope. Its members are created on first use. */
export class RequestScope implements GateScope {
  readonly runtime: OperationRuntime;
  /** The unwrapped driver, for the gate's own statements. */
  readonly store: Driver;
  readonly principal: Principal;
  readonly requestId: string;
  readonly access: ScopeAccess;
  readonly state: ScopeState;
  readonly exchange: HttpExchange | undefined;
  /** The driver without the seam for changes: scopes derived from this one have their own seams. */
  readonly #bare: Driver;
  readonly #open: OpenTransaction<GateScope> | undefined;
  /** Whether the transaction of its driver may not have begun. */
  readonly #isLate: boolean;
  #driver: Driver | undefined;
  #services: ScopedContainer | undefined;

  constructor(
    runtime: OperationRuntime,
    init: ScopeInit,
    { bare = runtime.driver, open, isLate = false, state = noState() }: ScopeParts = {},
  ) {
    this.runtime = runtime;
    this.#bare = bare;
    this.store = runtime.around?.(bare, this) ?? bare;
    this.principal = init.principal;
    this.requestId = init.requestId;
    this.exchange = init.exchange;
    this.access = new CallerAccess(this);
    this.state = state;
    this.#open = open;
    this.#isLate = isLate;
  }

  get app(): ScopeApp {
    return this.runtime.app;
  }
  get driver(): Driver {
    this.#driver ??= taggingDriver(this.runtime.handlerDriver(this.store, this), this.runtime);
    return this.#driver;
  }
  get isTransaction(): boolean {
    return this.#open !== undefined;
  }
  get isFailed(): boolean {
    return (this.#open?.failures.length ?? 0) > 0;
  }
  get isExpired(): boolean {
    return this.exchange?.isExpired === true;
  }
  get services(): ScopedContainer {
    this.#services ??= new ScopedContainer(this.runtime.container, new RequestValues(this));
    return this.#services;
  }

  run(input: OperationInput): Promise<Operation> {
    const { tracer } = this.runtime;
    return tracer === undefined ? this.#run(input) : tracer.operation(input, () => this.#run(input));
  }

  #run(input: OperationInput): Promise<Operation> {
    return input.ids === undefined ? runOperation(this, input) : runSeveral(this, input, input.ids);
  }

  asSystem<T>(work: (scope: OperationScope) => Promise<T>): Promise<T> {
    return this.actAs(SYSTEM, work);
  }

  anew<T>(work: (scope: OperationScope) => Promise<T>): Promise<T> {
    return this.#within(this, work);
  }

  actAs<T>(principal: Principal, work: (scope: OperationScope) => Promise<T>): Promise<T> {
    return this.#within({ principal, requestId: this.requestId }, work);
  }

  async #within<T>(init: ScopeInit, work: (scope: OperationScope) => Promise<T>): Promise<T> {
    const other = new RequestScope(this.runtime, init, { bare: this.#bare, open: this.#open, isLate: this.#isLate });
    try {
      return await work(other);
    } finally {
      await other.close();
    }
  }

  async transaction<T>(
    work: (scope: OperationScope) => Promise<T>,
    { around = (driver) => driver, late, holdsInserts = false }: ScopeTransactionOptions = {},
  ): Promise<T> {
    // A late transaction begins here.
    if (this.#open !== undefined)
      return this.#open.join(() => (this.#isLate ? this.store.transaction(() => work(this)) : work(this)));
    let open = new OpenTransaction<GateScope>();
    let left: Precondition | undefined;
    const run = async (driver: Driver, isLate = false, held?: HeldInserts): Promise<T> => {
      open = new OpenTransaction(); // the driver may have rolled back and retried
      const parts = { bare: open.watch(around(held?.driver ?? driver)), open, isLate, state: { ...this.state } };
      const inner = new RequestScope(this.runtime, this, parts);
      try {
        const result = await work(inner);
        for (const error of open.failures) throw error === NOTHING_DONE ? new RecordChangedError() : error;
        await held?.settle();
        return result;
      } catch (error) {
        await held?.settle(error);
        throw error;
      } finally {
        left = inner.state.precondition;
        await inner.close();
      }
    };
    const { driver } = this.runtime;
    const attempt = (holds: boolean): Promise<T> => {
      const held = (inner: Driver, isLate = false): Promise<T> =>
        run(inner, isLate, holds ? new HeldInserts(inner) : undefined);
      return late === undefined
        ? driver.transaction((inner) => held(inner))
        : lateTransaction(driver, { work: held, around: late });
    };
    const result = await attempt(holdsInserts).catch((error: unknown) => {
      if (error === NOT_HELD) return attempt(false);
      throw error;
    });
    this.state.precondition = left;
    for (const task of open.afterCommit) await task(this);
    return result;
  }

  /** Closes the services of the scope, if any. Never rejects; errors are logged. */
  close(): Promise<void> | undefined {
    if (this.#services?.isUsed !== true) return undefined;
    return this.#services.dispose().catch((error: unknown) => {
      this.app.log.error("Services of a request failed to close", {
        requestId: this.requestId,
        ...describeError(error),
      });
    });
  }

  async whenCommitted(task: (outermost: GateScope) => Promise<void>): Promise<void> {
    const { principal } = this;
    if (this.#open === undefined) await task(this);
    else
      this.#open.afterCommit.push((outermost) =>
        outermost.principal === principal
          ? task(outermost)
          : outermost.actAs(principal, (scope) => task(scope as GateScope)),
      );
  }
}
