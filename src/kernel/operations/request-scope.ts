import type { AnyEntity, EntityModel } from "../../entity/index.ts";
import { ScopedContainer } from "../container/scoped-container.ts";
import { runHooks } from "../hooks/hook-registry.ts";
import type { Limits } from "../limits.ts";
import type { Driver } from "../ports/driver.ts";
import type { Logger } from "../ports/logger.ts";
import type { Principal } from "../ports/principal.ts";
import type { FieldMask } from "../records/mask.ts";
import { newOperation } from "./new-operation.ts";
import type { Decision, Operation, OperationInput } from "./operation.ts";
import { runOperation } from "./run-operation.ts";
import type { OperationRuntime } from "./runtime.ts";
import type { OperationScope } from "./scope.ts";

/** What a scope begins with. */
export interface ScopeInit {
  readonly principal: Principal;
  readonly requestId: string;
  readonly signal?: AbortSignal | undefined;
  readonly request?: unknown;
}

/** Work that waits for the outermost transaction to commit. */
type AfterCommit = (() => Promise<void>)[];

/** The one implementation of a scope. Everything in it is made on first use. */
export class RequestScope implements OperationScope {
  readonly runtime: OperationRuntime;
  readonly driver: Driver;
  readonly principal: Principal;
  readonly requestId: string;
  readonly #init: ScopeInit;
  readonly #afterCommit: AfterCommit | undefined;
  #services: ScopedContainer | undefined;
  #masks: Map<AnyEntity, FieldMask> | undefined;
  #decisions: Map<AnyEntity, Promise<Decision>> | undefined;

  constructor(runtime: OperationRuntime, init: ScopeInit, driver: Driver = runtime.driver, afterCommit?: AfterCommit) {
    this.runtime = runtime;
    this.driver = driver;
    this.principal = init.principal;
    this.requestId = init.requestId;
    this.#init = init;
    this.#afterCommit = afterCommit;
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
    return this.#init.signal;
  }
  get request(): unknown {
    return this.#init.request;
  }
  get services(): ScopedContainer {
    const { principal, requestId, driver, signal } = this;
    this.#services ??= new ScopedContainer(this.runtime.container, {
      currentUser: principal.user,
      requestId,
      driver,
      signal,
    });
    return this.#services;
  }

  run(input: OperationInput): Promise<Operation> {
    return runOperation(this, input);
  }

  readDecision(entity: AnyEntity): Promise<Decision> {
    this.#decisions ??= new Map();
    let decision = this.#decisions.get(entity);
    if (decision === undefined) {
      decision = this.#decide(entity);
      this.#decisions.set(entity, decision);
    }
    return decision;
  }

  async #decide(entity: AnyEntity): Promise<Decision> {
    const operation = newOperation(this, entity, { kind: "list", entity });
    if (this.principal.kind === "system") operation.decision.allowed = true;
    else await runHooks(this.runtime.plan(entity, "list").authorize, operation);
    return operation.decision;
  }

  mask(entity: AnyEntity): FieldMask {
    const hooks = this.runtime.hooks.list("access:mask");
    const base = this.runtime.baseMask(entity);
    if (hooks.length === 0) return base;
    this.#masks ??= new Map();
    let mask = this.#masks.get(entity);
    if (mask === undefined) {
      const draft = { entity, principal: this.principal, mask: base };
      for (const hook of hooks) void hook.run(draft); // synchronous by contract (hook-map.ts)
      mask = draft.mask;
      this.#masks.set(entity, mask);
    }
    return mask;
  }

  async transaction<T>(work: (scope: OperationScope) => Promise<T>): Promise<T> {
    if (this.#afterCommit !== undefined) return work(this);
    const afterCommit: AfterCommit = [];
    const result = await this.runtime.driver.transaction(async (driver) => {
      afterCommit.length = 0; // the driver may have rolled back and tried again
      return work(new RequestScope(this.runtime, this.#init, driver, afterCommit));
    });
    for (const task of afterCommit) await task();
    return result;
  }

  /** Runs a task when what was written so far is sure to stay: at once, or after the surrounding transaction. */
  async whenCommitted(task: () => Promise<void>): Promise<void> {
    if (this.#afterCommit === undefined) await task();
    else this.#afterCommit.push(task);
  }
}
