import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  action,
  all,
  belongsTo,
  defineRule,
  entity,
  hasMany,
  memoryDriver,
  type RemoteService,
  string,
} from "../../../src/index.ts";
import { idempotency } from "../../../src/plugins/idempotency/index.ts";
import { createTestApp } from "../../../src/testing/index.ts";

const signedIn = ["authenticated"] as const;
const written = { read: signedIn, create: signedIn, update: signedIn };
const insider = defineRule("replayInsider", ({ user }) => user?.role === "insider");
const sameTeam = defineRule("replaySameTeam", ({ user }) => ({ team: String(user?.role) }));
const isDraft = defineRule("replayDraft", () => ({ state: "draft" }));
const boss = defineRule("replayBoss", ({ user }) => ({ boss: String(user?.role) }));

const memo = entity("memo", { text: string, team: string, state: string })
  .rules({ read: [sameTeam], update: [all(sameTeam, isDraft)] })
  .actions({
    send: action()
      .onResource()
      .handler(async ({ record, driver }) => {
        await driver.update("memo", { id: record.id }, { state: "sent" });
        return { sent: record.text };
      }),
  });
const poster = entity("poster", { code: string.unique(), text: string, team: string }).rules({
  read: signedIn,
  create: signedIn,
  update: [sameTeam],
});
const hall = entity("hall", { name: string, rooms: hasMany(() => room) }).rules(written);
const room = entity("room", {
  boss: string,
  code: string.readable(boss),
  hall: belongsTo(() => hall),
}).rules({ read: signedIn });
const plan = entity("plan", { title: string })
  .timestamps(false)
  .rules({ read: [insider] });
const invoice = entity("invoice", { title: string, plan: belongsTo(() => plan).optional() })
  .timestamps(false)
  .rules({ read: signedIn });
const rebate = entity("rebate", { title: string }).rules({ read: [insider] });
const customer = entity("customer", {
  name: string,
  plan: belongsTo(() => plan)
    .remote("billing")
    .optional(),
  invoice: belongsTo(() => invoice)
    .remote("billing")
    .optional(),
  rebate: belongsTo(() => rebate)
    .remote()
    .optional(),
}).rules(written);

const billing: RemoteService = {
  fetchByIds: async (name, ids) => (name === "invoice" ? ids.map((id) => ({ id, title: id, plan: null })) : []),
};

let app: ReturnType<typeof opened>;
beforeEach(() => {
  app = opened();
});
afterEach(() => app.close());

function opened() {
  const driver = memoryDriver({
    poster: [{ id: "p", code: "c", text: "open", team: "insider" }],
    memo: [{ id: "m", text: "secret", team: "insider", state: "draft" }],
    hall: [{ id: "h", name: "Hall" }],
    room: [{ id: "r", boss: "insider", code: "1234", hallId: "h" }],
  });
  const entities = [memo, poster, hall, room, customer, rebate] as const;
  return createTestApp({ entities, driver, services: { billing: () => billing }, plugins: [idempotency()] });
}

async function statuses(method: string, path: string, body: unknown): Promise<readonly number[]> {
  const found: number[] = [];
  for (const role of ["insider", "insider", "outsider"])
    found.push((await app.as({ id: "ann", role }).request(method, path, body, { "idempotency-key": "k" })).status);
  return found;
}

describe("the response to an update is not repeated once the right to it is lost", () => {
  it.each([
    ["PATCH", "/api/posters/p"],
    ["PUT", "/api/posters/p"],
    ["PUT", "/api/posters?_on=code"],
  ])("although the record can still be read: %s %s", async (method, path) => {
    expect(await statuses(method, path, { code: "c", text: "new", team: "insider" })).toEqual([200, 200, 403]);
  });
});

describe("a response is not repeated once the right to read is lost", () => {
  it("to the record of an action that has ended its own right", async () => {
    expect(await statuses("POST", "/api/memos/m/send", {})).toEqual([200, 200, 403]);
  });

  it("to a field that chooses the records of an include", async () => {
    const include = encodeURIComponent(JSON.stringify({ rooms: { where: { code: "9999" } } }));
    expect(await statuses("PATCH", `/api/halls/h?include=${include}`, { name: "New" })).toEqual([200, 200, 403]);
  });

  it.each([
    ["plan", { planId: "none" }],
    ["invoice.plan", { invoiceId: "i" }],
    ["rebate", { rebateId: "none" }],
  ])("to the entity of a remote relation that leads to no record: %s", async (include, keys) => {
    const body = { name: "Ann", ...keys };
    expect(await statuses("POST", `/api/customers?include=${include}`, body)).toEqual([201, 201, 403]);
  });
});
