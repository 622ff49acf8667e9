// Imports from Kysely by name, so that the rest of it, which runs statements, is not part of the compiled package.
import {
  DummyDriver,
  Kysely,
  type Dialect as KyselyDialect,
  MysqlAdapter,
  MysqlQueryCompiler,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  SqliteAdapter,
  SqliteQueryCompiler,
  sql,
} from "kysely";
import type { Provider } from "../../../entity/index.ts";

const PARTS = {
  postgresql: [PostgresAdapter, PostgresQueryCompiler],
  sqlite: [SqliteAdapter, SqliteQueryCompiler],
  mysql: [MysqlAdapter, MysqlQueryCompiler],
} as const;

function dialectOf(provider: Provider): KyselyDialect {
  const [Adapter, QueryCompiler] = PARTS[provider];
  return {
    createDriver: () => new DummyDriver(),
    createIntrospector: (db) => new PostgresIntrospector(db), // Kysely's interface requires one; it is never used
    createAdapter: () => new Adapter(),
    createQueryCompiler: () => new QueryCompiler(),
  };
}

/** Kysely, for writing statements only; it never connects to a database. */
export function createStatementWriter<TTables>(provider: Provider) {
  return { db: new Kysely<TTables>({ dialect: dialectOf(provider) }), sql };
}
