import fc from "fast-check";
import { afterEach, describe, expect, it } from "vitest";
import { createModel } from "../../../src/entity/index.ts";
import {
  belongsTo,
  ConfigurationError,
  createRemoteJoiner,
  entity,
  entityOfRecord,
  getLogger,
  memoryDriver,
  type RemoteService,
  type Row,
  ServiceContainer,
  setLogger,
} from "../../../src/index.ts";
import { propertyOptions } from "../../support/properties.ts";
import { answering, customer, customers, keepingLog, plan, serviceOf, subscription, type TestService } from "./shop.ts";

const previous = getLogger();
afterEach(() => setLogger(previous));

function containerOf(services: Readonly<Record<string, RemoteService>>): ServiceContainer {
  const container = new ServiceContainer();
  for (const [name, service] of Object.entries(services)) container.register(name, () => service);
  return container;
}

/** The value of a row's relation. */
function joinedTo(row: Row | undefined, name: string): Row {
  return (row?.[name] ?? {}) as Row;
}

const joiner = createRemoteJoiner();
const entities = [customer, subscription, plan];

describe("a joiner", () => {
  it("returns new objects with the remote records, and does not change its input", async () => {
    const records = customers(2);
    const container = containerOf({ billing: answering() });
    const joined = await joiner.stitch(records, customer, { subscription: true }, { entities, container });
    expect(joined.map(({ subscription: found }) => (found as Row).title)).toEqual(["title of s1", "title of s2"]);
    expect(records).toEqual(customers(2));
  });

  it.each([
    ["a map", new Map(entities.map((one) => [one.build().name, one]))],
    ["an array", entities],
    ["definitions", entities.map((one) => one.build())],
    ["an object", Object.fromEntries(entities.map((one) => [one.build().name, one]))],
    ["nothing", undefined],
  ])("accepts entities as %s", async (_name, given) => {
    const container = containerOf({ billing: answering() });
    const [first] = await joiner.stitch(customers(1), customer, ["subscription"], { entities: given, container });
    expect(first?.subscription).toMatchObject({ id: "s1" });
  });

  it.each([
    ["paths", ["subscription.plan"]],
    ["maps", { subscription: { plan: true } }],
  ])("accepts an include as %s", async (_name, include) => {
    const container = containerOf({ billing: answering({ plan: { id: 1, title: "Gold" } }) });
    const [first] = await joiner.stitch(customers(1), customer, include, { entities, container });
    expect(joinedTo(first, "subscription").plan).toMatchObject({ id: "1", title: "Gold" });
  });

  it("joins nothing without an include, or for one that is false or not remote", async () => {
    const billing = answering();
    const options = { entities, container: containerOf({ billing }) };
    for (const include of [undefined, {}, { subscription: false }, ["name", "nobody"]])
      expect(await joiner.stitch(customers(1), customer, include, options)).toEqual(customers(1));
    expect(billing.calls).toEqual([]);
  });

  it("accepts numeric keys, and services with an async factory", async () => {
    const container = new ServiceContainer().register("billing", async () => answering());
    const [first] = await joiner.stitch([{ subscriptionId: 17 }], customer, ["subscription"], { entities, container });
    expect(first?.subscription).toMatchObject({ id: "17" });
  });

  it("tags its results, so that they are masked, and requests no hidden column", async () => {
    const billing = answering({ secret: "canary", pin: "canary", margin: "9" });
    const [first] = await joiner.stitch(customers(1), customer, ["subscription"], {
      entities,
      container: containerOf({ billing }),
    });
    const found = first?.subscription as Row;
    expect([entityOfRecord(found)?.name, JSON.stringify(found).includes("canary")]).toEqual(["subscription", false]);
    expect(billing.calls[0]?.options.select).toEqual(["id", "title", "margin", "endsAt", "extra", "planId"]);
    expect(billing.calls[0]?.options.caller).toBeUndefined();
  });

  it("reads relations without a service with the driver, and then remote ones", async () => {
    const note = entity("note", { customer: belongsTo(() => customer).remote() }).timestamps(false);
    const options = {
      entities: [note, ...entities],
      container: containerOf({ billing: answering() }),
      driver: memoryDriver({ customer: customers(2) }),
    };
    await options.driver.connect({ model: createModel(options.entities), log: keepingLog().logger, production: false });
    const records = [{ customerId: "c2" }, { customerId: "gone" }, { customerId: null }, {}];
    const joined = await joiner.stitch(records, note, ["customer.subscription"], options);
    expect(joined.map((row) => (row.customer as Row | null)?.name)).toEqual([
      "customer 2",
      undefined,
      undefined,
      undefined,
    ]);
    expect(joinedTo(joined[0], "customer").subscription).toMatchObject({ id: "s2" });
    const { driver: _, ...without } = options;
    expect((await joiner.stitch(records, note, ["customer"], without))[0]?.customer).toBeNull();
  });

  it("returns null for a service that is missing, invalid or failing, and logs it", async () => {
    const { lines, logger } = keepingLog();
    setLogger(logger);
    const services: Record<string, ServiceContainer> = {
      missing: new ServiceContainer(),
      none: new ServiceContainer().register("billing", () => ({})),
      "not made": new ServiceContainer().register("billing", () => Promise.reject(new TypeError("canary"))),
      failing: containerOf({ billing: serviceOf(() => "x") }),
    };
    for (const container of Object.values(services)) {
      const [first] = await joiner.stitch(customers(1), customer, ["subscription"], { entities, container });
      expect(first?.subscription).toBeNull();
    }
    expect(lines.map(({ meta }) => meta.reason)).toEqual(["error", "error", "error", "invalid"]);
    expect(JSON.stringify(lines)).not.toContain("canary");
  });

  it("caches services' records separately for each container", async () => {
    const of = (tenant: string): ServiceContainer => containerOf({ billing: answering({ title: tenant }, true) });
    const [one, other] = [of("one"), of("other")];
    const titles: unknown[] = [];
    for (const container of [one, other, one]) {
      const [first] = await joiner.stitch(customers(1), customer, ["subscription"], { entities, container });
      titles.push(joinedTo(first, "subscription").title);
    }
    expect(titles).toEqual(["one", "other", "one"]);
    expect((one.resolve("billing") as TestService).calls).toHaveLength(1);
  });

  it.each([
    { batchSize: 0 },
    { timeout: 1.5 },
    { concurrency: Number.NaN },
    { breaker: { failures: -1 } },
    { maxRecordBytes: 0 },
  ])("refuses %j", (options) => {
    expect(() => createRemoteJoiner(options)).toThrow(ConfigurationError);
    expect(() => createRemoteJoiner(options)).toThrow(/must be a whole number of at least 1/);
  });

  it("gives the same result as a loop, for any records, ids and batches", async () => {
    const id = fc.oneof(
      fc.constantFrom("a", "b", "c", "__proto__", "constructor", "1"),
      fc.string({ minLength: 1, maxLength: 3 }),
    );
    const arbitrary = fc.record({
      keys: fc.array(fc.option(id), { maxLength: 40 }),
      stored: fc.uniqueArray(id, { maxLength: 40 }),
      extra: fc.array(id, { maxLength: 5 }),
      batchSize: fc.integer({ min: 1, max: 7 }),
      concurrency: fc.integer({ min: 1, max: 3 }),
    });
    await fc.assert(
      fc.asyncProperty(arbitrary, async ({ keys, stored, extra, batchSize, concurrency }) => {
        const has = new Set(stored);
        const asked: string[] = [];
        const billing = serviceOf(({ ids }) => {
          asked.push(...ids);
          expect(ids.length).toBeLessThanOrEqual(batchSize);
          const found = [...ids.filter((one) => has.has(one)), ...extra.filter((one) => has.has(one))];
          return found.reverse().map((one) => ({ id: one, title: `of ${one}` }));
        });
        const own = createRemoteJoiner({ batchSize, concurrency });
        const records = keys.map((key, n) => ({ n, subscriptionId: key }));
        const container = containerOf({ billing });
        const joined = await own.stitch(records, customer, ["subscription"], { entities, container });
        const naive = keys.map((key) => (key !== null && has.has(key) ? `of ${key}` : null));
        expect(joined.map((row) => (row.subscription as Row | null)?.title ?? null)).toEqual(naive);
        expect(asked.sort()).toEqual([...new Set(keys.filter((key) => key !== null))].sort());
      }),
      propertyOptions(200),
    );
  });
});
