// The API in memory, in Hono on Node.
import { serve } from "@hono/node-server";
import { Hono } from "hono";
import { honoAdapter } from "keelson/hono";
import { createMemoryApp } from "../memory-app.ts";

const app = new Hono();
app.use(honoAdapter(await createMemoryApp()));
serve({ fetch: app.fetch, port: Number(process.env.PORT), hostname: "127.0.0.1" });
