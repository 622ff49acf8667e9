import { describe, expect, it } from "vitest";
import {
  belongsTo,
  type ConfigurationError,
  defaultPlugins,
  entity,
  hasMany,
  keelson,
  memoryDriver,
  noopLogger,
  type Row,
  string,
} from "../../../src/index.ts";
import { answering, customer, customers, keepingLog, serviceOf, subscription } from "./shop.ts";

const base = { driver: memoryDriver({ customer: customers(1) }), logger: noopLogger } as const;

async function problemsOf(entities: Parameters<typeof keelson>[0]["entities"]): Promise<readonly string[]> {
  const api = keelson({ ...base, driver: memoryDriver(), entities });
  const error = await api.ready.catch((reason: unknown) => reason as ConfigurationError);
  await api.close();
  return error?.problems ?? [];
}

describe("an app with remote relations", () => {
  it("accepts services that are registered after it was created", async () => {
    const api = keelson({ ...base, entities: [customer] });
    api.registerService("billing", () => answering());
    const found = await api.asSystem().customer.get("c1", { include: ["subscription"] });
    expect(found.subscription).toMatchObject({ id: "s1" });
    await api.close();
  });

  it("does not create services before they are needed", async () => {
    let made = 0;
    const billing = () => {
      made += 1;
      return answering();
    };
    const api = keelson({ ...base, entities: [customer], services: { billing } });
    await api.ready;
    await api.asSystem().customer.get("c1");
    expect(made).toBe(0);
    for (let i = 0; i < 2; i++) await api.asSystem().customer.get("c1", { include: ["subscription"] });
    expect(made).toBe(1);
    await api.close();
  });

  it("does not start without its services, and names each relation", async () => {
    expect(await problemsOf([customer])).toEqual([
      'customer.subscription: there is no service "billing"; register it with api.registerService("billing", factory)',
    ]);
  });

  it("does not start with remote relations without a usable key or target", async () => {
    const child = entity("child", { parent: belongsTo(() => parent) });
    const parent = entity("parent", { children: hasMany(() => child).remote() });
    expect(await problemsOf([parent, child])).toEqual([
      "parent.children: hasMany cannot be .remote(), since services are asked by id; use belongsTo",
    ]);
    const note = entity("note", { subscription: belongsTo(() => subscription).remote() });
    expect(await problemsOf([note])).toEqual([
      'note.subscription: .remote() without a service reads "subscription" with the app\'s own driver; add it to `entities`, or name the service',
    ]);
  });

  it("does not start without the plugin", () => {
    const plugins = () => defaultPlugins().without("remote-joins");
    expect(() => keelson({ ...base, entities: [customer], plugins })).toThrow(/customer\.subscription is \.remote\(\)/);
  });

  it("warns of entities that no caller could see, but not in production", async () => {
    const doc = entity("doc", { title: string });
    const page = entity("page", { doc: belongsTo(() => doc).remote("docs") });
    for (const production of [false, true]) {
      const { lines, logger } = keepingLog();
      const services = { docs: () => answering() };
      const api = keelson({ entities: [page], driver: memoryDriver(), logger, production, services });
      await api.ready;
      const warned = lines.filter(({ message }) => message.startsWith("doc has no read rule"));
      expect(warned).toHaveLength(production ? 0 : 1);
      await api.close();
    }
  });

  it("refuses invalid options before it starts", () => {
    const boot = () => keelson({ ...base, entities: [customer], remoteJoins: { batchSize: 0, timeout: 0 } });
    expect(boot).toThrow(/`batchSize` must be a whole number/);
    expect(boot).toThrow(/`timeout` must be a whole number/);
  });

  it("closes while a service never responds", async () => {
    const billing = serviceOf(() => new Promise<never>(() => {}));
    const services = { billing: () => billing };
    const api = keelson({ ...base, entities: [customer], services, remoteJoins: { timeout: 50 } });
    const found = api.asSystem().customer.get("c1", { include: ["subscription"] });
    await expect.poll(() => billing.calls).toHaveLength(1);
    const closing = api.close();
    expect(((await found) as unknown as Row).subscription).toBeNull();
    await closing;
  });
});
