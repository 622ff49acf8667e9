import jsonServerProvider from "ra-data-json-server";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { clientRoutes, createClient } from "../../src/client/index.ts";
import {
  belongsTo,
  bigint,
  bulkDeleteAction,
  bulkUpdateAction,
  entity,
  exportAction,
  hasMany,
  importAction,
  int,
  type Keelson,
  keelson,
  memoryDriver,
  string,
  uuid,
} from "../../src/index.ts";
import { startApp } from "../support/http.ts";

const everyone = { create: ["everyone"], read: ["everyone"], update: ["everyone"], delete: ["everyone"] };
const owner = entity("owner", { name: string, items: hasMany(() => item) }).rules(everyone);
const item = entity("item", {
  org: string.default("acme"),
  number: string.unique(),
  note: string.optional(),
  owner: belongsTo(() => owner).optional(),
})
  .rules(everyone)
  .actions({ export: exportAction, import: importAction, bulkUpdate: bulkUpdateAction, bulkDelete: bulkDeleteAction });

/** The same entity with ids of another kind; the client's types differ in the ids alone. */
const ITEMS = {
  string: item.id(string),
  int: item.id(int),
  bigint: item.id(bigint),
  uuid: item.id(uuid),
  "several columns": item.id(["org", "number"]),
};
const KINDS = Object.keys(ITEMS) as (keyof typeof ITEMS)[];

const make = (kind: keyof typeof ITEMS) =>
  keelson({ entities: [owner, ITEMS[kind] as typeof item], driver: memoryDriver() });
type Api = ReturnType<typeof make>;

describe.each(KINDS)("clients of records with ids of the kind %s", (kind) => {
  let url: string;
  let close: () => Promise<void>;
  let client: ReturnType<typeof createClient<Api>>;
  let ownerId: string;

  beforeAll(async () => {
    const api = make(kind);
    const served = await startApp(api as unknown as Keelson);
    close = served.close;
    url = `${served.url}/api`;
    client = createClient<Api>({ baseUrl: url, routes: clientRoutes(api as unknown as Keelson) });
    ownerId = (await client.owner.create({ name: "Ann" })).id;
  });
  afterAll(() => close());

  let given = 0;
  const ids = (): object => (kind === "string" ? { id: `item ${given++}~ü` } : {});
  const create = (number: string) => client.item.create({ ...ids(), number, ownerId } as never);

  it("work in the typed client: create, get, update and delete", async () => {
    const made = await create("1");
    expect(typeof made.id).toBe(kind === "int" ? "number" : "string");
    expect(await client.item.get(made.id)).toEqual(made);
    expect((await client.item.get(made.id, { include: ["owner"] })).owner?.name).toBe("Ann");
    expect(await client.item.update(made.id, { note: "new" })).toMatchObject({ id: made.id, note: "new" });
    expect((await client.owner.get(ownerId, { include: ["items"] })).items).toMatchObject([{ id: made.id }]);
    const [first, second] = await client.$batch((tx) => [
      tx.item.update(made.id, { note: "first" }),
      tx.item.update(made.id, { note: "second" }),
    ]);
    expect([first.note, second.note]).toEqual(["first", "second"]);
    if (kind !== "string")
      expect((await client.item.upsert({ number: "1", note: "again" }, { on: "number" })).id).toEqual(made.id);
    await client.item.delete(made.id);
    await expect(client.item.get(made.id)).rejects.toMatchObject({ status: 404 });
  });

  it("work in the typed client's filters, pages, exports, imports and bulk changes", async () => {
    const made = [];
    for (let i = 10; i < 17; i++) made.push(await create(String(i)));
    const all = made.map(({ id }) => id);
    const where = { id: [all[0], all[2]] } as never;
    expect((await client.item.list({ where, sort: ["number"] })).data.map(({ number }) => number)).toEqual([
      "10",
      "12",
    ]);
    const paged: unknown[] = [];
    for (let after: string | undefined; ; ) {
      const page = await client.item.list({ sort: ["-number"], limit: 3, after } as never);
      paged.push(...page.data.map(({ id }) => id));
      after = page.nextCursor ?? undefined;
      if (after === undefined) break;
    }
    expect(paged).toEqual([...all].reverse());
    const some = all.slice(0, 2) as never;
    expect(await client.item.bulkUpdate({ ids: some, data: { note: "many" } } as never)).toEqual({ count: 2 });
    expect(await client.item.count({ note: "many" })).toBe(2);
    const csv = await (await fetch(`${url}/items/export?format=csv`)).text();
    expect(await client.item.bulkDelete({ ids: all } as never)).toEqual({ count: 7 });
    const headers = { "content-type": "text/csv" };
    const imported = await fetch(`${url}/items/import`, { method: "POST", headers, body: csv });
    expect(await imported.json()).toEqual({ created: 7, updated: 0, failed: [] });
    expect(await client.item.count({ note: "many" })).toBe(2);
  });

  it("work in react-admin: list, get, create, update and delete", async () => {
    const provider = jsonServerProvider(url);
    const create = async (number: string) =>
      (await provider.create("items", { data: { ...ids(), number, ownerId } })).data;
    const [one, other] = [await create("20"), await create("21")];
    const both = [one.id, other.id];
    expect((await provider.getOne("items", { id: one.id })).data).toEqual(one);
    expect((await provider.getMany("items", { ids: both })).data).toHaveLength(2);
    const pagination = { page: 1, perPage: 50 };
    const sort = { field: "id", order: "ASC" } as const;
    const params = { target: "ownerId", id: ownerId, pagination, sort, filter: {} };
    expect((await provider.getManyReference("items", params)).data.map(({ id }) => id)).toEqual(
      expect.arrayContaining(both),
    );
    const changed = await provider.update("items", { id: one.id, data: { ...one, note: "x" }, previousData: one });
    expect(changed.data).toEqual(expect.objectContaining({ id: one.id, note: "x" }));
    expect((await provider.updateMany("items", { ids: both, data: { note: "y" } })).data).toEqual(both);
    expect((await provider.getList("items", { pagination, sort, filter: { note: "y" } })).total).toBe(2);
    expect((await provider.deleteMany("items", { ids: both })).data).toEqual(both);
    expect((await provider.getMany("items", { ids: both })).data).toEqual([]);
  });
});
