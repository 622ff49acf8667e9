import { afterEach, describe, expect, it, vi } from "vitest";
import {
  ConfigurationError,
  clearEncryptionKeys,
  type Driver,
  entity,
  initEncryption,
  type KeelsonConfig,
  keelson,
  memoryDriver,
  noopLogger,
  registerEncryptionKey,
  string,
  text,
} from "../../../src/index.ts";
import { KEY_1, KEY_2, KEY_3 } from "./encryption/keys.ts";

const note = entity("note", { secret: text.encrypted(), code: string.encrypted().optional() });
const patient = entity("patient", { ssn: string.encrypted({ searchable: true }) });
const plain = entity("plain", { name: string });

const start = (encryption?: KeelsonConfig["encryption"], driver: Driver = memoryDriver()) => {
  const api = keelson({ entities: [note], driver, logger: noopLogger, ...(encryption && { encryption }) });
  return { api, notes: api.asSystem().note, driver };
};
const secretIn = async (driver: Driver, id: string): Promise<string> =>
  String((await driver.findOne("note", { id }))?.secret);
const environment = (value: string): void => void vi.stubEnv("KEELSON_ENCRYPTION_KEY", value);

afterEach(() => {
  vi.unstubAllEnvs();
  clearEncryptionKeys();
});

describe("an app with encrypted fields", () => {
  it("does not start without a key, and names the fields that need it", () => {
    const boot = () => keelson({ entities: [note, patient, plain], driver: memoryDriver(), logger: noopLogger });
    expect(boot).toThrow(ConfigurationError);
    expect(boot).toThrow(
      /^note\.secret, note\.code, patient\.ssn: \.encrypted\(\) needs a key; pass encryption: \{ key \}/,
    );
    expect(() => keelson({ entities: [plain], driver: memoryDriver(), logger: noopLogger })).not.toThrow();
  });

  it.each(["short", "zz".repeat(32), "١".repeat(64), `${KEY_1}0`, KEY_1.slice(1)])(
    "does not start with an invalid key, and does not repeat it: %s",
    (key) => {
      for (const boot of [
        () => start({ key }),
        () => start({ key: KEY_1, keys: [{ key, keyId: "old" }] }),
        () => {
          environment(key);
          start();
        },
      ]) {
        expect(boot).toThrow(/an encryption key is exactly 64 hexadecimal characters/);
        expect(boot).not.toThrow(key);
      }
    },
  );

  it("writes with its key under its id, and reads values of its other keys", async () => {
    const before = start({ key: KEY_1, keyId: "2023" });
    const { id } = await before.notes.create({ secret: "of 2023" });
    expect(await secretIn(before.driver, id)).toMatch(/^2023:/);
    const after = start({ key: KEY_2, keyId: "2024", keys: [{ key: KEY_1, keyId: "2023" }] }, before.driver);
    expect((await after.notes.get(id)).secret).toBe("of 2023");
    await after.notes.update(id, { secret: "of 2024" });
    expect(await secretIn(after.driver, id)).toMatch(/^2024:/);
    await expect(before.notes.get(id)).rejects.toMatchObject({ code: "DECRYPTION_FAILED", reason: "unknown-key" });
  });

  it("shares nothing with another app in the process", async () => {
    const one = start({ key: KEY_1, keyId: "own" });
    const other = start({ key: KEY_2, keyId: "own" });
    const { id } = await one.notes.create({ secret: "of one" });
    const row = (await one.driver.findOne("note", { id })) ?? expect.fail("it is missing");
    await other.api.ready;
    await other.driver.create("note", row);
    await expect(other.notes.get(id)).rejects.toMatchObject({ code: "DECRYPTION_FAILED", reason: "refused" });
    initEncryption({ key: KEY_1, keyId: "own" });
    await expect(other.notes.get(id)).rejects.toMatchObject({ reason: "refused" });
    expect((await one.notes.get(id)).secret).toBe("of one");
  });

  it("uses the keys of the process if it has no own, including later ones", async () => {
    initEncryption({ key: KEY_1, keyId: "process" });
    const { notes, driver } = start();
    const { id } = await notes.create({ secret: "x" });
    expect(await secretIn(driver, id)).toMatch(/^process:/);
    registerEncryptionKey(KEY_2, "later");
    expect((await notes.get(id)).secret).toBe("x");
  });
});

describe("KEELSON_ENCRYPTION_KEY", () => {
  it("is a key, or one with an id", async () => {
    for (const [text_, id] of [
      [KEY_1, "v1"],
      [`prod:${KEY_1}`, "prod"],
      [` prod:${KEY_1} `, "prod"],
    ] as const) {
      environment(text_);
      const { notes, driver } = start();
      expect(await secretIn(driver, (await notes.create({ secret: "x" })).id)).toMatch(new RegExp(`^${id}:`));
    }
  });

  it("is several keys with ids, the first for writing", async () => {
    environment(`old:${KEY_1}`);
    const before = start();
    const { id } = await before.notes.create({ secret: "x" });
    environment(`new:${KEY_2}, old:${KEY_1}`);
    const after = start(undefined, before.driver);
    expect((await after.notes.get(id)).secret).toBe("x");
    expect(await secretIn(after.driver, (await after.notes.create({ secret: "y" })).id)).toMatch(/^new:/);
  });

  it("needs ids for several keys", () => {
    environment(`new:${KEY_2},${KEY_1}`);
    expect(() => start()).toThrow(/with several keys each needs its id/);
    expect(() => start()).not.toThrow(KEY_1);
  });

  it.each([`a:b:${KEY_1}`, `new:${KEY_2},a:b:${KEY_1}`, `:a:${KEY_1}`, `${KEY_1}:${KEY_2}`])(
    "is refused if only a part of it would be used: %s",
    (text_) => {
      environment(text_);
      expect(() => start()).toThrow(ConfigurationError);
      expect(() => start()).not.toThrow(KEY_1);
    },
  );

  it("is overridden by the app's own keys, and overrides those of the process", async () => {
    environment(`env:${KEY_1}`);
    initEncryption({ key: KEY_2, keyId: "process" });
    const own = start({ key: KEY_3, keyId: "own" });
    expect(await secretIn(own.driver, (await own.notes.create({ secret: "x" })).id)).toMatch(/^own:/);
    const env = start();
    expect(await secretIn(env.driver, (await env.notes.create({ secret: "x" })).id)).toMatch(/^env:/);
  });

  it("that is empty is ignored", () => {
    environment("");
    expect(() => start()).toThrow(/needs a key/);
  });
});
