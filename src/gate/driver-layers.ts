import { ConfigurationError } from "../entity/index.ts";
import { isPromiseLike } from "../kernel/index.ts";
import type { OperationScope } from "./operation/operation-scope.ts";
import type { Plugin, PluginContext } from "./plugin.ts";
import type { Driver } from "./statement/driver.ts";

/** The driver as the app uses it. */
export interface LayeredDriver {
  readonly driver: Driver;
  readonly handlerDriver: (driver: Driver, scope?: OperationScope) => Driver;
}

/** Puts what plugins bring around a driver, the first plugin innermost. */
export function layerDriver(driver: Driver, contexts: ReadonlyMap<Plugin, PluginContext>): LayeredDriver {
  const layers = [...contexts];
  const outer = layers.filter(([plugin]) => plugin.wrapHandlerDriver !== undefined);
  return {
    driver: layers.reduce((inner, [plugin, context]) => wrapped(inner, plugin, context), driver),
    handlerDriver: (given, scope) =>
      outer.reduce((inner, [plugin, context]) => plugin.wrapHandlerDriver?.(inner, context, scope) ?? inner, given),
  };
}

function wrapped(inner: Driver, plugin: Plugin, context: PluginContext): Driver {
  const driver = plugin.wrapDriver?.(inner, context) ?? inner;
  if (isPromiseLike(driver))
    throw new ConfigurationError(`plugin "${plugin.id}": wrapDriver returned a promise; it must return a driver`);
  // A copy such as `{ ...inner }` has no methods.
  if (driver !== inner && typeof driver.connect !== "function")
    throw new ConfigurationError(
      `plugin "${plugin.id}": wrapDriver must return a driver; make one with withMiddleware()`,
    );
  return driver;
}
