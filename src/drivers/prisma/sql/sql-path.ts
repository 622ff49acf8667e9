import type { SqlDriverAdapter, SqlQueryable } from "@prisma/driver-adapter-utils";
import type { Path } from "../create-prisma-driver.ts";
import { adapterTransaction } from "./adapter-transaction.ts";
import { createSqlConnection, type SqlConnection } from "./sql-connection.ts";
import { sqlStatements } from "./sql-statements.ts";

/** Statements in SQL, straight to Prisma's driver adapter. */
export const SQL_PATH: Path<SqlQueryable, SqlDriverAdapter, SqlConnection> = Object.freeze({
  prepare: createSqlConnection,
  transact: adapterTransaction,
  statements: sqlStatements,
});
