import { afterEach, describe, expect, it } from "vitest";
import {
  ConfigurationError,
  entity,
  keelson,
  memoryDriver,
  type PasswordHasher,
  string,
  verifyPassword,
} from "../../../src/index.ts";
import { createTestApp, recordingLogger } from "../../../src/testing/index.ts";
import { createHandlerApp } from "./handler-app.ts";

const everyone = { create: ["everyone"], read: ["everyone"], update: ["everyone"] };
const user = entity("user", {
  name: string.default("somebody"),
  password: string.password({ cost: 1 }),
  pin: string.password({ cost: 2 }).min(4).max(6).optional(),
}).rules(everyone);

const app = createHandlerApp({ entities: [user] });
const send = (method: string, path: string, body?: unknown) => app.as(null).request(method, `/api/users${path}`, body);
const rowOf = async (id: string) => (await app.api.driver.findOne("user", { id })) as Record<string, string | null>;

/** A user with a password. */
async function signUp(password = "correct horse", more: object = {}): Promise<string> {
  const { status, body } = await send("POST", "", { password, ...more });
  expect(status).toBe(201);
  return (body as { id: string }).id;
}
afterEach(() => app.api.driver.deleteMany("user", { id: { null: false } }));

describe("a password", () => {
  it("is stored as a hash with the iterations of its cost, on create and on update", async () => {
    const id = await signUp("correct horse", { pin: "1234" });
    const { password, pin } = await rowOf(id);
    expect(password).toMatch(/^\$pbkdf2\$2000\$[A-Za-z0-9+/]{22}==\$[A-Za-z0-9+/]{86}==$/);
    expect(pin).toMatch(/^\$pbkdf2\$4000\$/);
    expect(await verifyPassword("correct horse", password)).toBe(true);
    expect(JSON.stringify(await app.api.driver.findMany("user"))).not.toContain("correct horse");
    expect((await send("PATCH", `/${id}`, { password: "another horse" })).status).toBe(200);
    const changed = await rowOf(id);
    expect(await verifyPassword("another horse", changed.password)).toBe(true);
    expect(await verifyPassword("correct horse", changed.password)).toBe(false);
    expect(changed.pin).toBe(pin);
  });

  it("has 1,024,000 iterations by default", async () => {
    const plain = createTestApp({
      entities: [entity("user", { password: string.password() }).rules(everyone)],
      driver: memoryDriver(),
      logger: recordingLogger(),
    });
    const { id } = await plain.api.asSystem().user.create({ password: "correct horse" });
    expect((await plain.api.driver.findOne("user", { id }))?.password).toMatch(/^\$pbkdf2\$1024000\$/);
    await plain.close();
  });

  it("is in no response, for any caller", async () => {
    const id = await signUp();
    const answers = [
      await send("POST", "", { password: "correct horse" }),
      await send("GET", ""),
      await send("GET", `/${id}`),
      await send("PUT", `/${id}`, { password: "another horse" }),
    ];
    for (const { body } of answers) expect(JSON.stringify(body)).not.toMatch(/password|pbkdf2/);
    expect(Object.keys(await app.api.asSystem().user.get(id))).not.toContain("password");
  });

  it.each(["PUT", "PATCH"])("stays unchanged byte for byte if %s does not send it", async (method) => {
    const id = await signUp();
    const before = await rowOf(id);
    expect((await send(method, `/${id}`, { name: "else" })).status).toBe(200);
    expect(await rowOf(id)).toMatchObject({ name: "else", password: before.password });
    await app.api.asSystem().user.update(id, { name: "again" });
    expect((await rowOf(id)).password).toBe(before.password);
  });

  it("that looks like a hash is hashed; the stored hash does not log in", async () => {
    const stolen = String((await rowOf(await signUp())).password);
    for (const literal of [stolen, "$pbkdf2$1$AA==$AA==", "$scrypt$ln=17,r=8,p=1$AAAA$AAAA"]) {
      const id = await signUp(literal);
      const { password } = await rowOf(id);
      expect(password).toMatch(/^\$pbkdf2\$2000\$/);
      expect(password).not.toBe(literal);
      expect(await verifyPassword(literal, password)).toBe(true);
      expect(await verifyPassword("correct horse", password)).toBe(false);
    }
  });

  it("is used exactly as it was sent", async () => {
    const given = ["  spaces around  ", "caf\u00e9 au lait", "cafe\u0301 au lait", `${"x".repeat(80)}1`];
    const others = ["spaces around", "cafe\u0301 au lait", "caf\u00e9 au lait", `${"x".repeat(80)}2`];
    for (const [index, password] of given.entries()) {
      const stored = (await rowOf(await signUp(password))).password;
      expect(await verifyPassword(password, stored)).toBe(true);
      expect(await verifyPassword(String(others[index]), stored)).toBe(false);
    }
  });

  const LONGEST = "é".repeat(512);
  it.each([
    ["is shorter than 8 characters", "7 chars", "must be at least 8 characters"],
    ["is empty", "", "must be at least 8 characters"],
    ["is null", null, "is required"],
    ["is no text", 12345678, "must be a string"],
    ["is a list", ["correct horse"], "must be a string"],
    ["is longer than 1,024 bytes", `${LONGEST}x`, "must be at most 1024 bytes"],
    ["has a NUL", "correct\u0000horse", "must be well-formed text without NUL characters"],
    ["is half a surrogate pair", "correct \ud800 horse", "must be well-formed text without NUL characters"],
  ])("that %s is refused with a message that does not repeat it", async (_, password, message) => {
    const id = await signUp();
    const before = await rowOf(id);
    for (const [method, path] of [
      ["POST", ""],
      ["PATCH", `/${id}`],
    ] as const) {
      const { status, body } = await send(method, path, { password });
      expect([status, (body as { errors: object }).errors]).toEqual([400, { password: message }]);
      if (typeof password === "string" && password !== "") expect(JSON.stringify(body)).not.toContain(password);
    }
    expect(await rowOf(id)).toEqual(before);
  });

  it("may have 1,024 bytes, and as few characters as the field allows", async () => {
    expect(await verifyPassword(LONGEST, (await rowOf(await signUp(LONGEST))).password)).toBe(true);
    expect((await send("POST", "", { password: "correct horse", pin: "123" })).status).toBe(400);
    expect((await send("POST", "", { password: "correct horse", pin: "1234567" })).status).toBe(400);
    expect((await send("POST", "", { password: "correct horse", pin: "1234" })).status).toBe(201);
  });

  it("that is optional may be absent, and may be set to null", async () => {
    const id = await signUp("correct horse", { pin: "1234" });
    expect((await send("PATCH", `/${id}`, { pin: null })).status).toBe(200);
    expect((await rowOf(id)).pin).toBeNull();
    expect((await rowOf(await signUp())).pin).toBeNull();
  });
});

describe("code that writes without an operation", () => {
  const now = new Date();
  const row = (id: string, password: string) => ({ id, name: id, password, pin: null, createdAt: now, updatedAt: now });

  it("has its passwords hashed by the driver of a handler, also in a transaction", async () => {
    await app.inHandler(async ({ driver }) => {
      await driver.create("user", row("a", "password a"));
      await driver.createMany("user", [row("b", "password b"), row("c", "password c")]);
      await driver.update("user", { id: "b" }, { password: "password b2" });
      await driver.transaction(async (inner) => {
        await inner.create("user", row("d", "password d"));
        await inner.transaction((deeper) => deeper.updateMany("user", { id: "c" }, { password: "password c2" }));
      });
      await driver.update(user, { id: "a" }, { name: "still a" });
    });
    for (const [id, password] of Object.entries({
      a: "password a",
      b: "password b2",
      c: "password c2",
      d: "password d",
    }))
      expect(await verifyPassword(password, (await rowOf(id)).password), id).toBe(true);
  });

  it("has them hashed once by an operation", async () => {
    const { value: made } = await app.inHandler((scope) =>
      scope.run({ kind: "create", entity: user, data: { password: "correct horse" } }),
    );
    const { password } = await rowOf(String(made.records[0]?.id));
    expect(await verifyPassword("correct horse", password)).toBe(true);
  });

  it("may write more passwords at once than the queue holds", async () => {
    const rows = Array.from({ length: 70 }, (_, index) => row(`u${index}`, `password ${index}`));
    expect((await app.inHandler(({ driver }) => driver.createMany("user", rows))).value).toBe(70);
    expect(await verifyPassword("password 69", (await rowOf("u69")).password)).toBe(true);
  });

  it("cannot store an invalid password", async () => {
    for (const password of ["", `${"é".repeat(512)}x`, "a\u0000b"])
      await expect(app.inHandler(({ driver }) => driver.create("user", row("a", password)))).rejects.toThrow(
        /^A password/,
      );
    expect(await app.api.driver.count("user")).toBe(0);
  });

  it("finds the app's hasher among the services", async () => {
    const hasher = app.api.resolve<PasswordHasher>("field-security.passwords");
    expect(await hasher.verify("correct horse", await hasher.hash("correct horse", { cost: 1 }))).toBe(true);
  });
});

describe("the cost of a password", () => {
  const start = (cost: number, production: boolean) => {
    const log = recordingLogger();
    const costly = entity("account", { secret: string.password({ cost }) });
    const api = keelson({ entities: [costly], driver: memoryDriver(), logger: log, production });
    return { api, log };
  };

  it.each([0, 15, 2.5, Number.NaN, -1, "10" as never])("of %s keeps an app from starting", (cost) => {
    expect(() => start(cost, false)).toThrow(ConfigurationError);
    expect(() => start(cost, false)).toThrow(/account\.secret: .*whole number from 1 to 14/);
  });

  it("that is too low causes a warning in development, and an error in production", () => {
    expect(() => start(7, true)).toThrow("account.secret: .password({ cost: 7 }) is too cheap to protect anybody");
    expect(start(7, false).log.lines.join()).toContain("warn account.secret: .password({ cost: 7 }) is too cheap");
    expect(start(8, true).log.lines).toEqual([]);
  });

  it("that makes logins slow causes a warning", () => {
    expect(start(12, true).log.lines.join()).toContain("takes a processor about 1.6 s for every login");
  });
});
