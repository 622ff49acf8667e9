import { describe, expect, it } from "vitest";
import { memoryDriver } from "../../../src/drivers/memory/index.ts";
import { belongsTo, entity, hasMany, isKeelsonError, string } from "../../../src/entity/index.ts";
import { createApp, createPlugin } from "../../../src/gate/index.ts";
import { noopLogger, type User } from "../../../src/kernel/index.ts";
import { bulkUpdateAction, cloneAction, importAction } from "../../../src/plugins/actions/index.ts";
import { rules } from "../../../src/plugins/rules/index.ts";
import { validation } from "../../../src/plugins/validation/index.ts";
import { createFakeKernel } from "../../../src/testing/fake-kernel.ts";
import { createTestApp } from "../../../src/testing/index.ts";
import { recordStatements } from "../../support/record-statements.ts";

const everybody = { create: ["everyone"], read: ["everyone"], update: ["everyone"], delete: ["everyone"] };
const account = entity("account", { name: string }).rules(everybody).build();
const note = entity("note", { text: string, author: belongsTo(() => account).optional() })
  .ownedBy("author")
  .rules(everybody)
  .build();
const seed = {
  account: ["ann", "bob", "root"].map((id) => ({ id, name: id })),
  note: [
    { id: "a1", text: "Ann's", authorId: "ann" },
    { id: "n1", text: "Nobody's", authorId: null },
  ],
};
const ann: User = { id: "ann" };
const root: User = { id: "root", role: "admin" };

// The response is the same for any order of the plugins, and without validation.
const lists = { "rules first": [rules, validation], "validation first": [validation, rules], "rules alone": [rules] };

describe.each(Object.entries(lists))("the owner's column (%s)", (_, plugins) => {
  const boot = async () => {
    const driver = recordStatements(memoryDriver(seed));
    const kernel = createFakeKernel().withEntities(account, note).withDriver(driver);
    for (const plugin of plugins) await kernel.use(plugin());
    const ask = async (caller: User | null, kind: "create" | "update", data: Record<string, unknown>, id?: string) => {
      try {
        const { records } = await kernel.as(caller).operation({ kind, entity: "note", data, id });
        return records[0]?.authorId;
      } catch (error) {
        if (isKeelsonError(error)) return error.status;
        throw error;
      }
    };
    return { ask, driver };
  };

  it("is the caller's id on create", async () => {
    const { ask, driver } = await boot();
    expect(await ask(ann, "create", { text: "x" })).toBe("ann");
    expect(await ask(ann, "create", { text: "x", authorId: "ann" })).toBe("ann");
    expect(await ask(root, "create", { text: "x" })).toBe("root");
    expect(driver.statements).toEqual(["insert note", "insert note", "insert note"]);
  });

  it("accepts another user's id on create from administrators only", async () => {
    const { ask } = await boot();
    for (const authorId of ["bob", "missing", null, 7])
      expect(await ask(ann, "create", { text: "x", authorId })).toBe(403);
    expect(await ask(root, "create", { text: "x", authorId: "bob" })).toBe("bob");
  });

  it("stays null on an anonymous create, which has no user", async () => {
    const { ask } = await boot();
    expect((await ask(null, "create", { text: "x" })) ?? null).toBeNull();
    expect((await ask(null, "create", { text: "x", authorId: null })) ?? null).toBeNull();
    expect(await ask(null, "create", { text: "x", authorId: "ann" })).toBe(401);
  });

  it("may be sent back unchanged on update", async () => {
    const { ask } = await boot();
    expect(await ask(ann, "update", { text: "x", authorId: "ann" }, "a1")).toBe("ann");
    expect(await ask(null, "update", { authorId: "ann" }, "a1")).toBe("ann");
    expect(await ask(null, "update", { authorId: null }, "n1")).toBeNull();
  });

  it("is changed by administrators only", async () => {
    const { ask } = await boot();
    expect(await ask(ann, "update", { authorId: "bob" }, "a1")).toBe(403);
    expect(await ask(ann, "update", { authorId: null }, "a1")).toBe(403);
    expect(await ask(ann, "update", { authorId: "ann" }, "n1")).toBe(403);
    expect(await ask(null, "update", { authorId: "bob" }, "a1")).toBe(401);
    expect(await ask(root, "update", { authorId: "bob" }, "a1")).toBe("bob");
  });

  it("accepts only an id, so that no condition can be injected", async () => {
    const { ask } = await boot();
    for (const authorId of [{ ne: "x" }, ["ann"], 7, true, { in: ["ann"] }])
      expect(await ask(ann, "update", { text: "x", authorId }, "a1")).toBe(400);
  });
});

describe("the owner's column and the system", () => {
  it("is written freely by the system", async () => {
    const kernel = createApp({
      entities: [account, note],
      driver: memoryDriver(seed),
      plugins: [rules(), validation()],
    });
    const { note: notes } = kernel.asSystem();
    await expect(notes?.create({ text: "x", authorId: "bob" } as never)).resolves.toMatchObject({ authorId: "bob" });
    await expect(notes?.create({ text: "x" } as never)).resolves.toMatchObject({ authorId: null });
    await expect(notes?.update("a1", { authorId: "bob" } as never)).resolves.toMatchObject({ authorId: "bob" });
    await kernel.close();
  });
});

it("reveals nothing of a record that a hook hides by its id from a bulk update", async () => {
  const open = { read: ["everyone"], update: ["everyone"] };
  const memo = entity("memo", { text: string, author: belongsTo(() => account).optional() })
    .ownedBy("author")
    .rules(open)
    .actions({ bulkUpdate: bulkUpdateAction });
  const hiding = createPlugin({
    id: "acme/hiding",
    setup: ({ hooks }) =>
      hooks.on(
        "operation:authorize",
        (operation) => {
          if (operation.id === "hidden") operation.decision.allowed = false;
        },
        { appliesTo: ({ name }, kind) => name === "memo" && kind === "read" },
      ),
  });
  const app = createTestApp({ entities: [account, memo], plugins: [hiding], logger: noopLogger });
  const system = app.api.asSystem();
  for (const id of ["ann", "bob"]) await system.account.create({ id, name: id });
  for (const id of ["hidden", "shown"]) await system.memo.create({ id, text: "t", authorId: "bob" });
  const count = async (ids: readonly string[], authorId: string): Promise<unknown> =>
    (await app.as(ann).request("PUT", "/api/memos/bulk", { ids, data: { text: "t", authorId } })).body;
  expect(await count(["hidden", "other"], "bob")).toEqual({ count: 0 });
  expect(await count(["hidden", "other"], "ann")).toEqual({ count: 0 });
  expect(await count(["hidden", "shown"], "bob")).toEqual({ count: 1 });
  await app.close();
});

describe("a record that is its own owner, with an id from its creator", () => {
  const person = entity("person", { name: string, profiles: hasMany(() => profile) })
    .id(string)
    .ownedBy("id")
    .rules(everybody)
    .actions({ clone: cloneAction, import: importAction({ upsertBy: "id" }) });
  const profile = entity("profile", { text: string, person: belongsTo(() => person) }).rules(everybody);

  async function requests(): Promise<
    (caller: User | null, method: string, path: string, body: unknown) => Promise<unknown>
  > {
    const app = createTestApp({ entities: [person, profile], logger: noopLogger });
    await app.api.asSystem().person.create({ id: "ann", name: "Ann" });
    return async (caller, method, path, body) => {
      const { status, body: said } = await app.as(caller).request(method, `/api${path}`, body);
      return status < 300 ? ((said as { id?: string }).id ?? said) : status;
    };
  }

  it("has the id of the caller", async () => {
    const ask = await requests();
    expect(await ask({ id: "bob" }, "POST", "/people", { id: "bob", name: "b" })).toBe("bob");
    expect(await ask({ id: "cid" }, "POST", "/people", { name: "c" })).toBe("cid");
  });

  it("has another id only if an administrator creates it", async () => {
    const ask = await requests();
    expect(await ask(root, "POST", "/people", { id: "bob", name: "b" })).toBe("bob");
    expect(await ask(ann, "POST", "/people", { id: "cid", name: "c" })).toBe(403);
    expect(await ask(null, "POST", "/people", { id: "cid", name: "c" })).toBe(401);
  });

  it.each([
    ["an upsert", "PUT", "/people?_on=id", { id: "cid", name: "c" }],
    ["a clone", "POST", "/people/ann/clone", { id: "cid" }],
    ["a nested write", "POST", "/profiles", { text: "t", person: { create: { id: "cid", name: "c" } } }],
    ["a batch", "POST", "/batch", [{ method: "POST", path: "/people", body: { id: "cid", name: "c" } }]],
  ])("gets no other id by %s", async (_, method, path, body) => {
    const ask = await requests();
    expect(await ask(ann, method, path, body)).toBe(403);
    expect(await ask(ann, "GET", "/people/cid", undefined)).toBe(404);
  });

  it("gets no other id by an import", async () => {
    const ask = await requests();
    expect(await ask(ann, "POST", "/people/import", [{ id: "cid", name: "c" }])).toMatchObject({ created: 0 });
  });

  it("keeps its id in an update", async () => {
    const ask = await requests();
    expect(await ask(ann, "PATCH", "/people/ann", { id: "ann", name: "A" })).toBe("ann");
    expect(await ask(ann, "PATCH", "/people/ann", { id: "cid", name: "A" })).toBe(400);
  });
});
