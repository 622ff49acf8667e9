import fc from "fast-check";
import { belongsTo, defineConfig, defineRule, entity, enums, memoryDriver, string, type User } from "keelson";
import { createTestApp } from "keelson/testing";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import type { AccessMatrix } from "../../src/cli/access/access-matrix.ts";
import { createMatrix } from "../../src/cli/access/create-matrix.ts";
import { ALWAYS, allOf, anyOf, type Grant, grantText, isCovered, NEVER } from "../../src/cli/access/grant.ts";
import { partsOf } from "../../src/cli/project/load-project.ts";
import { openProject, type TestProject } from "./project.ts";

const CONFIG = `
  import { action, all, belongsTo, defineConfig, defineRule, entity, keelson, string, createPlugin, endpoint } from "keelson";
  const mine = defineRule("mine", () => { throw new Error("asked"); });
  const active = defineRule("active", () => { throw new Error("asked"); });
  const user = entity("user", { name: string, email: string.readable("owner", "admin") }).ownedBy("id")
    .rules({ read: ["everyone"], update: ["ownerOrAdmin"] });
  const note = entity("note", {
    title: string, secret: string.encrypted().readable(READABLE), stamp: string.readonly().optional(), author: belongsTo(() => user),
  }).ownedBy("author").rules({ read: READ, create: ["authenticated"], update: [all("owner", mine)], delete: [] })
    .actions({ publish: action().onResource().rules("admin").handler(() => ({})) });
  const hidden = entity("hidden", { name: string }).internal();
  const ping = createPlugin({ id: "ping", endpoints: { ping: endpoint("/ping", { method: "GET", rules: [active, "owner"], handler: () => 1 }) } });
  export default defineConfig({
    entities: [user, note, hidden], plugins: [ping], encryption: { key: "5eed".repeat(16) }, defaultRules: { read: ["admin"] },
  });
`;
const config = (read: string, readable = '"owner"') =>
  CONFIG.replace(/READ,/, `${read},`).replace("READABLE", readable);

describe("keelson access", () => {
  let project: TestProject;
  beforeAll(async () => {
    project = await openProject({ "keelson.config.ts": config('["owner", mine]') });
  });
  afterAll(() => project.remove());

  it("shows each role's rights to entities, fields and routes, without a database", async () => {
    const { code, out, err } = await project.run("access");
    expect([code, err]).toEqual([0, ""]);
    const cells = out
      .trimEnd()
      .split("\n")
      .map((line) => line.split(/ {2,}/));
    expect(cells[0]).toEqual(["WHAT", "OPERATION", "ANONYMOUS", "USER", "OWNER", "ADMIN"]);
    expect(cells).toContainEqual(["note", "create", "no", "yes", "yes", "yes"]);
    expect(cells).toContainEqual(["note", "read", "if mine", "if mine", "yes", "if mine"]);
    expect(cells).toContainEqual(["note", "update", "no", "no", "if mine", "no"]);
    expect(cells).toContainEqual(["note", "delete", "no", "no", "no", "no"]);
    expect(cells).toContainEqual(["note.secret", "read", "no", "no", "yes", "no"]);
    expect(cells).toContainEqual(["note.authorId", "create", "no", "no", "no", "yes"]);
    expect(cells).toContainEqual(["user.email", "read", "no", "no", "yes", "yes"]);
    expect(cells).toContainEqual(["POST /api/notes/:id/publish", "call", "no", "no", "no", "yes"]);
    expect(cells).toContainEqual(["GET /ping", "call", "if active", "if active", "if active", "if active"]);
    expect(out).not.toMatch(/hidden|GET \/api|note\.title/);
    expect(await project.list()).toEqual(["keelson.config.ts"]);
  });

  it("prints the same JSON for the same definitions", async () => {
    const first = await project.run("access", "--json");
    const matrix = JSON.parse(first.out) as AccessMatrix;
    expect(matrix.entities.note?.fields.stamp?.create).toEqual({ anonymous: [], user: [], owner: [], admin: [] });
    expect(matrix.entities.note?.operations.read).toEqual({
      anonymous: [["mine"]],
      user: [["mine"]],
      owner: [[]],
      admin: [["mine"]],
    });
    expect((await project.run("access", "--json")).out).toBe(first.out);
  });
});

describe("keelson access --diff", () => {
  async function diff(before: string, after: string, ...words: string[]) {
    const project = await openProject({ "keelson.config.ts": before });
    onTestFinished(() => project.remove());
    await project.write("base.json", (await project.run("access", "--json")).out);
    // Node caches an imported file for the life of the process.
    await project.write("next.config.ts", after);
    return project.run("access", "--diff=base.json", "--config=next.config.ts", ...words);
  }

  it("passes when nothing has changed, and when less is allowed", async () => {
    expect(await diff(config('["everyone"]'), config('["everyone"]'))).toMatchObject({
      code: 0,
      out: "No role may do more than before.\n",
    });
    expect((await diff(config('["everyone"]'), config("[all(mine, active)]"))).code).toBe(0);
    expect((await diff(config("[mine]"), config("[all(mine, active)]"))).code).toBe(0);
  });

  it("fails when more is allowed, and names the caller", async () => {
    const { code, out } = await diff(config('["owner"]'), config('["authenticated"]'));
    expect(code).toBe(1);
    expect(out).toMatch(/^note read +user +no +yes$/m);
    expect(out).toMatch(/^GET \/api\/notes +admin +no +yes$/m);
    expect(out).not.toMatch(/^note read +(anonymous|owner)/m);
  });

  it("fails when a condition is dropped, a field opened, or something added", async () => {
    expect((await diff(config("[all(mine, active)]"), config("[mine]"))).out).toMatch(/if active and mine +if mine/);
    expect((await diff(config('["everyone"]'), config('["everyone"]', '"everyone"'))).out).toMatch(
      /^note\.secret read +anonymous +no +yes$/m,
    );
    const extra = config('["everyone"]').replace('endpoint("/ping", {', 'endpoint("/pong", {');
    const { code, out } = await diff(config('["everyone"]'), extra, "--json");
    expect(code).toBe(1);
    expect(JSON.parse(out)).toContainEqual({ what: "GET /pong", role: "user", before: "no", after: "if active" });
  });

  it("refuses a file that is not a matrix, and says how to create one", async () => {
    const project = await openProject({
      "keelson.config.ts": config('["owner"]'),
      "a.json": "{",
      "b.json": '{"version":2}',
      "c.json": '{"version":1,"entities":{"note":null},"routes":{}}',
      "d.json": '{"version":1,"entities":{},"routes":{"GET /api/notes":{"anonymous":"yes"}}}',
    });
    onTestFinished(() => project.remove());
    for (const name of ["a.json", "b.json", "c.json", "d.json", "missing.json"]) {
      const { code, err } = await project.run("access", `--diff=${name}`);
      expect(code).toBe(1);
      expect(err).toContain(`keelson access --json > ${name}`);
    }
  });
});

describe("the matrix", () => {
  it("has read rights through includes: on remote and internal entities", async () => {
    const plan = entity("plan", { name: string, cost: string.readable("admin") }).rules({
      read: ["authenticated"],
      update: ["everyone"],
    });
    const badge = entity("badge", { name: string })
      .rules({ read: ["everyone"], create: ["everyone"] })
      .internal();
    const unseen = entity("unseen", { name: string })
      .rules({ read: ["everyone"] })
      .internal();
    const member = entity("member", { badge: belongsTo(() => badge), plan: belongsTo(() => plan).remote("billing") });
    const services = { billing: () => ({ fetchByIds: () => [] }) };
    const options = defineConfig({ entities: [member, badge, unseen], services, defaultRules: { read: ["admin"] } });
    const app = createTestApp({ ...options, driver: memoryDriver() });
    onTestFinished(() => app.close());
    const { entities } = createMatrix(partsOf(app.api), options);
    expect(Object.keys(entities)).toEqual(["badge", "member", "plan"]);
    const texts = (grants: Readonly<Record<string, Grant>> | undefined) => Object.values(grants ?? {}).map(grantText);
    expect(texts(entities.plan?.operations.read)).toEqual(["no", "yes", "yes", "yes"]);
    expect(texts(entities.plan?.fields.cost?.read)).toEqual(["no", "no", "no", "yes"]);
    expect(texts(entities.plan?.operations.update)).toEqual(["no", "no", "no", "no"]);
    expect(texts(entities.badge?.operations.read)).toEqual(["yes", "yes", "yes", "yes"]);
    expect(texts(entities.badge?.operations.create)).toEqual(["no", "no", "no", "no"]);
  });

  it("shows the default rules for a route that creates records", () => {
    const member = entity("member", { name: string }).ownedBy("id");
    const thing = entity("thing", { holder: belongsTo(() => member) }).ownedBy("holder");
    const options = defineConfig({ entities: [member, thing], defaultRules: { create: ["owner"] } });
    const app = createTestApp({ ...options, driver: memoryDriver() });
    onTestFinished(() => app.close());
    const { entities, routes } = createMatrix(partsOf(app.api), options);
    expect(routes["POST /api/things"]).toEqual(entities.thing?.operations.create);
    expect(grantText(routes["POST /api/things"]?.user as Grant)).toBe("yes");
  });

  const person = entity("person", { name: string })
    .ownedBy("id")
    .rules({ read: ["authenticated"], update: ["owner"] });
  const LISTS = [
    ["everyone"],
    ["authenticated"],
    ["owner"],
    ["admin"],
    ["ownerOrAdmin"],
    ["all(authenticated,owner)"],
    [],
  ];
  const callers: Readonly<Record<string, User | null>> = {
    anonymous: null,
    user: { id: "bob" },
    owner: { id: "ann" },
    admin: { id: "root", role: "admin" },
  };

  it.each(LISTS.map((list) => [list]))("matches the app's decisions for %j", async (list) => {
    const thing = entity("thing", {
      title: string,
      shown: string.readable(...(list.length === 0 ? ["admin"] : list)).default("x"),
      state: enums("a", "b").default("a").writable("admin"),
      holder: belongsTo(() => person),
    })
      .ownedBy("holder")
      .rules({ read: list, update: list, delete: list, create: list });
    const options = defineConfig({ entities: [person, thing] });
    const app = createTestApp({ ...options, driver: memoryDriver() });
    onTestFinished(() => app.close());
    await app.api.ready;
    const matrix = createMatrix(partsOf(app.api), options);
    for (const id of ["ann", "bob", "root"]) await app.api.asSystem().person.create({ id, name: id });
    for (const [role, user] of Object.entries(callers)) {
      const { operations, fields } = matrix.entities.thing as AccessMatrix["entities"][string];
      const { id } = await app.api.asSystem().thing.create({ title: "x", holderId: "ann" });
      const caller = app.as(user);
      const can = (grants: Readonly<Record<string, Grant>>) => grantText(grants[role] as Grant) === "yes";
      const read = await caller.request("GET", `/api/things/${id}`);
      const made = await caller.request("POST", "/api/things", { title: "y", ...(user ? {} : { holderId: "ann" }) });
      const wrote = await caller.request("PUT", `/api/things/${id}`, { title: "z", state: "b" });
      const { state } = (await app.api.asSystem().thing.get(id)) as { state: string };
      const deleted = await caller.request("DELETE", `/api/things/${id}`);
      expect([role, read.status === 200, wrote.status === 200, state === "b", deleted.status === 200]).toEqual([
        role,
        can(operations.read),
        can(operations.update),
        can(fields.state?.update as never),
        can(operations.delete),
      ]);
      if (user !== null) expect([role, made.status === 201]).toEqual([role, can(operations.create)]);
      if (read.status === 200)
        expect([role, Object.hasOwn(read.body as object, "shown")]).toEqual([role, can(fields.shown?.read as never)]);
    }
  });

  it("calls no custom rule", () => {
    let asked = 0;
    const counted = defineRule("counted by the matrix", () => ++asked > 0);
    const thing = entity("thing", { title: string }).rules({ read: [counted] });
    const options = defineConfig({ entities: [thing], driver: memoryDriver() });
    const app = createTestApp(options);
    onTestFinished(() => app.close());
    expect(grantText(createMatrix(partsOf(app.api), options).entities.thing?.operations.read.user as Grant)).toBe(
      "if counted by the matrix",
    );
    expect(asked).toBe(0);
  });
});

describe("grants", () => {
  const NAMES = ["a", "b", "c"];
  const grants = fc.array(fc.subarray(NAMES), { maxLength: 3 }).map((lists) => anyOf([lists]));
  /** Whether a grant holds if exactly these rules pass. */
  const holds = (grant: Grant, passing: readonly string[]) =>
    grant.some((list) => list.every((name) => passing.includes(name)));
  const worlds = [[], ["a"], ["b"], ["c"], ["a", "b"], ["a", "c"], ["b", "c"], NAMES];

  it("combine with and, or and difference, for any results of the rules", () => {
    fc.assert(
      fc.property(grants, grants, (a, b) => {
        for (const world of worlds) {
          expect(holds(anyOf([a, b]), world)).toBe(holds(a, world) || holds(b, world));
          expect(holds(allOf([a, b]), world)).toBe(holds(a, world) && holds(b, world));
        }
        expect(isCovered(a, b)).toBe(worlds.every((world) => !holds(a, world) || holds(b, world)));
      }),
    );
  });

  it("have a smallest and a largest", () => {
    expect([allOf([]), anyOf([])]).toEqual([ALWAYS, NEVER]);
    expect([ALWAYS, NEVER].map(grantText)).toEqual(["yes", "no"]);
  });
});
