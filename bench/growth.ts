// What a request costs as an app grows: with more entities, on records in memory, with more rows, in PostgreSQL, with more open
// connections and with more processes. Arguments choose some of it: `entities rows connections processes`.
import * as keelsonDoor from "../src/index.ts";
import { askDatabase, benchDatabaseUrl, dropDatabase, freshDatabase } from "./database.ts";
import { compareConnections, compareProcesses } from "./growth-servers.ts";
import { manyEntities } from "./start-up/many-entities.ts";
import { compareInTurns, type Workloads } from "./take-turns.ts";

const { keelson, memoryDriver, noopLogger, postgres } = keelsonDoor;

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 7);
const REQUESTS = Number(process.env.BENCH_REQUESTS ?? 1_500);
const ENTITIES = [1, 10, 100, 300];
const MOST_ROWS = Number(process.env.BENCH_ROWS ?? 1_000_000);
const ROWS = [1_000, 10_000, 100_000, 1_000_000, 10_000_000].filter((rows) => rows <= MOST_ROWS);
const DATABASE = "keelson_bench_growth";

type App = Pick<ReturnType<typeof keelson>, "handle" | "ready" | "close">;

/** An app of some size, and how many rows it finds. */
interface Contender {
  readonly size: number;
  readonly rows: number;
  readonly app: App;
}

const idOf = (index: number): string => `row${String(index).padStart(8, "0")}`;
// Far from each other, as those of many visitors are.
const somewhere = (turn: number, rows: number): number => (turn * 7_919) % rows;
const headers = { "content-type": "application/json" };
const created = Buffer.from(JSON.stringify({ title: "a new one", views: 5 }));

const WORKLOADS: Workloads<Contender> = {
  get: ({ app, rows }, turn) =>
    app.handle({ method: "GET", url: `/api/item0s/${idOf(somewhere(turn, rows))}`, headers: {} }),
  // By key and without a total, which would be the database's work, and grow.
  list: ({ app, rows }, turn) =>
    app.handle({
      method: "GET",
      url: `/api/item0s?id_gte=${idOf(somewhere(turn, rows - 20))}&_sort=id&_total=none&_start=0&_end=20`,
      headers: {},
    }),
  create: ({ app }) =>
    app.handle({ method: "POST", url: "/api/item0s", headers, body: { kind: "bytes", bytes: created } }),
};

async function compare(title: string, contenders: readonly Contender[], requests: number): Promise<void> {
  const named = contenders.map((one) => [one.size.toLocaleString("en"), one] as const);
  await compareInTurns(title, named, WORKLOADS, { rounds: ROUNDS, requests });
}

const SEED_ROWS = 1_000;

async function inMemory(count: number): Promise<Contender> {
  const item0 = Array.from({ length: SEED_ROWS }, (_, index) => ({
    id: idOf(index),
    title: `title ${index}`,
    views: index % 100,
    open: true,
    status: "draft",
    createdAt: new Date(),
    updatedAt: new Date(),
  }));
  const driver = memoryDriver({ item0 });
  const app = keelson({ entities: manyEntities(keelsonDoor, count), driver, logger: noopLogger, production: true });
  await app.ready;
  return { size: count, rows: SEED_ROWS, app };
}

async function withRows(rows: number): Promise<Contender> {
  const url = new URL(benchDatabaseUrl());
  url.pathname = `/${DATABASE}`;
  url.searchParams.set("schema", `of${rows}`);
  const app = keelson({
    entities: manyEntities(keelsonDoor, 1),
    driver: postgres(url.href),
    logger: noopLogger,
    production: false,
  });
  await app.ready;
  await askDatabase(
    DATABASE,
    `INSERT INTO of${rows}.item0 (id, title, views, open, status, "createdAt", "updatedAt")
     SELECT 'row' || lpad(n::text, 8, '0'), 'title ' || n, n % 100, true, 'draft', now(), now()
     FROM generate_series(0, ${rows - 1}) n`,
    `VACUUM ANALYZE of${rows}.item0`,
  );
  return { size: rows, rows, app };
}

async function compareEntities(): Promise<void> {
  const apps: Contender[] = [];
  for (const count of ENTITIES) apps.push(await inMemory(count));
  await compare("entities", apps, 2 * REQUESTS);
  for (const { app } of apps) await app.close();
}

async function compareRows(): Promise<void> {
  await freshDatabase(DATABASE);
  const databases: Contender[] = [];
  try {
    for (const rows of ROWS) databases.push(await withRows(rows));
    await compare("rows in PostgreSQL", databases, REQUESTS);
  } finally {
    for (const { app } of databases) await app.close();
    await dropDatabase(DATABASE);
  }
}

const PARTS: Readonly<Record<string, () => Promise<void>>> = {
  entities: compareEntities,
  rows: compareRows,
  connections: () => compareConnections({ rounds: ROUNDS, requests: REQUESTS }),
  processes: () => compareProcesses({ rounds: ROUNDS, requests: REQUESTS }),
};

const asked = process.argv.slice(2);
for (const name of asked.length === 0 ? Object.keys(PARTS) : asked) {
  const part = PARTS[name];
  if (part === undefined) throw new Error(`unknown part "${name}"; there are ${Object.keys(PARTS).join(", ")}`);
  await part();
}
