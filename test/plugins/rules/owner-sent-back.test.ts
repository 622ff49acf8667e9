import { describe, expect, it } from "vitest";
import { belongsTo, defineRule, entity, hasMany, manyToMany, string } from "../../../src/index.ts";
import { createTestApp } from "../../../src/testing/index.ts";
import { SQL_DATABASES } from "../../support/sql-databases.ts";

const everyone = ["everyone"];
const member = defineRule("osbMember", ({ user }) => ({ room: { members: { userId: String(user?.id) } } }));
const user = entity("user", { name: string.optional() }).rules({ read: everyone });
const label = entity("label", { name: string.optional() }).rules({ read: everyone });
const room = entity("room", { members: hasMany(() => seat) }).rules({ read: everyone });
const seat = entity("seat", { userId: string, room: belongsTo(() => room) }).rules({ read: everyone });
const note = entity("note", {
  owner: belongsTo(() => user),
  room: belongsTo(() => room),
  labels: manyToMany(() => label),
})
  .ownedBy("owner")
  .rules({ read: [member], update: everyone });

describe.each(SQL_DATABASES)("the owner's column, on %s", (_, open) => {
  it("may be sent back by a reader of the record together with pairs", async () => {
    const database = await open();
    const app = createTestApp({ entities: [user, label, room, seat, note], driver: database.driver });
    try {
      await app.api.ready;
      const system = app.api.asSystem();
      await system.user.create({ id: "bob" });
      await system.label.create({ id: "l" });
      await system.room.create({ id: "r" });
      await system.seat.create({ userId: "ann", roomId: "r" });
      await system.note.create({ id: "n", ownerId: "bob", roomId: "r" });
      const ann = app.as({ id: "ann" });
      for (const pairs of [{ labelsIds: ["l"] }, { labelsIds: [] }, { labels: { connect: ["l"] } }]) {
        const { status } = await ann.request("PATCH", "/api/notes/n", { ownerId: "bob", ...pairs });
        expect(status).toBe(200);
      }
      expect(await app.api.driver.links("note", "labels", ["n"])).toEqual([{ source: "n", target: "l" }]);
      const stranger = app.as({ id: "eve" });
      const { status } = await stranger.request("PATCH", "/api/notes/n", {
        ownerId: "bob",
        labels: { connect: ["l"] },
      });
      expect(status).toBe(403);
    } finally {
      await app.close();
      await database.drop();
    }
  });
});
