// Express 5 with Prisma, as its user would write it by hand.
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import express, { type NextFunction, type Request, type Response } from "express";
import { csvOfPosts, exportBatch } from "../csv-of-posts.ts";
import { withCustomers } from "../fetch-customers.ts";
import { parseBulk, parseCreate, parseInvoices, parseList, parseUpdate } from "../input.ts";
import { createPrismaClient } from "../prisma-client.ts";
import { callers } from "../seed.ts";

const prisma = createPrismaClient();
const app = express();
app.use(express.json());

function callerOf(request: Request): { readonly id: string } | undefined {
  const header = request.headers.authorization;
  return header?.startsWith("Bearer ") ? callers.get(header.slice(7)) : undefined;
}

app.get("/api/posts/count", async (request, response) => {
  const input = parseList(request.query);
  if (!input) return void response.status(400).json({ code: "INVALID_QUERY" });
  response.json({ count: await prisma.post.count({ where: input.where }) });
});

app.get("/api/posts/export", async (_request, response) => {
  const read = (after: string) =>
    prisma.post.findMany({ where: { id: { gt: after } }, orderBy: { id: "asc" }, take: exportBatch });
  response.type("text/csv");
  await pipeline(Readable.from(csvOfPosts(read)), response);
});

app.put("/api/posts/bulk", async (request, response) => {
  const caller = callerOf(request);
  if (!caller) return void response.status(401).json({ code: "UNAUTHENTICATED" });
  const input = parseBulk(request.body);
  if (!input) return void response.status(400).json({ code: "VALIDATION_ERROR" });
  const where = { id: { in: input.ids }, authorId: caller.id };
  const { count } = await prisma.post.updateMany({ where, data: input.data });
  response.json({ count });
});

app.get("/api/invoices", async (request, response) => {
  const input = parseInvoices(request.query);
  if (!input) return void response.status(400).json({ code: "INVALID_QUERY" });
  const invoices = await prisma.invoice.findMany({
    ...(input.sort && { orderBy: { [input.sort.field]: input.sort.direction } }),
    skip: input.skip,
    take: input.take,
  });
  response.json(input.includeCustomer ? await withCustomers(invoices) : invoices);
});

app.get("/api/posts/:id", async (request, response) => {
  const post = await prisma.post.findUnique({ where: { id: request.params.id } });
  if (!post) return void response.status(404).json({ code: "NOT_FOUND" });
  response.json(post);
});

app.get("/api/posts", async (request, response) => {
  const input = parseList(request.query);
  if (!input) return void response.status(400).json({ code: "INVALID_QUERY" });
  const asked = prisma.post.findMany({
    where: input.where,
    ...(input.sort && { orderBy: { [input.sort.field]: input.sort.direction } }),
    skip: input.skip,
    take: input.take,
    ...(input.includeAuthor && { include: { author: true } }),
  });
  if (!input.total) return void response.json(await asked);
  const [posts, total] = await Promise.all([asked, prisma.post.count({ where: input.where })]);
  response.set("x-total-count", String(total)).json(posts);
});

app.post("/api/posts", async (request, response) => {
  const caller = callerOf(request);
  if (!caller) return void response.status(401).json({ code: "UNAUTHENTICATED" });
  const input = parseCreate(request.body);
  if (!input) return void response.status(400).json({ code: "VALIDATION_ERROR" });
  response.status(201).json(await prisma.post.create({ data: { ...input, authorId: caller.id } }));
});

app.put("/api/posts/:id", async (request, response) => {
  const caller = callerOf(request);
  if (!caller) return void response.status(401).json({ code: "UNAUTHENTICATED" });
  const input = parseUpdate(request.body);
  if (!input) return void response.status(400).json({ code: "VALIDATION_ERROR" });
  const id = request.params.id;
  const post = await prisma.post.findUnique({ where: { id } });
  if (!post) return void response.status(404).json({ code: "NOT_FOUND" });
  if (post.authorId !== caller.id) return void response.status(403).json({ code: "FORBIDDEN" });
  response.json(await prisma.post.update({ where: { id }, data: input }));
});

// Without it, Express answers a body that is not JSON with a page of HTML. It needs its four parameters to be known as a handler of errors.
app.use((error: { status?: number }, _request: Request, response: Response, _next: NextFunction) => {
  if (response.headersSent) return void response.destroy();
  const status = error.status ?? 500;
  response.status(status).json({ code: status < 500 ? "BAD_REQUEST" : "INTERNAL_ERROR" });
});

app.listen(Number(process.env.PORT), "127.0.0.1");
