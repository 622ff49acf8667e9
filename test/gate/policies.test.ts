import { afterAll, beforeEach, describe, expect, it } from "vitest";
import {
  belongsTo,
  bulkDeleteAction,
  countAction,
  createPlugin,
  entity,
  exportAction,
  hasMany,
  importAction,
  KeelsonError,
  type Plugin,
  type Policy,
  string,
  type Where,
} from "../../src/index.ts";
import { createTestApp } from "../../src/testing/index.ts";
import { openPage } from "../support/page.ts";

const page = openPage("reference/hooks");
afterAll(page.remove);
const { tenancy } = await page.load<{ tenancy: Plugin }>("tenancy.ts");

const rules = { read: ["everyone"], create: ["everyone"], update: ["everyone"], delete: ["everyone"] } as const;
const project = entity("project", { name: string, tenantId: string.optional(), tasks: hasMany(() => task) })
  .rules(rules)
  .actions({ count: countAction, export: exportAction, bulkDelete: bulkDeleteAction, import: importAction });
const task = entity("task", { title: string, tenantId: string.optional(), project: belongsTo(() => project) }).rules(
  rules,
);

const start = async (...plugins: Plugin[]) => {
  const app = createTestApp({ entities: [project, task], plugins });
  const system = app.api.asSystem();
  for (const tenantId of ["a", "b"]) {
    await system.project.create({ id: tenantId, name: tenantId, tenantId });
    await system.task.create({ id: `${tenantId}1`, title: "one", tenantId, projectId: "a" });
  }
  return app;
};
const policy = (given: Policy, id = "acme/policy"): Plugin =>
  createPlugin({ id, setup: ({ records }) => records.policy(given) });
const ids = ({ body }: { readonly body: unknown }): unknown => (body as { readonly id: string }[]).map(({ id }) => id);

describe("a policy about records that there are", () => {
  let app: Awaited<ReturnType<typeof start>>;
  const ask = (method: string, path: string, body?: unknown) =>
    app.as({ id: "u", tenantId: "a" }).request(method, `/api/${path}`, body);
  beforeEach(async () => {
    app = await start(tenancy);
    return () => app.close();
  });

  it("holds on every surface", async () => {
    expect(ids(await ask("GET", "projects"))).toEqual(["a"]);
    expect((await ask("GET", "projects/b")).status).toBe(404);
    expect((await ask("GET", "projects/count")).body).toEqual({ count: 1 });
    expect((await ask("GET", "projects/export?format=json")).body).toHaveLength(1);
    expect((await ask("GET", "projects?include=tasks")).body).toMatchObject([{ tasks: [{ id: "a1" }] }]);
    expect((await ask("PATCH", "projects/b", { name: "mine" })).status).toBe(404);
    expect((await ask("DELETE", "projects/bulk", { ids: ["b"] })).body).toEqual({ count: 0 });
    expect((await ask("DELETE", "tasks/b1")).status).toBe(404);
    expect((await app.api.as({ id: "u", tenantId: "a" }).project.list()).data).toHaveLength(1);
    expect((await app.api.asSystem().project.list()).data).toHaveLength(2);
    expect((await app.as(null).request("GET", "/api/projects")).body).toEqual([]);
  });

  it("goes together with a hook that stamps new records and changes", async () => {
    expect((await ask("POST", "projects", { name: "new", tenantId: "b" })).body).toMatchObject({ tenantId: "a" });
    expect((await ask("PATCH", "projects/a", { tenantId: "b" })).body).toMatchObject({ tenantId: "a" });
    await ask("POST", "projects/import", [{ name: "imported", tenantId: "b" }]);
    expect(await app.api.driver.count("project", { tenantId: "b" })).toBe(1);
  });
});

describe("policies that decide", () => {
  const decide = (name: string, decision: Partial<Parameters<Policy["allows"] & object>[0]["decision"]>): Plugin =>
    policy({ name, allows: (question) => void Object.assign(question.decision, decision) }, `acme/${name}`);
  const listed = async (...plugins: Plugin[]): Promise<readonly unknown[]> => {
    const app = await start(...plugins);
    const answers: number[] = [];
    for (const id of ["a", "b"]) answers.push((await app.as({ id: "u" }).request("GET", `/api/projects/${id}`)).status);
    const list = await app.as({ id: "u" }).request("GET", "/api/projects");
    await app.close();
    return [answers, list.status === 200 ? ids(list) : list.status];
  };
  const onlyA = { allowed: true, predicate: { tenantId: "a" } };

  it("narrow what others allow, and widen nothing", async () => {
    expect(await listed()).toEqual([
      [200, 200],
      ["a", "b"],
    ]);
    expect(await listed(decide("first", onlyA))).toEqual([[200, 403], ["a"]]);
    expect(await listed(decide("none", { allowed: false }))).toEqual([[403, 403], 403]);
    expect(await listed(decide("first", onlyA), decide("all", { allowed: true }))).toEqual([[200, 403], ["a"]]);
    const other = { allowed: true, predicate: { tenantId: "b" } };
    expect(await listed(decide("first", onlyA), decide("other", other))).toEqual([[403, 403], []]);
  });

  const GUARDS: readonly (readonly [string, () => boolean | Where, readonly number[]])[] = [
    ["yes", () => true, [200, 403]],
    ["no", () => false, [403, 403]],
    ["a condition", () => ({ name: "b" }), [403, 403]],
  ];
  it.each(GUARDS)("combine with one that looks at the record and says %s", async (_, guard, statuses) => {
    const guarded = policy({
      name: "guarded",
      allows: ({ kind, decision }) =>
        void Object.assign(decision, { allowed: true, ...(kind === "read" && { guard }) }),
    });
    expect((await listed(guarded, decide("first", onlyA)))[0]).toEqual(statuses);
    expect((await listed(decide("first", onlyA), guarded))[0]).toEqual(statuses);
  });

  it("that never answer end in 503, and those that fail in 500", async () => {
    const failing = policy({ name: "failing", allows: () => Promise.reject(new Error("away")) });
    expect((await listed(failing))[0]).toEqual([500, 500]);
    const app = createTestApp({
      entities: [project, task],
      plugins: [policy({ name: "silent", allows: () => new Promise(() => {}) })],
      limits: { hookMs: 20 },
    });
    expect((await app.as(null).request("GET", "/api/projects")).status).toBe(503);
    await app.close();
  });
});

it("a policy without functions, or after setup, keeps an app from starting", async () => {
  expect(() => createTestApp({ entities: [project, task], plugins: [policy({ name: "empty" })] })).toThrow(
    "records.policy takes a name and at least one of `allows` and `visible`",
  );
  const late = createPlugin({
    id: "acme/late",
    start: ({ records }) => records.policy({ name: "late", visible() {} }),
  });
  const app = createTestApp({ entities: [project, task], plugins: [late] });
  await expect(app.api.ready).rejects.toThrow('called records.policy("late") after setup');
  await app.close();
});

it("a requirement has an error of its own", async () => {
  const locking = createPlugin({
    id: "acme/locking",
    setup: ({ hooks }) =>
      hooks.on(
        "operation:narrow",
        (operation) =>
          operation.require({ name: { ne: "locked" } }, () => new KeelsonError("LOCKED", 423, "It is locked")),
        { appliesTo: ({ name }, kind) => name === "project" && kind === "update" },
      ),
  });
  const app = await start(locking);
  await app.api.asSystem().project.create({ id: "l", name: "locked" });
  const patch = (id: string) => app.as(null).request("PATCH", `/api/projects/${id}`, { tenantId: "c" });
  expect((await patch("l")).body).toMatchObject({ status: 423, code: "LOCKED" });
  expect((await patch("a")).status).toBe(200);
  await app.close();
});
