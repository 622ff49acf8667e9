import { createKernel, type Kernel, type KernelOptions } from "../kernel/index.ts";
import { type GateOptions, gate, type Records } from "./gate.ts";
import type { Plugin } from "./plugin.ts";

/** What an app is made of. `keelson()` fills in the default driver and plugins. */
export interface AppOptions extends Omit<KernelOptions, "plugins">, GateOptions {
  readonly plugins: Iterable<Plugin>;
}

/** A booted app, without types of its entities. */
export interface App extends Kernel, Records {}

/**
 * Boots a kernel whose first plugin is the gate.
 * @throws ConfigurationError with all that is wrong with the configuration
 */
export function createApp({ entities, driver, defaultRules, clock, ids, plugins, ...options }: AppOptions): App {
  const first = gate({ entities, driver, defaultRules, clock, ids });
  const kernel = createKernel({ ...options, plugins: [first, ...(plugins as Iterable<never>)] });
  return Object.freeze({ ...kernel, ...kernel.container.resolve<Records>("gate.records") });
}
