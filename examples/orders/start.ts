import { embedded } from "keelson";
import { serve } from "keelson/node";
import { createOrders, userOf } from "./api.ts";
import { createBank } from "./bank.ts";

// `npx tsx examples/orders/start.ts`, then the lines it prints. Kill it in the middle and start it again: no order is
// left half done.
const bank = createBank();
const api = createOrders({
  bank,
  driver: embedded({ file: process.env.ORDERS_FILE ?? ".keelson/orders.db" }),
  getUser: ({ headers }) => {
    const id = headers.get("authorization")?.match(/^Bearer (\w+)$/)?.[1];
    return id === undefined ? null : userOf(id);
  },
});
await api.ready;
const system = api.asSystem();
if ((await system.product.count()) === 0) {
  await system.person.create({ id: "ann", name: "Ann" });
  await system.product.create({ id: "tea", name: "Tea", price: 450, stock: 3 });
}
const { url } = await serve(api, { port: Number(process.env.PORT ?? 3001) });
const order = (card: string): string =>
  `curl -X POST ${url}/api/orders/place -H 'Authorization: Bearer ann' -H 'Content-Type: application/json' ` +
  `-d '{"productId":"tea","count":2,"card":"${card}"}'`;
console.log(`Two packets of tea; a second time there are not enough (409), and with the second card the bank says no (409):
  ${order("4242424242424242")}
  ${order("0000000000000000")}
What is left, and what has been ordered:
  curl ${url}/api/products/tea
  curl ${url}/api/orders -H 'Authorization: Bearer ann'
The same on a page, with the token "ann" or "root": ${url}/studio`);
