import type { Server } from "node:http";
import { serve } from "@hono/node-server";
import { Hono } from "hono";
import { honoAdapter } from "keelson/hono";
import { gracefully } from "keelson/node";
import { api } from "./api.ts";

await api.ready;
const app = new Hono();
app.get("/", (context) => context.text("__NAME__"));
app.use(honoAdapter(api));

const port = Number(process.env.PORT ?? 3000);
const server = serve({ fetch: app.fetch, port }, () =>
  process.stdout.write(`Listening on http://localhost:${port}${api.apiPrefix}\n`),
);
gracefully(server as Server, api);
