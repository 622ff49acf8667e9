import { afterEach, describe, expect, it } from "vitest";
import {
  type AnyEntity,
  belongsTo,
  datetime,
  defineRule,
  entity,
  hasMany,
  memoryDriver,
  type RemoteService,
  type Row,
  softDeleteAction,
  string,
  type User,
} from "../../../src/index.ts";
import { createTestApp } from "../../../src/testing/index.ts";
import { keepingLog, type LogLine, serviceOf, type TestService } from "./shop.ts";

let close: (() => Promise<void>) | undefined;
afterEach(() => close?.());

interface Reply {
  readonly doc: Row | null;
  readonly calls: TestService["calls"];
  readonly header: string | null;
  readonly lines: readonly LogLine[];
}

/** Reads a page with its document, which belongs to another service, as the given caller. */
async function read(
  target: AnyEntity,
  record: Row,
  user: User | null,
  include = "doc",
  own: readonly AnyEntity[] = [],
): Promise<Reply> {
  const page = entity("page", { doc: belongsTo(() => target).remote("docs") })
    .timestamps(false)
    .rules({ read: ["everyone"] });
  const docs = serviceOf(() => [{ id: "d1", ...record }]);
  const { lines, logger } = keepingLog();
  const app = createTestApp({
    entities: [page, ...own],
    services: { docs: () => docs as RemoteService },
    driver: memoryDriver({ page: [{ id: "p1", docId: "d1" }] }),
    logger,
  });
  close = app.close;
  const { status, body, headers } = await app.as(user).request("GET", `/api/pages/p1?include=${include}`);
  expect([status, (body as Row).message]).toEqual([200, undefined]);
  return { doc: (body as Row).doc as Row | null, calls: docs.calls, header: headers.get("x-remote-errors"), lines };
}

const ANN = { id: "ann" };
const BOB = { id: "bob" };
const ADMIN = { id: "root", role: "admin" };
const fields = { title: string, team: string.optional(), secret: string.omit().optional() };
const bare = () => entity("doc", fields).timestamps(false);
const RECORD = { title: "Plan", team: "red", secret: "canary" };

describe("the read rule of the related entity", () => {
  it("that refuses the caller makes it null, without calling the service", async () => {
    const doc = bare()
      .rules({ read: ["admin"] })
      .build();
    const refused = await read(doc, RECORD, ANN);
    expect([refused.doc, refused.calls.length, refused.header]).toEqual([null, 0, null]);
    expect((await read(doc, RECORD, ADMIN)).doc).toMatchObject({ title: "Plan" });
  });

  it("denies by default, and the start warns about it", async () => {
    const { doc, calls, lines } = await read(bare().build(), RECORD, ANN);
    expect([doc, calls.length]).toEqual([null, 0]);
    expect(lines.map(({ message }) => message).join()).toContain("doc has no read rule");
  });

  it("with a condition shows the records that satisfy it", async () => {
    const red = defineRule("remote-red", ({ user }) => ({ team: user === null ? "none" : "red" }));
    const doc = bare()
      .rules({ read: [red] })
      .build();
    expect((await read(doc, RECORD, ANN)).doc).toMatchObject({ title: "Plan" });
    expect((await read(doc, { ...RECORD, team: "blue" }, ANN)).doc).toBeNull();
    expect((await read(doc, { title: "Plan" }, ANN)).doc).toBeNull();
    expect((await read(doc, RECORD, null)).doc).toBeNull();
  });

  it("shows owners their own records", async () => {
    const account = entity("account", { name: string })
      .timestamps(false)
      .rules({ read: ["everyone"] });
    const doc = entity("doc", { title: string, account: belongsTo(() => account) })
      .timestamps(false)
      .ownedBy("account")
      .rules({ read: ["owner"] })
      .build();
    const record = { title: "Mine", accountId: "ann" };
    expect((await read(doc, record, ANN)).doc).toMatchObject({ title: "Mine" });
    expect((await read(doc, record, BOB)).doc).toBeNull();
  });

  it("that uses a field that the service does not send hides the record", async () => {
    const strict = defineRule("remote-strict", () => ({ title: { ne: "Hidden" } }));
    const doc = bare()
      .rules({ read: [strict] })
      .build();
    expect((await read(doc, { team: "red" }, ANN)).doc).toBeNull();
  });

  it("that requires a column to be null hides records without the column", async () => {
    const open = defineRule("remote-not-blocked", () => ({ blockedAt: null }));
    const doc = entity("doc", { title: string, blockedAt: datetime.optional() })
      .timestamps(false)
      .rules({ read: [open] })
      .build();
    expect((await read(doc, { title: "Plan" }, ANN)).doc).toBeNull();
    expect((await read(doc, { title: "Plan", blockedAt: null }, ANN)).doc).toMatchObject({ title: "Plan" });
  });

  it("that uses a hidden or a related column hides all records", async () => {
    const owner = entity("holder", { name: string }).timestamps(false);
    const withHolder = entity("doc", { ...fields, holder: belongsTo(() => owner) }).timestamps(false);
    const bySecret = defineRule("remote-by-secret", () => ({ secret: "canary" }));
    const byHolder = defineRule("remote-by-holder", () => ({ holder: { name: "Ann" } }));
    expect(
      (
        await read(
          bare()
            .rules({ read: [bySecret] })
            .build(),
          RECORD,
          ANN,
        )
      ).doc,
    ).toBeNull();
    expect((await read(withHolder.rules({ read: [byHolder] }).build(), RECORD, ANN)).doc).toBeNull();
  });

  it("requests the columns it uses, and hides those the caller may not read", async () => {
    const red = defineRule("remote-red-only", () => ({ team: "red" }));
    const doc = entity("doc", { title: string, team: string.readable("admin") })
      .timestamps(false)
      .rules({ read: [red] })
      .build();
    const { doc: found, calls } = await read(doc, RECORD, ANN);
    expect(found).toEqual({ id: "d1", title: "Plan" });
    expect(calls[0]?.options.select).toEqual(["id", "title", "team"]);
  });

  it("hides softly deleted records", async () => {
    const doc = entity("doc", { title: string, deletedAt: datetime.optional() })
      .timestamps(false)
      .softDelete()
      .actions({ remove: softDeleteAction })
      .rules({ read: ["everyone"] })
      .build();
    expect((await read(doc, { title: "There" }, ANN)).doc).toMatchObject({ title: "There" });
    expect((await read(doc, { title: "Gone", deletedAt: "2026-01-01T00:00:00Z" }, ANN)).doc).toBeNull();
  });
});

describe("rules of single fields", () => {
  it("hide fields from callers who may not read them", async () => {
    const doc = entity("doc", { ...fields, margin: string.readable("admin") })
      .timestamps(false)
      .rules({ read: ["everyone"] })
      .build();
    const record = { ...RECORD, margin: "canary" };
    expect((await read(doc, record, ANN)).doc).toEqual({ id: "d1", title: "Plan", team: "red" });
    expect((await read(doc, record, ADMIN)).doc).toEqual({ id: "d1", title: "Plan", team: "red", margin: "canary" });
  });

  it("that depend on the record are evaluated for each, as condition or function", async () => {
    const byTeam = defineRule("remote-field-team", () => ({ team: "red" }));
    const byFunction = defineRule("remote-field-function", ({ record }) => record?.team === "red");
    for (const rule of [byTeam, byFunction]) {
      const doc = entity("doc", { ...fields, note: string.readable(rule) })
        .timestamps(false)
        .rules({ read: ["everyone"] })
        .build();
      const record = { ...RECORD, note: "for the red" };
      expect((await read(doc, record, ANN)).doc).toMatchObject({ note: "for the red" });
      expect((await read(doc, { ...record, team: "blue" }, ANN)).doc).not.toHaveProperty("note");
    }
  });

  it("that require a column to be null hide the field of records without it", async () => {
    const byWhere = defineRule("remote-field-teamless", () => ({ team: null }));
    const byFunction = defineRule("remote-field-teamless-function", ({ record }) => record?.team === null);
    for (const rule of [byWhere, byFunction]) {
      const doc = entity("doc", { ...fields, note: string.readable(rule) })
        .timestamps(false)
        .rules({ read: ["everyone"] })
        .build();
      const record = { title: "Plan", note: "for the rest" };
      expect((await read(doc, record, ANN)).doc).toEqual({ id: "d1", title: "Plan", team: null });
      expect((await read(doc, { ...record, team: null }, ANN)).doc).toMatchObject({ note: "for the rest" });
    }
  });

  it("on a key hide its relation from the caller", async () => {
    const author = entity("author", { name: string })
      .timestamps(false)
      .rules({ read: ["admin"] });
    const doc = entity("doc", { title: string, author: belongsTo(() => author) })
      .timestamps(false)
      .rules({ read: ["everyone"] })
      .build();
    const record = { title: "Plan", authorId: "a1", author: { id: "a1", name: "canary" } };
    const hidden = await read(doc, record, ANN, "doc.author");
    expect([hidden.doc?.author, hidden.calls[0]?.options.include]).toEqual([null, undefined]);
    expect((await read(doc, record, ADMIN, "doc.author")).doc?.author).toEqual({ id: "a1", name: "canary" });
  });
});

describe("lists inside remote records", () => {
  it("contain the records that the caller may see", async () => {
    const open = defineRule("remote-open-lines", () => ({ state: "open" }));
    const line: AnyEntity = entity("line", {
      state: string,
      secret: string.omit().optional(),
      doc: belongsTo(() => doc),
    })
      .timestamps(false)
      .rules({ read: [open] })
      .build();
    const doc: AnyEntity = entity("doc", { title: string, lines: hasMany(() => line) })
      .timestamps(false)
      .rules({ read: ["everyone"] })
      .build();
    const lines = [
      { id: "l1", state: "open", docId: "d1", secret: "canary" },
      { id: "l2", state: "closed", docId: "d1" },
      { id: "l3", state: 3, docId: "d1" },
      null,
    ];
    const { doc: found, header } = await read(doc, { title: "Plan", lines }, ANN, "doc.lines");
    expect(found?.lines).toEqual([{ id: "l1", state: "open", docId: "d1" }]);
    expect(header).toBe("lines;invalid");
    for (const odd of [undefined, "x", {}, new Array(2 ** 32 - 1)])
      expect((await read(doc, { title: "Plan", lines: odd }, ANN, "doc.lines")).doc?.lines).toEqual([]);
  });
});

describe("values", () => {
  it("of columns that are stored encrypted arrive in plaintext", async () => {
    const doc = entity("doc", { title: string, iban: string.encrypted() })
      .timestamps(false)
      .rules({ read: ["everyone"] })
      .build();
    expect((await read(doc, { title: "Plan", iban: "DE00" }, ANN)).doc).toMatchObject({ iban: "DE00" });
  });

  it("that are numbers in place of ids become text", async () => {
    const account = entity("account", { name: string }).timestamps(false);
    const doc = entity("doc", { title: string, account: belongsTo(() => account) })
      .timestamps(false)
      .rules({ read: ["everyone"] })
      .build();
    expect((await read(doc, { title: "Plan", accountId: 17 }, ANN)).doc).toMatchObject({ accountId: "17" });
  });

  it.each(["a\u0000b", "\ud800"])("that are not ids lead nowhere: %j", async (teamId) => {
    const team = entity("team", { title: string })
      .timestamps(false)
      .rules({ read: ["everyone"] });
    const doc = entity("doc", { title: string, team: belongsTo(() => team).remote() })
      .timestamps(false)
      .rules({ read: ["everyone"] })
      .build();
    const { doc: found, header } = await read(doc, { title: "Plan", teamId }, ANN, "doc.team", [team.build()]);
    expect([found, header]).toEqual([null, "doc;invalid"]);
  });

  it.each([
    ["2026-01-31T23:59:59.999Z", "2026-01-31T23:59:59.999Z"],
    ["2026-01-31T23:59:59+01:00", "2026-01-31T22:59:59.000Z"],
    ["2026-01-31", "2026-01-31T00:00:00.000Z"],
    [new Date(0), "1970-01-01T00:00:00.000Z"],
    ["2026-02-30T00:00:00.000Z", null],
    ["2026-13-01T00:00:00.000Z", null],
    ["2026-01-31T23:59:60.000Z", null],
    ["31 January 2026, 12:00 Z", null],
    [1_769_817_600_000, null],
    [new Date(Number.NaN), null],
  ])("of datetimes are parsed like a caller's: %s", async (at, expected) => {
    const doc = entity("doc", { at: datetime })
      .timestamps(false)
      .rules({ read: ["everyone"] })
      .build();
    const { doc: found, header } = await read(doc, { at }, ANN);
    expect([found?.at ?? null, header]).toEqual([expected, expected === null ? "doc;invalid" : null]);
  });

  it("that are absent are null if allowed, and otherwise absent", async () => {
    const doc = bare()
      .rules({ read: ["everyone"] })
      .build();
    expect((await read(doc, {}, ANN)).doc).toEqual({ id: "d1", team: null });
    const { doc: found, header } = await read(doc, { title: null }, ANN);
    expect([found, header]).toEqual([null, "doc;invalid"]);
  });
});

it("the system sees every record, and no hidden column", async () => {
  const doc = bare()
    .rules({ read: ["admin"] })
    .build();
  const page = entity("page", { doc: belongsTo(() => doc).remote("docs") }).timestamps(false);
  const app = createTestApp({
    entities: [page],
    services: { docs: () => serviceOf(() => [{ id: "d1", ...RECORD }]) },
    driver: memoryDriver({ page: [{ id: "p1", docId: "d1" }] }),
    logger: keepingLog().logger,
  });
  close = app.close;
  expect((await app.api.asSystem().page.get("p1", { include: ["doc"] })).doc).toEqual({
    id: "d1",
    title: "Plan",
    team: "red",
  });
});
