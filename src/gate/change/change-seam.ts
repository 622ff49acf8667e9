import type { AnyEntity, EntityModel } from "../../entity/index.ts";
import { describeError, type Hook, type Logger, runHooks } from "../../kernel/index.ts";
import type { OperationScope } from "../operation/operation-scope.ts";
import type { Driver } from "../statement/driver-port.ts";
import { entityOf, isWrite } from "../statement/statement.ts";
import { type Middleware, withMiddleware } from "../statement/with-middleware.ts";
import type { ChangeListener, ChangeOptions, CommittedListener, RecordChange } from "./record-change.ts";
import { checkChanges, type RecordValidator } from "./record-validator.ts";
import { relationsToFollow } from "./relations-to-follow.ts";
import { type Listeners, type Noted, ReportedWrite, type Watched } from "./reported-write.ts";

/** A listener and the plugin that declared it. */
export interface DeclaredListener {
  readonly plugin: string;
  readonly options: ChangeOptions;
  readonly validate?: RecordValidator | undefined;
  readonly onChange?: ChangeListener | undefined;
  readonly onCommitted?: CommittedListener | undefined;
}

/** A scope that writes. */
interface ChangingScope extends OperationScope {
  /** Runs a task after the writes so far are committed: immediately, or after the surrounding transaction. */
  whenCommitted(task: () => Promise<void>): Promise<void>;
}

/**
 * The seam that all changes to records pass through: statements of operations, handlers, hooks and steps, and cascading
 * deletions.
 */
export interface ChangeSeam {
  /**
   * Returns a driver that reports its writes. A write and its listeners share one transaction; a listener that throws
   * rolls both back. Where the database runs transactions concurrently, a statement on several records becomes one
   * statement per record.
   * @param scope the scope that writes; undefined for services of the whole app
   */
  around(driver: Driver, scope: ChangingScope | undefined): Driver;
}

/**
 * @param declared listeners of all plugins
 * @returns undefined when there are no listeners; drivers are then not wrapped
 */
export function createChangeSeam(
  model: EntityModel,
  declared: readonly DeclaredListener[],
  log: Logger,
): ChangeSeam | undefined {
  const all = declared.map((one) => ({ ...one.options, ...hooksOf(one) }));
  const listeners = new Map<AnyEntity, Listeners>();
  for (const entity of model.entities) {
    const own = all.filter(({ appliesTo }) => appliesTo?.(entity) ?? !entity.internal);
    if (own.length === 0) continue;
    listeners.set(entity, {
      validating: own.flatMap(({ validating }) => validating),
      changed: own.flatMap(({ changed }) => changed),
      committed: own.flatMap(({ committed }) => committed),
    });
  }
  if (listeners.size === 0) return undefined;
  const followed = relationsToFollow(model, (entity) => listeners.has(entity));
  const parts: SeamParts = { model, listeners, followed, log };
  return Object.freeze<ChangeSeam>({
    around(driver, scope) {
      const watch = new ChangeWatch(parts, scope);
      return withMiddleware(driver, watch.middleware, {
        joins: true,
        transaction: (work, options) => {
          let committed: RecordChange[] = [];
          return driver
            .transaction((inside) => {
              committed = []; // the driver may have rolled back and retried
              return work(withMiddleware(inside, watch.inTransaction(committed), { joins: true }).execute);
            }, options)
            .then((result) => watch.settle(committed, result));
        },
      });
    },
  });
}

function hooksOf({ plugin, validate, onChange, onCommitted }: DeclaredListener): Listeners {
  // These run as part of the operation: the request's time limit applies, not the limit for hooks.
  const made = { plugin, timeout: 0, options: {} };
  const check: Hook<Noted> = {
    ...made,
    name: "records.validate",
    run: ({ changes, scope }) => validate && checkChanges({ plugin, validate }, changes, scope),
  };
  const change: Hook<Noted> = {
    ...made,
    name: "records.onChange",
    run: ({ changes, driver }) => onChange?.(changes, driver),
  };
  const commit: Hook<readonly RecordChange[]> = {
    ...made,
    name: "records.onCommitted",
    run: (changes) => onCommitted?.(changes),
  };
  return {
    validating: validate === undefined ? [] : [check],
    changed: onChange === undefined ? [] : [change],
    committed: onCommitted === undefined ? [] : [commit],
  };
}

interface SeamParts extends Watched {
  readonly log: Logger;
}

/** The writes of one scope. */
class ChangeWatch {
  readonly #parts: SeamParts;
  readonly #scope: ChangingScope | undefined;

  constructor(parts: SeamParts, scope: ChangingScope | undefined) {
    this.#parts = parts;
    this.#scope = scope;
  }

  /** Middleware for statements outside a transaction: each write and its listeners share one transaction. */
  readonly middleware: Middleware = async (statement, next, driver) => {
    const entity = this.#entityOf(statement);
    if (entity === undefined || !isWrite(statement)) return next(statement);
    let committed: RecordChange[] = [];
    const result = await driver.transaction((inside) => {
      committed = [];
      return new ReportedWrite(this.#parts, this.#scope, inside, committed).run(entity, statement);
    });
    return this.settle(committed, result);
  };

  /** Middleware for statements in a transaction; their changes are announced after the commit. */
  inTransaction(committed: RecordChange[]): Middleware {
    return async (statement, next, inside) => {
      const entity = this.#entityOf(statement);
      if (entity === undefined || !isWrite(statement)) return next(statement);
      return new ReportedWrite(this.#parts, this.#scope, inside, committed).run(entity, statement);
    };
  }

  /** The entity of a statement whose writes are reported, or whose deletions are followed to other entities. */
  #entityOf(statement: Parameters<Middleware>[0]): AnyEntity | undefined {
    const entity = this.#parts.model.get(entityOf(statement).name);
    if (entity === undefined) return undefined;
    if (this.#parts.listeners.has(entity)) return entity;
    return statement.kind === "delete" && this.#parts.followed.has(entity) ? entity : undefined;
  }

  /** Announces changes once they are committed. */
  async settle<T>(committed: readonly RecordChange[], result: T): Promise<T> {
    if (committed.length === 0) return result;
    const announce = (): Promise<void> => this.#announce(committed);
    await (this.#scope === undefined ? announce() : this.#scope.whenCommitted(announce));
    return result;
  }

  /** A committed write stays, even if a listener fails. */
  async #announce(committed: readonly RecordChange[]): Promise<void> {
    const hooks = new Set([...this.#parts.listeners.values()].flatMap((listeners) => listeners.committed));
    for (const hook of hooks) {
      const own = committed.filter(({ entity }) => this.#parts.listeners.get(entity)?.committed.includes(hook));
      if (own.length === 0) continue;
      try {
        await runHooks([hook], own);
      } catch (error) {
        const { plugin, name } = hook;
        this.#parts.log.error("A listener failed after the commit", { plugin, hook: name, ...describeError(error) });
      }
    }
  }
}
