import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { OperationInput } from "../../../src/gate/index.ts";
import {
  type ActionContext,
  action,
  datetime,
  defineRule,
  entity,
  keelson,
  memoryDriver,
  noopLogger,
  string,
} from "../../../src/index.ts";
import { idempotency } from "../../../src/plugins/idempotency/index.ts";

const RULES = ["teamOfHandlers"] as const;
const inTeam = defineRule("teamOfHandlers", ({ user }) => ({ team: user?.role }));
const member = defineRule("memberOfHandlers", ({ user }) => user?.role !== "none");
const asked = { kind: "list", entity: "plan", rules: RULES } as const;
const all = [{ field: "name", direction: "asc" }] as const;

type Scope = ActionContext["scope"];
const planIds = async (scope: Scope) => {
  const { records } = await scope.run({ ...asked, query: { sort: all, select: ["id"] } });
  return { ids: records.map(({ id }) => id) };
};
const countPlans = async (scope: Scope) => ({ n: (await scope.run({ ...asked, kind: "count" })).total });
const isThere = async (scope: Scope) => {
  const { records } = await scope.run({ kind: "read", entity: "plan", id: "p1", rules: RULES, ifFound: true });
  return { found: records.length };
};
const leave = async (scope: Scope) => {
  const { total } = await scope.run({ ...asked, kind: "count" });
  await scope.asSystem((system) =>
    system.run({ kind: "update", entity: "plan", id: "p1", data: { team: "elsewhere" } }),
  );
  return { total };
};

const plan = entity("plan", { name: string, team: string, state: string.default("open") }).rules({
  read: ["everyone"],
  update: ["everyone"],
  delete: ["everyone"],
});
const room = entity("room", { name: string, team: string, state: string.default("open") }).rules({
  read: [inTeam],
  update: [member],
  delete: [member],
});
/** What a handler tells of a write that does not change its record, beside the id of another record. */
const stateOf = async (scope: Scope, input: Omit<OperationInput, "entity" | "id">) => {
  const { records } = await scope.run({ kind: "read", entity: "room", id: "r2", query: { select: ["id"] } });
  try {
    const { applied } = await scope.run({ ...input, entity: "room", id: "r1" });
    return { state: applied ? "done" : "other", beside: records[0]?.id };
  } catch (error) {
    return { state: (error as { readonly code: string }).code, beside: records[0]?.id };
  }
};
/** The teams whose halls may be read; a rule asks for them. */
const open = new Set<string>();
const isOpen = defineRule("openForHandlers", async () => ({ team: { in: [...open] } }));
const hall = entity("hall", { team: string }).rules({ read: [isOpen] });
/** Only administrators may restore letters, so only they may read the deleted ones. */
const letter = entity("letter", { text: string, deletedAt: datetime.optional() })
  .softDelete()
  .rules({ read: ["everyone"], update: ["admin"], delete: ["admin"] });
const badge = entity("badge", { team: string, code: string.readable(inTeam) }).rules({
  read: ["everyone"],
  update: ["everyone"],
});
const run = () => action().rules("authenticated");
const desk = entity("desk", { name: string })
  .rules({ read: ["authenticated"] })
  .actions({
    ids: run().handler(({ scope }) => planIds(scope)),
    howMany: run().handler(({ scope }) => countPlans(scope)),
    there: run().handler(({ scope }) => isThere(scope)),
    opens: run().handler(async ({ client }) => {
      await client(hall).count();
      open.add("blue");
      return { n: await client(hall).count() };
    }),
    gone: run().handler(({ client }) => client(letter).aggregate({ group: ["text"], deleted: "only" })),
    goneIds: run().handler(async ({ scope }) => {
      const query = { select: ["id"], deleted: "only" } as const;
      return (await scope.run({ kind: "list", entity: "letter", query })).records.length;
    }),
    badges: run().handler(async ({ scope }) => {
      const query = { where: { code: "1234" } };
      return { n: (await scope.run({ kind: "count", entity: "badge", access: "update", query })).total };
    }),
    forbidden: run().handler(async ({ scope }) => {
      try {
        return { n: (await scope.run({ kind: "count", entity: "desk", access: "update" })).total };
      } catch (error) {
        return { code: (error as { readonly code: string }).code };
      }
    }),
    leave: run().handler(({ scope }) => leave(scope)),
    unmet: run().handler(({ scope }) =>
      stateOf(scope, { kind: "update", data: { name: "x" }, when: { state: "closed" } }),
    ),
    unmetDelete: run().handler(({ scope }) => stateOf(scope, { kind: "delete", when: { state: "closed" } })),
    refused: run().handler(({ scope }) => stateOf(scope, { kind: "update", data: { name: 7 } })),
  });

describe("a repeated response of a handler", () => {
  let role = "red";
  const driver = memoryDriver();
  const api = keelson({
    entities: [plan, room, hall, letter, badge, desk],
    driver,
    plugins: [idempotency()],
    logger: noopLogger,
    getUser: () => ({ id: "ann", role }),
  });
  beforeAll(() => api.ready);
  beforeEach(async () => {
    role = "red";
    for (const name of ["plan", "room"]) await driver.deleteMany(name, { id: { null: false } });
    const system = api.asSystem();
    await system.plan.create({ id: "p1", name: "alpha", team: "red" });
    await system.plan.create({ id: "p2", name: "beta", team: "blue" });
    await system.room.create({ id: "r1", name: "attic", team: "red" });
    await system.room.create({ id: "r2", name: "barn", team: "red" });
  });
  afterAll(() => api.close());

  async function send(path: string): Promise<[number, unknown]> {
    const headers = { "content-type": "application/json", "idempotency-key": path };
    const init = { method: "POST", headers, body: "{}" };
    const response = await api.fetch(new Request(`http://test.invalid/api/desks/${path}`, init));
    const body = (await response.json()) as Record<string, unknown>;
    return [response.status, response.ok ? body : body.code];
  }

  it.each([
    ["ids", { ids: ["p1"] }],
    ["howMany", { n: 1 }],
    ["there", { found: 1 }],
  ])("is refused when rules that the handler named find other records: %s", async (path, body) => {
    expect([await send(path), await send(path)]).toEqual([
      [200, body],
      [200, body],
    ]);
    role = "blue";
    expect((await send(path))[0]).toBe(403);
    role = "red";
    expect(await send(path)).toEqual([200, body]);
    await driver.update("plan", { id: "p1" }, { team: "blue" });
    expect((await send(path))[0]).toBe(403);
  });

  it("is refused when a record that it counted by rules of its own is lost meanwhile", async () => {
    expect([await send("leave"), (await send("leave"))[0]]).toEqual([[200, { total: 1 }], 403]);
  });

  it("is repeated while the caller has the rights that the request itself has given", async () => {
    await api.asSystem().hall.create({ team: "blue" });
    expect([await send("opens"), await send("opens")]).toEqual([
      [200, { n: 1 }],
      [200, { n: 1 }],
    ]);
    open.clear();
    expect((await send("opens"))[0]).toBe(403);
  });

  it.each([
    ["unmet", "other"],
    ["unmetDelete", "other"],
    ["refused", "VALIDATION_FAILED"],
  ])("is refused once a record that a write did not change cannot be read: %s", async (path, state) => {
    expect([await send(path), await send(path)]).toEqual([
      [200, { state, beside: "r2" }],
      [200, { state, beside: "r2" }],
    ]);
    await driver.update("room", { id: "r1" }, { team: "blue" });
    expect((await send(path))[0]).toBe(403);
  });

  it.each(["gone", "goneIds"])("is refused once the right to deleted records is lost: %s", async (path) => {
    const system = api.asSystem();
    await driver.deleteMany("letter", { id: { null: false } });
    await system.letter.create({ id: "l", text: "gone" });
    await system.letter.delete("l");
    role = "admin";
    expect([(await send(path))[0], (await send(path))[0]]).toEqual([200, 200]);
    role = "red";
    expect((await send(path))[0]).toBe(403);
  });

  it("is refused once a field that a count by other rules selects by is hidden", async () => {
    await api.asSystem().badge.create({ id: "b", team: "red", code: "1234" });
    expect([await send("badges"), await send("badges")]).toEqual([
      [200, { n: 1 }],
      [200, { n: 1 }],
    ]);
    await driver.update("badge", { id: "b" }, { team: "blue" });
    expect((await send("badges"))[0]).toBe(403);
  });

  it("is repeated if a count by other rules is refused and the handler goes on", async () => {
    expect([await send("forbidden"), await send("forbidden")]).toEqual([
      [200, { code: "FORBIDDEN" }],
      [200, { code: "FORBIDDEN" }],
    ]);
  });
});
