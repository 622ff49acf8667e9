import { describe, expect, it } from "vitest";
import { ConfigurationError } from "../../../../src/entity/index.ts";
import { needsRehash } from "../../../../src/plugins/field-security/password/hash-password.ts";

const base64 = (bytes: number): string => Buffer.alloc(bytes, 0xa5).toString("base64");
const pbkdf2 = (iterations: number, salt = 16, hash = 64): string =>
  `$pbkdf2$${iterations}$${base64(salt)}$${base64(hash)}`;
const scrypt = (parameters: string, salt = 16, hash = 64): string =>
  `$scrypt$${parameters}$${base64(salt)}$${base64(hash)}`;

describe("a stored hash", () => {
  it.each([
    ["of cost 10", pbkdf2(1_024_000), undefined],
    ["of scrypt", scrypt("ln=17,r=8,p=1"), undefined],
    ["of the cost of its field", pbkdf2(4_096_000), 12],
    ["of scrypt where that is asked for", scrypt("ln=17,r=8,p=1"), "scrypt"],
  ] as const)("%s is up to date", (_, stored, cost) => {
    expect(needsRehash(stored, { cost })).toBe(false);
  });

  it.each([
    ["of a lower cost", pbkdf2(256_000), undefined],
    ["of a higher cost", pbkdf2(4_096_000), undefined],
    ["of a cost that is not the field's", pbkdf2(1_024_000), 12],
    ["of scrypt in a field", scrypt("ln=17,r=8,p=1"), 10],
    ["of a field where scrypt is asked for", pbkdf2(1_024_000), "scrypt"],
    ["of SHA-256", pbkdf2(1_024_000, 16, 32), undefined],
    ["with a short salt", pbkdf2(1_024_000, 8), undefined],
    ["of scrypt with a smaller N", scrypt("ln=16,r=8,p=1"), undefined],
    ["of scrypt with another r", scrypt("ln=17,r=9,p=1"), undefined],
    ["of scrypt with another p", scrypt("ln=17,r=8,p=2"), undefined],
    ["of scrypt with a long salt", scrypt("ln=17,r=8,p=1", 32), undefined],
    ["of scrypt with a short hash", scrypt("ln=17,r=8,p=1", 16, 32), undefined],
    ["that is malformed", "correct horse", undefined],
    ["that is none", null as unknown as string, undefined],
  ] as const)("%s needs a rehash", (_, stored, cost) => {
    expect(needsRehash(stored, { cost })).toBe(true);
  });

  it("is compared with the defaults if no options are given", () => {
    expect(needsRehash(pbkdf2(1_024_000))).toBe(false);
  });

  it("cannot be compared with an invalid cost", () => {
    expect(() => needsRehash(pbkdf2(1_024_000), { cost: 15 })).toThrow(ConfigurationError);
  });
});
