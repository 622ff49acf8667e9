import {
  belongsTo,
  type Driver,
  datetime,
  decimal,
  defineRule,
  entity,
  enums,
  hasMany,
  hasOne,
  int,
  manyToMany,
  type SystemClient,
  string,
} from "../../src/index.ts";
import { createTestApp } from "../../src/testing/index.ts";

/** Orders are visible to their customer and to staff; only staff may read a customer's rating. */
const ownOrders = defineRule("shopOwnOrders", ({ user }) => user !== null && { customer: { login: String(user.id) } });
const staff = defineRule("shopStaff", ({ user }) => user?.role === "staff");
const ownLines = defineRule("shopOwnLines", ({ user }) => ({ order: { customer: { login: String(user?.id) } } }));
const mine = defineRule("shopMine", ({ user }) => ({ login: String(user?.id) }));

export const customer = entity("customer", {
  login: string.unique(),
  name: string,
  city: string.optional(),
  rating: int.default(0).readable(staff).writable(staff),
  phone: string.optional().readable(mine, staff),
  card: string.optional().omit(),
  orders: hasMany(() => order),
  profile: hasOne(() => profile),
}).rules({ read: ["everyone"], create: ["authenticated"], update: [mine, staff], delete: [staff] });

export const profile = entity("profile", {
  bio: string,
  customer: belongsTo(() => customer)
    .unique()
    .onDelete("cascade"),
}).rules({ read: ["everyone"], create: ["authenticated"], update: ["authenticated"], delete: ["authenticated"] });

export const order = entity("order", {
  number: string.unique(),
  state: enums("open", "paid", "sent").default("open"),
  total: decimal(12, 2).default("0"),
  placedAt: datetime,
  customer: belongsTo(() => customer),
  lines: hasMany(() => line),
  tags: manyToMany(() => tag),
}).rules({ read: [ownOrders, staff], create: [ownOrders, staff], update: [ownOrders, staff], delete: [staff] });

export const line = entity("line", {
  sku: string,
  quantity: int.min(1),
  price: decimal(10, 2).default("1.00"),
  order: belongsTo(() => order).onDelete("cascade"),
})
  .timestamps(false)
  .rules({ read: [ownLines, staff], create: [ownLines, staff], update: [ownLines, staff], delete: [ownLines, staff] });

export const tag = entity("tag", { word: string.unique(), orders: manyToMany(() => order) })
  .timestamps(false)
  .rules({ read: ["everyone"], create: ["authenticated"], update: ["authenticated"], delete: [staff] });

export const SHOP = [customer, profile, order, line, tag] as const;

/** Three customers, twelve orders over three months, and their lines and tags. */
export async function openShop(driver: Driver) {
  const app = createTestApp({ entities: SHOP, driver });
  await app.api.ready;
  await fillShop(app.api.asSystem());
  const as = (id: string, role = "customer") => app.as({ id, role });
  return { app, ann: as("ann"), bob: as("bob"), staff: as("eve", "staff"), anonymous: app.as(null), as };
}

/** Restores the records after a test has changed them. */
export async function refillShop({ app: { api } }: Shop): Promise<void> {
  for (const { name } of [line, order, profile, tag, customer].map((entity) => entity.build()))
    await api.driver.deleteMany(name, { id: { null: false } });
  await fillShop(api.asSystem());
}

async function fillShop(system: SystemClient<typeof SHOP>): Promise<void> {
  for (const [index, login] of ["ann", "bob", "cem"].entries())
    await system.customer.create({
      id: login,
      login,
      name: login.toUpperCase(),
      city: ["Bern", "Bonn", null][index] ?? null,
      rating: index + 3,
      phone: `0${index}`,
      card: "4111",
    });
  for (const word of ["gift", "rush"]) await system.tag.create({ id: word, word });
  for (let index = 0; index < 12; index++) {
    const id = `o${String(index).padStart(2, "0")}`;
    await system.order.create({
      id,
      number: String(1_000 + index),
      state: (["open", "paid", "sent"] as const)[index % 3] ?? "open",
      total: `${index}.10`,
      placedAt: new Date(Date.UTC(2026, Math.floor(index / 4), 1 + index, 23, 30)),
      customerId: ["ann", "bob", "cem"][index % 2] ?? "ann",
      tagsIds: index % 4 === 0 ? ["gift"] : index % 4 === 1 ? ["gift", "rush"] : [],
    });
    for (let number = 0; number < index % 4; number++)
      await system.line.create({ sku: `s${number}`, quantity: number + 1, orderId: id });
  }
}

export type Shop = Awaited<ReturnType<typeof openShop>>;

/** The ids of a list. */
export function idsOf(body: unknown): string[] {
  return (body as { id: string }[]).map(({ id }) => id);
}
