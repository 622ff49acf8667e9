import { BadRequestError } from "../../../kernel/index.ts";

/** Body of a bulk request that has passed. */
export interface BulkInput {
  /** Distinct, in ascending order: whoever locks several records locks them in the same order. */
  readonly ids: readonly string[];
  readonly data: Readonly<Record<string, unknown>>;
}

/**
 * Checks the body of a bulk request.
 * @param limit ids at most
 * @throws BadRequestError
 */
export function readBulk(input: unknown, keys: readonly ("ids" | "data")[], limit: number): BulkInput {
  const shape = `{ ${keys.map((key) => `"${key}": ${key === "ids" ? "[…]" : "{…}"}`).join(", ")} }`;
  if (!isObject(input)) throw new BadRequestError(`The body must be ${shape}`);
  const other = Object.keys(input).find((key) => !(keys as readonly string[]).includes(key));
  if (other !== undefined) throw new BadRequestError(`The body must be ${shape} and nothing else`);
  const { ids, data = {} } = input;
  if (!Array.isArray(ids) || !ids.every((id) => typeof id === "string" && id !== ""))
    throw new BadRequestError('"ids" must be a list of ids');
  if (ids.length === 0) throw new BadRequestError('"ids" must not be empty');
  if (ids.length > limit) throw new BadRequestError(`"ids" may have ${limit} ids at most`);
  if (keys.includes("data") && (!isObject(input.data) || Object.keys(input.data).length === 0))
    throw new BadRequestError('"data" must be an object that says what to change');
  return { ids: [...new Set(ids as string[])].sort(), data: data as Record<string, unknown> };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
