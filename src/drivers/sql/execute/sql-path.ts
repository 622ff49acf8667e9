import type { SqlDriverAdapter, SqlQueryable } from "@prisma/driver-adapter-utils";
import type { DriverContext } from "../../../gate/index.ts";
import { plainMoment } from "../condition/column-codec.ts";
import { createSqlBuilder, type ExactCollation, exactCollation } from "../condition/sql-builder.ts";
import { toKeelsonError } from "../errors/to-keelson-error.ts";
import { KeptStatements, keptSelections } from "../fast/kept-statements.ts";
import { momentsByDigits } from "../fast/moments-by-digits.ts";
import type { Fast } from "../fast/switches.ts";
import { textMoment } from "../fast/text-moments.ts";
import { adapterTransaction, runStatement } from "../session/adapter.ts";
import { createConnection, type OpenedClient } from "../session/connection.ts";
import type { Path } from "../session/create-database-driver.ts";
import { MADE_ANEW } from "../statement/select-query.ts";
import { type SqlConnection, WRITTEN_ANEW } from "../statement/sql-connection.ts";
import { sqlExecutor } from "./execute-sql.ts";

/** Statements in SQL, straight to Prisma's driver adapter. */
export type SqlPath = Path<SqlQueryable, SqlDriverAdapter, SqlConnection>;

export function sqlPath(fast: Fast): SqlPath {
  return Object.freeze({
    prepare: (opened, context) => createSqlConnection(opened, context, fast),
    transact: adapterTransaction,
    capabilities: { joins: fast.joins, conditionalInserts: true, aggregates: true },
    executor: (session, transaction) => sqlExecutor(session, transaction, fast),
    ping: (client) => runStatement(client, "select 1"),
  } satisfies SqlPath);
}

/** The schema of PostgreSQL's tables where the adapter does not name one; on other databases the connection decides. */
const DEFAULT_SCHEMA = "public";

async function collationOf(client: SqlDriverAdapter): Promise<ExactCollation> {
  const { rows } = await runStatement(client, "select version()").catch((error: unknown) => {
    throw toKeelsonError(error, { operation: "connect" });
  });
  return exactCollation(rows[0]?.[0]);
}

/** @throws ConfigurationError; DatabaseUnavailableError */
async function createSqlConnection(
  opened: OpenedClient<SqlDriverAdapter>,
  context: DriverContext,
  fast: Fast,
): Promise<SqlConnection> {
  const { provider } = opened.dialect;
  const schema =
    provider === "postgresql" ? (opened.client.getConnectionInfo?.().schemaName ?? DEFAULT_SCHEMA) : undefined;
  const connection = createConnection(opened, context);
  const collation = provider === "mysql" ? await collationOf(opened.client) : undefined;
  return Object.freeze({
    ...connection,
    builder: await createSqlBuilder(provider, schema, collation),
    schema,
    statements: fast.keptStatements ? new KeptStatements(fast.preparedNames) : WRITTEN_ANEW,
    selections: fast.keptStatements ? keptSelections() : MADE_ANEW,
    moments: {
      read: fast.momentsByDigits ? momentsByDigits : plainMoment,
      toText: fast.textMoments ? textMoment : undefined,
    },
  });
}
