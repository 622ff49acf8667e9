import { once } from "node:events";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { serve } from "@hono/node-server";
import { gracefully } from "keelson/node";
import { addPeople } from "../notes/add-people.ts";
import { createNotes } from "../notes/api.ts";
import { banner } from "../notes/banner.ts";
import { createApp } from "./app.ts";

// `npm run example:hono`, then the lines it prints. `PORT` and `NOTES_FILE` say where.
const api = createNotes();
await addPeople(api);
// Hono's type leaves open whether it is a server of HTTP/2; without options it is one of node:http.
const server = serve({ fetch: createApp(api).fetch, port: Number(process.env.PORT ?? 3000) }) as Server;
await once(server, "listening");
// At SIGTERM and SIGINT: answers in flight finish, then the API closes its database, then the process ends with code 0.
gracefully(server, api);
console.log(banner(`http://localhost:${(server.address() as AddressInfo).port}`));
