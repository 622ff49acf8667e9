import type { ColumnDefinition, FieldDefinition } from "../../../src/entity/index.ts";
import type { AnyEntity } from "../../../src/index.ts";

/**
 * An entity without some of its fields, as if they did not exist. A caller that may not know about a field must get the
 * same responses from both.
 */
export function withoutFields(entity: AnyEntity, names: ReadonlySet<string>): AnyEntity {
  const columns = Object.entries(entity.columns).filter(
    ([name, { role }]: [string, ColumnDefinition]) => role !== "blindIndex" && !names.has(name),
  );
  const fields = Object.entries(entity.fields).filter(([name]: [string, FieldDefinition]) => !names.has(name));
  const isThere = (name: string): boolean => columns.some(([other]) => other === name);
  return {
    ...entity,
    columns: Object.fromEntries(columns),
    fields: Object.fromEntries(fields),
    hidden: entity.hidden.filter(isThere),
  };
}
