import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  belongsTo,
  type Driver,
  defineRule,
  EntityNotFoundError,
  embedded,
  entity,
  json,
  keelson,
  manyToMany,
  memoryDriver,
  noopLogger,
  postgres,
  string,
  text,
  type User,
} from "../../src/index.ts";
import { createTestApp } from "../../src/testing/index.ts";
import { freshPostgres, freshSqliteFile } from "../support/databases.ts";

const everyone = { read: ["everyone"], create: ["everyone"], update: ["everyone"], delete: ["everyone"] };
const user = entity("user", { name: string })
  .ownedBy("id")
  .rules({ read: ["everyone"] });
const tag = entity("tag", { name: string, hidden: string.default("no") }).rules({
  ...everyone,
  read: [defineRule("notHidden", () => ({ hidden: "no" }))],
});
const note = entity("note", { body: text, author: belongsTo(() => user), tags: manyToMany(() => tag) })
  .ownedBy("author")
  .rules({ read: ["everyone"], create: ["authenticated"], update: ["ownerOrAdmin"], delete: ["owner"] });
const isMember = defineRule("isMember", ({ user: caller }) => caller !== null && { members: { id: caller.id } });
const team = entity("team", { name: string, members: manyToMany(() => user) }).rules({
  read: ["everyone"],
  create: [isMember, "admin"],
  update: [isMember],
});
const drop = entity("drop", { secret: string }).rules({
  read: ["admin"],
  create: ["everyone"],
  update: ["authenticated"],
});
const mine = defineRule("mine", ({ user: caller }) => caller !== null && { team: caller.id });
const task = entity("task", { team: string, slug: string })
  .unique(["team", "slug"])
  .rules({ read: [mine], create: [mine], update: [mine] });
const thing = entity("thing", { data: json, maybe: json.optional() }).rules(everyone);

const BACKENDS: readonly (readonly [string, () => Promise<{ driver: Driver; drop(): Promise<void> }>])[] = [
  ["memory", async () => ({ driver: memoryDriver(), drop: async () => {} })],
  [
    "SQLite",
    async () => {
      const { file, remove } = await freshSqliteFile();
      return { driver: embedded({ file }), drop: remove };
    },
  ],
  [
    "PostgreSQL",
    async () => {
      const database = await freshPostgres();
      return { driver: postgres(database.url), drop: database.drop };
    },
  ],
];

const ann: User = { id: "ann" };
const bob: User = { id: "bob" };
const root: User = { id: "root", role: "admin" };

describe.each(BACKENDS)("side doors on %s", (_name, open) => {
  const makeApp = (driver: Driver) =>
    createTestApp({ entities: [user, tag, note, team, drop, task, thing], driver, logger: noopLogger });
  let app: ReturnType<typeof makeApp>;
  let cleanUp: () => Promise<void>;
  const send = async (as: User | null, method: string, path: string, body?: unknown) => {
    const answer = await app.as(as).request(method, `/api${path}`, body);
    return {
      status: answer.status,
      headers: answer.headers,
      json: answer.body as Record<string, unknown> & { id: string },
    };
  };

  beforeAll(async () => {
    const backend = await open();
    app = makeApp(backend.driver);
    await app.api.ready;
    cleanUp = backend.drop;
    for (const id of ["ann", "bob", "root"]) await app.api.asSystem().user.create({ id, name: id });
    for (const id of ["t1", "t2", "t3"]) await app.api.asSystem().tag.create({ id, name: id });
    await app.api.asSystem().tag.create({ id: "h1", name: "hidden", hidden: "yes" });
  });
  afterAll(async () => {
    await app.close();
    await cleanUp();
  });

  const linksOf = async (id: string): Promise<string[]> =>
    (await app.api.driver.links("note", "tags", [id])).map(({ target }) => target).sort();
  const newNote = async (tagsIds: readonly string[]): Promise<string> => {
    const { id } = await app.api.asSystem().note.create({ body: "x", authorId: "ann", tagsIds });
    return id;
  };

  it("a write returns only the id to a caller that may not read the record", async () => {
    const made = await send(ann, "POST", "/drops", { secret: "s" });
    expect([made.status, made.json]).toEqual([201, { id: made.json.id }]);
    for (const body of [{}, { secret: "t" }]) {
      const changed = await send(bob, "PATCH", `/drops/${made.json.id}`, body);
      expect([changed.status, changed.json]).toEqual([200, { id: made.json.id }]);
    }
    expect((await send(root, "PATCH", `/drops/${made.json.id}`, {})).json.secret).toBe("t");
  });

  it("an update of links alone has the rule in its statement", async () => {
    const id = await newNote(["t1"]);
    expect((await send(bob, "PATCH", `/notes/${id}`, { tagsIds: ["t2"] })).status).toBe(403);
    expect(await linksOf(id)).toEqual(["t1"]);
    expect((await send(ann, "PATCH", `/notes/${id}`, { tagsIds: ["t2"] })).status).toBe(200);
    expect(await linksOf(id)).toEqual(["t2"]);
  });

  it("after parallel writes of several lists, one list remains", async () => {
    const id = await newNote(["t1"]);
    const lists = [["t1", "t2"], ["t3"], ["t2"], ["t1", "t3"]];
    const answers = await Promise.all(lists.map((tagsIds) => send(ann, "PATCH", `/notes/${id}`, { tagsIds })));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect(lists.map((list) => list.join())).toContain((await linksOf(id)).join());
  });

  it("links hidden from the caller remain when the list is written back", async () => {
    const id = await newNote(["t1", "h1"]);
    const shown = await send(ann, "GET", `/notes/${id}?include=tags`);
    const tagsIds = (shown.json.tags as { id: string }[]).map((one) => one.id);
    expect(tagsIds).toEqual(["t1"]);
    expect((await send(ann, "PATCH", `/notes/${id}`, { tagsIds: [...tagsIds, "t2"] })).status).toBe(200);
    expect(await linksOf(id)).toEqual(["h1", "t1", "t2"]);
  });

  it("links cannot satisfy a rule on create, and must satisfy it after an update", async () => {
    expect((await send(ann, "POST", "/teams", { name: "reds", membersIds: ["ann", "bob"] })).status).toBe(403);
    expect(await app.api.driver.count("team")).toBe(0);
    const made = await send(root, "POST", "/teams", { name: "reds", membersIds: ["ann", "bob"] });
    expect(made.status).toBe(201);
    expect((await send(ann, "PATCH", `/teams/${made.json.id}`, { membersIds: ["bob"] })).status).toBe(403);
    expect((await app.api.driver.links("team", "members", [made.json.id])).length).toBe(2);
    expect((await send(ann, "PATCH", `/teams/${made.json.id}`, { membersIds: ["ann"] })).status).toBe(200);
  });

  it("a move out of reach fails alike for taken and free unique values", async () => {
    await app.api.asSystem().task.create({ team: "ann", slug: "taken" });
    const own = await send(bob, "POST", "/tasks", { team: "bob", slug: "taken" });
    expect(own.status).toBe(201);
    for (const slug of ["taken", "free"]) {
      expect((await send(bob, "POST", "/tasks", { team: "ann", slug })).status).toBe(403);
      expect((await send(bob, "PATCH", `/tasks/${own.json.id}`, { team: "ann", slug })).status).toBe(403);
    }
  });

  it("an anonymous caller cannot tell hidden from missing", async () => {
    const answers = new Set<string>();
    for (const id of ["h1", "nothing"]) {
      const { status, json: body } = await send(null, "GET", `/tags/${id}`);
      answers.add(JSON.stringify([status, { ...body, requestId: "" }]));
    }
    expect([...answers]).toHaveLength(1);
    expect([...answers][0]).toContain("401");
  });

  it.each(["DbNull", "JsonNull", "AnyNull", "null", { $type: "DbNull" }, { $type: "Json", value: "1" }])(
    "stores the json value %j as it is",
    async (value) => {
      const made = await send(null, "POST", "/things", { data: value, maybe: value });
      expect([made.status, made.json.data, made.json.maybe]).toEqual([201, value, value]);
      const changed = await send(null, "PATCH", `/things/${made.json.id}`, { data: value });
      expect(changed.json.data).toEqual(value);
      expect((await send(null, "GET", `/things/${made.json.id}`)).json.data).toEqual(value);
    },
  );

  it("leaves out a cursor that is too long for a header, and the list still works", async () => {
    await app.api.asSystem().note.create({ body: "a".repeat(30_000), authorId: "ann" });
    const { status, headers } = await send(null, "GET", "/notes?_sort=body&_limit=1&body_starts=aaa");
    expect([status, headers.get("x-next-cursor")]).toEqual([200, null]);
  });
});

describe("callbacks of the app", () => {
  it("that authenticate callers and throw a 404 lead to 503, not to that 404", async () => {
    const api = keelson({
      entities: [user],
      driver: memoryDriver(),
      logger: noopLogger,
      getUser: () => {
        throw new EntityNotFoundError("user u-17 of tenant acme is gone");
      },
    });
    const answer = await api.fetch(new Request("http://host.invalid/api/users"));
    expect(answer.status).toBe(503);
    expect(await answer.text()).not.toContain("acme");
    await api.close();
  });

  it("that must be synchronous refuse if they return a promise, without a crash", async () => {
    const late = (): never => Promise.reject(new TypeError("late")) as never;
    const field = entity("field", { name: string.validate(late, "is not right") }).rules(everyone);
    const closed = entity("closed", { name: string }).rules({ read: ["admin"] });
    const api = keelson({
      entities: [field, closed],
      driver: memoryDriver(),
      logger: noopLogger,
      isAdmin: late,
      getUser: () => ({ id: "u" }),
    });
    const unhandled: unknown[] = [];
    const note_ = (error: unknown): void => void unhandled.push(error);
    process.on("unhandledRejection", note_);
    expect((await api.fetch(new Request("http://host.invalid/api/closeds"))).status).toBe(403);
    const init = { method: "POST", headers: { "content-type": "application/json" }, body: '{"name":"x"}' };
    expect((await api.fetch(new Request("http://host.invalid/api/fields", init))).status).toBe(400);
    await new Promise((resolve) => setTimeout(resolve, 5));
    process.off("unhandledRejection", note_);
    expect(unhandled).toEqual([]);
    await api.close();
  });
});

describe("a rule's where that matches every record", () => {
  it.each([{ AND: [] }, { OR: [{}] }, { name: { nin: [] } }])(
    "%j is treated as a mistake, and denies",
    async (where) => {
      const rule = defineRule(`open ${JSON.stringify(where).replace(/[^a-z]/gi, "")}`, () => where);
      const open = entity("open", { name: string }).rules({ read: [rule] });
      const api = keelson({ entities: [open], driver: memoryDriver(), logger: noopLogger });
      await expect(api.as({ id: "u" }).open.list()).rejects.toMatchObject({ status: 403 });
      await api.close();
    },
  );
});

describe("names that the ORM reads as logic", () => {
  it.each(["not", "AND", "OR", "NOT"])("%s is refused when the entity is built", (name) => {
    expect(() => entity("flag", { [name]: string }).build()).toThrow("is a reserved name");
  });
});
