import { existsSync, mkdirSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname } from "node:path";
import { createClient } from "@libsql/client";

/** Creates the database that the example adopts, with its rows, unless the file exists. */
export async function createDatabase(file: string): Promise<void> {
  if (existsSync(file)) return;
  mkdirSync(dirname(file), { recursive: true });
  const client = createClient({ url: `file:${file}` });
  await client.executeMultiple(await readFile(new URL("chinook.sql", import.meta.url), "utf8"));
  client.close();
}
