import { describe, expect, it, onTestFinished } from "vitest";
import {
  belongsTo,
  bulkDeleteAction,
  bulkUpdateAction,
  cloneAction,
  defineRule,
  entity,
  hasMany,
  int,
  string,
  uuid,
} from "../../src/index.ts";
import { createTestApp } from "../../src/testing/index.ts";
import { ALL_DATABASES } from "../support/sql-databases.ts";

// Where transactions run concurrently, a rule about related records first locks the record by its id.

const everyone = { read: ["everyone"], create: ["everyone"] };
const ofOwner = defineRule("niOfOwner", ({ user }) => ({ order: { owner: String(user?.id) } }));
const rules = { ...everyone, update: [ofOwner], delete: [ofOwner] };
const actions = { bulkUpdate: bulkUpdateAction, bulkDelete: bulkDeleteAction, clone: cloneAction() };

const order = entity("order", {
  owner: string,
  lines: hasMany(() => line),
  notes: hasMany(() => note),
  marks: hasMany(() => mark),
})
  .id(string)
  .rules({ ...everyone, update: ["everyone"] });
const reference = { order: belongsTo(() => order), text: string };
const line = entity("line", { ...reference, place: int })
  .id(["orderId", "place"])
  .rules(rules)
  .actions(actions);
const note = entity("note", reference).id(int).rules(rules).actions(actions);
const mark = entity("mark", reference).id(uuid).rules(rules).actions(actions);

describe.each(ALL_DATABASES)("on %s", (_, open) => {
  it("invalid ids are treated as ids of missing records", async () => {
    const database = await open();
    onTestFinished(() => database.drop());
    const app = createTestApp({ entities: [order, line, note, mark], driver: database.driver });
    onTestFinished(() => app.close());
    await app.api.ready;
    const ann = app.as({ id: "ann" });
    await ann.request("POST", "/api/orders", { id: "o", owner: "ann" });
    await ann.request("POST", "/api/lines", { orderId: "o", place: 1, text: "" });
    const texts = ["x", "1.0", "o~1~1", "o~01", "99999999999999999999", "%"];
    const one = [
      ["GET", "", undefined],
      ["PATCH", "", { text: "new" }],
      ["DELETE", "", undefined],
      ["POST", "/clone", undefined],
    ] as const;
    for (const route of ["lines", "notes", "marks"]) {
      for (const text of texts)
        for (const [method, rest, body] of one) {
          const path = `${route}/${encodeURIComponent(text)}${rest}`;
          expect.soft(await ann.request(method, `/api/${path}`, body), path).toMatchObject({ status: 404 });
        }
      const changed = await ann.request("PUT", `/api/${route}/bulk`, { ids: ["o~1", ...texts], data: { text: "new" } });
      expect.soft(changed.body, route).toEqual({ count: route === "lines" ? 1 : 0 });
      const deleted = await ann.request("DELETE", `/api/${route}/bulk`, { ids: texts });
      expect.soft(deleted.body, route).toEqual({ count: 0 });
      const moved = route === "lines" ? [] : [{ connect: texts }, { set: texts }]; // their key is part of the id
      const nested = [
        ...moved,
        { disconnect: texts },
        { delete: texts },
        { update: texts.map((id) => ({ id, text: "new" })) },
      ];
      for (const write of nested)
        expect
          .soft(await ann.request("PATCH", "/api/orders/o", { [route]: write }), JSON.stringify(write))
          .toMatchObject({ status: 404 });
    }
    expect((await ann.request("GET", "/api/lines")).body).toMatchObject([{ id: "o~1", text: "new" }]);
  });
});
