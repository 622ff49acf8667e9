import { type AnyEntity, isObject, type JsonSchema } from "../../../entity/index.ts";
import { type AnswerDescription, ignoredHeader, type RouteDescription } from "../../../gate/index.ts";
import { BadRequestError, Reply } from "../../../kernel/index.ts";
import { ActionBuilder, type PlainShape } from "../action/action-builder.ts";
import { answerWith } from "../action/describe-action.ts";

interface BulkInput {
  readonly ids: readonly string[];
  readonly data: Readonly<Record<string, unknown>>;
}

/**
 * `PUT /bulk`, also `POST /bulk-update`, changes the listed records that the caller may change, by the rules of update,
 * in one transaction: all of them, or none if there is an error (spec 4.2).
 */
export function bulkUpdateAction(): ActionBuilder<PlainShape<{ readonly count: number }, false, BulkInput>> {
  return new ActionBuilder({
    method: "PUT",
    path: "/bulk",
    aliases: [{ method: "POST", path: "/bulk-update" }],
    description: "Changes several records",
    query: {},
    readsBody: true,
    access: "update",
    authorizes: "operations",
    transactional: true,
    describe: ({ scope, record }, { entity }) =>
      describeBulk(scope.app.limits.bulk, record(entity, "update"), {
        "X-Ignored-Fields": "Fields that were sent, and that the caller may not write.",
      }),
    async handler({ scope, entity, input, rules }) {
      const { ids, data } = readBulk(input, ["ids", "data"], entity, scope.app.limits.bulk);
      // Each record needs its own hash, which takes most of a second.
      const password = Object.keys(data).find((name) => entity.fields[name]?.password !== undefined);
      if (password !== undefined) throw new BadRequestError(`"${password}" cannot be set on several records at once`);
      const { total: count, ignored } = await scope.run({ kind: "update", entity, ids, rules, data });
      return new Reply(200, { count }, ignoredHeader(ignored));
    },
  });
}

/**
 * `DELETE /bulk`, also `POST /bulk-delete` for proxies that drop the body of a DELETE, deletes the listed records that
 * the caller may delete, by the rules of delete, in one transaction (spec 4.2).
 */
export function bulkDeleteAction(): ActionBuilder<
  PlainShape<{ readonly count: number }, false, Pick<BulkInput, "ids">>
> {
  return new ActionBuilder({
    method: "DELETE",
    path: "/bulk",
    aliases: [{ method: "POST", path: "/bulk-delete" }],
    description: "Deletes several records",
    query: {},
    readsBody: true,
    access: "delete",
    authorizes: "operations",
    transactional: true,
    describe: ({ scope }) => describeBulk(scope.app.limits.bulk),
    async handler({ scope, entity, input, rules }) {
      const { ids } = readBulk(input, ["ids"], entity, scope.app.limits.bulk);
      const { total = 0 } = await scope.run({ kind: "delete", entity, ids, rules });
      return { count: total };
    },
  });
}

function describeBulk(
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
    errors: data === undefined ? [403, 409] : [403, 404, 409],
  };
}

/**
 * Checks the body of a bulk request; an id may be listed twice.
 * @param limit the most ids
 * @throws BadRequestError
 */
function readBulk(input: unknown, keys: readonly ("ids" | "data")[], { columns }: AnyEntity, limit: number): BulkInput {
  const shape = `{ ${keys.map((key) => `"${key}": ${key === "ids" ? "[…]" : "{…}"}`).join(", ")} }`;
  if (!isObject(input)) throw new BadRequestError(`The body must be ${shape}`);
  const other = Object.keys(input).find((key) => !(keys as readonly string[]).includes(key));
  if (other !== undefined) throw new BadRequestError(`The body must be ${shape} and nothing else`);
  const { ids: given, data = {} } = input;
  // Ids that are whole numbers are sent as JSON numbers.
  const isNumber = columns.id?.kind.toWire !== undefined;
  const ids =
    isNumber && Array.isArray(given)
      ? given.map((id: unknown) => (typeof id === "number" ? String(id) : id))
      : (given as unknown);
  if (!Array.isArray(ids) || !ids.every((id) => typeof id === "string" && id !== ""))
    throw new BadRequestError('"ids" must be a list of ids');
  if (ids.length === 0) throw new BadRequestError('"ids" must not be empty');
  if (ids.length > limit) throw new BadRequestError(`"ids" may have ${limit} ids at most`);
  if (keys.includes("data") && (!isObject(input.data) || Object.keys(input.data).length === 0))
    throw new BadRequestError('"data" must be an object that says what to change');
  return { ids: ids as string[], data: data as Record<string, unknown> };
}
