import { afterAll, describe, expect, it } from "vitest";
import { action, entity, keelson, memoryDriver, noopLogger, step, string, workflows } from "../../../src/index.ts";
import { idempotency } from "../../../src/plugins/idempotency/index.ts";

type Actions = Record<"ship" | "bill", (id: string) => Promise<unknown>>;
const done: string[] = [];
const work = (name: string) =>
  step(name, async ({ data }) => {
    const { id } = data.params as { readonly id: string };
    done.push(`${name} ${id}`);
    return { [name]: id };
  });
const run = () => action().rules("authenticated");
const orders = (client: (entity: string) => unknown) => client("order") as Actions;
let failures = 0;
const order = entity("order", { item: string })
  .rules({ read: ["authenticated"], update: ["authenticated"] })
  .actions({
    ship: run()
      .onResource()
      .workflow([work("ship")]),
    bill: run()
      .onResource()
      .workflow([work("bill")]),
    twoRecords: run().handler(async ({ client }) => [await orders(client).ship("a"), await orders(client).ship("b")]),
    atOnce: run().handler(({ client }) => Promise.all([orders(client).ship("a"), orders(client).ship("b")])),
    twoActions: run().handler(async ({ client }) => [await orders(client).ship("a"), await orders(client).bill("a")]),
    twice: run().handler(async ({ client }) => [await orders(client).ship("a"), await orders(client).ship("a")]),
    failing: run().handler(async ({ client }) => {
      const shipped = await orders(client).ship("a");
      failures += 1;
      if (failures === 1) throw new Error("after the run");
      return [shipped, await orders(client).bill("a")];
    }),
  });

describe.each([true, false])("a handler with a key that runs workflow actions, journal: %s", (journal) => {
  const names = ["twoRecords", "atOnce", "twoActions", "twice", "failing"];
  const api = keelson({
    entities: [order],
    driver: memoryDriver({
      order: [
        { id: "a", item: "rope" },
        { id: "b", item: "sail" },
      ],
    }),
    logger: noopLogger,
    plugins: (defaults) =>
      defaults
        .replace("workflows", workflows({ journal }))
        .with(idempotency({ withoutTransaction: names.map((name) => `order.${name}`) })),
    getUser: () => ({ id: "ann" }),
  });
  afterAll(() => api.close());

  async function send(name: string): Promise<[number, unknown, string[]]> {
    await api.ready;
    done.length = 0;
    const headers = { "content-type": "application/json", "idempotency-key": name };
    const response = await api.fetch(
      new Request(`http://test.invalid/api/orders/${name}`, { method: "POST", headers, body: "{}" }),
    );
    return [response.status, response.ok ? await response.json() : null, [...done]];
  }

  it.each([
    ["twoRecords", [{ ship: "a" }, { ship: "b" }], ["ship a", "ship b"]],
    ["atOnce", [{ ship: "a" }, { ship: "b" }], ["ship a", "ship b"]],
    ["twoActions", [{ ship: "a" }, { bill: "a" }], ["ship a", "bill a"]],
    ["twice", [{ ship: "a" }, { ship: "a" }], ["ship a", "ship a"]],
  ])("runs each of them once: %s", async (name, results, runs) => {
    expect(await send(name)).toEqual([200, results, runs]);
    expect(await send(name)).toEqual([200, results, []]);
  });

  if (journal)
    it("finds its first run again when it failed after it", async () => {
      failures = 0;
      expect(await send("failing")).toEqual([500, null, ["ship a"]]);
      expect(await send("failing")).toEqual([200, [{ ship: "a" }, { bill: "a" }], ["bill a"]]);
    });
});
