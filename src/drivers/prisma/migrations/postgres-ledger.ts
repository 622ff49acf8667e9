import { randomUUID } from "node:crypto";
import type { Client } from "pg";
import type { EntityModel } from "../../../entity/index.ts";
import { makeSchema, markTables } from "../engine/postgres-tables.ts";
import { tableNames } from "../schema/relation-sides.ts";
import type { Ledger } from "./migration-database.ts";
import type { MigrationFile } from "./migration-folder.ts";
import type { MigrationRecord } from "./migration-history.ts";

/** The lock of Prisma's own command, so that it and we never apply migrations at the same time. */
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

/** What PostgreSQL says to a statement that does not run in a transaction: CREATE INDEX CONCURRENTLY and the like. */
const NOT_IN_TRANSACTION = "25001";

function codeOf(error: unknown): unknown {
  return (error as { readonly code?: unknown }).code;
}

/** The record of migrations in PostgreSQL. @param client A connection, which is closed in the end */
export async function postgresLedger(client: Client, schema: string, model: EntityModel): Promise<Ledger> {
  async function record({ name, checksums }: MigrationFile): Promise<void> {
    const id = randomUUID();
    await client.query(BEGUN, [id, checksums[0], name]);
    await client.query(FINISHED, [id]);
  }

  async function inTransaction(work: () => Promise<void>): Promise<void> {
    await client.query("BEGIN");
    try {
      await work();
      await client.query("COMMIT");
    } catch (error) {
      await client.query("ROLLBACK").catch(() => undefined); // the connection may be gone; the first failure counts
      throw error;
    }
  }

  /** Recorded before and after, so that a process that dies in between leaves word of it. */
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
    async exclusively(work) {
      await client.query("SELECT pg_advisory_lock($1)", [LOCK]);
      try {
        await makeSchema(client, schema);
        await client.query(TABLE);
        const result = await work();
        await markTables(client, schema, tableNames(model));
        return result;
      } finally {
        await client.query("SELECT pg_advisory_unlock($1)", [LOCK]).catch(() => undefined); // it ends with the connection
      }
    },
    async apply(file) {
      try {
        await inTransaction(async () => {
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
