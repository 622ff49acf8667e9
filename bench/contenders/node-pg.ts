// node:http and pg by hand, as it comes.
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { withCustomers } from "../fetch-customers.ts";
import { type ListInput, parseBulk, parseCreate, parseInvoices, parseList, parseUpdate } from "../input.ts";
import { updatePosts } from "../pg-bulk.ts";
import { csvOfRows } from "../pg-export.ts";
import { listInvoices } from "../pg-invoices.ts";
import { createPgPool } from "../pg-pool.ts";
import { countPosts, createPost, findPost, listPosts, updatePost } from "../pg-posts.ts";
import { callers } from "../seed.ts";

const pool = createPgPool();

function send(response: ServerResponse, status: number, value: unknown, headers?: Record<string, string>): void {
  const text = JSON.stringify(value);
  response.writeHead(status, {
    ...headers,
    "content-type": "application/json; charset=utf-8",
    "content-length": Buffer.byteLength(text),
  });
  response.end(text);
}

const refuse = (response: ServerResponse, status: number, code: string): void => send(response, status, { code });

async function readJson(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  try {
    return JSON.parse(Buffer.concat(chunks).toString());
  } catch {
    return undefined;
  }
}

function callerOf(request: IncomingMessage): { readonly id: string } | undefined {
  const header = request.headers.authorization;
  return header?.startsWith("Bearer ") ? callers.get(header.slice(7)) : undefined;
}

async function create(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const caller = callerOf(request);
  if (!caller) return refuse(response, 401, "UNAUTHENTICATED");
  const input = parseCreate(await readJson(request));
  if (!input) return refuse(response, 400, "VALIDATION_ERROR");
  send(response, 201, await createPost(pool, input, caller.id));
}

async function update(request: IncomingMessage, response: ServerResponse, id: string): Promise<void> {
  const caller = callerOf(request);
  if (!caller) return refuse(response, 401, "UNAUTHENTICATED");
  const input = parseUpdate(await readJson(request));
  if (!input) return refuse(response, 400, "VALIDATION_ERROR");
  const post = await updatePost(pool, id, input, caller.id);
  if (post === "missing") return refuse(response, 404, "NOT_FOUND");
  if (post === "forbidden") return refuse(response, 403, "FORBIDDEN");
  send(response, 200, post);
}

async function bulkUpdate(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const caller = callerOf(request);
  if (!caller) return refuse(response, 401, "UNAUTHENTICATED");
  const input = parseBulk(await readJson(request));
  if (!input) return refuse(response, 400, "VALIDATION_ERROR");
  send(response, 200, { count: await updatePosts(pool, caller.id, input) });
}

async function exportPosts(response: ServerResponse): Promise<void> {
  response.writeHead(200, { "content-type": "text/csv; charset=utf-8" });
  await pipeline(Readable.from(csvOfRows(pool)), response);
}

async function list(response: ServerResponse, input: ListInput | undefined): Promise<void> {
  if (!input) return refuse(response, 400, "INVALID_QUERY");
  if (!input.total) return send(response, 200, await listPosts(pool, input));
  const [posts, total] = await Promise.all([listPosts(pool, input), countPosts(pool, input.where)]);
  send(response, 200, posts, { "x-total-count": String(total) });
}

async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const url = request.url ?? "/";
  const mark = url.indexOf("?");
  const path = mark < 0 ? url : url.slice(0, mark);
  const parameters = (): unknown => Object.fromEntries(new URLSearchParams(mark < 0 ? "" : url.slice(mark + 1)));
  const query = (): ListInput | undefined => parseList(parameters());

  if (path === "/api/posts") {
    if (request.method === "POST") return create(request, response);
    if (request.method !== "GET") return refuse(response, 405, "METHOD_NOT_ALLOWED");
    return list(response, query());
  }
  if (path === "/api/invoices" && request.method === "GET") {
    const input = parseInvoices(parameters());
    if (!input) return refuse(response, 400, "INVALID_QUERY");
    const invoices = await listInvoices(pool, input);
    return send(response, 200, input.includeCustomer ? await withCustomers(invoices) : invoices);
  }
  if (path === "/api/posts/export" && request.method === "GET") return exportPosts(response);
  if (path === "/api/posts/bulk" && request.method === "PUT") return bulkUpdate(request, response);
  if (path === "/api/posts/count" && request.method === "GET") {
    const input = query();
    if (!input) return refuse(response, 400, "INVALID_QUERY");
    return send(response, 200, { count: await countPosts(pool, input.where) });
  }
  if (path.startsWith("/api/posts/")) {
    const id = path.slice("/api/posts/".length);
    if (request.method === "PUT") return update(request, response, id);
    if (request.method !== "GET") return refuse(response, 405, "METHOD_NOT_ALLOWED");
    const post = await findPost(pool, id);
    return post ? send(response, 200, post) : refuse(response, 404, "NOT_FOUND");
  }
  refuse(response, 404, "NOT_FOUND");
}

createServer((request, response) => {
  handle(request, response).catch(() => {
    // An answer that has begun cannot become another one.
    if (response.headersSent) response.destroy();
    else refuse(response, 500, "INTERNAL_ERROR");
  });
}).listen(Number(process.env.PORT), "127.0.0.1");
