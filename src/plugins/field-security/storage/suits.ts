import { canHold } from "../../../entity/index.ts";
import type { EncryptedColumn } from "./encryption-plan.ts";

/** Text that no column can hold, such as a NUL in it, can be encrypted. */
const ANY_TEXT = "text";

/** Whether a value is of its field's type. */
export function suits({ inClear }: EncryptedColumn, value: unknown): boolean {
  return canHold(inClear, typeof value === "string" ? ANY_TEXT : value);
}
