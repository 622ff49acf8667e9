import { type AnyEntity, type EntityLike, type RelationDefinition, resolveEntity } from "../../entity/index.ts";
import { entityOfRecord, knownOf, type Row } from "../../gate/index.ts";
import { InternalError, type User } from "../../kernel/index.ts";
import { createFieldFilter, type FieldFilterOptions, type FilteredFields } from "./field-filter.ts";

/** Deeper data is refused before it overflows the stack. This also stops at circular data. */
const MAX_DEPTH = 64;

/**
 * Filters records for a caller. Returns new objects without hidden columns (passwords, omitted fields, blind indexes),
 * without fields whose `.readable()` rules fail, and without names that the entity does not have. Related records are
 * filtered by the rules of their own entity, also inside of JSON columns. Other values are not copied. The function
 * does not check whether the caller may read a record at all.
 *
 * Rules are evaluated synchronously on the record alone. A field is hidden if its rule returns a promise, throws, uses
 * the driver or a service, or reads a column that the record does not have.
 *
 * `(data, user)` takes records that an app has read: records of operations, of a handler's driver, and copies of them.
 * Other data needs its entity, and so do records of clients (`api.as(user)`), which are plain copies. Specification
 * section 4.1 rule 2.
 *
 * @param data a record, an array of records, or null
 * @throws ConfigurationError for data that is not a record, or whose entity is unknown
 * @throws AuthenticationError for a user whose id is not a non-empty string
 * @throws InternalError for records nested more than 64 levels deep, or circular ones
 * @example
 * const visible = filterReadableFields(await legacyApi.users(), user, { user: currentUser })
 */
export function filterReadableFields<T>(data: T, user: User | null | undefined): FilteredFields<T>;
export function filterReadableFields<T>(data: T, entity: EntityLike, options: FieldFilterOptions): FilteredFields<T>;
export function filterReadableFields(
  data: unknown,
  subject: User | EntityLike | null | undefined,
  options?: FieldFilterOptions,
): unknown {
  const { judge, apply } = createFieldFilter("filterReadableFields", "read", subject, options);
  const targets = new Map<RelationDefinition, AnyEntity | undefined>();

  function filterRecord(record: Row, entity: AnyEntity, depth: number): Row {
    const kept = tagsOf(record);
    for (const [name, value] of Object.entries(record)) {
      if (value === undefined) continue;
      if (Object.hasOwn(entity.columns, name)) {
        if (mayRead(record, entity, name)) kept[name] = filterInside(value, depth + 1);
      } else if (Object.hasOwn(entity.relations, name)) {
        const target = targetOf(entity, entity.relations[name] as RelationDefinition);
        const related = filterRelated(value, target, depth + 1);
        if (related !== undefined) kept[name] = related;
      }
    }
    return kept;
  }

  function mayRead(record: Row, entity: AnyEntity, name: string): boolean {
    if (entity.hidden.includes(name)) return false;
    const rules = entity.columns[name]?.field?.readable;
    // The values that were read count, because a copy can be changed.
    return rules === undefined || judge(rules, entity, knownOf(record)?.values ?? record);
  }

  /**
   * Filters records inside of a JSON column, where code may have put them. A value without records is returned
   * unchanged.
   */
  function filterInside(value: unknown, depth: number): unknown {
    if (typeof value !== "object" || value === null || value instanceof Date) return value;
    refuseDepth(depth);
    const entity = entityOfRecord(value);
    if (entity !== undefined) return filterRecord(value as Row, entity, depth);
    const inside = Object.entries(value).map(([name, one]) => [name, one, filterInside(one, depth + 1)] as const);
    if (inside.every(([, one, filtered]) => one === filtered)) return value;
    const filtered = inside.map(([name, , one]) => [name, one] as const);
    return Array.isArray(value) ? filtered.map(([, one]) => one) : Object.fromEntries(filtered);
  }

  /** Undefined for values that are not records, and for records of an unknown entity. */
  function filterRelated(value: unknown, target: AnyEntity | undefined, depth: number): unknown {
    refuseDepth(depth);
    if (value === null) return null;
    if (typeof value !== "object") return undefined;
    if (Array.isArray(value))
      return value.map((one) => filterRelated(one, target, depth + 1)).filter((one) => one !== undefined);
    const entity = entityOfRecord(value) ?? target;
    return entity && filterRecord(value as Row, entity, depth);
  }

  /** Cached, because a builder makes a new definition each time. */
  function targetOf(source: AnyEntity, relation: RelationDefinition): AnyEntity | undefined {
    if (relation.target === null) return source;
    if (!targets.has(relation)) {
      const target = relation.target() as EntityLike | undefined;
      targets.set(relation, target && (resolveEntity(target) as AnyEntity));
    }
    return targets.get(relation);
  }

  return apply(data, (record, entity) => filterRecord(record, entity, 0));
}

function refuseDepth(depth: number): void {
  if (depth > MAX_DEPTH)
    throw new InternalError(`filterReadableFields: records are nested more than ${MAX_DEPTH} levels deep, or circular`);
}

/** Copies the marks that Keelson put on a record, so that a response with the copy is masked like any other. */
function tagsOf(record: Row): Row {
  const kept: Row = {};
  if (entityOfRecord(record) === undefined) return kept;
  for (const symbol of Object.getOwnPropertySymbols(record)) Reflect.set(kept, symbol, Reflect.get(record, symbol));
  return kept;
}
