import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { gracefully } from "keelson/node";
import { createServer } from "vite";
import { createTasks } from "./api.ts";
import { createApp } from "./app.ts";
import { viteOptions } from "./vite-options.ts";

// `npm run example:react`, then the address it prints. `PORT` sets the port. The page reloads when a file changes.
const api = createTasks();
const vite = await createServer({ ...viteOptions(), appType: "spa", server: { middlewareMode: true } });
const server = createApp(api, vite.middlewares).listen(Number(process.env.PORT ?? 3000), "127.0.0.1");
await once(server, "listening");
gracefully(server, api);
server.once("close", () => void vite.close());
console.log(`
  Page  http://localhost:${(server.address() as AddressInfo).port}
  API   http://localhost:${(server.address() as AddressInfo).port}/api

Stop with Ctrl-C.
`);
