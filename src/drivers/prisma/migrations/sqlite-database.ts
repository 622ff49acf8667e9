import { randomUUID } from "node:crypto";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { SqlDriverAdapter } from "@prisma/driver-adapter-utils";
import { ConfigurationError, type EntityModel } from "../../../entity/index.ts";
import { runStatement, whileBusy } from "../../sql/index.ts";
import { loadPeers } from "../engine/opening.ts";
import { SQLITE_PACKAGES, sqliteTables } from "../engine/sqlite-tables.ts";
import type { Ledger, MigrationDatabase, MigrationRecord, Scratch } from "./migration-database.ts";
import type { MigrationFile } from "./migration-folder.ts";

/** Migrations of a SQLite file. */
export async function sqliteDatabase(url: string, model: EntityModel): Promise<MigrationDatabase> {
  const path = fileOf(url);
  const packages = await loadPeers("migrations of SQLite", SQLITE_PACKAGES);
  const { PrismaLibSql } = packages["@prisma/adapter-libsql"];
  const factoryOf = (file: string) => new PrismaLibSql({ url: pathToFileURL(file).href });

  async function openScratch(): Promise<Scratch> {
    const folder = await mkdtemp(join(tmpdir(), "keelson-scratch-"));
    const factory = factoryOf(join(folder, "scratch.db"));
    const adapter = await factory.connect();
    const tables = sqliteTables(factory, model);
    return {
      tables,
      run: (script) => adapter.executeScript(script),
      async close() {
        await tables.close();
        await adapter.dispose();
        await rm(folder, { recursive: true, force: true });
      },
    };
  }

  await mkdir(dirname(path), { recursive: true });
  return {
    packages,
    openTables: async () => sqliteTables(factoryOf(path), model),
    openScratch,
    openLedger: async () => sqliteLedger(await factoryOf(path).connect()),
  };
}

/** The path of `file:./app.db` and `file:///data/app.db`; relative to the working directory. */
function fileOf(url: string): string {
  if (!url.startsWith("file:")) throw new ConfigurationError('the url of a SQLite database begins with "file:"');
  return url.startsWith("file://") ? fileURLToPath(url) : resolve(url.slice("file:".length));
}

const TABLE = `CREATE TABLE IF NOT EXISTS "_prisma_migrations" (
  "id" TEXT PRIMARY KEY NOT NULL, "checksum" TEXT NOT NULL, "finished_at" DATETIME, "migration_name" TEXT NOT NULL,
  "logs" TEXT, "rolled_back_at" DATETIME, "started_at" DATETIME NOT NULL DEFAULT current_timestamp,
  "applied_steps_count" INTEGER UNSIGNED NOT NULL DEFAULT 0)`;

/** The current time in milliseconds, as Prisma's command stores it. */
const NOW = "CAST(unixepoch('subsec') * 1000 AS INTEGER)";
/** Converts texts, which Prisma's adapters store, since SQLite sorts all texts after all numbers. */
const STARTED = `CASE typeof("started_at") WHEN 'text' THEN unixepoch("started_at", 'subsec') * 1000 ELSE "started_at" END`;
const CURRENT = `"finished_at" IS NOT NULL AND "rolled_back_at" IS NULL`;

function quoted(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

function recording({ name, checksums }: MigrationFile): string {
  return `INSERT INTO "_prisma_migrations"
  ("id", "checksum", "migration_name", "started_at", "finished_at", "applied_steps_count")
  VALUES (${[randomUUID(), checksums[0], name].map(quoted).join(", ")}, ${NOW}, ${NOW}, 1)`;
}

/**
 * One script for the whole migration, since the adapter ends a transaction at the end of a script. A table that accepts
 * only zeros stops the script if another process was faster, or if rows would refer to missing records.
 */
function wholeScript(file: MigrationFile): string {
  return `BEGIN IMMEDIATE;
CREATE TEMP TABLE "keelson_guard" ("wrong" INTEGER CONSTRAINT "keelson_guard" CHECK ("wrong" = 0));
INSERT INTO "keelson_guard"
  SELECT count(*) FROM "_prisma_migrations" WHERE "migration_name" = ${quoted(file.name)} AND ${CURRENT};
${file.sql}
;
INSERT INTO "keelson_guard" SELECT count(*) FROM pragma_foreign_key_check;
DROP TABLE "temp"."keelson_guard";
${recording(file)};
COMMIT;`;
}

/** The record of migrations in a SQLite file. @param adapter a connection; `close` closes it */
async function sqliteLedger(adapter: SqlDriverAdapter): Promise<Ledger> {
  async function records(): Promise<readonly MigrationRecord[]> {
    const found = await runStatement(adapter, "SELECT 1 FROM sqlite_master WHERE name = '_prisma_migrations'");
    if (found.rows.length === 0) return [];
    const { rows } = await runStatement(
      adapter,
      `SELECT "migration_name", "checksum", "finished_at" IS NOT NULL, "rolled_back_at" IS NOT NULL
       FROM "_prisma_migrations" ORDER BY ${STARTED}, "migration_name"`,
    );
    return rows.map(([name, checksum, finished, rolledBack]) => ({
      name: String(name),
      checksum: String(checksum),
      finished: Number(finished) === 1,
      rolledBack: Number(rolledBack) === 1,
    }));
  }

  return {
    records,
    async exclusively(work) {
      // If it were on, recreating a table would delete the rows that refer to it. It cannot be changed in a
      // transaction.
      await runStatement(adapter, "PRAGMA foreign_keys = OFF");
      await whileBusy(() => runStatement(adapter, TABLE));
      return work();
    },
    async apply(file) {
      try {
        await whileBusy(() => adapter.executeScript(wholeScript(file)));
      } catch (error) {
        // Another process may have applied it meanwhile.
        const isIt = ({ name, finished, rolledBack }: MigrationRecord) => name === file.name && finished && !rolledBack;
        if (!(await records()).some(isIt)) throw error;
      }
    },
    record: async (file) => void (await whileBusy(() => runStatement(adapter, recording(file)))),
    async resolve(name, as) {
      const column = as === "applied" ? "finished_at" : "rolled_back_at";
      await runStatement(
        adapter,
        `UPDATE "_prisma_migrations" SET "${column}" = ${NOW}
         WHERE "migration_name" = ${quoted(name)} AND "finished_at" IS NULL AND "rolled_back_at" IS NULL`,
      );
    },
    close: () => adapter.dispose(),
  };
}
