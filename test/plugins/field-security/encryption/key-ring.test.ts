import { inspect } from "node:util";
import { afterEach, describe, expect, it } from "vitest";
import { ConfigurationError } from "../../../../src/entity/index.ts";
import { consoleLogger, setLogger } from "../../../../src/kernel/index.ts";
import { encrypt } from "../../../../src/plugins/field-security/encryption/cipher.ts";
import { generateEncryptionKey } from "../../../../src/plugins/field-security/encryption/data-key.ts";
import { createKeyRing } from "../../../../src/plugins/field-security/encryption/key-ring.ts";
import { recordingLogger } from "../../../../src/testing/index.ts";
import { KEY_1, KEY_2, KEY_3, ringOf } from "./keys.ts";

const thrownBy = (work: () => unknown): Error => {
  try {
    work();
  } catch (error) {
    return error as Error;
  }
  throw new TypeError("nothing was thrown");
};

describe("a generated key", () => {
  it("is 64 hexadecimal characters, and never the same", () => {
    expect(generateEncryptionKey()).toMatch(/^[0-9a-f]{64}$/);
    expect(generateEncryptionKey()).not.toBe(generateEncryptionKey());
  });
});

describe("a key ring", () => {
  afterEach(() => setLogger(consoleLogger));

  it("accepts keys in either case, and makes the first one primary", () => {
    const ring = ringOf({ v1: "ab".repeat(32), v2: "CD".repeat(32) });
    expect(ring.ids).toEqual(["v1", "v2"]);
    expect(ring.primary).toBe("v1");
    expect([ring.has("v2"), ring.has("v3"), ring.has("constructor")]).toEqual([true, false, false]);
  });

  it.each([
    ["63 characters", KEY_1.slice(1), "these are 63"],
    ["65 characters", `${KEY_1}1`, "these are 65"],
    ["a character that is no hexadecimal digit", `${KEY_1.slice(1)}g`, "not all of these are"],
    ["a line break at the end", `${KEY_1.slice(1)}\n`, "not all of these are"],
    ["64 digits of another script", "١".repeat(64), "not all of these are"],
    ["32 bytes of base64", Buffer.alloc(32, 1).toString("base64"), "these are 44"],
    ["nothing", undefined, "this is undefined"],
    ["bytes", Buffer.alloc(32, 1), "this is object"],
  ])("refuses a key of %s, without quoting it", (_, key, says) => {
    const error = thrownBy(() => createKeyRing().register(key as string, "v1"));
    expect(error).toBeInstanceOf(ConfigurationError);
    expect(error.message).toContain(says);
    if (typeof key === "string") expect(error.message).not.toContain(key.slice(0, 8));
  });

  it.each(["", "a:b", "a b", "ä", "a/b", "a\n", "x".repeat(65), undefined, 1])("refuses the key id %j", (keyId) => {
    expect(() => createKeyRing().register(KEY_1, keyId as string)).toThrow(ConfigurationError);
  });

  it.each(["v1", "2024-05_a.B", "x".repeat(64), "__proto__"])("accepts the key id %j", (keyId) => {
    const ring = createKeyRing();
    ring.register(KEY_1, keyId);
    expect(ring.ids).toEqual([keyId]);
    expect(encrypt(ring, "x").startsWith(`${keyId}:`)).toBe(true);
  });

  it("accepts the same key under its id again, and ignores a different key", () => {
    const ring = ringOf({ v1: KEY_1, v2: KEY_2 });
    ring.register(KEY_1.toUpperCase(), "v1");
    const before = encrypt(ring, "x");
    expect(() => ring.register(KEY_2, "v1")).toThrow(/"v1" is already registered for another key/);
    expect(ring.ids).toEqual(["v1", "v2"]);
    expect(before).toMatch(/^v1:/);
  });

  it("refuses a known key id with the other binding, since its values would not open", () => {
    const ring = ringOf({ v1: { key: KEY_1, bind: true } });
    ring.register(KEY_1, "v1", { bind: true });
    expect(() => ring.register(KEY_1, "v1")).toThrow(/already registered with bind: true/);
    expect(ring.binds("v1")).toBe(true);
  });

  it("warns of a key of zeros, and accepts it", () => {
    const log = recordingLogger();
    const ring = ringOf({ v1: "0".repeat(64) }, { log });
    expect(ring.ids).toEqual(["v1"]);
    expect(log.lines).toEqual(['warn The encryption key "v1" is all zeros, which protects nothing']);
  });

  it("uses the process-wide logger if it has no own", () => {
    const log = recordingLogger();
    setLogger(log);
    ringOf({ v1: "0".repeat(64) });
    expect(log.lines).toHaveLength(1);
  });

  it("sets another primary key; for an unknown key it warns and keeps the old", () => {
    const ring = ringOf({ v1: KEY_1, v2: KEY_2 });
    ring.setPrimary("v2");
    expect(() => ring.setPrimary("v22")).toThrow(
      'no encryption key "v22" is registered; registered: v1, v2. Did you mean "v2"?',
    );
    expect(() => ring.setPrimary(undefined as never)).toThrow(ConfigurationError);
    expect(ring.primary).toBe("v2");
    expect(() => createKeyRing().setPrimary("v1")).toThrow(/none is/);
  });

  it("refuses a key in place of an id, and repeats no key in its messages", () => {
    const ring = ringOf();
    for (const key of [KEY_3, "aB".repeat(32), `${KEY_3}\n`, KEY_3.slice(0, 40), `x${KEY_3.slice(1)}`]) {
      const register = [() => ring.register(KEY_2, key), () => ring.register(key, KEY_2)];
      const others = [() => ring.setPrimary(key), () => ring.remove(key), () => ring.binds(key)];
      for (const mistake of [...(/^[0-9a-f]{64}$/i.test(key) ? register : []), ...others]) {
        expect(mistake).toThrow(ConfigurationError);
        expect(mistake).not.toThrow(key.slice(1, 33));
      }
    }
    expect(ring.ids).toEqual(["v1"]);
  });

  it("removes keys except the primary one", () => {
    const ring = ringOf({ v1: KEY_1, v2: KEY_2 });
    expect(() => ring.remove("v1")).toThrow(/"v1" is the primary key; make another one primary/);
    ring.remove("v2");
    expect(ring.ids).toEqual(["v1"]);
    expect(() => ring.remove("v2")).toThrow(/no encryption key "v2"/);
  });

  it("forgets everything when cleared", () => {
    const ring = ringOf({ v1: KEY_1, v2: KEY_2 });
    ring.clear();
    expect([ring.ids, ring.primary]).toEqual([[], null]);
    expect(() => encrypt(ring, "x")).toThrow(/there is no encryption key; call initEncryption/);
    ring.register(KEY_2, "v1");
    expect(ring.primary).toBe("v1");
  });

  it("shares nothing with another ring", () => {
    const [one, other] = [ringOf({ v1: KEY_1 }), ringOf({ v1: KEY_2 })];
    one.register(KEY_2, "v2");
    one.clear();
    expect(other.ids).toEqual(["v1"]);
  });

  it("shows ids, and never keys", () => {
    const ring = ringOf({ v1: KEY_1, v2: { key: KEY_2, bind: true } });
    ring.setIndexKey(KEY_2);
    expect(JSON.parse(JSON.stringify({ ring }))).toEqual({ ring: { primary: "v1", ids: ["v1", "v2"] } });
    expect(inspect({ app: { ring } }, { depth: null, showHidden: true })).toContain("ids: [ 'v1', 'v2'");
    const shown = [inspect(ring, { showHidden: true, depth: null }), JSON.stringify(ring), String(ring)].join();
    const bytes = Buffer.from(KEY_1, "hex");
    for (const form of [KEY_1, KEY_2, bytes.toString("base64"), bytes.toString("latin1"), "11 11 11"])
      expect(shown).not.toContain(form);
    for (const name of Reflect.ownKeys(ring))
      expect(inspect(Reflect.get(ring, name), { showHidden: true })).not.toMatch(/1{8}|Buffer|KeyObject/);
  });

  it("cannot be changed from outside", () => {
    const ring = ringOf();
    (ring.ids as string[]).push("v9");
    expect(Object.isFrozen(ring)).toBe(true);
    expect(ring.ids).toEqual(["v1"]);
  });

  it("warns once when a key has encrypted its maximum number of values", () => {
    const log = recordingLogger();
    const ring = ringOf({ v1: KEY_1, v2: KEY_2 }, { log, warnAfter: 3 });
    for (let i = 0; i < 5; i++) encrypt(ring, "x");
    ring.setPrimary("v2");
    for (let i = 0; i < 2; i++) encrypt(ring, "x");
    expect(log.lines).toEqual(['warn The encryption key "v1" has encrypted 3 values; make another key primary']);
  });
});
