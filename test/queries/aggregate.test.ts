import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { entity, string } from "../../src/index.ts";
import { createTestApp } from "../../src/testing/index.ts";
import { everyDatabase } from "../support/every-database.ts";
import { propertyOptions } from "../support/properties.ts";
import type { TestDatabase } from "../support/sql-databases.ts";
import { openShop, SHOP, type Shop } from "./shop.ts";

describe.each(everyDatabase(SHOP, 1))("aggregates, on %s", (_name, open) => {
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

  const ask = (query: string, caller = shop.staff, path = "orders") =>
    caller.request("GET", `/api/${path}/aggregate?${query}`);
  const groups = async (query: string, caller = shop.staff, path = "orders") => {
    const { status, body } = await ask(query, caller, path);
    expect([status, body]).toEqual([200, expect.any(Array)]);
    return body as Record<string, unknown>[];
  };

  it("count, add up and compare the records of each group", async () => {
    expect(await groups("group=customerId&count&sum=total&avg=total&min=total,placedAt&max=number")).toEqual([
      {
        customerId: "ann",
        count: 6,
        sum: { total: "30.60" },
        avg: { total: "5.100000" },
        min: { total: "0.10", placedAt: "2026-01-01T23:30:00.000Z" },
        max: { number: "1010" },
      },
      {
        customerId: "bob",
        count: 6,
        sum: { total: "36.60" },
        avg: { total: "6.100000" },
        min: { total: "1.10", placedAt: "2026-01-02T23:30:00.000Z" },
        max: { number: "1011" },
      },
    ]);
  });

  it("cover all records without a group, also an empty list", async () => {
    expect(await groups("count&sum=quantity&avg=quantity", shop.staff, "lines")).toEqual([
      { count: 18, sum: { quantity: 30 }, avg: { quantity: 30 / 18 } },
    ]);
    expect(await groups("count&sum=quantity&max=sku&sku=none", shop.staff, "lines")).toEqual([
      { count: 0, sum: { quantity: null }, max: { sku: null } },
    ]);
    expect(await groups("group=sku&sku=none", shop.staff, "lines")).toEqual([]);
  });

  it("group by parts of the calendar, in a time zone", async () => {
    const counted = async (part: string, zone = "") =>
      (await groups(`group=${part}(placedAt)&count${zone}`)).map((group) => [group[`${part}(placedAt)`], group.count]);
    expect(await counted("month")).toEqual([
      ["2026-01-01", 4],
      ["2026-02-01", 4],
      ["2026-03-01", 4],
    ]);
    expect(await counted("quarter")).toEqual([["2026-01-01", 12]]);
    expect(await counted("year")).toEqual([["2026-01-01", 12]]);
    expect(await counted("week")).toEqual([
      ["2025-12-29", 4],
      ["2026-02-02", 4],
      ["2026-03-09", 4],
    ]);
    expect((await counted("day", "&_limit=2"))[1]).toEqual(["2026-01-02", 1]);
    expect((await counted("hour", "&_limit=1"))[0]).toEqual(["2026-01-01T23:00", 1]);
    // Half an hour before midnight in UTC is the next day in Berlin, and five hours and a half later in Kolkata.
    expect((await counted("day", "&_zone=Europe/Berlin&_limit=1"))[0]).toEqual(["2026-01-02", 1]);
    expect((await counted("hour", "&_zone=Asia/Kolkata&_limit=1"))[0]).toEqual(["2026-01-02T05:00", 1]);
    expect((await counted("hour", "&_zone=America/New_York&_limit=1"))[0]).toEqual(["2026-01-01T18:00", 1]);
  });

  it("are filtered, tested, sorted and paged", async () => {
    expect(await groups("group=state&count&state_ne=sent&_sort=-state")).toEqual([
      { state: "paid", count: 4 },
      { state: "open", count: 4 },
    ]);
    expect(
      await groups(`group=sku&count&having=${encodeURIComponent('{"count":{"gte":6}}')}`, shop.staff, "lines"),
    ).toEqual([
      { sku: "s0", count: 9 },
      { sku: "s1", count: 6 },
    ]);
    const dear = encodeURIComponent('{"sum.total":{"gt":"31.00"}}');
    expect(await groups(`group=customerId&sum=total&having=${dear}`)).toEqual([
      { customerId: "bob", sum: { total: "36.60" } },
    ]);
    const skus = async (more: string) =>
      (await groups(`group=sku&sum=quantity&_sort=-sum.quantity${more}`, shop.staff, "lines")).map(({ sku }) => sku);
    expect(await skus("")).toEqual(["s1", "s0", "s2"]);
    expect(await skus("&_limit=1&_start=1")).toEqual(["s0"]);
    const where = encodeURIComponent('{"or":[{"order":{"number":"1003"}},{"order":{"number":"1001"}}]}');
    expect(await groups(`count&_where=${where}`, shop.staff, "lines")).toEqual([{ count: 4 }]);
    expect(await groups("count&order.customer.login=bob", shop.staff, "lines")).toEqual([{ count: 12 }]);
  });

  it("cover the records that the caller may read", async () => {
    expect(await groups("group=customerId&count&sum=total", shop.ann)).toEqual([
      { customerId: "ann", count: 6, sum: { total: "30.60" } },
    ]);
    expect(await groups("count", shop.as("stranger"))).toEqual([{ count: 0 }]);
    expect(await groups("count&group=sku", shop.ann, "lines")).toEqual([
      { sku: "s0", count: 3 },
      { sku: "s1", count: 3 },
    ]);
  });

  it.each([
    "group=rating",
    "sum=rating",
    "max=rating",
    "group=nothing",
    "sum=card",
    "group=__proto__",
    "max=constructor",
  ])("refuse unreadable fields like unknown ones (%s)", async (query) => {
    const name = query.split("=")[1];
    const { status, body } = await ask(query, shop.ann, "customers");
    expect([status, (body as { message: string }).message]).toEqual([400, `customer has no field "${name}".`]);
  });

  it.each([
    ["group=phone", "not a field that all records show"],
    ["max=phone", "not a field that all records show"],
    ["", "something to compute"],
    ["count=3", '"count" takes true and false only'],
    ["sum=name", '"name" has no sum'],
    ["group=month(name)", "is neither a datetime"],
    ["group=decade(createdAt)", 'no "decade"'],
    ["count&having={", "must be JSON"],
    ["count&having={}x", "must be JSON"],
    ['count&having={"sum.rating":{"gt":1}}', "tests numbers that are asked for"],
    ['count&having={"count":{"like":1}}', "takes eq ne gt gte lt lte"],
    ['count&having={"count":{"gt":"1 or 1"}}', "takes eq ne gt gte lt lte"],
    ["count&_sort=name", "Groups can be sorted by what is asked for: count"],
    ["count&_limit=0", "A page has at most 1000 groups"],
    ["count&_limit=1001", "A page has at most 1000 groups"],
    ["count&_zone=Mars/Olympus", "time zone"],
    ["count&_page=2", 'Unknown parameter "_page"'],
    ["group=name,city,login,id,createdAt,updatedAt", "at most 5 groups"],
  ])("refuse %s with an explanation", async (query, sentence) => {
    const { status, body } = await ask(query, shop.ann, "customers");
    expect([status, (body as { message: string }).message]).toEqual([400, expect.stringContaining(sentence)]);
  });

  it("sort only by groups and measures, and refuse zones that the database lacks", async () => {
    const sorted = await ask(`group=customerId&count&_sort=${Array(6).fill("count").join(",")}`);
    expect([sorted.status, sorted.body]).toMatchObject([400, { message: "A query takes at most 5 sort keys" }]);
    const { status } = await ask("group=month(placedAt)&count&_zone=US/Pacific-New");
    expect(status).toBeOneOf([200, 400]);
  });

  it("refuse callers without rights, and reveal no field to them", async () => {
    expect((await ask("sum=nothing", shop.anonymous)).status).toBe(401);
  });

  it("equal the sums of the caller's own list", async () => {
    const parts = ["year", "quarter", "month", "week", "day", "hour"] as const;
    const zones = ["UTC", "Europe/Berlin", "Asia/Kathmandu", "America/St_Johns"];
    const query = fc.record({
      group: fc.uniqueArray(
        fc.constantFrom("customerId", "state", ...parts.map((part) => `${part}(placedAt)` as const)),
        { maxLength: 3 },
      ),
      zone: fc.constantFrom(...zones),
      state: fc.option(fc.constantFrom("open", "paid"), { nil: undefined }),
    });
    const local = (moment: Date, zone: string) => {
      const text = moment.toLocaleString("sv-SE", { timeZone: zone });
      return new Date(`${text.replace(" ", "T")}Z`);
    };
    const beginning = (moment: Date, part: string, zone: string) => {
      const at = local(moment, zone);
      const [year, month, day] = [at.getUTCFullYear(), at.getUTCMonth(), at.getUTCDate()];
      const iso = (date: Date) => date.toISOString().slice(0, 10);
      if (part === "hour") return `${at.toISOString().slice(0, 13)}:00`;
      if (part === "week") return iso(new Date(Date.UTC(year, month, day - ((at.getUTCDay() + 6) % 7))));
      if (part === "year") return iso(new Date(Date.UTC(year, 0, 1)));
      if (part === "quarter") return iso(new Date(Date.UTC(year, Math.floor(month / 3) * 3, 1)));
      return iso(new Date(Date.UTC(year, month, part === "month" ? 1 : day)));
    };
    for (const id of ["ann", "bob"]) {
      const client = shop.app.api.as({ id, role: "customer" });
      await fc.assert(
        fc.asyncProperty(query, async ({ group, zone, state }) => {
          const where = state === undefined ? {} : { state };
          const { data } = await client.order.list({ where });
          const expected = new Map<string, { count: number; cents: number }>();
          if (group.length === 0) expected.set("[]", { count: 0, cents: 0 });
          for (const record of data) {
            const keys = group.map((name) => {
              const [part = "", field] = name.split("(");
              return field === undefined ? record[name as "state"] : beginning(record.placedAt, part, zone);
            });
            const known = expected.get(JSON.stringify(keys)) ?? { count: 0, cents: 0 };
            expected.set(JSON.stringify(keys), {
              count: known.count + 1,
              cents: known.cents + Math.round(Number(record.total) * 100),
            });
          }
          const found = await client.order.aggregate({ group, count: true, sum: ["total"], where, zone, limit: 1_000 });
          const shown = found.map((row) => [
            JSON.stringify(group.map((name) => (row as Record<string, unknown>)[name])),
            { count: row.count, cents: Math.round(Number(row.sum.total) * 100) },
          ]);
          expect(new Map(shown as never)).toEqual(expected);
        }),
        propertyOptions(60),
      );
    }
  });
});

describe("large groups", () => {
  it("are limited in bytes, as pages are", async () => {
    const names = Array.from({ length: 8 }, (_, index) => `s${index}`);
    const wide = entity("wide", Object.fromEntries(names.map((name) => [name, string.max(1_000)]))).rules({
      read: ["everyone"],
    });
    const app = createTestApp({ entities: [wide] });
    onTestFinished(() => app.close());
    await app.api.ready;
    const row = Object.fromEntries(names.map((name) => [name, "é".repeat(1_000)]));
    for (let index = 0; index < 700; index++)
      await app.api.driver.create("wide", { id: `w${index}`, ...row, createdAt: new Date(), updatedAt: new Date() });
    const ask = async (query: string) => {
      const { status, body } = await app.as(null).request("GET", `/api/wides/aggregate?group=id&${query}`);
      return [status, (body as { message?: string }).message];
    };
    const all = `min=${names}&max=${names}`;
    expect(await ask(`${all}&group=${names.slice(0, 4)}&_limit=1000`)).toEqual([
      400,
      expect.stringMatching(/may be too/),
    ]);
    expect(await ask(`${all}&_limit=1000`)).toEqual([400, expect.stringMatching(/more than 8388608 bytes/)]);
    expect(await ask(`${all}&_limit=400`)).toEqual([200, undefined]);
    expect(await ask(`min=${names}&count&_limit=1000`)).toEqual([200, undefined]);
  });
});
