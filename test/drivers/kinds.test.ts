import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  bigint,
  bytes,
  cloneAction,
  date,
  decimal,
  entity,
  exportAction,
  importAction,
  time,
  uuid,
} from "../../src/index.ts";
import { createTestApp } from "../../src/testing/index.ts";
import { everyDatabase } from "../support/every-database.ts";
import { propertyOptions } from "../support/properties.ts";
import type { TestDatabase } from "../support/sql-databases.ts";
import { amount } from "../support/suite.ts";

const sample = entity("sample", {
  price: decimal(12, 2).optional(),
  rate: decimal(30, 10).optional(),
  count: bigint.optional(),
  day: date.optional(),
  at: time.optional(),
  key: uuid.optional(),
  data: bytes.optional(),
  fee: decimal(5, 2).default("1.5"),
  since: date.default("2020-02-29"),
})
  .rules({ create: ["everyone"], read: ["everyone"], update: ["everyone"], delete: ["everyone"] })
  .actions({ clone: cloneAction, export: exportAction, import: importAction });

const DATABASES = everyDatabase([sample], 1);

/** An exact decimal number as text, with at most this many digits. */
const decimals = (whole: number, scale: number): fc.Arbitrary<string> =>
  fc.tuple(fc.boolean(), fc.bigInt({ min: 0n, max: 10n ** BigInt(whole + scale) - 1n })).map(([isNegative, digits]) => {
    const text = digits.toString().padStart(scale + 1, "0");
    const sign = isNegative && digits > 0n ? "-" : "";
    return `${sign}${text.slice(0, -scale)}.${text.slice(-scale)}`;
  });
const days = fc
  .date({ min: new Date("1000-01-01T00:00:00Z"), max: new Date("9999-12-31T00:00:00Z"), noInvalidDate: true })
  .map((moment) => moment.toISOString().slice(0, 10));
const times = fc
  .tuple(fc.nat(23), fc.nat(59), fc.nat(59), fc.constantFrom("", ".250", ".001"))
  .map(
    ([hour, minute, second, rest]) =>
      `${[hour, minute, second].map((part) => String(part).padStart(2, "0")).join(":")}${rest}`,
  );

/** A record in its JSON form. */
const records = fc.record({
  price: decimals(10, 2),
  rate: decimals(20, 10),
  count: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map(String),
  day: days,
  at: times,
  key: fc.uuid(),
  data: fc.uint8Array({ maxLength: 40 }).map((content) => Buffer.from(content).toString("base64")),
});
type Sample = typeof records extends fc.Arbitrary<infer T> ? T : never;
type Stored = Sample & { readonly id: string };

const exact = (text: string): bigint => BigInt(text.replace(".", ""));
const ORDERS: Readonly<Record<string, (a: Sample, b: Sample) => number>> = {
  price: (a, b) => Number(exact(a.price) > exact(b.price)) - Number(exact(a.price) < exact(b.price)),
  rate: (a, b) => Number(exact(a.rate) > exact(b.rate)) - Number(exact(a.rate) < exact(b.rate)),
  count: (a, b) => Number(BigInt(a.count) > BigInt(b.count)) - Number(BigInt(a.count) < BigInt(b.count)),
  day: (a, b) => Number(a.day > b.day) - Number(a.day < b.day),
  at: (a, b) => Number(a.at > b.at) - Number(a.at < b.at),
  key: (a, b) => Number(a.key > b.key) - Number(a.key < b.key),
};

describe.each(DATABASES)("exact kinds on %s", (_name, open) => {
  let database: TestDatabase;
  let app: ReturnType<typeof createTestApp<[typeof sample]>>;

  beforeAll(async () => {
    database = await open();
    app = createTestApp({ entities: [sample], driver: database.driver });
    await app.api.ready;
  });
  afterAll(async () => {
    await app?.close();
    await database?.drop();
  });
  const ask = async (method: string, path: string, body?: unknown) =>
    app.as({ id: "ann" }).request(method, `/api/${path}`, body);
  const list = async (query: string): Promise<Stored[]> => (await ask("GET", `samples?${query}`)).body as Stored[];

  it("survive every path unchanged, and sort and compare by their values", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(records, { minLength: 4, maxLength: amount(12, 100) }), async (given) => {
        await app.api.driver.deleteMany("sample", { id: { null: false } });
        const stored: Stored[] = [];
        for (const record of given) {
          const { status, body } = await ask("POST", "samples", record);
          expect(status, JSON.stringify(body)).toBe(201);
          expect(body).toMatchObject({ ...record, fee: "1.50", since: "2020-02-29" });
          stored.push(body as Stored);
        }
        const [first] = stored as [Stored];
        expect((await ask("GET", `samples/${first.id}`)).body).toMatchObject(given[0] as Sample);
        for (const [name, order] of Object.entries(ORDERS)) {
          const value = (record: Stored): string => record[name as keyof Sample];
          const sorted = [...stored].sort((a, b) => order(a, b) || (a.id < b.id ? -1 : 1)).map(value);
          expect((await list(`_sort=${name}&_limit=1000`)).map(value)).toEqual(sorted);
          expect(await pages(name)).toEqual(sorted);
          const middle = value(stored[1] as Stored);
          const matching = (holds: (sign: number) => boolean) =>
            stored.filter((record) => holds(order(record, stored[1] as Stored))).length;
          const found = async (operator: string) =>
            (await list(`${name}${operator}=${encodeURIComponent(middle)}&_limit=1000`)).length;
          expect([await found(""), await found("_gt"), await found("_lte"), await found("_in")]).toEqual([
            matching((sign) => sign === 0),
            matching((sign) => sign > 0),
            matching((sign) => sign <= 0),
            matching((sign) => sign === 0),
          ]);
        }
        const copy = await ask("POST", `samples/${first.id}/clone`);
        expect(copy.body).toMatchObject(given[0] as Sample);
      }),
      propertyOptions(15),
    );
  });

  /** The values of a field in its sort order, page by page. */
  async function pages(name: string): Promise<string[]> {
    const values: string[] = [];
    for (let after = ""; ; ) {
      const { headers, body } = await ask("GET", `samples?_sort=${name}&_limit=3${after}`);
      values.push(...(body as Stored[]).map((record) => record[name as keyof Sample]));
      const cursor = headers.get("x-next-cursor");
      if (cursor === null) return values;
      after = `&_after=${cursor}`;
    }
  }

  it("are exported to CSV and imported again", async () => {
    const given = fc.sample(records, { numRuns: 20, seed: 7 });
    await app.api.driver.deleteMany("sample", { id: { null: false } });
    for (const record of given) await ask("POST", "samples", record);
    const before = await list("_sort=id&_limit=1000");
    const csv = (await ask("GET", "samples/export?format=csv")).body as string;
    await app.api.driver.deleteMany("sample", { id: { null: false } });
    const headers = { "content-type": "text/csv", "x-test-caller": "" };
    const request = new Request("http://test.invalid/api/samples/import", { method: "POST", headers, body: csv });
    expect(await (await app.api.fetch(request)).json()).toMatchObject({ created: 20 });
    const bare = (list: readonly Stored[]) =>
      list
        .map(({ price, rate, count, day, at, key, data }) => JSON.stringify([price, rate, count, day, at, key, data]))
        .sort();
    expect(bare(await list("_limit=1000"))).toEqual(bare(before));
  });

  it.each([
    ["price", "12345678901.00"],
    ["price", "1.005"],
    ["price", "1e3"],
    ["price", 0.1 + 0.2],
    ["price", "--1"],
    ["count", "9223372036854775808"],
    ["count", 2 ** 53],
    ["count", "1.0"],
    ["day", "2023-02-29"],
    ["day", "2024-05-31T00:00:00Z"],
    ["at", "24:00"],
    ["at", "09:30:00.0001"],
    ["key", "0192f0c1-2345-7abc-8def-0123456789a"],
    ["data", "a=b"],
  ])("are refused with the field's name: %s %j", async (name, value) => {
    const before = await app.api.driver.count("sample", {});
    const { status, body } = await ask("POST", "samples", { [name]: value });
    expect(status).toBe(400);
    expect(Object.keys((body as { errors: object }).errors)).toEqual([name]);
    if (typeof value === "string")
      expect((await ask("GET", `samples?${name}_gt=${encodeURIComponent(value)}`)).status).toBe(400);
    expect(await app.api.driver.count("sample", {})).toBe(before);
  });

  it.each(["Pacific/Kiritimati", "America/Los_Angeles", "Asia/Kolkata"])(
    "do not shift in the time zone %s",
    async (zone) => {
      const own = process.env.TZ;
      process.env.TZ = zone;
      try {
        const given = { day: "2024-12-31", at: "23:59:59.999", since: "1900-01-01" };
        const { body } = await ask("POST", "samples", given);
        expect(body).toMatchObject(given);
        expect(
          await list(`id=${(body as Stored).id}&day=2024-12-31&at_gte=23:59:59.999&since_lt=1900-01-02`),
        ).toMatchObject([given]);
      } finally {
        if (own === undefined) delete process.env.TZ;
        else process.env.TZ = own;
      }
    },
  );

  it("are bigints and bytes in code, which accepts other forms too", async () => {
    const client = app.api.asSystem().sample;
    const stored = await client.create({
      count: 2n ** 60n,
      price: "7",
      at: "09:30",
      key: "0192F0C1-2345-7ABC-8DEF-0123456789AB",
      data: new Uint8Array([1, 2, 255]),
    });
    expect(stored).toMatchObject({
      count: 2n ** 60n,
      price: "7.00",
      at: "09:30:00",
      data: new Uint8Array([1, 2, 255]),
    });
    expect(await client.count({ count: 2n ** 60n, price: "7.0", key: stored.key })).toBe(1);
    const row = await app.api.driver.update("sample", { id: stored.id }, { price: "8.1", count: 5n });
    expect(row).toMatchObject({ price: "8.10", count: 5n });
  });
});
