import { describe, expect, it, onTestFinished } from "vitest";
import { withMiddleware } from "../../../src/driver.ts";
import { belongsTo, bool, defineRule, entity, hasMany, int, string } from "../../../src/index.ts";
import { createTestApp } from "../../../src/testing/index.ts";
import { deferred } from "../../support/deferred.ts";
import { ALL_DATABASES } from "../../support/sql-databases.ts";

// Memory and SQLite have one writer: a write waits for it after its references were checked. For PostgreSQL see
// rules/waits-for-references.test.ts.

const opened = defineRule("rawOpened", () => ({ isOpen: true }));
const member = defineRule("rawMember", ({ user }) => ({ members: { userId: String(user?.id) } }));
const sheet = entity("sheet", { isOpen: bool }).rules({ read: [opened] });
const folder = entity("folder", { name: string, members: hasMany(() => access) }).rules({ read: [member] });
const access = entity("access", { userId: string, folder: belongsTo(() => folder) }).rules({ read: ["everyone"] });
const page = entity("page", {
  text: string,
  sheet: belongsTo(() => sheet).optional(),
  folder: belongsTo(() => folder).optional(),
}).rules({ read: ["everyone"], create: ["everyone"], update: ["everyone"] });

const requests = [
  ["POST", "pages", { text: "new", sheetId: "s" }],
  ["POST", "pages", { text: "new", folderId: "f" }],
  ["POST", "pages", { text: "new", folder: { connect: "f" } }],
  ["PATCH", "pages/p", { sheetId: "s" }],
] as const;
const cases = ALL_DATABASES.filter(([name]) => name !== "PostgreSQL").flatMap(([name, open]) =>
  requests.map(([method, path, body]) => [name, method, path, JSON.stringify(body), open] as const),
);

describe("a reference that was hidden while a write waited for the only writer", () => {
  it.each(cases)("is refused on %s: %s %s %s", async (_, method, path, body, open) => {
    const database = await open();
    onTestFinished(() => database.drop());
    let looked = (): void => {};
    const driver = withMiddleware(database.driver, async (statement, next) => {
      const found = await next(statement);
      if (statement.kind === "find" && ["sheet", "folder"].includes(statement.entity.name)) looked();
      return found;
    });
    const app = createTestApp({ entities: [sheet, folder, access, page], driver });
    onTestFinished(() => app.close());
    await app.api.ready;
    const system = app.api.asSystem();
    await system.sheet.create({ id: "s", isOpen: true });
    await system.folder.create({ id: "f", name: "f" });
    await system.access.create({ userId: "ann", folderId: "f" });
    await system.page.create({ id: "p", text: "old" });

    const isHeld = deferred<void>();
    const isFree = deferred<void>();
    const holding = database.driver.transaction(async (inner) => {
      await inner.updateMany("page", { id: "p" }, { text: "held" });
      isHeld.resolve();
      await isFree.promise;
    });
    await isHeld.promise;
    const hiding = [
      database.driver.updateMany("sheet", { id: "s" }, { isOpen: false }),
      database.driver.deleteMany("access", { userId: "ann" }),
    ];
    const isLooked = deferred<void>();
    looked = isLooked.resolve;
    const answer = app.as({ id: "ann" }).request(method, `/api/${path}`, JSON.parse(body));
    await isLooked.promise;
    isFree.resolve();
    await Promise.all([holding, ...hiding]);
    expect(await answer).toMatchObject({ status: 400 });
    expect(await app.api.driver.count("page", { sheetId: null, folderId: null })).toBe(1);
  });
});

describe("a reference that a change itself hides", () => {
  const seenByTeam = defineRule("rawSeenByTeam", () => ({ team: { people: { isOpen: true } } }));
  const team = entity("team", { name: string, people: hasMany(() => person).inverse("team") });
  const person = entity("person", {
    isOpen: bool,
    team: belongsTo(() => team)
      .optional()
      .inverse("people"),
    friend: belongsTo(() => person).optional(),
  }).rules({ read: [seenByTeam], update: ["everyone"] });

  it.each(ALL_DATABASES.filter(([name]) => name !== "PostgreSQL"))("is stored on %s", async (_, open) => {
    const database = await open();
    onTestFinished(() => database.drop());
    const app = createTestApp({ entities: [team, person], driver: database.driver });
    onTestFinished(() => app.close());
    await app.api.ready;
    const system = app.api.asSystem();
    await system.team.create({ id: "t", name: "t" });
    await system.person.create({ id: "a", isOpen: true, teamId: "t" });
    await system.person.create({ id: "b", isOpen: false, teamId: "t" });
    const answer = await app.as(null).request("PATCH", "/api/people/a", { isOpen: false, friendId: "b" });
    expect(answer).toMatchObject({ status: 200 });
    expect(await system.person.get("a")).toMatchObject({ isOpen: false, friendId: "b" });
  });
});

describe("a reference of a record to itself", () => {
  const low = defineRule("rawLow", () => ({ above: { level: 1 } }));
  const rung = entity("rung", { level: int, above: belongsTo(() => rung).optional() }).rules({
    read: [low],
    update: ["everyone"],
  });

  it.each(ALL_DATABASES)("is stored on %s while the caller sees the record before and after", async (_, open) => {
    const database = await open();
    onTestFinished(() => database.drop());
    const app = createTestApp({ entities: [rung], driver: database.driver });
    onTestFinished(() => app.close());
    await app.api.ready;
    const system = app.api.asSystem();
    await system.rung.create({ id: "a", level: 1 });
    await system.rung.create({ id: "b", level: 1, aboveId: "a" });
    const answer = await app.as(null).request("PATCH", "/api/rungs/b", { aboveId: "b" });
    expect(answer).toMatchObject({ status: 200, body: { aboveId: "b" } });
  });
});
