import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { entity, string } from "../../src/index.ts";
import { createTestApp } from "../../src/testing/index.ts";
import { everyDatabase } from "../support/every-database.ts";
import type { TestDatabase } from "../support/sql-databases.ts";

const thing = entity("thing", { name: string }).rules({ read: ["everyone"] });
const MOST = 20;

describe.each(everyDatabase([thing], 1))("the total of a list, on %s", (_name, open) => {
  let database: TestDatabase;
  let app: ReturnType<typeof createTestApp<readonly [typeof thing]>>;
  beforeAll(async () => {
    database = await open();
    app = createTestApp({ entities: [thing], driver: database.driver, limits: { maxOffset: MOST } });
    await app.api.ready;
    for (let index = 0; index < 30; index++)
      await app.api.asSystem().thing.create({ name: index < 5 ? "few" : "many" });
  });
  afterAll(async () => {
    await app?.close();
    await database?.drop();
  });

  const ask = async (search: string) => {
    const { status, headers, body } = await app.as(null).request("GET", `/api/things?_limit=10&${search}`);
    const rels = [...(headers.get("link") ?? "").matchAll(/rel="(\w+)"/g)].map(([, rel]) => rel);
    const told = [headers.get("x-total-count"), headers.get("x-total-relation")];
    return { status, told, rels, message: (body as { message?: string }).message };
  };

  it("is exact by default", async () => {
    expect((await ask("")).told).toEqual(["30", null]);
    expect((await ask("_total=exact")).told).toEqual(["30", null]);
    expect((await ask("_total=none")).told).toEqual([null, null]);
  });

  it("stops at the last numbered page if it may be estimated", async () => {
    const { told, rels } = await ask("_total=estimated");
    expect(told).toEqual([String(MOST), "gte"]);
    expect(rels).toEqual(["first", "next"]);
    expect((await ask("_total=estimated&name=few")).told).toEqual(["5", null]);
    const { total, data } = await app.api.as({ id: "x" }).thing.list({ total: "estimated", limit: 2 });
    expect([total, data.length]).toEqual([MOST, 2]);
    expect((await app.api.as({ id: "x" }).thing.list({ total: false })).total).toBe(0);
  });

  it("accepts no other value", async () => {
    const { status, message } = await ask("_total=roughly");
    expect([status, message]).toEqual([400, expect.stringContaining("exact, estimated and none")]);
  });
});
