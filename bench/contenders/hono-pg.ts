// Hono on Node with pg, as its user would write it by hand.
import { serve } from "@hono/node-server";
import { type Context, Hono } from "hono";
import { stream } from "hono/streaming";
import { withCustomers } from "../fetch-customers.ts";
import { parseBulk, parseCreate, parseInvoices, parseList, parseUpdate } from "../input.ts";
import { updatePosts } from "../pg-bulk.ts";
import { csvOfRows } from "../pg-export.ts";
import { listInvoices } from "../pg-invoices.ts";
import { createPgPool } from "../pg-pool.ts";
import { countPosts, createPost, findPost, listPosts, updatePost } from "../pg-posts.ts";
import { callers } from "../seed.ts";

const pool = createPgPool();
const app = new Hono();

function callerOf(c: Context): { readonly id: string } | undefined {
  const header = c.req.header("authorization");
  return header?.startsWith("Bearer ") ? callers.get(header.slice(7)) : undefined;
}

app.get("/api/posts/count", async (c) => {
  const input = parseList(c.req.query());
  if (!input) return c.json({ code: "INVALID_QUERY" }, 400);
  return c.json({ count: await countPosts(pool, input.where) });
});

app.get("/api/posts/export", (c) => {
  c.header("content-type", "text/csv; charset=utf-8");
  return stream(c, async (out) => {
    for await (const text of csvOfRows(pool)) {
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
  return c.json({ count: await updatePosts(pool, caller.id, input) });
});

app.get("/api/invoices", async (c) => {
  const input = parseInvoices(c.req.query());
  if (!input) return c.json({ code: "INVALID_QUERY" }, 400);
  const invoices = await listInvoices(pool, input);
  return c.json(input.includeCustomer ? await withCustomers(invoices) : invoices);
});

app.get("/api/posts/:id", async (c) => {
  const post = await findPost(pool, c.req.param("id"));
  return post ? c.json(post) : c.json({ code: "NOT_FOUND" }, 404);
});

app.get("/api/posts", async (c) => {
  const input = parseList(c.req.query());
  if (!input) return c.json({ code: "INVALID_QUERY" }, 400);
  if (!input.total) return c.json(await listPosts(pool, input));
  const [posts, total] = await Promise.all([listPosts(pool, input), countPosts(pool, input.where)]);
  c.header("x-total-count", String(total));
  return c.json(posts);
});

app.post("/api/posts", async (c) => {
  const caller = callerOf(c);
  if (!caller) return c.json({ code: "UNAUTHENTICATED" }, 401);
  const input = parseCreate(await c.req.json().catch(() => undefined));
  if (!input) return c.json({ code: "VALIDATION_ERROR" }, 400);
  return c.json(await createPost(pool, input, caller.id), 201);
});

app.put("/api/posts/:id", async (c) => {
  const caller = callerOf(c);
  if (!caller) return c.json({ code: "UNAUTHENTICATED" }, 401);
  const input = parseUpdate(await c.req.json().catch(() => undefined));
  if (!input) return c.json({ code: "VALIDATION_ERROR" }, 400);
  const post = await updatePost(pool, c.req.param("id"), input, caller.id);
  if (post === "missing") return c.json({ code: "NOT_FOUND" }, 404);
  if (post === "forbidden") return c.json({ code: "FORBIDDEN" }, 403);
  return c.json(post);
});

serve({ fetch: app.fetch, port: Number(process.env.PORT), hostname: "127.0.0.1" });
