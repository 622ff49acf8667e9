import { afterEach, describe, expect, it } from "vitest";
import { memoryDriver } from "../../../src/drivers/memory/index.ts";
import { bool, entity, int, string } from "../../../src/entity/index.ts";
import type { Decision, Driver, Operation, OperationInput, OperationScope, Where } from "../../../src/gate/index.ts";
import { type App, type AppOptions, createApp, createPlugin, type RouteInput } from "../../../src/gate/index.ts";
import { Reply } from "../../../src/kernel/index.ts";
import { recordingLogger } from "../../../src/testing/recording-logger.ts";
import { beforeStatements } from "../../support/before-statements.ts";
import { recordStatements } from "../../support/record-statements.ts";

// What surfaces other than plain CRUD need from the gate: other rules, values of their own, conditions on the record,
// decisions without an operation, and routes that can be called in the process. A plugin of the test decides.

const book = entity("book", {
  title: string.unique(),
  state: string.default("draft"),
  pages: int.default(1),
  stamp: string.readonly().optional(),
  price: int.writable("admin").default(0),
  gone: bool.default(false),
}).timestamps(false);
const plain = entity("plain", { name: string }).timestamps(false);
const rows = () => [
  { id: "b1", title: "One", state: "draft", pages: 10, stamp: null, price: 1, gone: false },
  { id: "b2", title: "Two", state: "public", pages: 20, stamp: null, price: 2, gone: false },
  { id: "b3", title: "Three", state: "draft", pages: 30, stamp: null, price: 3, gone: true },
];

type Decide = (operation: Operation) => void;
const allow: Decide = ({ decision }) => {
  decision.allowed = true;
};
const only =
  (where: Where): Decide =>
  ({ decision }) => {
    decision.allowed = true;
    decision.predicate = where;
  };
const guarded =
  (guard: NonNullable<Decision["guard"]>): Decide =>
  ({ decision }) => {
    decision.allowed = true;
    decision.guard = guard;
  };
let decide: Decide = allow;
let narrow: Decide = () => {};
let validate: Decide = () => {};
afterEach(() => {
  decide = allow;
  narrow = () => {};
  validate = () => {};
});

const decider = createPlugin({
  id: "decider",
  provides: ["rules", "field-rules", "validation"],
  hooks: {
    "operation:authorize": (operation) => decide(operation),
    "operation:validate": (operation) => validate(operation),
    // Only administrators set prices.
    "access:mask": (draft) => {
      if (draft.principal.isAdmin || draft.entity.name !== "book") return;
      draft.mask = { ...draft.mask, writable: new Set([...draft.mask.writable].filter((name) => name !== "price")) };
    },
  },
});
const narrower = createPlugin({
  id: "narrower",
  setup: ({ hooks }) =>
    hooks.on("operation:narrow", (operation) => narrow(operation), { appliesTo: ({ name }) => name === "book" }),
});

function boot(options: Partial<AppOptions> = {}): App {
  return createApp({
    entities: [book, plain],
    driver: options.driver ?? memoryDriver({ book: rows() }),
    plugins: [decider, narrower, ...(options.plugins ?? [])],
    logger: recordingLogger(),
    limits: options.limits,
  });
}

/** The result of some work in a scope, as a given caller. */
async function within<T>(
  work: (scope: OperationScope) => Promise<T>,
  { driver, user }: { driver?: Driver; user?: { id: string; role?: string } | null } = {},
): Promise<T> {
  let result: T | undefined;
  let failure: unknown;
  const worker = createPlugin({
    id: "worker",
    setup: ({ routes, entities }) =>
      routes.add({
        method: "POST",
        path: "/work",
        action: "work",
        entity: entities.get("book"),
        async handler({ scope }) {
          try {
            result = await work(scope);
          } catch (error) {
            failure = error;
          }
        },
      }),
  });
  const asked = user === undefined ? { id: "u1" } : user;
  const kernel = createApp({
    entities: [book, plain],
    driver: driver ?? memoryDriver({ book: rows() }),
    plugins: [decider, narrower, worker],
    getUser: () => asked,
    logger: recordingLogger(),
  });
  await kernel.handle({ method: "POST", url: "/api/work", headers: {} });
  await kernel.close();
  if (failure !== undefined) throw failure;
  return result as T;
}
const run = (input: Omit<OperationInput, "entity">, options?: Parameters<typeof within>[1]) =>
  within(async (scope) => {
    const operation = await scope.run({ entity: "book", ...input });
    return { operation, stored: await scope.driver.findMany("book") };
  }, options);
const stateOf = (stored: readonly Record<string, unknown>[], id: string) => stored.find((row) => row.id === id);

describe("an operation with other rules", () => {
  it("tells deciding hooks its access, and which rules apply", async () => {
    const seen: unknown[] = [];
    decide = (operation) => {
      seen.push([operation.kind, operation.access, operation.rules]);
      allow(operation);
    };
    await run({ kind: "read", id: "b1" });
    await run({ kind: "update", id: "b1", access: "delete", data: {} });
    await run({ kind: "list", access: "create", rules: ["some", "other"] });
    expect(seen).toEqual([
      ["read", "read", undefined],
      ["update", "delete", undefined],
      // Whether the caller may read the result.
      ["read", "read", undefined],
      ["list", "create", ["some", "other"]],
    ]);
  });

  it("names its access in the refusal", async () => {
    decide = () => {};
    await expect(run({ kind: "update", id: "b1", access: "delete" })).rejects.toMatchObject({
      status: 403,
      details: { access: "delete" },
    });
  });
});

describe("values that a surface stores itself", () => {
  it("are stored together with the caller's, also in readonly fields", async () => {
    const { operation, stored } = await run({ kind: "update", id: "b1", data: { pages: 11 }, set: { stamp: "s" } });
    expect(operation.applied).toBe(true);
    expect(operation.records[0]).toMatchObject({ pages: 11, stamp: "s" });
    expect(stateOf(stored, "b1")).toMatchObject({ pages: 11, stamp: "s" });
  });

  it("are stored on create too", async () => {
    const { operation } = await run({
      kind: "create",
      data: { title: "New", state: "draft", pages: 1, price: 0, gone: false },
      set: { stamp: "s" },
    });
    expect(operation.records[0]).toMatchObject({ title: "New", stamp: "s" });
  });

  it("are refused if rules deny the caller the field, and nothing is written", async () => {
    const driver = recordStatements(memoryDriver({ book: rows() }));
    await expect(run({ kind: "update", id: "b1", set: { price: 9 } }, { driver })).rejects.toMatchObject({
      status: 403,
    });
    expect(driver.statements.filter((statement) => statement.startsWith("update"))).toEqual([]);
    const { stored } = await run({ kind: "update", id: "b1", set: { price: 9 } }, { user: { id: "a", role: "admin" } });
    expect(stateOf(stored, "b1")).toMatchObject({ price: 9 });
  });

  it("are refused when a phase removes them for this record: 403, or 404 if hidden", async () => {
    validate = ({ data, ignored }) => {
      delete data.stamp;
      ignored.push("stamp");
    };
    const set = { stamp: "s" };
    await expect(run({ kind: "update", id: "b1", set })).rejects.toMatchObject({ status: 403 });
    await expect(run({ kind: "update", id: "b9", set })).rejects.toMatchObject({ status: 404 });
    decide = only({ state: "draft" });
    await expect(run({ kind: "update", id: "b2", set })).rejects.toMatchObject({ status: 403 });
    const { operation } = await run({ kind: "update", id: "b9", set, ifFound: true });
    expect([operation.applied, operation.records]).toEqual([false, []]);
  });
});

describe("a condition on the stored record", () => {
  const set = { state: "public" };

  it("is part of the statement: if it is not met, the record is unchanged", async () => {
    const met = await run({ kind: "update", id: "b1", set, when: { state: "draft" } });
    expect([met.operation.applied, met.operation.records.length]).toEqual([true, 1]);
    const unmet = await run({ kind: "update", id: "b2", set: { pages: 1 }, when: { state: "draft" } });
    expect([unmet.operation.applied, unmet.operation.records]).toEqual([false, []]);
    expect(stateOf(unmet.stored, "b2")).toMatchObject({ pages: 20 });
  });

  it("holds for deletions", async () => {
    const kept = await run({ kind: "delete", id: "b2", when: { state: "draft" } });
    expect([kept.operation.applied, kept.stored.length]).toEqual([false, 3]);
    const gone = await run({ kind: "delete", id: "b1", when: { state: "draft" } });
    expect([gone.operation.applied, gone.stored.length]).toEqual([true, 2]);
  });

  it("takes one statement when it is met", async () => {
    const driver = recordStatements(memoryDriver({ book: rows() }));
    await within((scope) => scope.run({ kind: "update", entity: "book", id: "b1", set, when: { state: "draft" } }), {
      driver,
    });
    expect(driver.statements).toEqual(["update book"]);
  });

  it("does not hide that the record is missing or another caller's", async () => {
    const when = { pages: 0 };
    await expect(run({ kind: "update", id: "b9", set, when })).rejects.toMatchObject({ status: 404 });
    decide = only({ state: "public" });
    await expect(run({ kind: "update", id: "b1", set: { pages: 1 }, when })).rejects.toMatchObject({ status: 403 });
    decide = guarded(({ state }) => state === "public");
    await expect(run({ kind: "update", id: "b1", set: { pages: 1 }, when })).rejects.toMatchObject({ status: 403 });
  });

  it("that is not met is distinguished from a record that changed during a rule", async () => {
    const inner = memoryDriver({ book: rows() });
    let meddle: (() => Promise<unknown>) | undefined;
    const driver = beforeStatements(inner, "update", async () => {
      const once = meddle;
      meddle = undefined;
      await once?.();
    });
    decide = guarded(({ pages }) => Number(pages) > 0);
    meddle = () => inner.update("book", { id: "b1" }, { pages: 5 });
    const again = await run({ kind: "update", id: "b1", set, when: { state: "draft" } }, { driver });
    expect([again.operation.applied, stateOf(again.stored, "b1")]).toMatchObject([true, { pages: 5, state: "public" }]);
    const unmet = await run({ kind: "update", id: "b1", set, when: { state: "draft" } });
    expect(unmet.operation.applied).toBe(true);
    const never = await run({ kind: "update", id: "b2", set: { pages: 1 }, when: { state: "draft" } });
    expect(never.operation.applied).toBe(false);
  });
});

describe("an operation on a record if it is found", () => {
  it.each<[string, OperationInput["kind"]]>([
    ["reads", "read"],
    ["updates", "update"],
    ["deletes", "delete"],
  ])("%s it, and is not an error when it is missing or not the caller's", async (_what, kind) => {
    const input = { kind, ifFound: true, ...(kind === "update" ? { data: { pages: 1 } } : {}) };
    for (const rule of [only({ state: "draft" }), guarded(({ state }) => state === "draft")]) {
      decide = rule;
      expect((await run({ ...input, id: "b1" })).operation.applied).toBe(true);
      for (const id of ["b2", "b9"]) {
        const { operation, stored } = await run({ ...input, id });
        expect([operation.applied, operation.records, stored.length]).toEqual([false, [], 3]);
      }
    }
    decide = () => {};
    await expect(run({ ...input, id: "b1" })).rejects.toMatchObject({ status: 403 });
  });

  it("leaves its transaction unchanged", async () => {
    decide = only({ state: "draft" });
    const stored = await within((scope) =>
      scope.transaction(async (inner) => {
        for (const id of ["b1", "b2", "b3"])
          await inner.run({ kind: "update", entity: "book", id, data: { pages: 0 }, ifFound: true });
        return inner.driver.findMany("book");
      }),
    );
    expect(stored.map(({ pages }) => pages)).toEqual([0, 20, 0]);
  });
});

describe("live records", () => {
  const there: Decide = (operation) => {
    if (operation.query.deleted === undefined) operation.require({ gone: false });
    else if (operation.query.deleted === "only") operation.require({ gone: true });
  };

  it("are the only ones in lists, counts, reads, updates and deletions", async () => {
    narrow = there;
    const kernel = boot();
    // biome-ignore lint/suspicious/noExplicitAny: the kernel's client is typed by keelson(), not by the kernel
    for (const books of [kernel.as({ id: "u1" }).book as any, kernel.asSystem().book as any]) {
      expect((await books.list()).data.map(({ id }: { id: string }) => id)).toEqual(["b1", "b2"]);
      expect((await books.list()).total).toBe(2);
      expect(await books.count()).toBe(2);
      for (const call of [books.get("b3"), books.update("b3", { pages: 1 }), books.delete("b3")])
        await expect(call).rejects.toMatchObject({ status: 404 });
    }
    expect(await kernel.driver.count("book")).toBe(3);
    await kernel.close();
  });

  it("are the only ones for rules with predicates and guards too", async () => {
    narrow = there;
    for (const rule of [only({ state: "draft" }), guarded(() => true), guarded(() => false)]) {
      decide = rule;
      for (const kind of ["read", "update", "delete"] as const)
        await expect(
          run({ kind, id: "b3", ...(kind === "update" ? { data: { pages: 1 } } : {}) }),
        ).rejects.toMatchObject({
          status: 404,
        });
    }
  });

  it("can be replaced by deleted ones in a query", async () => {
    narrow = there;
    const ids = async (deleted?: "with" | "only") =>
      (await run({ kind: "list", query: { deleted } })).operation.records.map(({ id }) => id);
    expect([await ids(), await ids("with"), await ids("only")]).toEqual([["b1", "b2"], ["b1", "b2", "b3"], ["b3"]]);
    const { operation } = await run({ kind: "update", id: "b3", query: { deleted: "with" }, set: { pages: 1 } });
    expect(operation.applied).toBe(true);
  });

  it("do not restrict what is created", async () => {
    const kinds: string[] = [];
    narrow = ({ kind }) => void kinds.push(kind);
    const data = { title: "New", state: "draft", pages: 1, price: 0, gone: true };
    expect((await run({ kind: "create", data })).operation.records).toHaveLength(1);
    await run({ kind: "count" });
    expect(kinds).toEqual(["read", "count"]); // the fields of its response are decided as for a read
  });
});

describe("a decision without an operation", () => {
  const ask = (input: Partial<OperationInput>, options?: Parameters<typeof within>[1]) =>
    within((scope) => scope.access.decide({ kind: "list", entity: "book", ...input }), options);

  it("follows the rules without a statement", async () => {
    const driver = recordStatements(memoryDriver({ book: rows() }));
    expect(await ask({}, { driver })).toMatchObject({ allowed: true, predicate: undefined, forSome: false });
    decide = only({ state: "draft" });
    expect(await ask({}, { driver })).toMatchObject({ predicate: { state: "draft" }, forSome: true });
    decide = guarded(() => true);
    expect(await ask({ kind: "read", id: "b1" }, { driver })).toMatchObject({ allowed: true, forSome: true });
    expect(driver.statements).toEqual([]);
  });

  it("is an error when they refuse: 401 for anonymous, 403 for others, 404 if hidden", async () => {
    decide = () => {};
    await expect(ask({}, { user: null })).rejects.toMatchObject({ status: 401 });
    await expect(ask({})).rejects.toMatchObject({ status: 403 });
    await expect(within((scope) => scope.access.decide({ kind: "list", entity: "nothing" }))).rejects.toMatchObject({
      status: 404,
    });
  });

  it("has a predicate for live records, separate from that of the rules", async () => {
    narrow = (operation) => {
      if (operation.query.deleted === undefined) operation.require({ gone: false });
    };
    expect(await ask({})).toMatchObject({ predicate: { gone: false }, forSome: false });
    expect(await ask({ query: { deleted: "with" } })).toMatchObject({ predicate: undefined, forSome: false });
    decide = only({ state: "draft" });
    expect((await ask({})).forSome).toBe(true);
  });
});

describe("a transaction with a wrapped driver", () => {
  it("runs the gate's own statements on the wrapper", async () => {
    const seen: string[] = [];
    const around = (inner: Driver): Driver => beforeStatements(inner, "update", ({ kind }) => seen.push(kind));
    await within((scope) =>
      scope.transaction(
        async (inner) => {
          await inner.run({ kind: "update", entity: "book", id: "b1", data: { pages: 1 } });
          // A joined transaction behaves the same.
          await inner.transaction((same) => same.run({ kind: "update", entity: "book", id: "b2", data: { pages: 1 } }));
        },
        { around },
      ),
    );
    expect(seen).toEqual(["update", "update"]);
  });
});

describe("routes of surfaces", () => {
  const withRoute = (route: Partial<RouteInput>, options: Partial<AppOptions> = {}): App =>
    boot({
      ...options,
      plugins: [
        createPlugin({
          id: "surface",
          setup: ({ routes, entities }) =>
            routes.add({
              method: "POST",
              path: "/books/greet",
              action: "greet",
              entity: entities.get("book"),
              handler: () => "over HTTP",
              ...route,
            }),
        }),
      ],
    });

  it("that are callable are methods of the entity's client, masked as usual", async () => {
    const kernel = withRoute({
      call: async (scope, ...args) => [args, await scope.driver.findOne("book", { id: "b1" })],
    });
    // biome-ignore lint/suspicious/noExplicitAny: the kernel's client is typed by keelson(), not by the kernel
    const client = kernel.as({ id: "u1" }) as any;
    expect(await client.book.greet("a", { b: 1 })).toMatchObject([["a", { b: 1 }], { title: "One" }]);
    expect("greet" in client.plain).toBe(false);
    await kernel.close();
  });

  it("that respond with a status return their body from the client", async () => {
    const kernel = withRoute({ call: () => new Reply(201, { made: true }) });
    // biome-ignore lint/suspicious/noExplicitAny: the kernel's client is typed by keelson(), not by the kernel
    expect(await (kernel.as({ id: "u1" }) as any).book.greet()).toEqual({ made: true });
    await kernel.close();
  });

  it("that are not callable are not methods", async () => {
    const kernel = withRoute({});
    // biome-ignore lint/suspicious/noExplicitAny: the kernel's client is typed by keelson(), not by the kernel
    expect((kernel.as({ id: "u1" }) as any).book.greet).toBeUndefined();
    await kernel.close();
  });

  it("list the rules of their operations in place of the entity's", async () => {
    const kernel = withRoute({ access: "update", obeys: ["some rule"] });
    expect(kernel.routes.find(({ action }) => action === "greet")?.rules).toEqual(["some rule"]);
    await kernel.close();
  });

  it("may have another time limit than the app's", async () => {
    const limits = { requestMs: 0, hookMs: 50 };
    const late = withRoute({ timeout: 1, handler: () => new Promise(() => {}) }, { limits: { hookMs: 50 } });
    expect((await late.handle({ method: "POST", url: "/api/books/greet", headers: {} })).status).toBe(503);
    await late.close();
    let release = (): void => {};
    const patient = withRoute(
      { timeout: 60_000, handler: () => new Promise<string>((resolve) => (release = () => resolve("done"))) },
      { limits },
    );
    await patient.ready;
    const answer = patient.handle({ method: "POST", url: "/api/books/greet", headers: {} });
    // Another request, whose time limit the same timer ends.
    const other = withRoute({ handler: () => new Promise(() => {}) }, { limits });
    expect((await other.handle({ method: "POST", url: "/api/books/greet", headers: {} })).status).toBe(503);
    release();
    expect((await answer).status).toBe(200);
    await patient.close();
    await other.close();
  });
});
