import { afterAll, describe, expect, it } from "vitest";
import {
  admin,
  belongsTo,
  bool,
  datetime,
  defineRule,
  entity,
  int,
  memoryDriver,
  noopLogger,
  type Row,
  string,
  type User,
} from "../../../src/index.ts";
import { createTestApp } from "../../../src/testing/index.ts";
import { createHandlerApp } from "./handler-app.ts";

const everyone = { create: ["everyone"], read: ["everyone"], update: ["everyone"] };
const ann: User = { id: "ann" };
const bob: User = { id: "bob" };
const root: User = { id: "root", role: "admin" };

const senior = defineRule("seniorWriter", async ({ user }) => Number(user?.age) > 60);
const creating = defineRule("creating", ({ operation }) => operation === "create");

describe("a field with writable rules", () => {
  const doc = entity("doc", {
    open: string.default("open"),
    byName: string.writable("admin").optional(),
    byList: string.writable(["admin", "seniorWriter"]).optional(),
    byRule: string.writable(senior).optional(),
    byNobody: string.writable([]).default("initial"),
    once: string.writable(creating).optional(),
    sealed: string.readonly().writable(admin).default("sealed"),
    secret: string.readable(admin).optional(),
  }).rules(everyone);
  const app = createHandlerApp({ entities: [doc], rules: [senior] });
  afterAll(() => app.close());

  const everything = {
    open: "x",
    byName: "x",
    byList: "x",
    byRule: "x",
    byNobody: "x",
    once: "x",
    sealed: "x",
    secret: "x",
  };
  const CASES: readonly (readonly [string, User | null, string[], string[]])[] = [
    ["nobody", null, ["byName", "byList", "byRule", "byNobody"], ["once"]],
    ["somebody", ann, ["byName", "byList", "byRule", "byNobody"], ["once"]],
    ["an administrator", root, ["byRule", "byNobody"], ["once"]],
    ["a senior", { id: "o", age: 61 }, ["byName", "byNobody"], ["once"]],
  ];

  it.each(CASES)("is left out of other callers' writes, and named: %s", async (_, user, dropped, onUpdate) => {
    const as = app.as(user);
    const made = await as.request("POST", "/api/docs", everything);
    expect(made.status).toBe(201);
    expect(made.headers.get("x-ignored-fields")?.split(", ").sort()).toEqual([...dropped].sort());
    const { id } = made.body as { id: string };
    const written = (row: Row): string[] => Object.keys(everything).filter((name) => row[name] === "x");
    const kept = (names: readonly string[]): string[] =>
      Object.keys(everything).filter((name) => !names.includes(name) && name !== "sealed");
    expect(written(await app.api.asSystem().doc.get(id))).toEqual(kept(dropped));
    await app.api.asSystem().doc.update(id, Object.fromEntries(Object.keys(everything).map((name) => [name, "old"])));
    const changed = await as.request("PUT", `/api/docs/${id}`, everything);
    expect(changed.headers.get("x-ignored-fields")?.split(", ").sort()).toEqual([...dropped, ...onUpdate].sort());
    expect(written(await app.api.asSystem().doc.get(id))).toEqual(kept([...dropped, ...onUpdate]));
  });

  it("that is left out gets its default, and is not validated", async () => {
    const { status, body, headers } = await app.as(ann).request("POST", "/api/docs", { byNobody: { not: "text" } });
    expect([status, (body as Row).byNobody, headers.get("x-ignored-fields")]).toEqual([201, "initial", "byNobody"]);
  });

  it("changes nothing when it is not sent", async () => {
    const { headers } = await app.as(ann).request("POST", "/api/docs", { open: "x" });
    expect(headers.has("x-ignored-fields")).toBe(false);
  });

  it("can be written without being readable, which reveals nothing", async () => {
    const { body } = await app.as(ann).request("POST", "/api/docs", { secret: "x" });
    expect(body).not.toHaveProperty("secret");
    const id = String((body as Row).id);
    expect((await app.api.asSystem().doc.get(id)).secret).toBe("x");
  });

  it("is written by the system", async () => {
    const { id } = await app.api.asSystem().doc.create(everything);
    expect(await app.api.asSystem().doc.get(id)).toMatchObject(everything);
  });
});

describe("a field that is writable on some records only", () => {
  const published = defineRule("publishedRecord", () => ({ state: "published" }));
  const looksPublished = defineRule("looksPublished", ({ record }) => record?.state === "published");
  const notClosed = defineRule("notClosedYet", ({ record }) => record !== null && record.state !== "closed");
  const dueLater = defineRule("dueLater", () => ({ due: { gt: new Date("2030-01-01") } }));
  const inTeam = defineRule("inTeam", async ({ user, driver }) => {
    const me = user === null ? null : await driver.findOne("person", { id: user.id });
    return me !== null && { team: me.team };
  });
  let made = 0;

  const person = entity("person", { team: string, motto: string.writable("owner").optional() })
    .ownedBy("id")
    .rules(everyone);
  const doc = entity("doc", {
    state: string.trim().default("draft"),
    team: string.optional().writable(admin),
    kind: string.default(() => `made ${++made}`),
    due: datetime.optional(),
    own: string.optional().writable("owner"),
    live: string.optional().writable(published),
    looked: string.optional().writable(looksPublished),
    careful: string.optional().writable(notClosed),
    dated: string.optional().writable(dueLater),
    teamly: string.optional().writable(inTeam),
    chained: string.optional().writable(defineRule("chained", ({ record }) => record?.live === "x")),
    fresh: string.optional().writable(defineRule("fresh", ({ record }) => record?.kind === `made ${made}`)),
    bonus: int.optional().writable(defineRule("bonus", () => ({ team: "red" }))),
    author: belongsTo(() => person).optional(),
  })
    .ownedBy("author")
    .rules(everyone);
  const app = createHandlerApp({
    entities: [person, doc],
    driver: memoryDriver({
      person: Object.entries({ ann: "red", bob: "blue", root: "blue" }).map(([id, team]) => ({ id, team })),
    }),
  });
  afterAll(() => app.close());

  /** The stored values of a body, and the names left out. */
  async function create(user: User | null, body: Row): Promise<{ row: Row; ignored: string[] }> {
    const { status, headers, body: answer } = await app.as(user).request("POST", "/api/docs", body);
    expect(status).toBe(201);
    const row = await app.api.asSystem().doc.get(String((answer as Row).id));
    return { row, ignored: headers.get("x-ignored-fields")?.split(", ") ?? [] };
  }

  it("accepts the owner's values on create, because the creator owns the record", async () => {
    expect(await create(ann, { own: "x" })).toMatchObject({ row: { own: "x", authorId: "ann" }, ignored: [] });
    expect(await create(null, { own: "x" })).toMatchObject({ row: { own: null }, ignored: ["own"] });
  });

  it("accepts the owner's values on update, and no other caller's", async () => {
    const { row } = await create(ann, {});
    const path = `/api/docs/${row.id}`;
    const other = await app.as(bob).request("PATCH", path, { own: "of bob", state: "seen" });
    expect([other.status, other.headers.get("x-ignored-fields")]).toEqual([200, "own"]);
    expect(other.body).toMatchObject({ own: null, state: "seen" });
    const owner = await app.as(ann).request("PATCH", path, { own: "of ann" });
    expect([owner.headers.get("x-ignored-fields"), (owner.body as Row).own]).toEqual([null, "of ann"]);
    expect((await app.as(root).request("PATCH", path, { own: "of root" })).headers.get("x-ignored-fields")).toBe("own");
    const people = await app.as(ann).request("PATCH", "/api/people/ann", { motto: "mine" });
    expect((people.body as Row).motto).toBe("mine");
    expect((await app.as(ann).request("PATCH", "/api/people/bob", { motto: "mine" })).body).toMatchObject({
      motto: null,
    });
  });

  it("is decided on the values to be stored: typed, trimmed, with their defaults", async () => {
    const x = { live: "x", looked: "x", careful: "x" };
    expect((await create(ann, { ...x, state: " published " })).ignored).toEqual([]);
    expect((await create(ann, { ...x, state: "closed" })).ignored).toEqual(["live", "looked", "careful"]);
    expect((await create(ann, { ...x, state: " closed " })).ignored).toEqual(["live", "looked", "careful"]);
    expect((await create(ann, x)).ignored).toEqual(["live", "looked"]);
    expect((await create(ann, { dated: "x", due: "2031-01-01T00:00:00Z" })).ignored).toEqual([]);
    expect((await create(ann, { dated: "x", due: "2029-01-01T00:00:00Z" })).ignored).toEqual(["dated"]);
    expect((await create(ann, { dated: "x" })).ignored).toEqual(["dated"]);
    const { row, ignored } = await create(ann, { fresh: "x" });
    expect([ignored, row.kind]).toEqual([[], `made ${made}`]);
  });

  it("is not allowed by the value of a field that is left out itself", async () => {
    // If the caller may not set the team, the submitted team does not count.
    expect(await create(ann, { bonus: 5, team: "red" })).toMatchObject({
      row: { bonus: null, team: null },
      ignored: expect.arrayContaining(["bonus", "team"]),
    });
    expect((await create(root, { bonus: 5, team: "red" })).row).toMatchObject({ bonus: 5, team: "red" });
    expect((await create(ann, { live: "x", chained: "x", state: "draft" })).ignored).toEqual(["live", "chained"]);
    // Nor does the value of a field whose own rules are pending.
    expect((await create(ann, { live: "x", chained: "x", state: "published" })).ignored).toEqual(["chained"]);
  });

  it.each([{ due: { a: 1 } }, { due: "never" }, { due: 5 }, { state: ["published"] }])(
    "leaves errors in %j to validation",
    async (wrong) => {
      const { status, body } = await app.as(ann).request("POST", "/api/docs", { ...wrong, dated: "x", live: "x" });
      expect([status, Object.keys((body as { errors: object }).errors)]).toEqual([400, Object.keys(wrong)]);
    },
  );

  it("is decided on the stored record on update, not on the submitted values", async () => {
    const { row } = await create(ann, { state: "closed" });
    const path = `/api/docs/${row.id}`;
    const closed = await app
      .as(ann)
      .request("PATCH", path, { live: "x", looked: "x", careful: "x", state: "published" });
    expect(closed.headers.get("x-ignored-fields")).toBe("live, looked, careful");
    expect(closed.body).toMatchObject({ live: null, looked: null, careful: null, state: "published" });
    const open = await app.as(ann).request("PATCH", path, { live: "x", looked: "x", careful: "x", state: "closed" });
    expect(open.headers.has("x-ignored-fields")).toBe(false);
    expect(open.body).toMatchObject({ live: "x", looked: "x", careful: "x", state: "closed" });
  });

  it("may depend on an async rule that reads the database", async () => {
    const { row } = await create(root, { team: "red" });
    const path = `/api/docs/${row.id}`;
    expect((await app.as(bob).request("PATCH", path, { teamly: "x" })).body).toMatchObject({ teamly: null });
    expect((await app.as(ann).request("PATCH", path, { teamly: "x" })).body).toMatchObject({ teamly: "x" });
  });

  it("of a missing record is a 404", async () => {
    expect((await app.as(ann).request("PATCH", "/api/docs/nothing", { own: "x", live: "x", looked: "x" })).status).toBe(
      404,
    );
  });
});

describe("a field whose rule reads the record that a new one refers to", () => {
  const ofVip = defineRule("ofVip", () => ({ org: { vip: true } }));
  const ofNoVip = defineRule("ofNoVip", () => ({ NOT: { org: { vip: true } } }));
  const looksVip = defineRule("looksVip", async ({ record, driver }) => {
    const found = await driver.findOne("org", { id: String(record?.orgId) });
    return found?.vip === true;
  });
  const seen = defineRule("seenOrg", ({ user }) => ({ seenBy: user?.id ?? "" }));
  const org = entity("org", { vip: bool, seenBy: string })
    .hideForbidden()
    .rules({ read: [seen] });
  const order = entity("order", {
    credit: int.optional().writable(ofVip),
    charge: int.optional().writable(ofNoVip),
    looked: int.optional().writable(looksVip),
    org: belongsTo(() => org),
  }).rules(everyone);
  const orgs = ["ann", "bob"].flatMap((seenBy) =>
    [true, false].map((vip) => ({ id: `${vip ? "vip" : "plain"}-${seenBy}`, vip, seenBy })),
  );
  const app = createHandlerApp({ entities: [org, order], driver: memoryDriver({ org: orgs }) });
  afterAll(() => app.close());

  async function errors(orgId: string): Promise<unknown> {
    const body = { orgId, credit: "no number", charge: "no number", looked: "no number" };
    return ((await app.as(ann).request("POST", "/api/orders", body)).body as Row).errors;
  }

  it("responds the same for a hidden record and a missing one", async () => {
    const missing = await errors("missing");
    expect(missing).toEqual({ orgId: "does not exist" });
    for (const id of ["vip-bob", "plain-bob"]) expect([id, await errors(id)]).toEqual([id, missing]);
  });

  it("is decided by a record that the caller may read", async () => {
    expect(Object.keys((await errors("vip-ann")) as Row)).toEqual(["credit", "looked"]);
    expect(Object.keys((await errors("plain-ann")) as Row)).toEqual(["charge"]);
  });
});

describe("a field that is writable on some records, on records the caller may not update", () => {
  const published = defineRule("isPublished", () => ({ state: "published" }));
  const looks = defineRule("looksOpen", ({ record }) => record?.state === "published");
  const person = entity("person", { name: string }).ownedBy("id").rules(everyone);
  const fields = {
    state: string,
    live: string.writable(published),
    looked: string.writable(looks),
    author: belongsTo(() => person),
  };
  const byWhere = entity("byWhere", fields)
    .ownedBy("author")
    .rules({ ...everyone, update: ["owner"] });
  const byCode = entity("byCode", fields)
    .ownedBy("author")
    .rules({ ...everyone, update: [defineRule("isAuthor", ({ user, record }) => record?.authorId === user?.id)] });
  const row = { id: "d", state: "published", live: "l", looked: "l", authorId: "ann" };
  const app = createTestApp({
    entities: [person, byWhere, byCode],
    driver: memoryDriver({ person: [{ id: "ann", name: "ann" }], byWhere: [row], byCode: [row] }),
    logger: noopLogger,
  });
  afterAll(() => app.close());

  it.each(["/api/by-wheres/d", "/api/by-codes/d"])("is 403 like any other change: %s", async (path) => {
    for (const body of [{ live: "x" }, { looked: "x" }, { state: "x" }, { live: "x", looked: "x", authorId: "ann" }])
      expect([body, (await app.as(bob).request("PATCH", path, body)).status]).toEqual([body, 403]);
    expect((await app.as(ann).request("PATCH", path, { live: "x", looked: "x" })).status).toBe(200);
  });
});

describe("a record that changes between the decision and the statement", () => {
  it.each(["live", "looked"])("is decided again: %s", async (field) => {
    const driver = memoryDriver({ doc: [{ id: "d", state: "published", note: "n", live: "l", looked: "l" }] });
    let overtake = true;
    const doc = entity("doc", {
      state: string,
      note: string,
      live: string.writable(defineRule(`live ${field}`, () => ({ state: "published" }))),
      looked: string.writable(defineRule(`looked ${field}`, ({ record }) => record?.state === "published")),
    })
      .validate(async () => {
        // Another caller closes the record after the rule has allowed the change.
        if (overtake) await driver.update("doc", { id: "d" }, { state: "closed" });
        overtake = false;
        return true;
      }, "never")
      .rules(everyone);
    const app = createTestApp({ entities: [doc], driver, logger: noopLogger });
    const { status, body, headers } = await app.as(ann).request("PATCH", "/api/docs/d", { [field]: "x", note: "new" });
    expect([status, headers.get("x-ignored-fields")]).toEqual([200, field]);
    expect(body).toMatchObject({ [field]: "l", note: "new", state: "closed" });
    await app.close();
  });

  it("names the fields left out at the end, not those of earlier attempts", async () => {
    const driver = memoryDriver({ doc: [{ id: "d", state: "open", before: "b", after: "a" }] });
    let overtake = true;
    const doc = entity("doc", {
      state: string,
      before: string.writable(defineRule("while open", () => ({ state: "open" }))),
      after: string.writable(defineRule("once closed", () => ({ state: "closed" }))),
    })
      .validate(async () => {
        if (overtake) await driver.update("doc", { id: "d" }, { state: "closed" });
        overtake = false;
        return true;
      }, "never")
      .rules(everyone);
    const app = createTestApp({ entities: [doc], driver, logger: noopLogger });
    const { headers, body } = await app.as(ann).request("PATCH", "/api/docs/d", { before: "x", after: "x" });
    expect(body).toMatchObject({ before: "b", after: "x" });
    expect(headers.get("x-ignored-fields")).toBe("before");
    await app.close();
  });
});
