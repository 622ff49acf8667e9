import { isMadePlugin, isPluginFactory } from "./create-plugin.ts";
import type { KernelPlugin } from "./kernel-plugin.ts";

/** What a value is, as far as plugin lists are concerned. */
export function detectPluginType(value: unknown): "plugin" | "factory" | "unknown" {
  if (isValidPlugin(value)) return "plugin";
  return isPluginFactory(value) ? "factory" : "unknown";
}

/** Whether a value can stand in a plugin list: made by `createPlugin`, by this or another copy of the package. */
export function isValidPlugin(value: unknown): value is KernelPlugin {
  if (isMadePlugin(value)) return true;
  if (typeof value !== "object" || value === null) return false;
  const { id, version, requires, provides } = value as Partial<KernelPlugin>;
  return typeof id === "string" && typeof version === "string" && Array.isArray(requires) && Array.isArray(provides);
}
