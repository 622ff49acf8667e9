import { afterEach, describe, expect, it } from "vitest";
import { type EntityLike, entity, int, keelson, noopLogger, postgres, string } from "../../src/index.ts";
import { freshPostgres } from "../support/databases.ts";
import { request, startApp } from "../support/http.ts";
import { SQL_DATABASES } from "../support/sql-databases.ts";

const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const OPEN = { create: ["everyone"], read: ["everyone"], update: ["everyone"] };
const before = entity("note", { text: string, size: int.default(0) }).rules(OPEN);
const after = entity("note", { text: string, size: int.default(0), secret: string.default("canary").readable("admin") })
  .rules({ ...OPEN, update: ["admin"] })
  .validate(({ size = 0 }) => size < 5, "is too large", { fields: ["size"] });

describe("two versions of an app on one database", () => {
  it("each apply their own rules and fields, whichever wrote a record", async () => {
    const database = await freshPostgres();
    cleanups.push(database.drop);
    const start = async (note: EntityLike, push: "auto" | "off"): Promise<string> => {
      const api = keelson({ entities: [note], driver: postgres(database.url, { push }), logger: noopLogger });
      const { url, close } = await startApp(api);
      cleanups.push(close);
      return url;
    };
    const [newer, older] = [await start(after, "auto"), await start(before, "off")];
    const create = (url: string, size: number) => request(url, "POST", "/api/notes", { body: { text: "a", size } });
    const made = await Promise.all(
      Array.from({ length: 40 }, (_, index) => create(index % 2 === 0 ? newer : older, index % 4 < 2 ? 0 : 9)),
    );
    expect(made.map(({ status }) => status)).toEqual(made.map((_, index) => (index % 4 === 2 ? 400 : 201)));
    for (const { json } of made.filter(({ status }) => status === 201)) {
      const path = `/api/notes/${json.id}`;
      const [changed, refused] = await Promise.all([
        request(older, "PATCH", path, { body: { size: 1 } }),
        request(newer, "PATCH", path, { body: { size: 2 } }),
      ]);
      expect([changed.status, refused.status]).toEqual([200, 401]);
      expect(JSON.stringify([changed.json, (await request(newer, "GET", path)).json])).not.toMatch(/secret|canary/);
    }
    expect((await request(newer, "GET", "/api/notes?size=1")).headers.get("x-total-count")).toBe("30");
  });
});

describe("a table that other programs write to", () => {
  it("may contain invalid values, which affect only requests for them", async () => {
    const [, open] = SQL_DATABASES[0] as (typeof SQL_DATABASES)[number];
    const database = await open();
    cleanups.push(database.drop);
    const api = keelson({ entities: [before], driver: database.driver, logger: noopLogger });
    const { url, close } = await startApp(api);
    cleanups.push(close);
    const [good, bad] = [1, 2].map(() => request(url, "POST", "/api/notes", { body: { text: "short" } }));
    const id = (await bad)?.json.id;
    // SQLite columns store values of any type.
    await database.rows(`UPDATE "note" SET size = 'many', "createdAt" = 'long ago' WHERE id = '${id}'`);
    // The document does not allow null, because the columns are required. So the responses are not compared with it.
    for (const path of [`/api/notes/${id}`, "/api/notes"]) {
      const response = await fetch(url + path);
      expect(response.status).toBe(200);
      const records = [await response.json()].flat() as { id: string }[];
      expect(records.find((record) => record.id === id)).toMatchObject({ text: "short", size: null, createdAt: null });
    }
    const path = `/api/notes/${(await good)?.json.id}`;
    expect((await request(url, "GET", path)).json).toMatchObject({ text: "short", size: 0 });
    expect((await request(url, "PATCH", path, { body: { size: 3 } })).status).toBe(200);
  });
});
