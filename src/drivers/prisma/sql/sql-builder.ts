import type { Kysely, Dialect as KyselyDialect, Sql } from "kysely";
import type { Provider } from "../../../entity/index.ts";
import type { ExactCollation } from "../check-collation.ts";

/** Tables by name; which there are is known when the app starts, not when this is compiled. */
export type Tables = Record<string, Record<string, unknown>>;

/** What statements are written with. */
export interface SqlBuilder {
  readonly provider: Provider;
  readonly db: Kysely<Tables>;
  readonly sql: Sql;
  /** MySQL only: how its columns compare text. */
  readonly collation: ExactCollation | undefined;
}

type KyselyModule = typeof import("kysely");

function dialectOf(kysely: KyselyModule, provider: Provider): KyselyDialect {
  const createDriver = () => new kysely.DummyDriver();
  const createIntrospector = (db: Kysely<unknown>) => new kysely.PostgresIntrospector(db);
  switch (provider) {
    case "postgresql":
      return {
        createDriver,
        createIntrospector,
        createAdapter: () => new kysely.PostgresAdapter(),
        createQueryCompiler: () => new kysely.PostgresQueryCompiler(),
      };
    case "sqlite":
      return {
        createDriver,
        createIntrospector,
        createAdapter: () => new kysely.SqliteAdapter(),
        createQueryCompiler: () => new kysely.SqliteQueryCompiler(),
      };
    case "mysql":
      return {
        createDriver,
        createIntrospector,
        createAdapter: () => new kysely.MysqlAdapter(),
        createQueryCompiler: () => new kysely.MysqlQueryCompiler(),
      };
  }
}

/**
 * Kysely, for writing statements only; it never sees a database. It is imported here, because apps without a database
 * need not wait for it.
 * @param schema Schema of the tables. @default none is named
 * @param collation MySQL only: how its columns compare text
 */
export async function createSqlBuilder(
  provider: Provider,
  schema: string | undefined,
  collation: ExactCollation | undefined,
): Promise<SqlBuilder> {
  const kysely = await import("kysely");
  const db = new kysely.Kysely<Tables>({ dialect: dialectOf(kysely, provider) });
  return { provider, collation, sql: kysely.sql, db: schema === undefined ? db : db.withSchema(schema) };
}
