import type { ColumnType, SqlDriverAdapter, SqlDriverAdapterFactory } from "@prisma/driver-adapter-utils";
import type { Pool, QueryResult } from "pg";
import type { EntityModel } from "../../../entity/index.ts";
import { type Catalog, columnsQuery, LIVE_SUFFIX, liveUniqueNames, toCatalog } from "../../sql/index.ts";
import { tableNames } from "../schema/relation-sides.ts";
import type { Foreign, Tables } from "./tables.ts";

/** PostgreSQL's internal one-byte type, which the engine asks for and Prisma's adapter does not know (prisma/orm 27403). */
const CHAR_OID = 18;
const TEXT_OID = 25;
/** `ColumnTypeEnum.Character` */
const CHARACTER: ColumnType = 6;

/** The comment on tables made by Keelson; tables without it are left alone. */
const MARK = "Managed by Keelson";
/** Any number, the same in every process: who changes tables waits for those who do. */
const LOCK = 7_533_976_001;

/** A pool, or one connection. */
type Queries = Pick<Pool, "query">;

/** Remembers which columns of which statement are of the type that the adapter does not know, and calls them text. */
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

/** Prisma's adapter with that type put right. */
function charAwareFactory(pool: Pool, adapterOf: (pool: Pool) => SqlDriverAdapterFactory): Tables["factory"] {
  const charsOf = relabelChars(pool);
  const { provider, adapterName, connect: open } = bound(adapterOf(pool));
  async function connect(): Promise<SqlDriverAdapter> {
    const adapter = await open();
    const queryRaw = adapter.queryRaw.bind(adapter);
    adapter.queryRaw = async (query) => {
      const result = await queryRaw(query);
      for (const index of charsOf(query.sql)) result.columnTypes[index] = CHARACTER;
      return result;
    };
    return adapter;
  }
  return { provider, adapterName, connect, connectToShadowDb: connect };
}

function bound(factory: SqlDriverAdapterFactory): SqlDriverAdapterFactory {
  const { provider, adapterName } = factory;
  return { provider, adapterName, connect: () => factory.connect() };
}

/** Everything in the schema that Keelson did not make. */
async function foreignObjects(pool: Pool, schema: string, ours: readonly string[]): Promise<Foreign> {
  const tables = await pool.query<{ name: string }>(
    `SELECT c.relname AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE n.nspname = $1 AND c.relkind IN ('r', 'p') AND NOT c.relname = ANY($2)
       AND obj_description(c.oid, 'pg_class') IS DISTINCT FROM $3`,
    [schema, ours, MARK],
  );
  const enums = await pool.query<{ name: string }>(
    `SELECT t.typname AS name FROM pg_type t JOIN pg_namespace n ON n.oid = t.typnamespace
     WHERE n.nspname = $1 AND t.typtype = 'e'`,
    [schema],
  );
  const qualified = ({ rows }: { rows: { name: string }[] }) => rows.map(({ name }) => `${schema}.${name}`);
  return { tables: qualified(tables), enums: qualified(enums) };
}

/** Makes a schema that does not exist yet. */
export async function makeSchema(pool: Queries, schema: string): Promise<void> {
  const { rows } = await pool.query<{ sql: string }>(
    "SELECT format('CREATE SCHEMA %I', $1::text) AS sql WHERE to_regnamespace(quote_ident($1)) IS NULL",
    [schema],
  );
  for (const { sql } of rows) await pool.query(sql);
}

/** Marks the tables made by Keelson, so that a table is recognised after its entity is removed. */
export async function markTables(pool: Queries, schema: string, ours: readonly string[]): Promise<void> {
  const { rows } = await pool.query<{ sql: string }>(
    `SELECT format('COMMENT ON TABLE %I.%I IS %L', n.nspname, c.relname, $3::text) AS sql
     FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE n.nspname = $1 AND c.relkind IN ('r', 'p') AND c.relname = ANY($2)
       AND obj_description(c.oid, 'pg_class') IS NULL`,
    [schema, ours, MARK],
  );
  for (const { sql } of rows) await pool.query(sql);
}

/**
 * A connection for changing the tables of a PostgreSQL database.
 * @param pool A pool of one connection, which is closed in the end
 * @param model What the entities describe
 */
export async function postgresTables(
  pool: Pool,
  adapterOf: (pool: Pool) => SqlDriverAdapterFactory,
  schema: string,
  model: EntityModel,
): Promise<Tables> {
  const ours = tableNames(model);
  pool.on("error", () => undefined); // queries on the connection report the error
  try {
    // The engine's statements name tables without their schema.
    await pool.query("SELECT set_config('search_path', quote_ident($1), false)", [schema]);
    let others: Foreign | undefined;
    const factory = charAwareFactory(pool, adapterOf);
    const change: Tables["atomically"] = (work, keep = true) =>
      whileLocked(pool, () =>
        inTransaction(pool, keep, async () => {
          await makeSchema(pool, schema);
          others = await foreignObjects(pool, schema, ours); // before new tables exist that are not marked yet
          const result = await work();
          await markTables(pool, schema, ours);
          return result;
        }),
      ).finally(() => {
        others = undefined;
      });
    return {
      factory,
      foreign: async () => others ?? (await foreignObjects(pool, schema, ours)),
      catalog: () => postgresCatalog(pool, schema),
      run: async (statement) => void (await pool.query(statement)),
      preparations: () => dropStaleIndexes(pool, schema, ours, liveUniqueNames(model)),
      atomically: change,
      close: () => pool.end(),
    };
  } catch (error) {
    await pool.end();
    throw error;
  }
}

/** Takes the lock before the transaction begins, so that the transaction sees what the lock's previous holder wrote. */
async function whileLocked<T>(pool: Pool, work: () => Promise<T>): Promise<T> {
  await pool.query("SELECT pg_advisory_lock($1)", [LOCK]);
  try {
    return await work();
  } finally {
    await pool.query("SELECT pg_advisory_unlock($1)", [LOCK]).catch(() => undefined); // it goes with the connection
  }
}

/**
 * One snapshot from start to end. Otherwise the engine could see a table that another program creates after the foreign
 * tables were listed, and drop it.
 */
async function inTransaction<T>(pool: Pool, keep: boolean, work: () => Promise<T>): Promise<T> {
  await pool.query("BEGIN ISOLATION LEVEL REPEATABLE READ");
  try {
    const result = await work();
    await pool.query(keep ? "COMMIT" : "ROLLBACK");
    return result;
  } catch (error) {
    await pool.query("ROLLBACK").catch(() => undefined); // the connection may be gone; the first failure counts
    throw error;
  }
}

/** The tables of a schema of PostgreSQL. */
async function postgresCatalog(pool: Pool, schema: string): Promise<Catalog> {
  const text = columnsQuery("postgresql", false);
  return toCatalog((await pool.query<unknown[]>({ text, values: [schema], rowMode: "array" })).rows);
}

/**
 * Statements that drop partial indexes over live records that no entity declares any more. The schema engine does not
 * know partial indexes, and would take one for a full index with another name.
 * @param ours names of the tables that entities describe
 * @param wanted names of the indexes that they declare
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
