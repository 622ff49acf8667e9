import type { SqlDriverAdapter } from "@prisma/driver-adapter-utils";
import type { DriverContext } from "../../../gate/index.ts";
import { type ExactCollation, exactCollation } from "../condition/exact-collation.ts";
import { createSqlBuilder } from "../condition/sql-builder.ts";
import { toKeelsonError } from "../errors/to-keelson-error.ts";
import { KeptStatements, keptSelections } from "../fast/kept-statements.ts";
import { momentsByDigits } from "../fast/moments-by-digits.ts";
import type { Fast } from "../fast/switches.ts";
import { textMoment } from "../fast/text-moments.ts";
import { createConnection } from "../session/connection.ts";
import type { OpenedClient } from "../session/opened-client.ts";
import { type Moments, plainMoment } from "../statement/row-decoder.ts";
import { MADE_ANEW } from "../statement/select-query.ts";
import type { SqlConnection } from "../statement/sql-connection.ts";
import { WRITTEN_ANEW } from "../statement/sql-statement.ts";

/** The schema of PostgreSQL's tables where the adapter names none; on other databases the connection decides. */
const DEFAULT_SCHEMA = "public";
async function collationOf(client: SqlDriverAdapter): Promise<ExactCollation> {
  const { rows } = await client
    .queryRaw({ sql: "select version()", args: [], argTypes: [] })
    .catch((error: unknown) => {
      throw toKeelsonError(error, { operation: "connect" });
    });
  return exactCollation(rows[0]?.[0]);
}

function momentsFor(fast: Fast): Moments {
  return {
    read: fast.momentsByDigits ? momentsByDigits : plainMoment,
    toText: fast.textMoments ? textMoment : undefined,
  };
}

/** @throws ConfigurationError; DatabaseUnavailableError */
export async function createSqlConnection(
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
    moments: momentsFor(fast),
  });
}
