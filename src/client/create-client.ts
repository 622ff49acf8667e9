import { actionRequest } from "./action-request.ts";
import { assumedSegment } from "./assumed-segment.ts";
import type { ClientActions, StartedRun } from "./client-actions.ts";
import type { ClientEntity } from "./client-entity.ts";
import type { ClientOptions, TypedApp } from "./client-options.ts";
import type { EntityRoutes } from "./client-routes.ts";
import { createEntityCalls } from "./create-entity-calls.ts";
import { createSender, type Send } from "./create-sender.ts";
import { createWorkflowRuns, type WorkflowRuns } from "./workflow-runs.ts";

/** A client per entity, by name, as `api.as(user)` has them; actions are methods of it. */
export type Client<TApi extends TypedApp> = {
  readonly [N in keyof TApi["entities"]]: ClientEntity<TApi["entities"][N]> & ClientActions<TApi["entities"][N]>;
} & {
  /** Reports of workflows' runs. */
  readonly $runs: WorkflowRuns;
};

/**
 * A typed client of an API over HTTP, for browsers and servers alike. Only types are taken from the app; nothing of it
 * gets into the bundle.
 * @throws KeelsonClientError, in each call, for what the API refuses; what `fetch` throws
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
  });
  // Which names there are is known to the types alone.
  return client as Client<TApi>;
}

function createEntityClient(send: Send, name: string, routes: EntityRoutes | undefined): object {
  const collection = `/${routes?.path ?? assumedSegment(name)}`;
  const calls = createEntityCalls(send, collection, routes?.path === undefined);
  return byName((action) => actionCall(send, collection, action, routes), calls);
}

function actionCall(send: Send, collection: string, name: string, routes: EntityRoutes | undefined): object {
  const route = ownOf(routes?.actions, name);
  const request = (args: readonly unknown[]) => actionRequest(collection, name, route, args);
  const start = async (...args: readonly unknown[]): Promise<StartedRun<unknown>> => {
    const { status, body } = await send({ ...(await request(args)), prefer: "respond-async" });
    // An action of one's own may answer 202 too, about something else.
    const { runId } = (status === 202 ? Object(body) : {}) as { readonly runId?: unknown };
    return typeof runId !== "string" ? { status: "ended", result: body } : { status: "running", runId };
  };
  return Object.assign(async (...args: readonly unknown[]) => (await send(await request(args))).body, { start });
}

function ownOf<T>(record: Readonly<Record<string, T>> | undefined, name: string): T | undefined {
  return record !== undefined && Object.hasOwn(record, name) ? record[name] : undefined;
}

/**
 * Names that whoever handles a value looks for. Answered with a function, `await` would call `then`, and so send a request;
 * frameworks ask for marks such as `__v_isRef` and `$$typeof`, and take anything that is there for a yes.
 */
const NO_NAMES = /^(?:then$|toJSON$|__|\$\$|@@)/;

/** An object whose members are made when they are first asked for. */
function byName(make: (name: string) => object, known: object): object {
  const members = new Map<string, unknown>(Object.entries(known));
  return new Proxy(Object.freeze({}), {
    get(_, name) {
      if (typeof name === "symbol" || NO_NAMES.test(name)) return undefined;
      if (!members.has(name)) members.set(name, make(name));
      return members.get(name);
    },
  });
}
