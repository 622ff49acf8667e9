import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { ConfigurationError } from "../../../entity/index.ts";
import { loadPeers } from "../embedded/load-peers.ts";
import { ENGINE_PACKAGES } from "../embedded/schema-engine.ts";
import { sqliteTables } from "../embedded/sqlite-tables.ts";
import type { MigrationDatabase, Scratch } from "./migration-database.ts";
import { sqliteLedger } from "./sqlite-ledger.ts";

const PACKAGES = {
  ...ENGINE_PACKAGES,
  "@prisma/adapter-libsql": () => import("@prisma/adapter-libsql"),
} as const;

/** The file of `file:./app.db` and `file:///data/app.db`; relative to the working directory. */
function fileOf(url: string): string {
  if (!url.startsWith("file:")) throw new ConfigurationError('the url of a SQLite database begins with "file:"');
  return url.startsWith("file://") ? fileURLToPath(url) : resolve(url.slice("file:".length));
}

/** Migrations of a SQLite file. */
export async function sqliteDatabase(url: string): Promise<MigrationDatabase> {
  const path = fileOf(url);
  const packages = await loadPeers("migrations of SQLite", PACKAGES);
  const { PrismaLibSql } = packages["@prisma/adapter-libsql"];
  const factoryOf = (file: string) => new PrismaLibSql({ url: pathToFileURL(file).href });

  async function openScratch(): Promise<Scratch> {
    const folder = await mkdtemp(join(tmpdir(), "keelson-scratch-"));
    const factory = factoryOf(join(folder, "scratch.db"));
    const adapter = await factory.connect();
    const tables = sqliteTables(factory);
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
    openTables: async () => sqliteTables(factoryOf(path)),
    openScratch,
    openLedger: async () => sqliteLedger(await factoryOf(path).connect()),
  };
}
