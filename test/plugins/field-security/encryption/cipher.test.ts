import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ConfigurationError, isJsonValue } from "../../../../src/entity/index.ts";
import { BadRequestError, DecryptionError, type DecryptionFailure } from "../../../../src/kernel/index.ts";
import {
  decrypt,
  encrypt,
  encryptBytes,
  getEncryptionKeyId,
  isEncryptedWith,
} from "../../../../src/plugins/field-security/encryption/cipher.ts";
import { createKeyRing, type KeyRing } from "../../../../src/plugins/field-security/encryption/key-ring.ts";
import { propertyOptions } from "../../../support/properties.ts";
import { KEY_1, KEY_2, KEY_3, ringOf, sealedOf, unlabelled, withSealed } from "./keys.ts";

const PLAINTEXT = "plaintext canary 078-05-1120";
const PLACE = { entity: "user", field: "ssn", id: "u-1" };
/** Made with another implementation (pyca/cryptography): key 00..1f, iv 64..6f. */
const FOREIGN_KEY = Buffer.from(Array.from({ length: 32 }, (_, i) => i)).toString("hex");
const FOREIGN = {
  text: "naïve café 🔐",
  unbound: "ZGVmZ2hpamtsbW5vJnodyQ+Mdv1fBJxB+pX1adIcGvakzyKRT160yJ4LWWE7",
  bound: "v2:ZGVmZ2hpamtsbW5vJnodyQ+Mdv1fBJxB+pX1adJW418lBSiR3bEONqQKtK1C",
};

/** The reason why a value does not decrypt; the error contains neither values nor keys. */
function failure(ring: KeyRing, encrypted: unknown, context?: typeof PLACE): DecryptionFailure {
  try {
    decrypt(ring, encrypted, context);
  } catch (error) {
    if (!(error instanceof DecryptionError)) throw error;
    expect([error.code, error.status]).toEqual(["DECRYPTION_FAILED", 500]);
    const shown = JSON.stringify([error, error.message, error.stack, error.cause]);
    for (const secret of [PLAINTEXT, KEY_1, KEY_2, KEY_3]) expect(shown).not.toContain(secret);
    if (typeof encrypted === "string" && encrypted.length > 8) expect(shown).not.toContain(encrypted.slice(0, 9));
    return error.reason;
  }
  throw new TypeError("it decrypts");
}

describe("a stored value", () => {
  it("is the key id, a colon, and iv, ciphertext and tag in base64", () => {
    for (const text of ["", "a", PLAINTEXT, "é".repeat(255)]) {
      const encrypted = encrypt(ringOf(), text);
      expect(encrypted).toMatch(/^v1:[A-Za-z0-9+/]+={0,2}$/);
      expect(sealedOf(encrypted)).toHaveLength(12 + Buffer.byteLength(text) + 16);
      expect(decrypt(ringOf(), encrypted)).toBe(text);
    }
  });

  it("is never the same twice, and neither is its iv", () => {
    const ring = ringOf();
    const values = Array.from({ length: 500 }, () => encrypt(ring, PLAINTEXT));
    expect(new Set(values).size).toBe(500);
    expect(new Set(values.map((value) => sealedOf(value).toString("hex", 0, 12))).size).toBe(500);
  });

  it("of another implementation is read, with or without key id and binding", () => {
    expect(decrypt(ringOf({ v1: FOREIGN_KEY }), `v1:${FOREIGN.unbound}`)).toBe(FOREIGN.text);
    expect(decrypt(ringOf({ v1: KEY_1, v2: FOREIGN_KEY }), FOREIGN.unbound)).toBe(FOREIGN.text);
    expect(decrypt(ringOf({ v2: { key: FOREIGN_KEY, bind: true } }), FOREIGN.bound, PLACE)).toBe(FOREIGN.text);
  });

  it("that looks encrypted is encrypted again, and decrypts to itself", () => {
    const ring = ringOf();
    const once = encrypt(ring, PLAINTEXT);
    for (const text of [once, unlabelled(once), "v1:AAAA", "v9:"]) {
      const twice = encrypt(ring, text);
      expect(twice).not.toBe(text);
      expect(decrypt(ring, twice)).toBe(text);
    }
  });

  it("opens only unchanged: every bit of iv, ciphertext and tag counts", () => {
    const ring = ringOf();
    const encrypted = encrypt(ring, PLAINTEXT);
    const sealed = sealedOf(encrypted);
    for (let i = 0; i < sealed.length; i++)
      for (const bit of [0x01, 0x80, 0xff]) {
        const changed = Buffer.from(sealed);
        changed[i] = (changed[i] as number) ^ bit;
        expect(failure(ring, withSealed(encrypted, changed))).toBe("refused");
      }
  });

  it("with a tag of 4 to 15 bytes is refused", () => {
    const ring = ringOf();
    const encrypted = encrypt(ring, PLAINTEXT);
    for (let length = 4; length <= 15; length++)
      expect(failure(ring, withSealed(encrypted, sealedOf(encrypted).subarray(0, length - 16)))).toBe("refused");
    expect(failure(ring, withSealed(encrypted, Buffer.concat([sealedOf(encrypted), Buffer.alloc(1)])))).toBe("refused");
  });

  it("is refused under any other key id", () => {
    const ring = ringOf({ v1: KEY_1, v2: KEY_2 });
    const encrypted = encrypt(ring, PLAINTEXT);
    expect(failure(ring, encrypted.replace("v1:", "v2:"))).toBe("refused");
  });

  it("with an unknown key id is not tried with other keys", () => {
    const ring = ringOf({ v1: KEY_1, v2: KEY_2 });
    const encrypted = encrypt(ring, PLAINTEXT).replace("v1:", "v3:");
    expect(failure(ring, encrypted)).toBe("unknown-key");
    expect(() => decrypt(ring, encrypted)).toThrow(/unknown key id.*Registered: v1, v2$/);
    expect(() => decrypt(createKeyRing(), encrypted)).toThrow(/Registered: none$/);
    expect(failure(ringOf({ V1: KEY_1 }), encrypt(ringOf(), "x"))).toBe("unknown-key");
  });

  it("without a key id opens with whichever key matches", () => {
    const ring = ringOf({ v1: KEY_1, v2: KEY_2, v3: KEY_3 });
    for (const keyId of ["v1", "v2", "v3"]) {
      ring.setPrimary(keyId);
      expect(decrypt(ring, unlabelled(encrypt(ring, PLAINTEXT)))).toBe(PLAINTEXT);
    }
    expect(failure(ringOf(), unlabelled(encrypt(ring, PLAINTEXT)))).toBe("refused");
  });

  const sound = encrypt(ringOf(), "12345"); // 33 bytes: base64 without padding
  const padded = encrypt(ringOf(), "1234"); // 32 bytes: one "="
  it.each([
    ["empty", ""],
    ["a key id only", "v1"],
    ["nothing after the key id", "v1:"],
    ["nothing before the colon", `:${unlabelled(sound)}`],
    ["two key ids", `v1:${sound}`],
    ["an impossible key id", sound.replace("v1", "v 1")],
    ["a key id of 65 characters", sound.replace("v1", "v".repeat(65))],
    ["27 bytes", withSealed(sound, sealedOf(sound).subarray(0, 27))],
    ["a letter less", sound.slice(0, -1)],
    ["junk at the end", `${sound}!!`],
    ["a line break at the end", `${sound}\n`],
    ["a space after the colon", sound.replace(":", ": ")],
    ["url-safe letters", withSealed(sound, Buffer.alloc(33, 0xff)).replaceAll("/", "_")],
    ["no padding where some belongs", padded.replace("=", "")],
    ["padding where none belongs", `${sound}=`],
    [
      "bits that padding should leave zero",
      padded.replace(/(.)=$/, (_, last) => `${String.fromCharCode(last.charCodeAt(0) + 1)}=`),
    ],
    ["plain text", PLAINTEXT],
    ["plain text with a colon", "ratio 1:2"],
    ["hexadecimal", sealedOf(sound).toString("hex").slice(0, 50)],
    ["no text at all", 42],
    ["undefined", undefined],
    ["null", null],
    ["an object with a text in it", { toString: () => sound }],
  ])("is refused as malformed when it is %s", (_, encrypted) => {
    expect(failure(ringOf(), encrypted)).toBe("malformed");
    expect(getEncryptionKeyId(encrypted as string)).toBeNull();
    expect(isEncryptedWith(ringOf(), encrypted)).toBe(false);
  });

  it("cannot be made without a key", () => {
    expect(() => encrypt(createKeyRing(), "x")).toThrow(ConfigurationError);
  });

  it("names its key", () => {
    expect(getEncryptionKeyId(sound)).toBe("v1");
    expect(getEncryptionKeyId(sound.replace("v1", "2024.a_b-c"))).toBe("2024.a_b-c");
    expect(getEncryptionKeyId(unlabelled(sound))).toBeNull();
  });

  it("is recognised by its form, or without a key id by opening it", () => {
    const ring = ringOf();
    expect(isEncryptedWith(ring, sound)).toBe(true);
    expect(isEncryptedWith(createKeyRing(), sound)).toBe(true);
    expect(isEncryptedWith(ring, unlabelled(sound))).toBe(true);
    expect(isEncryptedWith(ringOf({ v1: KEY_2 }), unlabelled(sound))).toBe(false);
    expect(isEncryptedWith(ring, "da39a3ee5e6b4b0d3255bfef95601890afd80709")).toBe(false);
  });
});

describe("binding", () => {
  const bound = () => ringOf({ v2: { key: KEY_2, bind: true }, v1: KEY_1 });

  it("opens a value only in its place", () => {
    const ring = bound();
    const encrypted = encrypt(ring, PLAINTEXT, PLACE);
    expect(decrypt(ring, encrypted, PLACE)).toBe(PLAINTEXT);
    for (const moved of [{ id: "u-2" }, { field: "note" }, { entity: "note" }])
      expect(failure(ring, encrypted, { ...PLACE, ...moved })).toBe("refused");
  });

  it("distinguishes places whose joined names are equal", () => {
    const ring = bound();
    const encrypted = encrypt(ring, PLAINTEXT, { entity: "ab", field: "c", id: "d" });
    for (const [entity, field, id] of [
      ["a", "bc", "d"],
      ["ab", "cd", "d"],
      ["abc", "d", "d"],
      ["ab", "c", "d\u0000"],
    ] as const)
      expect(failure(ring, encrypted, { entity, field, id })).toBe("refused");
  });

  it("works for any place and value, and never confuses two places", () => {
    const ring = bound();
    const part = fc.string({ unit: "binary", minLength: 1, maxLength: 20 }).filter((text) => text.isWellFormed());
    const place = fc.record({ entity: part, field: part, id: part });
    fc.assert(
      fc.property(place, place, fc.string({ unit: "grapheme" }), (one, other, text) => {
        const encrypted = encrypt(ring, text, one);
        expect(decrypt(ring, encrypted, { ...one })).toBe(text);
        if (JSON.stringify(one) !== JSON.stringify(other)) expect(failure(ring, encrypted, other)).toBe("refused");
      }),
      propertyOptions(200),
    );
  });

  it("cannot be avoided with another key id, or without one", () => {
    const ring = ringOf({ v2: { key: KEY_2, bind: true }, w2: KEY_2, x2: { key: KEY_2, bind: true } });
    const encrypted = encrypt(ring, PLAINTEXT, PLACE);
    for (const keyId of ["w2:", "x2:", ""])
      expect(failure(ring, encrypted.replace("v2:", keyId), PLACE)).toBe("refused");
    ring.setPrimary("w2");
    expect(failure(ring, encrypt(ring, PLAINTEXT).replace("w2:", "v2:"), PLACE)).toBe("refused");
  });

  it.each([
    ["no place", undefined],
    ["no id", { entity: "user", field: "ssn" }],
    ["an empty id", { ...PLACE, id: "" }],
    ["a number as id", { ...PLACE, id: 1 }],
    ["no entity", { ...PLACE, entity: undefined }],
    ["half a character as id", { ...PLACE, id: "\ud800" }],
  ])("names the missing parts when given %s", (_, context) => {
    const ring = bound();
    const encrypted = encrypt(ring, PLAINTEXT, PLACE);
    expect(failure(ring, encrypted, context as never)).toBe("no-context");
    const needs = /the encryption key "v2" binds values to their place: pass \{ entity, field, id \}/;
    expect(() => decrypt(ring, encrypted, context as never)).toThrow(needs);
    expect(() => encrypt(ring, PLAINTEXT, context as never)).toThrow(needs);
    expect(() => encrypt(ring, PLAINTEXT, context as never)).toThrow(ConfigurationError);
  });

  it("is a property of the key: values of other keys open with or without a place", () => {
    const ring = bound();
    ring.setPrimary("v1");
    const encrypted = encrypt(ring, PLAINTEXT, PLACE);
    expect(decrypt(ring, encrypted)).toBe(PLAINTEXT);
    expect(decrypt(ring, encrypted, { ...PLACE, id: "u-2" })).toBe(PLAINTEXT);
    expect(decrypt(ring, unlabelled(encrypted), PLACE)).toBe(PLAINTEXT);
  });

  it("leaves older values readable", () => {
    const before = unlabelled(encrypt(ringOf({ x: KEY_2 }), PLAINTEXT));
    expect(decrypt(bound(), before, PLACE)).toBe(PLAINTEXT);
  });
});

describe("any type of value", () => {
  const ring = ringOf();
  const roundTrip = (value: unknown): unknown => decrypt(ring, encrypt(ring, value));

  it.each([
    ["text that looks like a number", "42"],
    ["text that looks like a typed value", "\u00ffn42"],
    ["text with a byte order mark", "\ufeffabc"],
    ["text with a NUL", "a\u0000b"],
    ["an integer", 42],
    ["zero", 0],
    ["minus zero", -0],
    ["a fraction", 0.1 + 0.2],
    ["the smallest number", 5e-324],
    ["the largest number", Number.MAX_VALUE],
    ["true", true],
    ["false", false],
    ["a date", new Date("2024-02-29T12:34:56.789Z")],
    ["a date before the common era", new Date(-1e14)],
    ["an object", { a: [1, "two", null, { b: false }], c: {} }],
    ["an array", []],
  ])("decrypts to itself: %s", (_, value) => {
    expect(roundTrip(value)).toStrictEqual(value);
  });

  it("decrypts to itself for random values", () => {
    const anything = fc.oneof(
      fc.string({ unit: "binary" }).filter((text) => text.isWellFormed()),
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.integer(),
      fc.boolean(),
      fc.date({ noInvalidDate: true }),
      // Parsed, because JSON keeps neither minus zero nor the missing prototype of an object.
      fc
        .oneof(fc.array(fc.jsonValue({ maxDepth: 3 })), fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 })))
        .map((value) => JSON.parse(JSON.stringify(value)) as object)
        .filter(isJsonValue),
    );
    fc.assert(
      fc.property(anything, (value) => {
        expect(roundTrip(value)).toStrictEqual(value);
      }),
      propertyOptions(300),
    );
  });

  it("is refused, without quoting it, if it would not decrypt to itself", () => {
    const cycle: Record<string, unknown> = {};
    cycle.self = cycle;
    const values = [undefined, null, Number.NaN, Number.POSITIVE_INFINITY, new Date(Number.NaN), Symbol("x")];
    for (const value of [...values, () => 1, "\ud800", new Map(), { a: undefined }, cycle, Object(PLAINTEXT)]) {
      expect(() => encrypt(ring, value)).toThrow(BadRequestError);
      expect(() => encrypt(ring, value)).not.toThrow(/canary/);
    }
  });

  it("written by a newer version in an unknown form is refused", () => {
    for (const bytes of [[0xff], [0xff, 0x7a, 0x31], [0xff, 0x6a, 0x7b], [0xc3, 0x28]])
      expect(failure(ring, encryptBytes(ring, Buffer.from(bytes)))).toBe("malformed");
  });
});
