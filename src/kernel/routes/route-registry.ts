import { addRoute, createRouter, findRoute } from "rou3";
import { BadRequestError } from "../errors/errors.ts";
import { kebabCase, pluralize, routeSegment } from "../text/names.ts";
import type { KernelRoute, KernelRouteInput, RouteListing } from "./kernel-route.ts";

/** The result of a look-up: a route, or the methods allowed on the path. */
export type RouteMatch =
  | { readonly route: KernelRoute; readonly params: Readonly<Record<string, string>> }
  | { readonly allow: readonly string[] };

const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"];
const METHOD = /^[A-Z]+$/;
const SEGMENT = ":[A-Za-z][A-Za-z0-9_]*|[A-Za-z0-9._~-]+";
/** The last segment may capture the rest of the path, or end in a verb. */
const LAST = `:[A-Za-z][A-Za-z0-9_]*\\+|(?:${SEGMENT})(?::[A-Za-z][A-Za-z0-9-]*)?`;
const PATH = new RegExp(`^(?:/|(?:/(?:${SEGMENT}))*/(?:${LAST}))$`);
/** Matches the colon of a verb at the end of a path; the colon of a parameter follows a slash. */
const VERB = /(?<=[^/]):(?=[A-Za-z][A-Za-z0-9-]*$)/;

/** All routes of an app. Static segments take precedence over parameters, so `/films/count` is never read as an id. */
export class RouteRegistry {
  readonly #prefix: string;
  readonly #routes: KernelRoute[] = [];
  /** By method and path with unnamed parameters, to find collisions. */
  readonly #owners = new Map<string, KernelRoute>();
  readonly #apiRouter = createRouter<KernelRoute>();
  readonly #rootRouter = createRouter<KernelRoute>();
  readonly #problem: (sentence: string) => void;

  constructor(prefix: string, problem: (sentence: string) => void) {
    this.#prefix = prefix;
    this.#problem = problem;
  }

  /** Lists all routes. `rulesOf` returns the rules of a route that has none of its own. */
  list(rulesOf: (route: KernelRoute) => readonly string[]): readonly RouteListing[] {
    return this.#routes.map((route) =>
      Object.freeze({
        method: route.method,
        path: route.inApi ? this.#prefix + route.path : route.path,
        entity: route.entity?.name,
        action: route.action,
        rules: route.rules ?? rulesOf(route),
        plugin: route.plugin,
      }),
    );
  }

  /** All routes, in the order in which they were added. */
  get all(): readonly KernelRoute[] {
    return this.#routes;
  }

  /** Adds a route. An invalid route, or one that collides with another, is reported as a problem. */
  add(plugin: string, input: KernelRouteInput): void {
    const method = input.method.toUpperCase();
    const at = `route ${method} ${input.path} of plugin "${plugin}"`;
    const inApi = input.inApi ?? input.entity !== undefined;
    const shape = `${method} ${inApi ? this.#prefix : ""}${input.path.replace(/\/:[A-Za-z]\w*/g, "/:")}`;
    const owner = this.#owners.get(shape);
    if (!METHOD.test(method) || !PATH.test(input.path)) {
      this.#problem(`${at}: not a method and a path such as /things/:id, /files/:path+ or /things/:id:archive`);
      return;
    }
    if (owner !== undefined) {
      // Two entities with the same plural are reported once elsewhere, not route by route.
      if (owner.entity !== undefined && input.entity !== undefined && owner.entity !== input.entity) return;
      this.#problem(`${at} collides with ${owner.method} ${owner.path} (${owner.action}) of plugin "${owner.plugin}"`);
      return;
    }
    const route: KernelRoute = Object.freeze({ ...input, inApi, method, plugin });
    this.#routes.push(route);
    this.#owners.set(shape, route);
  }

  /**
   * Builds the routers once all routes are added.
   * @param change returns the route to serve instead of each route
   */
  complete(change: (route: KernelRoute) => KernelRoute): void {
    for (const [at, added] of this.#routes.entries()) {
      const route = change(added);
      this.#routes[at] = route;
      // In rou3, a colon begins a parameter unless it is escaped.
      addRoute(route.inApi ? this.#apiRouter : this.#rootRouter, route.method, route.path.replace(VERB, "\\:"), route);
    }
  }

  /**
   * Finds the route of a path, first below the API prefix, then from the root. Returns `undefined` for an unknown path.
   */
  find(method: string, path: string, base: string | undefined): RouteMatch | undefined {
    const inner = base === undefined ? this.#below(path) : path;
    const wanted = method === "HEAD" ? "GET" : method;
    return (
      (inner === undefined ? undefined : this.#look(this.#apiRouter, wanted, inner)) ??
      this.#look(this.#rootRouter, wanted, path)
    );
  }

  /** Whether a path belongs to this app: it is below its prefix, or is a plugin endpoint. */
  owns(path: string, base: string | undefined): boolean {
    return (
      base !== undefined || this.#below(path) !== undefined || this.#look(this.#rootRouter, "GET", path) !== undefined
    );
  }

  /** Suggests the path of an entity for an unknown path: `/order-items` for `/orderItems`. */
  suggest(path: string, base: string | undefined): string | undefined {
    const segment = (base === undefined ? this.#below(path) : path)?.split("/", 2)[1] ?? "";
    const wanted = kebabCase(pluralize(segment));
    for (const { entity } of this.#routes) {
      if (entity === undefined) continue;
      const right = routeSegment(entity);
      if (right !== segment && (right === wanted || entity.name === segment)) return `${base ?? this.#prefix}/${right}`;
    }
    return undefined;
  }

  #below(path: string): string | undefined {
    if (this.#prefix === "") return path;
    if (path === this.#prefix) return "/";
    return path.startsWith(`${this.#prefix}/`) ? path.slice(this.#prefix.length) : undefined;
  }

  #look(router: ReturnType<typeof createRouter<KernelRoute>>, method: string, path: string): RouteMatch | undefined {
    const found = findRoute(router, method, path);
    if (found !== undefined) return { route: found.data, params: found.params ?? NO_PARAMS };
    const allow = METHODS.filter((other) => findRoute(router, other, path) !== undefined);
    if (allow.length === 0) return undefined;
    if (allow.includes("GET")) allow.push("HEAD");
    return { allow: [...allow, "OPTIONS"] };
  }
}

const NO_PARAMS: Readonly<Record<string, string>> = Object.freeze({});

/** A request's URL after the canonicalization that all adapters share. */
export interface CanonicalUrl {
  /** The path with raw, still escaped segments that are safe to match; without a trailing slash. */
  readonly path: string;
  /** Raw query string without `?`. */
  readonly search: string;
}

const PLAIN = /^(?:\/[A-Za-z0-9_~-]+)+$/;

/**
 * Splits a raw URL once, on raw slashes. Empty, `.` and `..` segments, broken escapes, NUL, control characters and
 * slashes encoded in a segment are refused, so that two layers can never read a path differently.
 * @throws BadRequestError
 */
export function canonicalize(url: string, maxBytes: number): CanonicalUrl {
  if (url.length > maxBytes) throw new BadRequestError(`The URL is longer than ${maxBytes} bytes`);
  const hash = url.indexOf("#");
  const whole = hash === -1 ? url : url.slice(0, hash);
  const mark = whole.indexOf("?");
  let path = mark === -1 ? whole : whole.slice(0, mark);
  const search = mark === -1 ? "" : whole.slice(mark + 1);
  if (path.length > 1 && path.endsWith("/")) path = path.slice(0, -1);
  if (PLAIN.test(path) || path === "/" || path === "") return { path: path === "" ? "/" : path, search };
  if (!path.startsWith("/")) throw new BadRequestError("The path must begin with a slash");
  for (const segment of path.slice(1).split("/"))
    if (decodeSegment(segment) === undefined)
      throw new BadRequestError("The path contains a segment that is not allowed");
  return { path, search };
}

/** Decodes the parameters of a matched route; segments were checked by `canonicalize`. */
export function decodeParams(params: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const decoded: Record<string, string> = {};
  for (const name in params) {
    const value = decodeParam(params[name] as string);
    if (value === undefined) throw new BadRequestError("The path contains a segment that is not allowed");
    decoded[name] = value;
  }
  return decoded;
}

/** Decodes a parameter. The parameter of `/:path+` has several segments, none of which can contain an encoded slash. */
function decodeParam(raw: string): string | undefined {
  if (!raw.includes("/")) return decodeSegment(raw);
  const segments = raw.split("/").map(decodeSegment);
  return segments.includes(undefined) ? undefined : segments.join("/");
}

/** Decodes one path segment; undefined when its escapes are broken or encode forbidden characters. */
function decodeSegment(raw: string): string | undefined {
  let text = raw;
  if (raw.includes("%")) {
    try {
      text = decodeURIComponent(raw);
    } catch {
      return undefined;
    }
  }
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the expression searches for control characters
  return text === "" || text === "." || text === ".." || /[\u0000-\u001f\u007f/\\]/.test(text) ? undefined : text;
}

/**
 * Matches a path against a pattern with `:name` parameters. Trailing slashes are ignored.
 * @returns the decoded parameters, or null when it does not match
 */
export function matchRoute(path: string, pattern: string): Record<string, string> | null {
  const have = path.replace(/\/$/, "").split("/");
  const want = pattern.replace(/\/$/, "").split("/");
  if (have.length !== want.length) return null;
  const params: Record<string, string> = {};
  for (let i = 0; i < want.length; i++) {
    const part = want[i] as string;
    const raw = have[i] as string;
    if (!part.startsWith(":")) {
      if (part !== raw) return null;
      continue;
    }
    const value = decodeSegment(raw);
    if (value === undefined) return null;
    params[part.slice(1)] = value;
  }
  return params;
}
