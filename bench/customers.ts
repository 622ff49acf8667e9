// The other service: a process of its own that answers customers by id from memory, the same for all contenders.
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { seedCustomers } from "./seed.ts";

// Texts and not records: what is measured is who asks.
const texts = new Map(seedCustomers().map((customer) => [customer.id, JSON.stringify(customer)]));

const server = createServer((request, response) => {
  const { pathname, searchParams } = new URL(request.url ?? "/", "http://127.0.0.1");
  const found = searchParams.getAll("id").flatMap((id) => texts.get(id) ?? []);
  response.writeHead(pathname === "/api/customers" ? 200 : 404, { "content-type": "application/json" });
  response.end(`[${found.join(",")}]`);
});

server.listen(0, "127.0.0.1");
await once(server, "listening");
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/api`;

process.on("message", () => void process.send?.(url));
process.on("disconnect", () => process.exit());
