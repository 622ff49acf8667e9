import { ConfigurationError, createModel, type EntityLike } from "./entity/index.ts";
import { type Driver, type DriverContext, taggingDriver, withMiddleware } from "./gate/index.ts";
import { getLogger, safeLogger, type User } from "./kernel/index.ts";
import { type FieldSecurityOptions, protectDriver } from "./plugins/field-security/index.ts";
import { filteringDriver } from "./plugins/rules/index.ts";

/** What `createEnhancedDriver` takes besides a driver. */
export interface EnhancedDriverOptions extends FieldSecurityOptions {
  /** Definitions, or builders that are not built yet: all that the driver is used for, and those they relate to. */
  readonly entities: readonly EntityLike[];
  /**
   * On whose behalf the driver is used; null, or a present key with undefined, means anonymous.
   * @default no user: all fields are read and written
   */
  readonly user?: User | null | undefined;
  /** Whether the user is an administrator. @default as `isAdmin` of `keelson()` */
  readonly isAdmin?: boolean | undefined;
}

/** A driver that knows its entities, so `connect` needs no argument. */
export interface EnhancedDriver extends Driver {
  /** @param context @default its entities, the process-wide logger, and whether NODE_ENV is "production" */
  connect(context?: DriverContext): Promise<void>;
}

/**
 * A driver with field security on, for code without an app (spec 1.1): it hashes passwords and encrypts fields it stores,
 * decrypts what it returns, and tags records, so that hidden columns do not show. With `user` it also leaves out fields
 * the user may not read of what it returns, and drops those the user may not write of what it stores. Nothing else of
 * an app is in it: no rules of entities, no validation, no defaults; conditions and orders may name any column.
 * @param driver one that is connected already, such as `api.driver`, or one to `connect()`
 * @throws ConfigurationError for definitions, costs and keys that would keep an app from starting
 * @example
 * const driver = createEnhancedDriver(embedded(), [user, post])
 * await driver.connect()
 */
export function createEnhancedDriver(
  driver: Driver,
  given: readonly EntityLike[] | EnhancedDriverOptions,
): EnhancedDriver {
  const options: EnhancedDriverOptions = "entities" in given ? given : { entities: given };
  const model = createModel(options.entities);
  if (model.problems.length > 0) throw new ConfigurationError(model.problems);
  const tagging = taggingDriver(protectDriver(driver, model, options));
  const { user, isAdmin } = options;
  // A missing user is anonymous, never the system.
  const filtering = Object.hasOwn(options, "user") ? filteringDriver(tagging, { user, isAdmin }) : tagging;
  return withMiddleware(filtering, (statement, next) => next(statement), {
    model,
    capabilities: { protectsFields: true },
    connect: (context = { model, log: safeLogger(getLogger()), production: process.env.NODE_ENV === "production" }) =>
      driver.connect(context),
  });
}
