import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import {
  belongsTo,
  bool,
  bulkDeleteAction,
  datetime,
  defineRule,
  entity,
  hasMany,
  importAction,
  manyToMany,
  restoreAction,
  string,
} from "../../../src/index.ts";
import { createTestApp } from "../../../src/testing/index.ts";
import { SQL_DATABASES } from "../../support/sql-databases.ts";
import { whileHeld } from "../../support/while-held.ts";

// On PostgreSQL a transaction that stores a record locks the records it refers to FOR KEY SHARE until it commits. A deletion
// and a change of a unique value wait for that lock; a change also waits for a transaction that stores the same unique value,
// or changes the record that it will refer to. A deletion also waits for records that the database deletes or changes with it.

const member = defineRule("wfrMember", ({ user }) => ({ members: { userId: String(user?.id) } }));
const folder = entity("folder", {
  name: string,
  slug: string.unique(),
  parent: belongsTo(() => folder).optional(),
  members: hasMany(() => access),
  notes: hasMany(() => note),
  pages: hasMany(() => page),
})
  .rules({ read: ["everyone"], update: [member], delete: [member] })
  .actions({ bulkDelete: bulkDeleteAction });
const access = entity("access", { userId: string, folder: belongsTo(() => folder).onDelete("cascade") })
  .timestamps(false)
  .rules({ read: ["everyone"] });
const ofMember = defineRule("wfrOfMember", ({ user }) => ({ folder: { members: { userId: String(user?.id) } } }));
const note = entity("note", {
  text: string.unique(),
  folder: belongsTo(() => folder).onDelete("cascade"),
  badges: manyToMany(() => badge),
  marks: hasMany(() => mark),
})
  .timestamps(false)
  .rules({ read: ["everyone"], create: [ofMember], update: [ofMember], delete: [ofMember] })
  .actions({ bulkDelete: bulkDeleteAction, import: importAction() });
const unsealed = defineRule("wfrUnsealed", () => ({ folder: { pages: { none: { seal: { null: false } } } } }));
/** All callers may create and update it; the rules decide about its pairs and references. */
const page = entity("page", {
  text: string.unique(),
  folder: belongsTo(() => folder)
    .optional()
    .onDelete("cascade"),
  stamp: string.optional().writable(ofMember),
  seal: string.optional().writable(unsealed),
  shelves: manyToMany(() => shelf),
  drafts: manyToMany(() => draft),
  badges: manyToMany(() => badge),
  trays: manyToMany(() => tray),
  tray: belongsTo(() => tray)
    .optional()
    .onDelete("setNull"),
  draft: belongsTo(() => draft)
    .optional()
    .onDelete("setNull"),
  group: belongsTo(() => group)
    .optional()
    .onDelete("setNull"),
  sheet: belongsTo(() => sheet)
    .optional()
    .onDelete("setNull"),
})
  .timestamps(false)
  .rules({ read: ["everyone"], create: ["everyone"], update: ["everyone"] })
  .actions({ import: importAction() });
const shelf = entity("shelf", {
  code: string.optional().unique(),
  folder: belongsTo(() => folder).onDelete("cascade"),
  pages: manyToMany(() => page),
}).rules({
  read: ["everyone"],
  update: [ofMember],
});
const draft = entity("draft", { folder: belongsTo(() => folder).onDelete("cascade") }).rules({ read: [ofMember] });
/** Readable by members of its folder, and by all callers while one of these pages refers to it. */
const paged = defineRule("wfrPaged", () => ({ OR: [{ pages: { text: "late" } }, { papers: { text: "late" } }] }));
const tray = entity("tray", {
  folder: belongsTo(() => folder).onDelete("cascade"),
  pages: manyToMany(() => page),
  papers: hasMany(() => page),
}).rules({ read: [ofMember, paged], update: ["everyone"] });
/** Readable by members of its folder while no page belongs to it. */
const free = defineRule("wfrFree", ({ user }) => ({
  folder: { members: { userId: String(user?.id) } },
  pages: { none: {} },
}));
const group = entity("group", {
  folder: belongsTo(() => folder).onDelete("cascade"),
  pages: hasMany(() => page),
}).rules({ read: [free] });
const opened = defineRule("wfrOpened", () => ({ isOpen: true }));
const sheet = entity("sheet", { isOpen: bool, code: string.unique() })
  .timestamps(false)
  .rules({
    read: [opened],
    update: ["everyone"],
  });
/** An existing table with an index of an expression. */
const plaque = entity("plaque", { text: string, folder: belongsTo(() => folder) })
  .timestamps(false)
  .existing()
  .rules({ read: ["everyone"], update: [ofMember] });
const PLAQUE = `create table "plaque" ("id" text primary key, "text" text not null, "folderId" text not null);
  create unique index on "plaque" (lower("text"))`;
const plain = { read: ["everyone"] } as const;
const comment = entity("comment", {
  note: belongsTo(() => note)
    .optional()
    .onDelete("cascade"),
  above: belongsTo(() => comment)
    .optional()
    .onDelete("cascade"),
}).rules(plain);
const reaction = entity("reaction", { comment: belongsTo(() => comment).onDelete("cascade") }).rules(plain);
const mark = entity("mark", {
  code: string.optional().unique(),
  note: belongsTo(() => note)
    .optional()
    .onDelete("setNull"),
})
  .timestamps(false)
  .rules({ ...plain, create: ["everyone"] });
const bill = entity("bill", { note: belongsTo(() => note).onDelete("restrict") }).rules(plain);
const memo = entity("memo", {
  text: string.unique(),
  folder: belongsTo(() => folder).onDelete("cascade"),
  deletedAt: datetime.optional(),
})
  .timestamps(false)
  .softDelete()
  .rules({ read: ["everyone"], update: [ofMember], delete: [ofMember] })
  .actions({ restore: restoreAction() });
const label = entity("label", { notes: manyToMany(() => note) }).rules(plain);
const badge = entity("badge", { name: string }).rules(plain);
const entities = [
  folder,
  access,
  note,
  comment,
  reaction,
  mark,
  bill,
  label,
  badge,
  page,
  shelf,
  draft,
  group,
  tray,
  memo,
  sheet,
  plaque,
];

const POSTGRES = SQL_DATABASES.filter(([name]) => name === "PostgreSQL");

describe.each(POSTGRES)("a rule about related records, on %s, while the record is referred to", (_name, open) => {
  let database: Awaited<ReturnType<typeof open>>;
  let app: ReturnType<typeof createTestApp<typeof entities>>;

  beforeAll(async () => {
    database = await open();
    await database.rows(PLAQUE);
    app = createTestApp({ entities, driver: database.driver });
    await app.api.ready;
  });
  beforeEach(async () => {
    const system = app.api.asSystem();
    await app.api.driver.deleteMany("folder", { id: { null: false } });
    await system.folder.create({ id: "f", name: "one", slug: "one" });
    await system.folder.create({ id: "g", name: "other", slug: "other" });
    await system.access.create({ id: "m", userId: "ann", folderId: "f" });
  });
  afterAll(async () => {
    await app?.close();
    await database?.drop();
  });

  /** Starts a request while another transaction holds a lock it needs, and revokes the right before that transaction ends. */
  const whileRevoked = <T>(
    held: string,
    begin: () => Promise<T>,
    end: "rollback" | "commit" = "rollback",
    meanwhile = `delete from "access" where "userId" = 'ann'`,
  ): Promise<T> => whileHeld(database.url, { held, meanwhile, end }, begin);
  const REFERENCE = `insert into "note" ("id", "text", "folderId") values ('n', 'text', 'f')`;
  const ask = (method: string, path: string, body?: unknown, held = REFERENCE) =>
    whileRevoked(held, () => app.as({ id: "ann" }).request(method, `/api/folders/${path}`, body));

  it("is decided again before a deletion", async () => {
    const { status } = await ask("DELETE", "f");
    expect([status, await app.api.driver.count("folder", {})]).toEqual([403, 2]);
  });

  it("is decided again before each of several deletions", async () => {
    const { body } = await ask("DELETE", "bulk", { ids: ["f"] });
    expect([body, await app.api.driver.count("folder", {})]).toEqual([{ count: 0 }, 2]);
  });

  it("is decided again before a change of a unique value", async () => {
    const { status } = await ask("PATCH", "f", { slug: "late" });
    expect([status, await app.api.driver.count("folder", { slug: "one" })]).toEqual([403, 1]);
  });

  it("is decided again after a wait for another transaction's unique value", async () => {
    const held = `update "folder" set "slug" = 'late' where "id" = 'g'`;
    const { status } = await ask("PATCH", "f", { slug: "late" }, held);
    expect([status, await app.api.driver.count("folder", { slug: "one" })]).toEqual([403, 1]);
  });

  it("is decided again after a wait for the record to refer to", async () => {
    const held = `select 1 from "folder" where "id" = 'g' for update`;
    const { status } = await ask("PATCH", "f", { parentId: "g" }, held);
    expect([status, await app.api.driver.count("folder", { parentId: null })]).toEqual([403, 2]);
  });

  const late = { text: "late", folderId: "f" };
  const create = (method: string, path: string, body: unknown, held: string, revoke?: string) =>
    whileRevoked(held, () => app.as({ id: "ann" }).request(method, path, body), "rollback", revoke);
  it.each([
    ["a create", "POST", "/api/notes", late],
    ["an upsert", "PUT", "/api/notes?_on=text", late],
    ["a batch", "POST", "/api/batch", [{ method: "POST", path: "/notes", body: late }]],
  ])("is decided again by %s that has waited for other transactions", async (_what, method, path, body) => {
    const unique = `insert into "note" ("id", "text", "folderId") values ('n', 'late', 'f')`;
    expect(await create(method, path, body, unique)).toMatchObject({ status: 403 });
    await app.api.asSystem().access.create({ id: "m", userId: "ann", folderId: "f" });
    const { status } = await create(method, path, body, `select 1 from "folder" where "id" = 'f' for update`);
    expect([status, await app.api.driver.count("note", {})]).toEqual([403, 0]);
  });
  it("is decided again by a create with nested writes", async () => {
    const held = `insert into "mark" ("id", "code") values ('q', 'late')`;
    const body = { ...late, marks: { create: [{ code: "late" }] } };
    expect(await create("POST", "/api/notes", body, held)).toMatchObject({ status: 403 });
    expect(await app.api.driver.count("note", {})).toBe(0);
    await app.api.asSystem().access.create({ id: "m", userId: "ann", folderId: "f" });
    expect(await app.as({ id: "ann" }).request("POST", "/api/notes", body)).toMatchObject({ status: 201 });
  });
  it("is decided again before a restored record takes its unique value back", async () => {
    await app.api.asSystem().memo.create({ id: "m", text: "late", folderId: "f", deletedAt: new Date() });
    const held = `insert into "memo" ("id", "text", "folderId") values ('q', 'late', 'f')`;
    expect(await create("POST", "/api/memos/m/restore", undefined, held)).toMatchObject({ status: 404 });
    expect(await app.api.driver.count("memo", { deletedAt: null })).toBe(0);
    await app.api.asSystem().access.create({ id: "m", userId: "ann", folderId: "f" });
    expect(await app.as({ id: "ann" }).request("POST", "/api/memos/m/restore")).toMatchObject({ status: 200 });
  });

  it("is decided again after a wait for an index that no entity declares", async () => {
    await app.api.asSystem().plaque.create({ id: "p", text: "p", folderId: "f" });
    const held = `insert into "plaque" ("id", "text", "folderId") values ('q', 'LATE', 'f')`;
    expect(await create("PATCH", "/api/plaques/p", { text: "late" }, held)).toMatchObject({ status: 403 });
    expect(await app.api.driver.count("plaque", { text: "p" })).toBe(1);
  });

  describe("and other records change with it", () => {
    beforeEach(async () => {
      const system = app.api.asSystem();
      for (const name of ["bill", "mark", "label"] as const)
        await app.api.driver.deleteMany(name, { id: { null: false } });
      await system.note.create({ id: "n", text: "n", folderId: "f" });
      await system.comment.create({ id: "c", noteId: "n" });
      await system.comment.create({ id: "d", aboveId: "c" });
      await system.reaction.create({ id: "r", commentId: "d" });
      await system.mark.create({ id: "m", noteId: "n" });
      await system.label.create({ id: "l", notesIds: ["n"] });
    });

    const held = [
      ["a record that is deleted", `select 1 from "comment" where "id" = 'c' for update`],
      ["one that refers to that one", `select 1 from "comment" where "id" = 'd' for update`],
      ["one that is deleted after others", `select 1 from "reaction" for update`],
      ["one whose reference is emptied", `select 1 from "mark" for update`],
      ["a pair", `select 1 from "_label_notes" for update`],
    ] as const;
    it.each(held)("is decided again after waiting for %s", async (_what, statement) => {
      const tries = [
        ["n", undefined, { status: 403 }],
        ["bulk", { ids: ["n"] }, { body: { count: 0 } }],
      ] as const;
      for (const [path, body, answer] of tries) {
        await app.api.driver.deleteMany("access", { userId: "ann" });
        await app.api.asSystem().access.create({ id: "m", userId: "ann", folderId: "f" });
        expect.soft(await create("DELETE", `/api/notes/${path}`, body, statement), path).toMatchObject(answer);
        expect.soft(await app.api.driver.count("note", {}), path).toBe(1);
      }
    });

    it("is decided again after a wait for a record that restricted the deletion", async () => {
      await app.api.asSystem().bill.create({ id: "b", noteId: "n" });
      const { status } = await whileRevoked(
        `delete from "bill"`,
        () => app.as({ id: "ann" }).request("DELETE", "/api/notes/n"),
        "commit",
      );
      expect([status, await app.api.driver.count("note", {})]).toEqual([403, 1]);
    });

    it("allows the deletion otherwise", async () => {
      await app.api.asSystem().bill.create({ id: "b", noteId: "n" });
      const ann = app.as({ id: "ann" });
      expect(await ann.request("DELETE", "/api/notes/n")).toMatchObject({ status: 409 });
      await app.api.driver.deleteMany("bill", { id: "b" });
      expect(await ann.request("DELETE", "/api/notes/n")).toMatchObject({ status: 200 });
      const left = ["comment", "reaction", "mark", "label"] as const;
      expect(await Promise.all(left.map((name) => app.api.driver.count(name, {})))).toEqual([0, 0, 1, 1]);
    });
  });

  describe("and pairs or references are written", () => {
    beforeEach(async () => {
      const system = app.api.asSystem();
      for (const name of ["page", "badge"] as const) await app.api.driver.deleteMany(name, { id: { null: false } });
      await system.badge.create({ id: "b", name: "B" });
      for (const name of ["shelf", "draft", "group", "tray"] as const)
        await system[name].create({ id: "s", folderId: "f" });
      await system.page.create({ id: "p", text: "p", folderId: "f" });
    });
    const stored = async (): Promise<unknown> => [
      await app.api.driver.count("note", {}),
      await app.api.driver.findMany("page", { select: ["text", "draftId", "groupId"] }),
      await app.api.driver.links("page", "shelves", ["p"]),
      await app.api.driver.links("page", "drafts", ["p"]),
      await app.api.driver.links("tray", "pages", ["s"]),
      await app.api.driver.count("page", { trayId: null }),
    ];
    const BADGE = `select 1 from "badge" where "id" = 'b' for update`;
    const DRAFT = `select 1 from "draft" where "id" = 's' for update`;
    const TEXT = `insert into "page" ("id", "text") values ('q', 'late')`;
    const PAGE = `select 1 from "page" where "id" = 'p' for update`;
    const badged = { text: "late", folderId: "f", badgesIds: ["b"] };
    const refused = { created: 0, updated: 0, failed: [{ row: 1 }] };

    it.each([
      ["by a create", BADGE, "POST", "notes", badged, 403],
      ["by a create that connects", BADGE, "POST", "notes", { ...late, badges: { connect: ["b"] } }, 403],
      ["by an upsert", BADGE, "PUT", "notes?_on=text", badged, 403],
      ["by a batch", BADGE, "POST", "batch", [{ method: "POST", path: "/notes", body: badged }], 403],
      ["by an import", BADGE, "POST", "notes/import", [badged], 200],
      ["on the other side, by a create", TEXT, "POST", "pages", { text: "late", shelvesIds: ["s"] }, 403],
      ["on the other side, by a change", TEXT, "PATCH", "pages/p", { text: "late", shelvesIds: ["s"] }, 403],
      ["on the other side, by an import", TEXT, "POST", "pages/import", [{ text: "late", shelvesIds: ["s"] }], 200],
      ["about what pairs lead to, by a create", DRAFT, "POST", "pages", { text: "late", draftsIds: ["s"] }, 400],
      ["about what pairs lead to, by a change", TEXT, "PATCH", "pages/p", { text: "late", draftsIds: ["s"] }, 400],
      ["about a reference, by a create", TEXT, "POST", "pages", { text: "late", draftId: "s" }, 400],
      ["about a reference that is held, by a create", DRAFT, "POST", "pages", { text: "late", draftId: "s" }, 400],
      ["about a reference that is held, by a change", DRAFT, "PATCH", "pages/p", { draftId: "s" }, 400],
      ["about a reference, by an import", TEXT, "POST", "pages/import", [{ text: "late", draftId: "s" }], 200],
      [
        "about a reference that is held, by an import",
        DRAFT,
        "POST",
        "pages/import",
        [{ text: "late", draftId: "s" }],
        200,
      ],
      ["about a reference of a held record", PAGE, "PATCH", "pages/p", { draftId: "s" }, 400],
      ["about one that the record decides about", PAGE, "PATCH", "pages/p", { groupId: "s" }, 400],
      [
        "about one that decides by such records, by a create",
        TEXT,
        "POST",
        "pages",
        { text: "late", groupId: "s" },
        400,
      ],
      [
        "about one that decides by such records, by a change",
        TEXT,
        "PATCH",
        "pages/p",
        { text: "late", groupId: "s" },
        400,
      ],
      ["where the pairs of a new record lead to it", TEXT, "POST", "pages", { text: "late", traysIds: ["s"] }, 400],
      ["where the pairs of a change lead to it", TEXT, "PATCH", "pages/p", { text: "late", traysIds: ["s"] }, 400],
      ["where the reference of a new record leads to it", TEXT, "POST", "pages", { text: "late", trayId: "s" }, 400],
      ["where the reference of a change leads to it", TEXT, "PATCH", "pages/p", { text: "late", trayId: "s" }, 400],
      ["when other pairs have waited", BADGE, "PATCH", "pages/p", { shelvesIds: ["s"], badgesIds: ["b"] }, 403],
    ])("is decided again %s", async (_what, held, method, path, body, status) => {
      const before = await stored();
      const answer = await create(method, `/api/${path}`, body, held);
      expect(answer).toMatchObject(status === 200 ? { status, body: refused } : { status });
      expect(await stored()).toEqual(before);
    });

    it("is decided again about a reference whose own values decide", async () => {
      const late = { text: "late", sheetId: "s" };
      const sheetChanges = `update "sheet" set "isOpen" = false, "code" = 'new'`;
      const closes = `update "sheet" set "isOpen" = false`;
      const tries = [
        ["POST", "pages", late, TEXT, closes, "rollback"],
        ["PATCH", "pages/p", late, TEXT, closes, "rollback"],
        ["POST", "pages", late, sheetChanges, "select 1", "commit"],
        ["PATCH", "pages/p", { sheetId: "s" }, sheetChanges, "select 1", "commit"],
      ] as const;
      for (const [method, path, body, held, revoke, end] of tries) {
        await app.api.driver.deleteMany("sheet", { id: "s" });
        await app.api.asSystem().sheet.create({ id: "s", isOpen: true, code: "s" });
        const begin = () => app.as({ id: "ann" }).request(method, `/api/${path}`, body);
        expect.soft(await whileRevoked(held, begin, end, revoke), `${method} ${held}`).toMatchObject({ status: 400 });
        expect.soft(await app.api.driver.count("page", { sheetId: null }), `${method} ${held}`).toBe(1);
      }
      await app.api.driver.updateMany("sheet", { id: "s" }, { isOpen: true });
      const closing = { text: "late", sheet: { connect: "s", update: { isOpen: false } } };
      expect(await app.as({ id: "ann" }).request("POST", "/api/pages", closing)).toMatchObject({ status: 201 });
      expect(await app.as({ id: "ann" }).request("POST", "/api/pages", late)).toMatchObject({ status: 400 });
    });

    it("is decided again for a field, and for the record before the change", async () => {
      const system = app.api.asSystem();
      const ignored = { status: 200, body: { text: "late", stamp: null } };
      const tries = [
        ["PATCH", "pages/p", { text: "late", stamp: "ann" }, ignored],
        ["PATCH", "pages/p", { text: "late", stamp: "ann", folderId: null }, ignored],
        ["PATCH", "shelves/s", { code: "late", folderId: "g" }, { status: 403 }],
        ["POST", "pages", { text: "late", stamp: "ann", folderId: "f" }, { status: 403 }],
      ] as const;
      const held = `${TEXT}; insert into "shelf" ("id", "code", "folderId", "createdAt", "updatedAt") values ('q', 'late', 'f', now(), now())`;
      for (const [method, path, body, answer] of tries) {
        await app.api.driver.deleteMany("access", { userId: "ann" });
        await app.api.driver.deleteMany("page", { id: { null: false } });
        await system.access.create({ id: "m", userId: "ann", folderId: "f" });
        await system.page.create({ id: "p", text: "p", folderId: "f" });
        const of = `delete from "access" where "folderId" = 'f'`;
        await system.access.create({ id: "other", userId: "ann", folderId: "g" });
        expect.soft(await create(method, `/api/${path}`, body, held, of), JSON.stringify(body)).toMatchObject(answer);
      }
    });

    it("is not lost because of the change itself", async () => {
      const ann = app.as({ id: "ann" });
      const moved = { text: "new", stamp: "ann", folderId: null };
      expect(await ann.request("PATCH", "/api/pages/p", moved)).toMatchObject({
        body: { stamp: "ann", folderId: null },
      });
      await app.api.asSystem().page.create({ id: "o", text: "o", folderId: "f" });
      const first = { text: "first", seal: "ann" };
      expect(await ann.request("PATCH", "/api/pages/o", first)).toMatchObject({ body: first });
    });

    it("allows a record to refer only to what it has shown before", async () => {
      const change = async (body: object) =>
        (await app.as({ id: "ann" }).request("PATCH", "/api/pages/p", { text: "late", ...body })).status;
      await app.api.asSystem().page.update("p", { text: "late", trayId: "s" });
      await app.api.driver.deleteMany("access", { userId: "ann" });
      expect(await change({ traysIds: ["s"] })).toBe(200);
      expect(await change({ trayId: null })).toBe(200);
      expect(await change({ trayId: "s" })).toBe(200);
      expect(await change({ trayId: null, traysIds: [] })).toBe(200);
      expect([await change({ trayId: "s" }), await change({ traysIds: ["s"] })]).toEqual([400, 400]);
    });

    it("allows them otherwise, also if the record itself ends the right", async () => {
      const ann = app.as({ id: "ann" });
      expect(await ann.request("POST", "/api/notes", badged)).toMatchObject({ status: 201 });
      const all = { text: "new", shelvesIds: ["s"], draftsIds: ["s"], draftId: "s", groupId: "s" };
      expect(await ann.request("PATCH", "/api/pages/p", all)).toMatchObject({ status: 200 });
      expect(await ann.request("POST", "/api/pages", { text: "more", groupId: "s" })).toMatchObject({ status: 400 });
      await app.api.asSystem().page.update("p", { groupId: null });
      expect(await ann.request("POST", "/api/pages", { text: "more", groupId: "s" })).toMatchObject({ status: 201 });
    });
  });
});
