import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { embedded, postgres } from "keelson";
import { Client } from "pg";
import type { FinalRow } from "./journal.ts";
import { prepareSoak } from "./soak-api.ts";

export type DatabaseKind = "postgres" | "embedded";

/** What is in the tables. */
export interface FinalState {
  readonly rows: readonly FinalRow[];
  readonly counters: ReadonlyMap<string, number>;
}

/** A database of a soak's own, with tables and the first records. */
export interface SoakDatabase {
  /** What the server's process is told. */
  readonly address: string;
  readonly version: string;
  read(): Promise<FinalState>;
  /** Connections that others have open, and how many of them are idle in a transaction; absent where there are none. */
  connections?(): Promise<{ readonly open: number; readonly inTransaction: number }>;
  drop(): Promise<void>;
}

const ROWS = 'SELECT id, title, size, done, version FROM "note"';
const CHANGES = 'SELECT id, changes FROM "counter"';

type Row = Readonly<Record<string, unknown>>;

function stateOf(rows: readonly Row[], counters: readonly Row[]): FinalState {
  return {
    rows: rows.map((row) => ({ ...row, done: Boolean(row.done) }) as unknown as FinalRow),
    counters: new Map(counters.map(({ id, changes }) => [id as string, changes as number])),
  };
}

async function openPostgres(): Promise<SoakDatabase> {
  const server = new URL(process.env.DATABASE_URL || "postgres://root@127.0.0.1:5432/postgres");
  const name = `keelson_soak_${process.pid}`;
  const admin = new Client({ connectionString: server.href });
  await admin.connect();
  await admin.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
  await admin.query(`CREATE DATABASE ${name}`);
  const { rows } = await admin.query<{ server_version: string }>("SHOW server_version");
  const url = new URL(server.href);
  url.pathname = `/${name}`;
  await prepareSoak(postgres(url.href));
  return {
    address: url.href,
    version: `PostgreSQL ${rows[0]?.server_version.split(" ")[0]}`,
    async read() {
      const client = new Client({ connectionString: url.href });
      await client.connect();
      const notes = await client.query<Row>(ROWS);
      const counters = await client.query<Row>(CHANGES);
      await client.end();
      return stateOf(notes.rows, counters.rows);
    },
    async connections() {
      const others = await admin.query<{ state: string }>(
        "SELECT state FROM pg_stat_activity WHERE datname = $1 AND backend_type = 'client backend'",
        [name],
      );
      const inTransaction = others.rows.filter(({ state }) => state.startsWith("idle in transaction")).length;
      return { open: others.rows.length, inTransaction };
    },
    async drop() {
      await admin.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
      await admin.end();
    },
  };
}

async function openEmbedded(): Promise<SoakDatabase> {
  const folder = await mkdtemp(join(tmpdir(), "keelson-soak-"));
  const file = join(folder, "app.db");
  await prepareSoak(embedded({ file }));
  const { createClient } = await import("@libsql/client");
  async function ask(statements: readonly string[]): Promise<readonly (readonly Row[])[]> {
    const client = createClient({ url: `file:${file}` });
    const answers: (readonly Row[])[] = [];
    for (const statement of statements) answers.push((await client.execute(statement)).rows as unknown as Row[]);
    client.close();
    return answers;
  }
  const [[found] = []] = await ask(["SELECT sqlite_version() AS version"]);
  return {
    address: file,
    version: `SQLite ${found?.version}`,
    async read() {
      const [notes = [], counters = []] = await ask([ROWS, CHANGES]);
      return stateOf(notes, counters);
    },
    drop: () => rm(folder, { recursive: true, force: true }),
  };
}

/** Makes one, and fills it. */
export const openSoakDatabase = (kind: DatabaseKind): Promise<SoakDatabase> =>
  kind === "postgres" ? openPostgres() : openEmbedded();
