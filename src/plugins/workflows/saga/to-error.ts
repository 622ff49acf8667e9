import { InternalError } from "../../../kernel/index.ts";

/** What was thrown, as an error. */
export function toError(thrown: unknown): Error {
  return thrown instanceof Error
    ? thrown
    : new InternalError("A step failed with something that is no error", { cause: thrown });
}
