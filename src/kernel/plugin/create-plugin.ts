import { ConfigurationError } from "../../entity/index.ts";
import type { Endpoint, EndpointConfig, Plugin, PluginOptions } from "./plugin.ts";

const ID = /^[a-z][a-z0-9]*(?:-[a-z0-9]+)*(?:\/[a-z][a-z0-9]*(?:-[a-z0-9]+)*)?$/;

/** Plugins that `createPlugin` made; a look-alike with missing parts is not one. */
const made = new WeakSet<object>();
/** Factories that `createPluginFactory` made. */
const factories = new WeakSet<object>();

/**
 * Makes a plugin.
 * @param options its id, what it declares, and `setup`
 * @throws ConfigurationError when the id is not kebab-case, optionally "scope/name"
 */
export function createPlugin(options: PluginOptions): Plugin {
  if (!ID.test(options.id))
    throw new ConfigurationError(`Plugin id "${options.id}" must be kebab-case, optionally "scope/name"`);
  const plugin: Plugin = Object.freeze({
    ...options,
    version: options.version ?? "0.0.0",
    requires: Object.freeze([...(options.requires ?? [])]),
    provides: Object.freeze([...(options.provides ?? [])]),
  });
  made.add(plugin);
  return plugin;
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
