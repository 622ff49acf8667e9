import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { defineRule, entity, keelson, noopLogger, string } from "../../../src/index.ts";
import { idempotency } from "../../../src/plugins/idempotency/index.ts";
import { request, startApp } from "../../support/http.ts";
import { ALL_DATABASES } from "../../support/sql-databases.ts";

const isMember = defineRule(
  "iupIsMember",
  async ({ user, driver }) => (await driver.count("member", { userId: String(user?.id) })) > 0,
);
const member = entity("member", { userId: string }).rules({ read: ["everyone"] });
const order = entity("order", { code: string.unique(), item: string }).rules({
  read: ["authenticated"],
  create: [isMember],
  update: [isMember],
});

describe.each(ALL_DATABASES)("an upsert, on %s", (_name, openDatabase) => {
  let database: Awaited<ReturnType<typeof openDatabase>>;
  let app: Awaited<ReturnType<typeof startApp>>;
  let api: ReturnType<typeof made>;
  const made = () =>
    keelson({
      entities: [member, order],
      driver: database.driver,
      logger: noopLogger,
      plugins: (defaults) => defaults.with(idempotency()),
      getUser: ({ headers }) => ({ id: String(headers.get("authorization")?.slice(7)) }),
    });
  beforeAll(async () => {
    database = await openDatabase();
    api = made();
    app = await startApp(api);
  });
  beforeEach(async () => {
    for (const one of ["member", "order"]) await api.driver.deleteMany(one, { id: { null: false } });
  });
  afterAll(async () => {
    await app?.close();
    await database?.drop();
  });
  const send = (method: string, path: string, body: unknown, key?: string) =>
    request(app.url, method, path, {
      token: "ann",
      body,
      headers: key === undefined ? {} : { "idempotency-key": key },
    });

  it.each([
    ["POST", "/api/orders"],
    ["PUT", "/api/orders?_on=code"],
    ["PUT", "/api/orders?_on=nothing"],
  ])("does not read the input of a refused caller: %s %s", async (method, path) => {
    expect(await send(method, path, { unknown: 1 })).toMatchObject({ status: 403 });
  });

  it.each([
    ["POST", "/api/orders"],
    ["PUT", "/api/orders?_on=code"],
  ])("is not replayed to a caller who has lost the right: %s %s", async (method, path) => {
    await api.asSystem().member.create({ id: "m", userId: "ann" });
    const write = () => send(method, path, { code: "c", item: "x" }, `key-${method}`);
    expect(await write()).toMatchObject({ status: 201 });
    expect(await write()).toMatchObject({ status: 201 });
    await api.asSystem().member.delete("m");
    expect(await write()).toMatchObject({ status: 403 });
  });
});
