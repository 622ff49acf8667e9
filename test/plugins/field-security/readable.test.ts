import { afterAll, describe, expect, it } from "vitest";
import {
  admin,
  all,
  belongsTo,
  defineRule,
  entity,
  hasMany,
  int,
  type KeelsonConfig,
  keelson,
  manyToMany,
  memoryDriver,
  noopLogger,
  owner,
  type Row,
  string,
  text,
  type User,
} from "../../../src/index.ts";
import { createTestApp, recordingLogger } from "../../../src/testing/index.ts";
import { recordStatements } from "../../support/record-statements.ts";
import { createHandlerApp } from "./handler-app.ts";

const everyone = { create: ["everyone"], read: ["everyone"], update: ["everyone"], delete: ["everyone"] };
const ann: User = { id: "ann" };
const bob: User = { id: "bob" };
const root: User = { id: "root", role: "admin" };

const staff = defineRule("staff", ({ user }) => user?.staff === true);
const senior = defineRule("senior", async ({ user }) => Number(user?.age) > 60);
const broken = defineRule("broken", () => {
  throw new TypeError("the secret");
});
const late = defineRule("late", () => new Promise(() => {}));
const odd = defineRule("odd", () => "yes" as never);

const doc = entity("doc", {
  open: string.default("open"),
  byName: string.readable("admin").optional(),
  byNames: string.readable("admin", "staff").optional(),
  byList: string.readable(["admin", staff]).optional(),
  byRule: string.readable(staff).optional(),
  byBoth: string.readable(all(admin, staff)).optional(),
  bySenior: string.readable(senior).optional(),
  byMixed: string.readable(senior, admin).optional(),
  byNobody: string.readable([]).optional(),
  byBroken: string.readable(broken).optional(),
  byLate: string.readable(late).optional(),
  byOdd: string.readable(odd).optional(),
}).rules(everyone);

describe("a field with readable rules", () => {
  const log = recordingLogger();
  const row = Object.fromEntries(Object.keys(doc.build().fields).map((name) => [name, `value of ${name}`]));
  const app = createHandlerApp({
    entities: [doc],
    driver: memoryDriver({ doc: [{ ...row, id: "d" }] }),
    logger: log,
    limits: { ruleMs: 20 },
  });
  afterAll(() => app.close());

  const CASES: readonly (readonly [string, User | null, readonly string[]])[] = [
    ["nobody", null, []],
    ["somebody", ann, []],
    ["an administrator", root, ["byName", "byNames", "byList", "byMixed"]],
    ["staff", { id: "s", staff: true }, ["byNames", "byList", "byRule"]],
    [
      "an administrator who is staff",
      { ...root, staff: true },
      ["byName", "byNames", "byList", "byRule", "byBoth", "byMixed"],
    ],
    ["a senior", { id: "o", age: 61 }, ["bySenior", "byMixed"]],
  ];
  it.each(CASES)("is shown to callers that one of them allows, in every response: %s", async (_, user, shown) => {
    const as = app.as(user);
    const answers = [
      (await as.request("GET", "/api/docs/d")).body,
      ((await as.request("GET", "/api/docs")).body as Row[])[0],
      (await as.request("PATCH", "/api/docs/d", { open: "open" })).body,
      (await as.request("POST", "/api/docs", row)).body,
      (await app.inHandler(({ driver }) => driver.findOne("doc", { id: "d" }), user)).body,
      (
        await app
          .inHandler(async ({ run }) => (await run({ kind: "read", entity: doc, id: "d" })).records, user)
          .catch(() => undefined)
      )?.body,
      user === null
        ? { open: "", ...Object.fromEntries(shown.map((name) => [name, ""])) }
        : await app.api.as(user).doc.get("d"),
    ].filter((answer) => answer !== undefined);
    for (const answer of answers) {
      const names = Object.keys(answer as object).filter((name) => name.startsWith("by"));
      expect(names).toEqual(shown);
    }
    for (const name of Object.keys(row)) {
      const { status } = await as.request("GET", `/api/docs?${name}=x&_sort=${name}&select=${name}`);
      expect([name, status]).toEqual([name, name === "open" || shown.includes(name) ? 200 : 400]);
    }
    await app.api.driver.deleteMany("doc", { id: { ne: "d" } });
  });

  it("is shown to the system", async () => {
    expect(Object.keys(await app.api.asSystem().doc.get("d"))).toEqual(expect.arrayContaining(Object.keys(row)));
  });

  it("is closed, and logged, by a rule that throws, times out or does not return true", async () => {
    await app.as(ann).request("GET", "/api/docs/d");
    const lines = log.lines.join("\n");
    expect(lines).toMatch(/Rule "broken" failed; it denies .*"TypeError"/);
    expect(lines).toMatch(/Rule "late" failed; it denies .*took longer than 20 ms/);
    expect(lines).toMatch(/Rule "odd" returned neither true, false nor a where; it denies/);
    expect(lines).toContain('"message":"the secret"'); // this is development
  });

  it("that is null is null for permitted callers, and absent for others", async () => {
    await app.api.asSystem().doc.create({ open: "o" });
    const [empty] = (await app.as(root).request("GET", "/api/docs?open=o")).body as Row[];
    expect(empty).toMatchObject({ byName: null });
    const [hidden] = (await app.as(ann).request("GET", "/api/docs?open=o")).body as Row[];
    expect(hidden).not.toHaveProperty("byName");
  });
});

describe("rules that cannot work", () => {
  const problems = (...entities: KeelsonConfig["entities"]): readonly string[] => {
    try {
      keelson({ entities, driver: memoryDriver(), logger: noopLogger });
      return [];
    } catch (error) {
      return (error as { problems: readonly string[] }).problems;
    }
  };

  it("are named when the app starts", () => {
    const one = entity("one", {
      a: string.readable("admni"),
      b: string.writable("nobody knows"),
      c: string.readable("owner"),
    });
    expect(problems(one)).toEqual([
      'one.a.readable: there is no rule "admni". Did you mean "admin"?',
      expect.stringMatching(/^one\.b\.writable: there is no rule "nobody knows"/),
      expect.stringMatching(/^one\.c\.readable: rule "owner" cannot work here: it needs \.ownedBy/),
    ]);
  });

  it("are not reported without a caller", () => {
    const one = entity("one", { a: string.readable("admin") });
    const boot = () =>
      keelson({
        entities: [one],
        driver: memoryDriver(),
        plugins: (defaults) => defaults.without("crud").without("health").without("rules"),
      });
    expect(boot).toThrow("fields with .readable() or .writable() need the plugin rules");
  });
});

describe("a field that only some records show", () => {
  // The async rule reads the very entity whose fields it guards.
  const sameTeam = defineRule("sameTeam", async ({ user, driver }) => {
    const me = user === null ? null : await driver.findOne("person", { id: user.id });
    return me !== null && { team: me.team };
  });
  /** False for an unknown value: a record without a state would show everything. */
  const notClosed = defineRule("notClosed", ({ record }) => record !== null && record.state !== "closed");
  const isFriend = defineRule("isFriend", ({ user }) => user !== null && { friends: { id: user.id } });
  const byBoth = defineRule("byBoth", async ({ user, record }) => record?.state === "draft" && user?.id === "bob");

  const person = entity("person", {
    name: string,
    team: string,
    state: string,
    salary: int.readable("owner", "admin"),
    address: string.readable(owner),
    teamNote: string.readable(sameTeam),
    stateNote: string.readable(notClosed),
    friendNote: string.readable(isFriend),
    eitherNote: text.readable(owner, byBoth),
    posts: hasMany(() => post),
    friends: manyToMany(() => person),
  })
    .ownedBy("id")
    .rules(everyone);
  const post = entity("post", {
    title: string,
    draft: string.readable("owner"),
    author: belongsTo(() => person),
  })
    .ownedBy("author")
    .rules(everyone);

  const human = (id: string, team: string, state: string): Row => ({
    id,
    name: id,
    team,
    state,
    salary: 100,
    address: `a ${id}`,
    teamNote: `t ${id}`,
    stateNote: `s ${id}`,
    friendNote: `f ${id}`,
    eitherNote: `e ${id}`,
  });
  const app = createHandlerApp({
    entities: [person, post],
    driver: memoryDriver({
      person: [
        { ...human("ann", "red", "open"), friendsIds: ["bob"] },
        { ...human("bob", "red", "closed"), friendsIds: ["ann"] },
        { ...human("cid", "blue", "draft"), friendsIds: ["ann", "bob"] },
      ],
      post: [
        { id: "p1", title: "1", draft: "d1", authorId: "ann" },
        { id: "p2", title: "2", draft: "d2", authorId: "bob" },
      ],
    }),
  });
  afterAll(() => app.close());

  /** Names of the ruled fields that each record of a response shows. */
  const RULED = ["salary", "address", "teamNote", "stateNote", "friendNote", "eitherNote"];
  const shownIn = (records: unknown): Record<string, string[]> =>
    Object.fromEntries((records as Row[]).map((one) => [String(one.id), RULED.filter((name) => name in one)]));

  const TRUTH: readonly (readonly [string, User | null, Record<string, string[]>])[] = [
    ["nobody", null, { ann: ["stateNote"], bob: [], cid: ["stateNote"] }],
    [
      "ann",
      ann,
      {
        ann: ["salary", "address", "teamNote", "stateNote", "eitherNote"],
        bob: ["teamNote", "friendNote"],
        cid: ["stateNote", "friendNote"],
      },
    ],
    [
      "bob",
      bob,
      {
        ann: ["teamNote", "stateNote", "friendNote"],
        bob: ["salary", "address", "teamNote", "eitherNote"],
        cid: ["stateNote", "friendNote", "eitherNote"],
      },
    ],
    ["an administrator", root, { ann: ["salary", "stateNote"], bob: ["salary"], cid: ["salary", "stateNote"] }],
  ];

  it.each(TRUTH)("is on those and absent from the others, in lists and alone: %s", async (_, user, truth) => {
    const as = app.as(user);
    expect(shownIn((await as.request("GET", "/api/people")).body)).toEqual(truth);
    for (const [id, shown] of Object.entries(truth)) {
      expect(shownIn([(await as.request("GET", `/api/people/${id}`)).body])).toEqual({ [id]: shown });
      expect(shownIn([(await as.request("PATCH", `/api/people/${id}`, { name: id })).body])).toEqual({ [id]: shown });
    }
    if (user !== null) expect(shownIn((await app.api.as(user).person.list()).data)).toEqual(truth);
  });

  it.each(TRUTH)("is decided on the whole record, for any selection: %s", async (_, user, truth) => {
    const as = app.as(user);
    for (const name of RULED) {
      const shown = Object.fromEntries(
        Object.entries(truth).map(([id, names]) => [id, names.filter((one) => one === name)]),
      );
      const { status, body } = await as.request("GET", `/api/people?select=${name}`);
      if (status === 400) expect(Object.values(shown).flat()).toEqual([]);
      else expect(shownIn(body), name).toEqual(shown);
    }
  });

  it.each(TRUTH)("is decided by the rules of the included entity, at every level: %s", async (_, user, truth) => {
    const list = (await app.as(user).request("GET", "/api/people?include=friends.friends,posts.author")).body as Row[];
    const people = list.flatMap((one) => [
      one,
      ...(one.friends as Row[]),
      ...(one.friends as Row[]).flatMap((friend) => friend.friends as Row[]),
    ]);
    const posts = list.flatMap((one) => one.posts as Row[]);
    for (const one of [...people, ...posts.map(({ author }) => author as Row)])
      expect(shownIn([one])).toEqual({ [String(one.id)]: truth[String(one.id)] });
    expect(posts.filter((one) => "draft" in one).map(({ authorId }) => authorId)).toEqual(
      user !== null && user.id in truth ? [user.id] : [],
    );
    expect(people.length).toBeGreaterThan(6);
  });

  it.each(TRUTH)("never shows more on records that a handler read: %s", async (_, user, truth) => {
    const { body } = await app.inHandler(async ({ driver }) => {
      const whole = await driver.findMany("person");
      const parts = await driver.findMany("person", { select: ["id", "salary", "stateNote", "friendNote"] });
      return { whole, parts };
    }, user);
    const { whole, parts } = body as { whole: Row[]; parts: Row[] };
    for (const one of [...whole, ...parts])
      expect(truth[String(one.id)]).toEqual(expect.arrayContaining(Object.values(shownIn([one])).flat()));
    // A field decided by a condition on the record alone is shown.
    for (const one of whole) expect("address" in one).toBe(truth[String(one.id)]?.includes("address"));
  });

  it("is decided on the record after a write", async () => {
    const moved = await app.as(root).request("PATCH", "/api/posts/p1", { authorId: "bob" });
    expect(moved.body).not.toHaveProperty("draft");
    expect((await app.as(bob).request("GET", "/api/posts/p1")).body).toHaveProperty("draft", "d1");
    expect((await app.as(ann).request("GET", "/api/posts/p1")).body).not.toHaveProperty("draft");
  });

  it("is not shown because of data from another caller's request", async () => {
    const answers = await Promise.all(
      Array.from({ length: 20 }, async (_, index) => {
        const user = index % 2 === 0 ? ann : bob;
        const { body } = await app.as(user).request("GET", "/api/people?include=friends");
        return [user.id, (body as Row[]).filter((one) => "address" in one).map(({ id }) => id)];
      }),
    );
    expect(answers).toEqual(answers.map(([id]) => [id, [id]]));
  });
});

describe("many records", () => {
  it("are decided by one statement per field, not one per record", async () => {
    const isMember = defineRule("isMemberOfGroup", ({ user }) => user !== null && { members: { id: user.id } });
    const member = entity("member", { name: string }).rules(everyone);
    const group = entity("group", {
      name: string,
      secret: string.readable(isMember),
      members: manyToMany(() => member),
    }).rules(everyone);
    const rows = memoryDriver({
      member: [{ id: "ann", name: "ann" }],
      group: Array.from({ length: 50 }, (_, index) => ({
        name: `g${index}`,
        secret: "s",
        membersIds: index % 5 === 0 ? ["ann"] : [],
      })),
    });
    const driver = recordStatements(rows);
    const app = createTestApp({ entities: [member, group], driver, logger: noopLogger });
    const { body } = await app.as(ann).request("GET", "/api/groups");
    expect((body as Row[]).filter((one) => "secret" in one)).toHaveLength(10);
    expect(driver.statements).toEqual(["find group", "count group", "find group"]);
    await app.close();
  });
});
