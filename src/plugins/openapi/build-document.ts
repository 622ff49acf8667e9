import { setImmediate } from "node:timers/promises";
import type { AnyEntity, JsonSchema, ResolvedRelation } from "../../entity/index.ts";
import {
  type PluginContext,
  QueryParser,
  type Route,
  type RouteDescription,
  type RouteNotes,
  type RouteReader,
} from "../../gate/index.ts";
import { isPromiseLike, pascalCase, withDeadline } from "../../kernel/index.ts";
import { describeOperation, operationIdOf, PARAMETER, response, tagOf } from "./describe-operation.ts";
import { ERROR_SCHEMAS, errorResponse, errorResponseName } from "./error-responses.ts";
import type { DocumentInfo, OpenApiDocument, OpenApiOptions, OperationObject } from "./openapi-document.ts";
import type { ReaderView } from "./reader-view.ts";
import { createRecordSchemas, fieldsSchema, type RecordSchemas } from "./record-schemas.ts";

/** An operation with its owner. */
interface OwnedOperation {
  readonly path: string;
  readonly method: string;
  /** Name of the schema of its records, or of its plugin. */
  readonly owner: string;
  readonly operation: OperationObject;
  /** Its tag, with a description. */
  readonly about: { readonly tag: string; readonly description: string; readonly isOfRecords: boolean };
  /** Keys that identify its parameters. */
  readonly keys: readonly string[];
}

const UNSAFE = /[^A-Za-z0-9._-]/g;

/** Moves parameters that several operations have to the components: lists, counts and exports have the same filters. */
function shareParameters(operations: readonly OwnedOperation[]): {
  readonly operations: readonly OwnedOperation[];
  readonly parameters: Readonly<Record<string, JsonSchema>>;
} {
  const uses = new Map<string, number>();
  for (const { keys } of operations) for (const key of keys) uses.set(key, (uses.get(key) ?? 0) + 1);
  const names = new Map<string, string>();
  const parameters: Record<string, JsonSchema> = {};

  function share(parameter: JsonSchema, key: string): JsonSchema {
    if ((uses.get(key) ?? 0) < 2) return parameter;
    const name = names.get(key) ?? freeName(`${ownerIn(key)}${parameter.name}`);
    names.set(key, name);
    parameters[name] = parameter;
    return { $ref: `#/components/parameters/${name}` };
  }
  function freeName(given: string): string {
    const plain = given.replace(UNSAFE, "-");
    let name = plain;
    for (let n = 2; Object.hasOwn(parameters, name); n++) name = `${plain}.${n}`;
    return name;
  }

  const shared = operations.map((owned) => {
    const { operation, keys } = owned;
    if (operation.parameters === undefined) return owned;
    const given = operation.parameters.map((parameter, index) => share(parameter, keys[index] as string));
    return { ...owned, operation: { ...operation, parameters: given } };
  });
  return { operations: shared, parameters };
}

/** Identifies a parameter: by its owner, unless all entities share it, and its definition. */
function keyOf(owner: string, isShared: boolean, parameter: JsonSchema): string {
  return `${isShared || parameter.in === "path" ? "" : `${owner}.`} ${JSON.stringify(parameter)}`;
}

function ownerIn(key: string): string {
  return key.slice(0, key.indexOf(" "));
}

/** The input of a document. */
export interface DocumentSource {
  readonly context: PluginContext;
  readonly options: OpenApiOptions;
  readonly notes: readonly Parameters<RouteNotes["add"]>[0][];
}

/** The paths of the API's routes and of plugins' routes. */
export interface Place {
  readonly prefix: string;
  readonly base: string;
}

/** Used by default if some routes are not open to everyone. */
const BEARER = Object.freeze({ bearer: { type: "http", scheme: "bearer" } });

/** The document for one reader. It only contains routes and data that the reader may use. */
export async function buildDocument(source: DocumentSource, view: ReaderView, place: Place): Promise<OpenApiDocument> {
  const { options } = source;
  const { reader, schemas } = await createReader(source, view);
  const securitySchemes = options.securitySchemes ?? (view.isAllOpen ? {} : BEARER);
  const operations = await describeAll(source, reader, view, place, Object.keys(securitySchemes));
  const shared = shareParameters(operations);
  const paths: Record<string, Record<string, OwnedOperation["operation"]>> = {};
  for (const { path, method, operation } of shared.operations) paths[path] = { ...paths[path], [method]: operation };
  const statuses = operations.flatMap(({ operation }) =>
    Object.entries(operation.responses).map(([status, { $ref }]) =>
      status === "default" && $ref !== undefined ? "4XX" : status,
    ),
  );
  return {
    openapi: "3.1.1",
    info: infoOf(options.info),
    servers: options.servers ?? HERE,
    tags: tagsOf(operations, options.tags),
    paths,
    components: {
      schemas: { ...schemas.made, ...ERROR_SCHEMAS },
      parameters: shared.parameters,
      responses: errorResponses(statuses),
      headers: {
        "X-Request-Id": { description: "Under which the log knows the request.", schema: { type: "string" } },
      },
      ...(Object.keys(securitySchemes).length === 0 ? {} : { securitySchemes }),
    },
  };
}

function infoOf({ title = "API", version = "1.0.0", ...others }: DocumentInfo = {}): OpenApiDocument["info"] {
  const given = Object.entries(others).filter(([, value]) => value !== undefined);
  return { title, version, ...Object.fromEntries(given) };
}

/** Paths begin at the root of the server that serves the document. */
const HERE: NonNullable<OpenApiOptions["servers"]> = Object.freeze([{ url: "/" }]);

/** The tags of operations in their order, those of records first, with descriptions. */
function tagsOf(operations: readonly OwnedOperation[], given: OpenApiOptions["tags"] = {}): OpenApiDocument["tags"] {
  const known = new Map(operations.map(({ about }) => [about.tag, about.description]));
  const names = new Set(operations.flatMap(({ operation }) => operation.tags));
  const ofRecords = new Set(operations.flatMap(({ about, operation }) => (about.isOfRecords ? operation.tags : [])));
  const inOrder = [...names].sort((a, b) => Number(ofRecords.has(b)) - Number(ofRecords.has(a)));
  return inOrder.map((name) => {
    const description = (Object.hasOwn(given, name) ? given[name] : undefined) ?? known.get(name);
    return description === undefined ? { name } : { name, description };
  });
}

/** The default tag of a route, with a description. */
function aboutTag(route: Route, prefix: string): OwnedOperation["about"] {
  const { entity, plugin, path } = route;
  const tag = tagOf(route);
  if (entity === undefined) return { tag, description: `Routes of the plugin "${plugin}".`, isOfRecords: false };
  return { tag, isOfRecords: true, description: `Records of ${entity.name}, at ${prefix}/${path.split("/")[1]}.` };
}

/** The reader for descriptions of routes. All asynchronous parts are loaded before. */
async function createReader(
  { context }: DocumentSource,
  { scope, reads }: ReaderView,
): Promise<{ readonly reader: RouteReader; readonly schemas: RecordSchemas }> {
  const { entities: model, tryUse } = context;
  const relations = new Map<AnyEntity, readonly ResolvedRelation[]>();
  const parser = tryUse(QueryParser);
  if (parser !== undefined)
    for (const entity of [...model.entities, ...model.foreign])
      relations.set(entity, await parser.includes(entity, scope));
  const schemas = createRecordSchemas(scope, (entity) => relations.get(entity) ?? []);
  return {
    reader: { scope, reads: (entity) => reads.has(entity), record: schemas.ref, fields: fieldsSchema },
    schemas,
  };
}

/** Milliseconds after which other work gets a turn. A large document takes much longer. */
const TURN_MS = 10;

async function describeAll(
  { context, notes }: DocumentSource,
  reader: RouteReader,
  { routes, open }: ReaderView,
  { prefix, base }: Place,
  schemes: readonly string[],
): Promise<readonly OwnedOperation[]> {
  const { idLength } = context.config.limits;
  const taken = new Set<string>();
  const operations: OwnedOperation[] = [];
  let turn = performance.now();
  for (const route of routes) {
    if (performance.now() - turn > TURN_MS) {
      await setImmediate();
      turn = performance.now();
    }
    const described = await descriptionOf(route, reader, context);
    if (described === undefined) continue;
    const parts = {
      described,
      notes: notes.flatMap((note) => note(route) ?? []),
      isOpen: open.has(route),
      schemes,
      idLength,
    };
    const owner = pascalCase(route.entity?.name ?? route.plugin);
    const given = [described, ...parts.notes].flatMap(({ parameters = [] }) => parameters);
    const shared = new Set<unknown>(given.filter((one) => one.shared === true).map(({ name }) => name));
    const operation = describeOperation(route, operationIdOf(route, described.operationId, taken), parts);
    operations.push({
      path: (route.inApi ? prefix : base) + route.path.replaceAll(PARAMETER, "/{$1}"),
      method: route.method.toLowerCase(),
      owner,
      operation,
      about: aboutTag(route, prefix),
      keys: (operation.parameters ?? []).map((one) => keyOf(owner, shared.has(one.name), one)),
    });
  }
  return operations;
}

/** Limits the time of a route's description, because other documents wait for this one. */
async function descriptionOf(
  { describe, method, path }: Route,
  reader: RouteReader,
  { config }: PluginContext,
): Promise<RouteDescription | undefined> {
  const described = describe === undefined ? {} : describe(reader);
  if (!isPromiseLike(described)) return described;
  return await withDeadline(described, config.limits.hookMs, `The description of ${method} ${path}`);
}

function errorResponses(statuses: readonly string[]): Readonly<Record<string, JsonSchema>> {
  const errors = [...new Set(statuses)].filter((status) => /^[45]/.test(status)).sort();
  return Object.fromEntries(errors.map((status) => [errorResponseName(status), response(errorResponse(status))]));
}
