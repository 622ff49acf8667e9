import { action, belongsTo, type Driver, entity, enums, int, type KeelsonConfig, keelson, string } from "keelson";
import { audit } from "keelson/audit";
import { studio } from "keelson/studio";
import { type Bank, createBank } from "./bank.ts";
import { placeOrder } from "./place-order.ts";

const person = entity("person", { name: string })
  .ownedBy("id")
  .rules({ read: ["owner"] });

const product = entity("product", {
  name: string.min(1),
  price: int.min(0).describe("Cents"),
  stock: int.min(0),
}).rules({ read: ["everyone"], create: ["admin"], update: ["admin"], delete: ["admin"] });

const order = entity("order", {
  product: belongsTo(() => product),
  count: int.positive(),
  total: int.min(0),
  status: enums("open", "paid").default("open"),
  payment: string.optional(),
  customer: belongsTo(() => person),
})
  .ownedBy("customer")
  .rules({ read: ["ownerOrAdmin"], create: ["authenticated"], update: ["owner"], delete: ["admin"] })
  .actions({
    place: action()
      .rules("authenticated")
      .input({ productId: string, count: int.min(1).max(100), card: string.min(8) })
      .workflow(placeOrder),
  });

/** The user of an id. A demo trusts every header; see the guides for real authentication. */
export const userOf = (id: string) => ({ id, role: id === "root" ? "admin" : "customer" });

export interface OrdersOptions extends Pick<KeelsonConfig, "logger" | "getUser"> {
  readonly driver?: Driver;
  readonly bank?: Bank;
}

/** An API for orders. */
export function createOrders({ bank = createBank(), ...options }: OrdersOptions = {}) {
  return keelson({
    entities: [person, product, order],
    services: { bank: () => bank },
    plugins: [audit({ read: ["admin"] }), studio({ title: "Orders", viewAs: userOf })],
    ...options,
  });
}
