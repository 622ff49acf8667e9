import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { action, cloneAction, defineRule, entity, memoryDriver, noopLogger, string } from "../../../src/index.ts";
import { idempotency } from "../../../src/plugins/idempotency/index.ts";
import { createTestApp } from "../../../src/testing/index.ts";
import { deferred } from "../../support/deferred.ts";

const teams = new Set(["a"]);
const ofTeam = defineRule("saOfTeam", () => ({ team: { in: [...teams] } }));
const work = deferred<void>();
let runs = 0;
const order = entity("order", { team: string })
  .id(string)
  .rules({ read: [ofTeam], create: ["authenticated"], update: [ofTeam] })
  .actions({
    pay: action()
      .onResource()
      .handler(async () => {
        runs++;
        await work.promise;
        return { paid: true };
      }),
  });
const copy = entity("copy", { team: string })
  .rules({ read: ["authenticated"], create: ["authenticated"] })
  .actions({ clone: cloneAction().rules("saOfTeam") });

const open = () =>
  createTestApp({
    entities: [order, copy],
    driver: memoryDriver(),
    plugins: [idempotency({ withoutTransaction: ["order.pay"] })],
    limits: { requestMs: 100 },
    logger: noopLogger,
  });

describe("a request with a key", () => {
  let app: ReturnType<typeof open>;
  beforeAll(async () => {
    app = open();
    await app.api.ready;
  });
  afterAll(() => app.close());
  const send = (path: string, key: string) =>
    app.as({ id: "ann" }).request("POST", `/api/${path}`, undefined, { "idempotency-key": key });

  it("is carried out once, although its time was over before its work", async () => {
    await app.api.asSystem().order.create({ id: "o", team: "a" });
    expect((await send("orders/o/pay", "k")).status).toBe(503);
    work.resolve();
    const message = "The request was carried out before, and its response cannot be replayed";
    await expect.poll(async () => (await send("orders/o/pay", "k")).body).toMatchObject({ message });
    expect(runs).toBe(1);
  });

  it("is not repeated for a clone whose own rules no longer pass", async () => {
    const { id } = await app.api.asSystem().copy.create({ team: "a" });
    const path = `copies/${id}/clone`;
    expect([(await send(path, "c")).status, (await send(path, "c")).status]).toEqual([201, 201]);
    teams.delete("a");
    expect((await send(path, "c")).status).toBe(403);
    teams.add("a");
  });
});
