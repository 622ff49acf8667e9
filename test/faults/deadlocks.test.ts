import { afterAll, beforeAll, expect, it } from "vitest";
import { belongsTo, bulkUpdateAction, entity, int, manyToMany, postgres, string } from "../../src/index.ts";
import { createTestApp } from "../../src/testing/index.ts";
import { askPostgres, freshPostgres } from "../support/databases.ts";
import { whileHeld } from "../support/while-held.ts";

const everybody = { create: ["everyone"], read: ["everyone"], update: ["everyone"] } as const;
const group = entity("group", { name: string }).rules(everybody).timestamps(false);
const fields = { n: int.default(0), group: belongsTo(() => group).optional(), groups: manyToMany(() => group) };
const plain = entity("plain", fields).rules(everybody).actions({ bulkUpdate: bulkUpdateAction }).timestamps(false);
const secret = entity("secret", { ...fields, code: string.optional().unique().encrypted({ searchable: true }) })
  .rules(everybody)
  .actions({ bulkUpdate: bulkUpdateAction })
  .timestamps(false);
const entities = [group, plain, secret];

let app: ReturnType<typeof createTestApp<typeof entities>>;
let database: Awaited<ReturnType<typeof freshPostgres>>;
beforeAll(async () => {
  database = await freshPostgres();
  const name = new URL(database.url).pathname.slice(1);
  await askPostgres(database.url, `alter database "${name}" set deadlock_timeout = '1s'`);
  app = createTestApp({ entities, driver: postgres(database.url), encryption: { key: "5f".repeat(32) } });
  await app.api.ready;
  await app.api.asSystem().group.create({ id: "g", name: "g" });
});
afterAll(async () => {
  await app?.close();
  await database?.drop();
});

/** Sends a request that locks the record first, while another transaction has locked the group and wants the record. */
const cross = (table: string, send: () => Promise<{ status: number; body: unknown }>) =>
  whileHeld(
    database.url,
    {
      held: `set local deadlock_timeout = '1min'; select id from "group" where id = 'g' for update`,
      next: `update "${table}" set n = 7 where id = 'r'`,
      end: "commit",
    },
    send,
  );

it.each([
  ["plain", "PATCH", "/r", { groupId: "g" }],
  ["plain", "PATCH", "/r", { groupsIds: ["g"] }],
  ["plain", "PUT", "/bulk", { ids: ["r"], data: { groupId: "g" } }],
  ["secret", "PATCH", "/r", { groupId: "g" }],
  ["secret", "PATCH", "/r", { groupId: "g", code: "c" }],
  ["secret", "PUT", "/bulk", { ids: ["r"], data: { groupId: "g" } }],
] as const)("a %s record's %s%s %j survives a deadlock", async (name, method, path, body) => {
  const records = app.api.asSystem()[name];
  await app.api.driver.deleteMany(name, { id: { null: false } });
  await records.create({ id: "r" });
  const caller = app.as({ id: "u" });
  const { status } = await cross(name, () => caller.request(method, `/api/${name}s${path}`, body));
  expect(status).toBe(200);
  const { body: stored } = await caller.request("GET", `/api/${name}s/r?include=groups`);
  expect(stored).toMatchObject({ n: 7, ...("groupsIds" in body ? { groups: [{ id: "g" }] } : { groupId: "g" }) });
});
