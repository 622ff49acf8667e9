import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { propertyOptions } from "../support/properties.ts";
import { amount } from "../support/suite.ts";
import { openShop } from "./shop.ts";

let shop: Awaited<ReturnType<typeof openShop>>;
beforeAll(async () => {
  shop = await openShop();
});
afterAll(() => shop.close());

const titles = fc.constantFrom("Nut", "Bolt, long", "Wing \\ nut", "50% off", "none", "a&b=c");
const numbers = fc.integer({ min: -1, max: 8 });
const moments = fc.integer({ min: 0, max: 26 }).map((day) => new Date(Date.UTC(2026, 0, 1 + day)));
const ordered = <T>(operand: fc.Arbitrary<T>) =>
  fc.record(
    { gt: operand, gte: operand, lt: operand, lte: operand, ne: operand, in: fc.array(operand, { maxLength: 3 }) },
    { requiredKeys: [] },
  );
const isSaid = (condition: object): boolean => Object.keys(condition).length > 0;
const text = fc.oneof(
  titles,
  fc.array(titles, { maxLength: 3 }),
  fc
    .record(
      { like: titles, starts: titles, ends: titles, nin: fc.array(titles, { maxLength: 3 }) },
      { requiredKeys: [] },
    )
    .filter(isSaid),
);
const where = fc.record(
  {
    title: text,
    count: fc.oneof(numbers, fc.array(numbers, { maxLength: 3 }), ordered(numbers).filter(isSaid)),
    price: fc.oneof(fc.constant(null), ordered(numbers).filter(isSaid), fc.record({ null: fc.boolean() })),
    dueAt: fc.oneof(fc.constant(null), moments, ordered(moments).filter(isSaid)),
    isOpen: fc.boolean(),
    owner: fc.record({ name: fc.constantFrom("ann", "bob", { like: "n" }) }),
  },
  { requiredKeys: [] },
);
const query = fc.record(
  {
    where,
    sort: fc.uniqueArray(fc.constantFrom("title", "-title", "count", "-count", "dueAt", "-price", "id"), {
      maxLength: 2,
      selector: (key) => key.replace("-", ""),
    }),
    page: fc.integer({ min: 1, max: 4 }),
    limit: fc.integer({ min: 1, max: 12 }),
    include: fc.constant(["owner"] as const),
    select: fc.subarray(["title", "count", "dueAt", "ownerId"] as const, { minLength: 1 }),
  },
  { requiredKeys: [] },
);

describe("the HTTP client and the in-process client", () => {
  it("return the same page for the same query", async () => {
    const inProcess = shop.api.as({ id: "ann" }).orderItem;
    const remote = shop.clientOf("ann").orderItem;
    let found = 0;
    await fc.assert(
      fc.asyncProperty(query, async (asked) => {
        // The type checker does not see that each generated name is a field.
        const given = asked as NonNullable<Parameters<typeof inProcess.list>[0] & Parameters<typeof remote.list>[0]>;
        const page = await inProcess.list(given);
        found += page.data.length;
        expect(await remote.list(given)).toEqual(JSON.parse(JSON.stringify(page)));
        expect(await remote.count(given.where)).toBe(page.total);
      }),
      { ...propertyOptions(150), examples: [[{}]] }, // a condition that finds records, independent of the others
    );
    expect(found).toBeGreaterThan(amount(3, 50));
  });

  it("refuse with the same code, status and message", async () => {
    const inProcess = shop.api.as({ id: "ann" });
    const remote = shop.clientOf("ann");
    const calls: readonly ((client: typeof inProcess) => Promise<unknown>)[] = [
      ({ orderItem }) => orderItem.get("nope"),
      ({ orderItem }) => orderItem.get(""),
      ({ orderItem }) => orderItem.delete("item-00"),
      ({ orderItem }) => orderItem.create({ title: "x", ownerId: "ann" }),
      ({ orderItem }) => orderItem.update("item-00", { ownerId: "nobody" }),
      ({ orderItem }) => orderItem.reprice("item-00", {} as never),
      ({ person }) => person.create({ name: "Cy", email: "cy@shop.example" }),
    ];
    for (const call of calls) {
      const told = async (client: unknown): Promise<unknown> => {
        try {
          return await call(client as typeof inProcess);
        } catch (error) {
          const { code, status, message } = error as Record<string, unknown>;
          return { code, status, message };
        }
      };
      const here = await told(inProcess);
      expect(here).toHaveProperty("code");
      expect(await told(remote)).toEqual(here);
    }
  });
});
