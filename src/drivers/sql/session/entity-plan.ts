import { type AnyEntity, ConfigurationError, type EntityModel } from "../../../entity/index.ts";
import { printedUniqueKeys } from "../tables/printed-unique-keys.ts";

/** What is known of an entity before any statement runs; compiled once per connection. */
export interface EntityPlan {
  readonly entity: AnyEntity;
  /**
   * Columns that decide whether a unique value is taken, the id aside: a write of one may have to wait until another
   * transaction commits or rolls back.
   */
  readonly uniqueColumns: ReadonlySet<string>;
}

/** Records that are no longer hidden take their unique values again. */
function uniqueColumnsOf(model: EntityModel, entity: AnyEntity): ReadonlySet<string> {
  const columns = new Set(printedUniqueKeys(model, entity).flat());
  if (columns.size > 0 && entity.softDelete !== undefined) columns.add(entity.softDelete.field);
  return columns;
}

/**
 * Plans by entity name.
 * @throws ConfigurationError when two entities would be one model
 */
export function compilePlans(model: EntityModel): ReadonlyMap<string, EntityPlan> {
  const plans = new Map<string, EntityPlan>();
  const taken = new Map<string, string>();
  for (const entity of model.entities) {
    const key = entity.name.toLowerCase();
    const other = taken.get(key);
    if (other !== undefined)
      throw new ConfigurationError(`entities "${other}" and "${entity.name}" differ only in case; databases may not`);
    taken.set(key, entity.name);
    plans.set(entity.name, Object.freeze({ entity, uniqueColumns: uniqueColumnsOf(model, entity) }));
  }
  return plans;
}

/** Whether a version counts a change of these columns: of none, and of the id alone, it does not. */
export function countsVersion({ versioned }: AnyEntity, names: readonly string[]): boolean {
  return versioned !== undefined && names.some((name) => name !== "id");
}
