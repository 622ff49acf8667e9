import { type ConfigurationError, isKeelsonError } from "./base/keelson-error.ts";
import { resolveEntity } from "./entity.ts";
import type { AnyEntity } from "./entity-definition.ts";
import { pairTableProblems } from "./pair-tables.ts";
import type { EntityLike, RelationDefinition } from "./relation.ts";
import { type ResolvedRelation, resolveRelation } from "./resolve-relation.ts";

/** All entities of an app with their relations resolved. */
export interface EntityModel {
  readonly entities: readonly AnyEntity[];
  /**
   * Entities of other services that remote relations lead to, directly or through each other: their shape and rules are
   * known here, but their records are not stored. Their unresolvable relations are left out.
   */
  readonly foreign: readonly AnyEntity[];
  /** Undefined for an unknown entity. */
  get(name: string): AnyEntity | undefined;
  /** Undefined when the entity has no such relation. */
  relation(entity: AnyEntity, name: string): ResolvedRelation | undefined;
  relationsOf(entity: AnyEntity): readonly ResolvedRelation[];
  /** One message per invalid definition, unresolvable relation and duplicate name. */
  readonly problems: readonly string[];
}

type Named = { readonly name: string };

/** The target of a relation; undefined when it does not exist yet (import cycles). */
function pointedAt({ target }: RelationDefinition): (EntityLike & Named) | undefined {
  try {
    return (target?.() as (EntityLike & Named) | null | undefined) ?? undefined;
  } catch {
    return undefined;
  }
}

/** Resolves relations between entities. Never throws; problems are collected for the start-up report. */
export function createModel(input: readonly EntityLike[]): EntityModel {
  const problems: string[] = [];
  /** Invalid definitions; relations to them are not reported as well. */
  const broken = new Set<string>();

  function build(entity: EntityLike): AnyEntity | undefined {
    try {
      return resolveEntity(entity) as AnyEntity;
    } catch (error) {
      if (!isKeelsonError(error) || error.code !== "CONFIGURATION_ERROR") throw error;
      problems.push(...(error as ConfigurationError).problems);
      broken.add((entity as EntityLike & Named).name);
      return undefined;
    }
  }

  const byName = new Map<string, AnyEntity>();
  const foreign = new Map<string, AnyEntity>();
  for (const entity of input.map(build)) {
    if (entity === undefined) continue;
    if (byName.has(entity.name)) problems.push(`entity "${entity.name}" is defined twice`);
    else byName.set(entity.name, entity);
  }

  function targetOf(source: AnyEntity, relation: RelationDefinition): AnyEntity | undefined {
    if (relation.target === null) return source;
    const target = pointedAt(relation);
    if (target === undefined || broken.has(target.name)) return undefined;
    // Looked up by name: a builder makes a new definition on every build(), and the app's own definition is used.
    const known = byName.get(target.name) ?? foreign.get(target.name);
    if (known !== undefined || !(relation.remote || isForeign(source))) return known;
    const built = build(target);
    if (built !== undefined) foreign.set(built.name, built);
    return built;
  }

  function isForeign({ name }: AnyEntity): boolean {
    return !byName.has(name);
  }

  for (const { name, renamedFrom } of byName.values())
    if (renamedFrom !== undefined && byName.has(renamedFrom) && renamedFrom !== name)
      problems.push(`${name}.renamedFrom("${renamedFrom}"): there still is an entity "${renamedFrom}"`);

  const relations = new Map<AnyEntity, Map<string, ResolvedRelation>>();

  function resolveOf(source: AnyEntity): void {
    const own = new Map<string, ResolvedRelation>();
    relations.set(source, own);
    for (const [name, definition] of Object.entries(source.relations)) {
      const target = targetOf(source, definition);
      if (target === undefined) {
        if (isForeign(source)) continue;
        const targetName = pointedAt(definition)?.name;
        if (targetName === undefined) problems.push(`${source.name}.${name}: the related entity is undefined`);
        else if (!broken.has(targetName))
          problems.push(
            `${source.name}.${name}: the related entity "${targetName}" is not part of this app; add it to \`entities\``,
          );
        continue;
      }
      const { type } = definition;
      const isReferred = type === "belongsTo" || type === "manyToMany";
      if ((isReferred && isComposite(target)) || (type === "manyToMany" && isComposite(source))) {
        problems.push(
          `${source.name}.${name}: ids of ${isComposite(target) ? target.name : source.name} consist of several columns, so no relation can lead there`,
        );
        continue;
      }
      const found = resolveRelation(source, name, target, targetOf);
      if ("relation" in found) own.set(name, found.relation);
      else if (!isForeign(source)) problems.push(found.problem);
    }
  }

  for (const source of byName.values()) resolveOf(source);
  // Iteration over a map includes entries that are added during the loop.
  for (const source of foreign.values()) resolveOf(source);

  const own = [...byName.values()].flatMap((entity) => [...(relations.get(entity)?.values() ?? [])]);
  problems.push(...pairTableProblems(own, [...byName.values()]));

  const lists = new Map([...relations].map(([entity, own]) => [entity, Object.freeze([...own.values()])] as const));
  return Object.freeze({
    entities: Object.freeze([...byName.values()]),
    foreign: Object.freeze([...foreign.values()]),
    get: (name: string) => byName.get(name),
    relation: (entity: AnyEntity, name: string) => relations.get(entity)?.get(name),
    relationsOf: (entity: AnyEntity) => lists.get(entity) ?? [],
    problems: Object.freeze(problems),
  });
}

function isComposite({ columns }: AnyEntity): boolean {
  return columns.id?.parts !== undefined;
}

/** The relations whose keys refer to records of an entity. */
export function referring(model: EntityModel, target: AnyEntity): readonly ResolvedRelation[] {
  return model.entities.flatMap((source) =>
    model.relationsOf(source).filter((one) => one.type === "belongsTo" && !one.remote && one.target === target),
  );
}

/** Whether deleting a record of an entity may be prevented by, or may change, other records of that entity. */
export function reachesOwnKind(model: EntityModel, entity: AnyEntity): boolean {
  const deleted = new Set([entity]);
  for (const target of deleted)
    for (const { source, onDelete } of referring(model, target)) {
      if (source === entity) return true;
      if (onDelete === "cascade") deleted.add(source);
    }
  return false;
}
