import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  action,
  belongsTo,
  createPlugin,
  defineRule,
  endpoint,
  entity,
  hasMany,
  memoryDriver,
  step,
  string,
} from "../../../src/index.ts";
import type { OperationScope } from "../../../src/plugin.ts";
import { idempotency } from "../../../src/plugins/idempotency/index.ts";
import { createTestApp } from "../../../src/testing/index.ts";

const signedIn = ["authenticated"] as const;
const member = defineRule("meanwhileMember", ({ user }) => ({ room: { seats: { userId: String(user?.id) } } }));
const ofDraft = defineRule("meanwhileDraft", () => ({ text: "draft" }));
const own = () => action().rules("authenticated");

/** What happens while a handler waits. */
let meanwhile: () => Promise<unknown>;
let driver: ReturnType<typeof memoryDriver>;
const leave = () => driver.deleteMany("seat", { userId: "ann" });

const room = entity("room", { name: string, seats: hasMany(() => seat), memos: hasMany(() => memo) }).rules({
  read: signedIn,
});
const seat = entity("seat", { userId: string, room: belongsTo(() => room) }).rules({ read: signedIn });
const memo = entity("memo", { text: string, room: belongsTo(() => room) })
  .rules({ read: [member], update: [member], create: signedIn })
  .actions({
    summary: action()
      .onResource()
      .handler(async ({ record }) => {
        await meanwhile();
        return { text: record.text };
      }),
    leave: action()
      .onResource()
      .handler(async () => {
        await leave();
        return { left: true };
      }),
    tally: own().handler(async ({ client }) => {
      const count = await client("memo").count();
      await meanwhile();
      return { count };
    }),
    related: own().handler(async ({ client }) => {
      const { data } = await client("room").list({ where: { memos: { text: "draft" } } });
      await meanwhile();
      return { found: data.length > 0 };
    }),
    tallyInStep: own().workflow([
      step("count", async ({ client }) => {
        const count = await client("memo").count();
        await meanwhile();
        return { count };
      }),
    ]),
    add: own().handler(async ({ client }) => {
      const count = await client("memo").count();
      await client("memo").create({ text: "new", roomId: "r" });
      return { count };
    }),
  });
const inbox = entity("inbox", { text: string })
  .rules({ read: ["admin"], update: [ofDraft] })
  .actions({
    send: action()
      .onResource()
      .handler(async ({ record }) => {
        await driver.update("inbox", { id: record.id }, { text: "sent" });
        return { sent: true };
      }),
  });
interface Counting {
  count(): Promise<number>;
}
const desks = createPlugin({
  id: "acme/meanwhile",
  setup: ({ clientFor }) => ({ clientFor }),
  endpoints: {
    count: endpoint<{ clientFor(scope: OperationScope): Record<string, Counting> }>("/memo-count", {
      method: "POST",
      rules: ["authenticated"],
      async handler({ scope }, { clientFor }) {
        const count = await clientFor(scope).memo?.count();
        await meanwhile();
        return { count };
      },
    }),
  },
});

let app: ReturnType<typeof opened>;
function opened() {
  return createTestApp({ entities: [room, seat, memo, inbox], driver, plugins: [idempotency(), desks] });
}
beforeEach(() => {
  meanwhile = async () => {};
  driver = memoryDriver({
    room: [{ id: "r", name: "Room" }],
    seat: [{ id: "s", userId: "ann", roomId: "r" }],
    memo: [{ id: "m", text: "draft", roomId: "r" }],
    inbox: [{ id: "i", text: "draft" }],
  });
  app = opened();
});
afterEach(() => app.close());

async function send(path: string): Promise<number> {
  return (await app.as({ id: "ann" }).request("POST", path, {}, { "idempotency-key": "k" })).status;
}

describe("a response is not repeated if the caller could not read at its end", () => {
  it.each([
    ["what its handler counted", "/api/memos/tally"],
    ["what a step of its workflow counted", "/api/memos/tallyInStep"],
    ["what an endpoint counted", "/memo-count"],
    ["the related records that a filter looked at", "/api/memos/related"],
  ])("%s", async (_, path) => {
    meanwhile = leave;
    expect([await send(path), await send(path)]).toEqual([200, 403]);
  });

  it("one of the records that its handler counted", async () => {
    await app.api.asSystem().memo.create({ id: "n", text: "other", roomId: "r" });
    meanwhile = () => driver.deleteMany("memo", { id: "n" });
    expect([await send("/api/memos/tally"), await send("/api/memos/tally")]).toEqual([200, 403]);
  });
});

describe("a response is repeated", () => {
  it.each([
    ["if nothing was lost", "/api/memos/m/summary"],
    ["if the action took the record out of the caller's reach", "/api/memos/m/leave"],
    ["if the handler counted before it added a record", "/api/memos/add"],
    ["if the request ended the right of a caller who never could read the record", "/api/inboxes/i/send"],
  ])("%s", async (_, path) => {
    expect([await send(path), await send(path)]).toEqual([200, 200]);
  });

  it("if there was nothing to count", async () => {
    await leave();
    expect([await send("/api/memos/tally"), await send("/api/memos/tally")]).toEqual([200, 200]);
  });
});
