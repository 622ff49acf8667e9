import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createPasswordHasher } from "../../../../src/plugins/field-security/password/password-hasher.ts";
import { readStoredHash } from "../../../../src/plugins/field-security/password/stored-hash.ts";
import { propertyOptions } from "../../../support/properties.ts";
import { busyHasher, hashingOf } from "./hashers.ts";

const base64 = (bytes: number): string => Buffer.alloc(bytes, 0xa5).toString("base64");
const SALT = base64(16);
const HASH = base64(64);
const pbkdf2 = (iterations: number | string, salt = SALT, hash = HASH): string =>
  `$pbkdf2$${iterations}$${salt}$${hash}`;
const scrypt = (parameters: string, salt = SALT, hash = HASH): string => `$scrypt$${parameters}$${salt}$${hash}`;
const CHEAP = "ln=10,r=8,p=1";

const HOSTILE: readonly (readonly [what: string, stored: unknown])[] = [
  ["nothing", ""],
  ["plain text", "correct horse battery staple"],
  ["a form of somebody else's", `$2b$10$${"a".repeat(53)}`],
  ["a prefix in capitals", pbkdf2(1000).toUpperCase()],
  ["a number", 1000],
  ["an object", { toString: () => pbkdf2(1000) }],
  ["a list", [pbkdf2(1000)]],
  ["0 iterations", pbkdf2(0)],
  ["1 iteration", pbkdf2(1)],
  ["999 iterations", pbkdf2(999)],
  ["-1000 iterations", pbkdf2(-1000)],
  ["more iterations than cost 14", pbkdf2(16_384_001)],
  ["2^31 iterations", pbkdf2(2 ** 31)],
  ["2^31 - 1 iterations", pbkdf2(2 ** 31 - 1)],
  ["iterations with an exponent", pbkdf2("1e9")],
  ["iterations in hexadecimal", pbkdf2("0x7fffffff")],
  ["iterations with a leading zero", pbkdf2("01000")],
  ["iterations with a fraction", pbkdf2("1000.5")],
  ["iterations with a space", pbkdf2(" 1000")],
  ["iterations in digits of another script", pbkdf2("١٠٠٠")],
  ["no iterations", pbkdf2("")],
  ["NaN iterations", pbkdf2(Number.NaN)],
  ["no salt", pbkdf2(1000, "")],
  ["a salt of 7 bytes", pbkdf2(1000, base64(7))],
  ["a salt of 65 bytes", pbkdf2(1000, base64(65))],
  ["a salt that is not base64", pbkdf2(1000, "%%%%%%%%%%%%%%%%%%%%%%==")],
  ["a salt without padding", pbkdf2(1000, SALT.replaceAll("=", ""))],
  ["a salt with junk in its last bits", pbkdf2(1000, `${SALT.slice(0, -3)}R==`)],
  ["a salt with padding inside", pbkdf2(1000, `AAAA=AAA${SALT}`)],
  ["no hash", pbkdf2(1000, SALT, "")],
  ["a hash of 8 bytes", pbkdf2(1000, SALT, base64(8))],
  ["a hash of 31 bytes", pbkdf2(1000, SALT, base64(31))],
  ["a hash of 48 bytes", pbkdf2(1000, SALT, base64(48))],
  ["a hash of 63 bytes", pbkdf2(1000, SALT, base64(63))],
  ["a hash of 65 bytes", pbkdf2(1000, SALT, base64(65))],
  ["a hash of url-safe letters", pbkdf2(1000, SALT, HASH.replaceAll("+", "-").replaceAll("/", "_").replace(/^./, "_"))],
  ["a hash of a megabyte", pbkdf2(1000, SALT, base64(1_048_576))],
  ["a line break at the end", `${pbkdf2(1000)}\n`],
  ["a part too many", `${pbkdf2(1000)}$`],
  ["a part too few", `$pbkdf2$1000$${HASH}`],
  ["N = 2^9", scrypt("ln=9,r=8,p=1")],
  ["N = 2^19", scrypt("ln=19,r=8,p=1")],
  ["N = 2^18 and r = 9, which need 288 MiB", scrypt("ln=18,r=9,p=1")],
  ["N = 2^63", scrypt("ln=63,r=8,p=1")],
  ["N = 2^99", scrypt("ln=99,r=8,p=1")],
  ["N that r does not allow", scrypt("ln=16,r=1,p=1")],
  ["r = 0", scrypt("ln=10,r=0,p=1")],
  ["r = 7", scrypt("ln=10,r=7,p=1")],
  ["r = 33", scrypt("ln=10,r=33,p=1")],
  ["r and N that need 512 MiB", scrypt("ln=17,r=32,p=1")],
  ["p = 0", scrypt("ln=10,r=8,p=0")],
  ["p that is too much work", scrypt("ln=17,r=8,p=5")],
  ["N and p that are too much work", scrypt("ln=18,r=8,p=3")],
  ["p = 999", scrypt("ln=10,r=8,p=999")],
  ["parameters in another order", scrypt("r=8,ln=10,p=1")],
  ["a parameter too many", scrypt("ln=10,r=8,p=1,q=1")],
  ["a negative parameter", scrypt("ln=10,r=8,p=-1")],
  ["scrypt without salt", scrypt(CHEAP, "")],
  ["scrypt with a salt of 7 bytes", scrypt(CHEAP, base64(7))],
  ["scrypt without padding", scrypt(CHEAP, SALT.replaceAll("=", ""))],
  ["scrypt without hash", scrypt(CHEAP, SALT, "")],
  ["scrypt with a hash of 48 bytes", scrypt(CHEAP, SALT, base64(48))],
  ["scrypt with a hash of 16 bytes", scrypt(CHEAP, SALT, base64(16))],
];

describe("a stored hash", () => {
  it.each(HOSTILE)("with %s is false after the work of one hash of the requested cost", async (_, stored) => {
    const hasher = createPasswordHasher();
    const kinds = await hashingOf(async () => {
      expect(await hasher.verify("correct horse", stored as string, { cost: 1 })).toBe(false);
    });
    expect(kinds).toEqual(["PBKDF2REQUEST"]);
    expect(readStoredHash(stored)).toBeUndefined(); // so the work had the requested cost
  });

  it("that is not valid is false after scrypt if scrypt is requested", async () => {
    const hasher = createPasswordHasher();
    const kinds = await hashingOf(async () => {
      expect(await hasher.verify("correct horse", "!", { cost: "scrypt" })).toBe(false);
    });
    expect(kinds).toEqual(["SCRYPTREQUEST"]);
  });

  it.each(["", "!"])("that is %j is queued like any other", async (stored) => {
    const { hasher, done } = busyHasher();
    await expect(hasher.verify("correct horse", stored, { cost: 1 })).rejects.toMatchObject({ code: "UNAVAILABLE" });
    await done;
  });

  it.each([
    ["the fewest iterations", pbkdf2(1000)],
    ["SHA-256", pbkdf2(1000, SALT, base64(32))],
    ["the shortest salt", pbkdf2(1000, base64(8))],
    ["the longest salt", pbkdf2(1000, base64(64))],
    ["the smallest N", scrypt(CHEAP)],
    ["the largest r", scrypt("ln=10,r=32,p=1")],
    ["a large p", scrypt("ln=10,r=8,p=99")],
    ["the most memory for its N", scrypt("ln=17,r=16,p=1")],
    ["the most memory for its r", scrypt("ln=18,r=8,p=1")],
    ["the most memory and work", scrypt("ln=18,r=8,p=2")],
  ])("with %s is computed, and is false for a wrong password", async (_, stored) => {
    const hasher = createPasswordHasher();
    const kinds = await hashingOf(async () => {
      expect(await hasher.verify("correct horse", stored)).toBe(false);
    });
    expect(kinds).toHaveLength(1);
  });

  it("may have at most as many iterations as cost 14", async () => {
    const { hasher, done } = busyHasher();
    await expect(hasher.verify("correct horse", pbkdf2(16_384_000))).rejects.toMatchObject({ code: "UNAVAILABLE" });
    await done;
  });

  it("never makes verification throw", async () => {
    const hasher = createPasswordHasher();
    const number = fc.oneof(fc.integer({ min: -1, max: 1200 }).map(String), fc.constantFrom("", "1e3", "٣"));
    const bytes = fc.uint8Array({ maxLength: 70 }).map((given) => Buffer.from(given).toString("base64"));
    const part = fc.oneof(bytes, fc.string({ maxLength: 20 }));
    const parameters = fc.tuple(fc.nat(11), fc.nat(10), fc.nat(3)).map(([ln, r, p]) => `ln=${ln},r=${r},p=${p}`);
    const stored = fc.oneof(
      fc.string(),
      fc.tuple(number, part, part).map(([iterations, salt, hash]) => pbkdf2(iterations, salt, hash)),
      fc.tuple(parameters, part, part).map(([given, salt, hash]) => scrypt(given, salt, hash)),
    );
    await fc.assert(
      fc.asyncProperty(stored, async (text) => {
        expect(await hasher.verify("correct horse", text, { cost: 1 })).toBe(false);
      }),
      propertyOptions(300),
    );
  });
});
