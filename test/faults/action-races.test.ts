import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  archiveAction,
  bool,
  bulkDeleteAction,
  bulkUpdateAction,
  cloneAction,
  type Driver,
  datetime,
  defineRule,
  entity,
  int,
  keelson,
  noopLogger,
  restoreAction,
  softDeleteAction,
  string,
  toggleAction,
  unarchiveAction,
} from "../../src/index.ts";
import { request, startApp } from "../support/http.ts";
import { SQL_DATABASES, type SqlDatabase } from "../support/sql-databases.ts";

const everybody = { create: ["everyone"], read: ["everyone"], update: ["everyone"], delete: ["everyone"] } as const;
/** A rule that reads the record, so that it is loaded and the statement depends on the values that the rule read. */
const unlocked = defineRule("action races: unlocked", ({ record }) => record?.locked !== true);
const lamp = entity("lamp", {
  name: string.optional(),
  code: string.unique().optional(),
  on: bool.optional(),
  locked: bool.default(false),
  n: int.default(0),
  archived: bool.default(false),
  deletedAt: datetime.optional(),
})
  .rules(everybody)
  .actions({
    toggle: toggleAction("on"),
    clone: cloneAction,
    bulkUpdate: bulkUpdateAction,
    bulkDelete: bulkDeleteAction,
    softDelete: softDeleteAction,
    restore: restoreAction,
    archive: archiveAction,
    unarchive: unarchiveAction,
  });
const safe = entity("safe", { on: bool.default(false), locked: bool.default(false), n: int.default(0) })
  .rules({ ...everybody, update: [unlocked] })
  .actions({ toggle: toggleAction("on"), bulkUpdate: bulkUpdateAction });

const times = <T>(count: number, make: (i: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, (_, i) => make(i)));
const tally = (answers: readonly { status: number }[]): Record<number, number> => {
  const counts: Record<number, number> = {};
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
};

describe.each(SQL_DATABASES)("races of actions on %s", (name, openDatabase) => {
  let database: SqlDatabase;
  let url: string;
  let close: () => Promise<void>;
  beforeAll(async () => {
    database = await openDatabase();
    const makeApp = (driver: Driver) => keelson({ entities: [lamp, safe], driver, logger: noopLogger });
    ({ url, close } = await startApp(makeApp(database.driver)));
  });
  afterAll(async () => {
    await close();
    await database.drop();
  });
  const send = (method: string, path: string, body?: unknown) =>
    request(url, method, `/api${path}`, body === undefined ? {} : { body });
  const make = async (data: object = {}, path = "/lamps"): Promise<string> => (await send("POST", path, data)).json.id;
  const see = async (id: string, path = "/lamps") => (await send("GET", `${path}/${id}`)).json;

  it.each([
    ["off", { on: false }, 51],
    ["on", { on: true }, 50],
    ["nothing yet", {}, 51],
  ])("101 parallel toggles of %s end on odd parity, and each returns its own result", async (_was, data, ons) => {
    const id = await make(data);
    const answers = await times(101, () => send("POST", `/lamps/${id}/toggle-on`));
    expect(tally(answers)).toEqual({ 200: 101 });
    expect((await see(id)).on).toBe((data as { on?: boolean }).on !== true);
    expect(answers.filter(({ json }) => json.on === true)).toHaveLength(ons);
  });

  it("parallel toggles with a rule that reads the record all count", async () => {
    const id = await make({}, "/safes");
    const answers = await times(20, () => send("POST", `/safes/${id}/toggle-on`));
    const { 200: done = 0, ...others } = tally(answers);
    expect(Object.keys(others).filter((status) => status !== "409")).toEqual([]);
    expect((await see(id, "/safes")).on).toBe(done % 2 === 1);
  });

  it("20 parallel clones of a record with a unique field all get 409", async () => {
    const code = `code ${Math.random()}`;
    const id = await make({ code });
    const answers = await times(20, () => send("POST", `/lamps/${id}/clone`));
    expect(tally(answers)).toEqual({ 409: 20 });
    for (const { json } of answers) expect(json.errors).toEqual({ code: "is already taken" });
    expect((await send("GET", `/lamps?code=${encodeURIComponent(code)}`)).json).toHaveLength(1);
  });

  it("parallel clones without a unique field all create records", async () => {
    const id = await make({ name: `name ${Math.random()}` });
    const answers = await times(20, () => send("POST", `/lamps/${id}/clone`));
    expect(tally(answers)).toEqual({ 201: 20 });
    expect(new Set(answers.map(({ json }) => json.id)).size).toBe(20);
  });

  it("overlapping bulk updates in opposite orders all succeed, and one wins as a whole", async () => {
    const ids = await times(12, () => make());
    const answers = await times(40, (i) =>
      send("PUT", "/lamps/bulk", { ids: i % 2 === 0 ? ids : [...ids].reverse(), data: { n: i + 1 } }),
    );
    expect(tally(answers)).toEqual({ 200: 40 });
    for (const { json } of answers) expect(json).toEqual({ count: 12 });
    const values = new Set((await Promise.all(ids.map((id) => see(id)))).map(({ n }) => n));
    expect(values.size).toBe(1);
  });

  it("overlapping bulk updates and deletions succeed, and delete each record once", async () => {
    const ids = await times(12, () => make());
    const half = ids.slice(3, 9);
    const answers = await times(30, (i) =>
      i % 3 === 0
        ? send("POST", "/lamps/bulk-delete", { ids: [...half].reverse() })
        : send("PUT", "/lamps/bulk", { ids: i % 3 === 1 ? ids : [...ids].reverse(), data: { n: i + 1 } }),
    );
    expect(tally(answers)).toEqual({ 200: 30 });
    const deleted = answers.filter((_, i) => i % 3 === 0).reduce((sum, { json }) => sum + json.count, 0);
    expect(deleted).toBe(half.length);
    for (const { json } of answers.filter((_, i) => i % 3 !== 0)) expect([6, 12]).toContain(json.count);
  });

  it("bulk updates with a rule that reads the records do not deadlock either", async () => {
    const ids = await times(6, () => make({}, "/safes"));
    const answers = await times(12, (i) =>
      send("PUT", "/safes/bulk", { ids: i % 2 === 0 ? ids : [...ids].reverse(), data: { n: i + 1 } }),
    );
    const { 200: done = 0, ...others } = tally(answers);
    expect(Object.keys(others).filter((status) => status !== "409")).toEqual([]);
    expect(done).toBeGreaterThan(0);
    expect(new Set((await Promise.all(ids.map((id) => see(id, "/safes")))).map(({ n }) => n)).size).toBe(1);
  });

  it("a unique value that is taken by the second of three records changes nothing", async () => {
    const ids = (await times(3, () => make())).sort();
    const code = `once ${Math.random()}`;
    const { status, json } = await send("PUT", "/lamps/bulk", { ids, data: { code, n: 9 } });
    expect([status, json.errors]).toEqual([409, { code: "is already taken" }]);
    expect((await Promise.all(ids.map((id) => see(id)))).map(({ code: c, n }) => [c, n])).toEqual(
      Array(3).fill([null, 0]),
    );
  });

  it("parallel soft deletions keep the time of the first one", async () => {
    const id = await make();
    const answers = await times(20, () => send("DELETE", `/lamps/${id}/soft`));
    expect(tally(answers)).toEqual({ 200: 20 });
    const { deletedAt, updatedAt } = await see(id);
    expect(deletedAt).not.toBeNull();
    await send("DELETE", `/lamps/${id}/soft`);
    expect(await see(id)).toMatchObject({ deletedAt, updatedAt });
  });

  it("opposite parallel actions all succeed, and leave one of both values", async () => {
    const id = await make();
    const verbs = ["archive", "unarchive", "restore"];
    const answers = await times(30, (i) => send("POST", `/lamps/${id}/${verbs[i % 3]}`));
    expect(tally(answers)).toEqual({ 200: 30 });
    expect([true, false]).toContain((await see(id)).archived);
  });

  it("toggles of a record that is being deleted are 200 before and 404 after", async () => {
    const id = await make();
    const answers = await times(20, (i) =>
      i === 10 ? send("DELETE", `/lamps/${id}`) : send("POST", `/lamps/${id}/toggle-on`),
    );
    const { 200: _done, 404: _gone, 204: _deleted, ...others } = tally(answers);
    expect(others).toEqual({});
    expect((await send("POST", `/lamps/${id}/toggle-on`)).status, name).toBe(404);
  });
});
