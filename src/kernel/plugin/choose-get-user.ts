import type { IdentityOptions } from "../http/find-principal.ts";
import type { KernelPlugin, KernelPluginContext } from "./kernel-plugin.ts";

type GetUser = IdentityOptions["getUser"];

/**
 * The one function that recognises callers: the configuration's, or a plugin's. With two, one would be there for
 * nothing while its author believes that it protects the app, so that is a problem of the configuration.
 */
export function chooseGetUser(
  own: GetUser,
  contexts: ReadonlyMap<KernelPlugin, KernelPluginContext>,
  problem: (sentence: string) => void,
): GetUser {
  const found = [...contexts].filter(([plugin]) => plugin.getUser !== undefined);
  const names = found.map(([{ id }]) => `plugin "${id}"`);
  if (own !== undefined) names.unshift("`getUser` of the configuration");
  if (names.length > 1) problem(`Callers are recognised by ${names.join(" and ")}; only one of them can do that`);
  const [first] = found;
  if (first === undefined) return own;
  const [plugin, context] = first;
  return (request) => plugin.getUser?.(request, context);
}
