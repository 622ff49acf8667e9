import type { ColumnType, SqlDriverAdapter } from "@prisma/driver-adapter-utils";
import type { Pool, PoolConfig, QueryResult } from "pg";
import type { EntityModel } from "../../../entity/index.ts";
import { isSearchable } from "../../../gate/index.ts";
import { columnsQuery, isManaged, LIVE_SUFFIX, liveUniqueNames, tableNames, toCatalog } from "../../sql/index.ts";
import { enumsOf } from "../schema/enums.ts";
import { enumConversions } from "./enum-conversions.ts";
import { absent } from "./opening.ts";
import { ENGINE_PACKAGES } from "./schema-engine.ts";
import type { Foreign, Tables } from "./sync-schema.ts";

/** The packages for changing the tables of a PostgreSQL database; see `loadPeers`. */
export const POSTGRES_PACKAGES = {
  ...ENGINE_PACKAGES,
  "@prisma/adapter-pg": () => import("@prisma/adapter-pg").catch(absent),
  pg: () => import("pg").catch(absent),
} as const;

/** The same packages, loaded. */
type PostgresPackages = {
  readonly [K in keyof typeof POSTGRES_PACKAGES]: Awaited<ReturnType<(typeof POSTGRES_PACKAGES)[K]>>;
};

/** The comment that marks tables made by Keelson; other tables are never changed. */
const MARK = "Managed by Keelson";
/** The key of the advisory lock, the same in every process: processes change tables one at a time. */
const LOCK = 7_533_976_001;

/** A pool, or one connection. */
export type Queries = Pick<Pool, "query">;

/** Opens a connection for changing the tables of a PostgreSQL database. @param model the model of the entities */
export async function postgresTables(
  { "@prisma/adapter-pg": { PrismaPg }, pg }: PostgresPackages,
  connection: PoolConfig,
  schema: string,
  model: EntityModel,
): Promise<Tables> {
  const ours = ownedObjects(model);
  const pool = new pg.default.Pool({ ...connection, max: 1, idleTimeoutMillis: 0 });
  pool.on("error", () => undefined); // queries on the connection report the error
  try {
    // The engine's statements contain tables without their schema.
    await pool.query("SELECT set_config('search_path', quote_ident($1), false)", [schema]);
  } catch (error) {
    await pool.end();
    throw error;
  }
  let others: Foreign | undefined;
  return {
    factory: charAwareFactory(pool, (own) => new PrismaPg(own, { schema }).connect()),
    foreign: async () => others ?? (await foreignObjects(pool, schema, ours)),
    async catalog() {
      const text = columnsQuery("postgresql", false);
      return toCatalog((await pool.query<unknown[]>({ text, values: [schema], rowMode: "array" })).rows);
    },
    run: async (statement) => void (await pool.query(statement)),
    preparations: async () => [
      ...(await missingExtensions(pool, model)),
      ...(await dropStaleIndexes(pool, schema, ours.tables, liveUniqueNames(model))),
      ...(await enumConversions(pool, schema, model)),
    ],
    async atomically(work, keep = true) {
      // The lock is taken first, so that the transaction sees the changes of its previous holder. The whole change uses
      // one snapshot: otherwise the engine could see a table that another program creates after the foreign tables were
      // listed, and drop it.
      const change = () =>
        inTransaction(pool, "BEGIN ISOLATION LEVEL REPEATABLE READ", keep, async () => {
          await makeSchema(pool, schema);
          others = await foreignObjects(pool, schema, ours); // listed before new, still unmarked tables exist
          const result = await work();
          await markTables(pool, schema, ours);
          return result;
        });
      try {
        return await whileLocked(pool, LOCK, change);
      } finally {
        others = undefined;
      }
    },
    close: () => pool.end(),
  };
}

/** Runs work while holding an advisory lock. */
export async function whileLocked<T>(queries: Queries, lock: number, work: () => Promise<T>): Promise<T> {
  await queries.query("SELECT pg_advisory_lock($1)", [lock]);
  try {
    return await work();
  } finally {
    await queries.query("SELECT pg_advisory_unlock($1)", [lock]).catch(() => undefined); // released with the connection
  }
}

/** @param keep `false` rolls the work back at the end */
export async function inTransaction<T>(
  queries: Queries,
  begin: string,
  keep: boolean,
  work: () => Promise<T>,
): Promise<T> {
  await queries.query(begin);
  try {
    const result = await work();
    await queries.query(keep ? "COMMIT" : "ROLLBACK");
    return result;
  } catch (error) {
    await queries.query("ROLLBACK").catch(() => undefined); // the connection may be lost; the first error is reported
    throw error;
  }
}

/** Names of the tables and enums that the entities describe. */
export function ownedObjects(model: EntityModel): Foreign {
  return { tables: tableNames(model), enums: enumsOf(model.entities.filter(isManaged)).map(({ name }) => name) };
}

/** Lists all tables and enums of the schema that Keelson did not make. */
async function foreignObjects(pool: Pool, schema: string, ours: Foreign): Promise<Foreign> {
  const tables = await pool.query<{ name: string }>(
    `SELECT c.relname AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE n.nspname = $1 AND c.relkind IN ('r', 'p') AND NOT c.relname = ANY($2)
       AND obj_description(c.oid, 'pg_class') IS DISTINCT FROM $3`,
    [schema, ours.tables, MARK],
  );
  const enums = await pool.query<{ name: string }>(
    `SELECT t.typname AS name FROM pg_type t JOIN pg_namespace n ON n.oid = t.typnamespace
     WHERE n.nspname = $1 AND t.typtype = 'e' AND NOT t.typname = ANY($2)
       AND obj_description(t.oid, 'pg_type') IS DISTINCT FROM $3`,
    [schema, ours.enums, MARK],
  );
  const qualified = ({ rows }: { rows: { name: string }[] }) => rows.map(({ name }) => `${schema}.${name}`);
  return { tables: qualified(tables), enums: qualified(enums) };
}

/** Creates a schema if it does not exist. */
export async function makeSchema(pool: Queries, schema: string): Promise<void> {
  const { rows } = await pool.query<{ sql: string }>(
    "SELECT format('CREATE SCHEMA %I', $1::text) AS sql WHERE to_regnamespace(quote_ident($1)) IS NULL",
    [schema],
  );
  for (const { sql } of rows) await pool.query(sql);
}

/** Marks the tables and enums made by Keelson, so that they are recognized after their entity is removed. */
export async function markTables(pool: Queries, schema: string, ours: Foreign): Promise<void> {
  const { rows } = await pool.query<{ sql: string }>(
    `SELECT format('COMMENT ON TABLE %I.%I IS %L', n.nspname, c.relname, $4::text) AS sql
     FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE n.nspname = $1 AND c.relkind IN ('r', 'p') AND c.relname = ANY($2)
       AND obj_description(c.oid, 'pg_class') IS NULL
     UNION ALL
     SELECT format('COMMENT ON TYPE %I.%I IS %L', n.nspname, t.typname, $4::text)
     FROM pg_type t JOIN pg_namespace n ON n.oid = t.typnamespace
     WHERE n.nspname = $1 AND t.typtype = 'e' AND t.typname = ANY($3) AND obj_description(t.oid, 'pg_type') IS NULL`,
    [schema, ours.tables, ours.enums, MARK],
  );
  for (const { sql } of rows) await pool.query(sql);
}

/** Statements that create the extension for the indexes of searchable fields. */
async function missingExtensions(pool: Pool, model: EntityModel): Promise<readonly string[]> {
  if (!model.entities.some(isSearchable)) return [];
  const { rowCount } = await pool.query("SELECT 1 FROM pg_extension WHERE extname = 'pg_trgm'");
  return rowCount === 0 ? ["CREATE EXTENSION IF NOT EXISTS pg_trgm"] : [];
}

/**
 * Statements that drop undeclared partial indexes over live records. The schema engine does not support partial
 * indexes, and would take one for a full index with another name.
 * @param ours the names of the entities' tables
 * @param wanted the names of their declared indexes
 */
async function dropStaleIndexes(
  pool: Pool,
  schema: string,
  ours: readonly string[],
  wanted: readonly string[],
): Promise<readonly string[]> {
  const { rows } = await pool.query<{ sql: string }>(
    `SELECT format('DROP INDEX %I', c.relname) AS sql
     FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_class t ON t.oid = i.indrelid
       JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE n.nspname = $1 AND t.relname = ANY($2) AND i.indpred IS NOT NULL
       AND right(c.relname, length($3)) = $3 AND NOT c.relname = ANY($4)`,
    [schema, ours, LIVE_SUFFIX, wanted],
  );
  return rows.map(({ sql }) => sql);
}

/**
 * PostgreSQL's internal one-byte type, which the engine selects and Prisma's adapter does not support (prisma/orm
 * 27403).
 */
const CHAR_OID = 18;
const TEXT_OID = 25;
/** `ColumnTypeEnum.Character` */
const CHARACTER: ColumnType = 6;

/** Relabels columns of the unsupported type as text. Returns a function that finds these columns of a statement. */
function relabelChars(pool: Pool): (sql: string) => readonly number[] {
  const flagged = new Map<string, readonly number[]>();
  const query = pool.query.bind(pool) as (...args: unknown[]) => Promise<QueryResult>;
  pool.query = (async (...args: unknown[]) => {
    const result = await query(...args);
    const sql = (args[0] as { readonly text?: string }).text;
    if (sql === undefined) return result;
    const chars = result.fields.flatMap(({ dataTypeID }, index) => (dataTypeID === CHAR_OID ? [index] : []));
    for (const index of chars) (result.fields[index] as { dataTypeID: number }).dataTypeID = TEXT_OID;
    if (chars.length > 0) flagged.set(sql, chars);
    return result;
  }) as Pool["query"];
  return (sql) => flagged.get(sql) ?? [];
}

/** Wraps Prisma's adapter to report the one-byte type correctly. */
function charAwareFactory(pool: Pool, open: (pool: Pool) => Promise<SqlDriverAdapter>): Tables["factory"] {
  const charsOf = relabelChars(pool);
  async function connect(): Promise<SqlDriverAdapter> {
    const adapter = await open(pool);
    const queryRaw = adapter.queryRaw.bind(adapter);
    adapter.queryRaw = async (query) => {
      const result = await queryRaw(query);
      for (const index of charsOf(query.sql)) result.columnTypes[index] = CHARACTER;
      return result;
    };
    return adapter;
  }
  return { provider: "postgres", adapterName: "@prisma/adapter-pg", connect, connectToShadowDb: connect };
}

/** The schema in a connection string, as Prisma writes it. */
export function schemaOf(url: string): string {
  try {
    return new URL(url).searchParams.get("schema") ?? "public";
  } catch {
    return "public"; // a socket's path, which PostgreSQL's driver parses itself
  }
}
