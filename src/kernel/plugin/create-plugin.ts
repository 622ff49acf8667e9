import { ConfigurationError } from "../../entity/index.ts";
import type { Endpoint, EndpointConfig, Plugin, PluginOptions } from "./plugin.ts";

const ID = /^[a-z][a-z0-9]*(?:-[a-z0-9]+)*(?:\/[a-z][a-z0-9]*(?:-[a-z0-9]+)*)?$/;

/** Plugins that `createPlugin` made; a look-alike with missing parts is not one. */
const made = new WeakSet<object>();
/** Factories that `createPluginFactory` made. */
const factories = new WeakSet<object>();

/**
 * Makes a plugin. What else is wrong with it is in the report of the app that it is in.
 * @param options its id, what it declares, and `setup`
 * @throws ConfigurationError when the id is missing or not kebab-case, optionally "scope/name", and when `requires` or
 * `provides` is not a list of names
 */
export function createPlugin(options: PluginOptions): Plugin {
  assertOptions(options);
  const plugin: Plugin = Object.freeze({
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
  const { id, requires = [], provides = [] } = options as Record<string, unknown>;
  if (typeof id !== "string") throw new ConfigurationError('createPlugin() needs an "id", such as "acme/audit"');
  if (!ID.test(id)) throw new ConfigurationError(`Plugin id "${id}" must be kebab-case, optionally "scope/name"`);
  const problems = Object.entries({ requires, provides })
    .filter(([, names]) => !(Array.isArray(names) && names.every((name) => typeof name === "string")))
    .map(([key]) => `plugin "${id}": "${key}" must be a list of names`);
  if (problems.length > 0) throw new ConfigurationError(problems);
}

/** Turns `(options) => plugin options` into `(options?) => Plugin`. */
export function createPluginFactory<TOptions extends object = Record<never, never>>(
  define: (options: Partial<TOptions>) => PluginOptions,
): (options?: Partial<TOptions>) => Plugin {
  const factory = (options: Partial<TOptions> = {}): Plugin => createPlugin(define(options));
  factories.add(factory);
  return factory;
}

/**
 * An endpoint of a plugin. Without `rules` it denies everybody.
 * @param path from the root of the server, as in `/reports/:year`
 * @param config method, rules, input and handler
 */
export function endpoint(path: string, config: EndpointConfig): Endpoint {
  return Object.freeze({ method: "GET", ...config, path });
}

/** Whether a value was made by `createPlugin`. */
export function isMadePlugin(value: unknown): value is Plugin {
  return typeof value === "object" && value !== null && made.has(value);
}

/** Whether a value was made by `createPluginFactory`. */
export function isPluginFactory(value: unknown): boolean {
  return typeof value === "function" && factories.has(value);
}
