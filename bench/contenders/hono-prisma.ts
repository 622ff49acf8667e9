// Hono on Node with Prisma, as its user would write it by hand.
import { serve } from "@hono/node-server";
import { type Context, Hono } from "hono";
import { stream } from "hono/streaming";
import { csvOfPosts, exportBatch } from "../csv-of-posts.ts";
import { withCustomers } from "../fetch-customers.ts";
import { parseBulk, parseCreate, parseInvoices, parseList, parseUpdate } from "../input.ts";
import { createPrismaClient } from "../prisma-client.ts";
import { callers } from "../seed.ts";

const prisma = createPrismaClient();
const app = new Hono();

function callerOf(c: Context): { readonly id: string } | undefined {
  const header = c.req.header("authorization");
  return header?.startsWith("Bearer ") ? callers.get(header.slice(7)) : undefined;
}

app.get("/api/posts/count", async (c) => {
  const input = parseList(c.req.query());
  if (!input) return c.json({ code: "INVALID_QUERY" }, 400);
  return c.json({ count: await prisma.post.count({ where: input.where }) });
});

app.get("/api/posts/export", (c) => {
  c.header("content-type", "text/csv; charset=utf-8");
  return stream(c, async (out) => {
    const read = (after: string) =>
      prisma.post.findMany({ where: { id: { gt: after } }, orderBy: { id: "asc" }, take: exportBatch });
    for await (const text of csvOfPosts(read)) {
      if (out.aborted) return;
      await out.write(text);
    }
  });
});

app.put("/api/posts/bulk", async (c) => {
  const caller = callerOf(c);
  if (!caller) return c.json({ code: "UNAUTHENTICATED" }, 401);
  const input = parseBulk(await c.req.json().catch(() => undefined));
  if (!input) return c.json({ code: "VALIDATION_ERROR" }, 400);
  const where = { id: { in: input.ids }, authorId: caller.id };
  const { count } = await prisma.post.updateMany({ where, data: input.data });
  return c.json({ count });
});

app.get("/api/invoices", async (c) => {
  const input = parseInvoices(c.req.query());
  if (!input) return c.json({ code: "INVALID_QUERY" }, 400);
  const invoices = await prisma.invoice.findMany({
    ...(input.sort && { orderBy: { [input.sort.field]: input.sort.direction } }),
    skip: input.skip,
    take: input.take,
  });
  return c.json(input.includeCustomer ? await withCustomers(invoices) : invoices);
});

app.get("/api/posts/:id", async (c) => {
  const post = await prisma.post.findUnique({ where: { id: c.req.param("id") } });
  return post ? c.json(post) : c.json({ code: "NOT_FOUND" }, 404);
});

app.get("/api/posts", async (c) => {
  const input = parseList(c.req.query());
  if (!input) return c.json({ code: "INVALID_QUERY" }, 400);
  const asked = prisma.post.findMany({
    where: input.where,
    ...(input.sort && { orderBy: { [input.sort.field]: input.sort.direction } }),
    skip: input.skip,
    take: input.take,
    ...(input.includeAuthor && { include: { author: true } }),
  });
  if (!input.total) return c.json(await asked);
  const [posts, total] = await Promise.all([asked, prisma.post.count({ where: input.where })]);
  c.header("x-total-count", String(total));
  return c.json(posts);
});

app.post("/api/posts", async (c) => {
  const caller = callerOf(c);
  if (!caller) return c.json({ code: "UNAUTHENTICATED" }, 401);
  const input = parseCreate(await c.req.json().catch(() => undefined));
  if (!input) return c.json({ code: "VALIDATION_ERROR" }, 400);
  return c.json(await prisma.post.create({ data: { ...input, authorId: caller.id } }), 201);
});

app.put("/api/posts/:id", async (c) => {
  const caller = callerOf(c);
  if (!caller) return c.json({ code: "UNAUTHENTICATED" }, 401);
  const input = parseUpdate(await c.req.json().catch(() => undefined));
  if (!input) return c.json({ code: "VALIDATION_ERROR" }, 400);
  const id = c.req.param("id");
  const post = await prisma.post.findUnique({ where: { id } });
  if (!post) return c.json({ code: "NOT_FOUND" }, 404);
  if (post.authorId !== caller.id) return c.json({ code: "FORBIDDEN" }, 403);
  return c.json(await prisma.post.update({ where: { id }, data: input }));
});

serve({ fetch: app.fetch, port: Number(process.env.PORT), hostname: "127.0.0.1" });
