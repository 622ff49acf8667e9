import { ConfigurationError } from "../../entity/base/keelson-error.ts";
import type { KernelPlugin, KernelPluginOptions } from "./kernel-plugin.ts";

const ID = /^[a-z][a-z0-9]*(?:-[a-z0-9]+)*(?:\/[a-z][a-z0-9]*(?:-[a-z0-9]+)*)?$/;

/** Plugins made by `createPlugin`, to distinguish them from similar objects. */
const made = new WeakSet<object>();
/** Factories made by `createPluginFactory`. */
const factories = new WeakSet<object>();

/** The members that identify a plugin. */
type PluginIdentity = Pick<KernelPluginOptions, "id" | "version" | "requires" | "after" | "before" | "provides">;

/** The plugin made from some options. */
type Made<O extends PluginIdentity> = O & Pick<KernelPlugin, "version" | "requires" | "provides">;

/** @see createPlugin */
export function makePlugin<O extends PluginIdentity>(options: O): Made<O> {
  assertOptions(options);
  const plugin = Object.freeze({
    ...options,
    version: options.version ?? "0.0.0",
    requires: Object.freeze([...(options.requires ?? [])]),
    provides: Object.freeze([...(options.provides ?? [])]),
  });
  made.add(plugin);
  return plugin;
}

function assertOptions(options: unknown): void {
  if (typeof options !== "object" || options === null)
    throw new ConfigurationError('createPlugin() takes an object with at least an "id", such as { id: "acme/audit" }');
  const { id, requires = [], after = [], before = [], provides = [] } = options as Record<string, unknown>;
  if (typeof id !== "string") throw new ConfigurationError('createPlugin() needs an "id", such as "acme/audit"');
  if (!ID.test(id)) throw new ConfigurationError(`Plugin id "${id}" must be kebab-case, optionally "scope/name"`);
  const problems = Object.entries({ requires, after, before, provides })
    .filter(([, names]) => !(Array.isArray(names) && names.every((name) => typeof name === "string")))
    .map(([key]) => `plugin "${id}": "${key}" must be a list of names`);
  if (problems.length > 0) throw new ConfigurationError(problems);
}

/** @see createPluginFactory */
export function makePluginFactory<T, O extends PluginIdentity>(
  define: (options: Partial<T>) => O,
): (options?: Partial<T>) => Made<O> {
  const factory = (options: Partial<T> = {}): Made<O> => makePlugin(define(options));
  factories.add(factory);
  return factory;
}

/** Whether a value was made by `createPlugin`. */
export function isMadePlugin(value: unknown): value is KernelPlugin {
  return typeof value === "object" && value !== null && made.has(value);
}

/** Whether a value was made by `createPluginFactory`. */
export function isPluginFactory(value: unknown): boolean {
  return typeof value === "function" && factories.has(value);
}

/** Whether a value is a plugin, a plugin factory, or neither. */
export function detectPluginType(value: unknown): "plugin" | "factory" | "unknown" {
  if (isValidPlugin(value)) return "plugin";
  return isPluginFactory(value) ? "factory" : "unknown";
}

/**
 * Whether a value can be used in a plugin list: it was made by `createPlugin` of this or another copy of the package.
 */
export function isValidPlugin(value: unknown): value is KernelPlugin {
  if (isMadePlugin(value)) return true;
  if (typeof value !== "object" || value === null) return false;
  const { id, version, requires, provides } = value as Partial<KernelPlugin>;
  return typeof id === "string" && typeof version === "string" && Array.isArray(requires) && Array.isArray(provides);
}
