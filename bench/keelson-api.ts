// The same API as the hand-written servers', said in entities; all Keelson contenders serve it.
import {
  belongsTo,
  bool,
  createPlugin,
  type Driver,
  email,
  entity,
  int,
  type Keelson,
  keelson,
  noopLogger,
  type QueryParser,
  string,
  text,
} from "keelson";
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
  .rules({ read: ["everyone"], create: ["authenticated"], update: ["owner"], delete: ["owner"] });

/** `GET /posts/count`, with the filters of the list. */
const count = createPlugin({
  id: "bench/count",
  requires: ["crud"],
  setup({ entities, routes, services }) {
    const definition = entities.get("post");
    let parse: ReturnType<QueryParser["reads"]> | undefined;
    routes.add({
      method: "GET",
      path: "/posts/count",
      action: "count",
      entity: definition,
      async handler({ scope, search }) {
        parse ??= services.resolve<QueryParser>("crud.query").reads(["filter"]);
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

/** The API on a driver. */
export function createBenchApi(driver: Driver): Keelson {
  return keelson({
    entities: [user, post],
    driver,
    plugins: [count],
    logger: noopLogger,
    production: true,
    getUser({ headers }) {
      const header = headers.get("authorization");
      return (header?.startsWith("Bearer ") ? callers.get(header.slice(7)) : undefined) ?? null;
    },
  }) as unknown as Keelson;
}
