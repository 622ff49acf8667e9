import type { TypedApp } from "./client-options.ts";
import { KeelsonClientError } from "./keelson-client-error.ts";

/** The address of an action, and the places of its input. */
export interface ActionRoute {
  readonly method: string;
  /** Below the entity's path: `"/:id/publish"`. */
  readonly path: string;
  /** The names of query parameters. */
  readonly query?: readonly string[] | undefined;
  /** The names of members of the body. @default all but query parameters */
  readonly input?: readonly string[] | undefined;
  /** Whether it takes the options of a list. @default false */
  readonly filters?: boolean | undefined;
}

/** The address of an entity and its actions. */
export interface EntityRoutes {
  /** The path segment of its records: `"order-items"`. @default the regular plural of its name */
  readonly path?: string | undefined;
  readonly actions?: Readonly<Record<string, ActionRoute>> | undefined;
}

/** The part of an app that `clientRoutes` reads. */
export interface RoutedApp extends TypedApp {
  readonly routes: readonly {
    readonly method: string;
    readonly path: string;
    readonly entity: string | undefined;
    readonly action: string;
  }[];
}

interface Declared {
  readonly query?: object | undefined;
  readonly input?: object | undefined;
  readonly needs?: readonly string[] | undefined;
  readonly readsBody?: unknown;
}

/**
 * The addresses of an app's entities and actions, as plain JSON for the `routes` of its clients. It contains addresses
 * and names of parameters, but no rules; it runs on the server.
 * @example writeFileSync("routes.json", JSON.stringify(clientRoutes(api)))
 */
export function clientRoutes({ routes, entities }: RoutedApp): Readonly<Record<string, EntityRoutes>> {
  const entries = Object.entries(entities as Readonly<Record<string, { readonly actions: object }>>);
  return Object.fromEntries(
    entries.flatMap(([name, entity]) => {
      const own = routes.filter((route) => route.entity === name);
      const collection = own.find(({ action, method }) => action === "list" && method === "GET")?.path;
      if (collection === undefined) return []; // internal entities have no routes
      const actions = Object.entries(entity.actions).flatMap(([action, value]) => {
        // An action may have a second address; the first one is used.
        const route = own.find((one) => one.action === action && one.path.startsWith(`${collection}/`));
        return route === undefined ? [] : [[action, actionRoute(route, collection, declaredBy(value))] as const];
      });
      const path = collection.slice(collection.lastIndexOf("/") + 1);
      return [[name, actions.length === 0 ? { path } : { path, actions: Object.fromEntries(actions) }]];
    }),
  );
}

function declaredBy(value: unknown): Declared {
  const made: unknown = typeof value === "function" ? value() : value; // a prebuilt action that was not called
  return ((made as { readonly definition?: Declared }).definition ?? made) as Declared;
}

function actionRoute(
  { method, path }: RoutedApp["routes"][number],
  collection: string,
  { query, input, needs, readsBody }: Declared,
): ActionRoute {
  const isBody = input === undefined && (query === undefined || readsBody === true);
  return {
    method,
    path: path.slice(collection.length),
    ...(query === undefined || isBody ? {} : { query: Object.keys(query) }),
    ...(input === undefined ? {} : { input: Object.keys(input) }),
    ...(needs?.includes("query") ? { filters: true } : {}),
  };
}

/** The text of an id; numeric ids are numbers in responses. @throws KeelsonClientError without an id */
export function idText(id: unknown): string {
  const text = typeof id === "number" ? String(id) : id;
  if (typeof text !== "string" || text === "") throw badCall("An id is needed");
  return text;
}

/** An id as one segment of a path. @throws KeelsonClientError when a call on one record has no id */
export function segmentOf(given: unknown): string {
  const id = idText(given);
  // URLs remove these segments even when escaped, which would change the address.
  if (id === "." || id === "..") throw badCall('"." and ".." cannot be in a path');
  try {
    return `/${encode(id)}`;
  } catch {
    throw badCall("An id cannot have half a character in it");
  }
}

/** Half of a surrogate pair, which a URL cannot contain. */
const LONE_SURROGATE = /\p{Cs}/u;

/** Encodes a text for a URL. @throws TypeError for a lone surrogate */
export function encode(text: string): string {
  if (LONE_SURROGATE.test(text)) throw new TypeError("A text with half a character cannot be in a URL");
  return encodeURIComponent(text);
}

/** The error for a call that is refused without a request, like the API would. */
export function badCall(message: string): KeelsonClientError {
  return new KeelsonClientError({ code: "BAD_REQUEST", status: 400, message });
}
