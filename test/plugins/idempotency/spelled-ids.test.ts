import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bool, bulkUpdateAction, defineRule, entity, keelson, noopLogger, string, uuid } from "../../../src/index.ts";
import { idempotency } from "../../../src/plugins/idempotency/index.ts";
import { request, startApp } from "../../support/http.ts";
import { ALL_DATABASES } from "../../support/sql-databases.ts";

const whileOpen = defineRule("isiIdsOpen", () => ({ open: true }));
const order = entity("order", { item: string, open: bool.default(true) })
  .id(uuid, { from: "caller" })
  .rules({ read: [whileOpen], create: ["authenticated"], update: ["authenticated"] })
  .actions({ bulk: bulkUpdateAction });

describe.each(ALL_DATABASES)("a replayed bulk update, on %s", (_name, openDatabase) => {
  let database: Awaited<ReturnType<typeof openDatabase>>;
  let app: Awaited<ReturnType<typeof startApp>>;
  beforeAll(async () => {
    database = await openDatabase();
    const api = keelson({
      entities: [order],
      driver: database.driver,
      logger: noopLogger,
      plugins: (defaults) => defaults.with(idempotency()),
      getUser: ({ headers }) => ({ id: String(headers.get("authorization")?.slice(7)) }),
    });
    app = await startApp(api);
  });
  afterAll(async () => {
    await app?.close();
    await database?.drop();
  });

  const A = "0192f0c1-0000-7000-8000-00000000000a";
  const B = "0192f0c1-0000-7000-8000-00000000000b";
  it.each([
    [A, A],
    [B, B.toUpperCase()],
  ])("is refused once a record of it is hidden: %s as %s", async (id, spelled) => {
    await request(app.url, "POST", "/api/orders", { token: "ann", body: { id, item: "x" } });
    const headers = { "idempotency-key": id };
    const body = { ids: [spelled], data: { item: "y" } };
    const send = () => request(app.url, "PUT", "/api/orders/bulk", { token: "ann", headers, body });
    expect(await send()).toMatchObject({ status: 200, json: { count: 1 } });
    expect(await send()).toMatchObject({ status: 200 });
    await request(app.url, "PATCH", `/api/orders/${id}`, { token: "bob", body: { open: false } });
    expect(await send()).toMatchObject({ status: 403 });
  });
});
