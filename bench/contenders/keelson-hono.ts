// Keelson in a Hono app on @hono/node-server.
import { serve } from "@hono/node-server";
import { Hono } from "hono";
import { honoAdapter } from "keelson/hono";
import { createBenchApp } from "../keelson-app.ts";

const api = createBenchApp();
await api.ready;
const app = new Hono();
app.use(honoAdapter(api));
serve({ fetch: app.fetch, port: Number(process.env.PORT), hostname: "127.0.0.1" });
