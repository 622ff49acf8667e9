import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { entity, fieldSecurity, memoryDriver, string, type Where } from "../../../../src/index.ts";
import type { OnDecryptError } from "../../../../src/plugins/field-security/index.ts";
import { recordingLogger } from "../../../../src/testing/index.ts";
import { KEY_1 } from "../encryption/keys.ts";
import { createHandlerApp } from "../handler-app.ts";

const user = entity("user", {
  name: string,
  email: string.encrypted({ searchable: true }).unique().optional(),
  secret: string.encrypted().optional(),
}).rules({ read: ["everyone"] });

function makeApp(bind: boolean, onDecryptError: OnDecryptError = "fail") {
  const driver = memoryDriver();
  const log = recordingLogger();
  const app = createHandlerApp(
    { entities: [user], driver, logger: log, encryption: { key: KEY_1, bind } },
    (defaults) =>
      defaults.replace("field-security", fieldSecurity({ encryption: { key: KEY_1, bind }, onDecryptError })),
  );
  return { ...app, driver, log };
}
type App = ReturnType<typeof makeApp>;

/** Eve has write access to the table, and moves the administrator's index to herself. */
async function moveIndex({ api, driver }: App): Promise<void> {
  const users = api.asSystem().user;
  await users.create({ id: "admin", name: "Admin", email: "admin@shop", secret: "canary" });
  await users.create({ id: "eve", name: "Eve", email: "eve@shop" });
  const eve = await driver.findOne("user", { id: "eve" });
  await driver.update("user", { id: "eve" }, { emailBidx: null });
  await driver.update("user", { id: "admin" }, { emailBidx: eve?.emailBidx });
}

describe("a blind index that was moved to another record", () => {
  let app: App;
  beforeEach(async () => {
    app = makeApp(true);
    await moveIndex(app);
  });
  afterEach(() => app.close());
  const find = (where: Where, select?: readonly string[]) =>
    app.inHandler(({ driver }) => driver.findMany("user", { where, ...(select && { select }) }));

  it("matches no other caller if the key binds", async () => {
    const answer = await app.as(null).request("GET", "/api/users?email=eve@shop");
    expect(answer).toMatchObject({ status: 500, body: { code: "DECRYPTION_FAILED" } });
    expect(JSON.stringify(answer.body)).not.toMatch(/admin|canary/);
    expect(app.log.lines.join("\n")).toMatch(
      /cannot be decrypted .*"entity":"user","field":"email","id":"admin","reason":"refused"/,
    );
  });

  it.each<[string, Where]>([
    ["equality", { email: "eve@shop" }],
    ["a list", { email: ["eve@shop", "nobody"] }],
    ["one of several conditions", { AND: [{ OR: [{ email: "eve@shop" }, { name: "x" }] }, { name: "Admin" }] }],
  ])("matches no other record, with any selection: %s", async (_, where) => {
    for (const select of [undefined, ["name"], ["id"], ["email"], ["secret"]])
      await expect(find(where, select)).rejects.toMatchObject({ code: "DECRYPTION_FAILED", reason: "refused" });
  });

  it("is an error only for requests that read the value", async () => {
    await expect(find({ name: "Admin" }, ["email"])).rejects.toMatchObject({ reason: "refused" });
    expect((await find({ name: "Admin" }, ["name", "secret"])).value).toMatchObject([{ secret: "canary" }]);
    expect(Object.keys((await find({ name: "Eve" }, ["email"])).value[0] ?? {})).toEqual(["email"]);
    expect((await find({ name: "Eve" })).value).toMatchObject([{ email: "eve@shop" }]);
  });

  it("is repaired by writing the value", async () => {
    await app.inHandler(({ driver }) => driver.update("user", { id: "admin" }, { email: "admin@shop" }));
    expect((await find({ email: "admin@shop" })).value).toMatchObject([{ id: "admin" }]);
  });
});

describe("a blind index that was moved", () => {
  it("reads as null if the app allows it, and still matches no other caller", async () => {
    const app = makeApp(true, "null");
    await moveIndex(app);
    expect((await app.api.asSystem().user.list({ sort: ["name"] })).data).toMatchObject([
      { id: "admin", email: null, secret: "canary" },
      { id: "eve", email: "eve@shop" },
    ]);
    expect((await app.as(null).request("GET", "/api/users?email=eve@shop")).status).toBe(500);
    await app.close();
  });

  it("matches the moved value if the key does not bind", async () => {
    const app = makeApp(false);
    await moveIndex(app);
    expect((await app.as(null).request("GET", "/api/users?email=eve@shop")).body).toMatchObject([{ id: "admin" }]);
    await app.close();
  });
});
