import { randomUUID } from "node:crypto";
import type { EntityModel } from "../../../entity/index.ts";
import { ConfigurationError } from "../../../entity/index.ts";
import { loadPeers } from "../engine/load-peers.ts";
import { postgresTables } from "../engine/postgres-tables.ts";
import { ENGINE_PACKAGES } from "../engine/schema-engine.ts";
import { schemaOf } from "../engine/schema-of.ts";
import type { Tables } from "../engine/tables.ts";
import type { MigrationDatabase, Scratch } from "./migration-database.ts";
import { postgresLedger } from "./postgres-ledger.ts";

const PACKAGES = {
  ...ENGINE_PACKAGES,
  "@prisma/adapter-pg": () => import("@prisma/adapter-pg"),
  pg: () => import("pg"),
} as const;

const CONNECTION = { connectionTimeoutMillis: 5_000 };
/** SQLSTATE of a missing right. */
const NOT_ALLOWED = "42501";

/** Migrations of PostgreSQL. */
export async function postgresDatabase(url: string, model: EntityModel): Promise<MigrationDatabase> {
  const packages = await loadPeers("migrations of PostgreSQL", PACKAGES);
  const { PrismaPg } = packages["@prisma/adapter-pg"];
  const { Client, Pool } = packages.pg.default;

  function openTables(connectionString: string, schema: string) {
    const pool = new Pool({ ...CONNECTION, connectionString, max: 1, idleTimeoutMillis: 0 });
    return postgresTables(pool, (own) => new PrismaPg(own, { schema }), schema, model);
  }

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
    own.searchParams.delete("schema"); // scripts name no schema, and this database has no other
    const drop = (): Promise<void> => ask(`DROP DATABASE IF EXISTS "${name}" WITH (FORCE)`);
    try {
      const tables = await openTables(own.href, "public");
      const close = (): Promise<void> => tables.close().then(drop);
      // The scratch database has only the tables that migrations made, so none are foreign.
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
