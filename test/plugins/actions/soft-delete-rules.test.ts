import { afterEach, describe, expect, it } from "vitest";
import {
  action,
  bulkUpdateAction,
  createPlugin,
  datetime,
  defineRule,
  entity,
  int,
  noopLogger,
  type Plugin,
  restoreAction,
  softDeleteAction,
  string,
} from "../../../src/index.ts";
import type { RuleRef } from "../../../src/plugin.ts";
import { createTestApp } from "../../../src/testing/index.ts";
import { ADMIN, ANN, BOB, short } from "./soft-delete-library.ts";

const open: (() => Promise<void>)[] = [];

/** Notes n1 (live), n2 and n3 (deleted), with a restore action that has its own rules, or without one. */
async function notes(
  rules: readonly RuleRef[] | undefined,
  plugins: readonly Plugin[] = [],
  others: readonly RuleRef[] = [],
) {
  const definition = entity("note", { team: string, deletedAt: datetime.optional() })
    .softDelete()
    .rules({ read: ["everyone"], create: ["admin"], update: ["admin"], delete: ["authenticated"] })
    .actions({
      softDelete: softDeleteAction,
      ...(rules === undefined ? {} : { restore: restoreAction().rules(...rules) }),
      ...Object.fromEntries(
        others.map((rule, index) => [`other${index}`, restoreAction().path(`/:id/back${index}`).rules(rule)]),
      ),
      purge: action()
        .delete()
        .path("/:id/purge")
        .rules("admin")
        .onResource()
        .handler(() => ({})),
      forget: action("forget")
        .rules("admin")
        .handler(async ({ scope, entity: own, query }) => {
          const deleted = query.deleted as "with" | "only" | undefined;
          const { applied } = await scope.run({
            kind: "delete",
            entity: own,
            id: String(query.id),
            query: { deleted },
            ifFound: true,
          });
          return { applied };
        }),
    });
  const app = createTestApp({ entities: [definition], plugins, logger: noopLogger });
  open.push(() => app.close());
  await app.api.ready;
  const deletedAt = new Date();
  for (const row of [
    { id: "n1", team: "red" },
    { id: "n2", team: "red", deletedAt },
    { id: "n3", team: "blue", deletedAt },
  ])
    await app.api.asSystem().note.create(row);
  return app;
}

afterEach(async () => {
  for (const close of open.splice(0)) await close();
});

describe("deleted records are shown", () => {
  const ofTeam = defineRule("ofTeam", async ({ user }) => ({ team: String(user?.team) }));
  const seesIt = defineRule("seesIt", ({ record }) => record?.team === "red");

  it("by the rules of update without a restore action", async () => {
    const app = await notes(undefined);
    expect(short(await app.as(ANN).request("GET", "/api/notes?_deleted=with"))).toBe(403);
    expect(short(await app.as(ADMIN).request("GET", "/api/notes?_deleted=with"))).toEqual(["n1", "n2", "n3"]);
  });

  it("as far as a rule of the restore action allows, without hiding live ones", async () => {
    const app = await notes([ofTeam]);
    const ask = app.as({ id: "ann", team: "blue" });
    expect(short(await ask.request("GET", "/api/notes?_deleted=with"))).toEqual(["n1", "n3"]);
    expect(short(await ask.request("GET", "/api/notes?_deleted=only"))).toEqual(["n3"]);
    expect((await ask.request("GET", "/api/notes/n2?_deleted=with")).status).toBe(404);
    expect((await ask.request("GET", "/api/notes/n1?_deleted=with")).status).toBe(200);
    expect((await ask.request("GET", "/api/notes/n1?_deleted=only")).status).toBe(404);
  });

  it("as far as the rules of any of several restore actions allow", async () => {
    const blue = defineRule("blue", () => ({ team: "blue" }));
    const app = await notes(["admin"], [], [blue, seesIt]);
    const get = (caller: Parameters<typeof app.as>[0]) => app.as(caller).request("GET", "/api/notes?_deleted=only");
    expect(short(await get(ADMIN))).toEqual(["n2", "n3"]);
    expect(short(await get(ANN))).toEqual(["n3"]);
    const strict = await notes(["admin"], [], [seesIt]);
    expect(short(await strict.as(ANN).request("GET", "/api/notes?_deleted=only"))).toBe(403);
    const reversed = await notes([blue], [], ["admin"]);
    expect(short(await reversed.as(ADMIN).request("GET", "/api/notes?_deleted=only"))).toEqual(["n2", "n3"]);
    expect(short(await reversed.as(ANN).request("GET", "/api/notes?_deleted=with"))).toEqual(["n1", "n3"]);
  });

  it("to no caller if the rule would have to read each record", async () => {
    const app = await notes([seesIt]);
    for (const path of ["/api/notes?_deleted=only", "/api/notes/n2?_deleted=with"])
      expect((await app.as(ANN).request("GET", path)).status).toBe(403);
    expect((await app.as(ANN).request("POST", "/api/notes/n2/restore")).status).toBe(200);
  });

  it("to no caller if a plugin has to read each record", async () => {
    const guarding = createPlugin({
      id: "guarding",
      requires: ["rules"],
      hooks: {
        "operation:authorize": ({ access, decision }) => {
          if (access === "update") decision.guard = () => true;
        },
      },
    });
    const app = await notes(undefined, [guarding]);
    for (const deleted of ["only", "with"])
      expect((await app.as(ADMIN).request("GET", `/api/notes?_deleted=${deleted}`)).status).toBe(403);
  });
});

describe("a deleted record that the caller may not change", () => {
  const looks = defineRule("soft delete: looks", ({ record }) => record?.team === "blue");
  const narrows = defineRule("soft delete: narrows", () => ({ team: "blue" }));
  const both = defineRule("soft delete: both", ({ record }) => record !== null && { team: "blue" });

  it.each([looks, narrows, both])("responds like a missing one, however rules decide: $name", async (rule) => {
    const item = entity("item", { team: string, deletedAt: datetime.optional() })
      .softDelete()
      .rules({ read: ["authenticated"], update: [rule], delete: [rule] })
      .actions({ soft: softDeleteAction, restore: restoreAction });
    const app = createTestApp({ entities: [item], rules: [rule], logger: noopLogger });
    open.push(() => app.close());
    await app.api.ready;
    const deletedAt = new Date();
    for (const team of ["red", "blue"]) {
      await app.api.asSystem().item.create({ id: `${team}-gone`, team, deletedAt });
      await app.api.asSystem().item.create({ id: team, team });
    }
    const statuses = (user: typeof ANN | null, id: string) =>
      Promise.all(
        [`POST ${id}/restore`, `DELETE ${id}/soft`].map(async (call) => {
          const [method = "", path] = call.split(" ");
          return (await app.as(user).request(method, `/api/items/${path}`)).status;
        }),
      );
    expect(await statuses(ANN, "none")).toEqual([404, 404]);
    expect(await statuses(ANN, "red-gone")).toEqual([404, 404]);
    expect(await statuses(ANN, "red")).toEqual([403, 403]);
    expect(await statuses(ANN, "blue-gone")).toEqual([200, 200]);
    for (const id of ["none", "red-gone", "red"]) expect([id, await statuses(null, id)]).toEqual([id, [401, 401]]);
  });

  it("reveals no values through validators across fields", async () => {
    const span = entity("span", { from: int, to: int, deletedAt: datetime.optional() })
      .softDelete()
      .rules({ read: ["everyone"], create: ["everyone"], update: ["everyone"], delete: ["everyone"] })
      .validate(({ from = 0, to = 0 }) => from <= to, "must not end before it begins")
      .actions({ bulk: bulkUpdateAction });
    const app = createTestApp({ entities: [span], logger: noopLogger });
    open.push(() => app.close());
    await app.api.ready;
    await app.api.asSystem().span.create({ id: "gone", from: 1, to: 5, deletedAt: new Date() });
    await app.api.asSystem().span.create({ id: "there", from: 1, to: 5 });
    const told = async (id: string, from: number) => {
      const one = await app.as(ANN).request("PATCH", `/api/spans/${id}`, { from });
      const many = await app.as(ANN).request("PUT", "/api/spans/bulk", { ids: [id], data: { from } });
      return [one.status, many.status, (many.body as { count?: number }).count];
    };
    for (const from of [2, 100]) {
      const unknown = await told("none", from);
      expect([await told("gone", from), unknown[0]]).toEqual([unknown, 404]);
    }
    expect([await told("there", 2), (await told("there", 100))[0]]).toEqual([[200, 200, 1], 400]);
  });
});

describe("code", () => {
  it("deletes deleted records permanently if it asks for it, and only those", async () => {
    const app = await notes(undefined);
    const forget = async (search: string): Promise<unknown> =>
      (await app.as(ADMIN).request("POST", `/api/notes/forget?${search}`)).body;
    expect(await forget("id=n2")).toEqual({ applied: false });
    expect(await forget("id=n1&deleted=only")).toEqual({ applied: false });
    expect(await forget("id=n2&deleted=only")).toEqual({ applied: true });
    expect(await forget("id=n3&deleted=with")).toEqual({ applied: true });
    expect((await app.api.driver.findMany("note")).map(({ id }) => id)).toEqual(["n1"]);
  });

  it("of a record action does not run for a deleted record", async () => {
    const app = await notes(undefined);
    expect((await app.as(ADMIN).request("DELETE", "/api/notes/n2/purge")).status).toBe(404);
    expect((await app.as(BOB).request("DELETE", "/api/notes/n2/purge")).status).toBe(403);
    expect((await app.as(ADMIN).request("DELETE", "/api/notes/n1/purge")).status).toBe(200);
  });
});
