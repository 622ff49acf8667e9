import type { SqlDriverAdapter, SqlQueryable } from "@prisma/driver-adapter-utils";
import type { Fast } from "../fast/switches.ts";
import type { Path } from "../session/create-database-driver.ts";
import type { SqlConnection } from "../statement/sql-connection.ts";
import { adapterTransaction } from "./adapter-transaction.ts";
import { createSqlConnection } from "./create-sql-connection.ts";
import { sqlExecutor } from "./execute-sql.ts";

/** Statements in SQL, straight to Prisma's driver adapter. */
export type SqlPath = Path<SqlQueryable, SqlDriverAdapter, SqlConnection>;

export function sqlPath(fast: Fast): SqlPath {
  return Object.freeze({
    prepare: (opened, context) => createSqlConnection(opened, context, fast),
    transact: adapterTransaction,
    capabilities: { joins: fast.joins, conditionalInserts: true },
    executor: (session, transaction) => sqlExecutor(session, transaction, fast),
    ping: (client) => client.queryRaw({ sql: "select 1", args: [], argTypes: [] }),
  } satisfies SqlPath);
}
