import { type AnyEntity, type ColumnDefinition, isObject } from "../../entity/index.ts";
import type {
  Operation,
  OperationQuery,
  OperationScope,
  ParseQuery,
  PluginContext,
  QueryParser,
  RequestConditions,
  RouteContext,
  RouteHandler,
} from "../../gate/index.ts";
import { ignoredHeader, presentGroups, upsert } from "../../gate/index.ts";
import {
  BadRequestError,
  EntityNotFoundError,
  PreconditionFailedError,
  Reply,
  routeSegment,
} from "../../kernel/index.ts";
import { describeCrud } from "./describe-crud.ts";
import { listHeaders } from "./page-links.ts";

/** Returns the service for preconditions of requests; undefined in an app without it. */
export type FindConditions = () => RequestConditions | undefined;

/**
 * Adds the routes of spec 4.1 for one entity.
 * @param conditions looks up the service for preconditions
 */
export function addCrudRoutes(
  routes: PluginContext["routes"],
  entity: AnyEntity,
  parser: QueryParser,
  conditions: FindConditions,
): void {
  const segment = routeSegment(entity);
  const listed = forJson(parser.reads(["filter", "sort", "page", "shape"]));
  const written = answersWithRecord(entity, parser.reads(["shape"]), conditions);
  const read = answersWithRecord(entity, forJson(parser.reads(["shape", "deleted"])), conditions);
  const plain = parser.reads([]);

  const createRecord: RouteHandler = async (context) => {
    const { search, scope, root } = context;
    const operation = await scope.run({
      kind: "create",
      entity,
      query: () => written.parse(search, entity, scope),
      data: () => bodyObject(context),
    });
    const record = operation.records[0];
    const location = `${root}/${segment}/${encodeURIComponent(String(record?.id))}`;
    return written.answer(
      context,
      new Reply(201, record, { location, ...ignoredHeader(operation.ignored) }),
      operation,
    );
  };
  const upserted = answersWithRecord(entity, parser.reads(["shape"], ["_on"]), conditions);
  const upsertRecord: RouteHandler = async (context) => {
    const { search, scope, root } = context;
    const operation = await upsert(scope, entity, async () => {
      const on = (new URLSearchParams(search).get("_on") ?? "").split(",").filter((name) => name !== "");
      if (on.length === 0) throw new BadRequestError('"_on" names the unique field by which the record is found');
      const query = await upserted.parse(search, entity, scope);
      const expect = (id: string | undefined): void => expectOfUpsert(context, conditions(), id);
      return { on, query, data: await bodyObject(context), expect };
    });
    const record = operation.records[0];
    const isNew = operation.kind === "create";
    if (!isNew) scope.state.shown?.noteUses({ entity, id: String(record?.id), access: "update" });
    const location = isNew ? { location: `${root}/${segment}/${encodeURIComponent(String(record?.id))}` } : {};
    const reply = new Reply(isNew ? 201 : 200, record, { ...location, ...ignoredHeader(operation.ignored) });
    return upserted.answer(context, reply, operation);
  };
  const listRecords: RouteHandler = async (context) => {
    const { search, scope } = context;
    // `bounded`: the parser has counted the conditions. `q` is one condition for the caller, but several for the gate.
    const query = (): ReturnType<ParseQuery> => listed(search, entity, scope);
    const operation = await scope.run({ kind: "list", entity, query, bounded: true });
    return new Reply(200, operation.records, listHeaders(context, segment, operation));
  };
  const aggregated = parser.reads(["filter", "aggregate"]);
  const aggregateRecords: RouteHandler = async ({ search, scope }) => {
    const query = (): ReturnType<ParseQuery> => aggregated(search, entity, scope);
    const { groups = [] } = await scope.run({ kind: "count", entity, query, bounded: true });
    return new Reply(200, presentGroups(entity, groups));
  };
  const readRecord: RouteHandler = async (context) => {
    const query = (): ReturnType<ParseQuery> => queryOfOne(context, entity, read.parse);
    const operation = await context.scope.run({ kind: "read", entity, id: idOf(context), query });
    return read.answer(context, new Reply(200, operation.records[0]), operation);
  };
  const updateRecord: RouteHandler = async (context) => {
    conditions()?.expect(context);
    const id = idOf(context);
    context.scope.state.shown?.noteUses({ entity, id, access: "update" });
    const operation = await context.scope.run({
      kind: "update",
      entity,
      id,
      query: () => queryOfOne(context, entity, written.parse),
      data: () => bodyObject(context),
    });
    return written.answer(context, new Reply(200, operation.records[0], ignoredHeader(operation.ignored)), operation);
  };
  const { toWire } = (entity.columns.id as ColumnDefinition).kind;
  const deleteRecord: RouteHandler = async (context) => {
    conditions()?.expect(context);
    const id = idOf(context);
    await context.scope.run({ kind: "delete", entity, id, query: () => queryOfOne(context, entity, plain) });
    return { success: true, id: toWire?.(id) ?? id };
  };

  const describe = describeCrud(entity, parser);
  const all = { entity, path: `/${segment}` };
  const one = { entity, path: `/${segment}/:id` };
  const update = { ...one, action: "update", access: "update", transactional: true, handler: updateRecord } as const;
  if (!entity.readOnly)
    routes.add({
      ...all,
      method: "POST",
      action: "create",
      access: "create",
      transactional: true,
      describe: describe.create,
      handler: createRecord,
    });
  if (!entity.readOnly)
    routes.add({
      ...all,
      method: "PUT",
      action: "upsert",
      access: "create",
      transactional: true,
      describe: describe.upsert,
      handler: upsertRecord,
    });
  routes.add({ ...all, method: "GET", action: "list", access: "read", describe: describe.list, handler: listRecords });
  routes.add({
    ...all,
    path: `${all.path}/aggregate`,
    method: "GET",
    action: "aggregate",
    access: "read",
    describe: describe.aggregate,
    handler: aggregateRecords,
  });
  routes.add({ ...one, method: "GET", action: "read", access: "read", describe: describe.read, handler: readRecord });
  if (entity.readOnly) return;
  routes.add({ ...update, method: "PUT", describe: describe.put });
  routes.add({ ...update, method: "PATCH", describe: describe.update });
  routes.add({
    ...one,
    method: "DELETE",
    action: "delete",
    access: "delete",
    transactional: true,
    describe: describe.delete,
    handler: deleteRecord,
  });
}

/** Marks queries whose records become JSON without further use, so that dates can stay text. */
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

function idOf({ params }: RouteContext): string {
  return params.id as string;
}

/**
 * The query of a route on one record. An id longer than the limit belongs to no record. This is checked after
 * authorization, so that a refused caller learns nothing about ids.
 */
function queryOfOne(
  context: RouteContext,
  entity: AnyEntity,
  parse: ParseQuery,
): OperationQuery | Promise<OperationQuery> {
  const { scope, search } = context;
  if (idOf(context).length > scope.app.limits.idLength) throw new EntityNotFoundError();
  return parse(search, entity, scope);
}

/**
 * Sets the request's precondition on the record that an upsert changes. A record that will be created has no version.
 * @throws PreconditionFailedError
 */
function expectOfUpsert(
  context: RouteContext,
  conditions: RequestConditions | undefined,
  id: string | undefined,
): void {
  if (conditions === undefined) return;
  if (id !== undefined) conditions.expect({ ...context, params: { id } });
  else if (context.request.headers["if-match"] !== undefined)
    throw new PreconditionFailedError("There is no record that has the key");
  else context.scope.state.precondition = undefined;
}

async function bodyObject(context: RouteContext): Promise<Record<string, unknown>> {
  const body = await context.body();
  if (!isObject(body)) throw new BadRequestError("The body must be one JSON object");
  return body as Record<string, unknown>;
}

/** Responses with one record, and the queries for them. */
interface RecordAnswers {
  /** Parses a query, and adds the fields that the ETag needs. */
  readonly parse: ParseQuery;
  answer(context: RouteContext, reply: Reply, operation: Operation): Reply | Promise<Reply>;
}

/** Selections to which the version was added for the ETag. It is not shown. */
const extended = new WeakSet<readonly string[]>();

/** The responses of an entity's routes. Responses of versioned entities have an ETag. */
function answersWithRecord(entity: AnyEntity, parse: ParseQuery, conditions: FindConditions): RecordAnswers {
  if (entity.versioned === undefined) return { parse, answer: (_, reply) => reply };
  const isShown = (scope: OperationScope): boolean => scope.access.mask(entity).readable.has("version");
  return {
    async parse(search, of, scope) {
      const query = await parse(search, of, scope);
      if (query.select === undefined || query.select.includes("version") || !isShown(scope)) return query;
      const select = [...query.select, "version"];
      extended.add(select);
      return { ...query, select };
    },
    answer(context, reply, { records, query }) {
      const record = records[0];
      const version = isShown(context.scope) ? record?.version : undefined;
      if (query.select !== undefined && extended.has(query.select)) delete record?.version;
      return conditions()?.answer(context, reply, version) ?? reply;
    },
  };
}
