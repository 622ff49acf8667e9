import { afterAll, beforeEach, describe, expect, it } from "vitest";
import type { Decision } from "../../src/gate/index.ts";
import {
  type AnyEntity,
  action,
  belongsTo,
  bulkDeleteAction,
  countAction,
  createPlugin,
  type Driver,
  embedded,
  entity,
  exportAction,
  hasMany,
  importAction,
  KeelsonError,
  manyToMany,
  type Plugin,
  type Row,
  string,
  type User,
  type Where,
} from "../../src/index.ts";
import type { OperationKind, Policy } from "../../src/plugin.ts";
import { idempotency } from "../../src/plugins/idempotency/index.ts";
import { createTestApp } from "../../src/testing/index.ts";
import { freshSqliteFile } from "../support/databases.ts";
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

const start = async (...plugins: Plugin[]) => startOn(undefined, plugins);
const startOn = async (driver: Driver | undefined, plugins: readonly Plugin[]) => {
  const app = createTestApp({ entities: [project, task], plugins, ...(driver && { driver }) });
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

describe("a policy that limits records to live ones", () => {
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

  it("works together with stamps on new records", async () => {
    expect((await ask("POST", "projects", { name: "new", tenantId: "b" })).body).toMatchObject({ tenantId: "a" });
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

  it("narrow what other policies allow, and widen nothing", async () => {
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
  it.each(GUARDS)("combine with one that reads the record and says %s", async (_, guard, statuses) => {
    const guarded = policy({
      name: "guarded",
      allows: ({ kind, decision }) =>
        void Object.assign(decision, { allowed: true, ...(kind === "read" && { guard }) }),
    });
    expect((await listed(guarded, decide("first", onlyA)))[0]).toEqual(statuses);
    expect((await listed(decide("first", onlyA), guarded))[0]).toEqual(statuses);
  });

  it("end in 503 if they never settle, and in 500 if they fail", async () => {
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

describe("a policy", () => {
  const withPolicy = async (...policies: Policy[]) => {
    const app = await start(...policies.map((one, index) => policy(one, `acme/p${index}`)));
    const ask = async (method: string, path: string, body?: unknown) =>
      app.as({ id: "u" }).request(method, `/api/${path}`, body);
    return { app, ask };
  };
  const reads = ({ name }: AnyEntity, kind: OperationKind) =>
    name === "project" && (kind === "read" || kind === "list" || kind === "count");
  const guarded: Policy = {
    name: "guarded",
    allows: ({ decision }) => void Object.assign(decision, { allowed: true, guard: () => true }),
  };

  it("that reads each record allows no record of a list", async () => {
    const onlyA: Policy = {
      name: "a",
      allows: ({ decision }) => void Object.assign(decision, { allowed: true, predicate: { tenantId: "a" } }),
    };
    for (const policies of [[guarded], [guarded, onlyA], [onlyA, guarded]]) {
      const { app, ask } = await withPolicy(...policies);
      for (const path of ["projects", "projects/count", "projects/export"])
        expect([path, (await ask("GET", path)).status]).toEqual([path, 403]);
      expect((await ask("GET", "projects/a")).status).toBe(200);
      await app.close();
    }
    const both: Policy = {
      name: "both",
      allows: ({ decision }) =>
        void Object.assign(decision, { allowed: true, predicate: { tenantId: "b" }, guard: () => true }),
    };
    const { app, ask } = await withPolicy(both);
    expect(ids(await ask("GET", "projects"))).toEqual(["b"]);
    await app.close();
  });

  it.each<[string, (decision: Decision) => unknown]>([
    ["no decision", (decision) => Object.assign(decision, { allowed: "yes" })],
    ["an empty predicate", (decision) => Object.assign(decision, { allowed: true, predicate: {} })],
  ])("that makes %s ends in 500", async (_, decide) => {
    const { app, ask } = await withPolicy({ name: "mistaken", allows: ({ decision }) => void decide(decision) });
    expect((await ask("GET", "projects")).status).toBe(500);
    await app.close();
  });

  it.each<[string, Policy]>([
    ["`visible` that returns a condition", { name: "mistaken", visible: (() => ({ tenantId: "a" })) as never }],
    ["`visible` that promises one", { name: "mistaken", visible: (async () => ({ tenantId: "a" })) as never }],
    ["`allows` that returns its decision", { name: "mistaken", allows: (() => ({ allowed: true })) as never }],
    ["`allows` that promises it", { name: "mistaken", allows: (async () => false) as never }],
  ])("with %s ends in 500", async (_, given) => {
    const app = createTestApp({ entities: [project, task], plugins: [policy(given)] });
    expect((await app.as({ id: "u" }).request("GET", "/api/projects")).status).toBe(500);
    await app.close();
  });

  const requiring = (otherwise?: "missing" | "denied"): Policy => ({
    name: "requires",
    appliesTo: ({ name }, kind) => name === "project" && (kind === "create" || kind === "update"),
    allows(question) {
      question.decision.allowed = true;
      question.require({ tenantId: "a" }, otherwise);
    },
  });
  it.each([undefined, "missing", "denied"] as const)(
    "that requires something (%s) is checked on create",
    async (otherwise) => {
      const { app, ask } = await withPolicy(requiring(otherwise));
      expect((await ask("POST", "projects", { name: "n", tenantId: "b" })).status).toBe(403);
      expect((await ask("POST", "projects", { name: "n", tenantId: "a" })).status).toBe(201);
      await app.close();
    },
  );

  it.each<[string, Policy[]]>([
    ["alone", [requiring("denied")]],
    ["besides a guard", [requiring("denied"), guarded]],
  ])("with a requirement that denies, %s, is checked again after an update", async (_, policies) => {
    const { app, ask } = await withPolicy(...policies);
    const statuses: number[] = [];
    for (const [id, change] of [
      ["b", { name: "n" }],
      ["a", { tenantId: "b" }],
      ["a", { name: "n" }],
    ] as const)
      statuses.push((await ask("PATCH", `projects/${id}`, change)).status);
    expect(statuses).toEqual([403, 403, 200]);
    await app.close();
  });

  it("cannot require from a create what only a stored record has", async () => {
    for (const otherwise of ["leave", () => new KeelsonError("LOCKED", 423, "It is locked")] as const) {
      const { app, ask } = await withPolicy({
        name: "requires",
        allows(question) {
          question.decision.allowed = true;
          question.require({ tenantId: "a" }, otherwise);
        },
      });
      expect((await ask("POST", "projects", { name: "n", tenantId: "a" })).status).toBe(500);
      await app.close();
    }
  });

  it("that now hides a record prevents its response from being repeated", async () => {
    const byTenant = policy({
      name: "tenant",
      visible(question) {
        const { kind, user } = question.principal;
        if (kind !== "system" && user?.role !== "support") question.require({ tenantId: user?.tenantId ?? "" });
      },
    });
    const app = await start(byTenant, idempotency());
    const write = (user: User, key: string, method: string, path: string) =>
      app.as(user).request(method, `/api/${path}`, { name: "new" }, { "idempotency-key": key });
    for (const [method, path] of [
      ["PATCH", "projects/b"],
      ["POST", "projects"],
    ] as const) {
      const first = await write({ id: "u", role: "support" }, method, method, path);
      expect(first.body).toMatchObject({ name: "new" });
      expect(await write({ id: "u", role: "support" }, method, method, path)).toMatchObject({ status: first.status });
      expect((await write({ id: "u", role: "person", tenantId: "a" }, method, method, path)).status).toBe(403);
    }
    await app.close();
  });

  it("about updates also decides about actions that use the update rules", async () => {
    const publish = action()
      .onResource()
      .handler(() => ({ done: true }));
    const page = entity("page", { title: string }).rules(rules).actions({ publish });
    const frozen = policy({
      name: "frozen",
      appliesTo: (_, kind) => kind === "update",
      allows: ({ decision, principal }) => void (decision.allowed = principal.isAdmin),
    });
    const app = createTestApp({ entities: [page], plugins: [frozen] });
    await app.api.asSystem().page.create({ id: "p", title: "p" });
    for (const [role, status] of [
      ["person", 403],
      ["admin", 200],
    ] as const) {
      const ask = (method: string, path: string, body?: unknown) =>
        app.as({ id: "u", role }).request(method, `/api/${path}`, body);
      expect((await ask("PATCH", "pages/p", { title: "q" })).status).toBe(status);
      expect((await ask("POST", "pages/p/publish", {})).status).toBe(status);
      expect((await ask("GET", "pages/p")).status).toBe(200);
    }
    await app.close();
  });

  it("about reads applies to the response of a write", async () => {
    const { app, ask } = await withPolicy({
      name: "reads",
      appliesTo: reads,
      visible: (question) => question.require({ tenantId: "a" }),
    });
    expect((await ask("GET", "projects/b")).status).toBe(404);
    expect((await ask("PATCH", "projects/b", {})).body).toEqual({ id: "b" });
    expect((await ask("PATCH", "projects/a", {})).body).toMatchObject({ name: "a" });
    await app.close();
  });

  it.each<[string, Policy]>([
    [
      "is denied",
      { name: "denied", appliesTo: reads, visible: (question) => question.require({ tenantId: "a" }, "denied") },
    ],
    [
      "a deciding policy requires",
      {
        name: "requires",
        appliesTo: reads,
        allows(question) {
          question.decision.allowed = true;
          question.require({ tenantId: "a" });
        },
      },
    ],
  ])("limits conditions on related records to those it %s", async (_, given) => {
    const { file, remove } = await freshSqliteFile();
    // It joins what a list includes.
    const app = await startOn(embedded({ file }), [policy(given)]);
    const ask = (method: string, path: string) => app.as({ id: "u" }).request(method, `/api/${path}`);
    await app.api.asSystem().task.create({ id: "secret", title: "two", projectId: "b" });
    expect(ids(await ask("GET", "projects"))).toEqual(["a"]);
    expect(ids(await ask("GET", "tasks?project.name=b"))).toEqual([]);
    expect(ids(await ask("GET", "tasks?project.name=a&_sort=id"))).toEqual(["a1", "b1"]);
    const [one] = (await ask("GET", "tasks?id=secret&include=project")).body as Row[];
    expect(one).toMatchObject({ id: "secret", project: null });
    await app.close();
    await remove();
  });

  const post = entity("post", { title: string, tags: manyToMany(() => tag) }).rules(rules);
  const tag = entity("tag", { name: string, posts: manyToMany(() => post) }).rules(rules);
  it.each<[string, Policy]>([
    [
      "allows",
      {
        name: "open",
        allows: ({ decision }) => void Object.assign(decision, { allowed: true, predicate: { name: "open" } }),
      },
    ],
    [
      "guards",
      {
        name: "open",
        allows: ({ decision }) =>
          void Object.assign(decision, { allowed: true, guard: ({ name }: Row) => name === "open" }),
      },
    ],
    ["sees", { name: "open", visible: (question) => question.require({ name: "open" }) }],
  ])("about updates that %s applies to the other side of a pair", async (_, given) => {
    const appliesTo = ({ name }: AnyEntity, kind: OperationKind) => name === "tag" && kind === "update";
    const app = createTestApp({ entities: [post, tag], plugins: [policy({ ...given, appliesTo })] });
    const system = app.api.asSystem();
    await system.post.create({ id: "p", title: "p" });
    for (const name of ["open", "locked"]) await system.tag.create({ id: name, name });
    const link = (id: string) => app.as({ id: "u" }).request("PATCH", "/api/posts/p", { tagsIds: [id] });
    expect((await link("locked")).status).toBe(403);
    expect((await link("open")).status).toBe(200);
    await app.close();
  });
});

it("without functions, or added after setup, stops the start", async () => {
  const faulty: readonly (readonly [object, string])[] = [
    [{ name: "empty" }, 'policy "empty": it needs at least one of `allows` and `visible`'],
    [{ visible() {} }, "it has no name"],
    [{ name: "typo", allows() {}, visble() {} }, 'there is no option "visble". Did you mean "visible"?'],
    [{ name: "flag", allows: true }, "allows must be a function, not boolean"],
  ];
  for (const [given, message] of faulty)
    expect(() => createTestApp({ entities: [project, task], plugins: [policy(given as Policy)] })).toThrow(message);
  const late = createPlugin({
    id: "acme/late",
    start: ({ records }) => records.policy({ name: "late", visible() {} }),
  });
  const app = createTestApp({ entities: [project, task], plugins: [late] });
  await expect(app.api.ready).rejects.toThrow('called records.policy("late") after setup');
  await app.close();
});

it("may give a requirement its own error", async () => {
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
