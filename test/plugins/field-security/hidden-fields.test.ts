import { inspect } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { belongsTo, type Driver, entity, type Row, string } from "../../../src/index.ts";
import type { OperationScope } from "../../../src/plugin.ts";
import { createHandlerApp } from "./handler-app.ts";

const everyone = { create: ["everyone"], read: ["everyone"], update: ["everyone"] };
const user = entity("user", {
  name: string,
  token: string.omit(),
  password: string.password({ cost: 1 }),
  ssn: string.encrypted({ searchable: true }),
}).rules(everyone);
const note = entity("note", { text: string, author: belongsTo(() => user) }).rules(everyone);

const HIDDEN = ["token", "password", "ssnBidx"];
const app = createHandlerApp({ entities: [user, note], encryption: { key: "11".repeat(32) } });
beforeAll(async () => {
  await app.api.asSystem().user.create({ id: "u", name: "n", token: "the token", password: "the password", ssn: "1" });
  await app.api.asSystem().note.create({ id: "n", text: "t", authorId: "u" });
});
afterAll(() => app.close());

describe("fields that are in no response", () => {
  it.each(HIDDEN)("cannot sort a list, even for the system, because the cursor would show one: %s", async (name) => {
    const system = app.api.asSystem().user;
    for (const sort of [[name], [`-${name}`], ["name", name]])
      await expect(system.list({ sort: sort as never, limit: 1 })).rejects.toMatchObject({
        status: 400,
        message: `user cannot be sorted by "${name}"`,
      });
    const sort = [{ field: name, direction: "asc" }] as const;
    await expect(
      app.inHandler((scope) => scope.run({ kind: "list", entity: "user", query: { sort, limit: 1 } })),
    ).rejects.toMatchObject({ status: 400 });
    expect((await system.list({ sort: ["name"], limit: 1 })).nextCursor).toEqual(expect.any(String));
  });

  it("are available to code that selects them by name", async () => {
    const { value } = await app.inHandler(async ({ driver }) => {
      const { token, password, ssn } = (await driver.findOne("user", { id: "u" })) as Row;
      return { token, isHash: String(password).startsWith("$pbkdf2$"), ssn };
    });
    expect(value).toEqual({ token: "the token", isHash: true, ssn: "1" });
  });

  const readings: readonly (readonly [string, (scope: OperationScope) => Promise<Row>])[] = [
    ["findOne", async ({ driver }) => (await driver.findOne("user", { id: "u" })) as Row],
    ["findMany", async ({ driver }) => (await driver.findMany("user"))[0] as Row],
    ["update", async ({ driver }) => (await driver.update("user", { id: "u" }, { name: "n" })) as Row],
    [
      "stream",
      async ({ driver }) => {
        for await (const [row] of driver.stream("user")) if (row !== undefined) return row;
        return {};
      },
    ],
    [
      "transaction",
      ({ driver }) => driver.transaction(async (inner) => (await inner.findOne("user", { id: "u" })) as Row),
    ],
  ];
  it.each(readings)("do not show on a record that a handler read by %s", async (_, read) => {
    const { value, body } = await app.inHandler(async (scope) => {
      const record = await read(scope);
      return {
        keys: Object.keys(record),
        spread: Object.keys({ ...record }),
        json: JSON.stringify(record),
        entries: Object.fromEntries(Object.entries(record)),
        inspected: inspect(record),
        record,
        copy: { ...record, more: [record] },
      };
    });
    for (const name of HIDDEN) {
      expect(value.keys).not.toContain(name);
      expect(value.spread).not.toContain(name);
    }
    const digest = String((await app.api.driver.findOne("user", { id: "u" }))?.ssnBidx);
    for (const text of [value.json, value.inspected, JSON.stringify([value.entries, body])])
      expect(["the token", "$pbkdf2$", digest].filter((secret) => text.includes(secret))).toEqual([]);
    const { inspected, ...rest } = body as Row;
    expect(inspected).toContain("name: 'n'");
    expect(JSON.stringify(rest)).not.toMatch(/token|password|Bidx/);
  });

  it("keep their values when a copy of a record is stored, and are not revealed", async () => {
    const before = await app.api.driver.findOne("user", { id: "u" });
    await app.inHandler(async ({ driver }) => {
      const { id, ...record } = { ...((await driver.findOne("user", { id: "u" })) as Row) };
      return driver.update("user", { id: String(id) }, { ...record, name: "n" });
    });
    const after = (await app.api.driver.findOne("user", { id: "u" })) as Row;
    expect(after).toMatchObject({ token: before?.token, password: before?.password, ssnBidx: before?.ssnBidx });
  });

  it("are masked in records that services read, in any scope", async () => {
    const all = { services: { people: ({ driver }: { driver: unknown }) => driver } };
    const other = createHandlerApp({ entities: [user, note], encryption: { key: "11".repeat(32) }, ...all });
    await other.api.asSystem().user.create({ name: "n", token: "the token", password: "the password", ssn: "1" });
    const { body } = await other.inHandler(async ({ services }) => services.resolve<Driver>("people").findMany("user"));
    expect(body).toEqual([expect.objectContaining({ name: "n", ssn: "1" })]);
    expect(JSON.stringify(body)).not.toMatch(/the token|pbkdf2|Bidx/);
    await other.close();
  });

  it("are written by callers like other fields", async () => {
    const { body } = await app.as(null).request("PATCH", "/api/users/u", { token: "the token too" });
    expect(Object.keys(body as object)).toEqual(["id", "name", "ssn", "createdAt", "updatedAt"]);
    expect((await app.api.driver.findOne("user", { id: "u" }))?.token).toBe("the token too");
  });
});
