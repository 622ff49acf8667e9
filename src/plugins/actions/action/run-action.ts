import { type Access, isKeelsonError } from "../../../entity/index.ts";
import {
  type OperationInput,
  type OperationKind,
  type OperationScope,
  type PluginContext,
  presentSettled,
  type RecordUse,
  RequestConditions,
  type RouteContext,
} from "../../../gate/index.ts";
import {
  AuthenticationError,
  AuthorizationError,
  BadRequestError,
  EntityNotFoundError,
  InternalError,
  isWebResponse,
  PayloadTooLargeError,
  type QueryParameters,
  Reply,
  readParameters,
  type ValidationFailedError,
} from "../../../kernel/index.ts";
import type { ActionRecord } from "./action-definition.ts";
import type { CompiledAction } from "./compile-action.ts";
import { Accepted, type ActionCall, createContext, mostBytes } from "./create-context.ts";

/** How an action is reached, and how it reads what it is given. */
interface Call extends ActionCall {
  /** Checks the preconditions of the request. @default no preconditions */
  readonly meet?: (() => Promise<void> | undefined) | undefined;
  readQuery(): Readonly<Record<string, unknown>>;
  readInput(): unknown;
}

const NOTHING: Readonly<Record<string, unknown>> = Object.freeze({});

/** The handler of an action's route. */
export function routeHandler(plugin: PluginContext, action: CompiledAction): (context: RouteContext) => unknown {
  return (context) => {
    const { scope, params, root, search, request } = context;
    return run(plugin, action, scope, {
      params,
      root,
      search,
      request,
      meet: action.onResource ? () => meetConditions(plugin, action, context) : undefined,
      readQuery: () => action.query?.fromQuery(search, scope.app.limits.parameters) ?? plainQuery(search, scope),
      readInput: () => readBody(action, context),
    });
  };
}

/** The action as a method of the in-process client: the id first if it is about a record, then input and query in one object. */
export function clientCall(
  plugin: PluginContext,
  action: CompiledAction,
): (scope: OperationScope, ...args: readonly unknown[]) => Promise<unknown> {
  const { input, query, onResource, definition } = action;
  // Then what is given is the body, as it is.
  const isBody = input === undefined && (query === undefined || definition.readsBody === true);
  return async (scope, ...args) => {
    const given = onResource ? args[1] : args[0];
    const params: Record<string, string> = onResource ? { id: idOf(args[0]) } : {};
    const parts = isBody ? undefined : partsOf(definition, given);
    return await run(plugin, action, scope, {
      params,
      root: "",
      search: "",
      request: undefined,
      readQuery: () => (parts && query?.fromObject(parts.query)) ?? NOTHING,
      readInput: () => (parts === undefined ? given : input?.fromObject(parts.input)),
    });
  };
}

/** @throws BadRequestError when an action on one record was not told which */
function idOf(given: unknown): string {
  if (typeof given !== "string" || given === "") throw new BadRequestError("An id is needed");
  return given;
}

/** What a caller in the process gives as one object. A name that both declare is for both; an unknown one is refused by either. */
function partsOf(
  { query, input }: CompiledAction["definition"],
  given: unknown,
): Readonly<Record<"query" | "input", Record<string, unknown>>> {
  const values = Object.entries((given ?? NOTHING) as Record<string, unknown>);
  const asks = (fields: object | undefined, name: string): boolean =>
    fields !== undefined && Object.hasOwn(fields, name);
  const forQuery = (name: string): boolean => asks(query, name) || input === undefined;
  const forInput = (name: string): boolean => asks(input, name) || !forQuery(name);
  return {
    query: Object.fromEntries(values.filter(([name]) => forQuery(name))),
    input: Object.fromEntries(values.filter(([name]) => forInput(name))),
  };
}

/** Authorizes, reads what was given, and does what the action does: in this order, so that nothing is read of who is refused. */
async function run(plugin: PluginContext, action: CompiledAction, scope: OperationScope, call: Call): Promise<unknown> {
  const { definition, output } = action;
  const { record, use: allowed } = await authorizeAction(action, scope, call.params);
  await call.meet?.();
  const query = call.readQuery();
  const input = await call.readInput();
  const context = createContext(plugin, { action, call, query, input, record, allowed }, scope);
  const result = await (call.request === undefined && definition.call !== undefined
    ? definition.call(context)
    : definition.handler(context));
  return output === undefined ? result : checkOutput(action, result, scope);
}

/** What an action may be used for. */
interface Allowed {
  /** Of an action that is about one; null when its own operations load it, and for all others. */
  readonly record: ActionRecord | null;
  /** Undefined where its operations decide. */
  readonly use?: RecordUse | undefined;
}

/**
 * Asks an action's rules before anything is read of a request.
 * @throws AuthenticationError, AuthorizationError, EntityNotFoundError
 */
async function authorizeAction(
  action: CompiledAction,
  scope: OperationScope,
  params: Readonly<Record<string, string>>,
): Promise<Allowed> {
  const { entity, access, rules, onResource, definition } = action;
  if (definition.authorizes !== "operations")
    return onResource ? recordFor(action, scope, params.id as string) : authorizeCollection(action, scope);
  // The operations' own statements decide, and say what is wrong. This refuses callers who are denied for every record.
  await scope.access.decide({ kind: decidedAs(access, onResource), entity, access, rules });
  if (onResource && definition.takesAnyId !== true) refuseLongId(params.id as string, scope);
  return { record: null };
}

function decidedAs(access: Access, onResource: boolean): OperationKind {
  if (access === "create") return "create"; // the rules are about the new record, also where it is made of another one
  if (onResource) return "read";
  return access === "read" ? "list" : "update";
}

async function recordFor(
  { entity, access, rules }: CompiledAction,
  scope: OperationScope,
  id: string,
): Promise<Allowed> {
  const input: OperationInput = { kind: "read", entity, id, access, rules, query: () => refuseLongId(id, scope) };
  const { records } = await scope.run(input);
  const use: RecordUse = { entity, id, access, rules };
  scope.state.shown?.uses.push(use);
  return { record: records[0] as ActionRecord, use };
}

/**
 * Asks the rules of an action that is about no record.
 * @throws AuthenticationError, AuthorizationError
 */
export async function authorizeCollection(
  { entity, access, rules }: CompiledAction,
  scope: OperationScope,
): Promise<Allowed> {
  // Rules of its own are about the action: there is no record that they could pass for, nor one that is being created.
  const isOwn = rules !== undefined;
  const kind = access === "create" && !isOwn ? "create" : "list";
  const asked = { kind, entity, access, rules } as const;
  const { forSome } = await scope.access.decide(asked);
  // A handler that reads is for callers who may read some records; what it shows of them is up to it.
  const takesSome = access === "read" && !isOwn;
  const use: RecordUse = { ...asked, forSome: takesSome };
  scope.state.shown?.uses.push(use);
  if (!forSome || takesSome) return { record: null, use };
  throw scope.principal.kind === "anonymous" ? new AuthenticationError() : new AuthorizationError();
}

/** No record has a longer id than the limit, so it is missing. */
function refuseLongId(id: string, scope: OperationScope): Record<never, never> {
  if (id === "" || id.length > scope.app.limits.idLength) throw new EntityNotFoundError();
  return {};
}

/**
 * Keeps what a request asks of the record that an action is about. Operations that change the record carry it in their
 * statements; what a handler does in other ways, or for its own sake, begins only if it is so.
 */
function meetConditions(
  { tryUse }: PluginContext,
  { method, access, definition }: CompiledAction,
  context: RouteContext,
): Promise<void> | undefined {
  const conditions = tryUse(RequestConditions);
  if (conditions === undefined) return undefined;
  if (method !== "GET") conditions.expect(context);
  const changes = method !== "GET" && (access === "update" || access === "delete");
  return definition.authorizes === "operations" && changes ? undefined : conditions.check(context, changes);
}

/** Undeclared parameters: text, or a list of texts. */
function plainQuery(search: string, scope: OperationScope): Readonly<Record<string, unknown>> {
  if (search === "") return NOTHING;
  const parameters: QueryParameters = readParameters(search, scope.app.limits.parameters);
  const query: Record<string, unknown> = Object.create(null);
  for (const [name, values] of parameters) query[name] = values.length === 1 ? values[0] : values;
  return query;
}

async function readBody(action: CompiledAction, context: RouteContext): Promise<unknown> {
  const { definition, method, input } = action;
  const { readsBody = method !== "GET" && method !== "DELETE" } = definition;
  const most = mostBytes(action, context.scope);
  // Also when it is not read here: handlers may take it from the framework's own request.
  if (Number(context.request.headers["content-length"]) > most) throw new PayloadTooLargeError(most);
  if (readsBody === "raw" || (input === undefined && !readsBody)) return undefined;
  const { body, headers } = context.request;
  // Nothing sent at all is an object without members: which of them are required is said by name.
  if (input !== undefined) return input.fromObject(body === undefined ? {} : await context.body());
  const isJson = definition.readsBody === true || String(headers["content-type"] ?? "").includes("json");
  return body !== undefined && isJson ? await context.body() : undefined;
}

/**
 * What an action with `.output()` answers: the declared fields of what its handler gave, masked for the caller first, so
 * that declaring a field of a record does not show more of it. An answer without a body, a `Response`, a stream or bytes
 * pass.
 * @throws InternalError when the handler gives something else than it declares
 */
async function checkOutput(action: CompiledAction, result: unknown, scope: OperationScope): Promise<unknown> {
  if (result instanceof Accepted) return result;
  if (result instanceof Reply) {
    const { status, body, headers } = result;
    return body === undefined ? result : new Reply(status, await checkOutput(action, body, scope), headers);
  }
  if (isUnread(result)) return result;
  const { name, entity, output, definition } = action;
  const shown = (await presentSettled(result, scope, false)) as Record<string, unknown> | null | undefined;
  try {
    const declared = Object.keys(definition.output ?? {});
    return output?.fromObject(Object.fromEntries(declared.map((key) => [key, shown?.[key]])));
  } catch (error) {
    if (!isKeelsonError(error) || error.status !== 400) throw error;
    const fields = (error as ValidationFailedError).issues?.map(({ path, message }) => `${path.join(".")} ${message}`);
    // For the log: the caller can do nothing about it.
    const cause = `action "${name}" of ${entity.name} gives another output than it declares: ${fields}`;
    throw new InternalError(undefined, { cause: new InternalError(cause) });
  }
}

/** What leaves the app as it is: nothing can be checked in it. */
function isUnread(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  return isWebResponse(value) || value instanceof Uint8Array || Symbol.asyncIterator in value;
}
