import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createClient } from "../../src/client/index.ts";
import {
  bigint,
  bool,
  bytes,
  date,
  datetime,
  decimal,
  type EntityLike,
  entity,
  enums,
  float,
  int,
  json,
  string,
  time,
  uuid,
} from "../../src/index.ts";
import { createTestApp } from "../../src/testing/index.ts";
import { everyDatabase } from "../support/every-database.ts";
import type { TestDatabase } from "../support/sql-databases.ts";
import { amount } from "../support/suite.ts";

/** A field of each kind, a JSON value of it, and its type there. */
const KINDS = {
  word: [string, "Grüße", "string"],
  whole: [int, -7, "integer"],
  half: [float, 0.1, "number"],
  exact: [decimal(20, 4), "-12345678901234.5678", "string"],
  open: [decimal(), "0.000000000000000000001", "string"],
  big: [bigint, "9007199254740993", "string"],
  truth: [bool, true, "boolean"],
  moment: [datetime, "2024-02-29T23:59:59.999Z", "string"],
  day: [date, "2024-02-29", "string"],
  clock: [time, "23:59:59.999", "string"],
  key: [uuid, "0192f0c1-2345-7abc-8def-0123456789ab", "string"],
  blob: [bytes, "AQL/", "string"],
  state: [enums("b", "a").native(), "a", "string"],
  list: [decimal(6, 2).array(), ["1.50", "-2.00"], "array"],
  tree: [json, { a: [1, "x", null] }, undefined],
} as const;

const plain = Object.fromEntries(Object.entries(KINDS).map(([name, [field]]) => [name, field.optional()]));
const sealed = Object.fromEntries(
  Object.entries(KINDS).map(([name, [field]]) => [`${name}Sealed`, field.optional().encrypted()]),
);
const rules = { create: ["everyone"], read: ["everyone"], update: ["everyone"], delete: ["everyone"] };
const sample = entity("sample", { ...plain, ...sealed }).rules(rules) as EntityLike;
const amounts = entity("amount", { value: decimal(18, 4), big: bigint })
  .timestamps(false)
  .rules(rules);

const GIVEN: Readonly<Record<string, unknown>> = Object.fromEntries(
  Object.entries(KINDS).flatMap(([name, [, value]]) => [
    [name, value],
    [`${name}Sealed`, value],
  ]),
);

describe.each(everyDatabase([sample, amounts], 0))("every kind in every place on %s", (_name, open) => {
  let database: TestDatabase;
  let app: ReturnType<typeof createTestApp>;

  beforeAll(async () => {
    database = await open();
    const encryption = { key: "0123456789abcdef".repeat(4) };
    app = createTestApp({ entities: [sample, amounts], driver: database.driver, encryption });
    await app.api.ready;
  });
  afterAll(async () => {
    await app?.close();
    await database?.drop();
  });
  const ask = async (method: string, path: string, body?: unknown) => app.as(null).request(method, path, body);

  it.each(["UTC", "Pacific/Kiritimati", "America/St_Johns", "Asia/Kolkata"])(
    "is returned as sent, in clear and encrypted, in the time zone %s",
    async (zone) => {
      const own = process.env.TZ;
      process.env.TZ = zone;
      try {
        const { status, body } = await ask("POST", "/api/samples", GIVEN);
        expect(status, JSON.stringify(body)).toBe(201);
        expect(body).toMatchObject(GIVEN);
        expect((await ask("GET", `/api/samples/${(body as { id: string }).id}`)).body).toMatchObject(GIVEN);
      } finally {
        if (own === undefined) delete process.env.TZ;
        else process.env.TZ = own;
      }
    },
  );

  it("works in the typed client", async () => {
    const fetch = ((url: string, init?: RequestInit) =>
      app.api.fetch(new Request(url, init))) as typeof globalThis.fetch;
    const client = createClient({
      baseUrl: "http://test.invalid/api",
      entities: [sample],
      fetch,
    } as never) as unknown as {
      sample: {
        create(data: object): Promise<Record<string, unknown>>;
        list(query: object): Promise<{ data: object[] }>;
      };
    };
    const created = await client.sample.create({ ...GIVEN, whole: 77 });
    expect(created).toMatchObject({ big: GIVEN.big, open: GIVEN.open, list: GIVEN.list, tree: GIVEN.tree });
    const where = {
      whole: 77,
      state: { gt: "b" },
      list: { has: "1.5" },
      tree: { path: ["a", 1], eq: "x" },
      big: GIVEN.big,
    };
    expect((await client.sample.list({ where })).data).toHaveLength(1);
  });

  it("is described by its type", async () => {
    const { body } = await ask("GET", "/openapi.json");
    const { components } = body as {
      components: { schemas: { Sample: { properties: Record<string, { type?: unknown }> } } };
    };
    for (const [name, [, , type]] of Object.entries(KINDS))
      for (const field of [name, `${name}Sealed`])
        if (type !== undefined)
          expect([components.schemas.Sample.properties[field]?.type].flat(), field).toContain(type);
  });

  it("keeps random decimals and whole numbers beyond 2^53, and their sums, exactly", async () => {
    const given = fc.sample(
      fc.record({
        units: fc.bigInt({ min: -(10n ** 17n), max: 10n ** 17n }),
        big: fc.bigInt({ min: -(2n ** 61n), max: 2n ** 61n }),
      }),
      { numRuns: amount(400, 10_000), seed: 11 },
    );
    const text = (units: bigint): string => {
      const digits = (units < 0n ? -units : units).toString().padStart(5, "0");
      return `${units < 0n ? "-" : ""}${digits.slice(0, -4)}.${digits.slice(-4)}`;
    };
    for (let start = 0; start < given.length; start += 500)
      await app.api.driver.createMany(
        "amount",
        given
          .slice(start, start + 500)
          .map(({ units, big }, index) => ({ id: `r${start + index}`, value: text(units), big })),
      );
    const read = new Map<string, { value: string; big: string }>();
    for (let after = ""; ; ) {
      const { headers, body } = await ask("GET", `/api/amounts?_sort=-value&_limit=1000${after}`);
      for (const one of body as { id: string; value: string; big: string }[]) read.set(one.id, one);
      const next = headers.get("x-next-cursor");
      if (next === null) break;
      after = `&_after=${next}`;
    }
    expect([...read.values()].map(({ value, big }) => ({ value, big }))).toEqual(
      [...given.entries()]
        .sort(([a, x], [b, y]) => Number(y.units > x.units) - Number(y.units < x.units) || (`r${a}` < `r${b}` ? -1 : 1))
        .map(([, { units, big }]) => ({ value: text(units), big: String(big) })),
    );
    const [group] = (await ask("GET", "/api/amounts/aggregate?sum=value,big")).body as [
      { sum: Record<string, string> },
    ];
    expect(group.sum).toEqual({
      value: text(given.reduce((sum, { units }) => sum + units, 0n)),
      big: String(given.reduce((sum, { big }) => sum + big, 0n)),
    });
  });
});
