// The same API as the hand-written servers', said in entities; all Keelson contenders serve it.
import {
  belongsTo,
  bool,
  bulkUpdateAction,
  createPlugin,
  type Driver,
  email,
  entity,
  exportAction,
  httpService,
  int,
  type Keelson,
  keelson,
  noopLogger,
  type Plugin,
  type PluginList,
  string,
  text,
} from "keelson";
import { QueryParser } from "keelson/plugin";
import { customersUrl } from "./customers-url.ts";
import { callers } from "./seed.ts";

const user = entity("user", { name: string, email: email.unique(), role: string })
  .timestamps(false)
  .ownedBy("id")
  .rules({ read: ["everyone"] });

const post = entity("post", {
  title: string.min(1).max(200),
  body: text,
  published: bool.default(false),
  views: int.default(0),
  author: belongsTo(() => user),
})
  .ownedBy("author")
  .index(["published", "views"])
  .rules({ read: ["everyone"], create: ["authenticated"], update: ["owner"], delete: ["owner"] })
  .actions({ bulkUpdate: bulkUpdateAction, export: exportAction });

const customer = entity("customer", { name: string, email: string, city: string })
  .timestamps(false)
  .rules({ read: ["everyone"] });

const invoice = entity("invoice", {
  number: string.unique(),
  amount: int,
  customer: belongsTo(() => customer).remote("customers"),
})
  .timestamps(false)
  .rules({ read: ["everyone"] });

/** `GET /posts/count`, with the filters of the list. */
const count = createPlugin({
  id: "bench/count",
  requires: ["crud"],
  setup({ entities, routes, use }) {
    const definition = entities.get("post");
    let parse: ReturnType<QueryParser["reads"]> | undefined;
    routes.add({
      method: "GET",
      path: "/posts/count",
      action: "count",
      entity: definition,
      async handler({ scope, search }) {
        parse ??= use(QueryParser).reads(["filter"]);
        const query = parse;
        const { total } = await scope.run({
          kind: "count",
          entity: "post",
          query: ({ entity: counted }) => query(search, counted, scope),
        });
        return { count: total };
      },
    });
  },
});

/** The API on a driver. @param plugins the plugins of the app, where they are others than those of all contenders */
export function createBenchApi(
  driver: Driver,
  plugins: (defaults: PluginList) => readonly Plugin[] = (defaults) => [...defaults, count],
): Keelson {
  return keelson({
    entities: [user, post, invoice],
    driver,
    services: { customers: () => httpService({ baseUrl: customersUrl(), timeout: 2_000 }) },
    plugins,
    logger: noopLogger,
    production: true,
    getUser({ headers }) {
      const header = headers.get("authorization");
      return (header?.startsWith("Bearer ") ? callers.get(header.slice(7)) : undefined) ?? null;
    },
  }) as unknown as Keelson;
}
