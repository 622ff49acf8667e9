import { afterEach, describe, expect, it } from "vitest";
import { action, bulkUpdateAction, defineRule, entity, int, memoryDriver, string } from "../../../src/index.ts";
import { idempotency } from "../../../src/plugins/idempotency/index.ts";
import { createTestApp } from "../../../src/testing/index.ts";

const signedIn = ["authenticated"] as const;
const written = { create: signedIn, update: signedIn, delete: signedIn };
const ofTenant = defineRule("ofTenant", ({ user }) => ({ tenant: String(user?.role) }));
const sameTenant = defineRule("sameTenant", ({ user, record }) => record?.tenant === user?.role);

const byCondition = entity("letter", { tenant: string, text: string })
  .rules({ ...written, read: [ofTenant] })
  .actions({
    forward: action()
      .rules("authenticated")
      .handler(async ({ client, driver }) => {
        const letter = await client("letter").get("r");
        await driver.update("letter", { id: "r" }, { tenant: "south" });
        return { letter };
      }),
  });
const byCount = entity("tag", { tenant: string, text: string })
  .rules({ ...written, read: [ofTenant] })
  .actions({
    "bulk-update": bulkUpdateAction,
    rename: action()
      .rules("authenticated")
      .handler(async ({ scope }) => {
        const { total } = await scope.run({ kind: "update", entity: "tag", ids: ["r", "none"], data: { text: "new" } });
        return { total };
      }),
  });
const byRecord = entity("parcel", { tenant: string, text: string }).rules({ ...written, read: [sameTenant] });
const byField = entity("safe", { tenant: string, text: string.readable(ofTenant) }).rules({
  ...written,
  read: signedIn,
});
const amount = entity("amount", { tenant: string, value: int })
  .rules({ ...written, read: [ofTenant] })
  .actions({
    sum: action()
      .rules("authenticated")
      .handler(async ({ client }) => ({ groups: await client("amount").aggregate({ sum: ["value"] }) })),
  });

const apps: { close(): Promise<unknown> }[] = [];
afterEach(() => Promise.all(apps.splice(0).map((app) => app.close())));

function opened() {
  const row = { id: "r", tenant: "north", text: "secret" };
  const amounts = [
    { id: "a", tenant: "north", value: 100 },
    { id: "b", tenant: "south", value: 7 },
  ];
  const driver = memoryDriver({
    letter: [{ ...row }],
    tag: [{ ...row }],
    parcel: [{ ...row }],
    safe: [{ ...row }],
    amount: amounts,
  });
  const app = createTestApp({
    entities: [byCondition, byCount, byRecord, byField, amount],
    driver,
    plugins: [idempotency()],
  });
  apps.push(app);
  const send = async (role: string, path: string, body: unknown) =>
    (await app.as({ id: "ann", role }).request("POST", `/api${path}`, body, { "idempotency-key": "k" })).status;
  return { driver, send };
}

describe("a response that shows a record which cannot be read afterwards", () => {
  const changes = (path: string) => [
    { method: "PATCH", path, body: { text: "secret, still" } },
    { method: "DELETE", path },
  ];

  it.each([
    ["a condition", "/letters/r"],
    ["a condition on a field", "/safes/r"],
    ["a look at the record", "/parcels/r"],
  ])("is not repeated if the request deleted it, under a rule with %s", async (_, path) => {
    const { send } = opened();
    const ask = (role: string) => send(role, "/batch", changes(path));
    expect([await ask("north"), await ask("south"), await ask("north")]).toEqual([200, 403, 403]);
  });

  it("is not repeated if the right was lost during the request", async () => {
    const { send } = opened();
    const ask = () => send("north", "/letters/forward", {});
    expect([await ask(), await ask()]).toEqual([200, 403]);
  });
});

describe("a response with the number of changed records", () => {
  it.each([
    ["an action", "/tags/rename", {}],
    ["a bulk update", "/tags/bulk-update", { ids: ["r"], data: { text: "new" } }],
  ])("is not repeated once they cannot be read: of %s", async (_, path, body) => {
    const { send } = opened();
    const ask = (role: string) => send(role, path, body);
    expect([await ask("north"), await ask("south"), await ask("north")]).toEqual([200, 403, 200]);
  });
});

describe("a response that aggregates records", () => {
  it("is not repeated once the caller may read other ones, even as many", async () => {
    const { driver, send } = opened();
    const ask = () => send("north", "/amounts/sum", {});
    expect([await ask(), await ask()]).toEqual([200, 200]);
    await driver.update("amount", { id: "a" }, { tenant: "south" });
    await driver.update("amount", { id: "b" }, { tenant: "north" });
    expect(await ask()).toBe(403);
  });
});
