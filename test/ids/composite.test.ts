import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import {
  belongsTo,
  bulkDeleteAction,
  bulkUpdateAction,
  date,
  entity,
  enums,
  exportAction,
  hasMany,
  importAction,
  int,
  string,
} from "../../src/index.ts";
import { audit } from "../../src/plugins/audit/index.ts";
import { createTestApp } from "../../src/testing/index.ts";
import { everyDatabase } from "../support/every-database.ts";
import { ALL_DATABASES, type TestDatabase } from "../support/sql-databases.ts";

const everyone = { create: ["everyone"], read: ["everyone"], update: ["everyone"], delete: ["everyone"] };
const org = entity("org", { name: string, members: hasMany(() => membership) })
  .id(string)
  .rules(everyone);
const membership = entity("membership", {
  org: belongsTo(() => org).onDelete("cascade"),
  userNo: int,
  role: string.default("member"),
})
  .id(["orgId", "userNo"])
  .rules(everyone)
  .actions({ export: exportAction, import: importAction, bulkUpdate: bulkUpdateAction, bulkDelete: bulkDeleteAction });
const price = entity("price", { sku: string, from: date, cents: int })
  .id(["sku", "from"])
  .timestamps(false)
  .rules(everyone);

const shift = entity("shift", {
  team: string,
  day: enums("tue", "mon", "sun").native(),
  cents: int,
})
  .id(["team", "day"])
  .timestamps(false)
  .rules(everyone);

const seat = entity("seat", { row: int, place: int, name: string })
  .id(["row", "place"])
  .table("seat_list")
  .timestamps(false)
  .rules(everyone);

describe.each(everyDatabase([seat], 0).filter(([name]) => !name.startsWith("MariaDB")))(
  "ids in a table with another name, on %s",
  (_name, open) => {
    it("come back from creates and changes", async () => {
      const database = await open();
      onTestFinished(() => database.drop());
      const app = createTestApp({ entities: [seat], driver: database.driver });
      onTestFinished(() => app.close());
      await app.api.ready;
      const { request } = app.as(null);
      const made = await request("POST", "/api/seats", { row: 1, place: 2, name: "Ann" });
      expect(made).toMatchObject({ status: 201, body: { id: "1~2", name: "Ann" } });
      const changed = await request("PATCH", "/api/seats/1~2", { name: "Bob" });
      expect(changed).toMatchObject({ status: 200, body: { id: "1~2", name: "Bob" } });
    });
  },
);

describe.each(everyDatabase([shift], 0).filter(([name]) => name !== "MariaDB through a client"))(
  "ids with a native enum, on %s",
  (_name, open) => {
    it("sort by the positions of their values, page by page", async () => {
      const database = await open();
      onTestFinished(() => database.drop());
      const app = createTestApp({ entities: [shift], driver: database.driver });
      onTestFinished(() => app.close());
      await app.api.ready;
      const ask = (method: string, path: string, body?: unknown) => app.as(null).request(method, `/api/${path}`, body);
      for (const team of ["b", "a"])
        for (const day of ["sun", "mon", "tue"])
          expect((await ask("POST", "shifts", { team, day, cents: 1 })).status).toBe(201);
      const sorted = ["a~tue", "a~mon", "a~sun", "b~tue", "b~mon", "b~sun"];
      for (const [sort, expected] of [
        ["id", sorted],
        ["-id", [...sorted].reverse()],
        ["cents,id", sorted],
      ] as const) {
        const seen: unknown[] = [];
        for (let after = ""; seen.length < 10; ) {
          const { body, headers } = await ask("GET", `shifts?_sort=${sort}&_limit=2${after}`);
          seen.push(...(body as { id: string }[]).map(({ id }) => id));
          const next = headers.get("x-next-cursor");
          if (next === null) break;
          after = `&_after=${next}`;
        }
        expect([sort, seen]).toEqual([sort, expected]);
      }
      const found = async (query: string) =>
        ((await ask("GET", `shifts?${query}&_sort=id`)).body as { id: string }[]).map(({ id }) => id);
      expect(await found("id_gt=a~mon")).toEqual(sorted.slice(2));
      expect(await found("id_lte=a~sun")).toEqual(sorted.slice(0, 3));
      expect(await found("id=a~mon&id=b~sun")).toEqual(["a~mon", "b~sun"]);
      expect((await ask("PATCH", "shifts/a~mon", { cents: 2 })).body).toMatchObject({ id: "a~mon", cents: 2 });
      expect((await ask("GET", "shifts/a~may")).status).toBe(404);
      expect((await ask("DELETE", "shifts/b~tue")).status).toBe(200);
    });
  },
);

describe.each(ALL_DATABASES)("ids of several columns, on %s", (_name, open) => {
  let database: TestDatabase;
  let app: ReturnType<typeof createTestApp<[typeof org, typeof membership, typeof price]>>;

  beforeAll(async () => {
    database = await open();
    app = createTestApp({ entities: [org, membership, price], driver: database.driver, plugins: [audit()] });
    await app.api.ready;
    for (const id of ["acme", "b~c", "100%"]) await app.api.asSystem().org.create({ id, name: id } as never);
  });
  afterAll(async () => {
    await app?.close();
    await database?.drop();
  });
  const ask = async (method: string, path: string, body?: unknown) => {
    const answer = await app.as({ id: "ann" }).request(method, `/api/${path}`, body);
    if (answer.status >= 500) throw new Error(JSON.stringify(answer.body));
    return answer as unknown as {
      status: number;
      body: Record<string, unknown> & Record<string, unknown>[];
      headers: Headers;
    };
  };

  it("identify records in paths, filters and responses", async () => {
    const { status, body, headers } = await ask("POST", "memberships", { orgId: "acme", userNo: 7 });
    expect([status, body]).toMatchObject([201, { id: "acme~7", orgId: "acme", userNo: 7, role: "member" }]);
    expect(headers.get("location")).toBe("/api/memberships/acme~7");
    expect((await ask("POST", "memberships", { orgId: "acme", userNo: 7 })).status).toBe(409);
    expect((await ask("GET", "memberships/acme~7?include=org")).body).toMatchObject({ org: { name: "acme" } });
    expect((await ask("PATCH", "memberships/acme~7", { role: "owner" })).body).toMatchObject({
      id: "acme~7",
      role: "owner",
    });
    expect((await ask("PATCH", "memberships/acme~7", { userNo: 8 })).status).toBe(400);
    expect((await ask("PUT", "memberships/acme~7", { id: "acme~7", orgId: "acme", userNo: 7, role: "x" })).status).toBe(
      200,
    );
    for (const id of ["acme", "acme~x", "acme~7~1", "acme~8"])
      expect((await ask("GET", `memberships/${id}`)).status).toBe(404);
    const odd = (await ask("POST", "memberships", { orgId: "b~c", userNo: 1 })).body;
    expect(odd.id).toBe("b%7Ec~1");
    expect((await ask("GET", `memberships/${encodeURIComponent(String(odd.id))}`)).body).toMatchObject({
      orgId: "b~c",
    });
    expect((await ask("GET", `memberships?id=${encodeURIComponent(String(odd.id))}`)).body).toMatchObject([
      { orgId: "b~c" },
    ]);
    expect((await ask("GET", "orgs/acme?include=members")).body).toMatchObject({ members: [{ id: "acme~7" }] });
    expect((await ask("DELETE", "memberships/acme~7")).status).toBe(200);
    expect((await ask("DELETE", "memberships/acme~7")).status).toBe(404);
  });

  it("sort by their parts, page by page, and work in bulk, exports and imports", async () => {
    for (const orgId of ["acme", "100%"])
      for (let userNo = 1; userNo < 13; userNo++) await ask("POST", "memberships", { orgId, userNo });
    const pages: unknown[] = [];
    for (let after = ""; ; ) {
      const { body, headers } = await ask("GET", `memberships?_limit=5${after}`);
      pages.push(...body.map(({ id }) => id));
      const cursor = headers.get("x-next-cursor");
      if (cursor === null) break;
      after = `&_after=${cursor}`;
    }
    const numbers = Array.from({ length: 12 }, (_, index) => index + 1);
    expect(pages).toEqual([
      ...numbers.map((userNo) => `100%25~${userNo}`),
      ...numbers.map((userNo) => `acme~${userNo}`),
      "b%7Ec~1",
    ]);
    const changed = await ask("PUT", "memberships/bulk", { ids: ["acme~2", "acme~10"], data: { role: "admin" } });
    expect(changed.body).toEqual({ count: 2 });
    const csv = (await ask("GET", "memberships/export?format=csv&role=admin")).body as unknown as string;
    expect((await ask("DELETE", "memberships/bulk", { ids: ["acme~2", "acme~10"] })).body).toEqual({ count: 2 });
    const request = new Request("http://test.invalid/api/memberships/import", {
      method: "POST",
      headers: { "content-type": "text/csv" },
      body: csv,
    });
    expect(await (await app.api.fetch(request)).json()).toEqual({ created: 2, updated: 0, failed: [] });
    expect((await ask("GET", "memberships?role=admin&_sort=-id")).body.map(({ id }) => id)).toEqual([
      "acme~10",
      "acme~2",
    ]);
  });

  it("may contain dates, and work in handlers' drivers too", async () => {
    const row = await app.api.driver.create("price", { sku: "a", from: "2024-05-31", cents: 5 } as never);
    expect(row.id).toBe("a~2024-05-31");
    expect(await app.api.driver.findOne("price", { id: "a~2024-05-31" })).toMatchObject({ cents: 5 });
    await app.api.driver.transaction(async (driver) => {
      await driver.findOne("price", { id: "a~2024-05-31" }, { lock: true });
      await driver.update("price", { id: "a~2024-05-31" }, { cents: 6 });
    });
    expect((await ask("GET", "prices")).body).toEqual([{ id: "a~2024-05-31", sku: "a", from: "2024-05-31", cents: 6 }]);
  });
});

describe("ids of several columns", () => {
  it("are refused where they are not supported", () => {
    const thing = entity("thing", { a: string, b: int.optional() });
    expect(() => thing.id(["a", "c"]).build()).toThrow(/"c" is not a column/);
    expect(() => thing.id(["a", "b"]).build()).toThrow(/"b" must be a required/);
    expect(() => thing.id(["a"]).build()).toThrow(/two parts at least/);
    const secret = entity("secret", { a: string.readable("admin"), b: string.omit() });
    expect(() => secret.id(["a", "b"]).build()).toThrow(/"a" is hidden from some callers[\s\S]*"b" is hidden/);
    const part = entity("part", { one: belongsTo(() => price) });
    expect(() => createTestApp({ entities: [price, part] })).toThrow(/no relation can lead there/);
  });
});

it("an id of several columns refuses invalid parts, like any invalid id", async () => {
  const desk = entity("desk", { name: string, seats: hasMany(() => seat) })
    .id(int)
    .rules(everyone);
  const seat = entity("seat", { desk: belongsTo(() => desk), row: int, note: string.optional() })
    .id(["deskId", "row"])
    .rules(everyone);
  const app = createTestApp({ entities: [desk, seat] });
  const ask = async (method: string, path: string, body: unknown): Promise<number> =>
    (await app.as(null).request(method, `/api/${path}`, body)).status;
  await ask("POST", "desks", { name: "d" });
  expect(await ask("POST", "seats", { deskId: 1, row: 2 })).toBe(201);
  for (const deskId of [2, "x", "1e400", null, [1], { a: 1 }, true, 1.5])
    expect([deskId, await ask("PATCH", "seats/1~2", { deskId })]).toEqual([deskId, 400]);
  expect(await ask("PATCH", "seats/1~2", { deskId: 1, row: 2, note: "n" })).toBe(200);
  await app.close();
});
