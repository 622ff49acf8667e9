// What `audit()` costs: the same writes to three apps on PostgreSQL, without it, with it, and with an `onChange` listener that does nothing.
import {
  bulkUpdateAction,
  createPlugin,
  entity,
  int,
  keelson,
  noopLogger,
  type Plugin,
  postgres,
  string,
} from "../src/index.ts";
import { audit } from "../src/plugins/audit/index.ts";
import { askDatabase, dropDatabase, freshDatabase } from "./database.ts";
import { compareInTurns, type Workloads } from "./take-turns.ts";

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 9);
const REQUESTS = Number(process.env.BENCH_REQUESTS ?? 1_000);
const ROWS = 10_000;
const DATABASE = "keelson_bench_audit";

const rules = { create: ["everyone"], read: ["everyone"], update: ["everyone"], delete: ["everyone"] };
const post = entity("post", { title: string, body: string, views: int })
  .rules(rules)
  .actions({ bulkUpdate: bulkUpdateAction });

const listening = createPlugin({
  id: "listening",
  setup({ records }) {
    records.onChange(() => {});
  },
});

const PLUGINS: Readonly<Record<string, readonly Plugin[]>> = {
  "without audit()": [],
  "with audit()": [audit()],
  "with an empty listener": [listening],
};

type App = Pick<ReturnType<typeof keelson>, "handle" | "ready" | "close">;

const headers = { "content-type": "application/json" };
const bodyOf = (value: unknown) => ({ kind: "bytes", bytes: Buffer.from(JSON.stringify(value)) }) as const;
const row = (turn: number) => ({ title: `new ${turn}`, body: "some text of some words", views: turn % 1_000 });
const idOf = (turn: number): string => `p${((turn * 7_919) % ROWS) + 1}`;
const hundred = (turn: number) => Array.from({ length: 100 }, (_, index) => idOf(turn * 100 + index));

const WORKLOADS: Workloads<App> = {
  create: (app, turn) => app.handle({ method: "POST", url: "/api/posts", headers, body: bodyOf(row(turn)) }),
  update: (app, turn) =>
    app.handle({ method: "PUT", url: `/api/posts/${idOf(turn)}`, headers, body: bodyOf({ views: turn % 997 }) }),
  "bulk of 100 at every 20th turn": (app, turn) =>
    turn % 20 > 0
      ? Promise.resolve({ status: 200, body: "" })
      : app.handle({
          method: "POST",
          url: "/api/posts/bulk-update",
          headers,
          body: bodyOf({ ids: hundred(turn), data: { views: turn } }),
        }),
};

async function open(name: string, plugins: readonly Plugin[], index: number): Promise<readonly [string, App]> {
  const database = `${DATABASE}_${index}`;
  const url = await freshDatabase(database);
  const app = keelson({ entities: [post], driver: postgres(url), plugins, logger: noopLogger });
  await app.ready;
  await askDatabase(
    database,
    `INSERT INTO post (id, title, body, views, "updatedAt") SELECT 'p' || n, 'post ' || n, 'text', n % 1000, now() FROM generate_series(1, ${ROWS}) n`,
    "VACUUM ANALYZE post",
  );
  return [name, app];
}

const apps = await Promise.all(Object.entries(PLUGINS).map(([name, plugins], index) => open(name, plugins, index)));
try {
  await compareInTurns("audit", apps, WORKLOADS, { rounds: ROUNDS, requests: REQUESTS });
} finally {
  for (const [index, [, app]] of apps.entries()) {
    await app.close();
    await dropDatabase(`${DATABASE}_${index}`);
  }
}
