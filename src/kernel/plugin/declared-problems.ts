import { unknownKeys } from "../../entity/base/did-you-mean.ts";
import { type BodyReading, bodyReadingProblems } from "../request/body-reading.ts";

type TypeName = "function" | "object" | "string" | "number" | "boolean";

/** The required types of an object's values, by key; `undefined` for keys that are checked elsewhere, or not at all. */
export type Shape = Readonly<Record<string, TypeName | undefined>>;

/** The allowed keys of each kind of declaration. */
export interface DeclarationShapes {
  readonly plugin: Shape;
  readonly hook: Shape;
  readonly endpoint: Shape;
  /** The keys of a route in addition to those of an endpoint. */
  readonly route: Shape;
  /** The keys that `routes.onRoute` may replace. */
  readonly change: Shape;
}

const KERNEL: DeclarationShapes = {
  plugin: {
    id: "string",
    version: "string",
    requires: undefined,
    after: undefined,
    before: undefined,
    provides: undefined,
    services: "object",
    hooks: "object",
    endpoints: "object",
    getUser: "function",
    base: "function",
    setup: "function",
    start: "function",
    closing: "function",
    stop: "function",
  },
  hook: { timeout: "number" },
  endpoint: {
    path: "string",
    method: "string",
    rules: undefined,
    handler: "function",
    meta: "object",
    early: "boolean",
    body: "object",
    errorFormat: "function",
  },
  route: { entity: "object", inApi: "boolean", action: "string", timeout: "number" },
  change: { handler: "function", meta: "object", timeout: "number", errorFormat: "function" },
};

/** Combines the kernel's shapes with those of its base. */
export function declarationShapes(base: DeclarationShapes): DeclarationShapes {
  const endpoint = { ...KERNEL.endpoint, ...base.endpoint };
  return {
    plugin: { ...KERNEL.plugin, ...base.plugin },
    hook: { ...KERNEL.hook, ...base.hook },
    endpoint,
    route: { ...endpoint, ...KERNEL.route, ...base.route },
    change: { ...KERNEL.change, ...base.change },
  };
}

/** Problems of a plugin's own members, without the declarations in them. */
export function pluginProblems(plugin: object, shape: Shape): string[] {
  return shapeProblems(plugin, shape);
}

/** Problems of a hook function and its options. */
export function hookProblems(name: unknown, fn: unknown, options: unknown, shape: Shape): string[] {
  const at = `hook "${String(name)}"`;
  if (typeof name !== "string") return ["hooks.on takes the name of a hook first"];
  const problems = typeof fn === "function" ? [] : [`${at} takes a function, not ${typeNameOf(fn)}`];
  if (options !== undefined) problems.push(...shapeProblems(options, shape).map((problem) => `${at}: ${problem}`));
  return problems;
}

/** Problems of a plugin's endpoint. */
export function endpointProblems(name: string, endpoint: unknown, shape: Shape): string[] {
  return routeShapeProblems(`endpoint "${name}"`, endpoint, shape);
}

/** Problems of a route, except for its path. */
export function routeProblems(route: unknown, shape: Shape): string[] {
  const { method, path } = (route ?? {}) as { readonly method?: unknown; readonly path?: unknown };
  return routeShapeProblems(`route ${method} ${path}`, route, shape);
}

function routeShapeProblems(at: string, given: unknown, shape: Shape): string[] {
  const problems = shapeProblems(given, shape);
  const { handler, path, rules, obeys, body } = (given ?? {}) as Readonly<Record<string, unknown>>;
  if (handler === undefined) problems.push("it has no handler");
  if (path === undefined) problems.push("it has no path");
  if (typeof body === "object" && body !== null) problems.push(...bodyReadingProblems(body as BodyReading));
  for (const [key, list] of Object.entries({ rules, obeys }))
    if (list !== undefined && !isRuleList(list)) problems.push(`${key} must be a list of rules, such as ["everyone"]`);
  return problems.map((problem) => `${at}: ${problem}`);
}

function isRuleList(list: unknown): boolean {
  const isRule = (rule: unknown): boolean =>
    typeof rule === "string" || typeof (rule as { readonly name?: unknown } | null)?.name === "string";
  return Array.isArray(list) && list.every(isRule);
}

/**
 * Problems of an object with a shape: unknown keys and values of the wrong type. @param shape undefined accepts any
 * type
 */
export function shapeProblems(given: unknown, shape: Shape): string[] {
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
