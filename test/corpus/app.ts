import { type Bank, createBank } from "../../examples/orders/bank.ts";
import { placeOrder } from "../../examples/orders/place-order.ts";
import type { IdGenerator } from "../../src/gate/index.ts";
import {
  action,
  belongsTo,
  type Driver,
  entity,
  enums,
  int,
  type Keelson,
  keelson,
  noopLogger,
  type RemoteService,
  string,
  workflows,
} from "../../src/index.ts";
import type { Clock } from "../../src/kernel/index.ts";
import { audit } from "../../src/plugins/audit/index.ts";
import { idempotency } from "../../src/plugins/idempotency/index.ts";
import { jwtAuth } from "../../src/plugins/jwt-auth/index.ts";
import { rateLimit } from "../../src/plugins/rate-limit/index.ts";
import { TOKEN_CLAIMS, TOKEN_SECRET } from "../support/fuzz/callers.ts";
import { echo, fuzzEntities, user } from "../support/fuzz/entities.ts";

// Every kind of field and protection, every prebuilt action, a workflow with a journal, and records of another service.

const plan = entity("plan", { title: string, cost: string.readable("admin").optional() })
  .timestamps(false)
  .rules({ read: ["everyone"] });
const subscription = entity("subscription", { title: string, plan: belongsTo(() => plan).optional() })
  .timestamps(false)
  .rules({ read: ["authenticated"] });

const product = entity("product", {
  name: string.min(1),
  price: int.min(0),
  stock: int.min(0),
  subscription: belongsTo(() => subscription)
    .remote("billing")
    .optional(),
}).rules({ read: ["everyone"], create: ["admin"], update: ["admin"], delete: ["admin"] });

const order = entity("order", {
  product: belongsTo(() => product),
  count: int.positive(),
  total: int.min(0),
  status: enums("open", "paid").default("open"),
  payment: string.optional(),
  customer: belongsTo(() => user),
})
  .ownedBy("customer")
  .rules({ read: ["ownerOrAdmin"], create: ["authenticated"], update: ["owner"], delete: ["admin"] })
  .actions({
    place: action()
      .rules("authenticated")
      .input({ productId: string, count: int.min(1).max(100), card: string.min(8) })
      .workflow(placeOrder),
  });

const billing: RemoteService = {
  async fetchByIds(name, ids, { include } = {}) {
    const known = ids.filter((id) => id !== "unknown");
    const gold = { id: "gold", title: "Gold", cost: "9.00" };
    return known.map((id) => ({ id, title: `${name} ${id}`, ...(include && { plan: gold }) }));
  },
};

/** A clock and ids that depend only on the request, so that its response is the same each time. */
export class FixedTime implements Clock, IdGenerator {
  #request = 0;
  #made = 0;

  get request(): number {
    return this.#request;
  }

  /** The number of the next request. */
  set request(request: number) {
    this.#request = request;
    this.#made = 0;
  }

  now(): Date {
    return new Date(Date.UTC(2026, 0, 1) + this.#request * 1_000);
  }

  next(): string {
    this.#made += 1;
    return `r${String(this.#request).padStart(4, "0")}-${this.#made}`;
  }
}

/** The app before its start. */
export function createCorpusApp(driver: Driver, time: FixedTime, bank: Bank = createBank()) {
  return keelson({
    driver,
    clock: time,
    ids: { next: () => time.next() },
    entities: [...fuzzEntities, product, order],
    logger: noopLogger,
    production: false,
    encryption: { key: "c3".repeat(32), keyId: "k1", bind: true, indexKey: "d4".repeat(32) },
    services: { bank: () => bank, billing: () => billing },
    plugins: (all) => [
      ...all.replace("workflows", workflows({ journal: true, encrypted: true })),
      jwtAuth({ secret: TOKEN_SECRET, ...TOKEN_CLAIMS }),
      idempotency({ encrypted: true }),
      rateLimit({ policies: [{ name: "all", limit: 1_000_000, window: 60, by: "address" }] }),
      audit({ read: ["admin"] }),
      echo,
    ],
  });
}

/** The started app with some records of each caller. */
export async function openCorpusApp(driver: Driver, time: FixedTime, bank?: Bank): Promise<Keelson> {
  const api = createCorpusApp(driver, time, bank);
  await api.ready;
  const system = api.asSystem();
  for (const id of ["t1", "t2"]) await system.tag.create({ id, name: `tag ${id}` });
  for (const id of ["root", "ann", "bob"]) {
    const role = id === "root" ? "admin" : "person";
    const email = `${id}@corpus.invalid`;
    await system.user.create({
      id,
      name: id,
      role,
      email,
      password: `password of ${id}`,
      apiToken: id,
      salary: 7,
      ssn: `ssn of ${id}`,
    });
  }
  for (const id of ["ann", "bob"]) {
    const common = { authorId: id, pin: "1234", views: id.length };
    await system.post.create({ ...common, id: `p-${id}`, title: `By ${id}`, slug: `by-${id}`, tagsIds: ["t1", "t2"] });
    await system.post.create({ ...common, id: `archived-${id}`, title: "Archived", archived: true });
    await system.post.create({ ...common, id: `deleted-${id}`, title: "Deleted", deletedAt: new Date(0) });
    await system.note.create({ id: `n-${id}`, authorId: id, text: `of ${id}`, secret: `secret of ${id}` });
  }
  await system.product.create({ id: "soap", name: "Soap", price: 200, stock: 3, subscriptionId: "s1" });
  await system.product.create({ id: "sold", name: "Sold out", price: 1, stock: 0, subscriptionId: "unknown" });
  await system.order.create({ id: "o-ann", productId: "soap", count: 1, total: 200, customerId: "ann" });
  return api as unknown as Keelson;
}
