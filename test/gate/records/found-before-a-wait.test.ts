import { setImmediate as nextTurn } from "node:timers/promises";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import {
  action,
  belongsTo,
  cloneAction,
  type Driver,
  defineRule,
  deleteEntityStep,
  entity,
  hasMany,
  importAction,
  manyToMany,
  noopLogger,
  string,
  updateEntityStep,
  withOptions,
  workflow,
} from "../../../src/index.ts";
import { createTestApp } from "../../../src/testing/index.ts";
import { SQL_DATABASES } from "../../support/sql-databases.ts";
import { whileHeld } from "../../support/while-held.ts";

// A record is found by a condition, and then waits for another transaction. The condition must still hold.

const all = { read: ["everyone"], create: ["everyone"], update: ["everyone"], delete: ["everyone"] };
const memberOf = defineRule("fbwMember", ({ user }) => user && { folder: { members: { id: user.id } } });
const known = defineRule("fbwKnown", () => ({ name: { ne: "hidden" } }));
const person = entity("person", { name: string, folders: manyToMany(() => folder) })
  .id(string)
  .rules({ ...all, read: [known] });
const folder = entity("folder", {
  name: string,
  slug: string.unique(),
  text: string.optional(),
  members: manyToMany(() => person),
  notes: hasMany(() => note),
  tags: manyToMany(() => tag),
})
  .id(string)
  .rules(all);
const tag = entity("tag", { slug: string.unique() }).id(string).rules(all);
const note = entity("note", {
  slug: string.unique(),
  state: string.default("open"),
  text: string.optional(),
  folder: belongsTo(() => folder).optional(),
  about: belongsTo(() => person).optional(),
})
  .id(string)
  .rules({ ...all, read: [memberOf] })
  .actions({ clone: cloneAction() });

type Given = { readonly input: { readonly id: string; readonly to: string }; readonly user: { readonly id: string } };
const open = ({ input }: Given) => ({ id: input.id, state: "open" });
const member = ({ input, user }: Given) => ({ id: input.id, members: { id: user.id } });
const stranger = ({ input }: Given) => ({ id: input.id, members: { none: { name: "hidden" } } });
const steps = {
  pay: updateEntityStep("seat", open as never, (({ input }: Given) => ({ state: input.to })) as never),
  drop: deleteEntityStep("seat", open as never),
  write: withOptions(
    updateEntityStep("folder", member as never, (({ input }: Given) => ({ text: input.to })) as never),
    {
      asSystem: true,
    },
  ),
  name: withOptions(
    updateEntityStep("folder", member as never, (({ input }: Given) => ({ slug: input.to })) as never),
    {
      asSystem: true,
    },
  ),
  greet: updateEntityStep("folder", stranger as never, (({ input }: Given) => ({ text: input.to })) as never),
};
const run = (name: keyof typeof steps) =>
  action()
    .rules("everyone")
    .input({ id: string, to: string })
    .workflow(workflow(`fbw-${name}`).addStep(steps[name]).build() as never);
const seat = entity("seat", { slug: string.unique(), state: string.default("open"), row: string.optional() })
  .id(string)
  .rules(all)
  .actions({
    imported: importAction({ upsertBy: "slug" }),
    pay: run("pay"),
    drop: run("drop"),
    write: run("write"),
    name: run("name"),
    greet: run("greet"),
  });
const seatRow = entity("seatRow", { name: string, first: belongsTo(() => tag).optional() })
  .id(string)
  .rules(all);

const openApp = (driver: Driver) =>
  createTestApp({ entities: [person, folder, tag, note, seat, seatRow], driver, logger: noopLogger });

const POSTGRES = SQL_DATABASES.filter(([name]) => name === "PostgreSQL");
describe.each(POSTGRES)("a record that was found still meets the condition when it is written, on %s", (_, connect) => {
  let database: Awaited<ReturnType<typeof connect>>;
  let app: ReturnType<typeof openApp>;
  beforeAll(async () => {
    database = await connect();
    app = openApp(database.driver);
    await app.api.ready;
  });
  afterAll(async () => {
    await app.close();
    await database.drop();
  });
  beforeEach(async () => {
    for (const one of [seatRow, seat, note, tag, folder, person])
      for (const { id } of await app.api.driver.findMany(one.build(), {}))
        await app.api.driver.delete(one.build(), { id });
    const system = app.api.asSystem();
    for (const id of ["ann", "hidden"]) await system.person.create({ id, name: id });
    await system.folder.create({ id: "f", name: "f", slug: "f", membersIds: ["ann"] });
    await system.note.create({ id: "n", slug: "n", text: "old", folderId: "f", aboutId: "hidden" });
    await system.tag.create({ id: "t", slug: "t" });
    await system.seat.create({ id: "s", slug: "s" });
  });

  const post = (path: string, body?: unknown) => app.as({ id: "ann" }).request("POST", `/api/${path}`, body);
  const held = (sql: string, meanwhile?: string) => ({ held: sql, meanwhile, end: "commit" }) as const;
  const left = `delete from "_folder_members"`;

  it("an update step changes no record that another request has changed meanwhile", async () => {
    const answer = await whileHeld(database.url, held(`update seat set state = 'paid'`), () =>
      post("seats/pay", { id: "s", to: "paid again" }),
    );
    expect(answer.status).toBe(404);
    expect(await app.api.asSystem().seat.get("s")).toMatchObject({ state: "paid" });
  });

  it("a deletion step deletes no record that another request has changed meanwhile", async () => {
    const answer = await whileHeld(database.url, held(`update seat set state = 'paid'`), () =>
      post("seats/drop", { id: "s", to: "" }),
    );
    expect(answer.status).toBe(404);
    expect(await app.api.asSystem().seat.get("s")).toMatchObject({ state: "paid" });
  });

  it.each([
    ["the record", "write", 404, `update folder set name = 'g'`],
    [
      "a unique value",
      "name",
      409,
      `insert into folder (id, name, slug, "createdAt", "updatedAt") values ('g', 'g', 'free', now(), now())`,
    ],
  ])("a step whose condition ends while it waits for %s writes nothing", async (_for, name, status, sql) => {
    const answer = await whileHeld(database.url, { held: sql, meanwhile: left }, () =>
      post(`seats/${name}`, { id: "f", to: "free" }),
    );
    expect(answer.status).toBe(status);
    expect(await app.api.asSystem().folder.get("f")).toMatchObject({ slug: "f", text: null });
  });

  it("a copy is not stored once its original may not be read", async () => {
    const sql = `insert into note (id, slug, state, "createdAt", "updatedAt") values ('x', 'copy', '', now(), now())`;
    const answer = await whileHeld(database.url, { held: sql, meanwhile: left }, () =>
      post("notes/n/clone", { id: "m", slug: "copy", folderId: null }),
    );
    expect(answer.status).toBe(403);
    expect(await app.api.asSystem().note.count({})).toBe(1);
  });

  it("a stored reference that is sent again reveals nothing once its record may not be read", async () => {
    const answer = await whileHeld(database.url, { held: `update note set state = 'held'`, meanwhile: left }, () =>
      app.as({ id: "ann" }).request("PATCH", "/api/notes/n", { aboutId: "hidden", text: "new" }),
    );
    expect(answer.status).toBe(400);
    expect(await app.api.asSystem().note.get("n")).toMatchObject({ text: "old" });
  });

  it("an import creates a row whose record has another key meanwhile", async () => {
    const answer = await whileHeld(database.url, held(`update seat set slug = 'renamed'`), () =>
      post("seats/import", [{ id: "r", slug: "s", row: "1" }]),
    );
    expect(answer.body).toMatchObject({ created: 1, updated: 0 });
    const { data } = await app.api.asSystem().seat.list({ sort: ["id"] });
    expect(data.map(({ id, slug, row }) => [id, slug, row])).toEqual([
      ["r", "s", "1"],
      ["s", "renamed", null],
    ]);
  });

  it.each([
    [
      "hasMany",
      "folders",
      "note",
      {
        id: "g",
        name: "g",
        slug: "g",
        notes: { connectOrCreate: [{ where: { slug: "n" }, create: { id: "new", slug: "n" } }] },
      },
    ],
    [
      "belongsTo",
      "seat-rows",
      "tag",
      { id: "r", name: "r", first: { connectOrCreate: { where: { slug: "t" }, create: { id: "new", slug: "t" } } } },
    ],
    [
      "manyToMany",
      "folders",
      "tag",
      {
        id: "g",
        name: "g",
        slug: "g",
        tags: { connectOrCreate: [{ where: { slug: "t" }, create: { id: "new", slug: "t" } }] },
      },
    ],
  ])("connectOrCreate of a %s relation connects no record that has another key", async (_type, path, of, body) => {
    const answer = await whileHeld(database.url, held(`update ${of} set slug = 'renamed'`), () => post(path, body));
    expect(answer.status).toBe(201);
    const system = app.api.asSystem();
    const shown =
      path === "folders" ? await system.folder.get("g", { include: ["notes", "tags"] }) : await system.seatRow.get("r");
    const {
      notes = [],
      tags = [],
      firstId,
    } = shown as { notes?: { id: string }[]; tags?: { id: string }[]; firstId?: string };
    expect([...notes, ...tags].map(({ id }) => id).concat(firstId ?? [])).toEqual(["new"]);
  });

  it("a step's condition is limited to what the caller may read", async () => {
    await app.api.asSystem().folder.update("f", { membersIds: ["ann", "hidden"] });
    expect(await post("seats/greet", { id: "f", to: "hello" })).toMatchObject({ status: 200 });
    expect(await app.api.asSystem().folder.get("f")).toMatchObject({ text: "hello" });
  });
});

const SQLITE = SQL_DATABASES.filter(([name]) => name === "SQLite");
describe.each(SQLITE)("a record that was found before another transaction ends, on %s", (_, connect) => {
  it("a copy is not stored once its original may not be read", async () => {
    const database = await connect();
    const app = openApp(database.driver);
    await app.api.ready;
    const system = app.api.asSystem();
    await system.person.create({ id: "ann", name: "ann" });
    await system.folder.create({ id: "f", name: "f", slug: "f", membersIds: ["ann"] });
    await system.note.create({ id: "n", slug: "n", text: "old", folderId: "f" });
    const copied = await app.api.transaction(async ({ asSystem }) => {
      await asSystem().folder.update("f", { membersIds: [] });
      const answer = app
        .as({ id: "ann" })
        .request("POST", "/api/notes/n/clone", { id: "m", slug: "m", folderId: null });
      for (let turn = 0; turn < 200; turn++) await nextTurn();
      return { answer };
    });
    expect(await copied.answer).toMatchObject({ status: 403 });
    expect(await system.note.count({})).toBe(1);
    await app.close();
    await database.drop();
  });
});
