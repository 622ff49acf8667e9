import type { FieldKind } from "../../entity/index.ts";

/**
 * How a column is compared. `eq` with `null` finds records without a value; other tests do not take `null`. Drivers
 * receive only these tests: compile-where.ts resolves `ne`, `nin` and similar operators.
 */
export type Test =
  | "eq"
  | "gt"
  | "gte"
  | "lt"
  | "lte"
  | "in"
  | "like"
  | "starts"
  | "ends"
  | "hasAny"
  | "hasAll"
  | "isEmpty";

/** Whether a value passes a test; value and operand must not be null. */
export function passesTest({ compare, item }: FieldKind, test: Test, value: unknown, operand: unknown): boolean {
  switch (test) {
    case "eq":
      return compare(value, operand) === 0;
    case "gt":
      return compare(value, operand) > 0;
    case "gte":
      return compare(value, operand) >= 0;
    case "lt":
      return compare(value, operand) < 0;
    case "lte":
      return compare(value, operand) <= 0;
    case "in":
      return (operand as readonly unknown[]).some((one) => compare(value, one) === 0);
    case "like":
      return isText(value) && fold(value).includes(fold(operand));
    case "starts":
      return isText(value) && fold(value).startsWith(fold(operand));
    case "ends":
      return isText(value) && fold(value).endsWith(fold(operand));
    case "isEmpty":
      return (value as readonly unknown[]).length === 0;
    default: {
      const isIn = (operands: unknown): boolean =>
        (value as readonly unknown[]).some((one) => item?.compare(one, operands) === 0);
      const operands = operand as readonly unknown[];
      return test === "hasAll" ? operands.every(isIn) : operands.some(isIn);
    }
  }
}

const isText = (value: unknown): boolean => typeof value === "string";

function fold(text: unknown): string {
  return String(text).toLowerCase();
}
