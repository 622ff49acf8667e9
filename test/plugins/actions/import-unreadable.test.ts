import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  belongsTo,
  defineRule,
  entity,
  hasMany,
  importAction,
  keelson,
  memoryDriver,
  noopLogger,
  string,
} from "../../../src/index.ts";
import { createTestApp } from "../../../src/testing/index.ts";

const signedIn = ["authenticated"] as const;
const boss = defineRule("boss", ({ user }) => ({ boss: user?.id ?? "" }));
const rights = { create: signedIn, update: signedIn };
const upsert = { import: importAction({ upsertBy: "code" }) };
const ticket = entity("ticket", { code: string.unique().optional().writable("admin"), note: string })
  .rules({ ...rights, read: ["admin"] })
  .actions(upsert);
const order = entity("order", { code: string.unique().optional().readonly(), note: string })
  .rules({ ...rights, read: ["admin"] })
  .actions(upsert);
const person = entity("person", {
  code: string.unique().optional().readable("boss").writable("admin"),
  boss: string,
  note: string,
})
  .rules({ ...rights, read: signedIn })
  .actions(upsert);
const member = entity("member", {
  code: string.unique().optional().readable("boss").writable("boss"),
  boss: string,
  note: string,
})
  .rules({ ...rights, read: signedIn })
  .actions(upsert);

const driver = memoryDriver();
const api = keelson({
  entities: [ticket, order, person, member],
  driver,
  logger: noopLogger,
  rules: [boss],
  getUser: ({ headers }) => ({ id: headers.get("x-user") ?? "" }),
});
beforeAll(async () => {
  await api.ready;
  const system = api.asSystem();
  await system.ticket.create({ code: "taken", note: "n" });
  await system.order.create({ code: "taken", note: "n" });
  await system.person.create({ code: "taken", boss: "ann", note: "n" });
  await system.member.create({ code: "taken", boss: "ann", note: "n" });
});
afterAll(() => api.close());

async function imported(path: string, caller: string, code: string): Promise<unknown> {
  const headers = { "content-type": "application/json", "x-user": caller };
  const body = JSON.stringify([{ code, note: "m", boss: "ann" }]);
  const request = new Request(`http://test.invalid/api/${path}/import?dryRun=true`, { method: "POST", headers, body });
  return (await api.fetch(request)).json();
}

describe("an import whose values decide which records the caller may change", () => {
  it.each(["tickets", "orders", "people", "members"])(
    "reveals nothing of values that %s hide and refuse",
    async (path) => {
      const free = await imported(path, "eve", "free");
      expect(await imported(path, "eve", "taken")).toEqual(free);
    },
  );

  it("matches records by values that the rules show the caller", async () => {
    for (const path of ["people", "members"]) {
      expect(await imported(path, "ann", "taken")).toMatchObject({ created: 0, updated: 1 });
      expect(await imported(path, "ann", "free")).toMatchObject({ created: 1, updated: 0 });
    }
  });
});

describe("an import for a caller who may neither create, read nor change a record", () => {
  const isMember = defineRule("memberOfShop", ({ user }) => ({ shop: { members: { userId: user?.id ?? "" } } }));
  const shop = entity("shop", { name: string, members: hasMany(() => seat) }).rules({ read: ["everyone"] });
  const seat = entity("seat", { userId: string, shop: belongsTo(() => shop) }).rules({ read: [] });
  const product = entity("product", { code: string.unique(), note: string, shop: belongsTo(() => shop) })
    .rules({ read: [isMember], create: [isMember], update: ["admin"] })
    .actions(upsert);
  const app = createTestApp({ entities: [shop, seat, product], logger: noopLogger });
  beforeAll(async () => {
    const system = app.api.asSystem();
    await system.shop.create({ id: "s", name: "s" });
    await system.product.create({ code: "taken", note: "n", shopId: "s" });
  });
  afterAll(() => app.close());

  it.each<[string, object]>([
    ["a row that lacks a field", {}],
    ["a complete row", { note: "m" }],
  ])("does not reveal which values are taken, for %s", async (_, rest) => {
    for (const query of ["", "?dryRun=true"]) {
      const send = async (code: string): Promise<unknown> => {
        const row = { code, shopId: "s", ...rest };
        return (await app.as({ id: "eve" }).request("POST", `/api/products/import${query}`, [row])).body;
      };
      expect(await send("taken")).toEqual(await send("free"));
    }
  });
});
