import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { PrismaLibSql } from "@prisma/adapter-libsql";
import { PrismaPg } from "@prisma/adapter-pg";
import * as utils from "@prisma/driver-adapter-utils";
import * as bindings from "@prisma/schema-engine-wasm/schema_engine_bg";
import { describe, expect, it } from "vitest";
import { type SchemaEngine, withSchemaEngine } from "../../../src/drivers/prisma/engine/schema-engine.ts";
import { toPrismaSchema } from "../../../src/drivers/prisma/index.ts";
import { entity, int, string } from "../../../src/entity/index.ts";
import { MIGRATION_PLACES, type MigrationPlace } from "../../support/migration-databases.ts";

// The engine is the one that Prisma's own command uses: what it considers applied, the command does too.

const PACKAGES = {
  "@prisma/schema-engine-wasm/schema_engine_bg": bindings,
  "@prisma/driver-adapter-utils": utils,
} as const;

const first = [entity("user", { name: string }).timestamps(false)];
const second = [entity("user", { name: string, visits: int.default(0) }).timestamps(false)];
const tag = entity("tag", {}).timestamps(false);

/** Queries Prisma's engine about a database. */
async function asPrisma<T>({ target }: MigrationPlace, work: (engine: SchemaEngine) => Promise<T>): Promise<T> {
  const { provider, url } = target;
  const schema = toPrismaSchema(second, { provider });
  const factory = provider === "sqlite" ? new PrismaLibSql({ url }) : new PrismaPg({ connectionString: url });
  const adapter = await factory.connect();
  // The engine leaves its connection open, and with it the lock for applying migrations.
  const connect = async () => Object.create(adapter, { dispose: { value: async () => {} } }) as typeof adapter;
  try {
    const { adapterName } = factory;
    return await withSchemaEngine(
      PACKAGES,
      schema,
      { provider: factory.provider, adapterName, connect, connectToShadowDb: connect },
      work,
    );
  } finally {
    await adapter.dispose();
  }
}

/** The folder as the command reads it. */
async function folderOf({ directory }: MigrationPlace) {
  const names = (await readdir(directory)).filter((name) => !name.endsWith(".toml")).sort();
  const scripts = names.map(async (path) => {
    const value = await readFile(join(directory, path, "migration.sql"), "utf8");
    return { path, migrationFile: { path: "migration.sql", content: { tag: "ok" as const, value } } };
  });
  const lockfile = {
    path: "./migration_lock.toml",
    content: await readFile(join(directory, "migration_lock.toml"), "utf8"),
  };
  return { baseDir: directory, lockfile, shadowDbInitScript: "", migrationDirectories: await Promise.all(scripts) };
}

const filters = { externalTables: [], externalEnums: [] };

async function diagnose(place: MigrationPlace) {
  const migrationsList = await folderOf(place);
  return asPrisma(place, (engine) =>
    engine.diagnoseMigrationHistory({ migrationsList, optInToShadowDatabase: false, filters }),
  );
}

async function applyAsPrisma(place: MigrationPlace): Promise<readonly string[]> {
  const migrationsList = await folderOf(place);
  const { appliedMigrationNames } = await asPrisma(place, (engine) =>
    engine.applyMigrations({ migrationsList, filters }),
  );
  return appliedMigrationNames;
}

const COLUMNS = {
  SQLite: `SELECT name, lower(type) AS type, "notnull", dflt_value, pk FROM pragma_table_info('_prisma_migrations')`,
  PostgreSQL: `SELECT column_name AS name, data_type AS type, character_maximum_length AS length, is_nullable,
    column_default FROM information_schema.columns WHERE table_name = '_prisma_migrations' ORDER BY ordinal_position`,
} as const;

/** The recorded migrations, without values that differ between runs. */
const RECORDS = {
  SQLite: `SELECT length(id) AS id, checksum, migration_name, logs, rolled_back_at, applied_steps_count,
started_at IS NOT NULL AS started, finished_at >= started_at AS finished FROM _prisma_migrations ORDER BY migration_name`,
  PostgreSQL: `SELECT length(id) AS id, checksum, migration_name, logs, rolled_back_at, applied_steps_count,
    abs(extract(epoch FROM started_at - now())) < 600 AS started, finished_at >= started_at AS finished FROM _prisma_migrations ORDER BY migration_name`,
} as const;

describe.each(MIGRATION_PLACES)("the record of migrations of %s", (name, open) => {
  const database = name as keyof typeof COLUMNS;

  it("equals the one that Prisma's engine writes", async () => {
    const [ours, theirs] = [await open(), await open()];
    const migrations = await ours.open(first);
    await migrations.create("first");
    await migrations.deploy();
    const copy: MigrationPlace = { ...theirs, directory: ours.directory };
    expect(await applyAsPrisma(copy)).toHaveLength(1);
    for (const statement of [COLUMNS[database], RECORDS[database]]) {
      const rows = await ours.rows(statement);
      expect(rows.length).toBeGreaterThan(0);
      expect(rows).toEqual(await theirs.rows(statement));
    }
    await Promise.all([ours.drop(), theirs.drop()]);
  });

  it("is shared with Prisma's engine: each continues where the other stopped", async () => {
    const place = await open();
    const migrations = await place.open(first);
    await migrations.create("first");
    await migrations.deploy();
    expect(await diagnose(place)).toMatchObject({
      hasMigrationsTable: true,
      history: null,
      editedMigrationNames: [],
      failedMigrationNames: [],
    });
    const later = await place.open(second);
    await later.create("second");
    const { applied, pending } = await later.status();
    expect(await diagnose(place)).toMatchObject({
      history: { diagnostic: "databaseIsBehind", unappliedMigrationNames: pending },
    });
    expect(await applyAsPrisma(place)).toEqual(pending);
    expect(await later.deploy()).toEqual({ applied: [] });
    const last = await place.open([...second, tag]);
    await last.create("third");
    const third = (await last.deploy()).applied;
    expect(await last.status()).toEqual({
      applied: [...applied, ...pending, ...third],
      pending: [],
      failed: [],
      missing: [],
      drift: [],
    });
    expect(await diagnose(place)).toMatchObject({ history: null, editedMigrationNames: [] });
    expect(await applyAsPrisma(place)).toEqual([]);
    await place.drop();
  });

  it("shows a migration that Prisma's engine left half applied, and its resolution", async () => {
    const place = await open();
    const migrations = await place.open(first);
    await migrations.create("first");
    await migrations.deploy();
    const later = await place.open([...first, tag]);
    const created = await later.create("tags");
    const folder = created?.directory.split("/").at(-1) as string;
    await place.rows('CREATE TABLE "tag" ("id" TEXT)');
    await expect(applyAsPrisma(place)).rejects.toThrow();
    expect((await later.status()).failed).toEqual([folder]);
    await later.resolve(folder, "rolled-back");
    expect(await diagnose(place)).toMatchObject({ failedMigrationNames: [] });
    await place.rows('DROP TABLE "tag"');
    expect(await applyAsPrisma(place)).toEqual([folder]);
    expect(await later.status()).toMatchObject({ failed: [], pending: [], drift: [] });
    await place.drop();
  });
});
