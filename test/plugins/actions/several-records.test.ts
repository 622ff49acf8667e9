import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { HookFunction } from "../../../src/gate/index.ts";
import {
  type AnyEntity,
  belongsTo,
  bulkDeleteAction,
  bulkUpdateAction,
  createPlugin,
  type Driver,
  datetime,
  defineRule,
  entity,
  enums,
  hasMany,
  int,
  keelson,
  manyToMany,
  memoryDriver,
  noopLogger,
  type Plugin,
  string,
} from "../../../src/index.ts";
import type { OperationKind, OperationScope, PluginContext } from "../../../src/plugin.ts";
import { type JsonResponse, request, startApp } from "../../support/http.ts";
import { propertyOptions } from "../../support/properties.ts";
import { recordStatements } from "../../support/record-statements.ts";
import { SQL_DATABASES } from "../../support/sql-databases.ts";
import { amount } from "../../support/suite.ts";

const ANYBODY = { read: ["everyone"], create: ["everyone"], update: ["everyone"], delete: ["everyone"] };
const bulk = { bulkUpdate: bulkUpdateAction, bulkDelete: bulkDeleteAction };

const open = defineRule("open", () => ({ state: "open" }));
const inOpenProject = defineRule("inOpenProject", () => ({ project: { closed: 0 } }));
const withoutParts = defineRule("withoutParts", () => ({ NOT: { parts: {} } }));
const young = defineRule("young", ({ record }) => record !== null && Number(record.size) < 3);

const user = entity("user", { name: string, password: string.password({ cost: 1 }) }).rules(ANYBODY);
const project = entity("project", { name: string, closed: int.default(0) }).rules(ANYBODY);
const label = entity("label", { name: string }).rules(ANYBODY);
const task = entity("task", {
  title: string.min(1).max(20),
  code: string.optional().unique(),
  size: int.min(0).default(0),
  state: enums("open", "done").default("open"),
  secret: string.encrypted().optional(),
  rank: int.writable("admin").default(0),
  note: string.writable("young").optional(),
  deletedAt: datetime.optional(),
  boss: belongsTo(() => user),
  project: belongsTo(() => project),
  within: belongsTo(() => task).optional(),
  parts: hasMany(() => task).inverse("within"),
  labels: manyToMany(() => label),
})
  .ownedBy("boss")
  .softDelete()
  .versioned();

/** The same records under rules of each kind: rules that one statement can apply, and rules that read each record. */
const RULES: readonly (readonly [string, string])[] = [
  ["everybody", "everyone"],
  ["owners", "owner"],
  ["a state", "open"],
  ["the record's project", "inOpenProject"],
  ["other records of the same kind", "withoutParts"],
  ["a rule that looks at the record", "young"],
];

const ids = Array.from({ length: 8 }, (_, index) => `task-${index}`);
const rows = ids.map((id, index) => ({
  id,
  title: `Task ${index}`,
  code: null,
  size: index % 5,
  state: index % 3 === 0 ? ("done" as const) : ("open" as const),
  bossId: index % 2 === 0 ? "ann" : "bob",
  projectId: index % 4 === 1 ? "closed" : "running",
  withinId: index > 5 ? "task-0" : null,
}));

/** A hook that reads each record, like plugins that support only one record per operation; it changes nothing. */
const oneByOne = createPlugin({
  id: "one-by-one",
  version: "1.0.0",
  setup({ hooks }) {
    hooks.on("operation:narrow", () => undefined);
  },
});

const users = { ann: { id: "ann" }, bob: { id: "bob" }, root: { id: "root", role: "admin" } };

function appOn(driver: Driver, rule: string, ...plugins: Plugin[]) {
  const rules = { read: ["everyone"], create: ["everyone"], update: [rule], delete: [rule] };
  return keelson({
    entities: [user, project, label, task.rules(rules).actions(bulk)],
    driver,
    plugins,
    rules: [open, inOpenProject, withoutParts, young],
    encryption: { key: "ab".repeat(32), keyId: "a" },
    logger: noopLogger,
    getUser: ({ headers }) => users[headers.get("authorization")?.slice(7) as keyof typeof users] ?? null,
  });
}

interface Command {
  readonly as: keyof typeof users;
  readonly ids: readonly string[];
  readonly data?: Readonly<Record<string, unknown>>;
}

const send = (url: string, { as, ids: of, data }: Command): Promise<JsonResponse> =>
  request(url, "POST", `/api/tasks/bulk-${data === undefined ? "delete" : "update"}`, {
    token: as,
    body: { ids: of, ...(data === undefined ? {} : { data }) },
  });

/** A caller's response. */
const told = ({ status, json, headers }: JsonResponse) => ({
  status,
  json: { ...json, requestId: undefined },
  ignored: headers.get("x-ignored-fields"),
});

const someIds = fc.uniqueArray(fc.constantFrom(...ids, "missing"), { minLength: 1, maxLength: 6 });
const someData = fc.oneof(
  fc.record({ title: fc.constantFrom("Changed", "", "x".repeat(21)) }),
  fc.record({ size: fc.integer({ min: -1, max: 5 }) }),
  fc.record({ state: fc.constantFrom("open", "done", "odd") }),
  fc.record({ code: fc.constantFrom(null, "one", "two") }),
  fc.record({ secret: fc.constantFrom(null, "kept") }),
  fc.record({ rank: fc.nat(3), size: fc.nat(3) }),
  fc.record({ rank: fc.nat(3) }),
  fc.record({ note: fc.constant("noted"), size: fc.nat(5) }, { requiredKeys: ["note"] }),
  fc.record(
    { bossId: fc.constantFrom("ann", "bob", "nobody"), title: fc.constant("Given") },
    { requiredKeys: ["bossId"] },
  ),
  fc.record({ projectId: fc.constantFrom("running", "closed", "nowhere") }),
  fc.record({ withinId: fc.constantFrom(null, "task-1", "nowhere") }),
  fc.record({ labelsIds: fc.uniqueArray(fc.constantFrom("red", "blue", "none"), { maxLength: 2 }) }),
  fc.record({ id: fc.constantFrom(...ids) }),
  fc.record({ nonsense: fc.constant(1) }),
);
const someCommand: fc.Arbitrary<Command> = fc.record(
  { as: fc.constantFrom("ann", "bob", "root"), ids: someIds, data: someData },
  { requiredKeys: ["as", "ids"] },
);

describe.each(SQL_DATABASES)("several records in one request on %s", (_, openDatabase) => {
  describe.each(RULES)("under rules for %s", (_rule, rule) => {
    const cleanups: (() => Promise<unknown>)[] = [];
    const worlds: { url: string; fill(): Promise<void>; stored(): Promise<unknown> }[] = [];
    beforeAll(async () => {
      for (const plugins of [[], [oneByOne]]) {
        const database = await openDatabase();
        const api = appOn(database.driver, rule, ...plugins);
        const { url, close } = await startApp(api);
        const system = api.asSystem();
        const { driver } = database;
        for (const id of ["ann", "bob"]) await system.user.create({ id, name: id, password: "a password" });
        for (const id of ["red", "blue"]) await system.label.create({ id, name: id });
        await system.project.create({ id: "running", name: "Running" });
        await system.project.create({ id: "closed", name: "Closed", closed: 1 });
        worlds.push({
          url,
          async fill() {
            await driver.updateMany("task", { withinId: { null: false } }, { withinId: null });
            await driver.deleteMany("task", { id: { null: false } });
            for (const row of rows) await system.task.create(row);
          },
          async stored() {
            const found = await driver.findMany("task");
            const links = await driver.links(task.build(), "labels", ids);
            const changed = found.map(({ createdAt, updatedAt, secret, ...row }) => ({
              ...row,
              secret: secret !== null,
              isChanged: Number(updatedAt) > Number(createdAt),
            }));
            return { changed, links: links.map(({ source, target }) => `${source} ${target}`).sort() };
          },
        });
        cleanups.push(close, database.drop);
      }
    });
    afterAll(async () => {
      for (const cleanup of cleanups) await cleanup();
    });

    it("gives the same result as one operation for each", async () => {
      const compare = async (commands: readonly Command[]): Promise<void> => {
        for (const { fill } of worlds) await fill();
        for (const command of commands) {
          const [together, apart] = await Promise.all(worlds.map(({ url }) => send(url, command)));
          expect(told(together as JsonResponse)).toEqual(told(apart as JsonResponse));
        }
        const [together, apart] = await Promise.all(worlds.map(({ stored }) => stored()));
        expect(together).toEqual(apart);
      };
      const property = fc.asyncProperty(fc.array(someCommand, { minLength: 1, maxLength: 5 }), compare);
      await fc.assert(property, propertyOptions(12));
    });
  });
});

const last = defineRule("notTheLast", async ({ driver }) => (await driver.count("member", { role: "boss" })) > 1);
const few = defineRule("few", async ({ driver }) => (await driver.count("member", { flag: 1 })) < 1);
const inOpenFolder = defineRule("inOpenFolder", () => ({ folder: { locked: 0 } }));

const member = entity("member", { role: string, flag: int.writable("few").default(0) })
  .rules({ ...ANYBODY, update: ["notTheLast"], delete: ["notTheLast"] })
  .actions(bulk);
const guest = entity("guest", { role: string.default("guest"), flag: int.writable("few").default(0) })
  .rules(ANYBODY)
  .actions(bulk);
const folder = entity("folder", {
  locked: int.default(0),
  cover: belongsTo(() => page)
    .optional()
    .onDelete("cascade"),
}).rules(ANYBODY);
const page = entity("page", {
  folder: belongsTo(() => folder)
    .optional()
    .onDelete("setNull"),
  above: belongsTo(() => page)
    .optional()
    .onDelete("restrict"),
})
  .rules({ ...ANYBODY, delete: ["inOpenFolder"] })
  .actions(bulk);
const leaf = entity("leaf", {
  above: belongsTo(() => leaf)
    .optional()
    .onDelete("restrict"),
})
  .rules(ANYBODY)
  .actions(bulk);

describe.each(SQL_DATABASES)("several records that depend on each other on %s", (_, openDatabase) => {
  let database: Awaited<ReturnType<typeof openDatabase>>;
  let url: string;
  let driver: Driver;
  let context: PluginContext | undefined;
  let close: () => Promise<void>;
  beforeAll(async () => {
    database = await openDatabase();
    ({ driver } = database);
    const keepContext = createPlugin({ id: "keep", version: "1.0.0", setup: (given) => void (context = given) });
    const api = keelson({
      entities: [member, guest, folder, page, leaf],
      driver,
      plugins: [keepContext],
      rules: [last, few, inOpenFolder],
      logger: noopLogger,
    });
    ({ url, close } = await startApp(api));
  });
  afterAll(async () => {
    await close();
    await database.drop();
  });
  const ask = async (path: string, data?: object) => {
    const body = { ids: ["a", "b"], ...(data === undefined ? {} : { data }) };
    const { status, json, headers } = await request(url, "POST", `/api/${path}`, { body });
    return [status, json.count, headers.get("x-ignored-fields")];
  };

  it("are each checked by a rule that reads the database", async () => {
    for (const id of ["a", "b"]) await driver.create("member", { id, role: "boss" });
    expect(await ask("members/bulk-delete")).toEqual([401, undefined, null]);
    expect(await ask("members/bulk-update", { role: "none" })).toEqual([401, undefined, null]);
    expect(await driver.count("member", { role: "boss" })).toBe(2);
  });

  it("are each checked by a field rule that reads the database", async () => {
    for (const id of ["a", "b"]) await driver.create("guest", { id });
    await driver.deleteMany("member", { id: { null: false } });
    await driver.create("member", { id: "m", role: "none", flag: 0 });
    expect(await ask("guests/bulk-update", { flag: 1 })).toEqual([200, 2, null]);
    await driver.update("member", { id: "m" }, { flag: 1 });
    expect(await ask("guests/bulk-update", { flag: 2 })).toEqual([200, 0, "flag"]);
  });

  it("are not deleted if an earlier deletion has put them out of reach", async () => {
    await driver.create("folder", { id: "f" });
    for (const id of ["a", "b"]) await driver.create("page", { id, folderId: "f" });
    await driver.update("folder", { id: "f" }, { coverId: "a" });
    expect(await ask("pages/bulk-delete")).toEqual([200, 1, null]);
    expect(await driver.findMany("page", { select: ["id"] })).toEqual([{ id: "b" }]);
  });

  it("remain if one of them refers to one that is deleted before it", async () => {
    await driver.create("leaf", { id: "a" });
    await driver.create("leaf", { id: "b", aboveId: "a" });
    expect(await ask("leaves/bulk-delete")).toEqual([409, undefined, null]);
    expect(await driver.count("leaf")).toBe(2);
  });

  it("take a condition on one of them, the surface's values, and no other operations", async () => {
    for (const id of ["x", "y"]) await driver.create("guest", { id });
    const run = (input: object) =>
      context?.runAs("system", (scope) => scope.run({ entity: guest, ids: ["x", "y"], ...input } as never));
    const precondition = {
      entity: guest.build(),
      id: "x",
      where: () => ({ role: "other" }),
      refusal: () => new RangeError("not so"),
    };
    await expect(run({ kind: "delete", precondition })).rejects.toThrow("not so");
    expect(await driver.count("guest", { id: ["x", "y"] })).toBe(2);
    expect((await run({ kind: "update", data: {}, set: { role: "set" } }))?.total).toBe(2);
    expect(await driver.count("guest", { role: "set" })).toBe(2);
    for (const kind of ["create", "read", "list", "count"])
      await expect(run({ kind })).rejects.toThrow("ids are for updates and deletes");
  });
});

describe.each(SQL_DATABASES)("many requests that change the same records at once on %s", (_, openDatabase) => {
  it("all complete", async () => {
    const database = await openDatabase();
    const api = appOn(database.driver, "everyone");
    const { url, close } = await startApp(api);
    const system = api.asSystem();
    await system.user.create({ id: "ann", name: "Ann", password: "a password" });
    await system.project.create({ id: "running", name: "Running" });
    const many = Array.from({ length: amount(80, 200) }, (__, index) => `task-${index}`);
    const fresh = { version: 1, size: 0, rank: 0, state: "open", bossId: "ann", projectId: "running" };
    const now = new Date();
    await database.driver.createMany(
      "task",
      many.map((id) => ({ ...fresh, id, title: id, createdAt: now, updatedAt: now })),
    );
    const some = (turn: number) => many.filter((__, index) => (index + turn) % 3 !== 0);
    const counts = new Map(many.map((id) => [id, 1]));
    for (let round = 0; round < amount(2, 4); round++) {
      const commands = Array.from({ length: 30 }, (__, turn) => ({
        as: "ann" as const,
        ids: round % 2 === 0 ? some(turn) : many.slice(0, many.length / 2),
        data: turn % 7 === 3 ? { secret: `${turn}` } : { size: turn },
      }));
      for (const command of commands) for (const id of command.ids) counts.set(id, (counts.get(id) as number) + 1);
      const answers = await Promise.all(commands.map((command) => send(url, command)));
      expect(answers.map(({ status, json }) => [status, json.count])).toEqual(
        commands.map((command) => [200, command.ids.length]),
      );
    }
    const stored = await database.driver.findMany("task", { select: ["id", "version"] });
    expect(new Map(stored.map(({ id, version }) => [id, version]))).toEqual(counts);
    await close();
    await database.drop();
  });
});

describe("several records in one request", () => {
  const started = async (rule: string, ...plugins: Plugin[]) => {
    const driver = recordStatements(memoryDriver());
    const api = appOn(driver, rule, ...plugins);
    await api.ready;
    const system = api.asSystem();
    for (const id of ["ann", "bob"]) await system.user.create({ id, name: id, password: "a password" });
    for (const id of ["running", "closed"]) await system.project.create({ id, name: id });
    await system.label.create({ id: "red", name: "Red" });
    for (const row of rows) await system.task.create(row);
    const ask = async (command: Omit<Command, "as">): Promise<readonly string[]> => {
      driver.statements.length = 0;
      const { url, close } = await startApp(api);
      const { status } = await send(url, { as: "ann", ...command });
      expect(status).toBe(200);
      await close();
      return driver.statements.filter((statement) => statement.endsWith(" task"));
    };
    return { api, driver, ask };
  };

  it.each([
    ["everyone", { title: "Together" }],
    ["owner", { title: "Together" }],
    ["inOpenProject", { size: 4, state: "open" }],
    ["open", { bossId: "ann", size: 1 }],
    ["everyone", { rank: 1, size: 2 }],
  ])("are one statement if rule %s and input %j need no single record", async (rule, data) => {
    const { ask } = await started(rule);
    expect(await ask({ ids, data })).toEqual(["bulk update task"]);
  });

  it("are deleted in one statement if no relation leads back to them", async () => {
    const driver = recordStatements(memoryDriver());
    const api = keelson({ entities: [guest], driver, rules: [few], logger: noopLogger });
    for (const id of ids) await api.asSystem().guest.create({ id });
    driver.statements.length = 0;
    const { url, close } = await startApp(api);
    const { json } = await request(url, "POST", "/api/guests/bulk-delete", { body: { ids: ["missing", ...ids] } });
    const own = driver.statements.filter((statement) => statement.endsWith(" guest"));
    expect([json, own]).toEqual([{ count: ids.length }, ["bulk delete guest"]]);
    await close();
  });

  it.each([
    ["a rule that looks at the record", "young", { title: "Apart" }],
    ["a rule that looks at other records of the kind", "withoutParts", { title: "Apart" }],
    ["a change of what the rule asks for", "inOpenProject", { projectId: "running" }],
    ["a field whose rule looks at the record", "everyone", { note: "Apart" }],
    ["links", "everyone", { labelsIds: ["red"] }],
    ["a reference", "everyone", { projectId: "closed" }],
    ["a reference to a record of the kind", "everyone", { withinId: "task-1" }],
  ])("are one operation each because of %s", async (_why, rule, data) => {
    const { ask } = await started(rule);
    const updates = (await ask({ ids: ["task-0", "task-2"], data })).filter((one) => one.includes("update"));
    expect(updates.length).toBeGreaterThanOrEqual(2);
    expect(updates).not.toContain("bulk update task");
  });

  it("are one operation each for plugins that do not declare support for several", async () => {
    const seen: (string | undefined)[] = [];
    const committed = createPlugin({
      id: "committed",
      version: "1.0.0",
      setup: ({ hooks }) =>
        hooks.on("operation:committed", ({ kind, id }) => void (kind === "update" && seen.push(id))),
    });
    const { ask } = await started("everyone", committed);
    await ask({ ids: ["task-1", "task-0"], data: { title: "Apart" } });
    expect(seen).toEqual(["task-0", "task-1"]);
  });

  it("are one operation for a hook that reads their ids, and one each for one id", async () => {
    const seen: unknown[] = [];
    let context: PluginContext | undefined;
    let asksForId = false;
    const watching = createPlugin({
      id: "watching",
      setup(given) {
        context = given;
        const appliesTo = ({ name }: AnyEntity, kind: OperationKind) => name === "task" && kind === "update";
        const note: HookFunction<"operation:validate"> = (operation) =>
          void seen.push(operation.ids === undefined || asksForId ? operation.id : operation.ids);
        given.hooks.on("operation:validate", note, { appliesTo });
      },
    });
    await started("everyone", watching);
    const input = { kind: "update", entity: task, ids: ["task-1", "missing", "task-0", "task-0"] } as const;
    const run = (scope: OperationScope) => scope.run({ ...input, data: { title: "By code" } });
    const counts: unknown[] = [];
    for (asksForId of [false, true]) counts.push((await context?.runAs("system", run))?.total);
    expect(counts).toEqual([2, 2]);
    expect(seen).toEqual([["missing", "task-0", "task-1"], "missing", "task-0", "task-1"]);
  });

  it("are one operation each for a hook that reads an id and swallows the error", async () => {
    const seen: unknown[] = [];
    const swallowing = createPlugin({
      id: "swallowing",
      version: "1.0.0",
      setup: ({ hooks }) =>
        hooks.on(
          "operation:validate",
          (operation) => {
            try {
              seen.push(operation.id);
            } catch {
              seen.push("error");
            }
          },
          { appliesTo: ({ name }, kind) => name === "task" && kind === "update" },
        ),
    });
    const { ask } = await started("everyone", swallowing);
    expect(await ask({ ids: ["task-0", "task-1"], data: { size: 1 } })).toEqual(["update task", "update task"]);
    expect(seen).toEqual(["error", "task-0", "task-1"]);
  });

  it("are one operation each when a plugin requests it while it handles one", async () => {
    const setApart = createPlugin({
      id: "set-apart",
      version: "1.0.0",
      setup: ({ hooks }) =>
        hooks.on("operation:validate", (operation) => void (operation.ids !== undefined && (operation.apart = true))),
    });
    const { ask } = await started("everyone", setApart);
    expect(await ask({ ids: ["task-0", "task-1"], data: { size: 1 } })).toEqual(["update task", "update task"]);
  });
});

describe("a bulk update of pairs alone", () => {
  it("counts the records", async () => {
    const flag = entity("flag", { name: string }).rules(ANYBODY);
    const ship = entity("ship", { name: string, flags: manyToMany(() => flag) })
      .timestamps(false)
      .rules(ANYBODY)
      .actions({ bulkUpdate: bulkUpdateAction });
    const api = keelson({ entities: [flag, ship], driver: memoryDriver(), logger: noopLogger });
    const { url, close } = await startApp(api);
    const system = api.asSystem();
    await system.flag.create({ id: "red", name: "Red" });
    for (const id of ["a", "b"]) await system.ship.create({ id, name: id });
    const body = { ids: ["a", "b", "none"], data: { flagsIds: ["red"] } };
    const { json } = await request(url, "PUT", "/api/ships/bulk", { body });
    expect(json).toEqual({ count: 2 });
    await close();
  });
});
