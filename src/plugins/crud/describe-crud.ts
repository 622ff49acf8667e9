import type { AnyEntity, JsonSchema } from "../../entity/index.ts";
import type {
  AnswerDescription,
  ContentDescription,
  DescribeRoute,
  QueryParser,
  RouteDescription,
  RouteReader,
} from "../../gate/index.ts";
import { pascalCase, pluralize } from "../../kernel/index.ts";

const json = (schema: JsonSchema): ContentDescription => ({ "application/json": schema });

const IGNORED = Object.freeze({ "X-Ignored-Fields": "Fields that were sent, and that the caller may not write." });
const LISTED = Object.freeze({
  "X-Total-Count": "How many records there are on all pages.",
  "X-Total-Relation": "`gte` when an estimated total stopped counting: there may be more records.",
  Link: "Where the first, previous, next and last page are (RFC 8288).",
  "X-Next-Cursor": "What `_after` takes for the next page.",
});

const TAG = Object.freeze({ ETag: "Version of the record, and what tells this answer from others about it." });
const UNCHANGED: AnswerDescription = Object.freeze({
  description: "What the caller has is what there is.",
  headers: TAG,
});

/** The documentation of an entity's routes (spec 4.1), by action. */
export function describeCrud(
  entity: AnyEntity,
  parser: QueryParser,
): Readonly<Record<"create" | "upsert" | "list" | "aggregate" | "read" | "update" | "put" | "delete", DescribeRoute>> {
  const { name } = entity;
  const tag = entity.versioned === undefined ? {} : TAG;
  const shown = ({ record }: RouteReader): JsonSchema => record(entity, "record");
  /** After a write, callers who may not read the record only get its id. */
  const kept = ({ record, reads }: RouteReader): JsonSchema => record(entity, reads(entity) ? "record" : "selection");
  const answer = (
    description: string,
    schema: JsonSchema,
    headers?: AnswerDescription["headers"],
  ): AnswerDescription => ({
    description,
    content: json(schema),
    headers,
  });
  const described = (parts: Parameters<QueryParser["describe"]>[0], rest: (reader: RouteReader) => RouteDescription) =>
    (async (reader) => ({
      parameters: await parser.describe(parts, entity, reader.scope, reader.record),
      ...rest(reader),
    })) satisfies DescribeRoute;
  const written = (reader: RouteReader, form: "create" | "update") =>
    ({ required: true, content: json(reader.record(entity, form)) }) as const;
  const changed = (reader: RouteReader): RouteDescription => ({
    summary: `Change ${name}`,
    description: "What is not sent stays as it is. Callers who may not read the record get its id alone.",
    body: written(reader, "update"),
    answers: { 200: answer("The record as it is now.", kept(reader), { ...IGNORED, ...tag }) },
    errors: [403, 404, 409],
  });

  return {
    create: described(["shape"], (reader) => ({
      summary: `Create ${name}`,
      description:
        "Records that it refers to have to exist, and the caller has to be allowed to read them. Callers who may not read the new record get its id alone.",
      body: written(reader, "create"),
      answers: {
        201: answer("The record that was created.", kept(reader), { Location: "Where it is.", ...IGNORED, ...tag }),
      },
      errors: [403, 409],
    })),
    upsert: (async (reader) => ({
      summary: `Create or change ${name}`,
      description: "Changes the record that has the values of a unique key, or creates it.",
      parameters: [
        {
          name: "_on",
          required: true,
          schema: { type: "string" },
          description: "The unique field, or fields, by which the record is found.",
        },
        ...(await parser.describe(["shape"], entity, reader.scope)),
      ],
      body: written(reader, "create"),
      answers: {
        200: answer("The record as it is now.", kept(reader), { ...IGNORED, ...tag }),
        201: answer("The record that was created.", kept(reader), { Location: "Where it is.", ...IGNORED, ...tag }),
      },
      errors: [403, 409],
    })) satisfies DescribeRoute,
    list: described(["filter", "sort", "page", "shape"], (reader) => ({
      operationId: `list${pascalCase(entity.plural ?? pluralize(name))}`,
      summary: `List ${entity.plural ?? pluralize(name)}`,
      description:
        "Finds the records that the caller may read. `_where` takes every condition; the parameters named after fields are the usual ones.",
      answers: { 200: answer("A page of records.", { type: "array", items: shown(reader) }, LISTED) },
    })),
    aggregate: described(["filter", "aggregate"], () => ({
      summary: `Compute with ${entity.plural ?? pluralize(name)}`,
      description: "Takes the conditions of the list, too.",
      answers: { 200: answer("The groups, with what was computed of each.", GROUPS) },
    })),
    read: described(["shape", "deleted"], (reader) => ({
      summary: `Read ${name}`,
      description: "A record that the caller may not read is not found.",
      answers: {
        200: answer("The record.", shown(reader), tag),
        ...(entity.versioned === undefined ? {} : { 304: UNCHANGED }),
      },
      errors: [404],
    })),
    update: described(["shape"], changed),
    // PUT and PATCH do the same. PATCH has the plain operation id.
    put: described(["shape"], (reader) => ({ ...changed(reader), operationId: `update${pascalCase(name)}ByPut` })),
    delete: described([], () => ({
      summary: `Delete ${name}`,
      description: "Refused while other records need it.",
      answers: { 200: answer("The record is gone.", deletedSchema(entity)) },
      errors: [404, 409],
    })),
  };
}

const GROUPS: JsonSchema = Object.freeze({ type: "array", items: { type: "object" } });

/** Ids that are whole numbers are sent as JSON numbers. */
function deletedSchema({ columns }: AnyEntity): JsonSchema {
  const type = columns.id?.kind.toWire === undefined ? "string" : "integer";
  return { type: "object", required: ["success", "id"], properties: { success: { const: true }, id: { type } } };
}
