import { afterEach, describe, expect, it } from "vitest";
import { memoryDriver } from "../../../src/drivers/memory/index.ts";
import { belongsTo, entity, hasMany, int, json, string } from "../../../src/entity/index.ts";
import {
  type App,
  type AppOptions,
  createApp,
  createPlugin,
  type Driver,
  type EntityRef,
  type Operation,
  type OperationInput,
  type OperationQuery,
  type OperationScope,
  type Where,
  withMiddleware,
} from "../../../src/gate/index.ts";
import { UnavailableError } from "../../../src/kernel/index.ts";
import { recordingLogger } from "../../../src/testing/recording-logger.ts";
import { beforeStatements } from "../../support/before-statements.ts";
import { recordStatements } from "../../support/record-statements.ts";

// The gate alone: a plugin of the test decides, so that each mechanism of the kernel can be tested separately.

const author = entity("author", { name: string, books: hasMany(() => book) });
const book = entity("book", {
  title: string.unique(),
  state: string.default("draft"),
  pages: int.default(1),
  extra: json.optional(),
  secret: string.omit().optional(),
  author: belongsTo(() => author).optional(),
});
const rows = [
  { id: "b1", title: "One", state: "draft", pages: 10, extra: null, secret: "s1", authorId: "ann" },
  { id: "b2", title: "Two", state: "public", pages: 20, extra: { a: 1 }, secret: "s2", authorId: null },
];

type Decide = (operation: Operation) => void;
let decide: Decide = allow;
function allow(operation: Operation): void {
  operation.decision.allowed = true;
}
afterEach(() => {
  decide = allow;
});

const decider = createPlugin({
  id: "decider",
  provides: ["omit", "rules", "validation"],
  hooks: { "operation:authorize": (operation) => decide(operation) },
});

function boot(options: Partial<AppOptions> = {}): App {
  return createApp({
    entities: [author, book],
    driver: options.driver ?? memoryDriver({ author: [{ id: "ann", name: "Ann" }], book: structuredClone(rows) }),
    plugins: [decider, ...(options.plugins ?? [])],
    logger: options.logger ?? recordingLogger(),
    production: options.production ?? false,
  });
}

/** The untyped client of the kernel, for books. */
// biome-ignore lint/suspicious/noExplicitAny: the kernel's client is typed by keelson(), not by the kernel
const booksOf = (kernel: App): any => kernel.as({ id: "u1" }).book;
const only =
  (where: Where): Decide =>
  (operation) => {
    allow(operation);
    operation.decision.predicate = where;
  };
const guarded =
  (guard: (record: Record<string, unknown>) => boolean | Promise<boolean>): Decide =>
  (operation) => {
    allow(operation);
    operation.decision.guard = guard;
  };

describe("a predicate", () => {
  it("narrows lists, counts, reads, updates and deletes in the statement itself", async () => {
    const kernel = boot();
    const books = booksOf(kernel);
    decide = only({ state: "public" });
    expect((await books.list()).data.map(({ id }: { id: string }) => id)).toEqual(["b2"]);
    expect(await books.count()).toBe(1);
    await expect(books.get("b1")).rejects.toMatchObject({ status: 403 });
    await expect(books.get("b9")).rejects.toMatchObject({ status: 404 });
    await expect(books.update("b1", { pages: 5 })).rejects.toMatchObject({ status: 403 });
    await expect(books.delete("b1")).rejects.toMatchObject({ status: 403 });
    expect(await books.update("b2", { pages: 5 })).toMatchObject({ pages: 5 });
    await books.delete("b2");
    expect(await kernel.driver.count("book")).toBe(1);
    await kernel.close();
  });

  it("must hold after an update too, or nothing is written", async () => {
    const kernel = boot();
    decide = only({ state: "draft" });
    await expect(booksOf(kernel).update("b1", { state: "public" })).rejects.toMatchObject({ status: 403 });
    expect(await kernel.driver.findOne("book", { id: "b1" })).toMatchObject({ state: "draft" });
    expect(await booksOf(kernel).update("b1", { state: "draft", pages: 3 })).toMatchObject({ pages: 3 });
    await expect(booksOf(kernel).update("b2", { state: "draft" })).rejects.toMatchObject({ status: 403 });
    await kernel.close();
  });

  it("must hold for a new record, related records included, or nothing is stored", async () => {
    const kernel = boot();
    decide = only({ author: { name: "Ann" } });
    await expect(booksOf(kernel).create({ title: "Three" })).rejects.toMatchObject({ status: 403 });
    expect(await kernel.driver.count("book")).toBe(2);
    await booksOf(kernel).create({ title: "Three", authorId: "ann" });
    expect(await kernel.driver.count("book")).toBe(3);
    await kernel.close();
  });

  it("is checked again after an update only if the changes could matter", async () => {
    const driver = recordStatements(
      memoryDriver({ author: [{ id: "ann", name: "Ann" }], book: structuredClone(rows) }),
    );
    const kernel = boot({ driver });
    const statements = async (where: Where, data: object): Promise<string[]> => {
      decide = (operation) => (operation.kind === "update" ? only(where)(operation) : allow(operation));
      driver.statements.length = 0;
      await booksOf(kernel).update("b1", data);
      return [...driver.statements];
    };
    const plain = ["update book"];
    const checked = ["find book", "update book", "find book"];
    expect(await statements({ state: "draft" }, { pages: 2 })).toEqual(plain);
    expect(await statements({ state: "draft" }, { state: "draft" })).toEqual(checked);
    expect(await statements({ OR: [{ state: "draft" }, { NOT: { pages: 7 } }] }, { title: "T" })).toEqual(plain);
    expect(await statements({ OR: [{ state: "draft" }, { NOT: { pages: 7 } }] }, { pages: 3 })).toEqual(checked);
    expect(await statements({ author: { name: "Ann" } }, { pages: 4 })).toEqual(plain);
    // The record of the new key is read before the write.
    const related = ["find book", "find author", "update book", "find book"];
    expect(await statements({ NOT: { author: null } }, { authorId: "ann" })).toEqual(related);
    await kernel.close();
  });

  it("may follow a relation that an update changes", async () => {
    const kernel = boot();
    decide = only({ author: { name: "Ann" } });
    await expect(booksOf(kernel).update("b1", { authorId: null })).rejects.toMatchObject({ status: 403 });
    expect(await kernel.driver.findOne("book", { id: "b1" })).toMatchObject({ authorId: "ann" });
    await kernel.close();
  });
});

describe("a guard", () => {
  it("decides with the record", async () => {
    const kernel = boot();
    const books = booksOf(kernel);
    decide = guarded(({ state }) => state === "draft");
    expect(await books.get("b1")).toMatchObject({ title: "One" });
    await expect(books.get("b2")).rejects.toMatchObject({ status: 403 });
    await expect(books.get("b9")).rejects.toMatchObject({ status: 404 });
    expect(await books.update("b1", { pages: 2 })).toMatchObject({ pages: 2 });
    await expect(books.update("b2", { pages: 2 })).rejects.toMatchObject({ status: 403 });
    await expect(books.update("b1", { state: "public" })).rejects.toMatchObject({ status: 403 });
    expect(await kernel.driver.findOne("book", { id: "b1" })).toMatchObject({ state: "draft" });
    await expect(books.create({ title: "X", state: "public" })).rejects.toMatchObject({ status: 403 });
    await expect(books.delete("b9")).rejects.toMatchObject({ status: 404 });
    await books.delete("b1");
    expect(await kernel.driver.count("book")).toBe(1);
    await kernel.close();
  });

  it("passes when a predicate of the same hook does", async () => {
    const kernel = boot();
    decide = (operation) => {
      guarded(() => false)(operation);
      operation.decision.predicate = { state: "public" };
    };
    expect(await booksOf(kernel).get("b2")).toMatchObject({ id: "b2" });
    expect(await booksOf(kernel).update("b2", { pages: 7 })).toMatchObject({ pages: 7 });
    await expect(booksOf(kernel).get("b1")).rejects.toMatchObject({ status: 403 });
    await kernel.close();
  });

  it("is never applied to a record that changed after the decision", async () => {
    const inner = memoryDriver({ author: [{ id: "ann", name: "Ann" }], book: structuredClone(rows) });
    let meddle: (() => Promise<unknown>) | undefined;
    const driver = beforeStatements(inner, "update", async () => {
      const once = meddle;
      meddle = undefined;
      await once?.();
    });
    const kernel = boot({ driver });
    decide = guarded(({ state }) => state === "draft");
    meddle = () => inner.update("book", { id: "b1" }, { state: "public" });
    await expect(booksOf(kernel).update("b1", { pages: 99 })).rejects.toMatchObject({ status: 403 });
    expect(await inner.findOne("book", { id: "b1" })).toMatchObject({ pages: 10, state: "public" });

    await inner.update("book", { id: "b1" }, { state: "draft" });
    meddle = () => inner.update("book", { id: "b1" }, { pages: 50 });
    expect(await booksOf(kernel).update("b1", { title: "New" })).toMatchObject({ title: "New", pages: 50 });
    await kernel.close();
  });

  it("ends in 409 if the record keeps changing", async () => {
    const inner = memoryDriver({ author: [{ id: "ann", name: "Ann" }], book: structuredClone(rows) });
    let turn = 0;
    const driver = beforeStatements(inner, "update", () =>
      inner.update("book", { id: "b2" }, { updatedAt: new Date(++turn) }),
    );
    const kernel = boot({ driver });
    decide = guarded((record) => "updatedAt" in record);
    await expect(booksOf(kernel).update("b2", { pages: 2 })).rejects.toMatchObject({ status: 409 });
    expect(turn).toBe(3);
    await kernel.close();
  });

  it("that reads all fields is checked again after the update", async () => {
    const kernel = boot();
    decide = guarded((record) => Object.values({ ...record }).includes("draft"));
    await expect(booksOf(kernel).update("b1", { state: "public" })).rejects.toMatchObject({ status: 403 });
    expect(await booksOf(kernel).update("b1", { pages: 3 })).toMatchObject({ pages: 3 });
    await kernel.close();
  });

  it("cannot change the record it reads", async () => {
    const kernel = boot();
    decide = guarded((record) => {
      expect(() => Object.assign(record, { pages: 1_000 })).toThrow(TypeError);
      expect(Reflect.defineProperty(record, "pages", { value: 1 })).toBe(false);
      expect(Reflect.deleteProperty(record, "pages")).toBe(false);
      return record.pages === 10;
    });
    expect(await booksOf(kernel).update("b1", { title: "Same" })).toMatchObject({ pages: 10 });
    await kernel.close();
  });
});

describe("a guard that reads JSON, which no condition can compare", () => {
  // Without timestamps, only the JSON itself shows that it has changed.
  const box = entity("box", { name: string, extra: json.optional() }).timestamps(false);
  // biome-ignore lint/suspicious/noExplicitAny: the kernel's client is typed by keelson(), not by the kernel
  type Boxes = any;

  /** One open box, which `between` changes once after the guard has decided. */
  function openBox(between: (driver: Driver) => Promise<unknown>) {
    const driver = memoryDriver({ box: [{ id: "x", name: "Old", extra: { open: true } }] });
    let isFirst = true;
    decide = guarded(async ({ extra }) => {
      const isOpen = (extra as { open: boolean }).open;
      if (isFirst) {
        isFirst = false;
        await between(driver);
      }
      return isOpen;
    });
    const kernel = createApp({ entities: [box], driver, plugins: [decider], logger: recordingLogger() });
    const boxes: Boxes = kernel.as({ id: "u1" }).box;
    return { kernel, boxes };
  }

  it.each<[string, (boxes: Boxes) => Promise<unknown>]>([
    ["an update", (boxes) => boxes.update("x", { name: "New" })],
    ["an update of the JSON itself", (boxes) => boxes.update("x", { extra: { open: true, n: 1 } })],
    ["a delete", (boxes) => boxes.delete("x")],
  ])("is never applied to a record whose JSON changed: %s", async (_kind, write) => {
    const { kernel, boxes } = openBox((driver) => driver.update("box", { id: "x" }, { extra: { open: false } }));
    await expect(write(boxes)).rejects.toMatchObject({ status: 403 });
    expect(await kernel.driver.findMany("box")).toEqual([{ id: "x", name: "Old", extra: { open: false } }]);
    await kernel.close();
  });

  it("ignores changes of columns that it did not read", async () => {
    const { kernel, boxes } = openBox((driver) => driver.update("box", { id: "x" }, { name: "Other" }));
    const extra = { open: true, n: 1 };
    expect(await boxes.update("x", { extra })).toEqual({ id: "x", name: "Other", extra });
    await kernel.close();
  });

  it("does not hide that the record is gone", async () => {
    const { kernel, boxes } = openBox((driver) => driver.delete("box", { id: "x" }));
    await expect(boxes.update("x", { name: "New" })).rejects.toMatchObject({ status: 404 });
    await kernel.close();
  });
});

describe("a phase's expectation of the stored record", () => {
  /** Books whose pages may not exceed their title's length, checked by a plugin; other writes happen in between. */
  function racing(meddle: (inner: Driver, turn: number) => Promise<unknown>, decision: Decide = allow) {
    const inner = memoryDriver({ author: [{ id: "ann", name: "Ann" }], book: structuredClone(rows) });
    let turn = 0;
    const driver = beforeStatements(inner, "update", () => meddle(inner, ++turn));
    const seen: unknown[] = [];
    const checker = createPlugin({
      id: "checker",
      hooks: {
        "operation:validate": async (operation) => {
          const row = await operation.scope.driver.findOne("book", { id: operation.id });
          if (row === null) return;
          seen.push(row.state, { ...operation.data });
          operation.data.title = `${operation.data.title}!`;
          operation.require({ state: row.state }, "changed");
        },
      },
    });
    const kernel = boot({ driver, plugins: [checker] });
    decide = decision;
    return { kernel, inner, seen };
  }

  it.each<[string, Decide]>([
    ["by itself", allow],
    ["beside a predicate", only({ pages: 10 })],
    ["beside a guard", guarded(({ pages }) => pages === 10)],
  ])("is part of the statement %s, and input is validated again when it fails", async (_how, decision) => {
    const { kernel, inner, seen } = racing(async (driver, turn) => {
      if (turn === 1) await driver.update("book", { id: "b1" }, { state: "public" });
    }, decision);
    const title = "Once";
    expect(await booksOf(kernel).update("b1", { title })).toMatchObject({ title: "Once!", state: "public" });
    expect(seen).toEqual(["draft", { title }, "public", { title }]);
    expect(await inner.findOne("book", { id: "b1" })).toMatchObject({ title: "Once!" });
    await kernel.close();
  });

  it("ends in 409 if the record keeps changing", async () => {
    const { kernel, inner, seen } = racing((driver, turn) =>
      driver.update("book", { id: "b1" }, { state: `s${turn}` }),
    );
    await expect(booksOf(kernel).update("b1", { title: "Never" })).rejects.toMatchObject({
      status: 409,
      code: "CONFLICT",
    });
    expect(seen).toHaveLength(6);
    expect(await inner.findOne("book", { id: "b1" })).toMatchObject({ title: "One" });
    await kernel.close();
  });

  it("does not hide that the caller could never change the record", async () => {
    const { kernel, seen } = racing(async () => {}, only({ state: "public" }));
    await expect(booksOf(kernel).update("b1", { title: "Not mine" })).rejects.toMatchObject({ status: 403 });
    expect(seen).toHaveLength(2);
    await kernel.close();
  });

  it("does not hide that the record is gone", async () => {
    const { kernel } = racing((driver) => driver.delete("book", { id: "b1" }));
    await expect(booksOf(kernel).update("b1", { title: "Gone" })).rejects.toMatchObject({ status: 404 });
    await kernel.close();
  });
});

describe("a write that requests related records", () => {
  /** An app that cannot add related records, and the number of transactions it began. */
  function failing(input: Partial<OperationInput>) {
    const inner = memoryDriver({ author: [{ id: "ann", name: "Ann" }], book: structuredClone(rows) });
    const begun = { transactions: 0 };
    const driver = withMiddleware(inner, (statement, next) => next(statement), {
      transaction(work, options) {
        begun.transactions++;
        return inner.transaction(({ execute }) => work(execute), options);
      },
    });
    const join = createPlugin({
      id: "join",
      hooks: {
        "operation:join": () => {
          throw new UnavailableError("The others do not answer");
        },
      },
    });
    const work = workRoute((scope) =>
      scope.run({ kind: "update", entity: "book", id: "b1", data: { title: "New" }, ...input }),
    );
    const kernel = boot({ driver, plugins: [join, work] });
    const write = async () => (await kernel.handle({ method: "POST", url: "/api/work", headers: {} })).status;
    return { kernel, begun, write };
  }
  const query = { include: { author: {} } };

  it.each<[string, Partial<OperationInput>]>([
    ["create", { kind: "create", query }],
    ["update", { query }],
  ])("returns them, or changes nothing: %s", async (_kind, input) => {
    const { kernel, begun, write } = failing(input);
    expect([await write(), begun.transactions]).toEqual([503, 1]);
    expect(await kernel.driver.count("book", { title: "New" })).toBe(0);
    await kernel.close();
  });

  it("is the only write that opens a transaction for that", async () => {
    const { kernel, begun, write } = failing({ query: { select: ["title"] } });
    expect([await write(), begun.transactions]).toEqual([503, 0]);
    await kernel.close();
  });
});

describe("queries", () => {
  it("reach only records that the caller may read, on every surface", async () => {
    const kernel = boot();
    const refusal = async (options: object): Promise<string> =>
      (
        (await booksOf(kernel)
          .list(options)
          .catch((error: unknown) => error)) as Error
      ).message;
    const unknown = (name: string): string => `book has no field "${name}".`;
    expect(await refusal({ where: { secret: "s1" } })).toBe(unknown("secret"));
    expect(await refusal({ where: { OR: [{ NOT: { secret: { starts: "s" } } }] } })).toBe(unknown("secret"));
    expect(await refusal({ sort: ["secret"] })).toBe(unknown("secret"));
    expect(await refusal({ select: ["secret"] })).toBe(unknown("secret"));
    expect(await refusal({ sort: ["extra"] })).toBe(unknown("extra"));
    expect(await refusal({ include: ["nothing"] })).toContain('book has no relation "nothing"');
    expect(await refusal({ include: ["author.books.author.books"] })).toContain("deeper than 3 levels");
    expect(await refusal({ include: ["__proto__"] })).toContain("no relation");
    await kernel.close();
  });

  it("through a relation see only the related records that the caller may read", async () => {
    const kernel = boot();
    await kernel.ready;
    const now = new Date();
    await kernel.driver.create("author", { id: "bob", name: "Bob", createdAt: now, updatedAt: now });
    await kernel.driver.update("book", { id: "b2" }, { authorId: "bob" });
    decide = (operation) => {
      allow(operation);
      if (operation.entity.name === "author") operation.decision.predicate = { name: "Ann" };
    };
    const ids = async (where: Where): Promise<string[]> =>
      (await booksOf(kernel).list({ where })).data.map(({ id }: { id: string }) => id);
    expect(await ids({ author: { name: { ne: "x" } } })).toEqual(["b1"]);
    expect(await ids({ author: { name: "Bob" } })).toEqual([]);
    expect(await ids({ author: null })).toEqual(["b2"]);
    expect(await ids({ NOT: { author: { name: "Ann" } } })).toEqual(["b2"]);
    expect(await ids({ NOT: [{ author: { name: "Ann" } }, { state: "draft" }] })).toEqual(["b2"]);
    decide = (operation) => {
      operation.decision.allowed = operation.entity.name === "book";
    };
    await expect(ids({ author: { name: "Ann" } })).rejects.toThrow('book has no field "author"');
    await kernel.close();
  });

  it("page by cursor, and refuse a cursor of another list", async () => {
    const kernel = boot();
    const page = (options: object) => booksOf(kernel).list({ sort: ["-pages"], limit: 1, ...options });
    const first = await page({});
    expect(first.data[0].id).toBe("b2");
    expect((await page({ after: first.nextCursor })).data[0].id).toBe("b1");
    const forged = Buffer.from('["-pages,id","x","y"]').toString("base64url");
    for (const after of [first.nextCursor.slice(2), "", "e30", forged])
      await expect(page({ after })).rejects.toThrow("cursor does not belong to this list");
    await expect(page({ sort: ["pages"], after: first.nextCursor })).rejects.toThrow("cursor does not belong");
    await kernel.close();
  });

  it.each([
    { limit: 0 },
    { limit: 1001 },
    { limit: 1.5 },
    { page: 0 },
    { page: 1e9 },
    { sort: ["a", "b", "c", "d", "e", "f"] },
  ])("refuse %j", async (options) => {
    const kernel = boot();
    await expect(booksOf(kernel).list(options)).rejects.toMatchObject({ status: 400 });
    await kernel.close();
  });

  it("return only the selected columns, even if others were read", async () => {
    const kernel = boot();
    const { data } = await booksOf(kernel).list({ select: ["title"], sort: ["pages"] });
    expect(data).toEqual([
      { id: "b1", title: "One" },
      { id: "b2", title: "Two" },
    ]);
    await kernel.close();
  });

  const many = (count: number, part: (i: number) => Where): Where => ({
    OR: Array.from({ length: count }, (_, i) => part(i)),
  });
  it.each<[string, OperationQuery]>([
    ["conditions", { where: many(33, (i) => ({ pages: i })) }],
    ["conditions that ask for null", { where: many(33, () => ({ extra: null })) }],
    ["empty conditions", { where: many(33, () => ({ title: { in: [] } })) }],
    ["conditions on related records", { where: { author: many(33, (i) => ({ name: `n${i}` })) } }],
    ["values of one in", { where: { NOT: { pages: Array.from({ length: 201 }, (_, i) => i) } } }],
    ["ids", { where: { id: Array.from({ length: 1001 }, (_, i) => `b${i}`) } }],
    [
      "sort keys",
      {
        sort: ["id", "title", "state", "pages", "createdAt", "updatedAt"].map((field) => ({ field, direction: "asc" })),
      },
    ],
    ["relations of one include", { include: Object.fromEntries(Array.from({ length: 11 }, (_, i) => [`r${i}`, {}])) }],
    ["levels of one include", { include: { author: { books: { author: { books: {} } } } } }],
  ])("respect the limit of %s on every surface, unless the caller has set one", async (_limit, query) => {
    let bounded = false;
    const work = workRoute((scope) => scope.run({ kind: "list", entity: "book", query, bounded }));
    const kernel = boot({ plugins: [work] });
    const post = () => kernel.handle({ method: "POST", url: "/api/work", headers: {} });
    const refused = await post();
    expect([refused.status, JSON.parse(refused.body as string).message]).toEqual([
      400,
      expect.stringMatching(/at most|deeper than/),
    ]);
    bounded = true;
    if (!Object.keys(query.include ?? {}).includes("r0")) expect((await post()).status).toBe(204);
    await kernel.close();
  });

  it("accept as many ids as a page may have records", async () => {
    const kernel = boot();
    const id = Array.from({ length: 1000 }, (_, i) => `b${i}`);
    expect((await booksOf(kernel).list({ where: { id } })).data).toHaveLength(2);
    await kernel.close();
  });

  it.each<[string, EntityRef]>([
    ["a builder", book],
    ["another build of it", book.build()],
    ["something that builds it", { build: () => book.build() }],
    ["its name", "book"],
  ])("find an entity by %s", async (_how, ref) => {
    let found: unknown;
    const work = workRoute(async (scope) => {
      found = [(await scope.run({ kind: "count", entity: ref })).total, (await scope.access.readDecision(ref)).allowed];
    });
    const kernel = boot({ plugins: [work] });
    expect((await kernel.handle({ method: "POST", url: "/api/work", headers: {} })).status).toBe(204);
    expect(found).toEqual([2, true]);
    await kernel.close();
  });

  it("name an entity or an id that is missing", async () => {
    const kernel = boot({ plugins: [workRoute((scope) => scope.run({ kind: "list", entity: "nothing" }))] });
    expect((await kernel.handle({ method: "POST", url: "/api/work", headers: {} })).status).toBe(404);
    const stranger = boot({
      plugins: [workRoute((scope) => scope.run({ kind: "list", entity: entity("nothing", {}) }))],
    });
    expect((await stranger.handle({ method: "POST", url: "/api/work", headers: {} })).status).toBe(404);
    await stranger.close();
    for (const id of ["", undefined, 5]) await expect(booksOf(kernel).get(id)).rejects.toThrow("An id is needed");
    await kernel.close();
  });
});

/** A route that runs some work in its scope. */
function workRoute(work: (scope: OperationScope) => Promise<unknown>) {
  return createPlugin({
    id: "route",
    setup({ routes, entities }) {
      const handler = async ({ scope }: { scope: OperationScope }) => void (await work(scope));
      routes.add({ method: "POST", path: "/work", action: "work", entity: entities.get("book"), handler });
    },
  });
}

describe("in-process clients", () => {
  it("are created lazily, and kept", async () => {
    const kernel = boot();
    const clients = kernel.as({ id: "u1" });
    expect(Object.keys(clients)).toEqual([]);
    const { book: books } = clients;
    expect(clients.book).toBe(books);
    expect(kernel.as({ id: "u1" }).book).not.toBe(books);
    expect(["book" in clients, "toString" in clients, clients.nothing]).toEqual([true, false, undefined]);
    const { count } = books as { count(): Promise<number> };
    expect(await count()).toBe(2);
    await kernel.close();
  });
});

describe("transactions of a scope", () => {
  it("commit or roll back operations together, and announce them after the commit", async () => {
    const seen: string[] = [];
    const hooks = { "operation:committed": ({ data }: Operation) => void seen.push(String(data.title)) };
    const watcher = createPlugin({ id: "watcher", hooks });
    let fail = true;
    const work = workRoute((scope) =>
      scope.transaction(async (inner) => {
        await inner.run({ kind: "create", entity: "book", data: { title: "A" } });
        await inner.transaction((same) => same.run({ kind: "create", entity: "book", data: { title: "B" } }));
        expect(seen).toEqual([]);
        if (fail) await inner.run({ kind: "create", entity: "book", data: { title: "A" } });
      }),
    );
    const kernel = boot({ plugins: [watcher, work] });
    const post = () => kernel.handle({ method: "POST", url: "/api/work", headers: {} });
    const refused = await post();
    expect(refused.status).toBe(409);
    expect(JSON.parse(refused.body as string).errors).toEqual({ title: "is already taken" });
    expect([await kernel.driver.count("book"), seen]).toEqual([2, []]);
    fail = false;
    expect((await post()).status).toBe(204);
    expect([await kernel.driver.count("book"), seen]).toEqual([4, ["A", "B"]]);
    await kernel.close();
  });

  it("are over before listeners run, whose scope is the outermost one", async () => {
    const seen: unknown[] = [];
    const watcher = createPlugin({
      id: "watcher",
      hooks: {
        "operation:committed": async ({ scope, kind }) => {
          if (kind !== "create") return;
          seen.push(await scope.driver.count("book"), (await scope.run({ kind: "count", entity: "book" })).total);
        },
      },
    });
    const work = workRoute((scope) =>
      scope.transaction((within) => within.run({ kind: "create", entity: "book", data: { title: "A" } })),
    );
    const kernel = boot({ plugins: [watcher, work] });
    expect((await kernel.handle({ method: "POST", url: "/api/work", headers: {} })).status).toBe(204);
    expect(seen).toEqual([3, 3]);
    await kernel.close();
  });

  it("stay committed when a listener fails, and log it", async () => {
    const logger = recordingLogger();
    const watcher = createPlugin({
      id: "watcher",
      hooks: {
        "operation:committed": () => {
          throw new TypeError("secret detail");
        },
      },
    });
    const kernel = boot({ plugins: [watcher], logger, production: true });
    await booksOf(kernel).create({ title: "Kept" });
    expect(await kernel.driver.count("book")).toBe(3);
    expect(logger.lines.join()).toContain("A hook failed after the commit");
    expect(logger.lines.join()).toContain('"error":"TypeError","stack":[');
    expect(logger.lines.join()).not.toContain("secret detail");
    await kernel.close();
  });
});
