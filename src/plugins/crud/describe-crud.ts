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

/** What documentation says about the routes of spec 4.1 for one entity, by action. */
export function describeCrud(
  entity: AnyEntity,
  parser: QueryParser,
): Readonly<Record<"create" | "upsert" | "list" | "aggregate" | "read" | "update" | "put" | "delete", DescribeRoute>> {
  const { name } = entity;
  const tag = entity.versioned === undefined ? {} : TAG;
  /** A record, whole or with the fields that were selected. */
  const shown = ({ record }: RouteReader): JsonSchema => ({
    anyOf: [record(entity, "record"), record(entity, "selection")],
  });
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
      parameters: await parser.describe(parts, entity, reader.scope),
      ...rest(reader),
    })) satisfies DescribeRoute;
  const written = (reader: RouteReader, form: "create" | "update") =>
    ({ required: true, content: json(reader.record(entity, form)) }) as const;
  const changed = (reader: RouteReader): RouteDescription => ({
    summary: `Change ${name}`,
    description: "What is not sent stays as it is.",
    body: written(reader, "update"),
    answers: { 200: answer("The record as it is now.", shown(reader), { ...IGNORED, ...tag }) },
    errors: [403, 404, 409],
  });

  return {
    create: described(["shape"], (reader) => ({
      summary: `Create ${name}`,
      body: written(reader, "create"),
      answers: {
        201: answer("The record that was created.", shown(reader), { Location: "Where it is.", ...IGNORED, ...tag }),
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
        200: answer("The record as it is now.", shown(reader), { ...IGNORED, ...tag }),
        201: answer("The record that was created.", shown(reader), { Location: "Where it is.", ...IGNORED, ...tag }),
      },
      errors: [403, 409],
    })) satisfies DescribeRoute,
    list: described(["filter", "sort", "page", "shape"], (reader) => ({
      operationId: `list${pascalCase(entity.plural ?? pluralize(name))}`,
      summary: `List ${entity.plural ?? pluralize(name)}`,
      answers: { 200: answer("A page of records.", { type: "array", items: shown(reader) }, LISTED) },
    })),
    aggregate: described(["filter", "aggregate"], () => ({
      summary: `Compute with ${entity.plural ?? pluralize(name)}`,
      description: "Takes the conditions of the list, too.",
      answers: { 200: answer("The groups, with what was computed of each.", GROUPS) },
    })),
    read: described(["shape", "deleted"], (reader) => ({
      summary: `Read ${name}`,
      answers: {
        200: answer("The record.", shown(reader), tag),
        ...(entity.versioned === undefined ? {} : { 304: UNCHANGED }),
      },
      errors: [404],
    })),
    update: described(["shape"], changed),
    // One of two methods that do the same has the plain id.
    put: described(["shape"], (reader) => ({ ...changed(reader), operationId: `update${pascalCase(name)}ByPut` })),
    delete: described([], () => ({
      summary: `Delete ${name}`,
      answers: { 200: answer("The record is gone.", DELETED_SCHEMA) },
      errors: [404, 409],
    })),
  };
}

const GROUPS: JsonSchema = Object.freeze({ type: "array", items: { type: "object" } });

const DELETED_SCHEMA: JsonSchema = Object.freeze({
  type: "object",
  required: ["success", "id"],
  properties: { success: { const: true }, id: { type: "string" } },
});
