import { type Access, isKeelsonError } from "../../../entity/index.ts";
import {
  type OperationInput,
  type OperationKind,
  type OperationScope,
  type PluginContext,
  plainScope,
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

/** One call of an action, and how its query and input are read. */
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
    const { params, root, search, request } = context;
    return run(plugin, action, plainScope(context.scope), {
      params,
      root,
      search,
      request,
      meet: action.onResource ? () => meetConditions(plugin, action, context) : undefined,
      readQuery: () =>
        action.query?.fromQuery(search, context.scope.app.limits.parameters) ?? plainQuery(search, context.scope),
      readInput: () => readBody(action, context),
    });
  };
}

/** The action as a method of the in-process client: `(id, values)` on a record, otherwise `(values)`. */
export function clientCall(
  plugin: PluginContext,
  action: CompiledAction,
): (scope: OperationScope, ...args: readonly unknown[]) => Promise<unknown> {
  const { input, query, onResource, definition } = action;
  // Without a declared input, the argument is the body itself, unless a declared query takes it.
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

/** @throws BadRequestError when an action on one record is called without an id */
function idOf(given: unknown): string {
  if (typeof given !== "string" || given === "") throw new BadRequestError("An id is needed");
  return given;
}

/**
 * Splits the argument of a call in the process into query and input. A name that both declare goes to both. An unknown
 * name goes to one of them, which refuses it.
 */
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

/** Authorizes the caller before it reads the request, then runs the action. */
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

/** The result of authorizing an action. */
interface Allowed {
  /** The record of an action on one record. Null for other actions, and when the action's operations load it. */
  readonly record: ActionRecord | null;
  /** Undefined when the action's operations check the rules. */
  readonly use?: RecordUse | undefined;
}

/**
 * Checks the rules of an action before the request is read.
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
  // The action's operations check the rules in their statements. This refuses callers who are denied for every record.
  await scope.access.decide({ kind: decidedAs(access, onResource), entity, access, rules });
  if (!onResource) return { record: null };
  const id = params.id as string;
  if (definition.takesAnyId !== true) refuseLongId(id, scope);
  // A copy is a new record, but its original is read by the action's rules.
  const use: RecordUse = { entity, id, access: access === "create" ? "read" : access, rules };
  scope.state.shown?.noteUses(use, { entity, id, access: "read" });
  return { record: null };
}

function decidedAs(access: Access, onResource: boolean): OperationKind {
  if (access === "create") return "create"; // the rules are about the new record, even if it is a copy of another one
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
  // The action may end the right to use it, so the right to read the record counts, too.
  scope.state.shown?.noteUses(use, { entity, id, access: "read" });
  return { record: records[0] as ActionRecord, use };
}

/**
 * Checks the rules of an action that is not about a record.
 * @throws AuthenticationError, AuthorizationError
 */
export async function authorizeCollection(
  { entity, access, rules }: CompiledAction,
  scope: OperationScope,
): Promise<Allowed> {
  // The action's own rules are about the action: there is no record that they could apply to.
  const isOwn = rules !== undefined;
  const kind = access === "create" && !isOwn ? "create" : "list";
  const asked = { kind, entity, access, rules } as const;
  const { forSome } = await scope.access.decide(asked);
  // A read handler is open to callers who may read some of the records; the handler decides which of them it shows.
  const takesSome = access === "read" && !isOwn;
  const use: RecordUse = { ...asked, forSome: takesSome };
  scope.state.shown?.noteUses(use);
  if (!forSome || takesSome) return { record: null, use };
  throw scope.principal.kind === "anonymous" ? new AuthenticationError() : new AuthorizationError();
}

/** No record has an id longer than the limit, so such a record does not exist. */
function refuseLongId(id: string, scope: OperationScope): Record<never, never> {
  if (id === "" || id.length > scope.app.limits.idLength) throw new EntityNotFoundError();
  return {};
}

/**
 * Checks the request's preconditions on the record. An action whose operations change the record leaves the check to
 * their statements; any other handler runs only after the check has passed.
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
  // Checked even if the body is not read here: handlers may take it from the framework's own request.
  if (Number(context.request.headers["content-length"]) > most) throw new PayloadTooLargeError(most);
  if (readsBody === "raw" || (input === undefined && !readsBody)) return undefined;
  const { body, headers } = context.request;
  // A missing body is read as an empty object, so that the error names the required fields.
  if (input !== undefined) return input.fromObject(body === undefined ? {} : await context.body());
  const isJson = definition.readsBody === true || String(headers["content-type"] ?? "").includes("json");
  return body !== undefined && isJson ? await context.body() : undefined;
}

/**
 * The response of an action with `.output()`: the declared fields of the handler's result. The result is masked for the
 * caller first, so that declaring a field of a record does not reveal more of it. A response without a body, a
 * `Response`, a stream and bytes pass unchanged.
 * @throws InternalError when the result does not match the declared output
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

/** Whether a result is sent unchanged: a web `Response`, bytes or a stream cannot be checked. */
function isUnread(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  return isWebResponse(value) || value instanceof Uint8Array || Symbol.asyncIterator in value;
}
