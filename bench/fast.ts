// What each special case for speed of the SQL executor gains: the same work with it and without it, in turns, in one process.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "pg";
import { openEmbedded } from "../src/drivers/prisma/embedded/embedded.ts";
import { openPostgres } from "../src/drivers/prisma/embedded/postgres.ts";
import { ALL_FAST, type Fast } from "../src/drivers/sql/index.ts";
import type { Driver } from "../src/gate/index.ts";
import { cpuOf } from "./cores.ts";
import { benchDatabaseUrl, databaseIsLocal } from "./database.ts";
import { type App, fill, startApp, WORKLOADS, type Workload } from "./fast-app.ts";
import { median } from "./statistics.ts";

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 9);
const AT_ONCE = 32;
const DATABASE = "keelson_bench_fast";

/** Where each of them could matter; those that are about `pg` have nothing to do on SQLite. */
const MATTERS: Readonly<Record<keyof Fast, readonly (keyof typeof WORKLOADS)[]>> = {
  sharedReads: ["get"],
  sharedWrites: ["create", "update"],
  joins: ["include"],
  keptStatements: ["get", "list", "update"],
  preparedNames: ["get", "list", "total", "update"],
  poolQueries: ["get", "list", "moments", "update"],
  poolTransactions: ["transaction"],
  describedOnce: ["get", "list", "total", "update"],
  textMoments: ["moments", "list"],
  momentsByDigits: ["rows", "update"],
};
const ON_SQLITE = new Set<keyof Fast>(["sharedReads", "joins", "keptStatements", "textMoments", "momentsByDigits"]);

/** A database with the tables of the app. */
interface Place {
  readonly name: string;
  readonly measures: (one: keyof Fast) => boolean;
  open(fast: Fast): Driver;
  /** Process ids of the server that work for this process alone. */
  backends(): Promise<readonly number[]>;
  drop(): Promise<void>;
}

async function inPostgres(database: string, ...sql: readonly string[]): Promise<Record<string, unknown>[]> {
  const url = new URL(benchDatabaseUrl());
  url.pathname = `/${database}`;
  const client = new Client({ connectionString: url.href });
  await client.connect();
  try {
    let rows: Record<string, unknown>[] = [];
    for (const statement of sql) ({ rows } = await client.query(statement));
    return rows;
  } finally {
    await client.end();
  }
}

async function onPostgres(): Promise<Place> {
  await inPostgres(
    "postgres",
    `DROP DATABASE IF EXISTS ${DATABASE} WITH (FORCE)`,
    `CREATE DATABASE ${DATABASE}`,
    `ALTER DATABASE ${DATABASE} SET synchronous_commit = off`,
    `ALTER DATABASE ${DATABASE} SET jit = off`,
  );
  const url = new URL(benchDatabaseUrl());
  url.pathname = `/${DATABASE}`;
  const ours = `SELECT pid FROM pg_stat_activity WHERE datname = '${DATABASE}' AND pid <> pg_backend_pid()`;
  return {
    name: "PostgreSQL",
    measures: () => true,
    open: (fast) => openPostgres(url.href, {}, fast),
    backends: async () => (databaseIsLocal() ? (await inPostgres(DATABASE, ours)).map(({ pid }) => Number(pid)) : []),
    drop: async () => void (await inPostgres("postgres", `DROP DATABASE IF EXISTS ${DATABASE} WITH (FORCE)`)),
  };
}

async function onSqlite(): Promise<Place> {
  const folder = await mkdtemp(join(tmpdir(), "keelson-bench-fast-"));
  return {
    name: "SQLite",
    measures: (one) => ON_SQLITE.has(one),
    open: (fast) => openEmbedded({ file: join(folder, "app.db") }, fast),
    backends: async () => [],
    drop: () => rm(folder, { recursive: true, force: true }),
  };
}

/** Milliseconds of CPU: of this process, and of it and the server. */
interface Cost {
  readonly own: number;
  readonly all: number;
}

async function costOf({ requests, ask }: Workload, app: App, place: Place): Promise<Cost> {
  const pids = await place.backends();
  const sumOf = (): number => [...cpuOf(pids).values()].reduce((sum, us) => sum + us / 1_000, 0);
  let turn = 0;
  const asker = async (): Promise<void> => {
    while (turn < requests) await ask(app, turn++);
  };
  const server = sumOf();
  const before = process.cpuUsage();
  await Promise.all(Array.from({ length: AT_ONCE }, asker));
  const { user, system } = process.cpuUsage(before);
  const own = (user + system) / 1_000;
  return { own, all: own + sumOf() - server };
}

function range(ratios: readonly number[]): string {
  return `${median(ratios).toFixed(2)} (${Math.min(...ratios).toFixed(2)}–${Math.max(...ratios).toFixed(2)})`;
}

/** With and without take turns, and each begins every other round; a ratio is that of one round. */
async function compare(place: Place, one: keyof Fast, workload: keyof typeof WORKLOADS): Promise<void> {
  const apps: App[] = [];
  for (const on of [true, false]) apps.push(await startApp(place.open({ ...ALL_FAST, [one]: on }), true));
  const costs: Cost[][] = [[], []];
  try {
    for (const app of apps) await costOf(WORKLOADS[workload], app, place);
    for (let round = 0; round < ROUNDS; round++)
      for (const index of round % 2 === 0 ? [0, 1] : [1, 0])
        costs[index]?.push(await costOf(WORKLOADS[workload], apps[index] as App, place));
  } finally {
    for (const app of apps) await app.close();
  }
  const [on, off] = costs as [Cost[], Cost[]];
  const own = range(off.map((cost, round) => cost.own / (on[round] as Cost).own));
  const all = range(off.map((cost, round) => cost.all / (on[round] as Cost).all));
  process.stdout.write(`| ${one} | ${workload} | ${place.name} | ${own} | ${place.name === "SQLite" ? "" : all} |\n`);
}

const wanted = process.argv.slice(2);
process.stdout.write(
  "| switched off | workload | database | CPU of this process, × | with the server's, × |\n|---|---|---|---|---|\n",
);
for (const openPlace of [onPostgres, onSqlite]) {
  const place = await openPlace();
  try {
    const first = await startApp(place.open(ALL_FAST), false);
    await fill(first.driver);
    await first.close();
    for (const [one, workloads] of Object.entries(MATTERS) as [keyof Fast, (typeof MATTERS)[keyof Fast]][])
      if (place.measures(one) && (wanted.length === 0 || wanted.includes(one)))
        for (const workload of workloads) await compare(place, one, workload);
  } finally {
    await place.drop();
  }
}
