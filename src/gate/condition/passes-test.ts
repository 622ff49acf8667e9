import type { FieldKind } from "../../entity/index.ts";

/**
 * How a column is compared. `eq` with `null` finds records without a value; no other test takes `null`. Drivers know
 * only these: compile-where.ts resolves `ne`, `nin` and the like.
 */
export type Test = "eq" | "gt" | "gte" | "lt" | "lte" | "in" | "like" | "starts" | "ends";

/** Whether a value passes a test; neither it nor the operand is null. */
export function passesTest({ compare }: FieldKind, test: Test, value: unknown, operand: unknown): boolean {
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
      return fold(value).includes(fold(operand));
    case "starts":
      return fold(value).startsWith(fold(operand));
    case "ends":
      return fold(value).endsWith(fold(operand));
  }
}

function fold(text: unknown): string {
  return String(text).toLowerCase();
}
