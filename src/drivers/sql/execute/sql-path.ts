import type { SqlDriverAdapter, SqlQueryable } from "@prisma/driver-adapter-utils";
import type { Path } from "../session/create-database-driver.ts";
import { createSqlConnection, type SqlConnection } from "../statement/sql-connection.ts";
import { adapterTransaction } from "./adapter-transaction.ts";
import { sqlExecutor } from "./execute-sql.ts";

/** Statements in SQL, straight to Prisma's driver adapter. */
export const SQL_PATH: Path<SqlQueryable, SqlDriverAdapter, SqlConnection> = Object.freeze({
  prepare: createSqlConnection,
  transact: adapterTransaction,
  capabilities: { joins: true, conditionalInserts: true },
  executor: sqlExecutor,
  ping: (client: SqlQueryable) => client.queryRaw({ sql: "select 1", args: [], argTypes: [] }),
});
