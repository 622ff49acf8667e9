import {
  type AnyEntity,
  type ConfigurationError,
  type EntityLike,
  type EntityRules,
  extendEntity,
  type FieldDefinition,
  type FieldMap,
  isKeelsonError,
  publishedFields,
  type RelationDefinition,
  resolveEntity,
} from "../entity/index.ts";
import { didYouMean } from "../kernel/index.ts";

/** One entity of a plugin's schema as plain data for inspection, without literal defaults of protected fields. */
export interface EntitySchemaEntry {
  readonly fields: Readonly<Record<string, FieldDefinition>>;
  readonly relations: Readonly<Record<string, RelationDefinition>>;
  readonly rules: EntityRules | undefined;
  readonly actions: Readonly<Record<string, unknown>>;
  readonly internal?: boolean;
}

/** The entities that a plugin defines, by name. @typeParam TEntities their definitions */
export interface EntitySchema<TEntities extends readonly EntityLike[] = readonly EntityLike[]> {
  readonly entities: Readonly<Record<string, EntitySchemaEntry>>;
  /** Type-level only. */
  readonly $entities?: TEntities;
}

const definitions = new WeakMap<EntitySchema, readonly AnyEntity[]>();

/** Makes a schema from entities, for `createPlugin({ schema })`. `internal` entities get no routes. */
export function schemaFromEntities<const TEntities extends readonly EntityLike[]>(
  entities: TEntities,
  options: { internal?: boolean } = {},
): EntitySchema<TEntities> {
  const list = entities.map((entity) => {
    const definition = resolveEntity(entity) as AnyEntity;
    return options.internal ? Object.freeze({ ...definition, internal: true }) : definition;
  });
  const schema: EntitySchema<TEntities> = Object.freeze({
    entities: Object.freeze(
      Object.fromEntries(
        list.map(({ name, fields, relations, rules, actions, internal }) => [
          name,
          { fields: publishedFields(fields), relations, rules, actions, ...(internal ? { internal } : {}) },
        ]),
      ),
    ),
  });
  definitions.set(schema, list);
  return schema;
}

/**
 * Fields and relations that a plugin adds to entities, by entity name; `"*"` means all entities that are not internal.
 */
export type EntityExtensions = Readonly<Record<string, FieldMap>>;

/** The entities, fields and relations that a plugin declares. */
interface EntityPlugin {
  readonly id: string;
  readonly schema?: EntitySchema | undefined;
  readonly extend?: EntityExtensions | undefined;
}

/** The entities of an app and of its plugins, extended by each plugin in order. */
export function entitiesWith(
  own: readonly EntityLike[],
  plugins: readonly EntityPlugin[],
  problem: (sentence: string) => void,
): readonly EntityLike[] {
  let all: readonly EntityLike[] = [...own, ...plugins.flatMap(({ schema }) => entitiesOf(schema))];
  const nameOf = (entity: EntityLike): string => (entity as EntityLike & { readonly name: string }).name;
  for (const { id, extend = {} } of plugins)
    for (const [name, members] of Object.entries(extend)) {
      const report = (sentence: string): void => problem(`plugin "${id}": extend: ${sentence}`);
      const names = all.map(nameOf);
      if (name !== "*" && !names.includes(name)) report(`there is no entity "${name}".${didYouMean(name, names)}`);
      all = all.map((entity) => {
        const isMeant = name === "*" ? built(entity)?.internal === false : nameOf(entity) === name;
        return isMeant ? extended(entity, members, report) : entity;
      });
    }
  return all;
}

/** Returns undefined for an invalid definition; the model reports its problems. */
function built(entity: EntityLike): AnyEntity | undefined {
  try {
    return resolveEntity(entity) as AnyEntity;
  } catch {
    return undefined;
  }
}

function extended(entity: EntityLike, members: FieldMap, report: (sentence: string) => void): EntityLike {
  const definition = built(entity);
  if (definition === undefined) return entity;
  try {
    return extendEntity(definition, members);
  } catch (error) {
    if (!isKeelsonError(error) || error.code !== "CONFIGURATION_ERROR") throw error;
    for (const sentence of (error as ConfigurationError).problems) report(sentence);
    return definition;
  }
}

/** The definitions of a schema; empty when `schemaFromEntities` did not make it. */
function entitiesOf(schema: EntitySchema | undefined): readonly AnyEntity[] {
  return schema === undefined ? [] : (definitions.get(schema) ?? []);
}
