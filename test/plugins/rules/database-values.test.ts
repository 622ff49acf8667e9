import { afterAll, beforeAll, expect, it } from "vitest";
import { defineRule, entity, postgres, string } from "../../../src/index.ts";
import { createTestApp } from "../../../src/testing/index.ts";
import { askPostgres, freshPostgres } from "../../support/databases.ts";

const unlocked = defineRule("dvUnlocked", ({ record }) => record?.status !== "locked");
const named = defineRule("dvNamed", ({ record }) => record?.name === "ann");
const unset = defineRule("dvUnset", () => ({ state: null }));
const unsetSeen = defineRule("dvUnsetSeen", ({ record }) => record?.state === null);
const item = entity("item", {
  name: string,
  status: string.databaseDefault(),
  state: string.optional().databaseDefault(),
  note: string.optional().writable(unset),
  memo: string.optional().writable(unsetSeen),
})
  .table("items")
  .existing()
  .timestamps(false)
  .rules({ read: ["everyone"], create: [unlocked, named], update: [unlocked] });

let app: ReturnType<typeof createTestApp>;
let database: Awaited<ReturnType<typeof freshPostgres>>;
beforeAll(async () => {
  database = await freshPostgres();
  await askPostgres(
    database.url,
    `create table "items" ("id" text primary key, "name" text not null, "status" text not null default 'locked',
      "state" text default 'done', "note" text, "memo" text)`,
  );
  app = createTestApp({ entities: [item], driver: postgres(database.url) });
  await app.api.ready;
});
afterAll(async () => {
  await app?.close();
  await database?.drop();
});

it("a rule that reads a value which the database will fill in does not allow a new record", async () => {
  const create = async (body: object) => (await app.as({ id: "bob" }).request("POST", "/api/items", body)).status;
  expect(await create({ name: "x" })).toBe(403);
  expect(await create({ name: "x", status: "locked" })).toBe(403);
  expect(await create({ name: "x", status: "free" })).toBe(201);
  expect(await create({ name: "ann" })).toBe(201); // by the other rule
});

it("a field rule that reads such a value does not allow a field of a new record", async () => {
  const create = async (body: object): Promise<unknown> =>
    (await app.as({ id: "bob" }).request("POST", "/api/items", { name: "ann", note: "n", memo: "m", ...body })).body;
  expect(await create({})).toMatchObject({ state: "done", note: null, memo: null });
  expect(await create({ state: null })).toMatchObject({ state: null, note: "n", memo: "m" });
});
