// A server that killed.test.ts kills while it works. Its argument is the database. Work that reaches the brake never ends.

import { serve } from "../../../src/adapters/node/index.ts";
import { postgres } from "../../../src/drivers/prisma/index.ts";
import { stockApp } from "./stock-app.ts";

const [url = ""] = process.argv.slice(2);
const api = stockApp(postgres(url), (where) => {
  process.send?.({ braked: where });
  return new Promise<void>(() => {});
});
await api.ready;
const { port } = await serve(api, { port: 0, hostname: "127.0.0.1" });
process.send?.({ port });
