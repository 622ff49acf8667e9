import type { JsonSchema } from "../../../entity/index.ts";
import type { AnswerDescription, RouteDescription } from "../../../gate/index.ts";
import { BadRequestError } from "../../../kernel/index.ts";
import { answerWith } from "../action/answer-with.ts";

/** Body of a bulk request that has passed. */
export interface BulkInput {
  /** Distinct, in ascending order: whoever locks several records locks them in the same order. */
  readonly ids: readonly string[];
  readonly data: Readonly<Record<string, unknown>>;
}

/** What documentation says about a bulk request. */
export function describeBulk(
  limit: number,
  data?: JsonSchema,
  headers?: AnswerDescription["headers"],
): Pick<RouteDescription, "body" | "answers" | "errors"> {
  const ids: JsonSchema = { type: "array", items: { type: "string", minLength: 1 }, minItems: 1, maxItems: limit };
  const properties = { ids, ...(data === undefined ? {} : { data }) };
  const schema = { type: "object", required: Object.keys(properties), properties, additionalProperties: false };
  const count: JsonSchema = { type: "integer", minimum: 0 };
  return {
    body: { required: true, content: { "application/json": schema } },
    answers: answerWith(200, "How many records it was done to.", { count }, headers),
    errors: [403, 409],
  };
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
