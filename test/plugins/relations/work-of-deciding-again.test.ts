import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { belongsTo, defineRule, entity, hasMany, manyToMany, string } from "../../../src/index.ts";
import { createTestApp } from "../../../src/testing/index.ts";
import { recordStatements } from "../../support/record-statements.ts";
import { SQL_DATABASES } from "../../support/sql-databases.ts";

const everyone = ["everyone"] as const;
const all = { read: everyone, create: everyone, update: everyone, delete: everyone };
const member = defineRule(
  "wdaMember",
  ({ user, record }) => record?.name !== "locked" && { members: { person: { login: String(user?.id) } } },
);
const person = entity("person", { login: string }).rules(all);
const access = entity("access", {
  person: belongsTo(() => person),
  team: belongsTo(() => team).optional(),
  note: belongsTo(() => note).optional(),
}).rules(all);
const team = entity("team", {
  name: string.default("one"),
  members: hasMany(() => access),
  notes: manyToMany(() => note),
}).rules({ ...all, update: [member] });
const note = entity("note", {
  text: string,
  teams: manyToMany(() => team),
  grants: hasMany(() => access),
}).rules(all);

const POSTGRES = SQL_DATABASES.filter(([name]) => name === "PostgreSQL");
describe.each(POSTGRES)("the work of deciding again, on %s", (_name, open) => {
  let database: Awaited<ReturnType<typeof open>>;
  let driver: ReturnType<typeof recordStatements>;
  let app: ReturnType<typeof opened>;
  const opened = () => createTestApp({ entities: [person, access, team, note], driver });
  beforeAll(async () => {
    database = await open();
    driver = recordStatements(database.driver);
    app = opened();
    await app.api.ready;
  });
  afterAll(async () => {
    await app?.close();
    await database?.drop();
  });
  const ann = () => app.as({ id: "ann" });
  const names = (prefix: string, count: number) => Array.from({ length: count }, (_, index) => `${prefix}${index + 1}`);

  it("grows with pairs plus nested writes, and not with their product", async () => {
    const COUNT = 40;
    const system = app.api.asSystem();
    await system.person.create({ id: "ann", login: "ann" });
    await system.person.create({ id: "bob", login: "bob" });
    const ids = names("t", COUNT);
    for (const id of ids) {
      await system.team.create({ id });
      await system.access.create({ id: `a${id}`, personId: "ann", teamId: id });
      await system.access.create({ id: `b${id}`, personId: "bob", teamId: id });
    }
    const statementsOf = async (teams: readonly string[], grants: readonly string[]): Promise<number> => {
      driver.statements.length = 0;
      const answer = await ann().request("POST", "/api/notes", {
        text: "x",
        teamsIds: teams,
        grants: { connect: grants },
      });
      expect(answer).toMatchObject({ status: 201 });
      return driver.statements.length;
    };
    const grants = ids.map((id) => `b${id}`);
    const pairs = await statementsOf(ids, grants.slice(0, 1));
    const nested = await statementsOf(ids.slice(0, 1), grants);
    expect(await statementsOf(ids, grants)).toBeLessThan(2 * (pairs + nested));
  });
});
