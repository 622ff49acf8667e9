import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { action, belongsTo, defineRule, entity, hasMany, int, memoryDriver, string } from "../../../src/index.ts";
import { idempotency } from "../../../src/plugins/idempotency/index.ts";
import { createTestApp } from "../../../src/testing/index.ts";

// A response that depends on a field which only some records show is repeated only while the same records show it.

const everyone = ["everyone"];
const sameTeam = defineRule("sameTeamOfCounts", ({ user }) => ({ team: { members: { userId: String(user?.id) } } }));
const team = entity("team", { name: string, members: hasMany(() => access), people: hasMany(() => person) })
  .rules({ read: everyone, update: everyone })
  .actions({
    rich: action()
      .onResource()
      .handler(async ({ client }) => ({ rich: await client("person").count({ salary: { gte: 5000 } } as never) })),
    top: action()
      .onResource()
      .handler(async ({ client }) => ({
        teams: (await client("team").list({ where: { people: { salary: { gte: 5000 } } } as never })).data.length,
      })),
  });
const access = entity("access", { userId: string, team: belongsTo(() => team) }).rules({ read: everyone });
const person = entity("person", {
  name: string,
  salary: int.optional().readable(sameTeam),
  team: belongsTo(() => team),
}).rules({ read: everyone });

let app: ReturnType<typeof opened>;
const opened = () =>
  createTestApp({
    entities: [team, access, person],
    driver: memoryDriver({
      team: [{ id: "t", name: "T" }],
      access: [{ id: "a", userId: "ann", teamId: "t" }],
      person: [
        { id: "p", name: "P", salary: 9000, teamId: "t" },
        { id: "q", name: "Q", salary: 1000, teamId: "t" },
      ],
    }),
    plugins: [idempotency()],
  });
beforeEach(() => {
  app = opened();
});
afterEach(() => app.close());

describe("a repeated response obeys today's right to a field that only some records show", () => {
  const none = encodeURIComponent(
    JSON.stringify({ people: { where: { salary: { lt: 2000 } }, select: ["name"], count: true } }),
  );
  const nothing = encodeURIComponent(JSON.stringify({ people: { where: { salary: { gte: 99999 } } } }));
  const include = encodeURIComponent(
    JSON.stringify({ people: { where: { salary: { gte: 5000 } }, select: ["name"] } }),
  );
  it.each([
    ["counted by an action", "POST", "/api/teams/t/rich", {}],
    ["by which others are filtered", "POST", "/api/teams/t/top", {}],
    ["by which an include is filtered, with a count", "PATCH", `/api/teams/t?include=${none}`, { name: "N" }],
    ["by which an include is filtered", "PATCH", `/api/teams/t?include=${include}`, { name: "N" }],
    [
      "by which an include of a batch is filtered",
      "POST",
      "/api/batch",
      [{ method: "PATCH", path: `/teams/t?include=${include}`, body: { name: "N" } }],
    ],
    ["by which an include is filtered to nothing", "PATCH", `/api/teams/t?include=${nothing}`, { name: "N" }],
  ])("%s", async (_, method, path, body) => {
    const send = (headers = {}) => app.as({ id: "ann" }).request(method, path, body, headers);
    const key = { "idempotency-key": "k" };
    const first = await send(key);
    expect([first.status, (await send(key)).status]).toEqual([200, 200]);
    await app.api.driver.deleteMany("access", { id: "a" });
    const fresh = await send();
    if (!path.includes("99999")) expect(JSON.stringify(fresh.body)).not.toBe(JSON.stringify(first.body)); // the caller cannot find it out any more
    expect((await send(key)).status).toBe(403);
  });
});
