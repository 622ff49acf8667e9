import { createHash } from "node:crypto";

/** A digest of plain data. Dates do not count: passing time alone does not change a caller's rights. */
export function digestOf(value: unknown): string {
  return createHash("sha256").update(JSON.stringify(value, timeless)).digest("base64url");
}

function timeless(this: unknown, key: string, value: unknown): unknown {
  if ((this as Readonly<Record<string, unknown>>)[key] instanceof Date) return "datetime";
  return typeof value === "bigint" ? `${value}n` : value;
}
