import { createClient } from "@libsql/client";
import pg from "pg";
import { connectMysql } from "../mysql-server.ts";
import { emptyStatements } from "./database.ts";

/** Deletes everything that the contract's tests store, over a connection of its own and in one message. */
interface Emptier {
  empty(): Promise<unknown>;
  end(): Promise<void>;
}

export async function emptierOfMysql(url: string): Promise<Emptier> {
  const connection = await connectMysql(url, true);
  const text = emptyStatements("`").join(";");
  return { empty: () => connection.query(text), end: () => connection.end() };
}

export async function emptierOfPostgres(url: string): Promise<Emptier> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const text = emptyStatements('"').join(";");
  return { empty: () => client.query(text), end: () => client.end() };
}

export function emptierOfSqlite(file: string): Emptier {
  const client = createClient({ url: `file:${file}` });
  const text = emptyStatements('"').join(";").replace("START TRANSACTION", "BEGIN");
  return { empty: () => client.executeMultiple(text), end: async () => client.close() };
}
