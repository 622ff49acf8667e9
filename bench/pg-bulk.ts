import type { Pool } from "pg";
import type { BulkInput } from "./input.ts";

/** Changes those of some posts that the caller owns, in one statement, and tells how many they are. */
export async function updatePosts(pool: Pool, owner: string, { ids, data }: BulkInput): Promise<number> {
  const { rowCount } = await pool.query(
    `UPDATE "post" SET "title" = coalesce($3, "title"), "body" = coalesce($4, "body"), "published" = coalesce($5, "published"),
     "views" = coalesce($6, "views"), "updatedAt" = $7 WHERE "id" = ANY($1) AND "authorId" = $2`,
    [ids, owner, data.title, data.body, data.published, data.views, new Date().toISOString()],
  );
  return rowCount ?? 0;
}
