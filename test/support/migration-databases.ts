import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createClient } from "@libsql/client";
import pg from "pg";
import { type Migrations, openMigrations } from "../../src/drivers/prisma/index.ts";
import type { EntityLike } from "../../src/entity/index.ts";
import { freshPostgres, freshSqliteFile } from "./databases.ts";

type Row = Readonly<Record<string, unknown>>;
type Target = Parameters<typeof openMigrations>[0]["target"];

/** An empty database with an empty migrations folder, and direct queries. */
export interface MigrationPlace {
  readonly target: Target;
  readonly directory: string;
  open(entities: readonly unknown[]): Promise<Migrations>;
  rows(statement: string): Promise<Row[]>;
  drop(): Promise<void>;
}

async function placeOf(
  target: Target,
  rows: MigrationPlace["rows"],
  drop: () => Promise<void>,
): Promise<MigrationPlace> {
  const folder = await mkdtemp(join(tmpdir(), "keelson-migrations-"));
  const directory = join(folder, "migrations");
  return {
    target,
    directory,
    open: (entities) => openMigrations({ entities: entities as readonly EntityLike[], target, directory }),
    rows,
    drop: () => Promise.all([drop(), rm(folder, { recursive: true })]).then(() => undefined),
  };
}

/** A SQLite file. */
export async function openSqlitePlace(): Promise<MigrationPlace> {
  const { file, remove } = await freshSqliteFile();
  const rows: MigrationPlace["rows"] = async (statement) => {
    const client = createClient({ url: `file:${file}` });
    try {
      return (await client.execute(statement)).rows.map((row) => ({ ...row }));
    } finally {
      client.close();
    }
  };
  return placeOf({ provider: "sqlite", url: `file:${file}` }, rows, remove);
}

/** On PostgreSQL. */
export async function openPostgresPlace(): Promise<MigrationPlace> {
  const { url, drop } = await freshPostgres();
  const rows: MigrationPlace["rows"] = async (statement) => {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    try {
      return (await client.query<Row>(statement)).rows;
    } finally {
      await client.end();
    }
  };
  return placeOf({ provider: "postgresql", url }, rows, drop);
}

/** For `describe.each`: SQLite and PostgreSQL, each with a function that opens an empty database. */
export const MIGRATION_PLACES: readonly (readonly [string, () => Promise<MigrationPlace>])[] = [
  ["SQLite", openSqlitePlace],
  ["PostgreSQL", openPostgresPlace],
];
