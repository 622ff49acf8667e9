import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  action,
  archiveAction,
  authenticated,
  belongsTo,
  bool,
  bulkUpdateAction,
  cloneAction,
  createPlugin,
  datetime,
  defineRule,
  entity,
  hasMany,
  keelson,
  manyToMany,
  memoryDriver,
  noopLogger,
  restoreAction,
  softDeleteAction,
  string,
  toggleAction,
} from "../../../src/index.ts";
import { type JsonResponse, request, startApp } from "../../support/http.ts";
import { recordStatements } from "../../support/record-statements.ts";

const EVERYBODY = { read: ["everyone"], create: ["everyone"], update: ["everyone"], delete: ["everyone"] };
const readers = defineRule("readers", ({ user, record }) => record !== null && user?.id === "ann");

const user = entity("user", { name: string }).ownedBy("id").rules(EVERYBODY);
const note = entity("note", {
  text: string,
  secret: string.optional().readable("admin"),
  done: bool.default(false),
  archived: bool.default(false),
  remarks: hasMany(() => remark),
  labels: manyToMany(() => label),
})
  .versioned()
  .rules(EVERYBODY)
  .actions({
    toggle: toggleAction("done"),
    archive: archiveAction,
    clone: cloneAction,
    bulk: bulkUpdateAction,
    shout: action()
      .onResource()
      .handler(async ({ client, entity: own, record }) => {
        await client(own).update(record.id, { text: `${record.text}!` });
        return await client(own).update(record.id, { done: true });
      }),
    peek: action()
      .onResource()
      .get()
      .handler(({ record }) => ({ text: record.text })),
  });
const remark = entity("remark", { text: string, note: belongsTo(() => note) }).rules(EVERYBODY);
const label = entity("label", { name: string, notes: manyToMany(() => note) })
  .timestamps(false)
  .versioned()
  .rules(EVERYBODY);
const page = entity("page", { text: string, deletedAt: datetime.optional(), author: belongsTo(() => user) })
  .ownedBy("author")
  .softDelete()
  .versioned({ required: true })
  .rules({ read: ["everyone"], create: ["authenticated"], update: ["owner"], delete: ["owner"] })
  .actions({ remove: softDeleteAction, restore: restoreAction, touch: { path: "/:id/touch", handler: () => ({}) } });
/** All callers may write it, and only admins may read it. */
const letter = entity("letter", { text: string })
  .versioned()
  .rules({ read: ["admin"], create: ["everyone"], update: ["everyone"], delete: ["everyone"] })
  .actions({
    stamp: action()
      .onResource()
      .rules("everyone")
      .handler(() => ({ stamped: true })),
  });
const parcel = entity("parcel", { text: string, open: bool.default(false) })
  .versioned()
  .rules({ read: [readers], create: ["everyone"], update: [authenticated] });
const plain = entity("plain", { text: string }).rules(EVERYBODY);

const api = keelson({
  entities: [user, note, remark, label, page, letter, parcel, plain],
  driver: memoryDriver({
    user: [
      { id: "ann", name: "Ann" },
      { id: "bob", name: "Bob" },
      { id: "root", name: "Root" },
    ],
  }),
  logger: noopLogger,
  getUser: ({ headers }) => {
    const id = headers.get("authorization")?.slice(7);
    return id === undefined ? null : { id, isAdmin: id === "root" };
  },
});
let url: string;
let close: () => Promise<void>;
beforeAll(async () => {
  const app = await startApp(api);
  url = app.url;
  close = app.close;
});
afterAll(() => close());

interface Asked {
  readonly body?: unknown;
  readonly as?: string | undefined;
  readonly match?: string;
  readonly none?: string;
}
function ask(method: string, path: string, { body, as, match, none }: Asked = {}): Promise<JsonResponse> {
  const headers: Record<string, string> = {};
  if (match !== undefined) headers["if-match"] = match;
  if (none !== undefined) headers["if-none-match"] = none;
  return request(url, method, `/api${path}`, { body, token: as, headers });
}
const make = async (path: string, body: object = { text: "one" }, as?: string): Promise<string> =>
  `${path}/${(await ask("POST", path, { body, as })).json.id}`;
const tagOf = async (path: string, as?: string): Promise<string> =>
  (await ask("GET", path, { as })).headers.get("etag") as string;
const versionOf = async (name: "note" | "label" | "page", path: string): Promise<number> =>
  (await api.driver.findOne(name, { id: path.split("/").at(-1) }))?.version as number;

describe("versions of records", () => {
  it("begin with 1, for any input, and every write adds 1", async () => {
    const { json, status } = await ask("POST", "/notes", { body: { text: "one", version: 9 } });
    expect([status, json.version]).toEqual([201, 1]);
    const path = `/notes/${json.id}`;
    const versionAfter = async (method: string, at: string, body?: unknown): Promise<number> => {
      expect((await ask(method, at, { body })).status).toBe(200);
      return versionOf("note", path);
    };
    expect(await versionAfter("PATCH", path, { text: "two", version: 40 })).toBe(2);
    expect(await versionAfter("PUT", path, { text: "two" })).toBe(3);
    expect(await versionAfter("PATCH", path, {})).toBe(3);
    expect(await versionAfter("POST", `${path}/toggle-done`)).toBe(4);
    expect(await versionAfter("POST", `${path}/archive`)).toBe(5);
    expect(await versionAfter("POST", `${path}/archive`)).toBe(5);
    expect(await versionAfter("PUT", "/notes/bulk", { ids: [json.id], data: { text: "three" } })).toBe(6);
    expect((await ask("POST", `${path}/shout`)).status).toBe(200);
    expect(await versionOf("note", path)).toBe(8);
    await api.as({ id: "ann" }).note.update(json.id, { text: "four" });
    await api.asSystem().note.update(json.id, { text: "five", version: 70 });
    await api.driver.updateMany("note", { text: "five" }, { done: false });
    expect(await versionOf("note", path)).toBe(11);
    const clone = await ask("POST", `${path}/clone`);
    expect([clone.status, clone.json.version]).toEqual([201, 1]);
  });

  it("count changes of links, also if no column of the record changes", async () => {
    const id = (await make("/notes")).slice(7);
    const path = await make("/labels", { name: "red" });
    expect((await ask("PATCH", path, { body: { notesIds: [id] } })).json.version).toBe(2);
    expect((await ask("PATCH", path, { body: { notesIds: [] }, match: '"1"' })).status).toBe(412);
    expect((await ask("PATCH", path, { body: { notesIds: [] }, match: '"2"' })).status).toBe(200);
    expect(await versionOf("label", path)).toBe(3);
  });

  it("do not count rolled-back writes", async () => {
    const path = await make("/notes");
    const id = path.slice(7);
    await expect(
      api.driver.transaction(async (driver) => {
        await driver.update("note", { id }, { text: "gone" });
        throw new RangeError("back");
      }),
    ).rejects.toThrow("back");
    expect(await versionOf("note", path)).toBe(1);
  });

  it("may be filtered and sorted on, and set by the system on create", async () => {
    const { id } = await api.asSystem().note.create({ text: "restored", version: 12 });
    expect((await ask("GET", "/notes?version=12")).json.map((one: { id: string }) => one.id)).toEqual([id]);
  });
});

describe("the ETag of a response", () => {
  it("is strong, and is set only for single records of entities with versions", async () => {
    const created = await ask("POST", "/notes", { body: { text: "one" } });
    const path = `/notes/${created.json.id}`;
    expect(created.headers.get("etag")).toMatch(/^"1\.[\w-]{22}"$/);
    expect((await ask("PATCH", path, { body: { text: "two" } })).headers.get("etag")).toMatch(/^"2\./);
    const read = await ask("GET", path);
    expect(read.headers.get("etag")).toMatch(/^"2\./);
    expect(read.headers.get("content-type")).toBe("application/json; charset=utf-8");
    expect(read.headers.get("cache-control")).toBe("private, no-store");
    const head = await ask("HEAD", path);
    expect([head.status, head.headers.get("etag")]).toEqual([200, read.headers.get("etag")]);
    expect(head.headers.get("content-length")).toBe(read.headers.get("content-length"));
    expect((await ask("GET", "/notes")).headers.get("etag")).toBeNull();
    expect((await ask("GET", await make("/plains"))).headers.get("etag")).toBeNull();
  });

  it("differs with the bytes: fields, related records, and the caller", async () => {
    const path = await make("/notes", { text: "one" });
    await api.asSystem().note.update(path.slice(7), { secret: "s" });
    const selected = await ask("GET", `${path}?select=text`);
    expect(Object.keys(selected.json)).toEqual(["id", "text"]);
    const tags = [
      await tagOf(path),
      selected.headers.get("etag"),
      await tagOf(`${path}?include=remarks`),
      await tagOf(path, "root"),
    ];
    expect(new Set(tags).size).toBe(4);
    for (const tag of tags) expect(tag).toMatch(/^"2\./);
  });

  it("gives 304 without a body only to a reader who has these bytes", async () => {
    const path = await make("/notes");
    const tag = await tagOf(path);
    for (const none of [tag, `W/${tag}`, `"x", ${tag}`, "*"]) {
      const { status, json, headers } = await ask("GET", path, { none });
      expect([none, status, json, headers.get("etag")]).toEqual([none, 304, undefined, tag]);
    }
    expect((await ask("HEAD", path, { none: tag })).status).toBe(304);
    expect((await ask("GET", path, { none: '"1"' })).status).toBe(200);
    const included = `${path}?include=remarks`;
    const before = await tagOf(included);
    await ask("POST", "/remarks", { body: { text: "new", noteId: path.slice(7) } });
    expect((await ask("GET", included, { none: before })).status).toBe(200);
    expect((await ask("GET", path, { none: tag })).status).toBe(304);
  });
});

describe("If-Match and If-None-Match", () => {
  const writes = [
    ["PATCH", "", { text: "two" }],
    ["PUT", "", { text: "two" }],
    ["DELETE", "", undefined],
    ["POST", "/toggle-done", undefined],
    ["POST", "/archive", undefined],
    ["POST", "/clone", undefined],
    ["POST", "/shout", undefined],
    ["GET", "/peek", undefined],
    ["GET", "", undefined],
  ] as const;

  it.each(writes)("on %s %s match only this version", async (method, below, body) => {
    const path = await make("/notes");
    await ask("PATCH", path, { body: { text: "now" } });
    const tag = await tagOf(path);
    const statusOf = async (asked: Asked) => (await ask(method, path + below, { body, ...asked })).status;
    for (const match of ['"1"', '"3"', `W/${tag}`, 'W/"2"', '"x"', '"02"', '"99999999999"', `"1", "3" , ,"a,b"`])
      expect([match, await statusOf({ match })]).toEqual([match, 412]);
    if (method !== "GET")
      for (const none of ["*", tag, '"2"', `"7", W/"2"`]) expect([none, await statusOf({ none })]).toEqual([none, 412]);
    for (const match of ["2", "", '"2', '"2" "3"', "*, *", `"2",x`])
      expect([match, await statusOf({ match })]).toEqual([match, 400]);
    expect((await api.asSystem().note.get(path.slice(7))).text).toBe("now");
    expect(await statusOf({ match: `"9", ${tag}`, none: '"1"' })).toBeLessThan(300);
  });

  it("accept * for any existing record", async () => {
    const path = await make("/notes");
    expect((await ask("PATCH", path, { body: { text: "two" }, match: "*" })).status).toBe(200);
    expect((await ask("PATCH", "/notes/none", { body: { text: "two" }, match: "*" })).status).toBe(404);
    expect((await ask("PATCH", "/notes/none", { body: { text: "two" }, match: '"1"' })).status).toBe(404);
  });

  it.each([0, -1])("match a record from before versions by the version %i", async (version) => {
    const { id } = await api.asSystem().note.create({ text: "old", version });
    const path = `/notes/${id}`;
    const tag = await tagOf(path);
    expect((await ask("PATCH", path, { body: { text: "new" }, match: '"1"' })).status).toBe(412);
    expect((await ask("PATCH", path, { body: { text: "new" }, match: tag })).json.version).toBe(version + 1);
    expect((await ask("PATCH", path, { body: { text: "newer" }, match: tag })).status).toBe(412);
  });

  it("report failures in one format", async () => {
    const { status, json } = await ask("PATCH", await make("/notes"), { body: { text: "two" }, match: '"8"' });
    expect(status).toBe(412);
    expect(json).toMatchObject({ code: "PRECONDITION_FAILED", message: "The record has changed since it was read" });
  });

  it("apply to an action's first change of its record; later changes are its own", async () => {
    const path = await make("/notes");
    const { status, json } = await ask("POST", `${path}/shout`, { match: '"1"' });
    expect([status, json.version, json.text]).toEqual([200, 3, "one!"]);
  });

  it("never match a record without versions, instead of being ignored", async () => {
    const path = await make("/plains");
    for (const method of ["PATCH", "DELETE"]) {
      const { status, json } = await ask(method, path, { body: { text: "two" }, match: '"1"' });
      expect([status, json.message]).toEqual([412, "Records of plain have no versions"]);
      expect((await ask(method, path, { body: { text: "two" }, none: "*" })).status).toBe(412);
    }
    expect((await ask("PATCH", path, { body: { text: "two" }, match: "*", none: '"1"' })).status).toBe(200);
    expect((await ask("PATCH", "/plains/none", { body: { text: "two" }, match: '"1"' })).status).toBe(404);
  });
});

describe("an entity that requires If-Match", () => {
  it("refuses changes without it with 428, after the rules", async () => {
    const path = await make("/pages", { text: "one" }, "ann");
    for (const [method, below] of [
      ["PATCH", ""],
      ["PUT", ""],
      ["DELETE", ""],
      ["DELETE", "/soft"],
      ["POST", "/touch"],
    ]) {
      const change = (as?: string, at = path) =>
        ask(method as string, at + below, {
          body: below === "" && method !== "DELETE" ? { text: "two" } : undefined,
          as,
        });
      const { status, json } = await change("ann");
      expect([method, below, status, json.code]).toEqual([method, below, 428, "PRECONDITION_REQUIRED"]);
      expect((await change()).status).toBe(401);
      expect((await change("bob")).status).toBe(403);
      expect((await change("ann", "/pages/none")).status).toBe(404);
    }
    expect((await ask("GET", path)).status).toBe(200);
    expect((await ask("PATCH", path, { body: { text: "two" }, as: "ann", match: '"1"' })).json.version).toBe(2);
    await api.as({ id: "ann" }).page.update(path.slice(7), { text: "in the process" });
  });

  it("accepts it for soft deletion and restoring too", async () => {
    const path = await make("/pages", { text: "one" }, "ann");
    expect((await ask("DELETE", `${path}/soft`, { as: "ann", match: '"2"' })).status).toBe(412);
    expect((await ask("DELETE", `${path}/soft`, { as: "ann", match: '"1"' })).status).toBe(200);
    expect((await ask("POST", `${path}/restore`, { as: "ann", match: '"1"' })).status).toBe(412);
    expect((await ask("POST", `${path}/restore`, { as: "ann", match: '"2"' })).status).toBe(200);
    expect(await versionOf("page", path)).toBe(3);
  });
});

describe("rules come before conditions", () => {
  it("for callers who may not change the record", async () => {
    const path = await make("/pages", { text: "one" }, "ann");
    for (const match of ['"1"', '"2"', "nonsense"]) {
      expect((await ask("PATCH", path, { body: { text: "two" }, match })).status).toBe(401);
      if (match !== "nonsense")
        expect((await ask("PATCH", path, { body: { text: "two" }, as: "bob", match })).status).toBe(403);
    }
  });

  it.each(["/letters", "/parcels"])("and reveal nothing of %s to callers who may not read them", async (collection) => {
    const path = await make(collection);
    const as = "bob";
    const answers = [];
    for (const match of ['"1"', '"2"', "*"]) {
      const { status, headers } = await ask("PATCH", path, { body: { text: "two" }, as, match });
      answers.push([status, headers.get("etag")]);
      if (collection === "/letters") answers.push([(await ask("POST", `${path}/stamp`, { as, match })).status, null]);
    }
    expect(new Set(answers.map(String))).toEqual(new Set(["412,"]));
    const { status, headers, json } = await ask("PATCH", path, { body: { text: "two" }, as });
    expect([status, headers.get("etag"), Object.keys(json)]).toEqual([200, null, ["id"]]);
    const reader = collection === "/letters" ? "root" : "ann";
    expect((await ask("PATCH", path, { body: { text: "two" }, as: reader, match: '"2"' })).status).toBe(200);
  });
});

describe("versions that a plugin hides", () => {
  it("are in no ETag, and cannot be found out with conditions", async () => {
    const discreet = createPlugin({
      id: "discreet",
      version: "1.0.0",
      setup({ hooks }) {
        const without = (names: ReadonlySet<string>) => new Set([...names].filter((name) => name !== "version"));
        hooks.on("access:mask", (draft) => {
          const { readable, filterable, sortable } = draft.mask;
          const narrowed = {
            readable: without(readable),
            filterable: without(filterable),
            sortable: without(sortable),
          };
          draft.mask = { ...draft.mask, ...narrowed };
        });
      },
    });
    const memo = entity("memo", { text: string })
      .versioned()
      .rules(EVERYBODY)
      .actions({ peek: { method: "GET", path: "/:id/peek", handler: () => ({}) } });
    const other = keelson({ entities: [memo], driver: memoryDriver(), logger: noopLogger, plugins: [discreet] });
    const app = await startApp(other);
    const { json, headers } = await request(app.url, "POST", "/api/memos", { body: { text: "one" } });
    expect([Object.hasOwn(json, "version"), headers.get("etag")]).toEqual([false, null]);
    const path = `/api/memos/${json.id}`;
    const selected = await request(app.url, "GET", `${path}?select=text`);
    expect([selected.status, selected.headers.get("etag")]).toEqual([200, null]);
    for (const [method, below] of [
      ["PATCH", ""],
      ["DELETE", ""],
      ["GET", "/peek"],
    ] as const) {
      const statuses = ['"1"', '"2"'].map(async (match) => {
        const body = method === "PATCH" ? { text: "two" } : undefined;
        return (await request(app.url, method, path + below, { body, headers: { "if-match": match } })).status;
      });
      expect([method, await Promise.all(statuses)]).toEqual([method, [412, 412]]);
    }
    await app.close();
  });
});

describe("a write with a version condition", () => {
  it("is one statement, like any other", async () => {
    const driver = recordStatements(memoryDriver());
    const other = keelson({ entities: [user, note, remark, label], driver, logger: noopLogger });
    await other.ready;
    const { id } = await other.asSystem().note.create({ text: "one" });
    const patch = (headers: Record<string, string>) =>
      other.fetch(
        new Request(`http://host.invalid/api/notes/${id}`, {
          method: "PATCH",
          headers: { "content-type": "application/json", ...headers },
          body: '{"text":"two"}',
        }),
      );
    for (const headers of [{}, { "if-match": '"2"' }]) {
      driver.statements.length = 0;
      expect((await patch(headers as Record<string, string>)).status).toBe(200);
      expect(driver.statements).toEqual(["update note"]);
    }
    await other.close();
  });
});

describe("ifVersion of in-process calls", () => {
  it("is part of the statement", async () => {
    const { note: notes } = api.as({ id: "ann" });
    const { id, version } = await notes.create({ text: "one" });
    expect((await notes.update(id, { text: "two" }, { ifVersion: version })).version).toBe(2);
    await expect(notes.update(id, { text: "three" }, { ifVersion: version })).rejects.toMatchObject({ status: 412 });
    await expect(notes.delete(id, { ifVersion: version })).rejects.toMatchObject({ code: "PRECONDITION_FAILED" });
    await api.asSystem().note.delete(id, { ifVersion: 2 });
    await expect(notes.update(id, { text: "x" }, { ifVersion: 2 })).rejects.toMatchObject({ status: 404 });
    await expect(notes.update(id, { text: "x" }, { ifVersion: Number.NaN })).rejects.toMatchObject({ status: 400 });
    await expect(api.asSystem().plain.delete("x", { ifVersion: 1 })).rejects.toMatchObject({ status: 400 });
  });
});

describe("documentation", () => {
  it("lists the conditions, the ETag and their errors for entities with versions", async () => {
    const { paths, components } = (await request(url, "GET", "/openapi.json", { token: "ann" })).json;
    const pages = paths["/api/pages/{id}"];
    const resolve = (one: { $ref?: string }) =>
      one.$ref === undefined ? one : components.parameters[one.$ref.split("/").at(-1) as string];
    const names = (operation: { parameters?: object[] }) =>
      [...(pages.parameters ?? []), ...(operation.parameters ?? [])].map(
        (one) => (resolve(one) as { name: string }).name,
      );
    expect(names(pages.get)).toEqual(expect.arrayContaining(["If-Match", "If-None-Match"]));
    expect(Object.keys(pages.get.responses)).toEqual(expect.arrayContaining(["304", "412"]));
    expect(pages.get.responses["200"].headers).toHaveProperty("ETag");
    expect(names(pages.patch)).toContain("If-Match");
    expect(Object.keys(pages.patch.responses)).toEqual(expect.arrayContaining(["412", "428"]));
    expect(components.schemas.Note.properties.version).toMatchObject({ readOnly: true });
    expect(components.schemas.NoteUpdate.properties).not.toHaveProperty("version");
  });
});
