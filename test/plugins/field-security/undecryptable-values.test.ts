import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import {
  belongsTo,
  clearEncryptionKeys,
  consoleLogger,
  createEnhancedDriver,
  datetime,
  defineRule,
  encryptValue,
  entity,
  fieldSecurity,
  filterReadableFields,
  initEncryption,
  int,
  json,
  memoryDriver,
  noopLogger,
  type Row,
  setLogger,
  string,
  type User,
} from "../../../src/index.ts";
import type { OnDecryptError } from "../../../src/plugins/field-security/index.ts";
import { createTestApp, recordingLogger } from "../../../src/testing/index.ts";

const KEY = "ab".repeat(32);
beforeAll(() => setLogger(noopLogger));
afterAll(() => {
  setLogger(consoleLogger);
  clearEncryptionKeys();
});
const ann: User = { id: "ann" };

const notBlocked = defineRule("lostNotBlocked", ({ record }) => record?.blocked === null);
const notBlockedWhere = defineRule("lostNotBlockedWhere", ({ record }) => record !== null && { blocked: null });
const notNot = defineRule("lostNotNot", ({ record }) => record !== null && { NOT: { blocked: { null: false } } });
const spreading = defineRule(
  "lostSpreading",
  ({ record }) => record !== null && ({ ...record } as Row).blocked === null,
);
const askingDriver = defineRule("lostAskingDriver", async ({ driver, user }) => {
  const me = user === null ? null : await driver.findOne("person", { id: user.id });
  return me !== null && me.blocked === null;
});
const listing = defineRule("lostListing", () => ({ blocked: null }));
const streaming = defineRule("lostStreaming", async ({ driver }) => {
  const all: Row[] = await driver.transaction((inner) => inner.findMany("person"));
  for await (const rows of driver.stream("person")) all.push(...rows);
  return all.every(({ blocked }) => blocked === null);
});
const RULES = { notBlocked, notBlockedWhere, notNot, spreading, askingDriver, listing, streaming };

const person = entity("person", {
  name: string,
  blocked: string.encrypted().optional(),
  ...Object.fromEntries(
    Object.entries(RULES).map(([name, rule]) => [name, string.default("canary").readable(rule).writable(rule)]),
  ),
})
  .ownedBy("id")
  .rules({ read: ["everyone"], update: ["authenticated"], delete: [notBlocked], create: ["everyone"] });
const guarded = entity("guarded", { name: string, blocked: string.encrypted().optional() }).rules({
  read: [notBlocked],
  update: [notBlocked],
  delete: [notBlockedWhere],
});
const checked = entity("checked", { name: string, blocked: string.encrypted().optional() })
  .rules({ update: ["everyone"], read: ["everyone"] })
  .validate(({ blocked }) => blocked !== "yes", "is blocked");
const team = entity("team", { lead: belongsTo(() => person) }).rules({ read: ["everyone"] });

function makeApp(onDecryptError: OnDecryptError = "null") {
  const driver = memoryDriver();
  const log = recordingLogger();
  const app = createTestApp({
    entities: [person, guarded, checked, team],
    driver,
    logger: log,
    plugins: (defaults) =>
      defaults.replace("field-security", fieldSecurity({ encryption: { key: KEY }, onDecryptError })),
  });
  return { ...app, driver, log };
}

describe("a value that cannot be decrypted and reads as null", () => {
  let app: ReturnType<typeof makeApp>;
  const as = (method: string, path: string, body?: unknown) => app.as(ann).request(method, `/api/${path}`, body);

  beforeEach(async () => {
    app = makeApp();
    const { person: people, guarded: things, checked: checkeds } = app.api.asSystem();
    await checkeds.create({ id: "c", name: "C", blocked: "no" });
    await people.create({ id: "ann", name: "Ann", blocked: "yes" });
    await things.create({ id: "g", name: "G", blocked: "yes" });
    for (const name of ["person", "guarded", "checked"])
      await app.driver.updateMany(name, { name: { ne: "" } }, { blocked: "v1:damaged" });
  });
  afterEach(() => app.close());

  it("is null in responses", async () => {
    expect((await as("GET", "people/ann")).body).toMatchObject({ name: "Ann", blocked: null });
    expect((await app.api.asSystem().person.get("ann")).blocked).toBeNull();
  });

  it("is not null for field rules that would show or write it", async () => {
    for (const { body } of [
      await as("GET", "people/ann"),
      await as(
        "GET",
        "people/ann?select=name,notBlocked,notBlockedWhere,notNot,spreading,askingDriver,listing,streaming",
      ),
      await as("PATCH", "people/ann", { name: "Ann" }),
    ])
      expect(Object.keys(RULES).filter((name) => name in (body as object))).toEqual([]);
    const changes = Object.fromEntries(Object.keys(RULES).map((name) => [name, "changed"]));
    const refused = await as("PATCH", "people/ann", { name: "changed", ...changes });
    expect(refused.status).toBe(400); // a field that is neither readable nor writable is an unknown name
    const stored = await app.driver.findOne("person", { id: "ann" });
    expect(stored).toMatchObject({
      name: "Ann",
      ...Object.fromEntries(Object.keys(RULES).map((n) => [n, "canary"])),
    });
    expect(app.log.lines.join("\n")).toMatch(/Rule "lostNotBlocked" failed; it denies .*DECRYPTION_FAILED/);
  });

  it("is not null for record rules", async () => {
    for (const [method, body] of [["GET"], ["PATCH", { name: "changed" }], ["DELETE"]] as const)
      expect((await as(method, "guardeds/g", body)).status).toBe(403);
    expect((await as("DELETE", "people/ann")).status).toBe(403);
    expect(await app.driver.findOne("guarded", { id: "g" })).toMatchObject({ name: "G" });
  });

  it("is not null for the rules of a filter, or of a user's driver", async () => {
    const { person: people } = app.api.entities;
    const driver = createEnhancedDriver(app.driver, {
      entities: [people],
      encryption: { key: KEY },
      onDecryptError: "null",
    });
    const row = (await driver.findOne(people, { id: "ann" })) as Row;
    expect(row.blocked).toBeNull();
    for (const copy of [row, { ...row }])
      expect(Object.keys(RULES).filter((name) => name in filterReadableFields(copy, ann))).toEqual([]);
  });

  it("is not null for validators, until it is overwritten", async () => {
    const patch = (body: unknown) => as("PATCH", "checkeds/c", body);
    expect(await patch({ name: "changed" })).toMatchObject({ status: 400, body: { code: "VALIDATION_FAILED" } });
    expect((await patch({ name: "changed", blocked: "no" })).status).toBe(200);
    expect((await patch({ name: "again" })).status).toBe(200);
  });

  it("can be overwritten, and counts from then on", async () => {
    expect((await as("PATCH", "people/ann", { blocked: null })).status).toBe(200);
    expect((await as("GET", "people/ann")).body).toMatchObject({ notBlocked: "canary", notBlockedWhere: "canary" });
  });

  it("is logged once for all records of a list", async () => {
    for (let i = 0; i < 20; i++)
      await app.driver.create("guarded", {
        ...((await app.driver.findOne("guarded", { id: "g" })) as Row),
        id: `g${i}`,
      });
    const before = app.log.lines.length;
    expect((await app.api.asSystem().guarded.list()).data).toHaveLength(21);
    const lines = app.log.lines.slice(before).filter((line) => line.includes("cannot be decrypted"));
    expect(lines).toEqual([expect.stringMatching(/^error .*"entity":"guarded","field":"blocked".*"values":21/)]);
    expect(lines.join()).not.toContain("damaged");
  });
});

describe("a value of another type than its field", () => {
  const typed = entity("typed", {
    text: string.encrypted().optional(),
    count: int.encrypted({ searchable: true }).optional(),
    at: datetime.encrypted().optional(),
    data: json.encrypted().optional(),
  }).rules({ read: ["everyone"] });

  it.each<[string, Parameters<typeof encryptValue>[0]]>([
    ["text", 5],
    ["text", { a: 1 }],
    ["count", "5"],
    ["count", 1.5],
    ["count", true],
    ["at", "2024-01-01T00:00:00.000Z"],
    ["at", 0],
    ["data", new Date(0)],
  ])("counts as undecryptable: %s", async (field, value) => {
    initEncryption(KEY);
    const driver = memoryDriver({ typed: [{ id: "t", [field]: encryptValue(value) }] });
    const app = createTestApp({ entities: [typed], driver, logger: recordingLogger(), encryption: { key: KEY } });
    expect(await app.as(null).request("GET", "/api/typeds/t")).toMatchObject({
      status: 500,
      body: { code: "DECRYPTION_FAILED" },
    });
    await app.close();
  });

  it.each<[string, unknown]>([
    ["count", "5"],
    ["count", 1.5],
    ["at", "2024-01-01"],
    ["text", 5],
  ])("is not stored: %s = %j", async (field, value) => {
    const driver = createEnhancedDriver(memoryDriver(), { entities: [typed], encryption: { key: KEY } });
    await driver.connect();
    const now = new Date();
    const row = { id: "t", createdAt: now, updatedAt: now };
    await expect(driver.create(typed, { ...row, [field]: value })).rejects.toMatchObject({ code: "DATABASE_ERROR" });
    await driver.create(typed, row);
    await expect(driver.update(typed, { id: "t" }, { [field]: value })).rejects.toThrow(/typed\.\w+ cannot hold/);
  });
});
