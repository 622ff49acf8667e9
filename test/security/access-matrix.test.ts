import { createClient } from "@libsql/client";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  belongsTo,
  bool,
  type Driver,
  defineRule,
  embedded,
  entity,
  noopLogger,
  postgres,
  string,
  type User,
} from "../../src/index.ts";
import { createTestApp } from "../../src/testing/index.ts";
import { countCalls } from "../support/count-calls.ts";
import { freshPostgres, freshSqliteFile } from "../support/databases.ts";

// One entity per rule; that one rule governs every access of the entity. The expected results below are written by hand
// from the documents, not computed from the code.

const user = entity("user", { name: string })
  .ownedBy("id")
  .rules({ read: ["everyone"] });
const published = defineRule("published", () => ({ published: true }));
const recordIsMine = defineRule(
  "recordIsMine",
  ({ user: caller, record }) => caller !== null && record?.authorId === caller.id,
  {
    where: ({ user: caller }) => (caller === null ? false : { authorId: caller.id }),
  },
);

const fields = { title: string, published: bool.default(false), author: belongsTo(() => user) };
const ruled = (name: string, rule: string | { name: string }) =>
  entity(name, fields)
    .ownedBy("author")
    .rules({ create: [rule], read: [rule], update: [rule], delete: [rule] });

const entities = {
  everyone: ruled("docEveryone", "everyone"),
  authenticated: ruled("docAuthenticated", "authenticated"),
  owner: ruled("docOwner", "owner"),
  admin: ruled("docAdmin", "admin"),
  ownerOrAdmin: ruled("docOwnerOrAdmin", "ownerOrAdmin"),
  published: ruled("docPublished", published),
  recordIsMine: ruled("docRecordIsMine", recordIsMine),
  none: entity("docNone", fields).ownedBy("author"),
  empty: entity("docEmpty", fields).ownedBy("author").rules({ create: [], read: [], update: [], delete: [] }),
  hidden: ruled("docHidden", "owner").hideForbidden(),
} as const;
type RuleName = keyof typeof entities;
type Caller = "anonymous" | "ann" | "bob" | "admin";
type Target = "own" | "foreign" | "missing";

const USERS: Readonly<Record<Caller, User | null>> = {
  anonymous: null,
  ann: { id: "ann" },
  bob: { id: "bob" },
  admin: { id: "adm", role: "admin" },
};

/** What a rule grants a caller: the truth table. "own" and "foreign" are existing records. */
interface Grant {
  /** Status for the caller's own record, another user's record, and a missing record. */
  readonly own: number;
  readonly foreign: number;
  readonly missing: number;
  readonly create: number;
  /** Which of the records of ann, bob and admin (two each, one published) a list shows, or the status that refuses it. */
  readonly list: readonly string[] | number;
}
const all = ["a1", "a2", "b1", "b2", "c1", "c2"];
const open = { own: 200, foreign: 200, missing: 404, create: 201, list: all };
const shut = (status: number): Grant => ({
  own: status,
  foreign: status,
  missing: status,
  create: status,
  list: status,
});
const mine = (list: readonly string[]): Grant => ({ own: 200, foreign: 403, missing: 404, create: 201, list });

const TRUTH: Readonly<Record<RuleName, Readonly<Record<Caller, Grant>>>> = {
  // An anonymous caller cannot be an owner, so it cannot create a record that needs one.
  everyone: { anonymous: { ...open, create: 401 }, ann: open, bob: open, admin: open },
  authenticated: { anonymous: shut(401), ann: open, bob: open, admin: open },
  owner: { anonymous: shut(401), ann: mine(["a1", "a2"]), bob: mine(["b1", "b2"]), admin: mine(["c1", "c2"]) },
  admin: { anonymous: shut(401), ann: shut(403), bob: shut(403), admin: open },
  ownerOrAdmin: { anonymous: shut(401), ann: mine(["a1", "a2"]), bob: mine(["b1", "b2"]), admin: open },
  // "own" is record 1 of the caller, which is published; "foreign" is record 2 of another user, which is not.
  published: {
    // The same status for hidden and missing records.
    anonymous: { own: 200, foreign: 401, missing: 401, create: 401, list: ["a1", "b1", "c1"] },
    ann: { own: 200, foreign: 403, missing: 404, create: 403, list: ["a1", "b1", "c1"] },
    bob: { own: 200, foreign: 403, missing: 404, create: 403, list: ["a1", "b1", "c1"] },
    admin: { own: 200, foreign: 403, missing: 404, create: 403, list: ["a1", "b1", "c1"] },
  },
  recordIsMine: { anonymous: shut(401), ann: mine(["a1", "a2"]), bob: mine(["b1", "b2"]), admin: mine(["c1", "c2"]) },
  none: { anonymous: shut(401), ann: shut(403), bob: shut(403), admin: shut(403) },
  empty: { anonymous: shut(401), ann: shut(403), bob: shut(403), admin: shut(403) },
  hidden: {
    anonymous: shut(401),
    ann: { ...mine(["a1", "a2"]), foreign: 404 },
    bob: { ...mine(["b1", "b2"]), foreign: 404 },
    admin: { ...mine(["c1", "c2"]), foreign: 404 },
  },
};

/** The same in SQL, written by hand: the rows that a caller's list must show. */
const SQL: Readonly<Record<RuleName, (callerId: string | undefined, isAdmin: boolean) => string>> = {
  everyone: () => "1 = 1",
  authenticated: (id) => (id === undefined ? "1 = 0" : "1 = 1"),
  owner: (id) => `"authorId" = '${id}'`,
  admin: (_id, isAdmin) => (isAdmin ? "1 = 1" : "1 = 0"),
  ownerOrAdmin: (id, isAdmin) => (isAdmin ? "1 = 1" : `"authorId" = '${id}'`),
  published: () => `"published" = true`,
  recordIsMine: (id) => `"authorId" = '${id}'`,
  none: () => "1 = 0",
  empty: () => "1 = 0",
  hidden: (id) => `"authorId" = '${id}'`,
};

const LETTER: Readonly<Record<Caller, string>> = { anonymous: "a", ann: "a", bob: "b", admin: "c" };
const OWNER: Readonly<Record<string, string>> = { a: "ann", b: "bob", c: "adm" };

/** "own" is the caller's published record 1, "foreign" the next user's unpublished record 2. */
function idOf(caller: Caller, target: Target): string {
  if (target === "missing") return "nothing-here";
  if (target === "own") return `${LETTER[caller]}1`;
  return caller === "ann" || caller === "anonymous" ? "b2" : "a2";
}

function seedRows(): Record<string, unknown>[] {
  return all.map((id) => ({ id, title: `Title ${id}`, published: id.endsWith("1"), authorId: OWNER[id.charAt(0)] }));
}

interface Backend {
  readonly driver: Driver;
  /** Ids that a statement selects, run directly on the database. */
  ids(statement: string): Promise<string[]>;
  drop(): Promise<void>;
}

const BACKENDS: readonly (readonly [string, () => Promise<Backend>])[] = [
  [
    "SQLite",
    async () => {
      const { file, remove } = await freshSqliteFile();
      return {
        driver: embedded({ file }),
        async ids(statement) {
          const client = createClient({ url: `file:${file}` });
          const { rows } = await client.execute(statement);
          client.close();
          return rows.map((row) => String(row.id));
        },
        drop: remove,
      };
    },
  ],
  [
    "PostgreSQL",
    async () => {
      const { url, drop } = await freshPostgres();
      return {
        driver: postgres(url),
        async ids(statement) {
          const client = new pg.Client({ connectionString: url });
          await client.connect();
          const { rows } = await client.query<{ id: string }>(statement);
          await client.end();
          return rows.map(({ id }) => id);
        },
        drop,
      };
    },
  ],
];

describe.each(BACKENDS)("access on %s", (_name, open_) => {
  let app: ReturnType<typeof makeApp>;
  let backend: Backend;
  const calls = { count: 0 };

  const makeApp = (driver: Driver) =>
    createTestApp({
      entities: [user, ...Object.values(entities)],
      driver: countCalls(driver, calls),
      logger: noopLogger,
      production: false,
    });

  beforeAll(async () => {
    backend = await open_();
    app = makeApp(backend.driver);
    await app.api.ready;
    for (const id of ["ann", "bob", "adm"]) await app.api.asSystem().user.create({ id, name: id });
  });
  afterAll(async () => {
    await app.close();
    await backend.drop();
  });

  const reset = async (rule: RuleName): Promise<void> => {
    const { name } = entities[rule];
    await app.api.driver.deleteMany(name, { id: { null: false } });
    const now = new Date();
    for (const row of seedRows()) await app.api.driver.create(name, { ...row, createdAt: now, updatedAt: now });
  };
  const pathOf = (rule: RuleName): string => {
    const route = app.api.routes.find(
      (candidate) => candidate.entity === entities[rule].name && candidate.action === "list",
    );
    return String(route?.path);
  };
  const idsIn = async (rule: RuleName): Promise<string[]> =>
    (await app.api.driver.findMany(entities[rule].name)).map((row) => String(row.id));

  const rules = Object.keys(entities) as RuleName[];
  const callers = Object.keys(USERS) as Caller[];
  const targets: readonly Target[] = ["own", "foreign", "missing"];

  describe.each(rules)("rule %s", (rule) => {
    describe.each(callers)("caller %s", (caller) => {
      const grant = TRUTH[rule][caller];

      it.each(targets)("reads, updates and deletes a record that is %s as the table says", async (target) => {
        await reset(rule);
        const url = `${pathOf(rule)}/${idOf(caller, target)}`;
        const as = app.as(USERS[caller]);
        for (const method of ["GET", "HEAD"])
          expect((await as.request(method, url)).status, method).toBe(grant[target]);
        for (const method of ["PUT", "PATCH"]) {
          expect((await as.request(method, url, { title: "Changed" })).status, method).toBe(grant[target]);
        }
        const row = await app.api.driver.findOne(entities[rule].name, { id: idOf(caller, target) });
        if (row !== null) expect(row.title === "Changed").toBe(grant[target] === 200);
        const removed = await as.request("DELETE", url);
        expect(removed.status).toBe(grant[target]);
        const left = await idsIn(rule);
        expect(left).toEqual(grant[target] === 200 ? all.filter((id) => id !== idOf(caller, target)) : all);
      });

      it("creates as the table says, and never in another caller's name", async () => {
        await reset(rule);
        const as = app.as(USERS[caller]);
        const ownId = USERS[caller]?.id;
        // An anonymous caller's record has no owner unless the body names one.
        const body = ownId === undefined ? { title: "New", authorId: "ann" } : { title: "New" };
        const created = await as.request("POST", pathOf(rule), body);
        expect(created.status).toBe(grant.create);
        expect(await app.api.driver.count(entities[rule].name)).toBe(grant.create === 201 ? 7 : 6);
        if (created.status === 201 && ownId !== undefined)
          expect((created.body as { authorId: string }).authorId).toBe(ownId);
        if (ownId === undefined || caller === "admin") return;
        const stolen = await as.request("POST", pathOf(rule), { title: "New", authorId: "adm" });
        expect(stolen.status).toBe(grant.create === 201 ? 403 : grant.create);
        expect(await app.api.driver.count(entities[rule].name)).toBe(grant.create === 201 ? 7 : 6);
      });

      it("lists, counts and totals exactly the records in the table", async () => {
        await reset(rule);
        const listed = await app.as(USERS[caller]).request("GET", `${pathOf(rule)}?_sort=id`);
        if (typeof grant.list === "number") {
          expect(listed.status).toBe(grant.list);
          return;
        }
        expect((listed.body as { id: string }[]).map(({ id }) => id)).toEqual(grant.list);
        expect(listed.headers.get("x-total-count")).toBe(String(grant.list.length));
        const asked = USERS[caller];
        const where = SQL[rule](asked?.id, asked?.role === "admin");
        const inSql = await backend.ids(`SELECT "id" FROM "${entities[rule].name}" WHERE ${where} ORDER BY "id"`);
        expect(inSql).toEqual(grant.list);
        if (asked === null) return;
        const client = app.api.as(asked)[entities[rule].name];
        expect(await client?.count()).toBe(inSql.length);
      });
    });
  });

  it("runs no statement for a refused anonymous caller, even if the record exists", async () => {
    const shutRules = rules.filter((rule) => TRUTH[rule].anonymous.list === 401);
    expect(shutRules.length).toBeGreaterThan(4);
    for (const rule of shutRules) {
      await reset(rule);
      const before = calls.count;
      const answers = new Set<string>();
      for (const id of ["a1", "nothing-here"]) {
        for (const [method, body] of [["GET"], ["PUT", { title: "x" }], ["PATCH", { zzz: 1 }], ["DELETE"]] as const) {
          const { status, body: answer } = await app.as(null).request(method, `${pathOf(rule)}/${id}`, body);
          answers.add(JSON.stringify([status, { ...(answer as object), requestId: "" }]));
        }
      }
      for (const query of ["", "?zzz=1", "?title_like=a&include=author"]) {
        const { status, body: answer } = await app.as(null).request("GET", `${pathOf(rule)}${query}`);
        answers.add(JSON.stringify([status, { ...(answer as object), requestId: "" }]));
      }
      expect(calls.count).toBe(before);
      expect([...answers]).toHaveLength(1);
    }
  });
});
