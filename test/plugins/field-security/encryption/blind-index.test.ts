import { createHash, createHmac } from "node:crypto";
import { describe, expect, it } from "vitest";
import { ConfigurationError } from "../../../../src/entity/index.ts";
import { BadRequestError } from "../../../../src/kernel/index.ts";
import { blindIndex } from "../../../../src/plugins/field-security/encryption/blind-index.ts";
import { createKeyRing } from "../../../../src/plugins/field-security/encryption/key-ring.ts";
import { KEY_1, KEY_2, KEY_3, ringOf } from "./keys.ts";

const SSN = { entity: "user", field: "ssn" };
const VALUE = "123-45-6789";

describe("a blind index", () => {
  it("equals HKDF-SHA-256 and HMAC-SHA-256 of another implementation", () => {
    const ring = ringOf({ v1: Buffer.from(Array.from({ length: 32 }, (_, i) => i)).toString("hex") });
    expect(blindIndex(ring, SSN, VALUE)).toBe("LCSqm4Tzt9wUs7juzM21FHgCIfo2IQ1ZD6Jk_MZBjg4");
    expect(blindIndex(ring, SSN, 42)).toBe("q33b7KiKDRutXlOhKAzQYUMox8jjMj2f6ybfy0s9mJQ");
  });

  it("is the same only for equal values of a field", () => {
    const ring = ringOf();
    const values = [
      "",
      "a",
      "A",
      "a ",
      "1",
      1,
      1.5,
      true,
      false,
      "true",
      new Date(0),
      new Date(1),
      "1970-01-01T00:00:00.000Z",
    ];
    const indexes = values.map((value) => blindIndex(ring, SSN, value));
    expect(new Set(indexes).size).toBe(values.length);
    expect(values.map((value) => blindIndex(ring, SSN, value instanceof Date ? new Date(value) : value))).toEqual(
      indexes,
    );
    expect(blindIndex(ring, SSN, -0)).toBe(blindIndex(ring, SSN, 0));
  });

  it("differs between fields and entities, also if their joined names are equal", () => {
    const places = [
      SSN,
      { entity: "note", field: "ssn" },
      { entity: "user", field: "phone" },
      { entity: "users", field: "sn" },
    ];
    expect(new Set(places.map((place) => blindIndex(ringOf(), place, VALUE))).size).toBe(places.length);
  });

  it("cannot be computed without the key", () => {
    const index = blindIndex(ringOf(), SSN, VALUE);
    expect(index).toMatch(/^[A-Za-z0-9_-]{43}$/);
    expect(index).not.toBe(createHash("sha256").update(VALUE).digest("base64url"));
    expect(index).not.toBe(createHmac("sha256", Buffer.from(KEY_1, "hex")).update(VALUE).digest("base64url"));
    expect(index).not.toBe(blindIndex(ringOf({ v1: KEY_2 }), SSN, VALUE));
    expect(() => blindIndex(createKeyRing(), SSN, VALUE)).toThrow(/there is no encryption key/);
  });

  it("stays the same through a rotation if the first key is set as index key", () => {
    const index = blindIndex(ringOf(), SSN, VALUE);
    const ring = ringOf();
    ring.setIndexKey(KEY_1);
    ring.register(KEY_2, "v2");
    ring.setPrimary("v2");
    ring.remove("v1");
    expect(blindIndex(ring, SSN, VALUE)).toBe(index);
    const restarted = ringOf({ v2: KEY_2 });
    restarted.setIndexKey(KEY_1);
    expect(blindIndex(restarted, SSN, VALUE)).toBe(index);
  });

  it("is refused if it would depend on the order of several keys", () => {
    const ring = ringOf({ v1: KEY_1, w1: KEY_1 });
    const index = blindIndex(ring, SSN, VALUE); // one key under two ids is one key
    ring.register(KEY_2, "v2");
    expect(() => blindIndex(ring, SSN, VALUE)).toThrow(ConfigurationError);
    ring.setPrimary("v2");
    ring.remove("v1");
    ring.remove("w1");
    expect(() => blindIndex(ring, SSN, VALUE)).toThrow(/more than one key need an index key: set `indexKey`/);
    ring.setIndexKey(KEY_1);
    expect(blindIndex(ring, SSN, VALUE)).toBe(index);
  });

  it("has only one index key", () => {
    const ring = ringOf();
    expect(() => ring.setIndexKey("x")).toThrow(/exactly 64 hexadecimal characters/);
    ring.setIndexKey(KEY_3);
    ring.setIndexKey(KEY_3);
    expect(() => ring.setIndexKey(KEY_2)).toThrow(/another index key is set/);
    expect(blindIndex(ring, SSN, VALUE)).toBe(blindIndex(ringOf({ v1: KEY_3 }), SSN, VALUE));
    ring.clear();
    expect(() => blindIndex(ring, SSN, VALUE)).toThrow(ConfigurationError);
  });

  it("is refused for values without a canonical form", () => {
    for (const value of [{ a: 1 }, [1], null, Number.NaN, new Date(Number.NaN)])
      expect(() => blindIndex(ringOf(), SSN, value as never)).toThrow(BadRequestError);
  });
});
