import { describe, expect, it, onTestFinished } from "vitest";
import {
  type DecryptionError,
  type Driver,
  entity,
  fieldSecurity,
  keelson,
  memoryDriver,
  noopLogger,
  rotateEncryptionKeys,
  text,
} from "../../../../src/index.ts";
import { encrypt } from "../../../../src/plugins/field-security/encryption/cipher.ts";
import { createKeyRing } from "../../../../src/plugins/field-security/encryption/key-ring.ts";
import { connectDriver } from "../../../support/connect-driver.ts";
import { KEY_1, KEY_2, ringOf, unlabelled } from "../encryption/keys.ts";

const note = entity("note", {
  secret: text.encrypted(),
  phone: text.encrypted({ searchable: true }).optional(),
}).timestamps(false);

/** Rows from before the fields were encrypted, and a later app. */
async function migrating(rows: readonly Record<string, unknown>[], allowPlaintext?: boolean) {
  const driver = memoryDriver();
  await connectDriver(driver, [note]);
  await driver.createMany(note, rows);
  const api = keelson({
    entities: [note],
    driver,
    logger: noopLogger,
    plugins: (defaults) =>
      defaults.replace("field-security", fieldSecurity({ encryption: { key: KEY_1 }, allowPlaintext })),
  });
  onTestFinished(() => api.close());
  await api.ready;
  return { driver, notes: api.asSystem().note };
}

function rotate(driver: Driver, allowPlaintext?: boolean) {
  const ring = createKeyRing({ log: noopLogger });
  ring.register(KEY_1, "v1", { bind: true });
  return rotateEncryptionKeys({ driver, ring, entities: [note], allowPlaintext });
}

const reasonOf = (error: unknown): string => (error as DecryptionError).reason;

describe("values from before a field was encrypted", () => {
  it("fail to be read by default", async () => {
    const { notes } = await migrating([{ id: "old", secret: "in clear" }]);
    expect(reasonOf(await notes.get("old").catch((error: unknown) => error))).toBe("malformed");
  });

  it.each([
    ["a sentence", "in clear"],
    ["empty text", ""],
    ["text with a colon", "key: value"],
    ["a token that could be unlabelled ciphertext", "ab".repeat(32)],
  ])("are returned unchanged with allowPlaintext: %s", async (_, secret) => {
    const { notes } = await migrating([{ id: "old", secret }], true);
    expect((await notes.get("old")).secret).toBe(secret);
  });

  it("are encrypted by the next write", async () => {
    const { driver, notes } = await migrating([{ id: "old", secret: "in clear" }], true);
    await notes.update("old", { secret: "in clear" });
    expect((await driver.findOne(note, { id: "old" }))?.secret).toMatch(/^v1:/);
    expect((await notes.get("old")).secret).toBe("in clear");
  });

  it("do not make undecryptable ciphertext readable", async () => {
    const value = encrypt(ringOf({ v1: KEY_2 }), "of another key");
    const stranger = encrypt(ringOf({ gone: KEY_2 }), "of a key that is gone");
    const rows = [
      { id: "a", secret: value },
      { id: "b", secret: stranger },
    ];
    const { notes } = await migrating(rows, true);
    expect(reasonOf(await notes.get("a").catch((error: unknown) => error))).toBe("refused");
    expect(reasonOf(await notes.get("b").catch((error: unknown) => error))).toBe("unknown-key");
  });

  it.each([
    ["cut off", (value: string) => value.slice(0, -5)],
    ["empty", () => "v1:"],
    ["no base64", (value: string) => `${value.slice(0, -4)}!!!!`],
    ["with white space", (value: string) => `${value}\n`],
  ])("do not include damaged values with a key id of the app: %s", async (_, damage) => {
    const { driver, notes } = await migrating([{ id: "old", secret: damage(encrypt(ringOf(), "secret")) }], true);
    expect(reasonOf(await notes.get("old").catch((error: unknown) => error))).toBe("malformed");
    const before = await driver.findMany(note);
    expect(await rotate(driver, true)).toMatchObject({ reEncrypted: 0, failed: 1 });
    expect(await driver.findMany(note)).toEqual(before);
  });

  it("are distinguished from ciphertext without a key id", async () => {
    const { notes } = await migrating([{ id: "old", secret: unlabelled(encrypt(ringOf(), "legacy")) }], true);
    expect((await notes.get("old")).secret).toBe("legacy");
  });
});

describe("a rotation of keys with allowPlaintext", () => {
  it("encrypts plaintext and makes it searchable", async () => {
    const rows = [
      { id: "a", secret: "one", phone: "555-1" },
      { id: "b", secret: "ab".repeat(32), phone: null },
    ];
    const { driver } = await migrating(rows, true);
    expect(await rotate(driver, true)).toMatchObject({ complete: true, reEncrypted: 3, failed: 0 });
    for (const row of await driver.findMany(note)) expect(row.secret).toMatch(/^v1:/);

    const api = keelson({ entities: [note], driver, logger: noopLogger, encryption: { key: KEY_1, bind: true } });
    const { data } = await api.asSystem().note.list({ where: { phone: "555-1" } });
    expect(data).toMatchObject([{ id: "a", secret: "one", phone: "555-1" }]);
    expect((await api.asSystem().note.get("b")).secret).toBe("ab".repeat(32));
  });

  it("leaves plaintext unchanged without the option", async () => {
    const { driver } = await migrating([{ id: "a", secret: "one" }]);
    expect(await rotate(driver)).toMatchObject({ reEncrypted: 0, failed: 1 });
    expect((await driver.findOne(note, { id: "a" }))?.secret).toBe("one");
  });
});
