import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import {
  createPlugin,
  type Driver,
  entity,
  importAction,
  int,
  json,
  keelson,
  memoryDriver,
  noopLogger,
  string,
  text,
  type Where,
} from "../../../src/index.ts";
import type { KernelBody } from "../../../src/kernel/index.ts";

const note = entity("note", {
  title: string.min(2).unique(),
  count: int.default(0),
  body: text.optional(),
  extra: json.optional(),
  secret: string.omit().optional(),
  hidden: string.unique().optional().readonly().readable("admin"),
})
  .unique(["count", "title"])
  .rules({ read: ["everyone"], create: ["everyone"], update: ["everyone"] })
  .actions({
    import: importAction({ batch: 3 }),
    mine: importAction().rules("admin").path("/mine"),
    byHidden: importAction({ upsertBy: "hidden" }).path("/by-hidden"),
    byId: importAction({ upsertBy: "id" }).path("/by-id"),
  });

describe("an import", () => {
  /** Called by a hook with each new note. */
  let onCreate: (title: unknown, driver: Driver) => unknown = () => undefined;
  const watcher = createPlugin({
    id: "watcher",
    version: "1.0.0",
    hooks: {
      async "operation:execute"({ kind, entity: { name }, data, scope }) {
        const made = kind === "create" && name === "note" ? await onCreate(data.title, scope.driver) : undefined;
        if (typeof made === "string")
          await scope.driver.create("note", { ...data, id: made, title: made, hidden: null });
      },
    },
  });
  const api = keelson({
    entities: [note],
    driver: memoryDriver(),
    logger: noopLogger,
    plugins: [watcher],
    getUser: (request) => (request.headers.get("x-admin") === null ? null : { id: "adm", role: "admin" }),
  });
  beforeAll(() => api.ready);
  afterAll(() => api.close());

  async function send(body: KernelBody | undefined, type = "text/csv", path = "import", init: object = {}) {
    const headers = { "content-type": type };
    const answer = await api.handle({ method: "POST", url: `/api/notes/${path}`, headers, body, ...init });
    return { status: answer.status, json: JSON.parse(String(answer.body)) };
  }
  const stored = async (prefix: string) =>
    (await api.asSystem().note.list({ where: { title: { starts: prefix } }, sort: ["title"] })).data;

  it.each<[string, KernelBody, string]>([
    ["text", { kind: "text", text: "title\nAs text é" }, "As text é"],
    ["bytes", { kind: "bytes", bytes: new TextEncoder().encode("title\nAs bytes é") }, "As bytes é"],
    ["an array", { kind: "parsed", value: [{ title: "As array é" }, 5] }, "As array é"],
  ])("accepts a body that the host has parsed as %s", async (_, body, title) => {
    const type = body.kind === "parsed" ? "application/json" : "text/csv";
    expect((await send(body, type)).json.created).toBe(1);
    expect(await stored(title)).toHaveLength(1);
  });

  it("refuses a body that the host parsed as another type, and a missing body", async () => {
    expect((await send({ kind: "parsed", value: { title: "Xx" } }, "application/json")).status).toBe(400);
    expect((await send(undefined)).status).toBe(400);
    expect((await send(undefined, "")).status).toBe(415);
  });

  it.each([
    ["text/csv", 'title,count,body,extra\r\n"Cut ""é""\r\n💡",-1,"a,b","{""a"":[""]""]}"\r\nCut 2,2,,\r\n'],
    [
      "application/json",
      '[{"title":"Cut \\"é\\"\\r\\n💡","count":-1,"body":"a,b","extra":{"a":["]"]}},\n{"title":"Cut 2","count":2}]',
    ],
    [
      "application/jsonl",
      '{"title":"Cut \\"é\\"\\r\\n💡","count":-1,"body":"a,b","extra":{"a":["]"]}}\n{"title":"Cut 2","count":2}',
    ],
  ])("reads %s the same, however its bytes are split", async (type, body) => {
    async function* bytes() {
      for (const byte of new TextEncoder().encode(body)) yield Uint8Array.of(byte);
    }
    expect((await send({ kind: "stream", stream: bytes() }, type)).json).toEqual({
      created: 2,
      updated: 0,
      failed: [],
    });
    const records = await stored("Cut");
    expect(records.map(({ title, count, extra, body: text }) => [title, count, extra, text])).toEqual([
      ['Cut "é"\r\n💡', -1, { a: ["]"] }, "a,b"],
      ["Cut 2", 2, null, null],
    ]);
    for (const { id } of records) await api.asSystem().note.update(id, { title: `${type} ${id}` });
  });

  it("reports a truncated body as broken, and keeps the rows before", async () => {
    async function* broken() {
      yield new TextEncoder().encode([1, 2, 3, 4].map((row) => `{"title":"Off ${row}"}\n`).join(""));
      yield Uint8Array.of(0xc3);
    }
    const { status, json } = await send({ kind: "stream", stream: broken() }, "application/jsonl");
    expect([status, json.message, json.details.created]).toEqual([400, "Row 5 is not valid UTF-8", 4]);
    expect(await stored("Off")).toHaveLength(4);
  });

  it("stops after the current batch when the client disconnects", async () => {
    const gone = new AbortController();
    onCreate = (title) => (title === "Gone 2" ? gone.abort() : undefined);
    const body = "title\nGone 1\nGone 2\nGone 3\nGone 4\n";
    expect((await send({ kind: "text", text: body }, "text/csv", "import", { signal: gone.signal })).status).toBe(503);
    expect(await stored("Gone")).toHaveLength(3);
  });

  it("ends at an error that no row caused, and keeps the batches before", async () => {
    onCreate = (title) => {
      if (title === "Fault 5") throw new RangeError("a mistake in a hook");
    };
    const body = "title\nFault 1\nFault 2\nFault 3\nFault 4\nFault 5\nFault 6\n";
    expect((await send({ kind: "text", text: body })).status).toBe(500);
    expect(await stored("Fault")).toHaveLength(3);
  });

  it("stores and validates changes by hooks to values of the same kind", async () => {
    onCreate = (title) => (String(title).startsWith("Hook") ? `By ${title}` : undefined);
    const body = "title\nHook 1\nHook 2\nBy Hook 1\nHook 3";
    const { json } = await send({ kind: "text", text: body });
    expect(json).toEqual({ created: 3, updated: 0, failed: [{ row: 3, errors: { title: "is already taken" } }] });
    expect((await stored("By Hook")).map(({ title }) => title)).toEqual(["By Hook 1", "By Hook 2", "By Hook 3"]);
  });

  it("shows hooks the records of earlier rows, in any query to the driver", async () => {
    const sees: Record<string, (driver: Driver, where: Where) => Promise<unknown>> = {
      findOne: async (driver, where) => Number((await driver.findOne(note, where)) !== null),
      findMany: async (driver, where) => (await driver.findMany(note, { where })).length,
      count: (driver, where) => driver.count(note, where),
      async stream(driver, where) {
        let count = 0;
        for await (const rows of driver.stream(note, { where })) count += rows.length;
        return count;
      },
      updateMany: (driver, where) => driver.updateMany(note, where, { body: "seen" }),
      async update(driver, where) {
        const { id } = (await driver.findOne(note, where)) ?? {};
        return Number((await driver.update(note, { id }, { body: "seen" })) !== null);
      },
      async delete(driver, where) {
        const { id } = (await driver.findOne(note, where)) ?? {};
        return Number(await driver.delete(note, { id }));
      },
      transaction: (driver, where) => driver.transaction((inner) => inner.deleteMany(note, where)),
    };
    for (const [name, ask] of Object.entries(sees)) {
      const seen: unknown[] = [];
      onCreate = async (title, driver) => {
        if (title === `${name} 2`) seen.push(await ask(driver, { title: `${name} 1` }));
        if (title === `${name} 2`) await driver.createMany(note, []);
      };
      const { json } = await send({ kind: "text", text: `title\n${name} 1\n${name} 2\n${name} 2\n` });
      expect([name, seen, json.created, json.failed.length]).toEqual([name, [1], 2, 1]);
    }
    onCreate = () => undefined;
  });

  it("obeys its own rules in place of the entity's", async () => {
    const body: KernelBody = { kind: "text", text: "title\nOwn rule" };
    expect((await send(body, "text/csv", "mine")).status).toBe(401);
    const headers = { "content-type": "text/csv", "x-admin": "1" };
    expect((await send(body, "text/csv", "mine", { headers })).json.created).toBe(1);
  });

  it("does not match records by fields that the caller can neither read nor write", async () => {
    const body: KernelBody = { kind: "text", text: "title,hidden\nBy hidden,x" };
    expect((await send(body, "text/csv", "by-hidden")).status).toBe(403);
    const headers = { "content-type": "text/csv", "x-admin": "1" };
    expect((await send(body, "text/csv", "by-hidden", { headers })).json.created).toBe(1);
  });

  it("finds records by id", async () => {
    const { id } = await api.asSystem().note.create({ title: "Id 1" });
    const body: KernelBody = { kind: "text", text: `id,title\n${id},Id 1b\nnone,Id 2\n` };
    expect((await send(body, "text/csv", "by-id")).json).toEqual({ created: 1, updated: 1, failed: [] });
    expect((await stored("Id ")).map(({ title }) => title)).toEqual(["Id 1b", "Id 2"]);
  });
});

describe("empty lines of a CSV file", () => {
  const word = entity("word", { text: string.optional(), size: int.optional() })
    .rules({ read: ["everyone"], create: ["everyone"] })
    .actions({ import: importAction });

  it("are skipped, also if the header has a single column", async () => {
    const api = keelson({ entities: [word], driver: memoryDriver(), logger: noopLogger });
    onTestFinished(() => api.close());
    const send = async (body: string) => {
      const headers = { "content-type": "text/csv" };
      const request = new Request("http://app.invalid/api/words/import", { method: "POST", headers, body });
      return (await api.fetch(request)).json();
    };
    expect(await send("\r\ntext,size\r\n\r\na,1\r\n\r\n\r\nb,2\r\n\r\n")).toMatchObject({ created: 2 });
    expect(await send('\ntext\na\n\n""\n\n')).toEqual({ created: 2, updated: 0, failed: [] });
    expect(await send('size\n\n1\n""\n')).toEqual({ created: 2, updated: 0, failed: [] });
    const { data } = await api.asSystem().word.list({ sort: ["text", "size"] });
    const bare = data.map(({ text, size }) => [text, size]);
    expect(bare).toEqual([
      [null, null],
      [null, 1],
      ["", null],
      ["a", null],
      ["a", 1],
      ["b", 2],
    ]);
  });
});

describe("an app with an import", () => {
  const problemOf = (options: object): string => {
    const shelf = entity("shelf", {
      name: string,
      code: string.unique(),
      pin: string.omit().unique(),
      secret: string.encrypted({ searchable: true }).unique(),
    })
      .unique(["name", "code"])
      .rules({ create: ["everyone"] })
      .actions({ import: importAction(options) });
    try {
      void keelson({
        entities: [shelf],
        driver: memoryDriver(),
        logger: noopLogger,
        encryption: { key: "k".repeat(32) },
      }).close();
    } catch (error) {
      return (error as Error).message;
    }
    return "";
  };

  it.each([
    [{ upsertBy: "cod" }, 'names "cod", which is not a field. Did you mean "code"?'],
    [{ upsertBy: "toString" }, 'names "toString", which is not a field'],
    [{ upsertBy: "name" }, '"name" is neither'],
    [{ upsertBy: ["name", "pin"] }, 'names "pin", which no caller may read'],
    [{ upsertBy: [] }, "needs a unique field"],
    [{ batch: 0 }, "batch must be a whole number, 1 or more"],
    [{ batch: 1.5 }, "batch must be a whole number, 1 or more"],
    [{ upsertby: "code" }, 'there is no option "upsertby". Did you mean "upsertBy"?'],
    [{ x: 1 }, 'there is no option "x"'],
  ])("does not start with %j", (options, message) => {
    expect(problemOf(options)).toContain(message);
  });
});
