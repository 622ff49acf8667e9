import { type AnyEntity, ConfigurationError, type EntityModel } from "../entity/index.ts";
import { isPromiseLike } from "../kernel/index.ts";
import type { Plugin, PluginContext } from "./gate-plugin.ts";
import type { OperationScope } from "./operation/operation-scope.ts";
import type { Driver } from "./statement/driver-port.ts";

/** A feature of a definition that a plugin must provide. */
export interface Feature {
  /** Capability that a plugin must provide. */
  readonly name: string;
  /** The place in the definition that uses it. */
  readonly where: string;
}

/** The features an entity definition needs. */
export function featuresOf(entity: AnyEntity): Feature[] {
  const features: Feature[] = [];
  const add = (name: string, where: string): number => features.push({ name, where });
  if (entity.rules !== undefined) add("rules", `${entity.name}.rules()`);
  if (entity.versioned !== undefined) add("versioned", `${entity.name}.versioned()`);
  if (entity.softDelete !== undefined) add("soft-delete", `${entity.name}.softDelete()`);
  for (const [name, value] of Object.entries(entity.actions)) {
    add("actions", `action "${name}" of ${entity.name}`);
    const { definition = value } = (value ?? {}) as { readonly definition?: unknown };
    if ((definition as { readonly workflow?: unknown } | null | undefined)?.workflow !== undefined)
      add("workflows", `action "${name}" of ${entity.name} is a workflow`);
  }
  for (const [name, relation] of Object.entries(entity.relations))
    if (relation.remote) add("remote-relations", `${entity.name}.${name} is .remote()`);
  return [...features, ...fieldFeatures(entity)];
}

/** The features that an entity's fields need, including entities of other services. */
function fieldFeatures({ name: entity, fields }: AnyEntity): Feature[] {
  return Object.entries(fields).flatMap(([name, { password, omit, encrypted, search, readable, writable }]) => {
    const at = `${entity}.${name}`;
    const features: Feature[] = [];
    if (password) features.push({ name: "password", where: `${at} is .password()` });
    if (omit) features.push({ name: "omit", where: `${at} is .omit()` });
    if (encrypted) features.push({ name: "encrypted", where: `${at} is .encrypted()` });
    if (search) features.push({ name: "search", where: `${at} is .searchable()` });
    if (readable || writable) features.push({ name: "field-rules", where: `${at} has .readable() or .writable()` });
    return features;
  });
}

/** One message per feature that no plugin provides. The app must not start: it could store a password in clear text. */
export function missingFeatures(model: EntityModel, plugins: readonly Plugin[]): string[] {
  const provided = new Set(plugins.flatMap((plugin) => [plugin.id, ...plugin.provides]));
  return [...model.entities.flatMap(featuresOf), ...model.foreign.flatMap(fieldFeatures)]
    .filter(({ name }) => !provided.has(name))
    .map(({ name, where }) => `${where}, but no plugin in the list provides "${name}"`);
}

/** A plugin's context and state in one app. */
interface SetUpPlugin {
  readonly context: PluginContext;
  readonly state: unknown;
}

/** The driver with the layers of all plugins. */
interface LayeredDriver {
  readonly driver: Driver;
  readonly handlerDriver: (driver: Driver, scope?: OperationScope) => Driver;
}

/** Wraps a driver in the plugins' layers, the first plugin innermost. */
export function layerDriver(driver: Driver, plugins: ReadonlyMap<Plugin, SetUpPlugin>): LayeredDriver {
  const layers = [...plugins];
  const outer = layers.filter(([plugin]) => plugin.wrapHandlerDriver !== undefined);
  return {
    driver: layers.reduce((inner, [plugin, own]) => wrapped(inner, plugin, own), driver),
    handlerDriver: (given, scope) =>
      outer.reduce(
        (inner, [plugin, { context, state }]) => plugin.wrapHandlerDriver?.(inner, context, scope, state) ?? inner,
        given,
      ),
  };
}

function wrapped(inner: Driver, plugin: Plugin, { context, state }: SetUpPlugin): Driver {
  const driver = plugin.wrapDriver?.(inner, context, state) ?? inner;
  if (isPromiseLike(driver))
    throw new ConfigurationError(`plugin "${plugin.id}": wrapDriver returned a promise; it must return a driver`);
  // A copy such as `{ ...inner }` has no methods.
  if (driver !== inner && typeof driver.connect !== "function")
    throw new ConfigurationError(
      `plugin "${plugin.id}": wrapDriver must return a driver; make one with withMiddleware()`,
    );
  return driver;
}
