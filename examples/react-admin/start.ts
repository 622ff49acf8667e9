import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gracefully } from "keelson/node";
import { ada, grace } from "../films/people.ts";
import { createApp } from "./app.ts";
import { bundlePage } from "./bundle-page.ts";
import { openFilms } from "./open-films.ts";

// `npm run example:react-admin`, then the address it prints. `PORT` sets the port. Each start has the same films.
const folder = mkdtempSync(join(tmpdir(), "films-admin-"));
process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
const page = join(folder, "page");
const [{ api, passwords }] = await Promise.all([openFilms(join(folder, "films.db")), bundlePage(page)]);
const server = createApp(api, page).listen(Number(process.env.PORT ?? 3000));
await once(server, "listening");
gracefully(server, api);
const url = `http://localhost:${(server.address() as AddressInfo).port}`;
console.log(`
  Page      ${url}/admin/
  API       ${url}/api
  Database  in a folder of its own, gone with the process

  ${ada.email}    ${passwords.ada}   (Ada writes reviews)
  ${grace.email}  ${passwords.grace}   (Grace may do everything)

Stop with Ctrl-C.
`);
