// Posts by hand on pg: the statements of the servers without an ORM.
import type { Pool } from "pg";
import { v7 as uuid } from "uuid";
import type { CreateInput, ListInput, UpdateInput } from "./input.ts";
import type { Post } from "./model.ts";

type Row = Post & { readonly userName: string; readonly userEmail: string; readonly userRole: string };

function conditions(where: ListInput["where"], values: unknown[]): string {
  const terms: string[] = [];
  if (where.published !== undefined) terms.push(`p."published" = $${values.push(where.published)}`);
  if (where.authorId !== undefined) terms.push(`p."authorId" = $${values.push(where.authorId)}`);
  if (where.views !== undefined) terms.push(`p."views" <= $${values.push(where.views.lte)}`);
  return terms.length === 0 ? "" : ` WHERE ${terms.join(" AND ")}`;
}

/** The post with an id. */
export async function findPost(pool: Pool, id: string): Promise<Post | undefined> {
  return (await pool.query<Post>(`SELECT * FROM "post" WHERE "id" = $1`, [id])).rows[0];
}

/** A page of posts, each with its author where the request says so. */
export async function listPosts(pool: Pool, input: ListInput): Promise<Post[]> {
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

/** How many posts meet the conditions. */
export async function countPosts(pool: Pool, where: ListInput["where"]): Promise<number> {
  const values: unknown[] = [];
  const text = `SELECT count(*)::int FROM "post" p${conditions(where, values)}`;
  return (await pool.query<{ count: number }>(text, values)).rows[0]?.count ?? 0;
}

/** Stores a post of this author. */
export async function createPost(pool: Pool, input: CreateInput, authorId: string): Promise<Post> {
  const { rows } = await pool.query<Post>(
    `INSERT INTO "post" ("id", "title", "body", "published", "views", "authorId", "createdAt", "updatedAt")
     VALUES ($1, $2, $3, $4, $5, $6, $7, $7) RETURNING *`,
    [uuid(), input.title, input.body, input.published ?? false, input.views ?? 0, authorId, new Date().toISOString()],
  );
  return rows[0] as Post;
}

/** Changes a post of this author, or says why not. */
export async function updatePost(
  pool: Pool,
  id: string,
  input: UpdateInput,
  authorId: string,
): Promise<Post | "forbidden" | "missing"> {
  // The owner is a condition of the statement; only a refusal pays for a second one that tells 403 from 404.
  const { rows } = await pool.query<Post>(
    `UPDATE "post" SET "title" = coalesce($3, "title"), "body" = coalesce($4, "body"), "published" = coalesce($5, "published"),
     "views" = coalesce($6, "views"), "updatedAt" = $7 WHERE "id" = $1 AND "authorId" = $2 RETURNING *`,
    [id, authorId, input.title, input.body, input.published, input.views, new Date().toISOString()],
  );
  if (rows[0]) return rows[0];
  const found = await pool.query(`SELECT 1 FROM "post" WHERE "id" = $1`, [id]);
  return found.rowCount === 0 ? "missing" : "forbidden";
}
