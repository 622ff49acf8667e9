import { describe, expect, it } from "vitest";
import { BadRequestError } from "../../../../src/kernel/index.ts";
import {
  hashPassword,
  needsRehash,
  verifyPassword,
} from "../../../../src/plugins/field-security/password/hash-password.ts";
import { createPasswordHasher } from "../../../../src/plugins/field-security/password/password-hasher.ts";

describe("hashPassword and verifyPassword", () => {
  it("make and verify hashes of scrypt with N = 2^17, r = 8, p = 1", async () => {
    const stored = await hashPassword("correct horse");
    expect(stored).toMatch(/^\$scrypt\$ln=17,r=8,p=1\$[A-Za-z0-9+/]{22}==\$[A-Za-z0-9+/]{86}==$/);
    expect(needsRehash(stored)).toBe(false);
    expect(await verifyPassword("correct horse", stored)).toBe(true);
    expect(await verifyPassword("wrong horse", stored)).toBe(false);
  });

  it("verify what a password field stores", async () => {
    const stored = await createPasswordHasher().hash("correct horse", { cost: 1 });
    expect(await verifyPassword("correct horse", stored)).toBe(true);
    expect(await verifyPassword("wrong horse", stored)).toBe(false);
  });

  it("return a promise for any arguments", async () => {
    const hashed = hashPassword("");
    expect(hashed).toBeInstanceOf(Promise);
    await expect(hashed).rejects.toThrow(BadRequestError);
    await expect(hashPassword(undefined as never)).rejects.toThrow("A password must be a string");
    expect(await verifyPassword(undefined as never, "")).toBe(false);
    expect(await verifyPassword("correct horse", "", { cost: 1 })).toBe(false);
  });

  it("return false for a missing user", async () => {
    expect(await verifyPassword("correct horse", null, { cost: 1 })).toBe(false);
    expect(await verifyPassword("correct horse", undefined, { cost: 1 })).toBe(false);
  });
});
