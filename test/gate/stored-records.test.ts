import { afterAll, beforeEach, describe, expect, it } from "vitest";
import {
  belongsTo,
  bulkUpdateAction,
  datetime,
  defineRule,
  entity,
  int,
  isKeelsonError,
  keelson,
  memoryDriver,
  noopLogger,
  string,
} from "../../src/index.ts";

const everyone = ["everyone"] as const;
const openOnly = defineRule("openOnly", ({ record }) => record?.state === "open");
const ownOnly = defineRule("ownOnly", ({ record, user }) => record?.authorId === user?.id);
const low = defineRule("low", ({ record }) => Number(record?.secret) < 5);
const user = entity("user", { name: string }).rules({ read: everyone });

const author = belongsTo(() => user);
const box = entity("box", { title: string, author })
  .ownedBy("author")
  .rules({ update: everyone, read: ["admin"] })
  .actions({ bulk: bulkUpdateAction });
const desk = entity("desk", { title: string, author })
  .ownedBy("author")
  .rules({ update: everyone, read: [ownOnly] })
  .actions({ bulk: bulkUpdateAction });
const shelf = entity("shelf", { title: string, author }).ownedBy("author").rules({ update: everyone, read: everyone });
const fields = {
  state: string,
  secret: int.readable("admin"),
  floor: int,
  note: int.min(0).optional().writable(low),
};
const item = entity("item", { ...fields, deletedAt: datetime.optional() })
  .softDelete()
  .validate((record) => Number(record.floor) < Number(record.secret), "floor is too high")
  .rules({ read: everyone, update: everyone });
const guarded = entity("guarded", fields)
  .hideForbidden()
  .validate((record) => Number(record.floor) < Number(record.secret), "floor is too high")
  .rules({ read: everyone, update: [openOnly] });

const entities = [user, box, desk, shelf, item, guarded] as const;
const driver = memoryDriver();
const api = keelson({ entities, driver, logger: noopLogger, rules: [openOnly, ownOnly, low] });
afterAll(() => api.close());
beforeEach(async () => {
  await api.ready;
  for (const name of Object.keys(api.entities).reverse()) await driver.deleteMany(name, { id: { null: false } });
  for (const id of ["ann", "bob"]) await system.user.create({ id, name: id });
  for (const name of ["box", "desk", "shelf"] as const)
    await system[name].create({ id: "1", title: "First", authorId: "bob" });
  const hidden = { id: "1", secret: 7, floor: 0, note: null };
  await system.item.create({ ...hidden, state: "open", deletedAt: new Date() });
  await system.guarded.create({ ...hidden, state: "closed" });
});

const system = api.asSystem();
const ann = api.as({ id: "ann" });
/** Status and code of a call; 200 when it succeeds. */
async function statusOf(call: Promise<unknown>): Promise<number> {
  try {
    await call;
    return 200;
  } catch (error) {
    if (isKeelsonError(error)) return error.status;
    throw error;
  }
}

describe("an update's view of its stored record", () => {
  it.each(["box", "desk"] as const)("does not reveal the owner if the caller may not read it (%s)", async (name) => {
    for (const authorId of ["bob", "ann", "missing", null])
      expect(await statusOf(ann[name].update("1", { authorId, title: "New" } as object))).toBe(403);
    const data = (authorId: string) => ({ ids: ["1"], data: { authorId, title: "New" } });
    expect(await ann[name].bulk(data("bob"))).toEqual(await ann[name].bulk(data("missing")));
    expect(await driver.findOne(name, { id: "1" })).toMatchObject({ title: "First", authorId: "bob" });
  });

  it("includes the owner if the caller may read it", async () => {
    expect(await statusOf(ann.shelf.update("1", { authorId: "bob", title: "New" }))).toBe(200);
    expect(await statusOf(ann.shelf.update("1", { authorId: "ann" }))).toBe(403);
    const bob = api.as({ id: "bob" });
    expect(await statusOf(bob.desk.update("1", { authorId: "bob", title: "New" }))).toBe(200);
  });

  it.each(["item", "guarded"] as const)(
    "is hidden from validators if the record is out of reach (%s)",
    async (name) => {
      for (const floor of [6, 7, 8]) expect(await statusOf(ann[name].update("1", { floor }))).toBe(404);
    },
  );

  it.each(["item", "guarded"] as const)(
    "is hidden from field rules if the record is out of reach (%s)",
    async (name) => {
      const statuses: number[] = [];
      for (const secret of [3, 7]) {
        await driver.update(name, { id: "1" }, { secret });
        for (const note of [-1, 1]) statuses.push(await statusOf(ann[name].update("1", { floor: 0, note })));
      }
      expect(statuses.slice(0, 2)).toEqual(statuses.slice(2));
    },
  );
});
