import type { SqlDriverAdapter, SqlQueryable } from "@prisma/driver-adapter-utils";
import type { AnyEntity, ColumnDefinition, EntityModel, Provider } from "../../../entity/index.ts";
import type { DriverContext } from "../../../gate/index.ts";
import { plainMoment } from "../condition/column-codec.ts";
import { createSqlBuilder, EXACT_COLLATIONS, type ExactCollation, exactCollation } from "../condition/sql-builder.ts";
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
import { tableOf } from "../tables/table-names.ts";
import { sqlExecutor } from "./execute-sql.ts";

/** Statements in SQL, sent directly to Prisma's driver adapter. */
export type SqlPath = Path<SqlQueryable, SqlDriverAdapter, SqlConnection>;

export function sqlPath(fast: Fast): SqlPath {
  return Object.freeze({
    prepare: (opened, context) => createSqlConnection(opened, context, fast),
    transact: adapterTransaction,
    capabilities: { joins: fast.joins, conditionalInserts: true, aggregates: true, sortsRelated: true },
    executor: (session, transaction) => sqlExecutor(session, transaction, fast),
    ping: (client) => runStatement(client, "select 1"),
  } satisfies SqlPath);
}

/**
 * The schema of PostgreSQL's tables if the adapter does not name one; on other databases the connection determines it.
 */
const DEFAULT_SCHEMA = "public";

/** Columns with their own collation, as table and column. */
const INEXACT = {
  mysql: `select concat(TABLE_NAME, '.', COLUMN_NAME) from information_schema.COLUMNS where TABLE_SCHEMA = database()
    and COLLATION_NAME is not null and COLLATION_NAME not in ('${EXACT_COLLATIONS.join("', '")}')`,
  postgresql: `select n.nspname || '.' || c.relname || '.' || a.attname from pg_attribute a
    join pg_class c on c.oid = a.attrelid join pg_namespace n on n.oid = c.relnamespace
    join pg_type t on t.oid = a.atttypid left join pg_collation l on l.oid = a.attcollation
    where a.attnum > 0 and (t.typname = 'citext' or not l.collisdeterministic)`,
};

/** The collation that compares text exactly, and the columns that need it. */
interface Comparing {
  readonly collation?: ExactCollation | undefined;
  readonly inexact?: ReadonlySet<ColumnDefinition>;
}

/**
 * Finds the columns that may compare text inexactly: any column of MySQL, and those of existing tables elsewhere.
 * SQLite does not report collations, so all text columns of existing tables count.
 */
async function comparingIn(
  client: SqlDriverAdapter,
  { entities }: EntityModel,
  { provider, schema }: { readonly provider: Provider; readonly schema: string | undefined },
): Promise<Comparing> {
  const ask = async (sql: string): Promise<readonly unknown[]> =>
    (
      await runStatement(client, sql).catch((error: unknown) => {
        throw toKeelsonError(error, { operation: "connect" });
      })
    ).rows.map(([value]) => value);
  const columns = (of: readonly AnyEntity[], isInexact: (entity: AnyEntity, column: ColumnDefinition) => boolean) =>
    new Set(of.flatMap((entity) => Object.values(entity.columns).filter((column) => isInexact(entity, column))));
  const existing = entities.filter((entity) => entity.existing);
  if (provider === "mysql") {
    const [version] = await ask("select version()");
    const found = new Set(await ask(INEXACT.mysql));
    const inexact = columns(
      entities,
      (entity, { stored, kind }) => kind.column.scalar !== "Json" && found.has(`${tableOf(entity)}.${stored}`),
    );
    return { collation: exactCollation(version), inexact };
  }
  if (existing.length === 0) return {};
  if (provider === "sqlite") return { inexact: columns(existing, (_, { kind }) => kind.column.scalar === "String") };
  const found = new Set(await ask(INEXACT.postgresql));
  const nameOf = (entity: AnyEntity): string => `${entity.table?.schema ?? schema}.${tableOf(entity)}`;
  return { inexact: columns(existing, (entity, { stored }) => found.has(`${nameOf(entity)}.${stored}`)) };
}

const NONE: ReadonlySet<ColumnDefinition> = new Set();

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
  const { collation, inexact = NONE } = await comparingIn(opened.client, context.model, { provider, schema });
  return Object.freeze({
    ...connection,
    builder: await createSqlBuilder(provider, schema, collation, inexact),
    schema,
    statements: fast.keptStatements ? new KeptStatements(fast.preparedNames) : WRITTEN_ANEW,
    selections: fast.keptStatements ? keptSelections() : MADE_ANEW,
    moments: {
      read: fast.momentsByDigits ? momentsByDigits : plainMoment,
      toText: fast.textMoments ? textMoment : undefined,
    },
  });
}
