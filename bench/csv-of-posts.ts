import { stringify } from "csv-stringify/sync";
import type { PostRecord } from "./prisma-client.ts";

/** Columns of the export, in the order of the table. */
export const csvColumns = ["id", "title", "body", "published", "views", "authorId", "createdAt", "updatedAt"] as const;

/** Records of one statement of an export. */
export const exportBatch = 1_000;

/**
 * All posts as CSV, a piece per batch, each read after the last record of the one before: the export of the hand-written
 * contenders with Prisma. Texts that a spreadsheet would take for a formula are made harmless, as everywhere here.
 * @param read the posts after an id, in the order of ids
 */
export async function* csvOfPosts(read: (after: string) => Promise<PostRecord[]>): AsyncGenerator<string> {
  yield `${csvColumns.join(",")}\r\n`;
  for (let after = ""; ; ) {
    const batch = await read(after);
    if (batch.length > 0)
      yield stringify(batch, {
        columns: [...csvColumns],
        record_delimiter: "windows",
        quoted_string: true,
        escape_formulas: true,
        cast: { boolean: String, date: (date) => date.toISOString() },
      });
    if (batch.length < exportBatch) return;
    after = batch.at(-1)?.id ?? "";
  }
}
