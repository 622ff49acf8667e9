import type { Row } from "../../../kernel/index.ts";
import type { Caller } from "./workflow-engine.ts";

/** Names of what opens doors. */
const CREDENTIAL = /token|secret|passw|credential|cookie|authorization|jwt|session|(?:api|access|private)[-_ ]?key/i;
const MAX_DEPTH = 8;

/**
 * What a journal keeps of a caller, for whoever goes on with their run: the id, and of the rest what is plain data. Functions,
 * sets, maps and objects of classes are left out, and so is what is called like a credential.
 */
export function keptCaller(caller: Caller): Caller {
  if (caller === null || caller === "system") return caller;
  return { ...(members({ ...caller }, 0) as Row), id: caller.id };
}

function members(value: object, depth: number): Row {
  const kept = Object.entries(value).flatMap(([name, inner]) => {
    const plain = CREDENTIAL.test(name) ? undefined : plainOf(inner, depth + 1);
    return plain === undefined ? [] : [[name, plain] as const];
  });
  return Object.fromEntries(kept);
}

/** Undefined for what is not kept. */
function plainOf(value: unknown, depth: number): unknown {
  if (typeof value === "function" || typeof value === "symbol" || depth > MAX_DEPTH) return undefined;
  if (typeof value !== "object" || value === null || value instanceof Date) return value;
  if (Array.isArray(value)) return value.map((item) => plainOf(item, depth + 1)).filter((item) => item !== undefined);
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null ? members(value, depth) : undefined;
}
