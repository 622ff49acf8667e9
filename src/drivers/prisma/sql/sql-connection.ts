import type { SqlDriverAdapter, SqlQueryable } from "@prisma/driver-adapter-utils";
import type { DriverContext } from "../../../kernel/index.ts";
import { type Connection, createConnection } from "../connection.ts";
import type { OpenedClient } from "../opened-client.ts";
import type { Session } from "../session.ts";
import { createSqlBuilder, type SqlBuilder } from "./sql-builder.ts";
import { StatementCache } from "./statement-cache.ts";

/** A database that is asked in SQL. */
export interface SqlConnection extends Connection<SqlDriverAdapter> {
  readonly builder: SqlBuilder;
  readonly statements: StatementCache;
}

/** Where statements in SQL go. */
export type SqlSession = Session<SqlQueryable, SqlConnection>;

/** PostgreSQL's tables are in a schema, this one unless somebody says so; elsewhere the connection decides. */
const DEFAULT_SCHEMA = "public";

/** @throws ConfigurationError */
export async function createSqlConnection(
  opened: OpenedClient<SqlDriverAdapter>,
  context: DriverContext,
): Promise<SqlConnection> {
  const { provider } = opened.dialect;
  const schema =
    provider === "postgresql" ? (opened.client.getConnectionInfo?.().schemaName ?? DEFAULT_SCHEMA) : undefined;
  const connection = createConnection(opened, context);
  const builder = await createSqlBuilder(provider, schema);
  return Object.freeze({ ...connection, builder, statements: new StatementCache() });
}
