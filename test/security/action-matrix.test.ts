import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { PlainActionContext } from "../../src/entity/index.ts";
import {
  action,
  archiveAction,
  belongsTo,
  bool,
  bulkDeleteAction,
  bulkUpdateAction,
  cloneAction,
  countAction,
  type Driver,
  datetime,
  defineRule,
  entity,
  existsAction,
  int,
  noopLogger,
  restoreAction,
  softDeleteAction,
  string,
  toggleAction,
  type User,
  unarchiveAction,
} from "../../src/index.ts";
import { createTestApp } from "../../src/testing/index.ts";
import { countCalls } from "../support/count-calls.ts";
import { SQL_DATABASES, type SqlDatabase } from "../support/sql-databases.ts";
import { oneOf } from "../support/suite.ts";

// One entity per rule, with every action; that one rule governs each access. The expected results below are written by
// hand from the documents, not computed from the code.

const user = entity("user", { name: string })
  .ownedBy("id")
  .rules({ read: ["everyone"] });
const published = defineRule("action matrix: published", () => ({ published: true }));
const recordIsMine = defineRule(
  "action matrix: recordIsMine",
  ({ user: caller, record }) => caller !== null && record?.authorId === caller.id,
  { where: ({ user: caller }) => (caller === null ? false : { authorId: caller.id }) },
);
const looksAtRecord = defineRule(
  "action matrix: looksAtRecord",
  ({ user: caller, record }) => caller !== null && record?.authorId === caller.id,
);

const fields = {
  title: string,
  n: int.default(0),
  published: bool.default(false),
  flag: bool.default(false),
  archived: bool.default(false),
  deletedAt: datetime.optional().readonly(),
  author: belongsTo(() => user),
};
const actions = {
  softDelete: softDeleteAction,
  restore: restoreAction,
  archive: archiveAction,
  unarchive: unarchiveAction,
  clone: cloneAction,
  bulkUpdate: bulkUpdateAction,
  bulkDelete: bulkDeleteAction,
  toggle: toggleAction("flag"),
  count: countAction,
  exists: existsAction,
  built: action()
    .onResource()
    .handler(({ driver, entity: { name }, record }) => driver.update(name, { id: record.id }, { n: 7 })),
  plain: {
    method: "PATCH",
    path: "/:id/plain",
    handler: ({ driver, entity: { name }, params }: PlainActionContext) =>
      driver.update(name, { id: params.id }, { n: 8 }),
  },
  erase: action()
    .delete()
    .onResource()
    .handler(({ driver, entity: { name }, record }) => driver.update(name, { id: record.id }, { n: 9 })),
  look: action()
    .get()
    .onResource()
    .handler(({ record }) => record),
  stats: action()
    .get()
    .handler(() => "stats"),
  announce: action().handler(() => "announced"),
  purge: action()
    .delete()
    .handler(() => "purged"),
} as const;

const ruled = (name: string, rule: string | { name: string }) =>
  entity(name, fields)
    .ownedBy("author")
    .rules({ create: [rule], read: [rule], update: [rule], delete: [rule] })
    .actions(actions);

const entities = {
  everyone: ruled("docEveryone", "everyone"),
  authenticated: ruled("docAuthenticated", "authenticated"),
  owner: ruled("docOwner", "owner"),
  admin: ruled("docAdmin", "admin"),
  ownerOrAdmin: ruled("docOwnerOrAdmin", "ownerOrAdmin"),
  published: ruled("docPublished", published),
  recordIsMine: ruled("docRecordIsMine", recordIsMine),
  looksAtRecord: ruled("docLooksAtRecord", looksAtRecord),
  none: entity("docNone", fields).ownedBy("author").actions(actions),
  empty: entity("docEmpty", fields)
    .ownedBy("author")
    .rules({ create: [], read: [], update: [], delete: [] })
    .actions(actions),
  hidden: ruled("docHidden", "owner").hideForbidden(),
} as const;
/** This entity hides softly deleted records. */
const scoped = entity("docScoped", fields)
  .ownedBy("author")
  .softDelete()
  .rules({ create: ["owner"], read: ["owner"], update: ["ownerOrAdmin"], delete: ["ownerOrAdmin"] })
  .actions({
    ...actions,
    open: action()
      .rules("everyone")
      .handler(() => "open"),
  });
type RuleName = keyof typeof entities;
type Caller = "anonymous" | "ann" | "bob" | "admin";
type Target = "own" | "foreign" | "missing" | "deleted";

const USERS: Readonly<Record<Caller, User | null>> = {
  anonymous: null,
  ann: { id: "ann" },
  bob: { id: "bob" },
  admin: { id: "adm", role: "admin" },
};

/** What a rule grants a caller: the truth table. */
interface Grant {
  /** Status of an action on the caller's own record, another user's, a missing one, and the caller's softly deleted one. */
  readonly act: Readonly<Record<Target, number>>;
  /** The same for cloning the record. */
  readonly clone: Readonly<Record<Target, number>>;
  /** The result of `exists` for them, or the status that refuses it. */
  readonly exists: Readonly<Record<Target, boolean>> | number;
  /** Ids that the caller may change, or the status that refuses a bulk change. */
  readonly bulk: readonly string[] | number;
  /** Ids that a count includes, or the status that refuses it. */
  readonly count: readonly string[] | number;
  /** Statuses of actions on the collection that read, create and delete. */
  readonly collection: readonly [get: number, post: number, remove: number];
}

const ALL = ["a1", "a2", "a3", "b1", "b2", "b3", "c1", "c2", "c3"];
const PUBLISHED = ["a1", "a3", "b1", "b3", "c1", "c3"];
const A = ["a1", "a2", "a3"];
const B = ["b1", "b2", "b3"];
const C = ["c1", "c2", "c3"];

const same = (status: number) => ({ own: status, foreign: status, missing: status, deleted: status });
const shut = (status: number): Grant => ({
  act: same(status),
  clone: same(status),
  exists: status,
  bulk: status,
  count: status,
  collection: [status, status, status],
});
const open: Grant = {
  act: { own: 200, foreign: 200, missing: 404, deleted: 200 },
  clone: { own: 201, foreign: 201, missing: 404, deleted: 201 },
  exists: { own: true, foreign: true, missing: false, deleted: true },
  bulk: ALL,
  count: ALL,
  collection: [200, 200, 200],
};
/** Only the caller's own records; a collection has no owner, so it cannot be deleted. */
const mine = (ids: readonly string[], foreign = 403): Grant => ({
  act: { own: 200, foreign, missing: 404, deleted: 200 },
  clone: { own: 201, foreign, missing: 404, deleted: 201 },
  exists: { own: true, foreign: false, missing: false, deleted: true },
  bulk: ids,
  count: ids,
  collection: [200, 200, 403],
});
/** A rule that needs the record: it refuses operations without one. */
const mineByRecord = (ids: readonly string[]): Grant => ({ ...mine(ids), collection: [200, 403, 403] });
/** The same without a `where`: it cannot decide about lists. */
const mineByRecordAlone = (ids: readonly string[]): Grant => ({
  ...mine(ids),
  count: 403,
  collection: [403, 403, 403],
});
const whatIsPublished: Grant = {
  act: { own: 200, foreign: 403, missing: 404, deleted: 200 },
  clone: { own: 201, foreign: 403, missing: 404, deleted: 201 },
  exists: { own: true, foreign: false, missing: false, deleted: true },
  bulk: PUBLISHED,
  count: PUBLISHED,
  collection: [200, 403, 403],
};

const TRUTH: Readonly<Record<RuleName, Readonly<Record<Caller, Grant>>>> = {
  everyone: {
    // An anonymous caller cannot be an owner, so it cannot clone a record that needs one: the key is missing.
    anonymous: { ...open, clone: { own: 400, foreign: 400, missing: 404, deleted: 400 } },
    ann: open,
    bob: open,
    admin: open,
  },
  authenticated: { anonymous: shut(401), ann: open, bob: open, admin: open },
  owner: { anonymous: shut(401), ann: mine(A), bob: mine(B), admin: mine(C) },
  admin: { anonymous: shut(401), ann: shut(403), bob: shut(403), admin: open },
  ownerOrAdmin: { anonymous: shut(401), ann: mine(A), bob: mine(B), admin: open },
  published: {
    // The same status for hidden and missing records.
    anonymous: {
      act: { own: 200, foreign: 401, missing: 401, deleted: 200 },
      clone: { own: 400, foreign: 401, missing: 401, deleted: 400 },
      exists: { own: true, foreign: false, missing: false, deleted: true },
      bulk: PUBLISHED,
      count: PUBLISHED,
      collection: [200, 401, 401],
    },
    ann: whatIsPublished,
    bob: whatIsPublished,
    admin: whatIsPublished,
  },
  recordIsMine: { anonymous: shut(401), ann: mineByRecord(A), bob: mineByRecord(B), admin: mineByRecord(C) },
  looksAtRecord: {
    // It can only be refused after reading the record; an anonymous caller owns no record.
    anonymous: {
      ...shut(401),
      exists: { own: false, foreign: false, missing: false, deleted: false },
      bulk: [],
    },
    ann: mineByRecordAlone(A),
    bob: mineByRecordAlone(B),
    admin: mineByRecordAlone(C),
  },
  none: { anonymous: shut(401), ann: shut(403), bob: shut(403), admin: shut(403) },
  empty: { anonymous: shut(401), ann: shut(403), bob: shut(403), admin: shut(403) },
  hidden: { anonymous: shut(401), ann: mine(A, 404), bob: mine(B, 404), admin: mine(C, 404) },
};

const OWNER: Readonly<Record<string, string>> = { a: "ann", b: "bob", c: "adm" };
const LETTER: Readonly<Record<Caller, string>> = { anonymous: "a", ann: "a", bob: "b", admin: "c" };

/** Three records of each user: the first is published, the second is not, the third is published and softly deleted. */
function idOf(caller: Caller, target: Target): string {
  if (target === "missing") return "nothing-here";
  if (target === "own") return `${LETTER[caller]}1`;
  if (target === "deleted") return `${LETTER[caller]}3`;
  return caller === "ann" || caller === "anonymous" ? "b2" : "a2";
}

const LONG_AGO = new Date("2020-01-02T03:04:05.000Z");
const seedRows = () =>
  ALL.map((id) => ({
    id,
    title: `Title ${id}`,
    n: 0,
    published: !id.endsWith("2"),
    flag: false,
    archived: false,
    deletedAt: id.endsWith("3") ? LONG_AGO : null,
    authorId: OWNER[id.charAt(0)],
    createdAt: LONG_AGO,
    updatedAt: LONG_AGO,
  }));

/** Actions on a record, by name, with the change that they make. Undefined: no change, because the record already has it. */
type Change = Readonly<Record<string, unknown>> | "timestamp" | undefined;
const ON_RECORD: Readonly<Record<string, readonly [method: string, path: string, own: Change, deleted: Change]>> = {
  softDelete: ["DELETE", "soft", "timestamp", undefined],
  restore: ["POST", "restore", undefined, { deletedAt: null }],
  archive: ["POST", "archive", { archived: true }, { archived: true }],
  unarchive: ["POST", "unarchive", undefined, undefined],
  toggle: ["POST", "toggle-flag", { flag: true }, { flag: true }],
  built: ["POST", "built", { n: 7 }, { n: 7 }],
  plain: ["PATCH", "plain", { n: 8 }, { n: 8 }],
  erase: ["DELETE", "erase", { n: 9 }, { n: 9 }],
  look: ["GET", "look", undefined, undefined],
};

describe.each(SQL_DATABASES)("actions on %s", (databaseName, openDatabase) => {
  // Each rule and caller on one of the databases; on both in the long suite.
  const place = SQL_DATABASES.findIndex(([one]) => one === databaseName);
  const isHere = (turn: number): boolean => oneOf(turn, [...SQL_DATABASES.keys()]).includes(place);
  let app: ReturnType<typeof makeApp>;
  let database: SqlDatabase;
  const calls = { count: 0 };
  const makeApp = (driver: Driver) =>
    createTestApp({
      entities: [user, scoped, ...Object.values(entities)],
      driver: countCalls(driver, calls),
      logger: noopLogger,
      production: false,
    });

  beforeAll(async () => {
    database = await openDatabase();
    app = makeApp(database.driver);
    await app.api.ready;
    for (const id of ["ann", "bob", "adm"]) await app.api.asSystem().user.create({ id, name: id });
  });
  afterAll(async () => {
    await app.close();
    await database.drop();
  });

  const reset = async (rule: RuleName): Promise<void> => {
    const { name } = entities[rule];
    await app.api.driver.deleteMany(name, { id: { null: false } });
    await app.api.driver.createMany(name, seedRows());
  };
  const pathOf = (rule: RuleName): string =>
    String(app.api.routes.find((route) => route.entity === entities[rule].name && route.action === "list")?.path);
  const stored = async (rule: RuleName): Promise<Map<string, Record<string, unknown>>> =>
    new Map((await app.api.driver.findMany(entities[rule].name)).map((row) => [String(row.id), row]));
  const idsInSql = async (rule: RuleName, where: string): Promise<string[]> =>
    (await database.rows(`SELECT "id" FROM "${entities[rule].name}" WHERE ${where} ORDER BY "id"`)).map((row) =>
      String(row.id),
    );

  const ruleNames = Object.keys(entities) as RuleName[];
  const callers = Object.keys(USERS) as Caller[];
  const targets: readonly Target[] = ["own", "foreign", "missing", "deleted"];

  describe.each(ruleNames)("rule %s", (rule) => {
    describe.each(callers.filter((_, index) => isHere(index + ruleNames.indexOf(rule))))("caller %s", (caller) => {
      const grant = TRUTH[rule][caller];
      const send = (method: string, path: string, body?: unknown) =>
        app.as(USERS[caller]).request(method, `${pathOf(rule)}${path}`, body);

      it.each(Object.keys(ON_RECORD))("%s changes records as the table says, and no other record", async (name) => {
        const [method, path, own, deleted] = ON_RECORD[name] as (typeof ON_RECORD)[string];
        await reset(rule);
        const before = await stored(rule);
        for (const target of targets) {
          const id = idOf(caller, target);
          const at = Date.now();
          const { status } = await send(method, `/${id}/${path}`);
          expect(status, target).toBe(grant.act[target]);
          const change = status !== 200 ? undefined : target === "deleted" ? deleted : own;
          const row = before.get(id);
          const now = await stored(rule);
          if (change !== undefined && row !== undefined) {
            const { updatedAt, ...rest } = now.get(id) as Record<string, unknown>;
            const values = change === "timestamp" ? { deletedAt: rest.deletedAt } : change;
            if (change === "timestamp") expect((rest.deletedAt as Date).getTime()).toBeGreaterThanOrEqual(at);
            expect(rest).toEqual({ ...row, ...values, updatedAt: undefined });
            before.set(id, { ...rest, updatedAt });
          }
          expect(now).toEqual(before);
        }
      });

      it("clones what the table says, in the caller's name only", async () => {
        await reset(rule);
        let expected = ALL.length;
        for (const target of targets) {
          const { status, body } = await send("POST", `/${idOf(caller, target)}/clone`);
          expect(status, target).toBe(grant.clone[target]);
          if (status === 201) {
            expected += 1;
            expect(body).toMatchObject({ title: `Title ${idOf(caller, target)}`, authorId: USERS[caller]?.id });
          }
          expect(await app.api.driver.count(entities[rule].name)).toBe(expected);
        }
      });

      it("reports that a record exists only if the caller may read it", async () => {
        await reset(rule);
        for (const target of targets) {
          const { status, body } = await send("GET", `/${idOf(caller, target)}/exists`);
          if (typeof grant.exists === "number") expect(status, target).toBe(grant.exists);
          else expect([status, body], target).toEqual([200, { exists: grant.exists[target] }]);
        }
      });

      it.each([
        ["PUT", "/bulk"],
        ["POST", "/bulk-update"],
      ])("changes only the permitted records of a mixed list, and counts them: %s %s", async (method, path) => {
        await reset(rule);
        const ids = [...ALL, "nothing-here", "a1"].reverse();
        const { status, body } = await send(method, path, { ids, data: { n: 5 } });
        if (typeof grant.bulk === "number") expect(status).toBe(grant.bulk);
        else expect([status, body]).toEqual([200, { count: grant.bulk.length }]);
        expect(await idsInSql(rule, '"n" = 5')).toEqual(typeof grant.bulk === "number" ? [] : grant.bulk);
        expect(await app.api.driver.count(entities[rule].name)).toBe(ALL.length);
      });

      it.each([
        ["DELETE", "/bulk"],
        ["POST", "/bulk-delete"],
      ])("deletes only the permitted records of a mixed list, and counts them: %s %s", async (method, path) => {
        await reset(rule);
        const { status, body } = await send(method, path, { ids: [...ALL, "nothing-here", "a1"].reverse() });
        const gone = typeof grant.bulk === "number" ? [] : grant.bulk;
        if (typeof grant.bulk === "number") expect(status).toBe(grant.bulk);
        else expect([status, body]).toEqual([200, { count: gone.length }]);
        expect(await idsInSql(rule, "1 = 1")).toEqual(ALL.filter((id) => !gone.includes(id)));
      });

      it("counts exactly the records in the table, with and without a filter", async () => {
        await reset(rule);
        const all = await send("GET", "/count");
        const some = await send("GET", "/count?published=true");
        if (typeof grant.count === "number") {
          expect([all.status, some.status]).toEqual([grant.count, grant.count]);
          return;
        }
        const quoted = grant.count.map((id) => `'${id}'`).join(", ");
        const inSql = await idsInSql(rule, `"published" = true AND "id" IN (${quoted})`);
        expect([all.body, some.body]).toEqual([{ count: grant.count.length }, { count: inSql.length }]);
      });

      it("runs actions on the collection as the table says", async () => {
        const statuses = [];
        for (const [method, path] of [
          ["GET", "/stats"],
          ["POST", "/announce"],
          ["DELETE", "/purge"],
        ] as const)
          statuses.push((await send(method, path)).status);
        expect(statuses).toEqual(grant.collection);
      });
    });
  });

  describe("an entity that hides softly deleted records", () => {
    const path = "/api/doc-scopeds";
    const send = (caller: Caller, method: string, rest: string, body?: unknown) =>
      app.as(USERS[caller]).request(method, path + rest, body);
    const fill = async (): Promise<void> => {
      await app.api.driver.deleteMany("docScoped", { id: { null: false } });
      await app.api.driver.createMany("docScoped", seedRows());
    };
    const inSql = async (where: string): Promise<unknown[]> =>
      (await database.rows(`SELECT "id" FROM "docScoped" WHERE ${where} ORDER BY "id"`)).map(({ id }) => id);

    it.each<[Caller, restore: [own: number, foreign: number]]>([
      ["anonymous", [401, 401]],
      ["ann", [200, 403]],
      ["bob", [200, 403]],
      ["admin", [200, 200]],
    ])("treats them as missing for %s in every action except delete and restore", async (caller, [own, foreign]) => {
      await fill();
      const gone = caller === "anonymous" ? 401 : 404;
      const [mineId, otherId] = [`${LETTER[caller]}3`, caller === "bob" ? "a3" : "b3"];
      for (const id of [mineId, otherId]) {
        for (const [name, [method, verb]] of Object.entries(ON_RECORD)) {
          if (name === "softDelete" || name === "restore") continue;
          expect((await send(caller, method, `/${id}/${verb}`)).status, name).toBe(gone);
        }
        expect((await send(caller, "POST", `/${id}/clone`)).status).toBe(gone);
        const exists = await send(caller, "GET", `/${id}/exists`);
        if (caller === "anonymous") expect(exists.status).toBe(401);
        else expect(exists.body).toEqual({ exists: false });
      }
      expect(await app.api.driver.findMany("docScoped", { where: { id: [mineId, otherId] } })).toMatchObject([
        { n: 0, archived: false, deletedAt: LONG_AGO },
        { n: 0, archived: false, deletedAt: LONG_AGO },
      ]);
      expect((await send(caller, "DELETE", `/${mineId}/soft`)).status).toBe(own);
      // A deleted record out of reach is like a missing one.
      const outOfReach = foreign === 403 ? 404 : foreign;
      expect((await send(caller, "DELETE", `/${otherId}/soft`)).status).toBe(outOfReach);
      expect((await send(caller, "POST", `/${mineId}/restore`)).status).toBe(own);
      expect((await send(caller, "POST", `/${otherId}/restore`)).status).toBe(outOfReach);
      const restored = [own === 200 ? mineId : "", foreign === 200 ? otherId : ""].filter((id) => id !== "").sort();
      expect(await inSql(`"id" LIKE '%3' AND "deletedAt" IS NULL`)).toEqual(restored);
    });

    it("leaves them out of bulk changes, bulk deletions and counts", async () => {
      await fill();
      expect((await send("ann", "PUT", "/bulk", { ids: ALL, data: { n: 5 } })).body).toEqual({ count: 2 });
      expect((await send("admin", "PUT", "/bulk", { ids: ALL, data: { n: 6 } })).body).toEqual({ count: 6 });
      expect(await inSql('"n" = 6')).toEqual(ALL.filter((id) => !id.endsWith("3")));
      expect((await send("ann", "GET", "/count")).body).toEqual({ count: 2 });
      expect((await send("admin", "DELETE", "/bulk", { ids: ALL })).body).toEqual({ count: 6 });
      expect(await inSql("1 = 1")).toEqual(["a3", "b3", "c3"]);
    });

    it("opens actions on the collection to the callers that their rules allow", async () => {
      for (const caller of callers) expect((await send(caller, "POST", "/open")).status).toBe(200);
      const statuses = async (method: string, rest: string): Promise<number[]> =>
        Promise.all(callers.map(async (caller) => (await send(caller, method, rest)).status));
      expect(await statuses("GET", "/stats")).toEqual([401, 200, 200, 200]);
      expect(await statuses("POST", "/announce")).toEqual([401, 200, 200, 200]);
      expect(await statuses("DELETE", "/purge")).toEqual([401, 403, 403, 200]);
    });
  });

  it("runs no statement for a refused anonymous caller, and does not read the request", async () => {
    const shutRules = ruleNames.filter((rule) => TRUTH[rule].anonymous.bulk === 401);
    expect(shutRules.length).toBeGreaterThan(6);
    for (const rule of shutRules) {
      await reset(rule);
      const before = calls.count;
      const answers = new Set<string>();
      const ask = async (method: string, path: string): Promise<void> => {
        const init = method === "GET" ? {} : { body: "{ not JSON", headers: { "content-type": "application/json" } };
        const url = `http://test.invalid${pathOf(rule)}${path}?zzz=1&_limit=x`;
        const response = await app.api.fetch(new Request(url, { method, ...init }));
        answers.add(JSON.stringify([response.status, { ...((await response.json()) as object), requestId: "" }]));
      };
      for (const id of ["a1", "nothing-here", "x".repeat(500)]) {
        for (const [method, path] of Object.values(ON_RECORD)) await ask(method, `/${id}/${path}`);
        // A rule that reads the record needs the copy before it can refuse to create it.
        if (rule !== "recordIsMine") await ask("POST", `/${id}/clone`);
        await ask("GET", `/${id}/exists`);
      }
      for (const path of ["/bulk-update", "/bulk-delete", "/announce"]) await ask("POST", path);
      for (const path of ["/count", "/stats"]) await ask("GET", path);
      for (const path of ["/bulk", "/purge"]) await ask("DELETE", path);
      await ask("PUT", "/bulk");
      expect(calls.count).toBe(before);
      expect([...answers]).toHaveLength(1);
    }
  });
});
