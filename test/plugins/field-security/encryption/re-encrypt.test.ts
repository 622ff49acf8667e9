import { describe, expect, it } from "vitest";
import { ConfigurationError, entity, int, json, string, text } from "../../../../src/entity/index.ts";
import { DecryptionError } from "../../../../src/kernel/index.ts";
import { decrypt, encrypt, encryptBytes } from "../../../../src/plugins/field-security/encryption/cipher.ts";
import {
  encryptedFieldsOf,
  reEncrypt,
  reEncryptStored,
} from "../../../../src/plugins/field-security/encryption/re-encrypt.ts";
import { KEY_1, KEY_2, KEY_3, ringOf, sealedOf, unlabelled } from "./keys.ts";

const PLACE = { entity: "patient", field: "ssn", id: "p1" };
const patient = entity("patient", {
  name: string,
  ssn: string.encrypted(),
  notes: text.encrypted().optional(),
  blood: json.encrypted().optional(),
  visits: int.encrypted({ searchable: true }).optional(),
});
const BOUND = { key: KEY_2, bind: true };
/** Two keys, the second primary. */
function rotated(v1: string | typeof BOUND = KEY_1, v2: string | typeof BOUND = KEY_2) {
  const ring = ringOf({ v1, v2 });
  ring.setPrimary("v2");
  return ring;
}
const under1 = (value: unknown): string => encrypt(ringOf(), value);

describe("a value that is re-encrypted", () => {
  it("has the primary key, a new iv, and the same value of the same type", () => {
    const ring = rotated();
    for (const value of ["secret", 42, true, new Date(0), { a: [1] }]) {
      const old = under1(value);
      const fresh = reEncrypt(ring, old);
      expect(fresh).toMatch(/^v2:/);
      expect(sealedOf(fresh).subarray(0, 12)).not.toEqual(sealedOf(old).subarray(0, 12));
      expect(decrypt(ring, fresh)).toEqual(value);
    }
  });

  it("may have had no key id, or already the primary key", () => {
    const ring = rotated();
    expect(reEncrypt(ring, unlabelled(under1("a")))).toMatch(/^v2:/);
    const current = encrypt(ring, "a");
    expect(reEncrypt(ring, current)).toMatch(/^v2:/);
    expect(reEncrypt(ring, current)).not.toBe(current);
  });

  it("keeps bytes that are not a value of this version", () => {
    const ring = rotated();
    const old = encryptBytes(ringOf(), Buffer.from([0xff, 0x7a, 0x00]));
    const back = ringOf({ v2: KEY_2, v1: KEY_1 });
    expect(sealedOf(reEncrypt(back, reEncrypt(ring, old)))).toHaveLength(sealedOf(old).length);
  });

  it("is refused if it does not decrypt", () => {
    for (const value of ["plain", under1("a").replace("v1", "v3"), under1("a").replace("v1", "v2")])
      expect(() => reEncrypt(rotated(), value)).toThrow(DecryptionError);
  });

  it("stays bound to its place", () => {
    const ring = rotated({ key: KEY_1, bind: true }, BOUND);
    const fresh = reEncrypt(ring, encrypt(ringOf({ v1: { key: KEY_1, bind: true } }), "a", PLACE), PLACE);
    expect(decrypt(ring, fresh, PLACE)).toBe("a");
    expect(() => decrypt(ring, fresh, { ...PLACE, id: "p2" })).toThrow(DecryptionError);
  });

  it("becomes bound only on request, so that reads without context keep working", () => {
    const ring = rotated(KEY_1, BOUND);
    for (const old of [under1("a"), unlabelled(under1("a"))]) {
      expect(() => reEncrypt(ring, old, PLACE)).toThrow(ConfigurationError);
      expect(() => reEncrypt(ring, old, PLACE)).toThrow(/"v2" binds values .* pass \{ bind: true \} to bind it/);
      const fresh = reEncrypt(ring, old, PLACE, { bind: true });
      expect(decrypt(ring, fresh, PLACE)).toBe("a");
      expect(() => reEncrypt(ring, old, undefined, { bind: true })).toThrow(/pass \{ entity, field, id \}/);
    }
  });

  it("loses its binding only on request", () => {
    const ring = rotated({ key: KEY_1, bind: true }, KEY_2);
    const old = encrypt(ringOf({ v1: { key: KEY_1, bind: true } }), "a", PLACE);
    expect(() => reEncrypt(ring, old, PLACE)).toThrow(
      /"v2" does not bind values .* pass \{ bind: false \} to unbind it/,
    );
    expect(() => reEncrypt(ring, old, PLACE, { bind: true })).toThrow(ConfigurationError);
    expect(decrypt(ring, reEncrypt(ring, old, PLACE, { bind: false }))).toBe("a");
  });
});

describe("a record that is re-encrypted", () => {
  it("has its encrypted fields under the primary key; current values and null remain", () => {
    const ring = rotated();
    const data = {
      id: "p1",
      name: "Ann",
      ssn: under1("123"),
      notes: encrypt(ring, "fine"),
      blood: null,
      visits: unlabelled(under1(3)),
    };
    const copy = { ...data };
    const result = reEncryptStored(ring, data, patient);
    expect(result.reEncryptedCount).toBe(2);
    expect(data).toEqual(copy);
    expect(result.data).toEqual({ ...data, ssn: expect.stringMatching(/^v2:/), visits: expect.stringMatching(/^v2:/) });
    expect(decrypt(ring, result.data.ssn)).toBe("123");
    expect(decrypt(ring, result.data.visits)).toBe(3);
  });

  it("may be partial, or have nothing to do", () => {
    const data = { id: "p1", name: "v1:looks encrypted" };
    expect(reEncryptStored(rotated(), data, patient.build())).toEqual({ data, reEncryptedCount: 0 });
  });

  it("is bound field by field, with the record's id", () => {
    const ring = rotated(KEY_1, BOUND);
    const data = { id: "p1", ssn: under1("123"), notes: under1("fine") };
    const { data: fresh } = reEncryptStored(ring, data, patient, { bind: true });
    expect(decrypt(ring, fresh.ssn, PLACE)).toBe("123");
    expect(decrypt(ring, fresh.notes, { ...PLACE, field: "notes" })).toBe("fine");
    expect(() => reEncryptStored(ring, { ssn: data.ssn }, patient, { bind: true })).toThrow(
      /pass \{ entity, field, id/,
    );
  });

  it("is refused if one of its values is not encrypted", () => {
    expect(() => reEncryptStored(rotated(), { id: "p1", ssn: "123" }, patient)).toThrow(DecryptionError);
    expect(() => reEncryptStored(rotated(), { id: "p1", ssn: 5 }, patient)).toThrow(DecryptionError);
  });
});

describe("the encrypted fields of an entity", () => {
  it("are those declared as encrypted", () => {
    expect(encryptedFieldsOf(patient.build())).toEqual(["ssn", "notes", "blood", "visits"]);
    expect(encryptedFieldsOf(entity("plain", { name: string }).build())).toEqual([]);
  });
});

describe("a rotation by hand", () => {
  it("keeps every value readable at every step", () => {
    const ring = ringOf({ v1: KEY_1 });
    const old = encrypt(ring, "secret");
    const reads = (...values: string[]) =>
      expect(values.map((value) => decrypt(ring, value))).toEqual(values.map(() => "secret"));
    ring.register(KEY_3, "v2");
    const between = encrypt(ring, "secret");
    expect(between).toMatch(/^v1:/);
    reads(old, between);
    ring.setPrimary("v2");
    const after = encrypt(ring, "secret");
    expect(after).toMatch(/^v2:/);
    reads(old, between, after);
    const fresh = [old, between].map((value) => reEncrypt(ring, value));
    reads(old, after, ...fresh);
    ring.remove("v1");
    reads(after, ...fresh);
    expect(() => decrypt(ring, old)).toThrow(/unknown key id/);
  });

  it("fails in a process without the new key, until it is registered there", () => {
    const late = ringOf();
    const fresh = encrypt(rotated(), "secret");
    expect(() => decrypt(late, fresh)).toThrow(
      /a new key is registered in every process before one of them makes it primary/,
    );
    late.register(KEY_2, "v2");
    expect(decrypt(late, fresh)).toBe("secret");
  });
});
