import { belongsTo, entity, hasMany, int, keelson, noopLogger, postgres, string } from "../src/index.ts";
import { askDatabase, freshDatabase } from "./database.ts";

const ROWS = 10_000;

const rules = { read: ["everyone"], create: ["everyone"], update: ["everyone"] };
const order = entity("order", { number: string, pieces: int, lines: hasMany(() => line) }).rules(rules);
const line = entity("line", { sku: string, quantity: int.min(1), order: belongsTo(() => order) })
  .unique(["orderId", "sku"])
  .rules(rules);

/** Orders with lines: what the servers of `server-cluster.ts` have. */
export const orderEntities = [order, line] as const;

/** An empty database with tables and 10,000 orders. @returns its address */
export async function freshOrders(database: string): Promise<string> {
  const url = await freshDatabase(database);
  const app = keelson({ entities: orderEntities, driver: postgres(url), logger: noopLogger });
  await app.ready;
  await app.close();
  await askDatabase(
    database,
    `INSERT INTO "order" (id, number, pieces, "updatedAt") SELECT 'o' || n, 'number ' || n, n, now() FROM generate_series(0, ${ROWS - 1}) n`,
    `VACUUM ANALYZE "order"`,
  );
  return url;
}

/** How many orders there are that only half of a transaction would leave behind. */
export async function halfOrders(database: string): Promise<number> {
  const [{ count }] = (await askDatabase(
    database,
    `SELECT count(*)::int FROM "order" o WHERE number = 'refused'
       OR (number LIKE 'with lines%' AND (SELECT count(*) FROM line WHERE "orderId" = o.id) <> 3)`,
  )) as [{ count: number }];
  return count;
}

/** A request, and what has to be in its answer. */
export interface OrderRequest {
  readonly method: "GET" | "PATCH" | "POST";
  readonly path: string;
  readonly body?: unknown;
  readonly expected: unknown;
}

const indexOf = (turn: number): number => (turn * 7_919) % ROWS;
const lines = [1, 2, 3].map((quantity) => ({ sku: `sku ${quantity}`, quantity }));

/** A transaction that fails in the middle: its lines are the same. */
export const refusedOrder = {
  method: "POST",
  path: "/api/orders",
  body: { number: "refused", pieces: 2, lines: { create: [lines[0], lines[0]] } },
} as const;

/** Requests by the name of their kind. The last one is a transaction of several statements. */
export const orderRequests: Readonly<Record<string, (turn: number) => OrderRequest>> = {
  get(turn) {
    const id = `o${indexOf(turn)}`;
    return { method: "GET", path: `/api/orders/${id}`, expected: { id, number: `number ${indexOf(turn)}` } };
  },
  create(turn) {
    const body = { number: `new ${turn}`, pieces: turn };
    return { method: "POST", path: "/api/orders", body, expected: body };
  },
  update(turn) {
    const id = `o${indexOf(turn)}`;
    const body = { pieces: turn };
    return { method: "PATCH", path: `/api/orders/${id}`, body, expected: { id, ...body } };
  },
  "an order with three lines"(turn) {
    const own = { number: `with lines ${turn}`, pieces: 6 };
    const path = "/api/orders?include=lines";
    return { method: "POST", path, body: { ...own, lines: { create: lines } }, expected: { ...own, lines } };
  },
};
