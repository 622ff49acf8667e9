import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { gracefully } from "keelson/node";
import { addPeople } from "../notes/add-people.ts";
import { createNotes } from "../notes/api.ts";
import { banner } from "../notes/banner.ts";
import { createApp } from "./app.ts";

// `npm run example:express`, then the lines it prints. `PORT` and `NOTES_FILE` set the port and the database.
const api = createNotes();
await addPeople(api);
const server = createApp(api).listen(Number(process.env.PORT ?? 3000));
await once(server, "listening");
// At SIGTERM and SIGINT, responses in flight finish, the API closes its database, and the process ends with code 0.
gracefully(server, api);
console.log(banner(`http://localhost:${(server.address() as AddressInfo).port}`));
