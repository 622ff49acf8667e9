import { ConfigurationError } from "../entity/index.ts";
import type { Plugin } from "./plugin.ts";

/** An immutable list of plugins, by id. */
export class PluginList implements Iterable<Plugin> {
  readonly #plugins: readonly Plugin[];

  constructor(plugins: readonly Plugin[]) {
    this.#plugins = Object.freeze([...plugins]);
  }

  get ids(): readonly string[] {
    return this.#plugins.map(({ id }) => id);
  }

  /** The list with a plugin at its end. */
  with(...plugins: readonly Plugin[]): PluginList {
    return new PluginList([...this.#plugins, ...plugins]);
  }

  /** The list without a plugin. @throws ConfigurationError when there is none of that id */
  without(id: string): PluginList {
    this.#indexOf(id);
    return new PluginList(this.#plugins.filter((plugin) => plugin.id !== id));
  }

  /** The list with another plugin in the place of one. @throws ConfigurationError when there is none of that id */
  replace(id: string, plugin: Plugin): PluginList {
    const index = this.#indexOf(id);
    return new PluginList(this.#plugins.map((old, at) => (at === index ? plugin : old)));
  }

  [Symbol.iterator](): Iterator<Plugin> {
    return this.#plugins[Symbol.iterator]();
  }

  #indexOf(id: string): number {
    const index = this.#plugins.findIndex((plugin) => plugin.id === id);
    if (index === -1) throw new ConfigurationError(`There is no plugin "${id}" in the list (${this.ids.join(", ")})`);
    return index;
  }
}
