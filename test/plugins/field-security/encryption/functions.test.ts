import { afterEach, describe, expect, it } from "vitest";
import { ConfigurationError, entity, string } from "../../../../src/entity/index.ts";
import {
  BadRequestError,
  consoleLogger,
  DecryptionError,
  noopLogger,
  setLogger,
} from "../../../../src/kernel/index.ts";
import { getEncryptionKeyId } from "../../../../src/plugins/field-security/encryption/cipher.ts";
import { generateEncryptionKey } from "../../../../src/plugins/field-security/encryption/data-key.ts";
import {
  clearEncryptionKeys,
  decryptValue,
  encryptValue,
  getRegisteredKeyIds,
  initEncryption,
  isEncrypted,
  reEncryptRecord,
  reEncryptValue,
  registerEncryptionKey,
  removeEncryptionKey,
  setPrimaryEncryptionKey,
} from "../../../../src/plugins/field-security/encryption/functions.ts";
import { defaultRing } from "../../../../src/plugins/field-security/encryption/key-ring.ts";
import { recordingLogger } from "../../../../src/testing/index.ts";
import { KEY_1, KEY_2, ringOf } from "./keys.ts";

const PLACE = { entity: "note", field: "secret", id: "n1" };
const note = entity("note", { title: string, secret: string.encrypted() });

describe("encryption with the process-wide keys", () => {
  afterEach(() => {
    clearEncryptionKeys();
    setLogger(consoleLogger);
  });

  it("is set up with a key, by position or in an object; the default id is v1", () => {
    setLogger(noopLogger);
    const begin: readonly [() => void, string][] = [
      [() => initEncryption({ key: KEY_1 }), "v1"],
      [() => initEncryption(KEY_1), "v1"],
      [() => initEncryption(KEY_1, "v1"), "v1"],
      [() => initEncryption(KEY_1, "2024"), "2024"],
      [() => initEncryption({ key: KEY_1, keyId: "2025" }), "2025"],
    ];
    for (const [start, keyId] of begin) {
      start();
      expect(getRegisteredKeyIds()).toEqual([keyId]);
      expect(encryptValue("x").split(":")[0]).toBe(keyId);
      expect(decryptValue(encryptValue("x"))).toBe("x");
    }
  });

  it("replaces its keys when set up again, and reports removed keys", () => {
    const log = recordingLogger();
    setLogger(log);
    initEncryption(KEY_1, "v1");
    registerEncryptionKey(KEY_2, "v2");
    expect(log.lines).toEqual([]);
    initEncryption(KEY_2, "v1");
    expect(getRegisteredKeyIds()).toEqual(["v1"]);
    expect(log.lines).toEqual([
      'warn initEncryption was called again: the keys registered before are forgotten {"keyIds":["v1","v2"]}',
    ]);
  });

  it.each([
    ["a short key", () => initEncryption(KEY_1.slice(1))],
    ["no key", () => initEncryption({ key: undefined as never })],
    ["nothing", () => initEncryption(undefined as never)],
    ["null", () => initEncryption(null as never)],
    ["a bad id", () => initEncryption(KEY_2, "a:b")],
    ["a bad index key", () => initEncryption({ key: KEY_2, indexKey: "x" })],
  ])("is not set up with %s, and keeps its keys", (_, begin) => {
    initEncryption(KEY_1, "v7");
    expect(begin).toThrow(ConfigurationError);
    expect(getRegisteredKeyIds()).toEqual(["v7"]);
  });

  it("says what to do if it is not set up", () => {
    expect(() => encryptValue("x")).toThrow(/call initEncryption\(\{ key \}\) first/);
    expect(getRegisteredKeyIds()).toEqual([]);
  });

  it("rotates in the order of the specification", async () => {
    await initEncryption({ key: generateEncryptionKey(), keyId: "v1" });
    const old = await encryptValue("secret");
    await registerEncryptionKey(generateEncryptionKey(), "v2");
    await setPrimaryEncryptionKey("v2");
    expect(await getRegisteredKeyIds()).toEqual(["v1", "v2"]);
    expect(await decryptValue(old)).toBe("secret");
    expect(getEncryptionKeyId(await reEncryptValue(old))).toBe("v2");
    const { data, reEncryptedCount } = await reEncryptRecord({ id: "n1", title: "t", secret: old }, note);
    expect(reEncryptedCount).toBe(1);
    expect(() => removeEncryptionKey("v2")).toThrow(ConfigurationError);
    await removeEncryptionKey("v1");
    expect(await decryptValue(data.secret)).toBe("secret");
    expect(() => decryptValue(old)).toThrow(DecryptionError);
  });

  it("binds values if the key is registered that way", () => {
    initEncryption({ key: KEY_1, bind: true });
    const encrypted = encryptValue("x", PLACE);
    expect(decryptValue(encrypted, PLACE)).toBe("x");
    expect(() => decryptValue(encrypted)).toThrow(/pass \{ entity, field, id \}/);
    registerEncryptionKey(KEY_2, "v2", { bind: true });
    setPrimaryEncryptionKey("v2");
    expect(decryptValue(reEncryptValue(encrypted, PLACE), PLACE)).toBe("x");
  });

  it("has an index key for searchable fields", () => {
    initEncryption({ key: KEY_1, indexKey: KEY_2 });
    expect(() => defaultRing.setIndexKey(KEY_1)).toThrow(/another index key is set/);
  });

  it("decrypts to the original value, and null to null", () => {
    initEncryption(KEY_1);
    const when = new Date();
    expect(decryptValue<Date>(encryptValue(when))).toEqual(when);
    expect(encryptValue(null)).toBeNull();
    expect(decryptValue(null)).toBeNull();
    expect(() => encryptValue(undefined as never)).toThrow(BadRequestError);
    expect(() => decryptValue(undefined as never)).toThrow(DecryptionError);
  });

  it("recognises an encrypted value", () => {
    initEncryption(KEY_1);
    expect(isEncrypted(encryptValue("x"))).toBe(true);
    for (const value of ["x", "", 5, null, undefined]) expect(isEncrypted(value)).toBe(false);
  });

  it("does not share keys with other rings", () => {
    initEncryption(KEY_1);
    ringOf().clear();
    expect(getRegisteredKeyIds()).toEqual(["v1"]);
    (getRegisteredKeyIds() as string[]).pop();
    expect(getRegisteredKeyIds()).toEqual(["v1"]);
  });
});
