import { type AnyEntity, ConfigurationError, type EntityLike, resolveEntity } from "../../entity/index.ts";
import { entityName, type IncludeTree, type PluginContext, type RemoteInclude } from "../../gate/index.ts";
import { isPromiseLike } from "../../kernel/index.ts";
import type { ServiceLookup } from "./stitch/stitch-context.ts";

/** Names of the relations of an entity that are `.remote()`, as declared. */
export function getRemoteRelationFields(entity: EntityLike): string[] {
  const { relations } = resolveEntity(entity) as AnyEntity;
  return Object.entries(relations).flatMap(([name, { remote }]) => (remote === undefined ? [] : [name]));
}

/** Whether an entity has relations that are `.remote()`. */
export function hasRemoteRelations(entity: EntityLike): boolean {
  return getRemoteRelationFields(entity).length > 0;
}

/** Relations by name: true, or the relations to include in their records. */
export type IncludeMap = { readonly [relation: string]: RemoteInclude };

/** Relations to include: `{ plan: true, author: { team: true } }`, or `["plan", "author.team"]`. */
export type IncludeLike = IncludeMap | IncludeTree | readonly string[];

/**
 * Splits an include into relations that are joined in the database and relations that are fetched from services.
 * Unknown names go to `local`, which refuses them.
 */
export function splitIncludes(
  entity: EntityLike,
  include: IncludeLike | undefined,
): { readonly local: IncludeMap; readonly remote: IncludeMap } {
  const names = new Set(getRemoteRelationFields(entity));
  const all = Object.entries(toIncludeTree(include)).map(([name, inner]) => [name, toMap(inner)] as const);
  return {
    local: Object.fromEntries(all.filter(([name]) => !names.has(name))),
    remote: Object.fromEntries(all.filter(([name]) => names.has(name))),
  };
}

/** Converts all forms of an include to a tree. Relations that are false are left out. */
export function toIncludeTree(include: IncludeLike | undefined): IncludeTree {
  // Without a prototype: paths may come from outside, and "__proto__" is an ordinary name here.
  const root = emptyNode();
  if (Array.isArray(include)) {
    for (const path of include as readonly string[]) {
      let node = root;
      for (const name of path.split(".")) {
        node[name] ??= emptyNode();
        node = node[name] as Node;
      }
    }
    return root;
  }
  for (const [name, inner] of Object.entries(include ?? {}))
    if (inner !== false) root[name] = toIncludeTree(inner === true ? undefined : inner) as Node;
  return root;
}

interface Node {
  [relation: string]: Node;
}

function emptyNode(): Node {
  return Object.create(null) as Node;
}

function toMap(tree: IncludeTree): RemoteInclude {
  const inner = Object.entries(tree);
  return inner.length === 0 || Object.fromEntries(inner.map(([name, deeper]) => [name, toMap(deeper)]));
}

/**
 * Checks the remote relations of an app when it starts, without creating services. Outside of production it also warns
 * about entities whose records no caller can see.
 * @throws ConfigurationError listing all problems
 */
export function checkRelations({ entities: model, has, config, log }: PluginContext): void {
  const problems = model.entities.flatMap((entity) => remoteProblems(entity, { has }));
  for (const { source, name, remote, target } of model.entities.flatMap(model.relationsOf))
    if (remote !== undefined && remote.service === undefined && model.get(target.name) === undefined)
      problems.push(
        `${source.name}.${name}: .remote() without a service reads "${target.name}" with the app's own driver; add it to \`entities\`, or name the service`,
      );
  if (problems.length > 0) throw new ConfigurationError(problems);
  if (config.production) return;
  for (const { name, rules = config.defaultRules } of model.foreign)
    if ((rules.read ?? []).length === 0)
      log.warn(`${name} has no read rule, so no caller sees its records: includes of them are null`);
}

/** The problems of an entity's remote relations, one sentence each. */
export function remoteProblems(entity: AnyEntity, container: Pick<ServiceLookup, "has">): string[] {
  return Object.entries(entity.relations).flatMap(([name, { remote, type }]) => {
    if (remote === undefined) return [];
    const at = `${entity.name}.${name}`;
    const problems: string[] = [];
    if (type !== "belongsTo")
      problems.push(`${at}: ${type} cannot be .remote(), since services are asked by id; use belongsTo`);
    const { service } = remote;
    if (service !== undefined && !container.has(service))
      problems.push(
        `${at}: there is no service "${service}"; register it with api.registerService("${service}", factory)`,
      );
    return problems;
  });
}

/**
 * Checks that every remote relation can be followed: it is a `belongsTo`, its service is registered, and the service
 * has a function `fetchByIds`. Creates the services for that check, as their first use would; promised services are not
 * awaited. Specification section 4.4.
 * @throws ConfigurationError listing all problems
 */
export function validateRemoteRelations(entities: JoinedEntities, container: ServiceLookup): void {
  const all = entitiesOf(entities).map((like) => resolveEntity(like) as AnyEntity);
  const problems = all.flatMap((entity) => remoteProblems(entity, container));
  const named = all.flatMap(({ relations }) => Object.values(relations).flatMap(({ remote }) => remote?.service ?? []));
  for (const name of new Set(named)) if (container.has(name)) problems.push(...serviceProblems(name, container));
  if (problems.length > 0) throw new ConfigurationError(problems);
}

function serviceProblems(name: string, container: ServiceLookup): string[] {
  let service: unknown;
  try {
    service = container.resolve(name);
  } catch {
    return [`the service "${name}" cannot be made: its factory throws`];
  }
  if (isPromiseLike(service)) {
    service.then(undefined, () => {}); // the first use of the service reports the error
    return [];
  }
  if (typeof (service as { readonly fetchByIds?: unknown } | null | undefined)?.fetchByIds === "function") return [];
  return [`the service "${name}" has no function fetchByIds(entityName, ids, options)`];
}

/** Entities as a list or by name: definitions, or builders. */
export type JoinedEntities =
  | readonly EntityLike[]
  | ReadonlyMap<string, EntityLike>
  | Readonly<Record<string, EntityLike>>;

/** The entities as a list. Of several with the same name, the last counts. */
export function entitiesOf(entities: JoinedEntities): EntityLike[] {
  const all: Iterable<EntityLike> =
    entities instanceof Map ? entities.values() : Array.isArray(entities) ? entities : Object.values(entities);
  return [...new Map([...all].map((like) => [entityName(like), like])).values()];
}
