import { byName } from "./by-name.ts";
import { BatchWriter, type Pending, type SendBatch } from "./client-batch.ts";
import type { ClientActions, ClientEntity, StartedRun } from "./client-entity.ts";
import type { CallOptions, ClientOptions, TypedApp } from "./client-options.ts";
import { type ActionRoute, badCall, type EntityRoutes, encode, segmentOf } from "./client-routes.ts";
import { createEntityCalls } from "./create-entity-calls.ts";
import { createSender, type Outgoing, type Send } from "./create-sender.ts";
import { type ListQuery, serializeListQuery } from "./serialize-list-query.ts";
import { createWorkflowRuns, type WorkflowRuns } from "./workflow-runs.ts";

/** One client per entity, by name, like `api.as(user)`. The entity's actions are methods of the client. */
export type Client<TApi extends TypedApp> = {
  readonly [N in keyof TApi["entities"]]: ClientEntity<TApi["entities"][N]> & ClientActions<TApi["entities"][N]>;
} & {
  /** Reports of workflow runs. */
  readonly $runs: WorkflowRuns;
  /** Several changes in one request, all or nothing. */
  readonly $batch: SendBatch<TApi>;
};

/**
 * Makes a typed client of an API over HTTP, for browsers and servers. It uses only the app's types; none of its code is
 * part of the bundle.
 * @throws KeelsonClientError, in each call, for errors of the API; any error of `fetch`
 * @example
 * import type { api } from "../server/api.ts"
 * const client = createClient<typeof api>({ baseUrl: "/api", getToken: () => session.token })
 * const { data, total } = await client.post.list({ where: { views: { gte: 10 } }, sort: ["-createdAt"] })
 */
export function createClient<TApi extends TypedApp>(options: ClientOptions<TApi>): Client<TApi> {
  const send = createSender(options);
  const routes = options.routes as Readonly<Record<string, EntityRoutes>> | undefined;
  const client = byName((name) => createEntityClient(send, name, ownOf(routes, name)), {
    $runs: createWorkflowRuns(send),
    $batch: batchSender(send, (name) => collectionOf(name, ownOf(routes, name))),
  });
  // The names exist in the types only.
  return client as Client<TApi>;
}

function batchSender(send: Send, pathOf: (name: string) => string): object {
  return async (write: (tx: object) => readonly Pending<unknown>[], options?: CallOptions) => {
    const writer = new BatchWriter(pathOf);
    const wanted = write(byName((name) => writer.entity(name), {}));
    return await writer.send(send, wanted, options);
  };
}

const collectionOf = (name: string, routes: EntityRoutes | undefined): string =>
  `/${routes?.path ?? assumedSegment(name)}`;

function createEntityClient(send: Send, name: string, routes: EntityRoutes | undefined): object {
  const collection = collectionOf(name, routes);
  const calls = createEntityCalls(send, collection, routes?.path === undefined);
  return byName((action) => actionCall(send, collection, action, routes), calls);
}

function actionCall(send: Send, collection: string, name: string, routes: EntityRoutes | undefined): object {
  const route = ownOf(routes?.actions, name);
  const request = (args: readonly unknown[]) => actionRequest(collection, name, route, args);
  const start = async (...args: readonly unknown[]): Promise<StartedRun<unknown>> => {
    const { status, body } = await send({ ...(await request(args)), prefer: "respond-async" });
    // A custom action may also respond with 202, for another reason.
    const { runId } = (status === 202 ? Object(body) : {}) as { readonly runId?: unknown };
    return typeof runId !== "string" ? { status: "ended", result: body } : { status: "running", runId };
  };
  return Object.assign(async (...args: readonly unknown[]) => (await send(await request(args))).body, { start });
}

function ownOf<T>(record: Readonly<Record<string, T>> | undefined, name: string): T | undefined {
  return record !== undefined && Object.hasOwn(record, name) ? record[name] : undefined;
}

/**
 * The path segment of an entity without a given path: the regular English plural in kebab-case. The server also
 * supports irregular plurals, whose dictionary is larger than this client, and `.plural()`.
 */
function assumedSegment(name: string): string {
  const plural = /(?:[sxz]|[cs]h)$/i.test(name) ? `${name}es` : name.replace(/([^aeiou])y$/i, "$1ie").concat("s");
  return plural
    .replace(/([a-z\d])([A-Z])/g, "$1-$2")
    .replace(/([A-Z])([A-Z][a-z])/g, "$1-$2")
    .replace(/_/g, "-")
    .toLowerCase();
}

type Pairs = readonly (readonly [name: string, value: unknown])[];
type Sent = Pick<Outgoing, "search" | "body">;

/**
 * Makes the request of an action's call. The arguments are the id, for an action on a record, then input and query in
 * one object, then options.
 * @param route undefined when the client was not given the action's route
 */
async function actionRequest(
  collection: string,
  name: string,
  route: ActionRoute | undefined,
  args: readonly unknown[],
): Promise<Outgoing> {
  const onResource = route === undefined ? typeof args[0] === "string" : /^\/:id(?:\/|$)/.test(route.path);
  const { method, path, ...reads } = route ?? { method: "POST", path: `${onResource ? "/:id" : ""}/${name}` };
  if ((onResource ? path.slice(1) : path).includes("/:"))
    throw badCall(`${name} has parameters in its path that a call cannot give`);
  const [given, options] = (onResource ? args.slice(1) : args) as [unknown, CallOptions | undefined];
  const below = onResource ? path.replace("/:id", () => segmentOf(args[0])) : path;
  const sent = await sentWith(method, reads, given);
  return { method, path: collection + below, ...sent, options, isAssumed: route === undefined };
}

/**
 * Splits the input into query and body. Unknown names are sent where the in-process client would put them, so that the
 * API refuses them.
 */
async function sentWith(
  method: string,
  { query, input, filters }: Omit<ActionRoute, "method" | "path">,
  given: unknown,
): Promise<Sent> {
  if (filters === true) return { search: serializeListQuery((given ?? {}) as ListQuery) };
  const values = Object.entries((given ?? {}) as object);
  if (query === undefined && input === undefined)
    return method === "GET" ? { search: searchOf(values) } : { body: await gathered(given) };
  const forQuery = (name: string): boolean => query?.includes(name) === true || input === undefined;
  const forInput = (name: string): boolean => input?.includes(name) === true || !forQuery(name);
  const search = searchOf(values.filter(([name]) => forQuery(name)));
  if (input === undefined) return { search };
  return { search, body: Object.fromEntries(values.filter(([name]) => forInput(name))) };
}

/** Collects rows of an iterable, since JSON contains all of them. */
async function gathered(given: unknown): Promise<unknown> {
  if (typeof given !== "object" || given === null) return given;
  if (!(Symbol.iterator in given || Symbol.asyncIterator in given)) return given;
  const rows: unknown[] = [];
  for await (const row of given as AsyncIterable<unknown>) rows.push(row);
  return rows;
}

/** Makes a query string. Null is omitted, because a missing parameter means null. */
function searchOf(values: Pairs): string {
  const pairs = values.flatMap(([name, value]) => (Array.isArray(value) ? value : [value]).map((one) => [name, one]));
  return pairs
    .filter(([, value]) => value !== undefined && value !== null)
    .map(([name, value]) => `${encode(name)}=${encode(parameter(value))}`)
    .join("&");
}

function parameter(value: unknown): string {
  if (!(value instanceof Date)) return typeof value === "object" ? JSON.stringify(value) : String(value);
  if (Number.isNaN(value.getTime())) throw badCall("A date is not valid");
  return value.toISOString();
}
