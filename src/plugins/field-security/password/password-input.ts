import { BadRequestError, type ValidationIssue } from "../../../kernel/index.ts";

/** Bytes of UTF-8 that a submitted password may have. */
export const MAX_PASSWORD_BYTES = 1_024;

/** What is wrong with a password, without quoting it. */
export type PasswordProblem = Pick<ValidationIssue, "code" | "message">;

/**
 * What is wrong with a submitted password, looked at before it is hashed (security.md, "Passwords"); undefined for a
 * well-formed text of 1 to 1,024 bytes. Nothing is trimmed, normalised or cut. How many characters it needs is the
 * field's `.min()`.
 */
export function passwordProblem(password: unknown): PasswordProblem | undefined {
  if (typeof password !== "string") return { code: "invalid_type", message: "must be a string" };
  if (password === "") return { code: "too_small", message: "must not be empty" };
  // A UTF-16 unit is at least one byte: what is far too long is not even counted.
  if (password.length > MAX_PASSWORD_BYTES || Buffer.byteLength(password) > MAX_PASSWORD_BYTES)
    return { code: "too_big", message: `must be at most ${MAX_PASSWORD_BYTES} bytes` };
  // A lone surrogate would be hashed as U+FFFD; HMAC pads its key with NUL, so that "a" and "a\0" have the same hash.
  if (!password.isWellFormed() || password.includes("\u0000"))
    return { code: "custom", message: "must be well-formed text without NUL characters" };
  return undefined;
}

/** Whether it may be hashed, and so may have been. */
export function isPassword(password: unknown): password is string {
  return passwordProblem(password) === undefined;
}

/** @throws BadRequestError unless it may be hashed */
export function checkPassword(password: unknown): asserts password is string {
  const problem = passwordProblem(password);
  if (problem !== undefined) throw new BadRequestError(`A password ${problem.message}`);
}
