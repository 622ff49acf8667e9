import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  archiveAction,
  belongsTo,
  bool,
  bulkDeleteAction,
  bulkUpdateAction,
  type ConfigurationError,
  cloneAction,
  countAction,
  type Driver,
  datetime,
  entity,
  existsAction,
  exportAction,
  float,
  int,
  keelson,
  noopLogger,
  restoreAction,
  softDeleteAction,
  string,
  toggleAction,
  unarchiveAction,
} from "../../src/index.ts";
import { request, startApp } from "../support/http.ts";
import { SQL_DATABASES, type SqlDatabase } from "../support/sql-databases.ts";

// Section 4.2 of the specification, row by row and rule by rule, over HTTP. The table defines inputs and outputs; rights are
// the subject of test/security/action-matrix.test.ts.

const everybody = { create: ["everyone"], read: ["everyone"], update: ["everyone"], delete: ["everyone"] } as const;
const maker = entity("maker", { name: string }).rules(everybody).actions({ count: countAction, export: exportAction });
const film = entity("film", {
  title: string,
  slug: string.optional().unique(),
  year: int.default(1999),
  rating: float.optional(),
  published: bool.default(false),
  inUhd: bool.optional(),
  archived: bool.default(false),
  deletedAt: datetime.optional(),
  removedOn: datetime.optional(),
  maker: belongsTo(() => maker).optional(),
})
  .rules(everybody)
  .actions({
    softDelete: softDeleteAction(),
    restore: restoreAction(),
    archive: archiveAction(),
    unarchive: unarchiveAction(),
    clone: cloneAction(),
    bulkUpdate: bulkUpdateAction(),
    bulkDelete: bulkDeleteAction(),
    toggle: toggleAction("published"),
    toggleUhd: toggleAction("inUhd"),
    count: countAction(),
    exists: existsAction(),
  });
/** Non-default field names, and prebuilt actions under their own keys. */
const reel = entity("reel", {
  title: string,
  code: string.optional(),
  note: string.optional(),
  archived: bool.optional(),
  removedOn: datetime.optional().readonly(),
})
  .rules(everybody)
  .actions({
    trash: softDeleteAction("removedOn"),
    untrash: restoreAction("removedOn"),
    archive: archiveAction,
    unarchive: unarchiveAction,
    duplicate: cloneAction(["code", "note"]),
    count: countAction,
    exists: existsAction,
  });
const bare = entity("bare", { archived: bool, deletedAt: datetime.optional(), published: bool }).rules(everybody);

function problemsOf(make: () => unknown): readonly string[] {
  try {
    make();
    return [];
  } catch (error) {
    return (error as ConfigurationError).problems;
  }
}

describe.each(SQL_DATABASES)("on %s", (_name, openDatabase) => {
  let database: SqlDatabase;
  let url: string;
  let close: () => Promise<void>;
  beforeAll(async () => {
    database = await openDatabase();
    const makeApp = (driver: Driver) => keelson({ entities: [maker, film, reel, bare], driver, logger: noopLogger });
    const app = await startApp(makeApp(database.driver));
    ({ url, close } = app);
  });
  afterAll(async () => {
    await close();
    await database.drop();
  });

  const send = async (method: string, path: string, body?: unknown) =>
    request(url, method, `/api${path}`, body === undefined ? {} : { body });
  const make = async (data: object = {}, path = "/films"): Promise<string> =>
    (await send("POST", path, { title: "Alien", ...data })).json.id;
  const see = async (id: string, path = "/films") => (await send("GET", `${path}/${id}`)).json;

  describe("4.2, the table", () => {
    it("softDeleteAction: DELETE /:id/soft sets deletedAt and returns { success: true }", async () => {
      const id = await make();
      const before = Date.now();
      const { status, json } = await send("DELETE", `/films/${id}/soft`);
      expect([status, json]).toEqual([200, { success: true }]);
      const { deletedAt } = await see(id);
      expect(Date.parse(deletedAt)).toBeGreaterThanOrEqual(before);
      expect(Date.parse(deletedAt)).toBeLessThanOrEqual(Date.now());
    });

    it("softDeleteAction: a repetition succeeds and keeps the time", async () => {
      const id = await make();
      await send("DELETE", `/films/${id}/soft`);
      const first = await see(id);
      const { status, json } = await send("DELETE", `/films/${id}/soft`);
      expect([status, json]).toEqual([200, { success: true }]);
      expect(await see(id)).toEqual(first);
    });

    it("restoreAction: POST /:id/restore clears deletedAt, deleted or not", async () => {
      const id = await make();
      await send("DELETE", `/films/${id}/soft`);
      for (const _time of ["first", "second"]) {
        const { status, json } = await send("POST", `/films/${id}/restore`);
        expect([status, json]).toEqual([200, { success: true }]);
        expect((await see(id)).deletedAt).toBeNull();
      }
    });

    it("archiveAction and unarchiveAction: POST /:id/archive and unarchive set archived", async () => {
      const id = await make();
      for (const [verb, archived] of [
        ["archive", true],
        ["archive", true],
        ["unarchive", false],
        ["unarchive", false],
      ]) {
        const { status, json } = await send("POST", `/films/${id}/${verb}`);
        expect([status, json]).toEqual([200, { success: true }]);
        expect((await see(id)).archived).toBe(archived);
      }
    });

    it("archiveAction and unarchiveAction set a null field too", async () => {
      const [archived, unarchived] = [await make({}, "/reels"), await make({}, "/reels")];
      expect((await see(archived, "/reels")).archived).toBeNull();
      await send("POST", `/reels/${archived}/archive`);
      await send("POST", `/reels/${unarchived}/unarchive`);
      expect((await see(archived, "/reels")).archived).toBe(true);
      expect((await see(unarchived, "/reels")).archived).toBe(false);
    });

    it("cloneAction: POST /:id/clone returns the new record with a new id and times", async () => {
      const makerId = (await send("POST", "/makers", { name: "Ridley" })).json.id;
      const id = await make({ rating: 8.5, published: true, makerId });
      const original = await see(id);
      const { status, json, headers } = await send("POST", `/films/${id}/clone`);
      expect(status).toBe(201);
      expect(headers.get("location")).toBe(`/api/films/${json.id}`);
      expect(json.id).not.toBe(id);
      const { id: _id, createdAt, updatedAt, ...copied } = json;
      const { id: _other, createdAt: born, updatedAt: changed, ...rest } = original;
      expect(copied).toEqual(rest);
      expect(copied).toMatchObject({ title: "Alien", rating: 8.5, published: true, makerId });
      expect(Date.parse(createdAt)).toBeGreaterThanOrEqual(Date.parse(born));
      expect(Date.parse(updatedAt)).toBeGreaterThanOrEqual(Date.parse(changed));
      expect(await see(json.id)).toEqual(json);
      expect(await see(id)).toEqual(original);
    });

    it("cloneAction(fieldsToExclude): omits these, and id, createdAt and updatedAt", async () => {
      const id = await make({ code: "c1", note: "n1", archived: true }, "/reels");
      const { status, json } = await send("POST", `/reels/${id}/clone`);
      expect(status).toBe(201);
      expect(json).toMatchObject({ title: "Alien", archived: true, code: null, note: null });
      expect(json.id).not.toBe(id);
    });

    it("cloneAction: a unique value that is taken is 409 and names the field", async () => {
      const id = await make({ slug: "alien" });
      const { status, json } = await send("POST", `/films/${id}/clone`);
      expect(status).toBe(409);
      expect(json).toMatchObject({ code: "CONFLICT", errors: { slug: "is already taken" } });
    });

    it("bulkUpdateAction: PUT /bulk with { ids, data } updates and returns the number", async () => {
      const ids = [await make(), await make(), await make()];
      const { status, json } = await send("PUT", "/films/bulk", { ids: ids.slice(1), data: { year: 1986, rating: 7 } });
      expect([status, json]).toEqual([200, { count: 2 }]);
      expect(await Promise.all(ids.map(async (id) => (await see(id)).year))).toEqual([1999, 1986, 1986]);
    });

    it("bulkUpdateAction: a repeated id counts once, and a missing one not at all", async () => {
      const id = await make();
      const { json } = await send("PUT", "/films/bulk", { ids: [id, "nothing-here", id], data: { year: 1 } });
      expect(json).toEqual({ count: 1 });
    });

    it("bulkUpdateAction: an invalid value is refused, and nothing is changed", async () => {
      const ids = [await make(), await make()];
      const wrong = await send("PUT", "/films/bulk", { ids, data: { year: "x", zzz: 1 } });
      expect(wrong.status).toBe(400);
      expect(wrong.json.errors).toHaveProperty("zzz");
      const taken = await send("PUT", "/films/bulk", { ids, data: { slug: "same" } });
      expect(taken.status).toBe(409);
      expect(await Promise.all(ids.map(async (id) => (await see(id)).slug))).toEqual([null, null]);
    });

    it("bulkDeleteAction: DELETE /bulk with { ids } deletes and returns the number", async () => {
      const ids = [await make(), await make(), await make()];
      const { status, json } = await send("DELETE", "/films/bulk", { ids: [...ids.slice(1), ids[1], "nothing-here"] });
      expect([status, json]).toEqual([200, { count: 2 }]);
      const statuses = await Promise.all(ids.map(async (id) => (await send("GET", `/films/${id}`)).status));
      expect(statuses).toEqual([200, 404, 404]);
    });

    it.each<[string, unknown]>([
      ["no body", undefined],
      ["null", null],
      ["a list", ["a"]],
      ["no ids", {}],
      ["empty ids", { ids: [] }],
      ["ids that are no list", { ids: "a" }],
      ["an empty id", { ids: [""] }],
      ["an id that is no text", { ids: [1] }],
      ["an id that no database takes", { ids: ["a\u0000b"] }],
      ["too many ids", { ids: Array.from({ length: 1001 }, (_, i) => `i${i}`) }],
      ["something else besides", { ids: ["a"], force: true }],
    ])("bulk actions refuse %s with 400", async (_what, body) => {
      const deletion = await send("DELETE", "/films/bulk", body);
      expect(deletion.status).toBe(400);
      const withData =
        typeof body === "object" && body !== null && !Array.isArray(body) ? { ...body, data: { year: 1 } } : body;
      expect((await send("PUT", "/films/bulk", withData)).status).toBe(400);
    });

    it.each<[string, unknown]>([
      ["no data", undefined],
      ["empty data", {}],
      ["data that is no object", [1]],
      ["null", null],
    ])("bulkUpdateAction refuses %s with 400", async (_what, data) => {
      expect((await send("PUT", "/films/bulk", { ids: ["a"], data })).status).toBe(400);
    });

    it("bulk actions accept as many ids as the limit", async () => {
      const ids = Array.from({ length: 999 }, (_, i) => `i${i}`);
      const id = await make();
      expect((await send("PUT", "/films/bulk", { ids: [...ids, id], data: { year: 3 } })).json).toEqual({ count: 1 });
      expect((await send("DELETE", "/films/bulk", { ids: [...ids, id] })).json).toEqual({ count: 1 });
    });

    it("toggleAction(field): POST /:id/toggle-<field> inverts and returns the field", async () => {
      const id = await make();
      for (const published of [true, false, true]) {
        const { status, json } = await send("POST", `/films/${id}/toggle-published`);
        expect([status, json]).toEqual([200, { published }]);
        expect((await see(id)).published).toBe(published);
      }
    });

    it("exportAction: GET /export returns records, as JSON or with format as csv", async () => {
      const name = `Ridley, "Sir" ${Math.random()}`;
      const made = (await send("POST", "/makers", { name })).json;
      const search = `name=${encodeURIComponent(name)}`;
      for (const format of ["", "&format=json"]) {
        const { status, json } = await send("GET", `/makers/export?${search}${format}`);
        expect([status, json]).toEqual([200, [made]]);
      }
      expect((await send("GET", "/makers/export?format=xml")).status).toBe(400);
    });

    it("exportAction: csv has a header row and a row per record, with quoted texts", async () => {
      const name = `Ridley, "Sir" ${Math.random()}`;
      const { id } = (await send("POST", "/makers", { name })).json;
      const response = await fetch(`${url}/api/makers/export?format=csv&name=${encodeURIComponent(name)}`);
      expect(response.headers.get("content-type")).toBe("text/csv; charset=utf-8");
      const [header, row] = (await response.text()).split(/\r?\n/);
      expect(header?.replaceAll('"', "").split(",")).toEqual(["id", "name", "createdAt", "updatedAt"]);
      expect(row?.startsWith(`"${id}","${name.replaceAll('"', '""')}",`)).toBe(true);
    });

    it("countAction: GET /count returns { count: <int> }", async () => {
      await send("POST", "/makers", { name: "Somebody" });
      const [{ n } = {}] = await database.rows('SELECT count(*) AS "n" FROM "maker"');
      const { status, json } = await send("GET", "/makers/count");
      expect([status, json]).toEqual([200, { count: Number(n) }]);
      expect(Number(n)).toBeGreaterThan(0);
    });

    it("existsAction: GET /:id/exists returns { exists: <boolean> }", async () => {
      const id = await make();
      expect(await send("GET", `/films/${id}/exists`)).toMatchObject({ status: 200, json: { exists: true } });
      expect(await send("GET", "/films/nothing-here/exists")).toMatchObject({ status: 200, json: { exists: false } });
    });

    it.each([
      ["DELETE", "soft"],
      ["POST", "restore"],
      ["POST", "archive"],
      ["POST", "unarchive"],
      ["POST", "clone"],
      ["POST", "toggle-published"],
    ])("%s /:id/%s is 404 for a missing record, with any id", async (method, verb) => {
      for (const id of ["nothing-here", "x".repeat(129), "%F0%9F%8E%AC"]) {
        const { status, json } = await send(method, `/films/${id}/${verb}`);
        expect([status, json.code]).toEqual([404, "NOT_FOUND"]);
      }
    });

    it("paths of actions are not ids: other methods on them are 405 with Allow", async () => {
      const refused = await send("GET", "/films/x/clone");
      expect([refused.status, refused.headers.get("allow")]).toEqual([405, "POST, OPTIONS"]);
      const options = await send("OPTIONS", "/films/x/exists");
      expect([options.status, options.headers.get("allow")]).toEqual([204, "GET, HEAD, OPTIONS"]);
      const head = await send("HEAD", "/films/count");
      expect([head.status, head.json]).toEqual([200, undefined]);
      // `/bulk` and `/count` take precedence over `/:id`, which has more methods.
      expect((await send("POST", "/films/bulk", {})).status).toBe(405);
    });
  });

  describe("4.2, rule 1: an action is available only when attached; the key is its name", () => {
    it("an entity without actions has none of the endpoints", async () => {
      for (const [method, path] of [
        ["DELETE", "/x/soft"],
        ["POST", "/x/restore"],
        ["POST", "/x/archive"],
        ["POST", "/x/unarchive"],
        ["POST", "/x/clone"],
        ["POST", "/x/toggle-published"],
        ["GET", "/x/exists"],
        ["POST", "/bulk-update"],
        ["POST", "/bulk-delete"],
      ] as const)
        expect([404, 405], path).toContain((await send(method, `/bares${path}`)).status);
      // There, `count` and `bulk` are ids like any other.
      expect((await send("GET", "/bares/count")).status).toBe(404);
      expect((await send("PUT", "/bares/bulk", { published: true })).status).toBe(404);
      expect((await send("DELETE", "/bares/bulk")).status).toBe(404);
    });

    it("the key names the action in the list of routes, and does not change its path", async () => {
      const app = keelson({ entities: [reel], logger: noopLogger });
      const named = app.routes.filter(({ plugin }) => plugin === "actions").map((route) => [route.action, route.path]);
      expect(named).toEqual([
        ["trash", "/api/reels/:id/soft"],
        ["untrash", "/api/reels/:id/restore"],
        ["archive", "/api/reels/:id/archive"],
        ["unarchive", "/api/reels/:id/unarchive"],
        ["duplicate", "/api/reels/:id/clone"],
        ["count", "/api/reels/count"],
        ["exists", "/api/reels/:id/exists"],
      ]);
      await app.close();
    });
  });

  describe("4.2, rule 2: softDelete and restore need an optional datetime, archive and unarchive a bool named archived", () => {
    it("softDelete and restore work on their field, though callers cannot write it", async () => {
      const id = await make({}, "/reels");
      expect((await send("DELETE", `/reels/${id}/soft`)).status).toBe(200);
      expect((await see(id, "/reels")).removedOn).toMatch(/^\d{4}-/);
      expect((await send("POST", `/reels/${id}/restore`)).status).toBe(200);
      expect((await see(id, "/reels")).removedOn).toBeNull();
    });

    it("an app whose entity lacks the field does not start, with all problems at once", async () => {
      const lacking = entity("lacking", { title: string, flag: string, archived: int })
        .rules(everybody)
        .actions({
          a: softDeleteAction(),
          b: restoreAction("title"),
          d: archiveAction(),
          e: unarchiveAction,
          f: toggleAction("flag"),
          g: toggleAction("nothing"),
          h: cloneAction(["nothing"]),
          i: toggleAction as never,
        });
      const required = entity("required", { at: datetime, on: bool.encrypted() }).actions({
        a: softDeleteAction("at"),
        b: toggleAction("on"),
      });
      const encryption = { key: "11".repeat(32) };
      expect(problemsOf(() => keelson({ entities: [lacking, required], encryption, logger: noopLogger }))).toEqual([
        'action "a" of lacking: needs an optional datetime field "deletedAt", which it does not have',
        'action "b" of lacking: needs an optional datetime field "title", and that one is of the kind string',
        'action "d" of lacking: needs a bool field "archived", and that one is of the kind int',
        'action "e" of lacking: needs a bool field "archived", and that one is of the kind int',
        'action "f" of lacking: needs a bool field "flag", and that one is of the kind string',
        'action "g" of lacking: needs a bool field "nothing", which it does not have',
        'action "h" of lacking: there is no field "nothing" to leave out',
        'action "i" of lacking: toggleAction needs the name of a field, as in toggleAction("published")',
        'action "a" of required: needs an optional datetime field "at", and that one is not optional',
        'action "b" of required: needs a bool field "on", and that one is encrypted',
      ]);
    });
  });

  describe("4.2, rule 3: the path of a toggle has the field's name after toggle-", () => {
    it("each field has a path of its own", async () => {
      const id = await make();
      expect((await send("POST", `/films/${id}/toggle-inUhd`)).json).toEqual({ inUhd: true });
      expect(await see(id)).toMatchObject({ published: false, inUhd: true });
      expect((await send("POST", `/films/${id}/toggle-inUhd`)).json).toEqual({ inUhd: false });
      expect((await send("POST", `/films/${id}/toggle-archived`)).status).toBe(404);
    });
  });

  describe("4.2, rule 4: filters of a count are equality matches, typed by their fields", () => {
    it.each([
      ["title=Heat", 2],
      ["published=true", 1],
      ["published=false", 2],
      ["year=1995", 2],
      ["rating=8.5", 1],
      ["title=Heat&year=1995", 1],
      ["title=Heat&published=true&year=1995", 0],
      ["year_gte=1996", 1],
      ["_=123", 3],
    ])("?%s counts %i", async (search, count) => {
      const mark = `m${Math.random()}`;
      const makerId = (await send("POST", "/makers", { name: mark })).json.id;
      await make({ title: "Heat", year: 1995, rating: 8.5, makerId });
      await make({ title: "Heat", year: 2013, published: true, makerId });
      await make({ title: "Casino", year: 1995, makerId });
      const { status, json } = await send("GET", `/films/count?makerId=${makerId}&${search}`);
      expect([status, json]).toEqual([200, { count }]);
    });

    it.each(["published=yes", "year=x", "year=1&year_lt=x", "zzz=1", "_limit=1", "_sort=year", "include=maker"])(
      "?%s is 400",
      async (search) => {
        expect((await send("GET", `/films/count?${search}`)).status).toBe(400);
      },
    );
  });
});
