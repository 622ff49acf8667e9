import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { keelson, memoryDriver, noopLogger } from "../../src/index.ts";
import { propertyOptions } from "../support/properties.ts";
import { SHOP } from "./shop.ts";

const getUser = () => ({ id: "eve", role: "staff" });
const api = keelson({ entities: SHOP, driver: memoryDriver(), getUser, logger: noopLogger });
beforeAll(async () => {
  const system = api.asSystem();
  await system.customer.create({ id: "ann", login: "ann", name: "Ann" });
  for (const number of ["1", "2"])
    await system.order.create({
      number,
      placedAt: new Date(),
      customerId: "ann",
      lines: { create: [{ sku: "a", quantity: 1 }] },
    });
});
afterAll(() => api.close());

const NAMES = [
  ...[
    "id",
    "number",
    "state",
    "total",
    "placedAt",
    "customer",
    "customerId",
    "lines",
    "tags",
    "orders",
    "order",
    "rating",
  ],
  ...[
    "and",
    "or",
    "not",
    "AND",
    "OR",
    "NOT",
    "some",
    "none",
    "every",
    "eq",
    "in",
    "nin",
    "like",
    "gt",
    "null",
    "search",
  ],
  ...[
    "where",
    "sort",
    "limit",
    "select",
    "include",
    "count",
    "sum",
    "having",
    "__proto__",
    "constructor",
    "toString",
    "",
  ],
];
const name = fc.oneof(
  { weight: 9, arbitrary: fc.constantFrom(...NAMES) },
  fc.string({ unit: "binary", maxLength: 20 }),
);
const scalar = fc.oneof(
  fc.constantFrom<unknown>(
    null,
    true,
    false,
    0,
    -1,
    1e308,
    2 ** 53,
    "",
    "paid",
    "2026-01-01",
    "\u0000",
    "\ud800",
    "%",
    "'; --",
  ),
  fc.double(),
  fc.string({ unit: "binary", maxLength: 30 }),
);
const { tree } = fc.letrec((tie) => ({
  tree: fc.oneof(
    { maxDepth: 12, depthSize: "large" },
    scalar,
    fc.array(tie("tree"), { maxLength: 6 }),
    fc
      .array(fc.tuple(name, tie("tree")), { maxLength: 5 })
      .map(
        (entries) =>
          `{${entries.map(([key, value]) => `${JSON.stringify(key)}:${typeof value === "string" && value.startsWith("{") ? value : JSON.stringify(value)}`).join(",")}}`,
      ),
  ),
}));
/** JSON with duplicate and inherited keys, sometimes malformed. */
const json = fc.oneof(
  {
    weight: 8,
    arbitrary: tree.map((value) =>
      typeof value === "string" && value.startsWith("{") ? value : JSON.stringify(value),
    ),
  },
  fc.tuple(tree, fc.nat(200)).map(([value, at]) => String(JSON.stringify(value)).slice(0, at)),
  fc
    .tuple(
      fc.constantFrom("[", '{"and":[', '{"not":', '{"customer":', '{"or":[{},'),
      fc.integer({ min: 1, max: 3_000 }),
    )
    .map(([open, times]) => open.repeat(times)),
  fc
    .integer({ min: 1, max: 2_000 })
    .map((width) => JSON.stringify({ or: Array(width).fill({ total: { in: ["1", "2"] } }) })),
);
const door = fc.constantFrom(
  (text: string) => ["GET", `/api/orders?_where=${text}`],
  (text: string) => ["GET", `/api/orders?include=${text}`],
  (text: string) => ["GET", `/api/orders?include={"lines":{"where":${text}}}`],
  (text: string) => ["GET", `/api/orders/aggregate?count&having=${text}`],
  (text: string) => ["GET", `/api/orders/aggregate?group=${text}&sum=${text}`],
  (text: string) => ["POST", "/api/batch", text],
  (text: string) => ["POST", "/api/orders", text],
  (text: string) => ["PUT", "/api/tags?_on=word", text],
);

describe("hostile texts", () => {
  it("get a response, and never a server error", async () => {
    await fc.assert(
      fc.asyncProperty(json, door, async (text, at) => {
        const [method = "", path = "", body] = at(text);
        const url = `http://localhost${body === undefined ? path.replace(text, () => encodeURIComponent(text.toWellFormed())) : path}`;
        const init = body === undefined ? {} : { body, headers: { "content-type": "application/json" } };
        const answer = await api.fetch(new Request(url, { method, ...init }));
        expect([answer.status, await answer.text()]).toEqual([
          expect.toSatisfy((status: number) => status < 500),
          expect.any(String),
        ]);
      }),
      propertyOptions(10_000),
    );
  });
});
