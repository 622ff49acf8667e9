import type { AnyEntity } from "../../entity/index.ts";
import type {
  Operation,
  OperationQuery,
  ParseQuery,
  PluginContext,
  QueryParser,
  RouteContext,
  RouteHandler,
} from "../../gate/index.ts";
import { BadRequestError, EntityNotFoundError, Reply, routeSegment } from "../../kernel/index.ts";
import { answersWithRecord, type FindConditions, type RecordAnswers } from "./answer-with-record.ts";
import { describeCrud } from "./describe-crud.ts";
import { listHeaders } from "./page-links.ts";

/** What the routes of all entities share. */
export interface CrudParts {
  readonly parser: QueryParser;
  readonly conditions: FindConditions;
}

/** Adds the routes of spec 4.1 for one entity. */
export function addCrudRoutes(
  routes: PluginContext["routes"],
  entity: AnyEntity,
  { parser, conditions }: CrudParts,
): void {
  const segment = routeSegment(entity);
  const collection = `/${segment}`;
  const one = `/${segment}/:id`;
  const written = answersWithRecord(entity, parser.reads(["shape"]), conditions);
  const read = answersWithRecord(entity, forJson(parser.reads(["shape", "deleted"])), conditions);
  const update = updateHandler(entity, written, conditions);
  const describe = describeCrud(entity, parser);
  routes.add({
    method: "POST",
    path: collection,
    entity,
    action: "create",
    access: "create",
    describe: describe.create,
    handler: createHandler(entity, segment, written),
  });
  routes.add({
    method: "GET",
    path: collection,
    entity,
    action: "list",
    access: "read",
    describe: describe.list,
    handler: listHandler(entity, segment, forJson(parser.reads(["filter", "sort", "page", "shape"]))),
  });
  routes.add({
    method: "GET",
    path: one,
    entity,
    action: "read",
    access: "read",
    describe: describe.read,
    handler: readHandler(entity, read),
  });
  const changes = { path: one, entity, action: "update", access: "update", handler: update } as const;
  routes.add({ ...changes, method: "PUT", describe: describe.put });
  routes.add({ ...changes, method: "PATCH", describe: describe.update });
  routes.add({
    method: "DELETE",
    path: one,
    entity,
    action: "delete",
    access: "delete",
    describe: describe.delete,
    handler: deleteHandler(entity, parser.reads([]), conditions),
  });
}

/** Queries of answers that nobody looks into before they are JSON. */
function forJson(parse: ParseQuery): ParseQuery {
  const mark = (query: OperationQuery): OperationQuery => {
    query.textMoments = true;
    return query;
  };
  return (search, entity, scope) => {
    const query = parse(search, entity, scope);
    return query instanceof Promise ? query.then(mark) : mark(query);
  };
}

function createHandler(entity: AnyEntity, segment: string, { parse, answer }: RecordAnswers): RouteHandler {
  return async (context) => {
    const { search, scope, root } = context;
    const operation = await scope.run({
      kind: "create",
      entity,
      query: () => parse(search, entity, scope),
      data: () => bodyObject(context),
    });
    const record = operation.records[0];
    const location = `${root}/${segment}/${encodeURIComponent(String(record?.id))}`;
    return answer(context, new Reply(201, record, { location, ...ignoredHeader(operation) }), operation);
  };
}

function listHandler(entity: AnyEntity, segment: string, parse: ParseQuery): RouteHandler {
  return async (context) => {
    const { search, scope } = context;
    // The parser has counted: `q` is one condition to the caller, and one per text to the gate.
    const query = (): ReturnType<ParseQuery> => parse(search, entity, scope);
    const operation = await scope.run({ kind: "list", entity, query, bounded: true });
    return new Reply(200, operation.records, listHeaders(context, segment, operation));
  };
}

function readHandler(entity: AnyEntity, { parse, answer }: RecordAnswers): RouteHandler {
  return async (context) => {
    const operation = await context.scope.run({
      kind: "read",
      entity,
      id: idOf(context),
      query: () => queryOfOne(context, entity, parse),
    });
    return answer(context, new Reply(200, operation.records[0]), operation);
  };
}

function updateHandler(entity: AnyEntity, { parse, answer }: RecordAnswers, conditions: FindConditions): RouteHandler {
  return async (context) => {
    conditions()?.expect(context);
    const operation = await context.scope.run({
      kind: "update",
      entity,
      id: idOf(context),
      query: () => queryOfOne(context, entity, parse),
      data: () => bodyObject(context),
    });
    return answer(context, new Reply(200, operation.records[0], ignoredHeader(operation)), operation);
  };
}

function deleteHandler(entity: AnyEntity, parse: ParseQuery, conditions: FindConditions): RouteHandler {
  return async (context) => {
    conditions()?.expect(context);
    const id = idOf(context);
    await context.scope.run({ kind: "delete", entity, id, query: () => queryOfOne(context, entity, parse) });
    return { success: true, id };
  };
}

function idOf({ params }: RouteContext): string {
  return params.id as string;
}

/**
 * The query of a route on one record. No record has a longer id than the limit, so it is missing; said only after
 * authorization, because a caller who is refused learns nothing about ids.
 */
function queryOfOne(
  context: RouteContext,
  entity: AnyEntity,
  parse: ParseQuery,
): OperationQuery | Promise<OperationQuery> {
  const { scope, search } = context;
  if (idOf(context).length > scope.limits.idLength) throw new EntityNotFoundError();
  return parse(search, entity, scope);
}

async function bodyObject(context: RouteContext): Promise<Record<string, unknown>> {
  const body = await context.body();
  if (typeof body !== "object" || body === null || Array.isArray(body))
    throw new BadRequestError("The body must be one JSON object");
  return body as Record<string, unknown>;
}

function ignoredHeader({ ignored }: Operation): Record<string, string> {
  return ignored.length === 0 ? {} : { "x-ignored-fields": ignored.join(", ") };
}
