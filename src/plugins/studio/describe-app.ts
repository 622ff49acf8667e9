import { setImmediate } from "node:timers/promises";
import { type AnyEntity, isKeelsonError, type ResolvedRelation } from "../../entity/index.ts";
import { type OperationScope, type PluginContext, QueryParser, type Route } from "../../gate/index.ts";
import { routeSegment } from "../../kernel/index.ts";
import type {
  ActionDescription,
  AdminPaths,
  AppDocument,
  ChartDescription,
  EntityDescription,
  FieldDescription,
  RelationDescription,
  Right,
  Rights,
} from "./app-document.ts";
import { createRouteAsker, describeAction, type UsableRoute } from "./describe-actions.ts";
import { describeFields, titleField } from "./describe-fields.ts";

/** The parts of the document besides the entities. */
export interface DocumentParts {
  readonly title: string;
  readonly charts: readonly ChartDescription[];
  /** Paths for administrators, below the studio's path, if these routes exist. */
  readonly admin: Partial<Record<keyof AdminPaths, string>>;
  /** Whether an administrator views the app as the caller, so that nothing can be written. */
  readonly isView?: boolean | undefined;
}

/** The paths of the API's routes and of plugins' routes. */
export interface Place {
  readonly root: string;
  readonly base: string;
}

/** The document for the caller of a scope. The gate decides about each entity, field, relation and route. */
export async function describeApp(
  context: PluginContext,
  { title, charts, admin, isView = false }: DocumentParts,
  scope: OperationScope,
  { root, base }: Place,
): Promise<AppDocument> {
  const { entities: model, config, routes } = context;
  const all = [...model.entities, ...model.foreign];
  for (const entity of all) scope.access.mask(entity);
  await scope.access.maskReady();
  const mayUse = createRouteAsker(scope);
  const { user, kind, isAdmin } = scope.principal;
  const byEntity = new Map<unknown, Route[]>();
  for (const route of routes.list()) byEntity.set(route.entity, [...(byEntity.get(route.entity) ?? []), route]);
  const described: EntityDescription[] = [];
  let turn = performance.now();
  for (const entity of model.entities.filter(({ internal }) => !internal)) {
    if (performance.now() - turn > TURN_MS) {
      await setImmediate(); // lets other work run
      turn = performance.now();
    }
    const path = routeSegment(entity);
    const usable: UsableRoute[] = [];
    const rules: Partial<Record<keyof Rights, readonly string[]>> = {};
    for (const route of byEntity.get(entity) ?? []) {
      const { right, rules: deciding } = await mayUse(route);
      const below = route.path.slice(path.length + 1);
      const verb = VERBS[`${route.method} ${below}`];
      if (verb !== undefined && deciding !== undefined) rules[verb] = deciding;
      if (right !== undefined && !(isView && route.method !== "GET")) usable.push({ route, right, below, verb });
    }
    if (usable.length === 0) continue;
    const description = await describeEntity(context, entity, { path, usable }, scope);
    const actions = isView ? [] : description.actions;
    described.push({ ...description, actions, ...(isAdmin ? { rules } : {}) });
  }
  const other = async (path: string): Promise<boolean> => {
    if (isView && path.startsWith("/health")) return false;
    const route = routes.list().find((one) => one.method === "GET" && one.path === path);
    return route !== undefined && (await mayUse(route)).right !== undefined;
  };
  return {
    title,
    caller: { kind, ...(user === null ? {} : { id: String(user.id) }), isAdmin },
    api: root,
    entities: described,
    charts: charts.filter((chart) => isUsable(chart, described)),
    ...((await other("/health/ready")) ? { health: `${base}/health/ready` } : {}),
    ...((await other("/workflow-runs/:id")) ? { workflowRuns: `${root}/workflow-runs` } : {}),
    ...(isView ? { viewedAs: String(user?.id) } : isAdmin ? pathsOf(admin, base) : {}),
    limits: {
      pageSize: config.limits.pageSize,
      maxPageSize: config.limits.maxPageSize,
      bulk: config.limits.bulk,
    },
  };
}

function pathsOf(admin: DocumentParts["admin"], base: string): Partial<AdminPaths> {
  return Object.fromEntries(Object.entries(admin).map(([name, path]) => [name, base + path]));
}

/** Milliseconds after which other work gets a turn. An app may have hundreds of entities. */
const TURN_MS = 10;

async function describeEntity(
  { tryUse }: PluginContext,
  entity: AnyEntity,
  { path, usable }: { readonly path: string; readonly usable: readonly UsableRoute[] },
  scope: OperationScope,
): Promise<EntityDescription> {
  const rights: Record<string, Right> = {};
  const actions = new Map<string, ActionDescription>();
  for (const one of usable) {
    if (one.verb !== undefined) rights[one.verb] = one.right;
    else if (one.below !== "" && !(one.route.method === "PUT" && one.below === "/:id")) {
      const action = await describeAction(one, entity, scope);
      const known = actions.get(one.route.action);
      // An action may have several methods, because some proxies drop the body of a DELETE. POST is preferred.
      if (action !== undefined && (known === undefined || action.method === "POST")) actions.set(action.name, action);
    }
  }
  const mask = scope.access.mask(entity);
  const isRead = rights.list !== undefined || rights.read !== undefined;
  const isWritten = usable.some(({ route: { access } }) => access === "create" || access === "update");
  const fields = describeFields(entity, mask).flatMap((field) => usableField(field, isRead, isWritten) ?? []);
  const related = isRead ? ((await tryUse(QueryParser)?.includes(entity, scope)) ?? []) : [];
  const deletedAt = await deletionField(entity, scope);
  return {
    name: entity.name,
    path,
    rights: rights as Rights,
    fields,
    relations: related.map(describeRelation),
    actions: [...actions.values()],
    title: titleField(fields),
    searchable: Object.values(entity.columns).some(({ name, kind }) => kind.searchable && mask.filterable.has(name)),
    versioned: entity.versioned !== undefined && mask.readable.has("version"),
    ...(deletedAt === undefined ? {} : { deletedAt }),
  };
}

/** The rights for an entity's routes, by method and path relative to the entity's. */
const VERBS: Readonly<Record<string, keyof Rights>> = {
  "GET ": "list",
  "POST ": "create",
  "GET /:id": "read",
  "PATCH /:id": "update",
  "DELETE /:id": "delete",
  "GET /aggregate": "aggregate",
};

/** A field, reduced to what the caller may do with the records of its entity. */
function usableField(field: FieldDescription, isRead: boolean, isWritten: boolean): FieldDescription | undefined {
  const { read, write, operators, sortable, ...rest } = field;
  const shown = isRead && read !== undefined ? { read, operators: operators ?? [], sortable: sortable === true } : {};
  const written = isWritten && write !== undefined ? { write } : {};
  return "read" in shown || "write" in written ? { ...rest, ...shown, ...written } : undefined;
}

function describeRelation({ name, type, target, foreignKey, inverse, remote }: ResolvedRelation): RelationDescription {
  return {
    name,
    type,
    target: target.name,
    ...(foreignKey === undefined ? {} : { foreignKey }),
    ...(inverse === undefined ? {} : { inverse }),
    remote: remote !== undefined,
  };
}

/** The field with the time of a soft deletion, for callers who may restore some records. */
async function deletionField(entity: AnyEntity, scope: OperationScope): Promise<string | undefined> {
  if (entity.softDelete === undefined) return undefined;
  try {
    const { allowed } = await scope.access.decide({ kind: "list", entity, query: { deleted: "with" } });
    return allowed ? entity.softDelete.field : undefined;
  } catch (error) {
    if (isKeelsonError(error) && (error.status === 401 || error.status === 403)) return undefined;
    throw error;
  }
}

/** Whether the caller may compute the values of a chart. */
function isUsable({ entity: name, group, measure }: ChartDescription, entities: readonly EntityDescription[]): boolean {
  const entity = entities.find((one) => one.name === name);
  if (entity?.rights.aggregate === undefined) return false;
  const readable = new Set(entity.fields.filter(({ read }) => read === "all").map((field) => field.name));
  return namesOf(group, measure).every((field) => readable.has(field));
}

/** The fields that a chart reads. */
export function namesOf(group: string, measure = "count"): readonly string[] {
  const groups = group.split(",").map((text) => /\((\w+)\)/.exec(text)?.[1] ?? text);
  return measure === "count" ? groups : [...groups, measure.slice(measure.indexOf("=") + 1)];
}
