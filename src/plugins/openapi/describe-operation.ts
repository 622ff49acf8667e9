import { type JsonSchema, jsonSchemaOf } from "../../entity/index.ts";
import type { AnswerDescription, ParameterDescription, Route, RouteDescription } from "../../gate/index.ts";
import { camelCase, pascalCase, pluralize } from "../../kernel/index.ts";
import { errorResponse, errorResponseName } from "./error-responses.ts";
import type { OperationObject } from "./openapi-document.ts";

/** The parts of an operation besides its route. */
export interface OperationParts {
  readonly described: RouteDescription;
  /** Notes of plugins about the route. */
  readonly notes: readonly Pick<RouteDescription, "errors" | "parameters">[];
  /** Whether anonymous callers may use it for all records. */
  readonly isOpen: boolean;
  /** Names of the security schemes. */
  readonly schemes: readonly string[];
  /** The longest id of a record, in characters. */
  readonly idLength: number;
}

const REQUEST_ID = Object.freeze({ "X-Request-Id": { $ref: "#/components/headers/X-Request-Id" } });

/** One operation of the document, with complete parameters. */
export function describeOperation(route: Route, operationId: string, parts: OperationParts): OperationObject {
  const { described, notes, isOpen, schemes, idLength } = parts;
  const { meta = {} } = route;
  const { summary, description } = textsOf(meta, described);
  const given = [...(described.parameters ?? []), ...notes.flatMap((note) => note.parameters ?? [])];
  const parameters = [...pathParameters(route, idLength), ...given.map(parameter)];
  const { body, answers = ANY_SUCCESS } = described;
  return {
    operationId,
    tags: (meta.tags as readonly string[] | undefined) ?? [tagOf(route)],
    ...(summary === undefined ? {} : { summary }),
    ...(description === undefined ? {} : { description }),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === undefined ? {} : { requestBody: { required: body.required, content: contents(body.content) } }),
    responses: responsesOf(answers, errorsOf(route, parts)),
    ...securityOf(route, isOpen, schemes),
  };
}

interface Texts {
  readonly summary?: string | undefined;
  readonly description?: string | undefined;
}

/**
 * Summary and description. Each defaults to the other: lists of operations show the summary, and some tools need a
 * description.
 */
function textsOf(meta: NonNullable<Route["meta"]>, described: RouteDescription): Texts {
  const description = (meta.description ?? described.description) as string | undefined;
  const isLine = description !== undefined && description.length <= 80 && !description.includes("\n");
  const summary = ((meta.summary ?? described.summary) as string | undefined) ?? (isLine ? description : undefined);
  return { summary, description: description ?? (summary === undefined ? undefined : `${summary}.`) };
}

/**
 * Responses by status. Ranges such as "2XX" become the default response, because not all client generators support
 * ranges.
 */
function responsesOf(
  answers: NonNullable<RouteDescription["answers"]>,
  errors: readonly string[],
): OperationObject["responses"] {
  const isRange = (status: string): boolean => status.endsWith("XX");
  const entries = Object.entries(answers);
  const ranges = entries.filter(([status]) => isRange(status)).map(([, answer]) => answer);
  const refusal = errors.find(isRange);
  const others = ranges.length > 0 ? response(otherAnswer(ranges, refusal)) : refusal && errorRef(refusal);
  return {
    ...Object.fromEntries(
      entries.filter(([status]) => !isRange(status)).map(([key, answer]) => [key, response(answer)]),
    ),
    ...Object.fromEntries(errors.filter((status) => !isRange(status)).map((status) => [status, errorRef(status)])),
    ...(others ? { default: others } : {}),
  };
}

/** Combines several responses into one, with any of their bodies or an error. */
function otherAnswer(answers: readonly AnswerDescription[], refusal: string | undefined): AnswerDescription {
  const all = refusal === undefined ? answers : [...answers, errorResponse(refusal)];
  const schemas = new Map<string, JsonSchema[]>();
  for (const { content = {} } of all)
    for (const [type, schema] of Object.entries(content)) schemas.set(type, [...(schemas.get(type) ?? []), schema]);
  const any = (list: readonly JsonSchema[]): JsonSchema =>
    list.length === 1 ? (list[0] as JsonSchema) : { anyOf: list };
  const content = Object.fromEntries([...schemas].map(([type, list]) => [type, any(list)]));
  return {
    description: all.map(({ description }) => description).join(" "),
    content: schemas.has(ANY_TYPE) ? { [ANY_TYPE]: {} } : content,
    headers: Object.assign({}, ...all.map(({ headers = {} }) => headers)),
  };
}

const ANY_TYPE = "*/*";

/** A response with its own headers and those of all responses. */
export function response({ description, content, headers = {} }: AnswerDescription): JsonSchema {
  const own = Object.entries(headers).map(([name, says]) => [name, { description: says, schema: { type: "string" } }]);
  return {
    description,
    headers: { ...Object.fromEntries(own), ...REQUEST_ID },
    ...(content === undefined ? {} : { content: contents(content) }),
  };
}

/** A unique operation id. For several routes with the same name, the method is added. */
export function operationIdOf(
  { action, entity, plugin, method }: Route,
  wanted: string | undefined,
  taken: Set<string>,
) {
  const name = entity === undefined ? camelCase(`${plugin} ${action}`) : camelCase(action) + pascalCase(entity.name);
  let id = wanted ?? name;
  if (taken.has(id)) id += `By${pascalCase(method.toLowerCase())}`;
  for (let n = 2; taken.has(id); n++) id = `${wanted ?? name}${n}`;
  taken.add(id);
  return id;
}

/** The default for routes without a description: any content of any type, or a redirect. */
const ANY_SUCCESS: Readonly<Record<string, AnswerDescription>> = Object.freeze({
  200: { description: "What the code behind this route gives.", content: { [ANY_TYPE]: {} } },
  "2XX": { description: "The same, under another status.", content: { [ANY_TYPE]: {} } },
  "3XX": { description: "Where to go instead.", headers: { Location: "The address." } },
});

/** The default tag of a route's operation, if its `meta` has none. */
export function tagOf({ entity, plugin }: Route): string {
  return entity === undefined ? plugin : pascalCase(entity.plural ?? pluralize(entity.name));
}

/** A parameter in the path of a route: its name, and `+` if it matches the rest of the path. */
export const PARAMETER = /\/:(\w+)(\+?)/g;

function pathParameters({ path, entity }: Route, idLength: number): JsonSchema[] {
  const idKind = entity?.columns.id?.kind;
  return [...path.matchAll(PARAMETER)].map(([, name, isRest]) => ({
    name,
    in: "path",
    required: true,
    description: describeSegment(name as string, isRest !== ""),
    schema:
      name === "id" && idKind?.convert !== undefined
        ? jsonSchemaOf(idKind)
        : { type: "string", minLength: 1, ...(name === "id" ? { maxLength: idLength } : {}) },
  }));
}

function describeSegment(name: string, isRest: boolean): string {
  if (isRest) return "All that follows in the path, with its slashes.";
  return name === "id" ? "The id of the record." : "One segment of the path.";
}

function parameter({
  name,
  in: place = "query",
  schema,
  description,
  required,
  commas,
}: ParameterDescription): JsonSchema {
  return {
    name,
    in: place,
    ...(description === undefined ? {} : { description }),
    ...(required === true ? { required } : {}),
    schema,
    ...(commas === true ? { style: "form", explode: false } : {}),
  };
}

function contents(content: Readonly<Record<string, JsonSchema>>): JsonSchema {
  return Object.fromEntries(Object.entries(content).map(([type, schema]) => [type, { schema }]));
}

/** The error statuses of a route: those of all routes, those of its description, and those of notes. */
function errorsOf(route: Route, { described, notes, isOpen }: OperationParts): string[] {
  const statuses = new Set<string>(["400", "500", "503"]);
  const { early, describe } = route;
  if (early !== true) statuses.add("401");
  if (early !== true && !isOpen) statuses.add("403");
  if (described.body !== undefined) for (const status of ["413", "415"]) statuses.add(status);
  // The errors of a route without a description are unknown.
  if (describe === undefined) statuses.add("4XX");
  for (const { errors = [] } of [described, ...notes]) for (const status of errors) statuses.add(String(status));
  return [...statuses].sort();
}

function errorRef(status: string): JsonSchema {
  return { $ref: `#/components/responses/${errorResponseName(status)}` };
}

function securityOf({ early }: Route, isOpen: boolean, schemes: readonly string[]): Pick<OperationObject, "security"> {
  if (schemes.length === 0) return {};
  if (early === true) return { security: [] };
  const any = schemes.map((name) => ({ [name]: [] }));
  return { security: isOpen ? [{}, ...any] : any };
}
