import { describe, expect, it } from "vitest";
import {
  checkPassword,
  isPassword,
  passwordProblem,
} from "../../../../src/plugins/field-security/password/password-hasher.ts";

describe("a submitted password", () => {
  it.each([
    ["one character", "x"],
    ["a space", " "],
    ["1,024 bytes", "x".repeat(1024)],
    ["1,024 bytes of four-byte letters", "🔐".repeat(256)],
    ["letters that have other forms", "ﬁn\u00e9 e\u0301"],
    ["line breaks and tabs", "a\tb\r\nc"],
    ["the text of a hash", "$pbkdf2$1$AA==$AA=="],
  ])("may be %s", (_, password) => {
    expect(passwordProblem(password)).toBeUndefined();
    expect(isPassword(password)).toBe(true);
    expect(() => checkPassword(password)).not.toThrow();
  });

  it.each([
    ["null", null, "invalid_type", "must be a string"],
    ["a number", 12345678, "invalid_type", "must be a string"],
    ["a list", ["correct horse"], "invalid_type", "must be a string"],
    ["empty", "", "too_small", "must not be empty"],
    ["1,025 bytes", "x".repeat(1025), "too_big", "must be at most 1024 bytes"],
    ["1,025 bytes in fewer characters", `${"🔐".repeat(256)}x`, "too_big", "must be at most 1024 bytes"],
    ["a lone surrogate", "abc\udc00", "custom", "must be well-formed text without NUL characters"],
    ["text with NUL", "abc\u0000def", "custom", "must be well-formed text without NUL characters"],
  ])("may not be %s", (_, password, code, message) => {
    expect(passwordProblem(password)).toEqual({ code, message });
    expect(isPassword(password)).toBe(false);
    expect(() => checkPassword(password)).toThrow(`A password ${message}`);
  });
});
