import { inspect } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  belongsTo,
  defineRule,
  entity,
  filterReadableFields,
  int,
  type Row,
  string,
  type User,
} from "../../../src/index.ts";
import type { OperationScope } from "../../../src/plugin.ts";
import { createHandlerApp } from "./handler-app.ts";

/** Depends only on the request: two anonymous callers may get different results. */
const hasTicket = defineRule("copiedHasTicket", ({ request, record }) => {
  const headers = (request as Request | undefined)?.headers;
  return headers?.get("x-ticket") === "good" && record?.title === "t";
});

const person = entity("person", { name: string })
  .ownedBy("id")
  .rules({ read: ["everyone"] });
const doc = entity("doc", {
  title: string,
  draft: string.optional().readable("owner"),
  price: int.optional().readable(hasTicket),
  owner: belongsTo(() => person),
})
  .ownedBy("owner")
  .rules({ read: ["everyone"] });

const ann: User = { id: "ann" };
const bob: User = { id: "bob" };
const app = createHandlerApp({ entities: [person, doc] });
beforeAll(async () => {
  const { person: people, doc: docs } = app.api.asSystem();
  for (const id of ["ann", "bob"]) await people.create({ id, name: id });
  await docs.create({ id: "d", title: "t", draft: "canary", price: 7, ownerId: "ann" });
});
afterAll(() => app.close());

const READINGS: readonly (readonly [string, (scope: OperationScope) => Promise<Row>])[] = [
  ["the driver", async ({ driver }) => (await driver.findOne("doc", { id: "d" })) as Row],
  ["an operation", async (scope) => (await scope.run({ kind: "read", entity: doc, id: "d" })).records[0] as Row],
];
const CHANGES: readonly (readonly [string, (record: Row, id: string) => Row])[] = [
  ["a copy", (record, ownerId) => ({ ...record, ownerId })],
  ["a copy of a copy", (record, ownerId) => Object.assign({}, { ...record, ownerId })],
  ["the record itself", (record, ownerId) => Object.assign(record, { ownerId })],
];

describe.each(READINGS)("a record that %s read", (_, read) => {
  it.each(CHANGES)("keeps the fields shown at the time of reading, even with another owner: %s", async (__, change) => {
    const asBob = await app.inHandler(async (scope) => change(await read(scope), "bob"), bob);
    expect(asBob.body).toMatchObject({ id: "d", ownerId: "bob" });
    expect(asBob.body).not.toHaveProperty("draft");
    const asAnn = await app.inHandler(async (scope) => change(await read(scope), "bob"), ann);
    expect(asAnn.body).toMatchObject({ draft: "canary", ownerId: "bob" });
  });

  it.each(CHANGES)("is masked as it was read: %s", async (__, change) => {
    const { value } = await app.inHandler(async (scope) => change(await read(scope), "bob"), ann);
    expect(filterReadableFields(value, bob)).not.toHaveProperty("draft");
    expect(filterReadableFields(value, doc, { user: bob })).not.toHaveProperty("draft");
    expect(filterReadableFields(filterReadableFields(value, ann), ann)).toHaveProperty("draft", "canary");
  });

  it("prints its values, without its definition or its state when read", async () => {
    const { value } = await app.inHandler(async (scope) => ({ ...(await read(scope)), draft: "", price: 0 }), ann);
    for (const options of [
      {},
      { depth: null, showHidden: true, getters: true },
      { depth: null, customInspect: false },
    ]) {
      const text = inspect(value, options);
      expect(text).toContain("title: 't'");
      expect(text).not.toMatch(/canary|copiedHasTicket|timestamps|evaluate/);
      expect(text.length).toBeLessThan(1_000);
    }
  });
});

describe("a record's fields for one anonymous caller", () => {
  const ask = (ticket: string) => app.as(null).request("GET", "/run", undefined, { "x-ticket": ticket });

  it("are hidden from another one who is given the same record", async () => {
    let kept: Row[] | undefined;
    app.handle(async (scope) => {
      kept ??= (await scope.run({ kind: "list", entity: doc })).records;
      return kept;
    });
    expect((await ask("good")).body).toMatchObject([{ id: "d", price: 7 }]);
    const [other] = (await ask("bad")).body as Row[];
    expect(other).toMatchObject({ id: "d" });
    expect(other).not.toHaveProperty("price");
  });

  it("are shown in the transactions of the same request", async () => {
    app.handle((scope) => scope.transaction(async (inner) => (await inner.run({ kind: "list", entity: doc })).records));
    expect((await ask("good")).body).toMatchObject([{ price: 7 }]);
  });
});
