import { afterAll, beforeEach, describe, expect, it } from "vitest";
import {
  action,
  belongsTo,
  bool,
  createPlugin,
  datetime,
  defineRule,
  entity,
  hasMany,
  keelson,
  memoryDriver,
  noopLogger,
  step,
  string,
  type Where,
} from "../../../src/index.ts";
import { idempotency } from "../../../src/plugins/idempotency/index.ts";
import { createTestApp } from "../../../src/testing/index.ts";

const everyone = ["everyone"] as const;
const member = defineRule("member", ({ user }) => ({ members: { userId: user?.id ?? "" } }));
const published = defineRule("published", ({ record }) => record?.published === true);
const employee = defineRule("employee", ({ user }) => user?.role === "employee");

const anyIfEmployee = defineRule("anyIfEmployee", ({ user }) => user?.role === "employee" || { userId: "ann" });

const noRead = defineRule("noRead", ({ operation, user }) => operation === "route" && user?.role === "employee");

const org = entity("org", { name: string, members: hasMany(() => membership) }).rules({ read: [member] });
const membership = entity("membership", { userId: string, org: belongsTo(() => org) })
  .rules({ read: everyone, create: [anyIfEmployee] })
  .actions({
    total: action()
      .rules("anyIfEmployee")
      .handler(() => ({ total: 42 })),
    draft: action().handler(() => ({ drafted: true })),
    called: action()
      .rules(noRead)
      .handler(() => ({ called: true })),
  });
const price = entity("price", { amount: string }).rules({ read: [employee] });
const file = entity("file", {
  name: string,
  boss: string,
  secret: string.readable("boss"),
  deletedAt: datetime.optional(),
})
  .softDelete()
  .rules({ read: everyone });
const quote = entity("quote", { text: string, page: belongsTo(() => page) }).rules({ read: [employee] });
const page = entity("page", {
  title: string,
  published: bool.default(true),
  org: belongsTo(() => org),
  price: belongsTo(() => price),
  file: belongsTo(() => file),
  quotes: hasMany(() => quote),
})
  .rules({ read: [published], create: everyone, update: everyone })
  .actions({
    names: action()
      .rules("everyone")
      .handler(({ driver }) => driver.findMany("org", { select: ["name"] })),
  });

const contract = entity("contract", { text: string, org: belongsTo(() => org) })
  .rules({ read: ["admin"], create: [employee] })
  .actions({
    priced: action()
      .rules("authenticated")
      .handler(async ({ client }) => ({ prices: await client(price).count() })),
    orgs: action()
      .rules("authenticated")
      .handler(async ({ client }) => ({ orgs: await client(org).count() })),
    quote: action()
      .rules("authenticated")
      .workflow([step("quote", ({ client }) => client(org).get("o"))]),
    share: action()
      .onResource()
      .rules("ofOrg")
      .handler(({ record }) => ({ link: `/shared/${record.text}` })),
  });
const ofOrg = defineRule("ofOrg", ({ user }) => ({ org: { members: { userId: user?.id ?? "" } } }));

const boss = defineRule("boss", ({ user }) => ({ boss: user?.id ?? "" }));
const driver = memoryDriver();
let role = "employee";
const api = keelson({
  entities: [org, membership, price, file, page, quote, contract],
  driver,
  logger: noopLogger,
  rules: [member, published, employee, boss, ofOrg, anyIfEmployee, noRead],
  plugins: [idempotency()],
  getUser: () => (role === "" ? null : { id: "ann", role }),
});
afterAll(() => api.close());
beforeEach(async () => {
  await api.ready;
  role = "employee";
  for (const name of ["page", "contract", "file", "price", "membership", "org"] as const)
    await driver.deleteMany(name, { id: { null: false } });
  const system = api.asSystem();
  await system.org.create({ id: "o", name: "Org" });
  await system.membership.create({ id: "m", userId: "ann", orgId: "o" });
  await system.price.create({ id: "p", amount: "9" });
  await system.file.create({ id: "f", name: "File", boss: "ann", secret: "x" });
});

/** Sends the same keyed request again. */
function keyed(include: string) {
  const key = crypto.randomUUID();
  return async () => {
    const headers = { "content-type": "application/json", "idempotency-key": key };
    const body = JSON.stringify({ title: "Page", orgId: "o", priceId: "p", fileId: "f" });
    const url = `http://localhost/api/pages${include === "" ? "" : `?include=${include}`}`;
    const response = await api.fetch(new Request(url, { method: "POST", headers, body }));
    return { status: response.status, json: (await response.json()) as Record<string, unknown> };
  };
}

describe("a repeated response", () => {
  it("shows the same while the caller's read rights are the same", async () => {
    const send = keyed("org,price,file");
    const first = await send();
    expect(first).toMatchObject({
      status: 201,
      json: { org: { name: "Org" }, price: { amount: "9" }, file: { secret: "x" } },
    });
    expect(await send()).toEqual(first);
    expect(await driver.count("page")).toBe(1);
  });

  it.each<[string, string, () => unknown]>([
    ["an included record that a related one hides now", "org", () => driver.deleteMany("membership", { id: "m" })],
    ["an included entity that the caller may not read at all now", "price", () => (role = "guest")],
    [
      "an included record that is softly deleted",
      "file",
      () => driver.update("file", { id: "f" }, { deletedAt: new Date() }),
    ],
    ["an included record whose field is hidden now", "file", () => driver.update("file", { id: "f" }, { boss: "bob" })],
    [
      "a number of records that the caller may not read now",
      encodeURIComponent('{"quotes":{"count":true}}'),
      () => (role = "guest"),
    ],
    ["that an included relation has no records", "quotes", () => (role = "guest")],
    [
      "a record that a rule hides by looking at it",
      "",
      () => driver.updateMany("page", { title: "Page" }, { published: false }),
    ],
  ])("is refused if it would show %s", async (_, include, change) => {
    const send = keyed(include);
    expect((await send()).status).toBe(201);
    await change();
    expect(await send()).toMatchObject({ status: 403, json: { code: "FORBIDDEN" } });
  });

  it("is refused if it came from a record action that the caller may no longer use", async () => {
    await api.asSystem().contract.create({ id: "c", text: "secret", orgId: "o" });
    const headers = { "content-type": "application/json", "idempotency-key": crypto.randomUUID() };
    const send = () => api.fetch(new Request("http://localhost/api/contracts/c/share", { method: "POST", headers }));
    for (let times = 0; times < 2; times++) expect(await (await send()).json()).toEqual({ link: "/shared/secret" });
    await api.asSystem().membership.delete("m");
    expect((await send()).status).toBe(403);
  });

  it.each<[string, string, () => unknown]>([
    ["an action's own rules let the caller have some records only now", "total", () => (role = "guest")],
    ["an action's own rules let the caller have nothing now", "priced", () => (role = "")],
    ["the rules of creating let the caller have some records only now", "draft", () => (role = "guest")],
    ["a rule that passes for endpoints only passes no more", "called", () => (role = "guest")],
    ["the caller may no longer read what was counted", "priced", () => (role = "guest")],
    [
      "a related record no longer lets the caller read what was counted",
      "orgs",
      () => driver.deleteMany("membership", { id: "m" }),
    ],
    ["a workflow read a record that is hidden now", "quote", () => driver.deleteMany("membership", { id: "m" })],
  ])("is refused if %s", async (_, name, change) => {
    const headers = { "content-type": "application/json", "idempotency-key": crypto.randomUUID() };
    const url = `http://localhost/api/${["total", "draft", "called"].includes(name) ? "memberships" : "contracts"}/${name}`;
    const send = () => api.fetch(new Request(url, { method: "POST", headers, body: "{}" }));
    const first = await send();
    const answer = await first.json();
    expect(first.status, JSON.stringify(answer)).toBe(200);
    expect(await (await send()).json()).toEqual(answer);
    await change();
    expect([401, 403]).toContain((await send()).status);
  });

  it("is refused if it does not reveal which records it shows", async () => {
    const headers = { "content-type": "application/json", "idempotency-key": crypto.randomUUID() };
    const send = () =>
      api.fetch(new Request("http://localhost/api/pages/names", { method: "POST", headers, body: "{}" }));
    expect(await (await send()).json()).toEqual([{ name: "Org" }]);
    await api.asSystem().membership.delete("m");
    expect((await send()).status).toBe(403);
  });
});

describe("a repeated count", () => {
  const order = entity("order", { item: string, due: datetime.optional() })
    .rules({ read: ["everyone"], create: ["everyone"] })
    .actions({
      tally: action().handler(async ({ client }) => ({ n: await client("order").count({}) })),
    });
  const openWith = async (where: () => Where | undefined) => {
    const hiding = createPlugin({
      id: "acme/hiding",
      setup: ({ records }) =>
        records.policy({
          name: "hiding",
          visible(question) {
            const condition = question.entity.name === "order" ? where() : undefined;
            if (condition !== undefined) question.require(condition);
          },
        }),
    });
    const app = createTestApp({ entities: [order], plugins: [hiding, idempotency()], logger: noopLogger });
    await app.api.asSystem().order.create({ item: "x", due: new Date(0) });
    const tally = () => app.as({ id: "u" }).request("POST", "/api/orders/tally", {}, { "idempotency-key": "k" });
    return { app, tally };
  };

  it("is refused once a policy's condition has other values", async () => {
    let where: Where | undefined;
    const { app, tally } = await openWith(() => where);
    for (const hidden of [undefined, { id: { in: [] } }]) {
      where = hidden;
      expect(await tally()).toMatchObject(hidden === undefined ? { status: 200, body: { n: 1 } } : { status: 403 });
    }
    await app.close();
  });

  it("is repeated if only the time in the policy's condition has advanced", async () => {
    let time = 1;
    const { app, tally } = await openWith(() => ({ due: { lt: new Date(time++) } }));
    expect((await tally()).body).toEqual({ n: 1 });
    expect(await tally()).toMatchObject({ status: 200, body: { n: 1 } });
    await app.close();
  });

  const team = entity("team", { name: string, members: hasMany(() => person) }).rules({
    read: ["everyone"],
    create: ["everyone"],
    update: ["everyone"],
  });
  const seen = defineRule("seen", ({ user }) => ({ seenBy: String(user?.role) }));
  const person = entity("person", { name: string, seenBy: string, team: belongsTo(() => team) })
    .rules({ read: [seen], create: ["everyone"] })
    .actions({
      tally: action().handler(async ({ client }) => ({
        n: await client("person").count({}),
        first: await client("person").get("a"),
      })),
    });

  it.each<[string, string, string, object]>([
    ["an include counts", "PATCH", '/api/teams/t?include={"members":{"limit":1,"count":true}}', { name: "New" }],
    ["an action counts besides a record that it shows", "POST", "/api/people/tally", {}],
  ])("is refused if %s records that are hidden now", async (_, method, path, body) => {
    const app = createTestApp({
      entities: [team, person],
      rules: [seen],
      plugins: [idempotency()],
      logger: noopLogger,
    });
    const system = app.api.asSystem();
    await system.team.create({ id: "t", name: "Team" });
    for (const id of ["a", "b"]) await system.person.create({ id, name: id, seenBy: "clerk", teamId: "t" });
    const ask = (role: string) => app.as({ id: "u", role }).request(method, path, body, { "idempotency-key": "k" });
    const first = await ask("clerk");
    expect(first.status).toBe(200);
    expect(await ask("clerk")).toMatchObject({ status: 200, body: first.body });
    await system.person.update("b", { seenBy: "nobody" });
    expect((await ask("clerk")).status).toBe(403);
    await system.person.update("b", { seenBy: "clerk" });
    expect((await ask("clerk")).status).toBe(200);
    await app.close();
  });
});
