// Hono and Prisma by hand, with the client of the other benchmarks; its database has their tables.
import { serve } from "@hono/node-server";
import { Hono } from "hono";
import { createPrismaClient } from "../prisma-client.ts";

const prisma = createPrismaClient();
const app = new Hono();
app.get("/api/item0s", async (c) => c.json(await prisma.post.findMany({ where: {}, skip: 0, take: 1 })));
serve({ fetch: app.fetch, port: Number(process.env.PORT), hostname: "127.0.0.1" });
