import { describe, expect, it } from "vitest";
import { createPasswordHasher } from "../../../../src/plugins/field-security/password/password-hasher.ts";
import answers from "./known-answers.json" with { type: "json" };

const hasher = createPasswordHasher();
const passwords = [...new Set(answers.map(({ password }) => password))];
/** Hashes that are cheap enough to try every password. */
const cheap = answers.filter(({ stored }) => !/ln=1[478]/.test(stored));

describe("hashes of another implementation", () => {
  it.each(answers)("are verified: $name", async ({ password, stored }) => {
    expect(await hasher.verify(password, stored)).toBe(true);
  });

  it.each(cheap)("do not verify for another password: $name", async ({ password, stored }) => {
    const others = passwords.filter((one) => one !== password);
    expect(others.length).toBeGreaterThan(10);
    expect(await Promise.all(others.map((one) => hasher.verify(one, stored)))).toEqual(others.map(() => false));
  });

  it.each(cheap.slice(0, 2))(
    "do not verify with a changed bit in salt or hash: $name",
    async ({ password, stored }) => {
      const [salt = "", hash = ""] = stored.split("$").slice(-2);
      const flipped = (text: string, at: number): string => {
        const bytes = Buffer.from(text, "base64");
        bytes[at] = (bytes[at] as number) ^ 1;
        return bytes.toString("base64");
      };
      const changed = [
        stored.replace(salt, flipped(salt, 0)),
        stored.replace(hash, flipped(hash, 0)),
        stored.replace(hash, flipped(hash, 63)),
      ];
      expect(new Set([stored, ...changed]).size).toBe(4);
      for (const one of changed) expect(await hasher.verify(password, one)).toBe(false);
    },
  );
});
