import type { AnyEntity, JsonSchema, ResolvedRelation } from "../../entity/index.ts";
import {
  type OperationScope,
  type PluginContext,
  pascalCase,
  type QueryParser,
  type Route,
  type RouteDescription,
  type RouteNotes,
  type RouteReader,
} from "../../kernel/index.ts";
import { describeOperation, operationIdOf, response } from "./describe-operation.ts";
import type { OpenApiDocument } from "./document.ts";
import { ERROR_SCHEMAS, errorResponse, errorResponseName } from "./error-responses.ts";
import { fieldsSchema } from "./field-schema.ts";
import type { OpenApiOptions } from "./openapi-options.ts";
import { createRecordSchemas, type RecordSchemas } from "./record-schemas.ts";
import { type OwnedOperation, shareParameters } from "./share-parameters.ts";
import { decidingRules, usableRoutes } from "./usable-routes.ts";

/** What a document is made from. */
export interface DocumentSource {
  readonly context: PluginContext;
  readonly options: OpenApiOptions;
  readonly notes: readonly Parameters<RouteNotes["add"]>[0][];
}

/** Where the routes are: those of entities, and those of plugins. */
export interface Place {
  readonly prefix: string;
  readonly base: string;
}

const BEARER = Object.freeze({ bearer: { type: "http", scheme: "bearer" } });

/** The document for the caller of a scope: with what they may use, and nothing else. */
export async function buildDocument(
  source: DocumentSource,
  scope: OperationScope,
  place: Place,
): Promise<OpenApiDocument> {
  const { options } = source;
  const { reader, schemas } = await createReader(source, scope);
  const securitySchemes = schemesOf(source);
  const operations = await describeAll(source, reader, place, Object.keys(securitySchemes));
  const shared = shareParameters(operations);
  const paths: Record<string, Record<string, OwnedOperation["operation"]>> = {};
  for (const { path, method, operation } of shared.operations) paths[path] = { ...paths[path], [method]: operation };
  const statuses = operations.flatMap(({ operation }) => Object.keys(operation.responses));
  const tags = new Set(operations.flatMap(({ operation }) => operation.tags));
  const { title = "API", version = "1.0.0", description } = options.info ?? {};
  return {
    openapi: "3.1.1",
    info: { title, version, ...(description === undefined ? {} : { description }) },
    ...(options.servers === undefined ? {} : { servers: options.servers }),
    tags: [...tags].map((name) => ({ name })),
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

/** What routes are described to: everything that takes time to find out is known by then. */
async function createReader(
  { context }: DocumentSource,
  scope: OperationScope,
): Promise<{ readonly reader: RouteReader; readonly schemas: RecordSchemas }> {
  const { entities: model, services } = context;
  const read = new Set<AnyEntity>();
  const relations = new Map<AnyEntity, readonly ResolvedRelation[]>();
  const all = [...model.entities, ...model.foreign];
  for (const entity of all) scope.mask(entity);
  await scope.maskReady();
  for (const entity of model.entities) if ((await scope.readDecision(entity)).allowed) read.add(entity);
  if (services.has("crud.query")) {
    const parser = services.resolve<QueryParser>("crud.query");
    for (const entity of all) relations.set(entity, await parser.includes(entity, scope));
  }
  const schemas = createRecordSchemas(scope, (entity) => relations.get(entity) ?? []);
  const reads = (entity: AnyEntity): boolean => read.has(entity);
  return { reader: { scope, reads, record: schemas.ref, fields: fieldsSchema }, schemas };
}

async function describeAll(
  { context, notes }: DocumentSource,
  reader: RouteReader,
  { prefix, base }: Place,
  schemes: readonly string[],
): Promise<readonly OwnedOperation[]> {
  const { idLength } = context.config.limits;
  const taken = new Set<string>();
  const operations: OwnedOperation[] = [];
  for (const route of await usableRoutes(context, reader.scope)) {
    const described: RouteDescription | undefined = route.describe === undefined ? {} : await route.describe(reader);
    if (described === undefined) continue;
    const parts = {
      described,
      notes: notes.flatMap((note) => note(route) ?? []),
      rules: decidingRules(context, route),
      schemes,
      idLength,
    };
    operations.push({
      path: (route.entity === undefined ? base : prefix) + route.path.replaceAll(/:([^/]+)/g, "{$1}"),
      method: route.method.toLowerCase(),
      owner: pascalCase(route.entity?.name ?? route.plugin),
      operation: describeOperation(route, operationIdOf(route, described.operationId, taken), parts),
    });
  }
  return operations;
}

/** Where everything is for everyone, nobody has to say who they are. */
function schemesOf({ context, options }: DocumentSource): Readonly<Record<string, JsonSchema>> {
  const isOpen = (route: Route): boolean => decidingRules(context, route)?.includes("everyone") === true;
  return options.securitySchemes ?? (context.routes.list().every(isOpen) ? {} : BEARER);
}

function errorResponses(statuses: readonly string[]): Readonly<Record<string, JsonSchema>> {
  const errors = [...new Set(statuses)].filter((status) => /^[45]/.test(status)).sort();
  return Object.fromEntries(errors.map((status) => [errorResponseName(status), response(errorResponse(status))]));
}
