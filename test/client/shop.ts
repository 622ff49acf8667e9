import {
  action,
  belongsTo,
  bool,
  bulkDeleteAction,
  bulkUpdateAction,
  cloneAction,
  type Driver,
  datetime,
  email,
  entity,
  existsAction,
  exportAction,
  float,
  hasMany,
  importAction,
  int,
  type Keelson,
  keelson,
  memoryDriver,
  noopLogger,
  restoreAction,
  softDeleteAction,
  step,
  string,
  toggleAction,
} from "keelson";
import { clientRoutes, createClient } from "keelson/client";
import { startApp } from "../support/http.ts";

const person = entity("person", {
  name: string,
  email: email.unique(),
  token: string.omit().optional(),
  items: hasMany(() => item).inverse("owner"),
}).rules({ read: ["everyone"], update: ["admin"] });

const ALL = ["everyone"];
const item = entity("orderItem", {
  title: string.min(2),
  price: float.optional(),
  count: int.default(1),
  isOpen: bool.default(true),
  dueAt: datetime.optional(),
  deletedAt: datetime.optional(),
  owner: belongsTo(() => person),
})
  .rules({ create: ["authenticated"], read: ALL, update: ["authenticated"], delete: ["admin"] })
  .softDelete()
  .actions({
    softDelete: softDeleteAction,
    restore: restoreAction,
    clone: cloneAction(),
    toggle: toggleAction("isOpen"),
    bulkUpdate: bulkUpdateAction,
    bulkDelete: bulkDeleteAction(),
    exists: existsAction,
    export: exportAction,
    import: importAction(),
    greet: action()
      .get()
      .rules("everyone")
      .query({ name: string.default("you"), at: datetime.optional(), loud: bool.default(false) })
      .handler(({ query }) => ({ said: `Hello ${query.name}`, at: query.at, loud: query.loud })),
    reprice: action()
      .onResource()
      .query({ dry: bool.default(false) })
      .input({ price: float, from: datetime.optional() })
      .handler(({ query, input, record }) => ({ id: record.id, dry: query.dry, price: input.price, from: input.from })),
    shared: action()
      .rules("everyone")
      .query({ name: string })
      .input({ name: string })
      .handler(({ query, input }) => [query.name, input.name]),
    echo: { method: "POST", path: "/echo", rules: ["everyone"], handler: (context) => ({ got: context.input }) },
    silent: action()
      .rules("everyone")
      .handler(() => undefined),
    line: action()
      .get()
      .path("/lines/:line")
      .rules("everyone")
      .handler(({ params }) => params),
    place: action()
      .rules("everyone")
      .input({ title: string })
      .workflow([step("place", ({ input }) => ({ placed: (input as { title: string }).title }))]),
  });

const makeShop = (driver: Driver) =>
  keelson({
    entities: [person.plural("people"), item],
    driver,
    logger: noopLogger,
    getUser({ headers }) {
      const id = headers.get("authorization")?.slice("Bearer ".length);
      return id === undefined ? null : { id, role: id === "root" ? "admin" : "user" };
    },
  });

export type Shop = ReturnType<typeof makeShop>;

/** Creates two people and 25 items of theirs. */
export const SHOP_SEED = {
  person: ["ann", "bob"].map((id) => ({ id, name: id, email: `${id}@shop.example`, token: `${id}-token` })),
  orderItem: Array.from({ length: 25 }, (_, i) => ({
    id: `item-${String(i).padStart(2, "0")}`,
    title: ["Nut", "Bolt, long", "Wing \\ nut", "50% off"][i % 4],
    price: i % 5 === 0 ? null : i / 4,
    count: i % 7,
    isOpen: i % 2 === 0,
    dueAt: i % 3 === 0 ? null : new Date(Date.UTC(2026, 0, 1 + i)),
    ownerId: i % 2 === 0 ? "ann" : "bob",
  })),
};

/** A served shop, and a client of it. */
export async function openShop(driver: Driver = memoryDriver(SHOP_SEED)) {
  const api = makeShop(driver);
  const { url, close } = await startApp(api as Keelson);
  const baseUrl = `${url}/api`;
  const routes = clientRoutes(api);
  const clientOf = (token?: string) => createClient<Shop>({ baseUrl, routes, getToken: () => token });
  return { api, baseUrl, routes, clientOf, close };
}
