import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { decimal, entity, int } from "../../src/index.ts";
import { createTestApp } from "../../src/testing/index.ts";
import { everyWay } from "../support/every-database.ts";
import type { TestDatabase } from "../support/sql-databases.ts";
import { amount } from "../support/suite.ts";

const sample = entity("sample", { nr: int, value: decimal(), other: decimal().min("-0.5").optional() })
  .timestamps(false)
  .rules({ create: ["everyone"], read: ["everyone"] });

/** Up to forty digits before and after the point, without trailing zeros. */
const numbers = fc
  .tuple(
    fc.boolean(),
    fc.bigInt({ min: 0n, max: 10n ** 40n }),
    fc.bigInt({ min: 0n, max: 10n ** 40n - 1n }),
    fc.nat(40),
  )
  .map(([isNegative, whole, part, length]) => {
    const digits = part.toString().padStart(40, "0").slice(0, length).replace(/0+$/, "");
    const text = `${whole}${digits === "" ? "" : `.${digits}`}`;
    return isNegative && /[1-9]/.test(text) ? `-${text}` : text;
  });
const units = (text: string): bigint => {
  const [whole = "", part = ""] = text.split(".");
  return BigInt(`${whole}${part.padEnd(40, "0")}`);
};

describe.each(everyWay([sample], 1))("decimals without a number of digits on %s", (_name, open) => {
  let database: TestDatabase;
  let app: ReturnType<typeof createTestApp<[typeof sample]>>;
  const given = [
    ...[
      "0",
      "-0.1",
      "0.1",
      "-0.11",
      "1",
      "-1",
      "9",
      "10",
      "-9",
      "-10",
      "99999999999999999999.5",
      "0.00000000000000000001",
    ],
    ...fc.sample(numbers, { numRuns: amount(60, 2_000), seed: 3 }),
  ];

  beforeAll(async () => {
    database = await open();
    app = createTestApp({ entities: [sample], driver: database.driver });
    await app.api.ready;
    await app.api.driver.createMany(
      "sample",
      given.map((value, nr) => ({ id: `r${nr}`, nr, value })),
    );
  });
  afterAll(async () => {
    await app?.close();
    await database?.drop();
  });
  const ask = async (method: string, path: string, body?: unknown) =>
    app.as({ id: "ann" }).request(method, `/api/${path}`, body);

  it("keep all digits, and sort and compare by their values", async () => {
    const sorted = [...given].sort((a, b) => Number(units(a) > units(b)) - Number(units(a) < units(b)));
    const found: string[] = [];
    for (let after = ""; ; ) {
      const { headers, body } = await ask("GET", `samples?_sort=value&_limit=500${after}`);
      found.push(...(body as { value: string }[]).map(({ value }) => value));
      const next = headers.get("x-next-cursor");
      if (next === null) break;
      after = `&_after=${next}`;
    }
    expect(found).toEqual(sorted);
    for (const value of given.slice(0, 20)) {
      const { headers } = await ask("GET", `samples?value_gt=${value}&_limit=1`);
      expect(Number(headers.get("x-total-count"))).toBe(given.filter((one) => units(one) > units(value)).length);
      expect((await ask("GET", `samples?value=${value}${value.includes(".") ? "00" : ".0"}`)).body).not.toEqual([]);
    }
  });

  it("add up exactly", async () => {
    const { body } = await ask("GET", "samples/aggregate?sum=value&min=value&max=value");
    const total = given.reduce((sum, value) => sum + units(value), 0n);
    const [group] = body as [{ sum: { value: string } }];
    expect(units(group.sum.value)).toBe(total);
  });

  it.each(["1e3", "x", "1".repeat(501), 0.1 + 0.2, "--1"])("are refused with the field's name: %s", async (value) => {
    const { status, body } = await ask("POST", "samples", { nr: 1, value });
    expect([status, Object.keys((body as { errors: object }).errors)]).toEqual([400, ["value"]]);
    expect((await ask("POST", "samples", { nr: 1, value: "1", other: "-0.51" })).status).toBe(400);
  });
});
