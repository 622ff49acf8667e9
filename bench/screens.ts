// What real screens cost: the last comments of each post, a report by month, an order with its lines, a batch. Keelson, Hono with
// Prisma by hand and, where the peers are installed, ZenStack, in this process, on one PostgreSQL: CPU of the process and round
// trips to the database per request.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
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
/** Unmeasured requests for each screen, in which the code is compiled, before most of the orders are stored. */
const WARM_UP = 2_000;
const ORDERS_AT_FIRST = 1_000;
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
  INSERT INTO line (id, sku, quantity, "orderId") SELECT 'l' || i, 'sku', 1, 'o' || (i % ${ORDERS_AT_FIRST} + 1)
    FROM generate_series(1, 10000) i;
  ANALYZE`;
const fillOrders = (from: number, to: number): string => `
  INSERT INTO "order" (id, number, total, "placedAt")
    SELECT 'o' || i, i::text, (i % 10000) / 100.0, '2024-01-01'::timestamp + (i % 730) * interval '1 day'
    FROM generate_series(${from}, ${to}) i`;

type Answer = (request: Request) => Response | Promise<Response>;

type Who = "keelson" | "hand" | "zenstack";

/** A path, and the JSON that a POST to it sends. */
type Sent = readonly [path: string, body?: unknown];

interface Screen {
  readonly requests: number;
  readonly of: (turn: number) => Readonly<Record<Who, Sent>>;
}

const lines = Array.from({ length: 10 }, (_, place) => ({ sku: `sku ${place}`, quantity: place + 1 }));
const include = encodeURIComponent(JSON.stringify({ comments: { sort: "-createdAt", limit: 3 } }));
const query = (args: object): string => `q=${encodeURIComponent(JSON.stringify(args))}`;
const lastComments = { take: 3, orderBy: [{ createdAt: "desc" }, { id: "asc" }] };
const SCREENS: Readonly<Record<string, Screen>> = {
  "posts with their last three comments": {
    requests: 800,
    of: (turn) => {
      const skip = (turn * 20) % 1_900;
      const args = { skip, take: 20, orderBy: { id: "asc" }, include: { comments: lastComments } };
      return {
        keelson: [`/api/posts?_sort=id&_start=${skip}&_limit=20&_total=none&include=${include}`],
        hand: [`/posts?skip=${skip}`],
        zenstack: [`/api/model/post/findMany?${query(args)}`],
      };
    },
  },
  "a report by month": {
    requests: 20,
    of: () => ({
      keelson: ["/api/orders/aggregate?group=month(placedAt)&count&sum=total&_zone=Europe/Berlin"],
      hand: ["/report"],
      zenstack: [
        `/api/model/order/groupBy?${query({ by: ["month"], _count: true, _sum: { total: true }, orderBy: { month: "asc" } })}`,
      ],
    }),
  },
  "an order with ten lines": {
    requests: 400,
    of: (turn) => {
      const data = { number: `n${turn}`, placedAt: "2026-01-01T00:00:00.000Z", lines: { create: lines } };
      return {
        keelson: ["/api/orders", data],
        hand: ["/orders", data],
        zenstack: ["/api/model/order/create", { data }],
      };
    },
  },
  "a batch of ten changes": {
    requests: 400,
    of: (turn) => {
      const ids = lines.map((_, place) => `l${((turn * 10 + place) % 10_000) + 1}`);
      const data = { quantity: (turn % 50) + 1 };
      const items = ids.map((id) => ({ method: "PATCH", path: `/lines/${id}`, body: data }));
      const operations = ids.map((id) => ({ model: "line", op: "update", args: { where: { id }, data } }));
      return {
        keelson: ["/api/batch", items],
        hand: ["/batch", items],
        zenstack: ["/api/model/$transaction/sequential", operations],
      };
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
  app.get("/posts", async (c) =>
    c.json(
      await prisma.post.findMany({
        skip: Number(c.req.query("skip")),
        take: 20,
        orderBy: { id: "asc" },
        include: { comments: lastComments },
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

function requestOf({ of }: Screen, who: Who, turn: number): Request {
  const [path, body] = of(turn)[who];
  const posted = { method: "POST", body: JSON.stringify(body), headers: { "content-type": "application/json" } };
  return new Request(`http://localhost${path}`, body === undefined ? {} : posted);
}

let roundTrips = 0;
function countRoundTrips({ prototype }: typeof Client): void {
  const send = prototype.query as (...args: unknown[]) => unknown;
  prototype.query = function count(this: Client, ...args: unknown[]) {
    roundTrips += 1;
    return send.apply(this, args);
  } as Client["query"];
}
countRoundTrips(Client);

/** How often one request waits for the database. */
async function roundTripsOf(screen: Screen, who: Who, answer: Answer): Promise<number> {
  const before = roundTrips;
  await (await answer(requestOf(screen, who, 0))).text();
  return roundTrips - before;
}

/** Microseconds of CPU per request. */
async function cpuOf(screen: Screen, who: Who, answer: Answer, requests: number): Promise<number> {
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

const NAMES: Readonly<Record<Who, string>> = { keelson: "Keelson", hand: "Hono + Prisma", zenstack: "ZenStack" };

/** ZenStack as `compiled.ts` compiled it beside its packages; undefined where the peers are not installed. */
async function openZenStack(connectionString: string) {
  const file = join(process.cwd(), "bench/peers/dist/zenstack/screens/answer.mjs");
  if (!existsSync(file)) return undefined;
  const peer: {
    readonly Client: typeof Client;
    open(connectionString: string): { readonly answer: Answer; close(): Promise<void> };
  } = await import(pathToFileURL(file).href);
  countRoundTrips(peer.Client);
  return peer.open(connectionString);
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
await database.query(`${fillOrders(1, ORDERS_AT_FIRST)};${FILL}`);
const Generated = await generatedClient(ENTITIES, "postgresql");
const prisma = new Generated({ adapter: new PrismaPg({ connectionString: url.href }) });
const zenstack = await openZenStack(url.href);
const contenders: readonly (readonly [Who, Answer])[] = [
  ["keelson", (request) => api.fetch(request)],
  ["hand", byHand(prisma)],
  ...(zenstack ? [["zenstack", zenstack.answer] as const] : []),
];

const per = contenders.map(([who]) => NAMES[who]);
console.log(`| screen | ${per.map((name) => `${name}, µs | round trips`).join(" | ")} | ratio by hand |`);
console.log(`|---|${per.map(() => "---:|---:|").join("")}---:|`);
for (const screen of Object.values(SCREENS))
  for (const [who, answer] of contenders) await cpuOf(screen, who, answer, WARM_UP);
await database.query(`${fillOrders(ORDERS_AT_FIRST + 1, ROWS)}; ANALYZE`);
for (const [name, screen] of Object.entries(SCREENS)) {
  const figures: Readonly<Record<Who, number[]>> = { keelson: [], hand: [], zenstack: [] };
  const trips: number[] = [];
  for (const [who, answer] of contenders) trips.push(await roundTripsOf(screen, who, answer));
  for (let round = 0; round < ROUNDS; round++)
    for (const [who, answer] of round % 2 === 0 ? contenders : [...contenders].reverse())
      figures[who].push(await cpuOf(screen, who, answer, screen.requests));
  const cells = contenders.map(([who], place) => `${median(figures[who]).toFixed(0)} | ${trips[place]}`);
  const ratio = median(figures.keelson) / median(figures.hand);
  console.log(`| ${name} | ${cells.join(" | ")} | ${ratio.toFixed(2)} |`);
}

await api.close();
await zenstack?.close();
await (prisma as unknown as { $disconnect(): Promise<void> }).$disconnect();
await database.end();
await admin.query(`DROP DATABASE ${DATABASE} WITH (FORCE)`);
await admin.end();
