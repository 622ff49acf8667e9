// The limit: node:http and pg by hand, the least work that can give the same answers.
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { Pool, types } from "pg";
import { v7 as uuid } from "uuid";
import { benchDatabaseUrl, poolSize } from "../database.ts";
import { type ListInput, parseCreate, parseList, parseUpdate } from "../input.ts";
import type { Post } from "../model.ts";
import { callers } from "../seed.ts";

// TIMESTAMP(3) holds UTC; turning its text into ISO text skips a Date on the way. PostgreSQL drops trailing zeros.
const timestamp = 1114;
types.setTypeParser(
  timestamp,
  (text) => `${text.slice(0, 10)}T${text.slice(11, 19)}.${text.slice(20).padEnd(3, "0")}Z`,
);

const pool = new Pool({ connectionString: benchDatabaseUrl(), max: poolSize });

type Row = Post & { readonly userName: string; readonly userEmail: string; readonly userRole: string };

function conditions(where: ListInput["where"], values: unknown[]): string {
  const terms: string[] = [];
  if (where.published !== undefined) terms.push(`p."published" = $${values.push(where.published)}`);
  if (where.authorId !== undefined) terms.push(`p."authorId" = $${values.push(where.authorId)}`);
  if (where.views !== undefined) terms.push(`p."views" <= $${values.push(where.views.lte)}`);
  return terms.length === 0 ? "" : ` WHERE ${terms.join(" AND ")}`;
}

async function list(input: ListInput): Promise<Post[]> {
  const values: unknown[] = [];
  const from = input.includeAuthor
    ? `SELECT p.*, u."name" AS "userName", u."email" AS "userEmail", u."role" AS "userRole" FROM "post" p JOIN "user" u ON u."id" = p."authorId"`
    : `SELECT p.* FROM "post" p`;
  const where = conditions(input.where, values);
  const order = input.sort ? ` ORDER BY p."${input.sort.field}" ${input.sort.direction}` : "";
  const text = `${from}${where}${order} LIMIT $${values.push(input.take)} OFFSET $${values.push(input.skip)}`;
  const { rows } = await pool.query<Row>(text, values);
  if (!input.includeAuthor) return rows;
  return rows.map(({ userName, userEmail, userRole, ...post }) => ({
    ...post,
    author: { id: post.authorId, name: userName, email: userEmail, role: userRole },
  }));
}

function send(response: ServerResponse, status: number, value: unknown): void {
  const text = JSON.stringify(value);
  response.writeHead(status, {
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
  const { rows } = await pool.query<Post>(
    `INSERT INTO "post" ("id", "title", "body", "published", "views", "authorId", "createdAt", "updatedAt")
     VALUES ($1, $2, $3, $4, $5, $6, $7, $7) RETURNING *`,
    [uuid(), input.title, input.body, input.published ?? false, input.views ?? 0, caller.id, new Date().toISOString()],
  );
  send(response, 201, rows[0]);
}

async function update(request: IncomingMessage, response: ServerResponse, id: string): Promise<void> {
  const caller = callerOf(request);
  if (!caller) return refuse(response, 401, "UNAUTHENTICATED");
  const input = parseUpdate(await readJson(request));
  if (!input) return refuse(response, 400, "VALIDATION_ERROR");
  // The owner is a condition of the statement; only a refusal pays for a second one that tells 403 from 404.
  const { rows } = await pool.query<Post>(
    `UPDATE "post" SET "title" = coalesce($3, "title"), "body" = coalesce($4, "body"), "published" = coalesce($5, "published"),
     "views" = coalesce($6, "views"), "updatedAt" = $7 WHERE "id" = $1 AND "authorId" = $2 RETURNING *`,
    [id, caller.id, input.title, input.body, input.published, input.views, new Date().toISOString()],
  );
  if (rows[0]) return send(response, 200, rows[0]);
  const found = await pool.query(`SELECT 1 FROM "post" WHERE "id" = $1`, [id]);
  return found.rowCount === 0 ? refuse(response, 404, "NOT_FOUND") : refuse(response, 403, "FORBIDDEN");
}

async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const url = request.url ?? "/";
  const mark = url.indexOf("?");
  const path = mark < 0 ? url : url.slice(0, mark);
  const query = (): ListInput | undefined =>
    parseList(Object.fromEntries(new URLSearchParams(mark < 0 ? "" : url.slice(mark + 1))));

  if (path === "/api/posts") {
    if (request.method === "POST") return create(request, response);
    if (request.method !== "GET") return refuse(response, 405, "METHOD_NOT_ALLOWED");
    const input = query();
    return input ? send(response, 200, await list(input)) : refuse(response, 400, "INVALID_QUERY");
  }
  if (path === "/api/posts/count" && request.method === "GET") {
    const input = query();
    if (!input) return refuse(response, 400, "INVALID_QUERY");
    const values: unknown[] = [];
    const { rows } = await pool.query<{ count: number }>(
      `SELECT count(*)::int FROM "post" p${conditions(input.where, values)}`,
      values,
    );
    return send(response, 200, rows[0]);
  }
  if (path.startsWith("/api/posts/")) {
    const id = path.slice("/api/posts/".length);
    if (request.method === "PUT") return update(request, response, id);
    if (request.method !== "GET") return refuse(response, 405, "METHOD_NOT_ALLOWED");
    const { rows } = await pool.query<Post>(`SELECT * FROM "post" WHERE "id" = $1`, [id]);
    return rows[0] ? send(response, 200, rows[0]) : refuse(response, 404, "NOT_FOUND");
  }
  refuse(response, 404, "NOT_FOUND");
}

createServer((request, response) => {
  handle(request, response).catch(() => refuse(response, 500, "INTERNAL_ERROR"));
}).listen(Number(process.env.PORT), "127.0.0.1");
