import { didYouMean } from "../text/did-you-mean.ts";
import { isValidPlugin } from "./inspect.ts";
import type { KernelPlugin } from "./kernel-plugin.ts";

/**
 * Orders plugins so that each comes after what it requires, otherwise as listed. Problems (duplicates, missing and
 * circular requirements, things that are no plugins) are reported, and what can be ordered is.
 */
export function orderPlugins(input: Iterable<unknown>, problem: (sentence: string) => void): KernelPlugin[] {
  const plugins: KernelPlugin[] = [];
  for (const candidate of input) {
    if (!isValidPlugin(candidate)) problem(describeStranger(candidate));
    else if (plugins.some(({ id }) => id === candidate.id)) problem(`Plugin "${candidate.id}" is in the list twice`);
    else plugins.push(candidate);
  }
  const providers = new Map<string, KernelPlugin>();
  for (const plugin of plugins)
    for (const name of [plugin.id, ...plugin.provides]) if (!providers.has(name)) providers.set(name, plugin);

  const ordered: KernelPlugin[] = [];
  const visit = (plugin: KernelPlugin, chain: readonly string[]): void => {
    if (ordered.includes(plugin)) return;
    if (chain.includes(plugin.id)) {
      problem(`Plugins require each other in a circular way: ${[...chain, plugin.id].join(" -> ")}`);
      return;
    }
    for (const name of plugin.requires) {
      const provider = providers.get(name);
      if (provider === undefined)
        problem(
          `Plugin "${plugin.id}" requires "${name}", which is not in the list.${didYouMean(name, providers.keys())}`,
        );
      else if (provider !== plugin) visit(provider, [...chain, plugin.id]);
    }
    if (!ordered.includes(plugin)) ordered.push(plugin);
  };
  for (const plugin of plugins) visit(plugin, []);
  return ordered;
}

function describeStranger(value: unknown): string {
  if (typeof value === "function")
    return `The plugin list contains a function (${value.name || "anonymous"}); call it: ${value.name || "plugin"}()`;
  return "The plugin list contains something that createPlugin did not make";
}
