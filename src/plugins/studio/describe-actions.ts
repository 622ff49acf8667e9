import { type AnyEntity, isKeelsonError, type JsonSchema } from "../../entity/index.ts";
import type { OperationScope, Route, RouteDescription, RouteReader } from "../../gate/index.ts";
import { withDeadline } from "../../kernel/index.ts";
import type { ActionDescription, ActionRole, FieldDescription, Right, Rights } from "./app-document.ts";
import { describeFields, describeValue } from "./describe-fields.ts";

/** A route that the caller may use. */
export interface UsableRoute {
  readonly route: Route;
  readonly right: Right;
  /** Its path, relative to the entity's. */
  readonly below: string;
  /** Undefined for actions. */
  readonly verb?: keyof Rights | undefined;
}

/** The gate's decision about a route: the caller's right, and the rules that decided. */
interface RouteAnswer {
  readonly right: Right | undefined;
  readonly rules: readonly string[] | undefined;
}

/** Checks routes with the gate, as requests do. Equal checks run once. */
export function createRouteAsker(scope: OperationScope): (route: Route) => Promise<RouteAnswer> {
  const asked = new Map<string, Promise<RouteAnswer>>();
  return (route) => {
    const key = keyOf(route);
    if (key === undefined) return ask(route, scope);
    const answer = asked.get(key) ?? ask(route, scope);
    asked.set(key, answer);
    return answer;
  };
}

/** Equal for routes with the same decision; undefined for routes whose rules may read the route itself. */
function keyOf({ rules, entity, access, obeys, path }: Route): string | undefined {
  if (rules !== undefined) return undefined;
  return JSON.stringify([entity?.name, access, obeys, path.split("/").includes(":id")]);
}

async function ask(route: Route, scope: OperationScope): Promise<RouteAnswer> {
  try {
    const { allowed, forAll, rules } = await scope.access.mayUse(route);
    return { right: allowed ? (forAll ? "all" : "some") : undefined, rules };
  } catch (error) {
    if (isKeelsonError(error) && (error.status === 401 || error.status === 403))
      return { right: undefined, rules: undefined };
    throw error;
  }
}

/** The reader for descriptions of routes. Schemas of records are marked instead of expanded. */
function readerOf(scope: OperationScope): RouteReader {
  return {
    scope,
    reads: () => true,
    record: (entity, form) => ({ type: "object", [RECORD]: entity.name, form }),
    fields: (fields) => ({
      type: "object",
      [FIELDS]: Object.entries(fields).map(([name, field]) => describeValue(name, field.kind, field)),
    }),
  };
}

const RECORD = "x-record";
const FIELDS = "x-fields";

/** A route's own description; undefined if the caller may not see it. */
async function describe(route: Route, scope: OperationScope): Promise<RouteDescription | undefined> {
  const described = await route.describe?.(readerOf(scope));
  return route.describe === undefined ? {} : described;
}

/** The description of an action for the page; undefined if the caller may not see it. */
export async function describeAction(
  { route, right, below }: UsableRoute,
  entity: AnyEntity,
  scope: OperationScope,
): Promise<ActionDescription | undefined> {
  const what = `The description of ${route.method} ${route.path}`;
  const described = await withDeadline(describe(route, scope), scope.app.limits.hookMs, what);
  if (described === undefined) return undefined;
  const { action, method, meta = {} } = route;
  const input = inputOf(described, entity, scope);
  const parameters = described.parameters ?? [];
  // Actions that take filters get them from the list.
  const takesFilters = parameters.some(({ name }) => name === "_where");
  const summary = meta.summary ?? described.summary ?? meta.description ?? described.description;
  return {
    name: action,
    role: roleOf(route, described, below),
    method,
    path: below,
    onRecord: below.split("/").includes(":id"),
    right,
    ...(typeof summary === "string" ? { summary } : {}),
    query: takesFilters ? [] : parameters.filter((one) => one.in !== "header").map(queryField),
    ...(input === undefined ? {} : { input }),
    runsAsync: parameters.some(({ name }) => name === "Prefer"),
  };
}

type Parameter = NonNullable<RouteDescription["parameters"]>[number];

function queryField({ name, schema, description, required = false }: Parameter): FieldDescription {
  return { name, schema, optional: !required, ...(description === undefined ? {} : { description }) };
}

/** The fields of a JSON body: those of an action's input, or those of a record. */
function inputOf(
  { body }: RouteDescription,
  entity: AnyEntity,
  scope: OperationScope,
): readonly FieldDescription[] | undefined {
  const schema = body?.content["application/json"];
  if (schema === undefined) return undefined;
  if (Array.isArray(schema[FIELDS])) return schema[FIELDS] as readonly FieldDescription[];
  if (schema[RECORD] !== entity.name) return undefined;
  const fields = describeFields(entity, scope.access.mask(entity)).filter(({ write }) => write !== undefined);
  return body?.required === true ? fields : fields.map((field) => ({ ...field, optional: true }));
}

/** Recognises the actions that the page knows, by their input and paths (specification, section 4.2). */
function roleOf({ method }: Route, { body, parameters = [] }: RouteDescription, below: string): ActionRole {
  const { ids, data } = (body?.content["application/json"]?.properties ?? {}) as Readonly<Record<string, JsonSchema>>;
  if (ids !== undefined) return data === undefined ? "bulkDelete" : "bulkUpdate";
  if (body?.content["text/csv"] !== undefined) return "import";
  if (method === "GET" && parameters.some(({ name }) => name === "format")) return "export";
  if (method === "POST" && below === "/:id/restore") return "restore";
  if (method === "DELETE" && below === "/:id/soft") return "softDelete";
  if (method === "GET" && (below === "/count" || below === "/:id/exists")) return "count";
  return "action";
}
