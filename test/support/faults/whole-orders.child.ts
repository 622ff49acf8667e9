// Writes orders without a pause until killed-orders.test.ts kills it. Arguments: the database, and a name for its orders.

import { embedded, postgres } from "../../../src/drivers/prisma/index.ts";
import { sendOrder, wholeOrders } from "./whole-orders.ts";

const [database = "", name = ""] = process.argv.slice(2);
const api = wholeOrders(database.startsWith("postgres") ? postgres(database) : embedded({ file: database }));
await api.ready;
for (let number = 0; ; number++) {
  await sendOrder(api, `${name}-${number}`);
  process.send?.({ writing: true });
}
