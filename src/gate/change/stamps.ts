import type { AnyEntity, EntityModel } from "../../entity/index.ts";
import { InternalError } from "../../kernel/index.ts";
import type { Row } from "../condition/condition.ts";
import type { OperationScope } from "../operation/operation-scope.ts";
import type { Driver } from "../statement/driver-port.ts";
import { type Middleware, withMiddleware } from "../statement/with-middleware.ts";
import type { ChangeOptions } from "./record-change.ts";

/**
 * Returns values that a plugin stores with every new record, or undefined. They replace the given values. Called for
 * each record, possibly several times: the result may depend only on the scope's caller and the entity.
 */
export type Stamp = (scope: OperationScope, entity: AnyEntity) => Row | undefined;

/** A stamp and the plugin that declared it. */
export interface DeclaredStamp {
  readonly plugin: string;
  readonly stamp: Stamp;
  readonly options: ChangeOptions;
}

/** The stamps of an app. */
export interface Stamps {
  /**
   * The values to store with a new record of an entity. @throws InternalError for a column that the entity does not
   * have
   */
  of(scope: OperationScope, entity: AnyEntity): Row | undefined;
  /** Wraps a driver so that its inserts carry the stamps. */
  around(driver: Driver, scope: OperationScope): Driver;
}

/** @returns undefined when there are no stamps; drivers are then not wrapped */
export function createStamps(model: EntityModel, declared: readonly DeclaredStamp[]): Stamps | undefined {
  if (declared.length === 0) return undefined;
  const byEntity = new Map<string, readonly DeclaredStamp[]>(
    model.entities.map((entity) => [
      entity.name,
      declared.filter(({ options }) => options.appliesTo?.(entity) ?? !entity.internal),
    ]),
  );
  function of(scope: OperationScope, entity: AnyEntity): Row | undefined {
    const own = byEntity.get(entity.name) ?? [];
    if (own.length === 0) return undefined;
    return Object.assign({}, ...own.map((one) => checked(one, entity, one.stamp(scope, entity)))) as Row;
  }
  function around(driver: Driver, scope: OperationScope): Driver {
    const stamping: Middleware = (statement, next) => {
      const values = statement.kind === "insert" ? of(scope, statement.entity) : undefined;
      if (statement.kind !== "insert" || values === undefined) return next(statement);
      return next({ ...statement, rows: statement.rows.map((row) => ({ ...row, ...values })) });
    };
    return withMiddleware(driver, stamping, { joins: true });
  }
  return Object.freeze({ of, around });
}

function checked({ plugin }: DeclaredStamp, entity: AnyEntity, values: Row | undefined): Row | undefined {
  for (const name of Object.keys(values ?? {}))
    if (!Object.hasOwn(entity.columns, name) || name === "id")
      throw new InternalError(`Plugin "${plugin}" stamped "${name}", which is not a column of ${entity.name} to set`);
  return values;
}
