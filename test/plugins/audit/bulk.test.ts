import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { withMiddleware } from "../../../src/gate/index.ts";
import {
  bulkDeleteAction,
  bulkUpdateAction,
  createPlugin,
  type Driver,
  entity,
  int,
  keelson,
  noopLogger,
  string,
} from "../../../src/index.ts";
import { audit } from "../../../src/plugins/audit/index.ts";
import { ALL_DATABASES } from "../../support/sql-databases.ts";

const OPEN = { read: ["everyone"], create: ["everyone"], update: ["everyone"], delete: ["everyone"] };
const note = entity("note", { text: string, count: int.default(0) })
  .rules(OPEN)
  .actions({ bulkUpdate: bulkUpdateAction, bulkDelete: bulkDeleteAction });

describe.each(ALL_DATABASES)("bulk requests with an audit log on %s", (_, open) => {
  const statements: string[] = [];
  const counting = createPlugin({
    id: "counting",
    wrapDriver: (driver) =>
      withMiddleware(driver, (statement, next) => {
        statements.push(statement.kind);
        return next(statement);
      }),
  });
  let api: ReturnType<typeof start>;
  const start = (driver: Driver) =>
    keelson({ entities: [note], driver, plugins: [counting, audit({ read: ["everyone"] })], logger: noopLogger });
  let drop: () => Promise<unknown>;
  beforeAll(async () => {
    const database = await open();
    drop = database.drop;
    api = start(database.driver);
    await api.ready;
  });
  afterAll(async () => {
    await api.close();
    await drop();
  });

  async function send(method: string, path: string, body?: object) {
    const headers = { "content-type": "application/json" };
    const init = { method, headers, ...(body && { body: JSON.stringify(body) }) };
    const answer = await api.fetch(new Request(`http://test.invalid/api/${path}`, init));
    return { status: answer.status, json: await answer.json() };
  }
  async function plant(size: number, text: string): Promise<string[]> {
    const rows = Array.from({ length: size }, (_, index) => ({ text: `${text} ${index}` }));
    const made = await Promise.all(rows.map((row) => send("POST", "notes", row)));
    return made.map(({ json }) => json.id as string);
  }
  const entriesOf = async (ids: readonly string[], operation: string) =>
    (
      await send(
        "GET",
        `audit-entries?operation=${operation}&_limit=1000&${ids.map((id) => `recordId=${id}`).join("&")}`,
      )
    ).json as { recordId: string; before: Record<string, unknown>; after: Record<string, unknown> }[];

  it("run a few statements for any number of records", async () => {
    const ids = await plant(60, "few");
    statements.length = 0;
    expect(await send("PUT", "notes/bulk", { ids, data: { count: 7 } })).toEqual({ status: 200, json: { count: 60 } });
    expect(statements.length).toBeLessThan(12);
    statements.length = 0;
    expect(await send("DELETE", "notes/bulk", { ids })).toEqual({ status: 200, json: { count: 60 } });
    expect(statements.length).toBeLessThan(12);
    const updated = await entriesOf(ids, "update");
    expect(updated.map(({ recordId }) => recordId).sort()).toEqual([...ids].sort());
    expect(updated.every(({ before, after }) => before.count === 0 && after.count === 7)).toBe(true);
    expect(await entriesOf(ids, "delete")).toHaveLength(60);
  });

  it("that change the same records at once leave consecutive entries", async () => {
    const ids = await plant(20, "chain");
    const given = Array.from({ length: 12 }, (_, index) => (index % 2 === 0 ? ids : [...ids].reverse()));
    const answers = await Promise.all(
      given.map((own, index) => send("PUT", "notes/bulk", { ids: own, data: { count: index + 1 } })),
    );
    expect(answers.map(({ status }) => status)).toEqual(given.map(() => 200));
    const entries = await entriesOf(ids, "update");
    for (const id of ids) {
      const own = entries.filter(({ recordId }) => recordId === id);
      const values = own.map(({ after }) => after.count);
      expect(values.toSorted((a, b) => Number(a) - Number(b))).toEqual(given.map((_, index) => index + 1));
      // Each value except the last was replaced once, and the first was 0.
      const { json } = await send("GET", `notes/${id}`);
      const replaced = own.map(({ before }) => before.count);
      expect(new Set([...replaced, json.count])).toEqual(new Set([0, ...values]));
      expect(new Set(replaced).size).toBe(given.length);
    }
  });

  it("leave no entries for records that another request has deleted", async () => {
    const ids = await plant(20, "gone");
    const [updates, deletions] = await Promise.all([
      send("PUT", "notes/bulk", { ids, data: { count: 5 } }),
      send("DELETE", "notes/bulk", { ids: ids.slice(0, 10) }),
    ]);
    expect([updates.status, deletions.json]).toEqual([200, { count: 10 }]);
    expect(await entriesOf(ids, "update")).toHaveLength(updates.json.count);
    expect(await entriesOf(ids, "delete")).toHaveLength(10);
  });
});
