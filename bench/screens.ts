// What real screens cost: the last comments of each post, a report by month, an order with its lines, a batch. Keelson and Hono
// with Prisma by hand, in this process, on one PostgreSQL: CPU of the process and round trips to the database per request.
import { PrismaPg } from "@prisma/adapter-pg";
import { Hono } from "hono";
import { Client } from "pg";
import { v7 } from "uuid";
import { z } from "zod";
import {
  belongsTo,
  datetime,
  decimal,
  entity,
  hasMany,
  int,
  keelson,
  noopLogger,
  postgres,
  string,
} from "../src/index.ts";
import { generatedClient } from "../test/support/generate-client.ts";
import { benchDatabaseUrl } from "./database.ts";
import { median } from "./statistics.ts";

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 5);
const ROWS = Number(process.env.BENCH_ROWS ?? 1_000_000);
const AT_ONCE = 8;
/** Unmeasured runs before the first round, in which the code is compiled. */
const WARM_UP = 4;
const DATABASE = "keelson_bench_screens";

const open = { read: ["everyone"], create: ["everyone"], update: ["everyone"] };
const post = entity("post", { title: string, comments: hasMany(() => comment) }).rules(open);
const comment = entity("comment", { text: string, post: belongsTo(() => post) })
  .index(["postId", "createdAt"])
  .rules(open);
const order = entity("order", {
  number: string,
  total: decimal(12, 2).default("0"),
  placedAt: datetime,
  lines: hasMany(() => line),
}).rules(open);
const line = entity("line", { sku: string, quantity: int.min(1), order: belongsTo(() => order) }).rules(open);
const ENTITIES = [post, comment, order, line] as const;

const FILL = `
  INSERT INTO post (id, title) SELECT 'p' || i, 'post ' || i FROM generate_series(1, 2000) i;
  INSERT INTO comment (id, text, "postId", "createdAt")
    SELECT 'c' || i, 'comment ' || i, 'p' || (i % 2000 + 1), now() - i * interval '1 second' FROM generate_series(1, 100000) i;
  INSERT INTO "order" (id, number, total, "placedAt")
    SELECT 'o' || i, i::text, (i % 10000) / 100.0, '2024-01-01'::timestamp + (i % 730) * interval '1 day' FROM generate_series(1, ${ROWS}) i;
  INSERT INTO line (id, sku, quantity, "orderId") SELECT 'l' || i, 'sku', 1, 'o' || i FROM generate_series(1, 10000) i;
  ANALYZE`;

type Answer = (request: Request) => Response | Promise<Response>;

interface Screen {
  readonly requests: number;
  /** The request to Keelson, and to the API by hand. */
  readonly of: (turn: number) => {
    readonly method: string;
    readonly keelson: string;
    readonly hand: string;
    readonly body?: unknown;
  };
}

const lines = Array.from({ length: 10 }, (_, place) => ({ sku: `sku ${place}`, quantity: place + 1 }));
const include = encodeURIComponent(JSON.stringify({ comments: { sort: "-createdAt", limit: 3 } }));
const SCREENS: Readonly<Record<string, Screen>> = {
  "posts with their last three comments": {
    requests: 800,
    of: (turn) => ({
      method: "GET",
      keelson: `/api/posts?_sort=id&_start=${(turn * 20) % 1_900}&_limit=20&_total=none&include=${include}`,
      hand: `/posts?skip=${(turn * 20) % 1_900}`,
    }),
  },
  "a report by month": {
    requests: 20,
    of: () => ({
      method: "GET",
      keelson: "/api/orders/aggregate?group=month(placedAt)&count&sum=total&_zone=Europe/Berlin",
      hand: "/report",
    }),
  },
  "an order with ten lines": {
    requests: 400,
    of: (turn) => {
      const data = { number: `n${turn}`, placedAt: "2026-01-01T00:00:00.000Z" };
      return { method: "POST", keelson: "/api/orders", hand: "/orders", body: { ...data, lines: { create: lines } } };
    },
  },
  "a batch of ten changes": {
    requests: 400,
    of: (turn) => {
      const items = lines.map((_, place) => ({
        method: "PATCH",
        path: `/lines/l${((turn * 10 + place) % 10_000) + 1}`,
        body: { quantity: (turn % 50) + 1 },
      }));
      return { method: "POST", keelson: "/api/batch", hand: "/batch", body: items };
    },
  },
};

// biome-ignore lint/suspicious/noExplicitAny: a generated client has types of its own
function byHand(prisma: any): Answer {
  const app = new Hono();
  const newLine = z.object({ sku: z.string().max(255), quantity: z.int().min(1) });
  const newOrder = z.object({
    number: z.string().max(255),
    placedAt: z.iso.datetime(),
    lines: z.object({ create: z.array(newLine) }),
  });
  const change = z.object({ path: z.string(), body: newLine.partial() });
  const last = { take: 3, orderBy: [{ createdAt: "desc" }, { id: "asc" }] };
  app.get("/posts", async (c) =>
    c.json(
      await prisma.post.findMany({
        skip: Number(c.req.query("skip")),
        take: 20,
        orderBy: { id: "asc" },
        include: { comments: last },
      }),
    ),
  );
  app.get("/report", async (c) =>
    c.json(
      await prisma.$queryRaw`SELECT to_char(date_trunc('month', "placedAt" AT TIME ZONE 'UTC' AT TIME ZONE 'Europe/Berlin'), 'YYYY-MM-DD') AS month,
        count(*)::int AS count, sum(total)::text AS total FROM "order" GROUP BY 1 ORDER BY 1`,
    ),
  );
  app.post("/orders", async (c) => {
    const { lines: nested, ...given } = newOrder.parse(await c.req.json());
    const create = nested.create.map((one) => ({ id: v7(), ...one }));
    return c.json(await prisma.order.create({ data: { id: v7(), ...given, lines: { create } } }), 201);
  });
  app.post("/batch", async (c) => {
    const items = z.array(change).parse(await c.req.json());
    const updates = items.map(({ path, body }) => prisma.line.update({ where: { id: path.slice(7) }, data: body }));
    return c.json(await prisma.$transaction(updates));
  });
  return (request) => app.fetch(request);
}

function requestOf({ of }: Screen, who: "keelson" | "hand", turn: number): Request {
  const { method, body, ...paths } = of(turn);
  const sent =
    body === undefined ? {} : { body: JSON.stringify(body), headers: { "content-type": "application/json" } };
  return new Request(`http://localhost${paths[who]}`, { method, ...sent });
}

const sent = Client.prototype.query as (...args: unknown[]) => unknown;
let roundTrips = 0;
Client.prototype.query = function count(this: Client, ...args: unknown[]) {
  roundTrips += 1;
  return sent.apply(this, args);
} as Client["query"];

/** How often one request waits for the database. */
async function roundTripsOf(screen: Screen, who: "keelson" | "hand", answer: Answer): Promise<number> {
  const before = roundTrips;
  await (await answer(requestOf(screen, who, 0))).text();
  return roundTrips - before;
}

/** Microseconds of CPU per request. */
async function cpuOf(
  screen: Screen,
  who: "keelson" | "hand",
  answer: Answer,
  requests = screen.requests,
): Promise<number> {
  let turn = 0;
  const asker = async (): Promise<void> => {
    while (turn < requests) {
      const response = await answer(requestOf(screen, who, turn++));
      const text = await response.text();
      if (!response.ok) throw new Error(`${who}: ${response.status} ${text}`);
    }
  };
  const before = process.cpuUsage();
  await Promise.all(Array.from({ length: AT_ONCE }, asker));
  const { user, system } = process.cpuUsage(before);
  return (user + system) / requests;
}

const base = benchDatabaseUrl();
const url = new URL(base);
url.pathname = `/${DATABASE}`;
const server = new URL(base);
server.pathname = "/postgres";
const admin = new Client(server.href);
await admin.connect();
await admin.query(`DROP DATABASE IF EXISTS ${DATABASE} WITH (FORCE)`);
await admin.query(`CREATE DATABASE ${DATABASE}`);
const api = keelson({ entities: ENTITIES, driver: postgres(url.href), logger: noopLogger, trustedOrigins: "all" });
await api.ready;
const database = new Client(url.href);
await database.connect();
await database.query(FILL);
const Generated = await generatedClient(ENTITIES, "postgresql");
const prisma = new Generated({ adapter: new PrismaPg({ connectionString: url.href }) });
const contenders: readonly (readonly ["keelson" | "hand", Answer])[] = [
  ["keelson", (request) => api.fetch(request)],
  ["hand", byHand(prisma)],
];

console.log("| screen | Keelson, µs | Hono + Prisma, µs | ratio | round trips |\n|---|---:|---:|---:|---:|");
for (const [name, screen] of Object.entries(SCREENS)) {
  const figures = { keelson: [] as number[], hand: [] as number[] };
  const trips: number[] = [];
  for (const [who, answer] of contenders) await cpuOf(screen, who, answer, screen.requests * WARM_UP);
  for (const [who, answer] of contenders) trips.push(await roundTripsOf(screen, who, answer));
  for (let round = 0; round < ROUNDS; round++)
    for (const [who, answer] of round % 2 === 0 ? contenders : [...contenders].reverse())
      figures[who].push(await cpuOf(screen, who, answer));
  const [ours, theirs] = [median(figures.keelson), median(figures.hand)];
  console.log(
    `| ${name} | ${ours.toFixed(0)} | ${theirs.toFixed(0)} | ${(ours / theirs).toFixed(2)} | ${trips.join(" to ")} |`,
  );
}

await api.close();
await (prisma as unknown as { $disconnect(): Promise<void> }).$disconnect();
await database.end();
await admin.query(`DROP DATABASE ${DATABASE} WITH (FORCE)`);
await admin.end();
