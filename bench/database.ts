import { Client } from "pg";
import { bulkSize, createTables } from "./model.ts";
import { ownTables } from "./own-tables.ts";
import { seedInvoices, seedPosts, seedUsers, userId } from "./seed.ts";
import type { WorkloadId } from "./workloads.ts";

const databaseName = process.env.BENCH_DATABASE || "keelson_bench";

/** Connections every contender may open. */
export const poolSize = 10;

/** The server to use: `DATABASE_URL`, or the local one. The name of the database in it is only used to connect and create ours. */
const serverUrl = (): URL => new URL(process.env.DATABASE_URL || "postgres://root@127.0.0.1:5432/postgres");

function urlOf(database: string): string {
  const url = serverUrl();
  url.pathname = `/${database}`;
  return url.href;
}

/** The benchmark's own database on that server. */
export const benchDatabaseUrl = (): string => urlOf(databaseName);

/** Runs statements in a database of that server. @returns the rows of the last one */
export async function askDatabase(name: string, ...statements: string[]): Promise<unknown[]> {
  const client = new Client({ connectionString: urlOf(name) });
  await client.connect();
  try {
    let rows: unknown[] = [];
    for (const statement of statements) ({ rows } = await client.query(statement));
    return rows;
  } finally {
    await client.end();
  }
}

/** Creates a database, in place of one of this name. @returns its address */
export async function freshDatabase(name: string): Promise<string> {
  await dropDatabase(name);
  await askDatabase("postgres", `CREATE DATABASE ${name}`, `ALTER DATABASE ${name} SET synchronous_commit = off`);
  return urlOf(name);
}

export async function dropDatabase(name: string): Promise<void> {
  await askDatabase("postgres", `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
}

/** Whether the server runs on this machine, so that its processes can be measured and pinned. */
export const databaseIsLocal = (): boolean => ["127.0.0.1", "localhost", "[::1]"].includes(serverUrl().hostname);

async function createDatabase(): Promise<void> {
  const url = serverUrl();
  if (url.pathname === "" || url.pathname === "/") url.pathname = "/postgres";
  const admin = new Client({ connectionString: url.href });
  await admin.connect();
  try {
    const found = await admin.query("SELECT 1 FROM pg_database WHERE datname = $1", [databaseName]);
    if (found.rowCount === 0) await admin.query(`CREATE DATABASE ${databaseName}`);
    // Writes should show the software and not the disk; JIT would compile the list query on some plans and not on others.
    await admin.query(`ALTER DATABASE ${databaseName} SET synchronous_commit = off`);
    await admin.query(`ALTER DATABASE ${databaseName} SET jit = off`);
  } finally {
    await admin.end();
  }
}

/** The runner's own connection: fills the tables, restores them between workloads, names the backends. */
export interface BenchDatabase {
  /** Version of the server, such as `15.4`. */
  readonly version: string;
  /**
   * Puts the posts back to the 20,000 seeded ones, vacuumed and analysed.
   * @param contender whose own tables are put back, too, if it has any
   * @param workload for `bulk`, user 0 has posts 0 to 99, user 1 has posts 100 to 199, and so on: nobody has 100 otherwise
   */
  restore(contender: string, workload?: WorkloadId): Promise<void>;
  /** Process ids of the connections that the contenders hold. */
  backends(): Promise<number[]>;
  close(): Promise<void>;
}

// Ids end in twelve digits, the index of the record.
const postsInHundreds = `SELECT "id", "title", "body", "published", "views",
  left('${userId(0)}', -12) || lpad((right("id", 12)::int / ${bulkSize})::text, 12, '0'), "createdAt", "updatedAt"
  FROM "post_seed"`;

/** Creates and fills the benchmark's database; existing tables of an earlier run are replaced. */
export async function openDatabase(): Promise<BenchDatabase> {
  await createDatabase();
  const client = new Client({ connectionString: benchDatabaseUrl() });
  await client.connect();
  const version = String((await client.query("SHOW server_version")).rows[0].server_version).split(" ")[0] as string;

  await client.query(`DROP TABLE IF EXISTS "post_seed", "post", "user", "invoice"`);
  await client.query(createTables);
  // Autovacuum would start in the middle of somebody's measurement; restore() does its work at known moments.
  await client.query(`ALTER TABLE "post" SET (autovacuum_enabled = false)`);
  await client.query(`CREATE UNLOGGED TABLE "post_seed" (LIKE "post")`);
  await client.query(`INSERT INTO "user" SELECT * FROM json_populate_recordset(null::"user", $1)`, [
    JSON.stringify(seedUsers()),
  ]);
  await client.query(`INSERT INTO "post_seed" SELECT * FROM json_populate_recordset(null::"post_seed", $1)`, [
    JSON.stringify(seedPosts()),
  ]);
  await client.query(`INSERT INTO "invoice" SELECT * FROM json_populate_recordset(null::"invoice", $1)`, [
    JSON.stringify(seedInvoices()),
  ]);
  await client.query(`VACUUM (ANALYZE) "user", "invoice"`);

  const restore = async (contender: string, workload?: WorkloadId): Promise<void> => {
    const rows = workload === "bulk" ? postsInHundreds : `SELECT * FROM "post_seed"`;
    await client.query(`BEGIN; TRUNCATE "post"; INSERT INTO "post" ${rows}; COMMIT`);
    await client.query(`VACUUM (ANALYZE) "post"`);
    const own = ownTables[contender];
    if (!own) return;
    await client.query(`BEGIN; TRUNCATE ${own.changing}; ${own.fill}; COMMIT`);
    await client.query(`VACUUM (ANALYZE) ${own.changing}`);
  };
  for (const [contender, { create }] of Object.entries(ownTables)) {
    await client.query(create);
    await restore(contender);
  }

  return {
    version,
    restore,
    async backends() {
      const { rows } = await client.query<{ pid: number }>(
        "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND backend_type = 'client backend' AND pid <> pg_backend_pid()",
      );
      return rows.map((row) => row.pid);
    },
    close: () => client.end(),
  };
}
