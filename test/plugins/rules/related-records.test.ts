import { setImmediate as nextTurn } from "node:timers/promises";
import pg from "pg";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import {
  all,
  belongsTo,
  bool,
  bulkDeleteAction,
  bulkUpdateAction,
  defineRule,
  entity,
  hasMany,
  string,
  toggleAction,
} from "../../../src/index.ts";
import { createTestApp } from "../../../src/testing/index.ts";
import { ALL_DATABASES } from "../../support/sql-databases.ts";
import { whileHeld as whileHeldBy } from "../../support/while-held.ts";

/** Called once while a rule reads a record. */
let between: (() => Promise<unknown>) | undefined;
const me = (user: { id: string } | null): string => String(user?.id);
const member = defineRule("rrMember", ({ user }) => ({ folder: { members: { userId: me(user) } } }));
const unlocked = defineRule("rrUnlocked", async ({ record }) => {
  const isUnlocked = record?.locked === false;
  const meanwhile = between;
  between = undefined;
  await meanwhile?.();
  return isUnlocked;
});
const holdsOpen = defineRule("rrHoldsOpen", () => ({ notes: { folder: { open: true } } }));
const isLeaf = defineRule("rrIsLeaf", () => ({ NOT: { children: {} } }));
const reading = { read: ["everyone"], create: ["everyone"] };
const actions = { bulkUpdate: bulkUpdateAction, bulkDelete: bulkDeleteAction };

const folder = entity("folder", {
  name: string,
  open: bool.default(true),
  code: string.optional().unique(),
  notes: hasMany(() => note),
  plans: hasMany(() => plan),
  members: hasMany(() => access),
})
  .rules({ ...reading, update: [holdsOpen] })
  .actions({ ...actions, toggle: toggleAction("open") });
const access = entity("access", { userId: string, folder: belongsTo(() => folder) }).rules(reading);
const fields = {
  text: string,
  locked: bool.default(false),
};
const note = entity("note", { ...fields, folder: belongsTo(() => folder) })
  .rules({ ...reading, update: [member], delete: [member] })
  .actions(actions);
const plan = entity("plan", {
  ...fields,
  budget: string.optional().readable([unlocked]),
  goal: string.optional().writable([all(member, unlocked)]),
  folder: belongsTo(() => folder),
})
  .rules({ read: ["everyone"], create: ["everyone"], update: [all(member, unlocked)], delete: [all(member, unlocked)] })
  .actions(actions);
const branch = entity("branch", {
  name: string,
  parent: belongsTo(() => branch)
    .optional()
    .inverse("children"),
  children: hasMany(() => branch).inverse("parent"),
}).rules({ ...reading, update: [isLeaf] });
const hasOpenSibling = defineRule("rrHasOpenSibling", () => ({ parent: { children: { open: true } } }));
const twig = entity("twig", {
  open: bool.default(true),
  code: string.optional().unique(),
  parent: belongsTo(() => twig)
    .optional()
    .inverse("children"),
  children: hasMany(() => twig).inverse("parent"),
})
  .timestamps(false)
  .rules({ ...reading, update: [hasOpenSibling] });
/** Members may update it, and other callers once its folder is closed. */
const draft = entity("draft", { ...fields, folder: belongsTo(() => folder) })
  .timestamps(false)
  .rules({ ...reading, update: [all(member, unlocked), defineRule("rrClosed", () => ({ folder: { open: false } }))] });
const entities = [folder, access, note, plan, branch, twig, draft];

type App = ReturnType<typeof createTestApp<typeof entities>>;
/** ann is a member of f1, which contains all notes and plans. */
async function plant({ api }: App): Promise<void> {
  between = undefined;
  for (const name of ["access", "note", "plan", "draft", "folder", "branch", "twig"])
    await api.driver.deleteMany(name, { id: { null: false } });
  const system = api.asSystem();
  await system.folder.create({ id: "f1", name: "one" });
  await system.access.create({ id: "m1", userId: "ann", folderId: "f1" });
  for (const id of ["a", "b"]) {
    await system.note.create({ id, text: "old", folderId: "f1" });
    await system.plan.create({ id, text: "old", budget: "7", folderId: "f1" });
    await system.draft.create({ id, text: "old", folderId: "f1" });
  }
}

describe.each(ALL_DATABASES)("a rule about related records, on %s", (name, open) => {
  let database: Awaited<ReturnType<typeof open>>;
  let app: App;
  const ask = (method: string, path: string, body?: unknown) =>
    app.as({ id: "ann" }).request(method, `/api/${path}`, body);
  const statusOf = async (...request: Parameters<typeof ask>): Promise<number> => (await ask(...request)).status;
  const one = (entityName: string, id: string) => app.api.driver.findOne(entityName, { id });
  const revoke = () => app.api.driver.delete("access", { id: "m1" });

  beforeAll(async () => {
    database = await open();
    app = createTestApp({ entities, driver: database.driver });
    await app.api.ready;
  });
  beforeEach(() => plant(app));
  afterAll(async () => {
    await app?.close();
    await database?.drop();
  });

  describe("that must pass together with one that reads the record", () => {
    it("holds until the record is written", async () => {
      expect(await statusOf("PATCH", "plans/a", { text: "new" })).toBe(200);
      for (const [method, body] of [
        ["PATCH", { text: "late" }],
        ["DELETE", undefined],
      ] as const) {
        await plant(app);
        between = revoke;
        expect(await statusOf(method, "plans/a", body), method).toBe(403);
        expect(await one("plan", "a")).toMatchObject({ text: "old" });
      }
    });

    it.each([{ text: "new" }, {}])("is replaced by another rule that passes by then: %j", async (data) => {
      between = async () => {
        await app.api.driver.update("folder", { id: "f1" }, { open: false });
        await revoke();
      };
      expect(await statusOf("PATCH", "drafts/a", data)).toBe(200);
      expect(await statusOf("PATCH", "drafts/b", data)).toBe(200);
    });

    it("holds for a field until the record is written", async () => {
      expect((await ask("PATCH", "plans/a", { goal: "up" })).body).toMatchObject({ goal: "up" });
      await app.api.asSystem().plan.update("a", { locked: true });
      expect(await statusOf("PATCH", "plans/a", { goal: "down" })).toBe(403);
    });

    it("is evaluated again after a change of the data it reads", async () => {
      await app.api.asSystem().folder.create({ id: "f2", name: "two" });
      expect(await statusOf("PATCH", "plans/a", { folderId: "f2" })).toBe(403);
      expect(await one("plan", "a")).toMatchObject({ folderId: "f1" });
    });
  });

  it("decides about a field in the response to a write, with and without includes", async () => {
    for (const query of ["", "?include=folder"]) {
      const { body } = await ask("PATCH", `plans/a${query}`, { text: "new" });
      expect(body, query).toMatchObject({ text: "new", budget: "7" });
    }
  });

  describe("on a path that returns to the record", () => {
    it("must hold after a change, by any operation", async () => {
      const tries = [
        ["PATCH", "folders/f1", { open: false }],
        ["PATCH", "folders/f1", { open: false, code: "new" }], // a unique value may make the statement wait
        ["POST", "folders/f1/toggle-open", undefined],
        ["PUT", "folders/bulk", { ids: ["f1"], data: { open: false } }],
      ] as const;
      for (const [method, path, body] of tries) {
        expect.soft(await statusOf(method, path, body), path).toBe(403);
        expect.soft(await one("folder", "f1"), path).toMatchObject({ open: true });
      }
      expect(await statusOf("PATCH", "folders/f1", { name: "new" })).toBe(200);
    });

    it("must hold after a change of the key at its other end", async () => {
      await app.api.asSystem().branch.create({ id: "x", name: "x" });
      expect(await statusOf("PATCH", "branches/x", { parentId: "x" })).toBe(403);
      expect(await statusOf("PATCH", "branches/x", { name: "y" })).toBe(200);
    });

    it("allows a change after which the former path no longer leads back to the record", async () => {
      const twigs = app.api.asSystem().twig;
      for (const id of ["a", "b"]) await twigs.create({ id });
      await twigs.create({ id: "c", parentId: "a" });
      await twigs.create({ id: "d", parentId: "b" });
      expect(await statusOf("PATCH", "twigs/c", { parentId: "a", code: "c" })).toBe(200);
      expect(await statusOf("PATCH", "twigs/c", { parentId: "b" })).toBe(200);
      expect(await statusOf("PATCH", "twigs/c", { parentId: "a" })).toBe(403);
      expect(await statusOf("PATCH", "twigs/c", { parentId: null })).toBe(403);
    });
  });

  describe.runIf(name === "PostgreSQL")("after waiting for the record", () => {
    /** Starts work while another transaction locks note or plan "a", and revokes the right before releasing the lock. */
    async function whileHeld<T>(table: string, begin: () => Promise<T>): Promise<T> {
      const other = new pg.Client({ connectionString: database.url });
      await other.connect();
      await other.query("begin");
      await other.query(`select 1 from "${table}" where "id" = 'a' for update`);
      const answer = begin();
      const waiting = `select 1 from pg_locks where not granted and pid in
        (select pid from pg_stat_activity where datname = current_database())`;
      while ((await other.query(waiting)).rows.length === 0) await nextTurn();
      await other.query(`delete from "access"`);
      await other.query("commit");
      await other.end();
      return answer;
    }

    it("does not count what the change itself has made true", async () => {
      const twigs = app.api.asSystem().twig;
      await twigs.create({ id: "a" });
      await twigs.create({ id: "shut", open: false, parentId: "a" });
      await twigs.create({ id: "other", parentId: "a" });
      const waits = {
        held: `insert into twig (id, open, code) values ('x', true, 'taken')`,
        meanwhile: `update twig set open = false where id = 'other'`,
      };
      const change = { open: true, code: "taken" };
      expect(await whileHeldBy(database.url as string, waits, () => statusOf("PATCH", "twigs/shut", change))).toBe(403);
      expect(await one("twig", "shut")).toMatchObject({ open: false });
    });

    it("is decided again by a statement that locks the record", async () => {
      await plant(app);
      const { driver } = app.api;
      const where = { id: "a", folder: { members: { userId: "ann" } } };
      const lock = (): Promise<unknown> => driver.transaction((inner) => inner.findOne("note", where, { lock: true }));
      expect(await lock()).toMatchObject({ id: "a" });
      expect(await whileHeld("note", lock)).toBeNull();
    });

    it.each(["note", "plan"])("is decided again: %s", async (table) => {
      const tries = [
        ["PATCH", `${table}s/a`, { text: "late" }],
        ["DELETE", `${table}s/a`],
        ["PUT", `${table}s/bulk`, { ids: ["a", "b"], data: { text: "late" } }],
        ["DELETE", `${table}s/bulk`, { ids: ["a", "b"] }],
      ] as const;
      for (const request of tries) {
        await plant(app);
        const { status, body } = await whileHeld(table, () => ask(...(request as unknown as Parameters<typeof ask>)));
        const [method, path] = request;
        if (path.endsWith("bulk")) expect.soft(Object.values(body as object), `${method} ${path}`).toEqual([0]);
        else expect.soft(status, `${method} ${path}`).toBe(403);
        expect.soft(await app.api.driver.count(table, { text: "old" }), `${method} ${path}`).toBe(2);
      }
    });
  });
});
