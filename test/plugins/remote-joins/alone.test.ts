import { belongsTo, entity, memoryDriver, remoteJoins, string } from "keelson";
import { createFakeKernel } from "keelson/testing";
import { describe, expect, it } from "vitest";

const customer = entity("customer", { name: string });
const order = entity("order", { item: string, customer: belongsTo(() => customer).remote("customers") });
const rows = { order: [{ id: "o1", item: "tea", customerId: "c1" }] };
const service = {
  findByIds: async (_entity: string, ids: readonly string[]) => ids.map((id) => ({ id, name: "Ann" })),
};
const boot = () => createFakeKernel().withEntities(order).withDriver(memoryDriver(rows)).as({ id: "u1" });

describe("remoteJoins alone", () => {
  it("adds one hook, and provides remote relations", async () => {
    const { seen } = await boot().given("customers", service).use(remoteJoins());
    expect(seen).toEqual({
      services: ["remote-joins.services"],
      hooks: ["operation:join"],
      routes: [],
      requires: [],
      provides: ["remote-relations"],
      problems: [],
    });
  });

  it("does not start with an unknown option", async () => {
    await expect(
      boot()
        .given("customers", service)
        .use(remoteJoins({ batch: 3 } as never)),
    ).rejects.toThrow('remoteJoins: there is no option "batch".');
  });
});
