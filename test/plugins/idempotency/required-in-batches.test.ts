import { expect, it } from "vitest";
import { entity, keelson, memoryDriver, noopLogger, string } from "../../../src/index.ts";
import { idempotency } from "../../../src/plugins/idempotency/index.ts";
import { request, startApp } from "../../support/http.ts";

it("the key of a batch is the key that its items require", async () => {
  const order = entity("order", { item: string }).rules({ read: ["everyone"], create: ["authenticated"] });
  const api = keelson({
    entities: [order],
    driver: memoryDriver(),
    logger: noopLogger,
    plugins: (defaults) => defaults.with(idempotency({ required: ["order.create"] })),
    getUser: () => ({ id: "ann" }),
  });
  const app = await startApp(api);
  try {
    const body = [{ method: "POST", path: "/orders", body: { item: "rope" } }];
    const send = (headers = {}) => request(app.url, "POST", "/api/batch", { headers, body });
    expect(await send()).toMatchObject({ status: 400 });
    expect(await send({ "idempotency-key": "k" })).toMatchObject({ status: 200 });
  } finally {
    await app.close();
  }
});
