import { createHash } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { ENGINE_VERSION } from "./schema-engine.ts";
import { run, type SqliteConnection } from "./sqlite-adapter.ts";

/** Counts up when what is compared with what changes here. */
const FORM = 1;

/**
 * Tables and schema in one hash. SQLite keeps the statements that made tables and indexes, so that whoever changes them by
 * hand, or puts another file in this one's place, changes it.
 */
export async function schemaDigest(schema: string, connection: Pick<SqliteConnection, "queryRaw">): Promise<string> {
  const { rows } = await run(connection, "SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY type, name");
  return createHash("sha256")
    .update(JSON.stringify([FORM, ENGINE_VERSION, schema, rows]))
    .digest("hex");
}

/** The digest of tables and a schema that were found to fit. */
export interface SchemaStamp {
  read(): Promise<string | undefined>;
  write(digest: string): Promise<void>;
}

/**
 * A stamp in a file of its own beside the database's: comparing every table with its entity takes the schema engine, and
 * so most of the time in which an app starts. Without the file, or with one that does not match, that is simply done again.
 * @param file The SQLite file
 */
export function schemaStamp(file: string): SchemaStamp {
  const path = `${file}-schema`;
  return {
    read: () => readFile(path, "utf8").catch(() => undefined),
    // A folder that cannot be written to only costs time.
    write: (digest) => writeFile(path, digest).catch(() => undefined),
  };
}
