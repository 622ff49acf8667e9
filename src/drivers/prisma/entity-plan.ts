import { type AnyEntity, ConfigurationError, type EntityModel } from "../../entity/index.ts";
import type { Args } from "./client-shape.ts";
import { printedUniqueKeys } from "./schema/unique-keys.ts";

/** What is known of an entity before any statement runs; compiled once per connection. */
export interface EntityPlan {
  readonly entity: AnyEntity;
  /** Property of the client that holds the model's methods. */
  readonly delegate: string;
  /** Prisma's `select` for all columns: never a column that the definition does not have. */
  readonly columns: Args;
  /** Columns whose null has to be spelled out, because null is a JSON value too. */
  readonly jsonColumns: ReadonlySet<string>;
  /**
   * Columns that decide whether a unique value is taken, the id aside: a write of one may have to wait for what somebody
   * else has not committed yet.
   */
  readonly uniqueColumns: ReadonlySet<string>;
}

function delegateOf({ name }: AnyEntity): string {
  return name.charAt(0).toLowerCase() + name.slice(1);
}

/** Whether values of an entity's column are JSON. */
export function jsonColumnsOf(entity: AnyEntity): string[] {
  return Object.values(entity.columns)
    .filter(({ kind }) => kind.column.scalar === "Json")
    .map(({ name }) => name);
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
    plans.set(
      entity.name,
      Object.freeze({
        entity,
        delegate: delegateOf(entity),
        columns: Object.freeze(Object.fromEntries(Object.keys(entity.columns).map((name) => [name, true]))),
        jsonColumns: new Set(jsonColumnsOf(entity)),
        uniqueColumns: uniqueColumnsOf(model, entity),
      }),
    );
  }
  return plans;
}
