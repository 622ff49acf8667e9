import { type AnyEntity, type ColumnDefinition, type EntityModel, plainField } from "../../../entity/index.ts";
import type { Row } from "../../../gate/index.ts";

/** Fields whose values no two records share. */
export type UniqueKey = readonly string[];

/** Gives a value as it will be stored, its default when there is none; undefined or null when there is nothing to store. */
type ReadValue = (value: unknown) => unknown;

/** Whether two lists name the same fields. */
export function isSameKey(one: UniqueKey, other: UniqueKey): boolean {
  return one.length === other.length && one.every((name) => other.includes(name));
}

/** What an import needs to know of an entity, worked out once. */
export interface UniqueKeys {
  /** The id among them. */
  readonly keys: readonly UniqueKey[];
  /** The values of a row in some columns as they will be stored; a row without one of them gives undefined. */
  valuesOf(columns: UniqueKey, row: Row): Row | undefined;
}

const known = new WeakMap<EntityModel, Map<AnyEntity, UniqueKeys>>();

/** The unique keys of an entity. */
export function uniqueKeysOf(model: EntityModel, entity: AnyEntity): UniqueKeys {
  const ofModel = known.get(model) ?? new Map<AnyEntity, UniqueKeys>();
  known.set(model, ofModel);
  const found = ofModel.get(entity) ?? compile(model, entity);
  ofModel.set(entity, found);
  return found;
}

function compile(model: EntityModel, entity: AnyEntity): UniqueKeys {
  const columns = Object.values(entity.columns);
  const single = columns.filter((column) => column.unique || isFollowedBySingle(model, entity, column));
  const keys = [...single.map(({ name, of = name }) => [of]), ...entity.uniques];
  const readers = new Map(
    keys.flat().map((name) => [name, valueReader(entity.columns[name] as ColumnDefinition)] as const),
  );
  return {
    keys,
    valuesOf(names, row) {
      const values: Row = {};
      for (const name of names) {
        const read = readers.get(name)?.(row[name]);
        if (read === undefined || read === null) return undefined;
        values[name] = read;
      }
      return values;
    },
  };
}

function valueReader({ kind, field }: ColumnDefinition): ReadValue {
  const schema = kind.schema(field ?? plainField(kind));
  const given = field?.default;
  const fallback = given !== undefined && "value" in given ? given.value : undefined;
  return (value = fallback) => (value === null || value === undefined ? undefined : schema.safeParse(value).data);
}

/** Whether a key leads to a record that is followed back by a single one: then no two records may share it. */
function isFollowedBySingle(model: EntityModel, entity: AnyEntity, { relation }: ColumnDefinition): boolean {
  const key = relation === undefined ? undefined : model.relation(entity, relation);
  if (key?.inverse === undefined || key.remote !== undefined) return false;
  return model.relation(key.target, key.inverse)?.type === "hasOne";
}
