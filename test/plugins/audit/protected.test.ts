import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ConfigurationError, memoryDriver } from "../../../src/index.ts";
import { request, startApp } from "../../support/http.ts";
import { SQL_DATABASES } from "../../support/sql-databases.ts";
import { auditApp, type Entry, ownEntries } from "./audit-app.ts";

const DAY_MS = 86_400_000;

interface Listing {
  list(query: object): Promise<unknown>;
}

describe.each(SQL_DATABASES)("audit entries with protected fields on %s", (_, open) => {
  let url: string;
  let api: ReturnType<typeof auditApp>;
  let rows: (sql: string) => Promise<Record<string, unknown>[]>;
  const cleanups: (() => Promise<unknown>)[] = [];
  beforeAll(async () => {
    const database = await open();
    rows = database.rows;
    api = auditApp(database.driver, { read: ["admin", ownEntries], except: ["draft"] });
    const app = await startApp(api);
    url = app.url;
    cleanups.push(app.close, database.drop);
  });
  afterAll(async () => {
    for (const cleanup of cleanups) await cleanup();
  });
  const send = (method: string, path: string, token?: string, body?: unknown) =>
    request(url, method, `/api${path}`, { token, ...(body === undefined ? {} : { body }) });
  const entriesAs = async (token: string, query: string): Promise<Entry[]> =>
    (await send("GET", `/audit-entries?${query}`, token)).json;

  it("show of passwords, omitted and encrypted fields only that they changed", async () => {
    const secrets = { password: "CANARY-password", token: "CANARY-token", ssn: "CANARY-ssn" };
    const made = await send("POST", "/people", "ann", { name: "Ann", ...secrets });
    const { id } = made.json;
    const next = { password: "CANARY-second", token: "CANARY-second", ssn: "CANARY-second" };
    expect((await send("PATCH", `/people/${id}`, "ann", next)).status).toBe(200);
    const hashes = (await rows(`SELECT * FROM person`)).map(({ password }) => String(password));
    expect((await send("DELETE", `/people/${id}`, "ann")).status).toBe(200);
    const stored = JSON.stringify(await rows(`SELECT * FROM "auditEntry" WHERE "recordId" = '${id}'`));
    expect(stored).not.toMatch(/CANARY|pbkdf2/);
    for (const hash of hashes) expect(stored).not.toContain(hash);
    const found = await entriesAs("root", `recordId=${id}`);
    expect(found.map(({ operation }) => operation)).toEqual(["create", "update", "delete"]);
    expect([...(found[1]?.changed ?? [])].sort()).toEqual(["password", "ssn", "token"]);
    expect(found[1]).toMatchObject({ before: {}, after: {} });
  });

  it("show fields with their own rules only to callers that these allow", async () => {
    const made = await send("POST", "/people", "root", { name: "Bob", salary: 47_114_711, diary: "dear" });
    const { id } = made.json;
    await api.asSystem().person.update(id, { salary: 47_114_712, name: "Bobby" });
    await rows(`UPDATE "auditEntry" SET "actorId" = 'bob' WHERE "recordId" = '${id}'`);
    const [, seen] = await entriesAs("root", `recordId=${id}`);
    expect(seen).toMatchObject({
      before: { name: "Bob", salary: 47_114_711 },
      after: { name: "Bobby", salary: 47_114_712 },
    });
    const [first, hidden] = await entriesAs("bob", `recordId=${id}`);
    expect(hidden).toMatchObject({ before: { name: "Bob" }, after: { name: "Bobby" } });
    expect(JSON.stringify([first, hidden])).not.toMatch(/4711471[12]|dear/);
    const selected = await entriesAs("bob", `recordId=${id}&select=after`);
    expect(selected.map(({ after }) => after?.name)).toEqual(["Bob", "Bobby"]);
    expect(JSON.stringify(selected)).not.toMatch(/4711471[12]|dear/);
  });

  it("are shown only to callers that the given rules allow", async () => {
    const id = (await send("POST", "/tags", "cleo", { name: "cleo's" })).json.id;
    expect(await entriesAs("root", `recordId=${id}`)).toHaveLength(1);
    expect(await entriesAs("cleo", `recordId=${id}`)).toHaveLength(1);
    expect(await entriesAs("dan", `recordId=${id}`)).toEqual([]);
    expect((await send("GET", "/audit-entries")).status).toBe(401);
    const [{ id: entry } = { id: "" }] = await entriesAs("root", `recordId=${id}`);
    expect((await send("GET", `/audit-entries/${entry}`, "dan")).status).toBe(403);
  });

  it("cannot be searched for old values", async () => {
    const atPath = (side: string) => `_where=${JSON.stringify({ [side]: { path: ["salary"], gt: 0 } })}`;
    const asked = [
      "before_like=47114711",
      "after_null=false&after=x",
      "_sort=before",
      "after.salary=1",
      "before.salary_gt=0",
    ];
    for (const query of [...asked, atPath("before"), atPath("after")])
      expect((await send("GET", `/audit-entries?${query}`, "root")).status).toBe(400);
    const clients = api.as({ id: "root", role: "admin" }) as unknown as Record<string, Listing>;
    for (const side of ["before", "after"]) {
      const where = { [side]: { path: ["salary"], gt: 0 } };
      await expect(clients.auditEntry?.list({ where })).rejects.toMatchObject({ status: 400 });
    }
    expect(await entriesAs("root", "q=47114711")).toEqual([]);
  });

  it("are written by the plugin only, and never changed or deleted", async () => {
    await send("POST", "/tags", "ann", { name: "fixed" });
    const [entry] = await entriesAs("root", "entity=tag&_limit=1");
    const forged = { ...entry, id: undefined, actorId: "dan" };
    for (const token of ["root", "ann"]) {
      expect((await send("POST", "/audit-entries", token, forged)).status).toBe(403);
      expect((await send("PATCH", `/audit-entries/${entry?.id}`, token, { actorId: "dan" })).status).toBe(403);
      expect((await send("DELETE", `/audit-entries/${entry?.id}`, token)).status).toBe(403);
    }
    const system = api.asSystem() as unknown as Record<
      string,
      { update(...given: unknown[]): Promise<unknown>; delete(id: unknown): Promise<unknown> }
    >;
    await expect(system.auditEntry?.update(entry?.id, { actorId: "dan" })).rejects.toMatchObject({ code: "FORBIDDEN" });
    await expect(system.auditEntry?.delete(entry?.id)).rejects.toMatchObject({ code: "FORBIDDEN" });
    expect(await entriesAs("root", `id=${entry?.id}`)).toEqual([entry]);
  });
});

describe.each(SQL_DATABASES)("audit({ keepDays }) on %s", (_, open) => {
  it("deletes only entries that are older", async () => {
    const database = await open();
    const first = auditApp(database.driver, {});
    await first.ready;
    for (const name of ["old", "older", "new"]) await first.asSystem().tag.create({ name });
    const past = new Date(Date.now() - 31 * DAY_MS);
    const [old, older, fresh] = await first.driver.findMany("auditEntry");
    for (const entry of [old, older]) await first.driver.update("auditEntry", { id: entry?.id }, { at: past });
    await first.close();

    const second = auditApp(database.driver, { keepDays: 30 });
    await second.ready;
    const left = async () => (await second.driver.findMany("auditEntry")).map(({ id }) => id);
    await expect.poll(left).toEqual([fresh?.id]);
    await second.close();
    await database.drop();
  });
});

describe("audit(options)", () => {
  it("covers the named entities, and has no routes unless a caller may read entries", async () => {
    const api = auditApp(memoryDriver(), { entities: ["tag"] });
    const { url, close } = await startApp(api);
    await api.asSystem().tag.create({ name: "kept" });
    await api.asSystem().draft.create({ text: "not kept" });
    expect((await api.driver.findMany("auditEntry")).map(({ entity }) => entity)).toEqual(["tag"]);
    expect((await request(url, "GET", "/api/audit-entries", { token: "root" })).status).toBe(404);
    await close();
  });

  it("refuses unknown entity names, and invalid numbers of days", () => {
    const wrong = () => auditApp(memoryDriver(), { entities: ["tags"], except: ["nobody"], keepDays: 0 });
    expect(wrong).toThrow(ConfigurationError);
    expect(wrong).toThrow(/entities.*"tags".*Did you mean "tag"/s);
    expect(wrong).toThrow(/except.*"nobody"/s);
    expect(wrong).toThrow(/keepDays.*above 0/s);
  });
});
