import type { HookOptions } from "../hooks/hook-map.ts";
import type { RouteInput } from "../routes/route.ts";
import { unknownKeys } from "../text/did-you-mean.ts";
import type { Endpoint, PluginOptions } from "./plugin.ts";

/** Keys by the type that they must have; `undefined` for those that are checked otherwise, or not at all. */
type Shape<T> = Readonly<Record<keyof T, "function" | "object" | "string" | "number" | "boolean" | undefined>>;

const PLUGIN: Shape<PluginOptions> = {
  id: "string",
  version: "string",
  requires: undefined,
  provides: undefined,
  schema: "object",
  services: "object",
  hooks: "object",
  endpoints: "object",
  getUser: "function",
  wrapDriver: "function",
  wrapHandlerDriver: "function",
  setup: "function",
  start: "function",
  stop: "function",
};

const HOOK: Shape<HookOptions> = {
  appliesTo: "function",
  timeout: "number",
  textMoments: "boolean",
  plainLists: "boolean",
  severalRecords: "boolean",
};

const ENDPOINT: Shape<Endpoint> = {
  path: "string",
  method: "string",
  rules: undefined,
  handler: "function",
  meta: "object",
  describe: "function",
  early: "boolean",
  readsBody: "string",
  transactional: "boolean",
};

const ROUTE: Shape<RouteInput> = {
  ...ENDPOINT,
  entity: "object",
  action: "string",
  access: "string",
  obeys: undefined,
  timeout: "number",
  call: "function",
};

/** What is wrong with a plugin's own members, apart from what they hold. */
export function pluginProblems(plugin: PluginOptions): string[] {
  return shapeProblems(plugin, PLUGIN);
}

/** What is wrong with a function for a hook, and when it runs. */
export function hookProblems(name: unknown, fn: unknown, options: unknown): string[] {
  const at = `hook "${String(name)}"`;
  if (typeof name !== "string") return ["hooks.on takes the name of a hook first"];
  const problems = typeof fn === "function" ? [] : [`${at} takes a function, not ${typeNameOf(fn)}`];
  if (options !== undefined) problems.push(...shapeProblems(options, HOOK).map((problem) => `${at}: ${problem}`));
  return problems;
}

/** What is wrong with an endpoint of a plugin. */
export function endpointProblems(name: string, endpoint: unknown): string[] {
  return routeShapeProblems(`endpoint "${name}"`, endpoint, ENDPOINT);
}

/** What is wrong with a route, apart from its path. */
export function routeProblems(route: unknown): string[] {
  const { method, path } = (route ?? {}) as Partial<RouteInput>;
  return routeShapeProblems(`route ${method} ${path}`, route, ROUTE);
}

function routeShapeProblems<T>(at: string, given: unknown, shape: Shape<T>): string[] {
  const problems = shapeProblems(given, shape);
  const { handler, path, rules, obeys } = (given ?? {}) as Partial<Record<keyof RouteInput, unknown>>;
  if (handler === undefined) problems.push("it has no handler");
  if (path === undefined) problems.push("it has no path");
  for (const [key, list] of Object.entries({ rules, obeys }))
    if (list !== undefined && !isRuleList(list)) problems.push(`${key} must be a list of rules, such as ["everyone"]`);
  return problems.map((problem) => `${at}: ${problem}`);
}

function isRuleList(list: unknown): boolean {
  const isRule = (rule: unknown): boolean =>
    typeof rule === "string" || typeof (rule as { readonly name?: unknown } | null)?.name === "string";
  return Array.isArray(list) && list.every(isRule);
}

function shapeProblems<T>(given: unknown, shape: Shape<T>): string[] {
  if (typeof given !== "object" || given === null) return [`it must be an object, not ${typeNameOf(given)}`];
  const problems = unknownKeys(given, Object.keys(shape));
  for (const [key, type] of Object.entries(shape)) {
    const value = (given as Record<string, unknown>)[key];
    if (value === undefined || type === undefined) continue;
    if (typeNameOf(value) !== type) problems.push(`${key} must be a ${type}, not ${typeNameOf(value)}`);
  }
  return problems;
}

function typeNameOf(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}
