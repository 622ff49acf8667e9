import type { SqlDriverAdapter, SqlQueryable } from "@prisma/driver-adapter-utils";
import { LRUCache } from "lru-cache";
import type { DriverContext } from "../../../gate/index.ts";
import { type ExactCollation, exactCollation } from "../condition/exact-collation.ts";
import { createSqlBuilder, type SqlBuilder } from "../condition/sql-builder.ts";
import { toKeelsonError } from "../errors/to-keelson-error.ts";
import { type Connection, createConnection } from "../session/connection.ts";
import type { OpenedClient } from "../session/opened-client.ts";
import type { Session } from "../session/session.ts";
import type { Selection } from "./select-query.ts";
import { StatementCache } from "./statement-cache.ts";

/** A database that is asked in SQL. */
export interface SqlConnection extends Connection<SqlDriverAdapter> {
  readonly builder: SqlBuilder;
  /** That of PostgreSQL's tables; elsewhere the connection decides. */
  readonly schema: string | undefined;
  readonly statements: StatementCache;
  /** By entity and columns: how values are read depends on the database, and is worked out once. */
  readonly selections: LRUCache<string, Selection>;
}

/** Where statements in SQL go. */
export type SqlSession = Session<SqlQueryable, SqlConnection>;

/** PostgreSQL's tables are in a schema, this one unless somebody says so; elsewhere the connection decides. */
const DEFAULT_SCHEMA = "public";
/** Selections that are kept; callers can make up more. */
const MAX_SELECTIONS = 1_000;

async function collationOf(client: SqlDriverAdapter): Promise<ExactCollation> {
  const { rows } = await client
    .queryRaw({ sql: "select version()", args: [], argTypes: [] })
    .catch((error: unknown) => {
      throw toKeelsonError(error, { operation: "connect" });
    });
  return exactCollation(rows[0]?.[0]);
}

/** @throws ConfigurationError; DatabaseUnavailableError */
export async function createSqlConnection(
  opened: OpenedClient<SqlDriverAdapter>,
  context: DriverContext,
): Promise<SqlConnection> {
  const { provider } = opened.dialect;
  const schema =
    provider === "postgresql" ? (opened.client.getConnectionInfo?.().schemaName ?? DEFAULT_SCHEMA) : undefined;
  const connection = createConnection(opened, context);
  const collation = provider === "mysql" ? await collationOf(opened.client) : undefined;
  const builder = await createSqlBuilder(provider, schema, collation);
  const selections = new LRUCache<string, Selection>({ max: MAX_SELECTIONS });
  return Object.freeze({ ...connection, builder, schema, statements: new StatementCache(), selections });
}
