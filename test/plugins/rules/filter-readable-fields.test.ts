import { afterEach, describe, expect, it } from "vitest";
import { memoryDriver } from "../../../src/drivers/memory/index.ts";
import {
  type AnyEntity,
  belongsTo,
  ConfigurationError,
  type EntityLike,
  entity,
  hasMany,
  int,
  json,
  selfRef,
  string,
} from "../../../src/entity/index.ts";
import { createPlugin, entityOfRecord, tagRecord } from "../../../src/gate/index.ts";
import { AuthenticationError, consoleLogger, InternalError, setLogger, type User } from "../../../src/kernel/index.ts";
import { all, defineRule, filterReadableFields, type Rule } from "../../../src/plugins/rules/index.ts";
import { createFakeKernel } from "../../../src/testing/fake-kernel.ts";
import { recordingLogger } from "../../../src/testing/recording-logger.ts";

const account = entity("account", {
  name: string,
  email: string.readable("owner", "admin"),
  ssn: string.encrypted({ searchable: true }).readable("admin"),
  apiToken: string.omit(),
  secret: string.password(),
  notes: hasMany((): EntityLike => note),
})
  .ownedBy("id")
  .timestamps(false);
const note = entity("note", {
  text: string,
  draft: string.optional().readable("owner"),
  audit: json.optional().readable("admin"),
  author: belongsTo(() => account),
  parent: selfRef().optional(),
}).ownedBy("author");

const ann: User = { id: "ann" };
const bob: User = { id: "bob" };
const root: User = { id: "root", role: "admin" };
const annRecord = {
  id: "ann",
  name: "Ann",
  email: "ann@example.org",
  ssn: "123",
  ssnBidx: "digest",
  apiToken: "token",
  secret: "$scrypt$",
};
const noteRecord = { id: "n1", text: "hello", draft: "hel", audit: { by: "x" }, authorId: "ann", parentId: null };

let count = 0;
/** A rule with a unique name, so that tests do not share rules. */
const rule = (fn: Parameters<typeof defineRule>[1], options?: Parameters<typeof defineRule>[2]): Rule =>
  defineRule(`readable fields: ${++count}`, fn, options);

afterEach(() => setLogger(consoleLogger));

describe("filterReadableFields", () => {
  it("omits hidden fields for every caller", () => {
    for (const user of [null, ann, root])
      expect(Object.keys(filterReadableFields(annRecord, account, { user }))).not.toEqual(
        expect.arrayContaining([expect.stringMatching(/^(ssnBidx|apiToken|secret)$/)]),
      );
  });

  it("omits fields whose rules fail; any rule of a list suffices", () => {
    expect(filterReadableFields(annRecord, account, { user: null })).toEqual({ id: "ann", name: "Ann" });
    expect(filterReadableFields(annRecord, account, { user: bob })).toEqual({ id: "ann", name: "Ann" });
    expect(filterReadableFields(annRecord, account, { user: ann })).toEqual({
      id: "ann",
      name: "Ann",
      email: "ann@example.org",
    });
    expect(Object.keys(filterReadableFields(annRecord, account, { user: root }))).toEqual([
      "id",
      "name",
      "email",
      "ssn",
    ]);
  });

  it("decides per record of an array", () => {
    const other = { ...noteRecord, id: "n2", authorId: "bob" };
    expect(filterReadableFields([noteRecord, other, null], note, { user: bob })).toEqual([
      { id: "n1", text: "hello", authorId: "ann", parentId: null },
      { id: "n2", text: "hello", draft: "hel", authorId: "bob", parentId: null },
      null,
    ]);
    expect(filterReadableFields(null, note, { user: bob })).toBeNull();
  });

  it("omits names that the entity does not have", () => {
    const data = JSON.parse('{ "id": "n1", "sum": 3, "constructor": 1, "__proto__": { "x": 1 }, "authorId": "ann" }');
    expect(filterReadableFields(data, note, { user: root })).toEqual({ id: "n1", authorId: "ann" });
  });

  it("filters related records by the rules of their own entity, at any depth", () => {
    const parent = { ...noteRecord, id: "n0", author: annRecord };
    const data = { ...annRecord, notes: [{ ...noteRecord, parent, author: null }, "n7"] };
    expect(filterReadableFields(data, account, { user: bob })).toEqual({
      id: "ann",
      name: "Ann",
      notes: [
        {
          id: "n1",
          text: "hello",
          authorId: "ann",
          parentId: null,
          author: null,
          parent: { id: "n0", text: "hello", authorId: "ann", parentId: null, author: { id: "ann", name: "Ann" } },
        },
      ],
    });
    expect(filterReadableFields({ id: "n1", author: "ann" }, note, { user: bob })).toEqual({ id: "n1" });
  });

  it("filters a tagged record by its own entity, wherever it is", () => {
    const tagged = tagRecord(account.build(), { ...annRecord });
    expect(filterReadableFields({ id: "n1", parent: tagged }, note, { user: null })).toMatchObject({
      parent: { id: "ann", name: "Ann" },
    });
    expect(Object.keys(filterReadableFields(tagged, note, { user: null }))).toEqual(["id", "name"]);
  });

  it("refuses data that is circular", () => {
    const data: Record<string, unknown> = { id: "n1" };
    data.parent = data;
    expect(() => filterReadableFields(data, note, { user: null })).toThrow(InternalError);
    const list: unknown[] = [];
    list.push(list);
    expect(() => filterReadableFields({ notes: list }, account, { user: null })).toThrow(InternalError);
  });

  it("returns new objects and changes nothing", () => {
    const data = Object.freeze({ ...noteRecord, author: Object.freeze({ ...annRecord }) });
    const result = filterReadableFields(data, note, { user: root });
    expect(result).not.toBe(data);
    expect(result.author).not.toBe(data.author);
    expect(data.author).toHaveProperty("secret");
  });

  it("omits a field if the record alone does not decide", () => {
    const { authorId: _, ...partial } = noteRecord;
    for (const authorId of [undefined, null, ["ann"], { id: "ann" }])
      expect(filterReadableFields({ ...partial, authorId }, note, { user: ann })).not.toHaveProperty("draft");
    expect(filterReadableFields(partial, note, { user: ann })).not.toHaveProperty("draft");
    const tests: Record<string, Rule> = {
      negative: rule(({ record }) => record?.level !== 3),
      related: rule(() => ({ author: { name: "Ann" } })),
      either: rule(() => ({ OR: [{ id: "d1" }, { author: { name: "Ann" } }] })),
      spread: rule(({ record }) => Object.keys({ ...record }).length > 0),
      without: rule(() => ({ NOT: { level: 3 } })),
    };
    for (const [title, given] of Object.entries(tests)) {
      const doc = entity("doc", { level: int, body: string.readable(given), author: belongsTo(() => account) });
      expect(filterReadableFields({ id: "d1", body: "x" }, doc, { user: ann }), title).toEqual({ id: "d1" });
    }
  });

  it("calls custom rules with the record, synchronously", () => {
    const level = rule(({ record, user, operation }) => operation === "read" && user !== null && record?.level === 3);
    const condition = rule(() => ({ level: { gte: 3 } }));
    const listed = rule(() => false, { where: ({ user }) => (user === null ? false : { level: { in: [2, 3] } }) });
    const whole = rule(({ record }) => ({ ...record }).level === 3);
    for (const given of [level, condition, listed, whole, all("authenticated", condition)]) {
      const doc = entity("doc", { level: int, body: string.readable(given) }).timestamps(false);
      expect(filterReadableFields({ id: "d1", level: 3, body: "x" }, doc, { user: ann }), given.name).toHaveProperty(
        "body",
      );
      expect(filterReadableFields({ id: "d1", level: 1, body: "x" }, doc, { user: ann })).not.toHaveProperty("body");
    }
    const both = entity("doc", { level: int, body: string.readable(all("authenticated", condition)) });
    expect(filterReadableFields({ id: "d1", level: 3, body: "x" }, both, { user: null })).not.toHaveProperty("body");
  });

  it("omits a field whose rule is async, throws, changes the record, or needs an app", () => {
    const log = recordingLogger();
    setLogger(log);
    const tests: Record<string, Rule> = {
      waits: rule(async () => true),
      rejects: rule(async () => Promise.reject(new TypeError("47114711"))),
      throws: rule(() => {
        throw new TypeError("47114711");
      }),
      changes: rule(({ record }) => {
        (record as { level: number }).level = 3;
        return true;
      }),
      driver: rule(({ driver }) => driver !== undefined),
      service: rule(({ resolve }) => resolve("teams") !== undefined),
      nonsense: rule(() => "true" as never),
      empty: rule(() => ({})),
      always: rule(() => ({ AND: [] })),
    };
    for (const [title, given] of Object.entries(tests)) {
      const doc = entity("doc", { level: int, body: string.readable(given) });
      const data = Array.from({ length: 3 }, () => ({ id: "d1", level: 1, body: "x" }));
      const result = filterReadableFields(data, doc, { user: root });
      expect(result[0], title).toEqual({ id: "d1", level: 1 });
    }
    const lines = (name: string) => log.lines.filter((line) => line.includes(`"${tests[name]?.name}"`));
    for (const name of ["waits", "rejects", "throws", "driver", "service"]) expect(lines(name), name).toHaveLength(1);
    expect(log.lines.join()).not.toContain("47114711");
  });

  it("uses rules given to the entity itself, and those defined by name", () => {
    const own = defineRule("readable fields: twice", () => true);
    defineRule("readable fields: twice", () => false);
    defineRule("readable fields: named", () => true);
    const doc = entity("doc", { a: string.readable(own), b: string.readable("readable fields: named") });
    expect(filterReadableFields({ a: "a", b: "b" }, doc, { user: null })).toEqual({ a: "a", b: "b" });
  });

  it("omits a field with an empty list or an unknown rule, and logs that", () => {
    const log = recordingLogger();
    setLogger(log);
    const doc = entity("doc", { a: string.readable(), b: string.readable("readable fields: ghost") });
    expect(filterReadableFields({ a: "a", b: "b" }, doc, { user: root })).toEqual({});
    expect(log.lines).toEqual([expect.stringContaining('doc: there is no rule "readable fields: ghost"')]);
  });

  it("takes isAdmin from its options, or else from the user", () => {
    const admin = (user: User, isAdmin?: boolean) =>
      "ssn" in filterReadableFields(annRecord, account, { user, isAdmin });
    expect(admin(root)).toBe(true);
    expect(admin(root, false)).toBe(false);
    expect(admin(bob, true)).toBe(true);
    expect(admin(bob, "yes" as never)).toBe(false);
    expect("ssn" in filterReadableFields(annRecord, account, { user: null, isAdmin: true })).toBe(false);
  });

  it("refuses an invalid identity", () => {
    for (const id of [undefined, "", 7])
      expect(() => filterReadableFields(annRecord, account, { user: { id, role: "admin" } as never })).toThrow(
        AuthenticationError,
      );
  });

  it("filters records that code has put into a JSON column, at any depth", () => {
    const tagged = (): Record<string, unknown> => tagRecord(account.build(), { ...annRecord });
    const filter = (audit: unknown) => filterReadableFields({ ...noteRecord, audit }, note, { user: root }).audit;
    const seen = { id: "ann", name: "Ann", email: "ann@example.org", ssn: "123" };
    expect(filter(tagged())).toEqual(expect.objectContaining(seen));
    const nested = filter({ list: [1, { by: tagged() }], at: new Date(0), none: null });
    expect(JSON.parse(JSON.stringify(nested))).toEqual({
      list: [1, { by: seen }],
      at: "1970-01-01T00:00:00.000Z",
      none: null,
    });
    expect(JSON.stringify([filter(tagged()), nested])).not.toMatch(/scrypt|digest|token/);
    const plain = { list: [1, { a: null }], text: "t", at: new Date(0) };
    expect(filter(plain)).toBe(plain);
    const circle: Record<string, unknown> = {};
    circle.self = circle;
    expect(() => filter(circle)).toThrow(InternalError);
  });

  describe("filterReadableFields with two arguments", () => {
    const stored = async (): Promise<Record<string, unknown>> => {
      const driver = memoryDriver({ account: [{ ...annRecord }], note: [noteRecord] });
      const kernel = createFakeKernel().withEntities(account, note).withDriver(driver);
      await kernel.use(createPlugin({ id: "starts-the-driver" }));
      const { records } = await kernel.operation({ kind: "read", entity: "account", id: "ann" });
      return records[0] as Record<string, unknown>;
    };

    it("works on tagged records, and on copies of them", async () => {
      const record = await stored();
      for (const data of [record, { ...record }]) {
        expect(Object.keys(filterReadableFields(data, bob))).toEqual(["id", "name"]);
        expect(Object.keys(filterReadableFields([data], ann)[0] ?? {})).toEqual(["id", "name", "email"]);
        expect(Object.keys(filterReadableFields(data, root))).toEqual(["id", "name", "email", "ssn"]);
      }
      expect(filterReadableFields([], ann)).toEqual([]);
    });

    it("keeps the tag on its result, so that responses are masked as usual", async () => {
      const result = filterReadableFields(await stored(), root);
      expect((entityOfRecord(result) as AnyEntity).name).toBe("account");
      expect(Object.keys(filterReadableFields(result, null))).toEqual(["id", "name"]);
    });

    it("refuses anything else, and says what to pass", () => {
      expect(() => filterReadableFields(annRecord, root)).toThrow(
        new ConfigurationError(
          "filterReadableFields(data, user) takes records of a handler's driver or of an operation, which know their entity. Records of a client, such as api.as(user), are plain copies, masked already; for these and other data say whose fields they are: filterReadableFields(data, entity, { user })",
        ),
      );
      expect(() => filterReadableFields(annRecord, account as never)).toThrow(ConfigurationError);
      expect(() => filterReadableFields(annRecord, note.build() as never)).toThrow(/pass \{ user \}/);
      expect(() => filterReadableFields("text" as never, null)).toThrow(ConfigurationError);
    });
  });

  it("refuses data that is not a record, and an invalid entity", () => {
    for (const data of ["text", 3, Promise.resolve(noteRecord)])
      expect(() => filterReadableFields(data, note, { user: ann })).toThrow(
        /takes a record, an array of records or null/,
      );
    expect(() => filterReadableFields(noteRecord, "note" as never, { user: ann })).toThrow(ConfigurationError);
  });
});
