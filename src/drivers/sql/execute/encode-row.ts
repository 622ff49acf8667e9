import { type ColumnDefinition, canHold } from "../../../entity/index.ts";
import type { Row } from "../../../gate/index.ts";
import { DatabaseError } from "../../../kernel/index.ts";
import { codecOf } from "../condition/column-codec.ts";
import { assertKept, type Dialect } from "../session/dialect.ts";
import type { EntityPlan } from "../session/entity-plan.ts";
import type { Encoded } from "../statement/write-queries.ts";

/**
 * Submitted values as they travel to the database: copies. What is undefined counts as not submitted.
 * @throws DatabaseError for names that are no columns and values that the column cannot hold; ValidationFailedError for
 *   moments that this database does not keep
 */
export function encodeRow({ entity }: EntityPlan, data: Row, { provider, firstYear }: Dialect): Map<string, unknown> {
  const encoded = new Map<string, unknown>();
  for (const name of Object.keys(data)) {
    const column = Object.hasOwn(entity.columns, name) ? entity.columns[name] : undefined;
    if (column === undefined) throw new DatabaseError(`${entity.name} has no column "${name}"`);
    const value = data[name];
    if (value === undefined) continue;
    if (!canHold(column, value)) throw new DatabaseError(`${entity.name}.${name} cannot hold this value`);
    assertKept(name, value, firstYear);
    encoded.set(name, value === null ? null : codecOf(provider, column).encode(value));
  }
  return encoded;
}

/** The same for a new record. Moments of its creation that are absent are set here, as databases write them differently. */
export function encodeNewRow(plan: EntityPlan, data: Row, dialect: Dialect): Encoded {
  const encoded = encodeRow(plan, data, dialect);
  for (const [name, column] of Object.entries(plan.entity.columns))
    if ((column.role === "createdAt" || column.role === "updatedAt") && !encoded.has(name))
      encoded.set(name, codecOf(dialect.provider, column as ColumnDefinition).encode(new Date()));
  return encoded;
}
