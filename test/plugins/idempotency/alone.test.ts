import { createPlugin, endpoint, entity, memoryDriver, string } from "keelson";
import { idempotency } from "keelson/idempotency";
import { createFakeKernel } from "keelson/testing";
import { describe, expect, it } from "vitest";

const secret = entity("secret", { text: string.encrypted() });

describe("idempotency alone", () => {
  it("adds an entity without routes, and one hook", async () => {
    const kernel = await createFakeKernel().withDriver(memoryDriver()).use(idempotency());
    expect(kernel.seen).toMatchObject({ hooks: ["route:around"], routes: [], requires: ["rules"], problems: [] });
    expect(kernel.model.entities.every(({ internal }) => internal)).toBe(true);
    await kernel.close();
  });

  it("runs the handler of a repeated request once", async () => {
    let runs = 0;
    const shop = createPlugin({
      id: "shop",
      endpoints: {
        buy: endpoint("/buy", { method: "POST", rules: ["authenticated"], handler: () => ({ run: ++runs }) }),
      },
    });
    const kernel = createFakeKernel().withDriver(memoryDriver()).as({ id: "ann" });
    await kernel.use(shop);
    await kernel.use(idempotency());
    const buy = () => kernel.call("POST", "/buy", { body: {}, headers: { "idempotency-key": "k1" } });
    expect([(await buy()).body, (await buy()).body]).toEqual([{ run: 1 }, { run: 1 }]);
    expect(
      (await kernel.as(null).call("POST", "/buy", { body: {}, headers: { "idempotency-key": "k1" } })).status,
    ).toBe(401);
    expect(runs).toBe(1);
    await kernel.close();
  });

  it("does not start with encrypted fields and plaintext responses", async () => {
    const starting = createFakeKernel().withEntities(secret).withDriver(memoryDriver()).use(idempotency());
    await expect(starting).rejects.toThrow("idempotency({ encrypted: true })");
  });
});
