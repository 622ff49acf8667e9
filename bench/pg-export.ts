import type { Pool } from "pg";
import { csvColumns, exportBatch } from "./csv-of-posts.ts";
import type { Post } from "./model.ts";

/** A text in quotes; what a spreadsheet would take for a formula is made harmless. */
function quoted(text: string): string {
  const harmless = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return `"${harmless.includes('"') ? harmless.replaceAll('"', '""') : harmless}"`;
}

/** A moment in ISO 8601, however pg has read it. */
const moment = (value: Date | string): string => (typeof value === "string" ? value : value.toISOString());

/** All posts as CSV, a piece per batch, put together by hand. */
export async function* csvOfRows(pool: Pool): AsyncGenerator<string> {
  yield `${csvColumns.join(",")}\r\n`;
  const statement = `SELECT * FROM "post" WHERE "id" > $1 ORDER BY "id" LIMIT ${exportBatch}`;
  for (let after = ""; ; ) {
    const { rows } = await pool.query<Post>(statement, [after]);
    let text = "";
    for (const { id, title, body, published, views, authorId, createdAt, updatedAt } of rows)
      text += `${quoted(id)},${quoted(title)},${quoted(body)},${published},${views},${quoted(authorId)},${moment(createdAt)},${moment(updatedAt)}\r\n`;
    if (text !== "") yield text;
    if (rows.length < exportBatch) return;
    after = rows.at(-1)?.id ?? "";
  }
}
