import type { AnyEntity, EntityModel } from "../../entity/index.ts";
import {
  describeError,
  type HttpExchange,
  type Limits,
  type Logger,
  type Principal,
  runHooks,
  ScopedContainer,
  type ScopeInit,
  SYSTEM,
} from "../../kernel/index.ts";
import type { EntityRef } from "../condition/condition.ts";
import type { MaskDraft } from "../operation/hook-map.ts";
import type { FieldMask, ShownRecords } from "../operation/mask.ts";
import { newOperation } from "../operation/new-operation.ts";
import type { Decision, Operation, OperationInput } from "../operation/operation.ts";
import type {
  OperationScope,
  Precondition,
  RouteAccess,
  ScopeTransactionOptions,
} from "../operation/operation-scope.ts";
import type { Route } from "../operation/route.ts";
import type { CompiledEntity, GateScope, OperationRuntime } from "../operation/runtime.ts";
import { taggingDriver } from "../record/tag-record.ts";
import { decide, mayUse } from "../requirement/decisions.ts";
import { deniedError } from "../requirement/unmatched.ts";
import type { Driver } from "../statement/driver.ts";
import { lateTransaction, OpenTransaction } from "../statement/late-transaction.ts";
import { runOperation } from "./run-operation.ts";
import { runSeveral } from "./run-several.ts";

/** The values that services of a request find by name. Created lazily; a signal costs more than most requests. */
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
    return this.has(id) ? this.#scope[id as "driver" | "requestId" | "signal"] : undefined;
  }
}

/** The only implementation of a scope. Everything in it is created on first use. */
export class RequestScope implements GateScope {
  readonly runtime: OperationRuntime;
  /** The driver as it is, for the gate's own statements. */
  readonly store: Driver;
  readonly principal: Principal;
  readonly requestId: string;
  precondition: Precondition | undefined;
  idempotencyKey: string | undefined;
  shown: ShownRecords | undefined;
  /** The driver without the seam for changes: scopes derived from this one have their own seams. */
  readonly #bare: Driver;
  readonly #init: ScopeInit;
  readonly #open: OpenTransaction<GateScope> | undefined;
  /** Whether the transaction of its driver may not have begun. */
  readonly #isLate: boolean;
  #driver: Driver | undefined;
  #services: ScopedContainer | undefined;
  readonly #masks = new ScopeMasks(this);
  /** The rules' decisions about reading lists, each made once. */
  #decisions: Map<AnyEntity, Promise<Decision>> | undefined;

  constructor(
    runtime: OperationRuntime,
    init: ScopeInit,
    bare: Driver = runtime.driver,
    open?: OpenTransaction<GateScope>,
    isLate = false,
  ) {
    this.runtime = runtime;
    this.#bare = bare;
    this.store = runtime.reporting?.(bare, this) ?? bare;
    this.principal = init.principal;
    this.requestId = init.requestId;
    this.#init = init;
    this.#open = open;
    this.#isLate = isLate;
  }

  get driver(): Driver {
    this.#driver ??= taggingDriver(this.runtime.handlerDriver(this.store, this), this.runtime);
    return this.#driver;
  }
  get model(): EntityModel {
    return this.runtime.model;
  }
  get limits(): Limits {
    return this.runtime.limits;
  }
  get log(): Logger {
    return this.runtime.log;
  }
  get signal(): AbortSignal | undefined {
    return this.#init.exchange?.signal;
  }
  get isTransaction(): boolean {
    return this.#open !== undefined;
  }
  get isExpired(): boolean {
    return this.#init.exchange?.isExpired === true;
  }
  get request(): unknown {
    return this.#init.exchange?.request.raw;
  }
  get exchange(): HttpExchange | undefined {
    return this.#init.exchange;
  }
  get services(): ScopedContainer {
    this.#services ??= new ScopedContainer(this.runtime.container, new RequestValues(this));
    return this.#services;
  }

  now(): Date {
    return this.runtime.clock.now();
  }

  run(input: OperationInput): Promise<Operation> {
    const { tracer } = this.runtime;
    const { ids } = input;
    const work = (): Promise<Operation> =>
      ids === undefined ? runOperation(this, input) : runSeveral(this, input, ids);
    return tracer === undefined ? work() : tracer.operation(input, work);
  }

  async readDecision(ref: EntityRef): Promise<Decision> {
    const { entity } = this.runtime.find(ref);
    await this.maskReady(ref);
    this.#decisions ??= new Map();
    const decision = this.#decisions.get(entity) ?? Promise.resolve(decide(this, { kind: "list", entity }));
    this.#decisions.set(entity, decision);
    return decision;
  }

  listsPlainly(ref: EntityRef): boolean {
    return this.runtime.find(ref).planOf("list", "read").isPlain;
  }

  async decide(input: OperationInput): Promise<Decision> {
    const decision = await decide(this, input);
    if (decision.allowed) return decision;
    const { entity } = this.runtime.find(input.entity);
    throw deniedError({ ...newOperation(this, entity, input), decision }, this.runtime.production);
  }

  mayUse(route: Route): Promise<RouteAccess> {
    return mayUse(this, route);
  }

  mask(ref: EntityRef): FieldMask {
    return this.#masks.of(this.runtime.find(ref));
  }

  get masked(): readonly AnyEntity[] {
    return this.#masks.known;
  }

  maskReady(ref?: EntityRef): Promise<void> | undefined {
    return ref === undefined ? this.#masks.allReady() : this.#masks.ready(this.runtime.find(ref));
  }

  async asSystem<T>(work: (scope: OperationScope) => Promise<T>): Promise<T> {
    const init: ScopeInit = { principal: SYSTEM, requestId: this.requestId };
    const system = new RequestScope(this.runtime, init, this.#bare, this.#open, this.#isLate);
    try {
      return await work(system);
    } finally {
      await system.close();
    }
  }

  async transaction<T>(
    work: (scope: OperationScope) => Promise<T>,
    { around = (driver: Driver) => driver, late }: ScopeTransactionOptions = {},
  ): Promise<T> {
    if (this.#open !== undefined)
      return this.#open.join(() => (this.#isLate ? this.store.transaction(() => work(this)) : work(this))); // a late one begins now
    let open = new OpenTransaction<GateScope>();
    let left: Precondition | undefined;
    const run = async (driver: Driver, isLate = false): Promise<T> => {
      open = new OpenTransaction(); // the driver may have rolled back and retried
      const inner = new RequestScope(this.runtime, this.#init, open.watch(around(driver)), open, isLate);
      inner.precondition = this.precondition;
      inner.idempotencyKey = this.idempotencyKey;
      inner.shown = this.shown;
      try {
        const result = await work(inner);
        open.assertWhole();
        return result;
      } finally {
        left = inner.precondition;
        await inner.close();
      }
    };
    const { driver } = this.runtime;
    const result = await (late === undefined
      ? driver.transaction((inner) => run(inner))
      : lateTransaction(driver, { work: run, around: late }));
    this.precondition = left;
    for (const task of open.afterCommit) await task(this);
    return result;
  }

  /** Closes the services of the scope, if any. Never rejects: their work is done. */
  close(): Promise<void> | undefined {
    if (this.#services?.isUsed !== true) return undefined;
    return this.#services.dispose().catch((error: unknown) => {
      this.log.error("Services of a request failed to close", { requestId: this.requestId, ...describeError(error) });
    });
  }

  async whenCommitted(task: (outermost: GateScope) => Promise<void>): Promise<void> {
    if (this.#open === undefined) await task(this);
    else this.#open.afterCommit.push(task);
  }
}

interface Entry {
  readonly draft: MaskDraft;
  /** Until this is settled the mask is narrower than it may turn out to be. */
  pending: Promise<void> | undefined;
}

/** The field masks of one caller, each computed on first use. */
class ScopeMasks {
  /** Created on first use: most callers have the shared masks. */
  #entries: Map<AnyEntity, Entry> | undefined;
  readonly #scope: OperationScope;

  constructor(scope: OperationScope) {
    this.#scope = scope;
  }

  of(compiled: CompiledEntity): FieldMask {
    return compiled.maskHooks.length === 0 ? compiled.mask : this.#entry(compiled).draft.mask;
  }

  /** Entities whose mask was requested, where hooks narrow it. */
  get known(): readonly AnyEntity[] {
    return [...(this.#entries?.keys() ?? [])];
  }

  /** Resolves when the mask is final; undefined when it is. */
  ready(compiled: CompiledEntity): Promise<void> | undefined {
    return compiled.maskHooks.length === 0 ? undefined : this.#entry(compiled).pending;
  }

  /** The same for all requested masks. */
  allReady(): Promise<void> | undefined {
    const pending = [...(this.#entries?.values() ?? [])].flatMap((entry) => entry.pending ?? []);
    return pending.length === 0 ? undefined : Promise.all(pending).then(() => {});
  }

  #entry({ entity, mask, maskHooks }: CompiledEntity): Entry {
    this.#entries ??= new Map();
    const entries = this.#entries;
    const known = entries.get(entity);
    if (known !== undefined) return known;
    const entry: Entry = {
      draft: { entity, principal: this.#scope.principal, scope: this.#scope, mask },
      pending: undefined,
    };
    entries.set(entity, entry); // before the hooks run: their rules may ask for records, and so for this mask
    const forget = (error: unknown): never => {
      entries.delete(entity); // some of its hooks have not narrowed it: the next call runs them again
      throw error;
    };
    try {
      entry.pending = runHooks(maskHooks, entry.draft)?.then(() => {
        entry.pending = undefined;
      }, forget);
    } catch (error) {
      forget(error);
    }
    entry.pending?.catch(() => {}); // callers of `ready` get the error; without any it would end the process
    return entry;
  }
}
