import { describe, expect, it } from "vitest";
import type { FieldMask, HookFunction, OperationScope } from "../../../src/gate/index.ts";
import {
  AuthorizationError,
  belongsTo,
  createPlugin,
  entity,
  hasMany,
  int,
  memoryDriver,
  noopLogger,
  string,
} from "../../../src/index.ts";
import { createTestApp } from "../../../src/testing/index.ts";
import { deferred } from "../../support/deferred.ts";

const thing = entity("thing", { name: string, secret: int }).rules({ read: ["everyone"] });

/** The mask without the secret. */
const closed = (mask: FieldMask): FieldMask => ({ ...mask, readable: new Set(["id", "name"]) });

/** An app whose masks a hook narrows, and an endpoint that runs a test's code. */
function appWith(narrow: HookFunction<"access:mask">, handler: (scope: OperationScope) => unknown) {
  return createTestApp({
    entities: [thing],
    driver: memoryDriver({ thing: [{ id: "t", name: "n", secret: 7 }] }),
    logger: noopLogger,
    plugins: [
      createPlugin({
        id: "narrowing",
        version: "1.0.0",
        hooks: { "access:mask": narrow },
        endpoints: {
          run: { path: "/run", method: "GET", rules: ["everyone"], handler: ({ scope }) => handler(scope) },
        },
      }),
    ],
  });
}

const READINGS: readonly (readonly [string, (scope: OperationScope) => Promise<unknown>])[] = [
  ["the driver", ({ driver }) => driver.findMany("thing")],
  ["an operation", async (scope) => (await scope.run({ kind: "list", entity: "thing" })).records],
];

describe("an async field mask", () => {
  it.each(READINGS)("is final when a response is written, however the records were read: %s", async (_, read) => {
    const opened = deferred<void>();
    const app = appWith(async (draft) => {
      const widest = draft.mask;
      draft.mask = closed(widest);
      await opened.promise;
      draft.mask = widest;
    }, read);
    const answer = app.as(null).request("GET", "/run");
    opened.resolve();
    expect((await answer).body).toMatchObject([{ name: "n", secret: 7 }]);
    expect((await app.as(null).request("GET", "/api/things")).body).toMatchObject([{ secret: 7 }]);
    await app.close();
  });

  it("may itself read records of its own entity", async () => {
    const app = appWith(
      async (draft) => {
        const widest = draft.mask;
        draft.mask = closed(widest);
        const [row] = await draft.scope.driver.findMany("thing");
        if (row?.name === "n") draft.mask = widest;
      },
      ({ driver }) => driver.findMany("thing"),
    );
    expect((await app.as(null).request("GET", "/run")).body).toMatchObject([{ secret: 7 }]);
    expect((await app.api.as({ id: "u" }).thing.list()).data).toMatchObject([{ secret: 7 }]);
    await app.close();
  });
});

describe("a field mask that fails", () => {
  const failures: readonly (readonly [string, HookFunction<"access:mask">])[] = [
    [
      "at once",
      () => {
        throw new AuthorizationError();
      },
    ],
    ["later", async () => Promise.reject(new AuthorizationError())],
  ];

  it.each(failures)("shows nothing in a repeated response: %s", async (_, narrow) => {
    const app = appWith(narrow, async (scope) => {
      await scope.run({ kind: "list", entity: "thing" }).catch(() => undefined);
      return { rows: await scope.driver.findMany("thing") };
    });
    const { status, body } = await app.as(null).request("GET", "/run");
    expect([status, JSON.stringify(body)]).toEqual([403, expect.not.stringContaining("secret")]);
    expect((await app.as(null).request("GET", "/api/things")).status).toBe(403);
    await expect(app.api.as({ id: "u" }).thing.list()).rejects.toMatchObject({ status: 403 });
    await app.close();
  });

  it.each(failures)("does not fail a response without records of its entity: %s", async (_, narrow) => {
    const app = appWith(narrow, async (scope) => {
      await scope.run({ kind: "list", entity: "thing" }).catch(() => undefined);
      return { fine: true };
    });
    expect(await app.as(null).request("GET", "/run")).toMatchObject({ status: 200, body: { fine: true } });
    await app.close();
  });
});

describe("a mask that hides the key of a relation", () => {
  const open = { read: ["everyone"], update: ["everyone"] };
  const project = entity("project", { name: string, tasks: hasMany(() => task) }).rules(open);
  const task = entity("task", { title: string, project: belongsTo(() => project) }).rules(open);
  const startWith = async (narrow: (mask: FieldMask) => FieldMask) => {
    const masking = createPlugin({
      id: "acme/mask",
      setup: ({ hooks }) =>
        hooks.on("access:mask", (draft) => void (draft.mask = narrow(draft.mask)), {
          appliesTo: ({ name }) => name === "task",
        }),
    });
    const app = createTestApp({ entities: [project, task], plugins: [masking], logger: noopLogger });
    const system = app.api.asSystem();
    for (const id of ["p", "q"]) {
      await system.project.create({ id, name: id });
      await system.task.create({ id, title: id === "p" ? "shown" : "hidden", projectId: id });
    }
    return { app, as: app.api.as({ id: "u" }) };
  };
  const without = (names: ReadonlySet<string>) => new Set([...names].filter((name) => name !== "projectId"));

  it("stops conditions of every surface from following the relation, from either side", async () => {
    const { app, as } = await startWith((mask) => ({
      ...mask,
      readable: without(mask.readable),
      filterable: without(mask.filterable),
    }));
    for (const path of ["tasks?project.name=p", "projects?tasks.title=shown"])
      expect((await app.as({ id: "u" }).request("GET", `/api/${path}`)).status).toBe(400);
    await expect(as.task.count({ project: { name: "p" } })).rejects.toThrow('no field "project"');
    await expect(as.project.count({ tasks: { title: "shown" } })).rejects.toThrow('no field "tasks"');
    await app.close();
  });

  it("for some records allows conditions to follow the relation of the others only", async () => {
    const shown = { predicate: { title: "shown" }, guard: undefined };
    const { app, as } = await startWith((mask) => ({ ...mask, readablePerRow: new Map([["projectId", shown]]) }));
    for (const [name, count] of [
      ["p", 1],
      ["q", 0],
    ] as const) {
      expect(await as.task.count({ project: { name } })).toBe(count);
      expect(await as.project.count({ name, tasks: {} })).toBe(count);
    }
    expect(await as.task.count({ project: null })).toBe(0);
    await app.close();
  });
});
