import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { action, bool, defineRule, entity, keelson, noopLogger, string } from "../../src/index.ts";
import { idempotency } from "../../src/plugins/idempotency/index.ts";
import { request, startApp } from "../support/http.ts";
import { ALL_DATABASES } from "../support/sql-databases.ts";

let wait: () => Promise<unknown> = async () => {};
const whileOpen = defineRule("a10WhileOpen", () => ({ open: true }));
const order = entity("order", { item: string, open: bool.default(true), note: string.optional().readable(whileOpen) })
  .rules({ read: ["authenticated"], create: ["authenticated"], update: ["authenticated"] })
  .actions({
    pay: action()
      .onResource()
      .handler(async ({ client, record }) => {
        const seen = await client("order").get(record.id);
        await wait();
        return seen;
      }),
    total: action().handler(async ({ client }) => {
      const total = await client("order").count({ note: { null: false } });
      await wait();
      return { total };
    }),
  });

describe.each(ALL_DATABASES)("a replay, on %s", (_name, openDatabase) => {
  let database: Awaited<ReturnType<typeof openDatabase>>;
  let app: Awaited<ReturnType<typeof startApp>>;
  let api: ReturnType<typeof keelson>;
  beforeAll(async () => {
    database = await openDatabase();
    api = keelson({
      entities: [order],
      driver: database.driver,
      logger: noopLogger,
      plugins: (defaults) => defaults.with(idempotency({})),
      getUser: ({ headers }) => ({ id: headers.get("authorization")?.slice(7) ?? "x" }),
    }) as never;
    app = await startApp(api);
  });
  afterAll(async () => {
    await app?.close();
    await database?.drop();
  });
  it.each(["pay", "total"])("shows no field whose right was lost while the request ran: %s", async (kind) => {
    const system = api.asSystem() as never as {
      order: { create(d: object): Promise<{ id: string }>; update(id: string, d: object): Promise<unknown> };
    };
    const { id } = await system.order.create({ item: "x", note: "secret" });
    wait = () => system.order.update(id, { open: false });
    const path = kind === "pay" ? `/api/orders/${id}/pay` : "/api/orders/total";
    const send = () =>
      request(app.url, "POST", path, { token: "ann", headers: { "idempotency-key": `k-${kind}` }, body: {} });
    await send();
    wait = async () => {};
    const again = await send();
    expect(JSON.stringify(again.json)).not.toContain(kind === "pay" ? "secret" : 'total":1');
  });
});
