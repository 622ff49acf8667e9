import { isKeelsonError } from "../../entity/index.ts";
import {
  AuthenticationError,
  AuthorizationError,
  EntityNotFoundError,
  InternalError,
  type OperationInput,
  type OperationScope,
  type PluginContext,
  type QueryParameters,
  Reply,
  type RouteContext,
  readParameters,
  type ValidationFailedError,
} from "../../kernel/index.ts";
import type { ActionRecord } from "./action-context.ts";
import type { CompiledAction } from "./compile-action.ts";
import { createContext } from "./create-context.ts";

/** How an action is reached: through a route, or by a call in the process. */
interface Call {
  readonly params: Readonly<Record<string, string>>;
  readonly root: string;
  readonly search: string;
  readonly request: RouteContext["request"] | undefined;
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
      readQuery: () => action.query?.fromQuery(search, scope.limits.parameters) ?? plainQuery(search, scope),
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
  return async (scope, ...args) => {
    const id = onResource ? args[0] : undefined;
    const given = onResource ? args[1] : args[0];
    const params: Record<string, string> = onResource ? { id: String(id ?? "") } : {};
    if (input === undefined && query === undefined)
      return await run(plugin, action, scope, {
        params,
        root: "",
        search: "",
        request: undefined,
        readQuery: () => NOTHING,
        readInput: () => given,
      });
    const values = Object.entries((given ?? NOTHING) as Record<string, unknown>);
    const asked = new Set(Object.keys(definition.query ?? NOTHING));
    const part = (isQuery: boolean): Record<string, unknown> =>
      Object.fromEntries(values.filter(([name]) => (query !== undefined && asked.has(name)) === isQuery));
    return await run(plugin, action, scope, {
      params,
      root: "",
      search: "",
      request: undefined,
      readQuery: () => query?.fromObject(part(true)) ?? NOTHING,
      readInput: () => input?.fromObject(part(false)),
    });
  };
}

/** Authorizes, reads what was given, and does what the action does: in this order, so that nothing is read of who is refused. */
async function run(plugin: PluginContext, action: CompiledAction, scope: OperationScope, call: Call): Promise<unknown> {
  const { entity, rules, definition, output } = action;
  const record = await authorize(action, scope, call);
  const query = call.readQuery();
  const input = await call.readInput();
  const { params, root, search, request } = call;
  const use = { entity, rules, params, root, search, request, query, input, record };
  const result = await definition.handler(createContext(plugin, use, scope));
  return output === undefined ? result : checkedOutput(action, result);
}

async function authorize(action: CompiledAction, scope: OperationScope, call: Call): Promise<ActionRecord | null> {
  const { entity, access, rules, onResource, definition } = action;
  const isOperations = definition.authorizes === "operations";
  if (onResource) {
    const id = call.params.id as string;
    const input: OperationInput = { kind: "read", entity, id, access, rules, query: () => refuseLongId(id, scope) };
    // The operation's own statement decides, and says what is wrong; the id alone is looked at here.
    if (isOperations) await scope.decide({ ...input, query: undefined }).then(() => refuseLongId(id, scope));
    return isOperations ? null : ((await scope.run(input)).records[0] as ActionRecord);
  }
  const kind = access === "create" ? "create" : isOperations && access !== "read" ? "update" : "list";
  const { predicate, guard } = await scope.decide({ kind, entity, access, rules });
  if (isOperations) return null;
  // Rules of its own are about the action; there is no record that they could pass for.
  if (guard !== undefined || (rules !== undefined && predicate !== undefined))
    throw scope.principal.kind === "anonymous" ? new AuthenticationError() : new AuthorizationError();
  return null;
}

/** No record has a longer id than the limit, so it is missing. */
function refuseLongId(id: string, scope: OperationScope): Record<never, never> {
  if (id === "" || id.length > scope.limits.idLength) throw new EntityNotFoundError();
  return {};
}

/** Parameters nobody declared: text, or a list of texts. */
function plainQuery(search: string, scope: OperationScope): Readonly<Record<string, unknown>> {
  if (search === "") return NOTHING;
  const parameters: QueryParameters = readParameters(search, scope.limits.parameters);
  const query: Record<string, unknown> = Object.create(null);
  for (const [name, values] of parameters) query[name] = values.length === 1 ? values[0] : values;
  return query;
}

async function readBody({ definition, method, input }: CompiledAction, context: RouteContext): Promise<unknown> {
  const { readsBody = input !== undefined || (method !== "GET" && method !== "DELETE") } = definition;
  if (readsBody !== true) return undefined;
  const { body, headers } = context.request;
  // Nothing sent at all is an object without members: which of them are required is said by name.
  if (input !== undefined) return input.fromObject(body === undefined ? {} : await context.body());
  const type = String(headers["content-type"] ?? "");
  return body !== undefined && type.includes("json") ? await context.body() : undefined;
}

/** @throws InternalError when the handler gives something else than it declares */
function checkedOutput({ name, entity, output, definition }: CompiledAction, result: unknown): unknown {
  const isReply = result instanceof Reply;
  const value = isReply ? result.body : result;
  const declared = Object.keys(definition.output ?? NOTHING);
  try {
    const picked = Object.fromEntries(declared.map((key) => [key, (value as Record<string, unknown> | null)?.[key]]));
    const checked = output?.fromObject(picked);
    return isReply ? new Reply(result.status, checked, result.headers) : checked;
  } catch (error) {
    if (!isKeelsonError(error) || error.status !== 400) throw error;
    const fields = (error as ValidationFailedError).issues?.map(({ path, message }) => `${path.join(".")} ${message}`);
    throw new InternalError(`action "${name}" of ${entity.name} gives another output than it declares: ${fields}`);
  }
}
