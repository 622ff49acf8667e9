import { isObject } from "../../entity/index.ts";

/** The verbs of nested writes. */
const VERBS: ReadonlySet<string> = new Set([
  "create",
  "connect",
  "connectOrCreate",
  "disconnect",
  "set",
  "update",
  "upsert",
  "delete",
]);

/** Whether a value writes related records, as in `{ create: [{ sku: "a" }], connect: ["l1"] }`. */
export function isNestedWrite(value: unknown): boolean {
  if (!isObject(value)) return false;
  const names = Object.keys(value);
  return names.length > 0 && !names.includes("id") && names.every((name) => VERBS.has(name));
}
