import { describe, expect, it } from "vitest";
import { belongsTo, ConfigurationError, entity, int, manyToMany, string } from "../../../src/entity/index.ts";
import { tagRecord } from "../../../src/gate/index.ts";
import type { User } from "../../../src/kernel/index.ts";
import { defineRule, filterWritableFields } from "../../../src/plugins/rules/index.ts";

const tag = entity("tag", { name: string });
const account = entity("account", {
  name: string,
  role: string.default("user").writable("admin"),
  nick: string.optional().writable("owner", "admin"),
  ssn: string.encrypted({ searchable: true }).optional(),
  password: string.password(),
  token: string.omit().optional(),
  serial: string.optional().readonly(),
})
  .ownedBy("id")
  .versioned();
const note = entity("note", {
  text: string,
  pinned: string.optional().writable("owner"),
  author: belongsTo(() => account),
  tags: manyToMany(() => tag),
}).ownedBy("author");

const ann: User = { id: "ann" };
const bob: User = { id: "bob" };
const root: User = { id: "root", role: "admin" };
const body = { text: "hello", pinned: "yes" };

describe("filterWritableFields", () => {
  it("drops managed and readonly fields, blind indexes and unknown names", () => {
    const data = {
      id: "x",
      createdAt: new Date(),
      updatedAt: new Date(),
      version: 3,
      serial: "s",
      ssnBidx: "digest",
      sum: 3,
      name: "Ann",
      ssn: "123",
      password: "correct horse",
      token: "t",
      role: "admin",
    };
    const open = { name: "Ann", ssn: "123", password: "correct horse", token: "t" };
    expect(filterWritableFields(data, account, { user: null })).toEqual(open);
    expect(filterWritableFields(data, account, { user: root })).toEqual({ ...open, role: "admin" });
    const hostile = JSON.parse('{ "name": "Ann", "constructor": 1, "__proto__": { "role": "admin" } }');
    expect(filterWritableFields(hostile, account, { user: ann })).toEqual({ name: "Ann" });
  });

  it("keeps keys of links, and drops related records", () => {
    const data = { text: "x", tagsIds: ["t1"], tags: [{ id: "t1" }], author: { id: "ann" }, authorIds: ["ann"] };
    expect(filterWritableFields(data, note, { user: ann })).toEqual({ text: "x", tagsIds: ["t1"] });
  });

  it("decides rules that read the record on the stored one, never on the input", () => {
    const data = { ...body, authorId: "bob" };
    expect(filterWritableFields(data, note, { user: bob })).toEqual({ text: "hello" });
    const existing = { id: "n1", text: "old", pinned: null, authorId: "ann" };
    expect(filterWritableFields(data, note, { user: bob, existing })).toEqual({ text: "hello" });
    expect(filterWritableFields(body, note, { user: ann, existing })).toEqual(body);
    expect(filterWritableFields(body, note, { user: ann, existing: null })).toEqual({ text: "hello" });
    expect(filterWritableFields(body, note, { user: ann, existing: { id: "n1" } })).toEqual({ text: "hello" });
  });

  it("decides for create if requested: the creator of a record owns it", () => {
    expect(filterWritableFields(body, note, { user: ann, operation: "create" })).toEqual(body);
    expect(filterWritableFields(body, note, { user: null, operation: "create" })).toEqual({ text: "hello" });
    const mine = defineRule("writable fields: mine", ({ record, user }) => record?.authorId === user?.id);
    const doc = entity("doc", { a: string.writable(mine), author: belongsTo(() => account) }).ownedBy("author");
    expect(filterWritableFields({ a: "a" }, doc, { user: ann, operation: "create" })).toEqual({ a: "a" });
    expect(filterWritableFields({ a: "a", authorId: "bob" }, doc, { user: ann, operation: "create" })).toEqual({
      a: "a",
    });
    expect(filterWritableFields({ a: "a" }, doc, { user: null, operation: "create" })).toEqual({});
  });

  it("decides on values that will be stored, and ignores unwritable ones", () => {
    const trusted = defineRule("writable fields: trusted", ({ record }) => record?.kind === "trusted");
    const high = defineRule("writable fields: high", ({ record }) => Number(record?.level) > 5);
    const doc = entity("doc", {
      limit: int.optional().writable(trusted),
      kind: string.writable("admin"),
      level: int,
      note: string.optional().writable(high),
    });
    const data = { limit: 9, kind: "trusted", level: 6, note: "n" };
    expect(filterWritableFields(data, doc, { user: ann, operation: "create" })).toEqual({ level: 6, note: "n" });
    expect(filterWritableFields(data, doc, { user: root, operation: "create" })).toEqual(data);
    expect(filterWritableFields({ ...data, level: 1 }, doc, { user: ann, operation: "create" })).toEqual({ level: 1 });
  });

  it("keeps the owner's key for administrators only, or the caller's own on create", () => {
    const data = { text: "x", authorId: "bob" };
    expect(filterWritableFields(data, note, { user: bob })).toEqual({ text: "x" });
    expect(filterWritableFields(data, note, { user: root })).toEqual(data);
    expect(filterWritableFields(data, note, { user: bob, operation: "create" })).toEqual(data);
    expect(filterWritableFields(data, note, { user: ann, operation: "create" })).toEqual({ text: "x" });
    expect(filterWritableFields(data, note, { user: null, operation: "create" })).toEqual({ text: "x" });
  });

  it("accepts arrays and null, ignores undefined, and changes nothing", () => {
    const data = Object.freeze({ text: "x", pinned: undefined, id: "n1" });
    const result = filterWritableFields([data, null], note, { user: ann });
    expect(result).toEqual([{ text: "x" }, null]);
    expect(Object.keys(result[0] ?? {})).toEqual(["text"]);
    expect(filterWritableFields(null, note, { user: ann })).toBeNull();
    expect(() => filterWritableFields([body], note, { user: ann, existing: { id: "n1" } })).toThrow(ConfigurationError);
  });

  it("accepts two arguments for tagged records, and refuses other data", () => {
    const record = tagRecord(account.build(), { id: "ann", name: "Ann", nick: "a", role: "user", password: "$hash$" });
    expect(filterWritableFields(record, ann)).toEqual({ name: "Ann" });
    expect(filterWritableFields(record, root)).toEqual({ name: "Ann", nick: "a", role: "user" });
    expect(() => filterWritableFields(body, ann)).toThrow(
      new ConfigurationError(
        "filterWritableFields(data, user) takes records of a handler's driver or of an operation, which know their entity. Records of a client, such as api.as(user), are plain copies, masked already; for these and other data say whose fields they are: filterWritableFields(data, entity, { user })",
      ),
    );
  });
});
