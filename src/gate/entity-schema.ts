import {
  type AnyEntity,
  type EntityLike,
  type EntityRules,
  type FieldDefinition,
  publishedFields,
  type RelationDefinition,
  resolveEntity,
} from "../entity/index.ts";

/** One entity of a plugin's schema, as plain data for inspection: without literal defaults of protected fields. */
export interface EntitySchemaEntry {
  readonly fields: Readonly<Record<string, FieldDefinition>>;
  readonly relations: Readonly<Record<string, RelationDefinition>>;
  readonly rules: EntityRules | undefined;
  readonly actions: Readonly<Record<string, unknown>>;
  readonly internal?: boolean;
}

/** Entities a plugin brings, by name. */
export interface EntitySchema {
  readonly entities: Readonly<Record<string, EntitySchemaEntry>>;
}

const definitions = new WeakMap<EntitySchema, readonly AnyEntity[]>();

/** The schema of some entities, for `createPlugin({ schema })`. `internal` entities get no routes. */
export function schemaFromEntities(
  entities: readonly EntityLike[],
  options: { internal?: boolean } = {},
): EntitySchema {
  const list = entities.map((entity) => {
    const definition = resolveEntity(entity) as AnyEntity;
    return options.internal ? Object.freeze({ ...definition, internal: true }) : definition;
  });
  const schema: EntitySchema = Object.freeze({
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

/** The definitions behind a schema; empty for an object that `schemaFromEntities` did not make. */
export function entitiesOf(schema: EntitySchema | undefined): readonly AnyEntity[] {
  return schema === undefined ? [] : (definitions.get(schema) ?? []);
}
