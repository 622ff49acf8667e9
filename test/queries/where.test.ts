import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { everyDatabase } from "../support/every-database.ts";
import { propertyOptions } from "../support/properties.ts";
import type { TestDatabase } from "../support/sql-databases.ts";
import { idsOf, openShop, SHOP, type Shop } from "./shop.ts";

describe.each(everyDatabase(SHOP, 1))("_where, on %s", (_name, open) => {
  let database: TestDatabase;
  let shop: Shop;
  beforeAll(async () => {
    database = await open();
    shop = await openShop(database.driver);
  });
  afterAll(async () => {
    await shop?.app.close();
    await database?.drop();
  });

  const list = (where: unknown, caller = shop.staff, more = "", path = "orders") =>
    caller.request("GET", `/api/${path}?_where=${encodeURIComponent(JSON.stringify(where))}${more}`);
  const found = async (where: unknown, caller = shop.staff, more = "") => {
    const { status, body } = await list(where, caller, more);
    expect([status, body]).toEqual([200, expect.any(Array)]);
    return idsOf(body);
  };

  it("combines conditions with or, and, not", async () => {
    expect(await found({ or: [{ number: "1003" }, { number: { gt: "1010" } }] })).toEqual(["o03", "o11"]);
    expect(await found({ not: { state: ["open", "paid"] }, and: [{ total: { lt: "6" } }] })).toEqual(["o02", "o05"]);
    expect(await found({ OR: [{ id: "o01" }], NOT: [{ id: "o02" }] })).toEqual(["o01"]);
  });

  it("parses values as in JSON: datetimes, decimals, null", async () => {
    expect(await found({ placedAt: { lt: "2026-01-03T00:00:00Z" } })).toEqual(["o00", "o01"]);
    expect(await found({ total: "11.10" })).toEqual(["o11"]);
    expect(idsOf((await list({ city: null }, shop.staff, "", "customers")).body)).toEqual(["cem"]);
  });

  it("tests for some, none or every related record", async () => {
    expect(await found({ lines: { some: { sku: "s2" } } })).toEqual(["o03", "o07", "o11"]);
    expect(await found({ lines: { sku: "s2" } })).toEqual(["o03", "o07", "o11"]);
    expect(await found({ lines: { none: {} } })).toEqual(["o00", "o04", "o08"]);
    expect(await found({ lines: { every: { sku: "s0" }, some: {} } })).toEqual(["o01", "o05", "o09"]);
    expect(await found({ tags: { some: { word: "rush" } }, customer: { name: { starts: "b" } } })).toEqual([
      "o01",
      "o05",
      "o09",
    ]);
  });

  it("has the same depth limit as relation paths", async () => {
    const rush = { orders: { some: { tags: { word: "rush" } } } };
    expect(idsOf((await list(rush, shop.staff, "", "customers")).body)).toEqual(["bob"]);
    const plain = await shop.staff.request("GET", "/api/lines?order.customer.name_like=b&order.tags.word=rush&sku=s0");
    expect(new Set((plain.body as { orderId: string }[]).map(({ orderId }) => orderId))).toEqual(
      new Set(["o01", "o05", "o09"]),
    );
  });

  it("is combined with plain parameters, and pages, sorts and counts like them", async () => {
    const { body, headers } = await list(
      { or: [{ state: "open" }, { state: "paid" }] },
      shop.ann,
      "&_sort=-number&_limit=2",
    );
    expect([idsOf(body), headers.get("x-total-count")]).toEqual([["o10", "o06"], "4"]);
    expect(await found({ state: "open" }, shop.staff, "&customerId=ann")).toEqual(["o00", "o06"]);
  });

  it("shows only what the rules allow", async () => {
    expect(await found({ or: [{ number: "1000" }, { number: "1001" }] }, shop.ann)).toEqual(["o00"]);
    expect(await found({ not: { number: "1000" } }, shop.ann)).toEqual(["o02", "o04", "o06", "o08", "o10"]);
    expect(idsOf((await list({ orders: { none: {} } }, shop.ann, "", "customers")).body)).toEqual(["bob", "cem"]);
    expect(idsOf((await list({ or: [{ phone: "01" }, { phone: "00" }] }, shop.ann, "", "customers")).body)).toEqual([
      "ann",
    ]);
  });

  it("does not distinguish an unreadable field from an unknown name", async () => {
    const refused = async (where: unknown) => {
      const { status, body } = await list(where, shop.ann, "", "customers");
      return [status, (body as { message: string }).message];
    };
    for (const name of ["rating", "card", "nothing"])
      expect(await refused({ or: [{ [name]: 3 }] })).toEqual([400, `"_where" has no field "${name}" here.`]);
    expect(await refused({ cuty: "Bern" })).toEqual([400, '"_where" has no field "cuty" here. Did you mean "city"?']);
    expect(await refused({ orders: { custmer: {} } })).toEqual([
      400,
      '"_where" has no field "custmer" here. Did you mean "customer"?',
    ]);
  });

  it.each([
    ["[]", 'must be a JSON object, such as {"or":[{"a":1},{"b":{"gt":2}}]}'],
    ["{", 'must be a JSON object, such as {"or":[{"a":1},{"b":{"gt":2}}]}'],
    ['{"or":{}}', 'takes a list of conditions for "or"'],
    ['{"or":[1]}', "takes objects as conditions"],
    ['{"number":{}}', 'has an empty condition on "number"'],
    ['{"number":{"near":1}}', 'does not take "near" on "number"'],
    ['{"placedAt":{"gt":"soon"}}', 'on "placedAt"'],
    ['{"total":{"gt":{}}}', 'on "total" must be a decimal number'],
    ['{"__proto__":{"a":1}}', 'has no field "__proto__" here'],
  ])("refuses %s with an explanation", async (text, sentence) => {
    const { status, body } = await shop.staff.request("GET", `/api/orders?_where=${encodeURIComponent(text)}`);
    expect([status, (body as { message: string }).message]).toEqual([400, expect.stringContaining(sentence)]);
  });

  it("is limited in depth, in conditions and in values", async () => {
    const deep = (levels: number): unknown => (levels === 0 ? { number: "1" } : { not: deep(levels - 1) });
    for (const where of [
      deep(100),
      { or: Array.from({ length: 40 }, (_, index) => ({ number: String(index) })) },
      { number: { in: Array.from({ length: 300 }, String) } },
    ])
      expect((await list(where)).status).toBe(400);
  });

  it("may return from shared records to a list only once", async () => {
    for (const path of ["customer.orders", "lines.order.lines", "tags.orders", "customer.profile.customer.orders"])
      expect((await shop.staff.request("GET", `/api/orders?${path}.id=none`)).status).toBe(200);
    for (const path of ["customer.orders.customer.orders", "customer.orders.lines.order.lines", "tags.orders.tags"]) {
      const tree = path.split(".").reduceRight<unknown>((inner, name) => ({ [name]: inner }), { id: "none" });
      const where = encodeURIComponent(JSON.stringify({ not: tree }));
      for (const query of [`${path}.id=none`, `_where=${where}`]) {
        const { status, body } = await shop.staff.request("GET", `/api/orders?${query}`);
        expect([status, (body as { message: string }).message]).toEqual([400, expect.stringContaining("only once")]);
      }
    }
  });

  it("finds the same as in the process and with separate conditions", async () => {
    const leaf = fc.oneof(
      fc.record({ state: fc.constantFrom("open", "paid", "sent") }),
      fc.record({ number: fc.record({ gte: fc.integer({ min: 1_000, max: 1_012 }).map(String) }) }),
      fc.record({ lines: fc.record({ some: fc.record({ sku: fc.constantFrom("s0", "s1", "s2") }) }) }),
    );
    type Tree = { readonly [name: string]: unknown };
    const { tree } = fc.letrec<{ tree: Tree }>((tie) => ({
      tree: fc.oneof(
        { depthSize: "small" },
        leaf,
        fc.record({ or: fc.array(tie("tree"), { maxLength: 3 }) }),
        fc.record({ and: fc.array(tie("tree"), { maxLength: 3 }) }),
        fc.record({ not: tie("tree") }),
      ),
    }));
    const orders = await shop.app.api.asSystem().order.list({ include: ["lines"], sort: ["id"] });
    const holds = (record: (typeof orders.data)[number], node: Tree): boolean => {
      const [[key, value] = ["", undefined]] = Object.entries(node);
      const parts = value as Tree[];
      if (key === "or") return parts.some((part) => holds(record, part));
      if (key === "and") return parts.every((part) => holds(record, part));
      if (key === "not") return !holds(record, value as Tree);
      if (key === "state") return record.state === value;
      if (key === "number") return record.number >= (value as { gte: string }).gte;
      return record.lines.some(({ sku }) => sku === (value as { some: { sku: string } }).some.sku);
    };
    await fc.assert(
      fc.asyncProperty(tree, async (where) => {
        const expected = orders.data.filter((record) => holds(record, where)).map(({ id }) => id);
        const { status, body } = await list(where);
        if (status === 400) return expect((body as { message: string }).message).toMatch(/at most 32 conditions/);
        expect(idsOf(body)).toEqual(expected);
        const { data } = await shop.app.api.asSystem().order.list({ where: where as never });
        expect(idsOf(data)).toEqual(expected);
      }),
      propertyOptions(100),
    );
  });
});
