import type { AnyEntity, ColumnDefinition } from "../../entity/index.ts";
import type { FieldMask } from "../operation/mask.ts";

/** What of an entity a mask lets out. */
export interface RecordShape {
  readonly entity: AnyEntity;
  readonly columns: readonly ColumnDefinition[];
  /** The columns' names as JSON has them, with the colon. */
  readonly keys: readonly string[];
  /** The same after a comma. */
  readonly furtherKeys: readonly string[];
  readonly relations: readonly string[];
}

const shapes = new WeakMap<FieldMask, RecordShape>();

/** Columns and relations a mask lets out, in declared order; worked out once per mask. */
export function shapeOf(entity: AnyEntity, mask: FieldMask): RecordShape {
  let shape = shapes.get(mask);
  // Masks come from plugins, and one may serve several entities.
  if (shape?.entity !== entity) {
    const columns = Object.values(entity.columns).filter(({ name }) => mask.readable.has(name));
    const keys = columns.map(({ name }) => `${JSON.stringify(name)}:`);
    shape = {
      entity,
      columns,
      keys,
      furtherKeys: keys.map((key) => `,${key}`),
      relations: Object.keys(entity.relations),
    };
    shapes.set(mask, shape);
  }
  return shape;
}
