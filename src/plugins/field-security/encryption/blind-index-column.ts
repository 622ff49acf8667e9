import type { AnyEntity } from "../../../entity/index.ts";

/** Name of the column that finds the values of an encrypted field; undefined where it is not searchable. */
export function blindIndexColumn(entity: AnyEntity, field: string): string | undefined {
  return Object.values(entity.columns).find(({ of }) => of === field)?.name;
}
