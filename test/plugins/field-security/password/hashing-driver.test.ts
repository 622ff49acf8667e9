import { afterAll, beforeEach, describe, expect, it } from "vitest";
import {
  BadRequestError,
  createEnhancedDriver,
  entity,
  memoryDriver,
  string,
  verifyPassword,
  type Where,
} from "../../../../src/index.ts";
import { createHandlerApp } from "../handler-app.ts";
import { hashingOf } from "./hashers.ts";

const user = entity("user", {
  name: string,
  password: string.password({ cost: 1 }).optional(),
  pin: string.password({ cost: 1 }).optional(),
});
const app = createHandlerApp({ entities: [user] });
afterAll(() => app.close());

const now = new Date();
const row = (id: string) => ({ id, name: id, password: `${id} password`, pin: `${id} pin code` });
const rows = async () => (await app.api.driver.findMany("user")) as Record<string, string | null>[];

beforeEach(async () => {
  await app.api.driver.deleteMany("user", { id: { null: false } });
  await app.inHandler(({ driver }) =>
    driver.createMany(
      "user",
      ["a", "b"].map((id) => ({ ...row(id), createdAt: now, updatedAt: now })),
    ),
  );
});

describe("a password for several records at once", () => {
  it.each<[string, Where]>([
    ["a list of ids", { id: { in: ["a", "b"] } }],
    ["a list of one id", { id: { in: ["a"] } }],
    ["another field", { name: "a" }],
    ["one id or another", { OR: [{ id: "a" }, { id: "b" }] }],
    ["every id but one", { NOT: { id: "b" } }],
  ])("is refused without hashing it: %s", async (_, where) => {
    const before = await rows();
    const kinds = await hashingOf(async () => {
      const changed = app.inHandler(({ driver }) => driver.updateMany("user", where, { password: "the same for all" }));
      await expect(changed).rejects.toThrow(BadRequestError);
      await expect(changed).rejects.toThrow("user: records would share one hash of a password; update them one by one");
    });
    expect(kinds).toEqual([]);
    expect(await rows()).toEqual(before);
  });

  it("is refused in a transaction and by an enhanced driver too", async () => {
    const several = { id: { in: ["a", "b"] } };
    await expect(
      app.inHandler((scope) =>
        scope.transaction(({ driver }) => driver.updateMany(user, several, { pin: "the same" })),
      ),
    ).rejects.toThrow(BadRequestError);
    const enhanced = createEnhancedDriver(memoryDriver(), { entities: [user] });
    await enhanced.connect();
    await expect(enhanced.updateMany(user, several, { pin: "the same" })).rejects.toThrow(BadRequestError);
    await enhanced.disconnect();
  });

  it.each<[string, Where]>([
    ["its id", { id: "a" }],
    ["its id among other conditions", { AND: [{ name: "a" }, { id: { eq: "a" } }] }],
  ])("is accepted if the condition names one record: %s", async (_, where) => {
    const [, other] = await rows();
    await app.inHandler(({ driver }) => driver.updateMany("user", where, { password: "another horse" }));
    const [changed, untouched] = await rows();
    expect(await verifyPassword("another horse", changed?.password)).toBe(true);
    expect(untouched).toEqual(other);
  });

  it("may be set to null, and does not affect other fields", async () => {
    const before = await rows();
    const all = { id: { null: false } };
    const updatedAt = new Date(0);
    const change = { password: null, pin: undefined, name: "x", updatedAt };
    await app.inHandler(({ driver }) => driver.updateMany("user", all, change));
    expect(await rows()).toEqual(before.map((one) => ({ ...one, password: null, name: "x", updatedAt })));
  });
});
