import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type AnyEntity, createModel, type ResolvedRelation } from "../../../src/entity/index.ts";
import { ALWAYS, withMiddleware } from "../../../src/gate/index.ts";
import {
  belongsTo,
  createPlugin,
  type Driver,
  datetime,
  defineRule,
  embedded,
  entity,
  generateEncryptionKey,
  hasMany,
  int,
  keelson,
  postgres,
  selfRef,
  string,
  text,
} from "../../../src/index.ts";
import { protectDriver } from "../../../src/plugins/field-security/index.ts";
import { freshPostgres, freshSqliteFile } from "../../support/databases.ts";
import { type JsonResponse, type RunningApp, request, startApp } from "../../support/http.ts";

const shown = defineRule("included: shown", () => ({ hidden: "no" }));

const person = entity("person", {
  name: string,
  secret: string.password(),
  token: string.omit(),
  salary: int.encrypted(),
  seen: datetime,
  hidden: string.default("no"),
  deletedAt: datetime.optional(),
  notes: hasMany(() => note),
})
  .softDelete()
  .ownedBy("id")
  .rules({ read: [shown, "owner"] });

/** Its text would be repeated with each record. */
const place = entity("place", { name: string, description: text }).rules({ read: ["everyone"] });

/** Only an administrator may read it. */
const ward = entity("ward", { name: string }).rules({ read: ["admin"] });

/** One of its fields depends on the record. */
const team = entity("team", { name: string, code: string.readable(["owner"]), leader: belongsTo(() => person) })
  .ownedBy("leader")
  .rules({ read: ["everyone"] });

const note = entity("note", {
  title: string,
  size: int,
  author: belongsTo(() => person).optional(),
  place: belongsTo(() => place).optional(),
  ward: belongsTo(() => ward).optional(),
  team: belongsTo(() => team).optional(),
  parent: selfRef().optional(),
}).rules({ read: ["everyone"] });

const DATABASES = {
  sqlite: async () => {
    const { file, remove } = await freshSqliteFile();
    return { driver: embedded({ file }), drop: remove };
  },
  postgresql: async () => {
    const { url, drop } = await freshPostgres();
    return { driver: postgres(url, { poolSize: 3 }), drop };
  },
};

const CALLERS: Readonly<Record<string, { id: string; role: string }>> = {
  ann: { id: "ann", role: "user" },
  admin: { id: "root", role: "admin" },
};

const QUERIES = [
  "include=author&_sort=title",
  "include=author,parent&_sort=-size,title&size_gte=2",
  "include=author,place,ward,team&_sort=id",
  "include=author.notes,parent.author&_sort=id",
  "include=parent&_sort=-title&_start=1&_end=4&select=title",
  "author.name=Ann&include=author&_sort=id",
];

describe.each(["sqlite", "postgresql"] as const)("to-one includes on %s", (provider) => {
  /** Tables read by lists, and whether they were joined. */
  const lists: string[] = [];
  let joining: RunningApp;
  let separate: RunningApp;
  let drop: () => Promise<void>;

  beforeAll(async () => {
    const database = await DATABASES[provider]();
    drop = database.drop;
    const counted = withMiddleware(
      database.driver,
      (statement, next) => {
        if (statement.kind === "find" && statement.limit !== 1)
          lists.push(
            [statement.entity.name, ...(statement.joins ?? []).map((join) => `+${join.relation.name}`)].join(""),
          );
        return next(statement);
      },
      { joins: true },
    );
    const encryption = { key: generateEncryptionKey() };
    const build = (driver: Driver) =>
      keelson({
        entities: [person, place, ward, team, note],
        driver,
        encryption,
        getUser: ({ headers }) => CALLERS[headers.get("authorization")?.slice(7) ?? ""] ?? null,
      });
    const api = build(counted);
    joining = await startApp(api);
    const driver = protectDriver(database.driver, createModel([person, place, ward, team, note]), { encryption });
    const seen = new Date("2024-05-06T07:08:09.010Z");
    const plain = { secret: "x", token: "t-1", hidden: "no", seen, deletedAt: null };
    await driver.create("person", { id: "ann", name: "Ann", salary: 10, ...plain });
    await driver.create("person", { id: "bob", name: "Bob", salary: 20, ...plain, hidden: "yes" });
    await driver.create("person", { id: "cid", name: "Cid", salary: 30, ...plain, deletedAt: seen });
    await driver.create("place", { id: "l1", name: "Port", description: "long" });
    await driver.create("ward", { id: "w1", name: "North" });
    await driver.create("team", { id: "t1", name: "Red", code: "red-1", leaderId: "ann" });
    for (const [index, authorId] of ["ann", "bob", "cid", null, "ann", "ann"].entries())
      await driver.create("note", {
        id: `n${index}`,
        title: `Note ${index % 3}`,
        size: index,
        authorId,
        placeId: index % 2 === 0 ? "l1" : null,
        wardId: "w1",
        teamId: index === 1 ? null : "t1",
        parentId: index === 0 ? null : "n0",
      });
    // The same records through a driver without joins, such as a plugin's wrapper.
    const none = async (): Promise<void> => {};
    const own = { connect: none, disconnect: none, schema: undefined };
    separate = await startApp(build(withMiddleware(database.driver, (statement, next) => next(statement), own)));
  });
  afterAll(async () => {
    await separate.close();
    await joining.close();
    await drop();
  });

  const ask = (app: RunningApp, search: string, caller?: string): Promise<JsonResponse> =>
    request(app.url, "GET", `/api/notes?${search}`, { token: caller });

  it.each(QUERIES)("are the same in the list's statement as in separate statements: %s", async (search) => {
    for (const caller of [undefined, "ann", "admin"]) {
      const [one, two] = [await ask(joining, search, caller), await ask(separate, search, caller)];
      expect(one.status).toBe(200);
      expect(one.json).toEqual(two.json);
      expect(JSON.stringify(one.json)).not.toContain("t-1");
    }
  });

  it("are read by the list's statement, with the related entity's rule in it", async () => {
    lists.length = 0;
    const { json } = await ask(joining, "include=author&_sort=id");
    expect(lists).toEqual(["note+author"]);
    expect(json.map(({ author }: { author: { name: string } | null }) => author?.name ?? null)).toEqual([
      "Ann",
      null,
      null,
      null,
      "Ann",
      "Ann",
    ]);
    expect(json[0].author).toMatchObject({ salary: 10, seen: "2024-05-06T07:08:09.010Z" });
    expect(Object.keys(json[0].author)).not.toContain("secret");
  });

  it.each([
    ["place", "has long values"],
    ["team", "has a field that depends on the record"],
    ["author.notes", "includes something itself"],
  ])("have a separate statement if the related record %s: it %s", async (include) => {
    lists.length = 0;
    expect((await ask(joining, `include=${include}`)).status).toBe(200);
    expect(lists[0]).toBe("note");
    expect(lists.length).toBeGreaterThan(1);
  });

  it.each<[string, Parameters<typeof createPlugin>[0]["hooks"]]>([
    ["looks at such records", { "operation:redact": () => {} }],
    [
      "has conditions of its own",
      {
        "operation:narrow"(operation) {
          if (operation.entity.name === "ward") operation.require({ name: "South" }, "denied");
        },
      },
    ],
  ])("have one if a plugin %s", async (_, hooks) => {
    const ward = entity("ward", { name: string }).rules({ read: ["everyone"] });
    const bed = entity("bed", { ward: belongsTo(() => ward) }).rules({ read: ["everyone"] });
    const { file, remove } = await freshSqliteFile();
    const base = embedded({ file });
    const seen: unknown[] = [];
    const driver = withMiddleware(
      base,
      (statement, next) => {
        if (statement.kind === "find" && statement.limit !== 1) seen.push(statement.joins);
        return next(statement);
      },
      { joins: true },
    );
    const api = keelson({ entities: [ward, bed], driver, plugins: [createPlugin({ id: "test/watching", hooks })] });
    const app = await startApp(api);
    await base.create("ward", { id: "w1", name: "North" });
    await base.create("bed", { id: "b1", wardId: "w1" });
    const { json } = await request(app.url, "GET", "/api/beds?include=ward");
    await app.close();
    await remove();
    expect(json[0].ward?.name).toBe(hooks?.["operation:narrow"] === undefined ? "North" : undefined);
    expect(seen).toEqual([undefined, undefined]);
  });

  it("are not available to a handler's driver, which does not know the reader", async () => {
    const ward = entity("ward", { name: string, code: string.omit() }).rules({ read: ["everyone"] });
    const bed = entity("bed", { ward: belongsTo(() => ward) }).rules({ read: ["everyone"] });
    const { file, remove } = await freshSqliteFile();
    const driver = embedded({ file });
    const peek = createPlugin({
      id: "test/peek",
      setup: ({ routes, entities }) =>
        routes.add({
          entity: entities.get("bed"),
          rules: ["everyone"],
          method: "GET",
          path: "/peek",
          action: "peek",
          handler: ({
            scope: {
              app: { model },
              driver,
            },
          }) => {
            const bed = model.get("bed") as AnyEntity;
            const joins = [{ relation: model.relation(bed, "ward") as ResolvedRelation, where: ALWAYS }];
            return driver.execute({ kind: "find", entity: bed, where: ALWAYS, joins });
          },
        }),
    });
    const api = keelson({ entities: [ward, bed], driver, plugins: [peek] });
    await api.ready;
    await driver.create("ward", { id: "w1", name: "North", code: "c-1" });
    await driver.create("bed", { id: "b1", wardId: "w1" });
    const { status, body } = await api.handle({ method: "GET", url: "/api/peek", headers: {} });
    await api.close();
    await remove();
    expect(status).toBe(200);
    expect(JSON.parse(String(body))[0]).not.toHaveProperty("ward");
  });

  it("are joined afterwards for a record that a hook adds to the list", async () => {
    const ward = entity("ward", { name: string }).rules({ read: ["everyone"] });
    const bed = entity("bed", { ward: belongsTo(() => ward) }).rules({ read: ["everyone"] });
    const { file, remove } = await freshSqliteFile();
    const driver = embedded({ file });
    const adding = createPlugin({
      id: "test/adding",
      hooks: {
        "operation:execute"({ entity: { name }, records }) {
          if (name === "bed") records.push({ id: "b2", wardId: "w1", createdAt: new Date(), updatedAt: new Date() });
        },
      },
    });
    const api = keelson({ entities: [ward, bed], driver, plugins: [adding] });
    const app = await startApp(api);
    await driver.create("ward", { id: "w1", name: "North" });
    await driver.create("bed", { id: "b1", wardId: "w1" });
    const { json } = await request(app.url, "GET", "/api/beds?include=ward");
    await app.close();
    await remove();
    expect(json.map(({ ward }: { ward: { name: string } }) => ward.name)).toEqual(["North", "North"]);
  });
});
