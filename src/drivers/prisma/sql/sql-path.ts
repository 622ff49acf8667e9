import type { SqlDriverAdapter, SqlQueryable } from "@prisma/driver-adapter-utils";
import type { DriverContext } from "../../../kernel/index.ts";
import type { Path } from "../create-prisma-driver.ts";
import type { OpenedClient } from "../opened-client.ts";
import { adapterTransaction } from "./adapter-transaction.ts";
import { checkColumns, checkTables } from "./check-tables.ts";
import { createSqlConnection, type SqlConnection } from "./sql-connection.ts";
import { sqlStatements } from "./sql-statements.ts";

/** Statements in SQL, straight to Prisma's driver adapter. */
export const SQL_PATH: Path<SqlQueryable, SqlDriverAdapter, SqlConnection> = Object.freeze({
  prepare: createSqlConnection,
  transact: adapterTransaction,
  isSql: true,
  statements: sqlStatements,
});

/** The same for tables of somebody else's making, which are looked at first. */
export const FOREIGN_SQL_PATH: typeof SQL_PATH = Object.freeze({
  ...SQL_PATH,
  async prepare(opened: OpenedClient<SqlDriverAdapter>, context: DriverContext) {
    const connection = await createSqlConnection(opened, context);
    await checkTables(connection);
    await checkColumns(connection);
    return connection;
  },
});
