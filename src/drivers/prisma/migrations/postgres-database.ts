import { randomUUID } from "node:crypto";
import type { Client } from "pg";
import { ConfigurationError, type EntityModel } from "../../../entity/index.ts";
import { loadPeers } from "../engine/opening.ts";
import {
  inTransaction,
  makeSchema,
  markTables,
  ownedObjects,
  POSTGRES_PACKAGES,
  postgresTables,
  schemaOf,
  whileLocked,
} from "../engine/postgres-tables.ts";
import type { Tables } from "../engine/sync-schema.ts";
import type { Ledger, MigrationDatabase, MigrationRecord, Scratch } from "./migration-database.ts";
import type { MigrationFile } from "./migration-folder.ts";

const CONNECTION = { connectionTimeoutMillis: 5_000 };
/** The SQLSTATE of a missing privilege. */
const NOT_ALLOWED = "42501";

/** Migrations of PostgreSQL. */
export async function postgresDatabase(url: string, model: EntityModel): Promise<MigrationDatabase> {
  const packages = await loadPeers("migrations of PostgreSQL", POSTGRES_PACKAGES);
  const { Client } = packages.pg.default;
  const openTables = (connectionString: string, schema: string): Promise<Tables> =>
    postgresTables(packages, { ...CONNECTION, connectionString }, schema, model);

  /** Runs a statement outside any transaction, where databases can be created and dropped. */
  async function ask(sql: string): Promise<void> {
    const client = new Client({ ...CONNECTION, connectionString: url });
    await client.connect();
    try {
      await client.query(sql);
    } finally {
      await client.end();
    }
  }

  async function openScratch(): Promise<Scratch> {
    const name = `keelson_scratch_${randomUUID().replaceAll("-", "")}`;
    try {
      await ask(`CREATE DATABASE "${name}"`);
    } catch (error) {
      if ((error as { readonly code?: unknown }).code !== NOT_ALLOWED) throw error;
      throw new ConfigurationError(
        "to write a migration, those that there are run in an empty database first, and this user may not make one; give it that right on a development server: ALTER ROLE … CREATEDB",
        { cause: error },
      );
    }
    const own = new URL(url);
    own.pathname = `/${name}`;
    own.searchParams.delete("schema"); // scripts contain no schema, and this database has only the default one
    const drop = (): Promise<void> => ask(`DROP DATABASE IF EXISTS "${name}" WITH (FORCE)`);
    try {
      const tables = await openTables(own.href, "public");
      const close = (): Promise<void> => tables.close().then(drop);
      // The scratch database only has tables made by migrations, so it has no foreign tables.
      const foreign: Tables["foreign"] = () => Promise.resolve({ tables: [], enums: [] });
      return { tables: { ...tables, foreign }, run: (script) => tables.run(script), close };
    } catch (error) {
      await drop();
      throw error;
    }
  }

  return {
    packages,
    openTables: () => openTables(url, schemaOf(url)),
    openScratch,
    openLedger: () => postgresLedger(new Client({ ...CONNECTION, connectionString: url }), schemaOf(url), model),
  };
}

/** The lock of Prisma's own command, so that both never apply migrations at the same time. */
const LOCK = 72_707_369;

const TABLE = `CREATE TABLE IF NOT EXISTS "_prisma_migrations" (
  "id" VARCHAR(36) PRIMARY KEY NOT NULL, "checksum" VARCHAR(64) NOT NULL, "finished_at" TIMESTAMPTZ,
  "migration_name" VARCHAR(255) NOT NULL, "logs" TEXT, "rolled_back_at" TIMESTAMPTZ,
  "started_at" TIMESTAMPTZ NOT NULL DEFAULT now(), "applied_steps_count" INTEGER NOT NULL DEFAULT 0)`;
const BEGUN = `INSERT INTO "_prisma_migrations" ("id", "checksum", "migration_name", "started_at")
  VALUES ($1, $2, $3, clock_timestamp())`;
const FINISHED = `UPDATE "_prisma_migrations" SET "finished_at" = clock_timestamp(), "applied_steps_count" = 1
  WHERE "id" = $1`;
const ROLLED_BACK = `UPDATE "_prisma_migrations" SET "rolled_back_at" = clock_timestamp() WHERE "id" = $1`;
const UNFINISHED = `"migration_name" = $1 AND "finished_at" IS NULL AND "rolled_back_at" IS NULL`;

/** PostgreSQL's code for a statement that cannot run in a transaction, such as CREATE INDEX CONCURRENTLY. */
const NOT_IN_TRANSACTION = "25001";

function codeOf(error: unknown): unknown {
  return (error as { readonly code?: unknown }).code;
}

/** The record of migrations in PostgreSQL. @param client a connection; `close` closes it */
async function postgresLedger(client: Client, schema: string, model: EntityModel): Promise<Ledger> {
  async function record({ name, checksums }: MigrationFile): Promise<void> {
    const id = randomUUID();
    await client.query(BEGUN, [id, checksums[0], name]);
    await client.query(FINISHED, [id]);
  }

  /**
   * Runs a script outside a transaction. Recorded before and after, so that a process that dies in between leaves a
   * record.
   */
  async function applyAlone({ name, sql, checksums }: MigrationFile): Promise<void> {
    const id = randomUUID();
    await client.query(BEGUN, [id, checksums[0], name]);
    try {
      await client.query(sql);
    } catch (error) {
      if (codeOf(error) === NOT_IN_TRANSACTION) await client.query(ROLLED_BACK, [id]);
      throw error;
    }
    await client.query(FINISHED, [id]);
  }

  client.on("error", () => undefined); // queries on the connection report the error
  await client.connect();
  try {
    await client.query("SELECT set_config('search_path', quote_ident($1), false)", [schema]);
  } catch (error) {
    await client.end();
    throw error;
  }
  return {
    async records() {
      const { rows: found } = await client.query(`SELECT to_regclass('"_prisma_migrations"') AS name`);
      if (found[0]?.name === null) return [];
      const { rows } = await client.query<MigrationRecord>(
        `SELECT "migration_name" AS name, "checksum", "finished_at" IS NOT NULL AS finished,
           "rolled_back_at" IS NOT NULL AS "rolledBack" FROM "_prisma_migrations" ORDER BY "started_at", "migration_name"`,
      );
      return rows;
    },
    exclusively: (work) =>
      whileLocked(client, LOCK, async () => {
        await makeSchema(client, schema);
        await client.query(TABLE);
        const result = await work();
        await markTables(client, schema, ownedObjects(model));
        return result;
      }),
    async apply(file) {
      try {
        await inTransaction(client, "BEGIN", true, async () => {
          await client.query(file.sql);
          await record(file);
        });
      } catch (error) {
        if (codeOf(error) !== NOT_IN_TRANSACTION) throw error;
        await applyAlone(file);
      }
    },
    record,
    async resolve(name, as) {
      const column = as === "applied" ? "finished_at" : "rolled_back_at";
      await client.query(`UPDATE "_prisma_migrations" SET "${column}" = clock_timestamp() WHERE ${UNFINISHED}`, [name]);
    },
    close: () => client.end(),
  };
}
