import { ConfigurationError, createModel, type EntityLike } from "./entity/index.ts";
import { type Driver, type DriverContext, taggingDriver, withMiddleware } from "./gate/index.ts";
import { getLogger, safeLogger, type User } from "./kernel/index.ts";
import { type FieldSecurityOptions, protectDriver } from "./plugins/field-security/index.ts";
import { filteringDriver } from "./plugins/rules/index.ts";

/** The options of `createEnhancedDriver`. */
export interface EnhancedDriverOptions extends FieldSecurityOptions {
  /** Definitions or builders of all entities that the driver is used for, and of those they relate to. */
  readonly entities: readonly EntityLike[];
  /**
   * The user that the driver acts for; null, or an explicit undefined, means anonymous.
   * @default no user: all fields are read and written
   */
  readonly user?: User | null | undefined;
  /** Whether the user is an administrator. @default like `isAdmin` of `keelson()` */
  readonly isAdmin?: boolean | undefined;
}

/** A driver with its entities, so that `connect` needs no argument. */
export interface EnhancedDriver extends Driver {
  /** @param context @default its entities, the process-wide logger, and whether NODE_ENV is "production" */
  connect(context?: DriverContext): Promise<void>;
}

/**
 * Wraps a driver with field security, for code without an app (spec 1.1): it hashes passwords and encrypts fields on
 * write, decrypts records on read, and tags them, so that hidden columns are not shown. With `user`, it also removes
 * fields that the user may not read from results, and fields that the user may not write from data. It includes no
 * other part of an app: no entity rules, no validation, no defaults; conditions and sort keys may use any column.
 * @param driver a connected driver, such as `api.driver`, or one to `connect()`
 * @throws ConfigurationError for definitions, costs and keys that would prevent an app from starting
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
