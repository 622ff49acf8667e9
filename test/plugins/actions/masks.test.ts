import { afterAll, describe, expect, it } from "vitest";
import {
  type ActionContext,
  action,
  belongsTo,
  bool,
  bulkUpdateAction,
  cloneAction,
  datetime,
  defineRule,
  entity,
  hasMany,
  int,
  keelson,
  memoryDriver,
  noopLogger,
  softDeleteAction,
  string,
  text,
  toggleAction,
  verifyPassword,
} from "../../../src/index.ts";
import { createTestApp } from "../../../src/testing/index.ts";

// Actions hide the same fields from callers as other routes: in input, in output, and when records are copied.

const everybody = { create: ["everyone"], read: ["everyone"], update: ["everyone"], delete: ["everyone"] } as const;
type Handler = (context: ActionContext) => unknown;
let handle: Handler = () => undefined;
const pass: Handler = (context) => handle(context);

const member = entity("member", {
  name: string,
  password: string.password({ cost: 1 }),
  token: string.omit().optional(),
  salary: string.readable("admin").optional(),
  diary: text.readable("owner").optional(),
  ssn: string.encrypted().optional(),
  level: string.writable("admin").default("low"),
  vip: bool.writable("admin").default(false),
  watched: bool.readable("admin").default(false),
  muted: bool.readable("owner").default(false),
  seal: string.readonly().default("kept"),
  goneAt: datetime.optional().writable("admin"),
  notes: hasMany(() => note),
})
  .ownedBy("id")
  .rules(everybody)
  .actions({
    clone: cloneAction,
    bulkUpdate: bulkUpdateAction,
    toggle: toggleAction("vip"),
    watch: toggleAction("watched"),
    mute: toggleAction("muted"),
    softDelete: softDeleteAction("goneAt"),
    run: action().handler(pass as never),
    one: action()
      .onResource()
      .handler(pass as never),
    shown: action()
      .onResource()
      .output({ name: string, password: string.optional(), salary: string.optional(), token: string.optional() })
      .handler(pass as never),
    asked: action()
      .output({ who: string, salary: string.optional() })
      .handler(pass as never),
  });
const note = entity("note", { title: string, secret: string.omit().optional(), member: belongsTo(() => member) }).rules(
  everybody,
);

const app = createTestApp({
  entities: [member, note],
  driver: memoryDriver(),
  encryption: { key: "22".repeat(32) },
  logger: noopLogger,
});
afterAll(() => app.close());

const values = { token: "T-0", salary: "S-1", diary: "D-2", ssn: "N-3", level: "high", seal: "broken" };
const seed = async (): Promise<void> => {
  await app.api.driver.deleteMany("note", { id: { null: false } });
  await app.api.driver.deleteMany("member", { id: { null: false } });
  const system = app.api.asSystem();
  await system.member.create({ id: "ann", name: "Ann", password: "correct horse", ...values });
  await system.note.create({ id: "n1", title: "One", secret: "X-4", memberId: "ann" });
};
const bob = app.as({ id: "bob" });
const ann = app.as({ id: "ann" });
const admin = app.as({ id: "adm", role: "admin" });
const SECRETS = ["T-0", "S-1", "D-2", "X-4", "correct horse", "pbkdf2", "scrypt"];
const secretsIn = (body: unknown): string[] => SECRETS.filter((secret) => JSON.stringify(body).includes(secret));

describe("records in the result of a handler", () => {
  it.each<[string, Handler]>([
    ["the record of the context", ({ record }) => record],
    ["a copy under other names", ({ record, json }) => json({ deep: [{ er: record }] })],
    ["found by the driver", ({ driver }) => driver.findMany("member")],
    ["given by an update", ({ driver }) => driver.update("member", { id: "ann" }, { name: "Ann" })],
    [
      "found in a transaction",
      ({ transaction }) => transaction(({ driver }) => driver.findOne("member", { id: "ann" })),
    ],
    ["given by the client", ({ client }) => client("member").list({ include: ["notes"] as never[] })],
    [
      "given by an operation",
      async ({ scope }) => (await scope.run({ kind: "read", entity: "member", id: "ann" })).records,
    ],
    ["in a map", async ({ driver }) => new Map([["a", await driver.findOne("note", { id: "n1" })]])],
  ])("are masked for the caller: %s", async (_what, handler) => {
    await seed();
    handle = handler;
    const answers = [
      await bob.request("POST", "/api/members/ann/one"),
      await app.as(null).request("POST", "/api/members/ann/one"),
    ];
    for (const { status, body } of answers) {
      expect(status).toBe(200);
      expect(secretsIn(body)).toEqual([]);
    }
    const inProcess = await app.api.as({ id: "bob" }).member.one("ann");
    expect(secretsIn(inProcess)).toEqual([]);
    // The same for callers with more rights: they see their fields and no more.
    expect(
      secretsIn((await ann.request("POST", "/api/members/ann/one")).body).filter((name) => name !== "D-2"),
    ).toEqual([]);
    expect(
      secretsIn((await admin.request("POST", "/api/members/ann/one")).body).filter((name) => name !== "S-1"),
    ).toEqual([]);
  });

  it("contain all plain values for the handler, and no ciphertext for any caller", async () => {
    await seed();
    handle = async ({ record, unsafeDriver }) => {
      const raw = await unsafeDriver.findOne("member", { id: "ann" });
      return {
        salary: record?.salary === "S-1",
        token: record?.token === "T-0",
        ssn: record?.ssn,
        encrypted: String(raw?.ssn).includes("N-3"),
      };
    };
    expect((await bob.request("POST", "/api/members/ann/one")).body).toEqual({
      salary: true,
      token: true,
      ssn: "N-3",
      encrypted: false,
    });
  });

  it("show a caller no more because an output declares their fields", async () => {
    await seed();
    handle = ({ record }) => record;
    const of = async (caller: typeof bob) => (await caller.request("POST", "/api/members/ann/shown")).body;
    expect(await of(bob)).toEqual({ name: "Ann", password: null, salary: null, token: null });
    expect(await of(admin)).toEqual({ name: "Ann", password: null, salary: "S-1", token: null });
    handle = ({ record, json }) => json(record);
    expect(secretsIn(await of(bob))).toEqual([]);
    expect(secretsIn(await app.api.as({ id: "bob" }).member.shown("ann"))).toEqual([]);
    // Plain values that a handler takes out of a record are the handler's responsibility.
    handle = async ({ driver }) => ({ who: "ann", salary: (await driver.findOne("member", { id: "ann" }))?.salary });
    expect((await bob.request("POST", "/api/members/asked")).body).toEqual({ who: "ann", salary: "S-1" });
  });
});

describe("a field that the caller may not write", () => {
  it("is not written by any action: 403, and nothing has changed", async () => {
    await seed();
    const before = await app.api.driver.findMany("member");
    expect((await bob.request("POST", "/api/members/ann/toggle-vip")).status).toBe(403);
    expect((await bob.request("DELETE", "/api/members/ann/soft")).status).toBe(403);
    expect((await app.as(null).request("POST", "/api/members/ann/toggle-vip")).status).toBe(403);
    expect(await app.api.driver.findMany("member")).toEqual(before);
    expect((await admin.request("POST", "/api/members/ann/toggle-vip")).body).toEqual({ vip: true });
    expect((await admin.request("DELETE", "/api/members/ann/soft")).status).toBe(200);
  });

  it("is left out of bulk updates; records without other changes are not counted", async () => {
    await seed();
    const send = (data: object) => bob.request("PUT", "/api/members/bulk", { ids: ["ann"], data });
    const some = await send({ name: "Anna", level: "top" });
    expect([some.body, some.headers.get("x-ignored-fields")]).toEqual([{ count: 1 }, "level"]);
    const none = await send({ level: "top" });
    expect([none.body, none.headers.get("x-ignored-fields")]).toEqual([{ count: 0 }, "level"]);
    expect(await app.api.driver.findOne("member", { id: "ann" })).toMatchObject({ name: "Anna", level: "high" });
  });

  it("cannot be a password in bulk updates", async () => {
    await seed();
    const { status, body } = await admin.request("PUT", "/api/members/bulk", {
      ids: ["ann"],
      data: { password: "new one" },
    });
    expect([status, (body as { message: string }).message]).toEqual([
      400,
      '"password" cannot be set on several records at once',
    ]);
  });
});

describe("a field that the caller may not read", () => {
  it("is not returned by a toggle: 403, and nothing has changed", async () => {
    await seed();
    const before = await app.api.driver.findMany("member");
    for (const path of ["toggle-watched", "toggle-muted"])
      expect((await bob.request("POST", `/api/members/ann/${path}`)).status).toBe(403);
    expect((await bob.request("POST", "/api/members/nobody/toggle-muted")).status).toBe(404);
    expect(await app.api.driver.findMany("member")).toEqual(before);
    expect((await admin.request("POST", "/api/members/ann/toggle-watched")).body).toEqual({ watched: true });
    expect((await ann.request("POST", "/api/members/ann/toggle-muted")).body).toEqual({ muted: true });
    expect(await app.api.asSystem().member.watch("ann")).toEqual({ watched: false });
    expect(await app.api.asSystem().member.mute("ann")).toEqual({ muted: false });
  });

  it("is not returned by a toggle of a record that the caller may update but not read", async () => {
    const letter = entity("letter", { open: bool.default(false), addressee: string })
      .rules({ read: [defineRule("addressed", ({ user }) => ({ addressee: String(user?.id) }))], update: ["everyone"] })
      .actions({ toggle: toggleAction("open") });
    const ballot = entity("ballot", { cast: bool.default(false) })
      .rules({ read: ["admin"], update: ["everyone"] })
      .actions({ toggle: toggleAction("cast") });
    const post = createTestApp({ entities: [letter, ballot], driver: memoryDriver(), logger: noopLogger });
    await post.api.asSystem().letter.create({ id: "l1", addressee: "ann" });
    await post.api.asSystem().ballot.create({ id: "b1" });
    const toggle = async (id: string, path: string) => (await post.as({ id }).request("POST", path)).status;
    expect(await toggle("bob", "/api/letters/l1/toggle-open")).toBe(403);
    expect(await toggle("bob", "/api/ballots/b1/toggle-cast")).toBe(403);
    expect(await post.api.driver.findOne("letter", { id: "l1" })).toMatchObject({ open: false });
    expect(await post.api.driver.findOne("ballot", { id: "b1" })).toMatchObject({ cast: false });
    expect(await toggle("ann", "/api/letters/l1/toggle-open")).toBe(200);
    await post.close();
  });

  it("cannot be toggled if the caller may not write it, before any validation", async () => {
    const ticket = entity("ticket", { rank: int, done: bool.default(false).writable("owner") })
      .ownedBy("id")
      .validate(({ rank = 0 }) => rank > 0, "is too small")
      .rules({ read: ["everyone"], update: ["everyone"] })
      .actions({ toggle: toggleAction("done") });
    const post = createTestApp({ entities: [ticket], driver: memoryDriver(), logger: noopLogger });
    await post.api.ready;
    const now = new Date();
    await post.api.driver.create("ticket", { id: "ann", rank: 0, done: false, createdAt: now, updatedAt: now });
    expect((await post.as({ id: "bob" }).request("POST", "/api/tickets/ann/toggle-done")).status).toBe(403);
    await post.close();
  });

  it("cannot be toggled if no caller may read it", () => {
    const built = entity("odd", { seen: bool.omit().default(false) }).actions({ toggle: toggleAction("seen") });
    expect(() => keelson({ entities: [built], logger: noopLogger })).toThrow(
      'action "toggle" of odd: needs a bool field "seen", and that one is hidden from all callers',
    );
  });
});

describe("a copy", () => {
  const plain = entity("plain", {
    name: string,
    pin: string.password({ cost: 1 }).optional(),
    token: string.omit().optional(),
    salary: string.readable("admin").optional(),
    ssn: string.encrypted().optional(),
    level: string.writable("admin").default("low"),
    seal: string.readonly().default("kept"),
    doneAt: datetime.optional(),
  })
    .rules(everybody)
    .actions({ clone: cloneAction });
  const make = async () => {
    const copies = createTestApp({
      entities: [plain],
      driver: memoryDriver(),
      encryption: { key: "22".repeat(32) },
      logger: noopLogger,
    });
    await copies.api.asSystem().plain.create({
      id: "p1",
      name: "Ann",
      pin: "1234 5678",
      token: "T-0",
      salary: "S-1",
      ssn: "N-3",
      level: "high",
      seal: "broken",
      doneAt: new Date(0),
    });
    return copies;
  };

  it("contains what the caller may read and write, and no password", async () => {
    const copies = await make();
    const copyBy = async (user: { id: string; role?: string } | null) => {
      const { status, body } = await copies.as(user).request("POST", "/api/plains/p1/clone");
      expect(status).toBe(201);
      return (await copies.api.driver.findOne("plain", { id: (body as { id: string }).id })) as Record<string, unknown>;
    };
    const rest = { name: "Ann", pin: null, token: null, seal: "kept", doneAt: new Date(0) };
    expect(await copyBy({ id: "bob" })).toMatchObject({ ...rest, salary: null, level: "low" });
    expect(await copyBy(null)).toMatchObject({ ...rest, salary: null, level: "low" });
    expect(await copyBy({ id: "adm", role: "admin" })).toMatchObject({ ...rest, salary: "S-1", level: "high" });
    await copies.close();
  });

  it("is encrypted anew, and its secret belongs to one caller", async () => {
    const copies = await make();
    const { body } = await copies.as(null).request("POST", "/api/plains/p1/clone");
    expect(body).toMatchObject({ ssn: "N-3" });
    const one = await copies.api.driver.findOne("plain", { id: "p1" });
    const two = await copies.api.driver.findOne("plain", { id: (body as { id: string }).id });
    expect(one?.ssn).not.toBe(two?.ssn);
    expect(String(two?.ssn)).not.toContain("N-3");
    expect(await verifyPassword("1234 5678", String(one?.pin))).toBe(true);
    await copies.close();
  });

  it("is refused if it needs a field that the caller may not read", async () => {
    await seed();
    const { status, body } = await admin.request("POST", "/api/members/ann/clone");
    expect([status, (body as { errors: object }).errors]).toEqual([
      400,
      { password: "is required and not copied; send it in the body" },
    ]);
  });
});
