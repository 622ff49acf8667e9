import type { AnyEntity, EntityModel } from "../../../entity/index.ts";

/** A hashed field, and how much its hash costs. */
export interface PasswordColumn {
  readonly name: string;
  readonly cost: number;
}

/** Hashed fields by entity name; entities without them are absent. */
export function passwordColumns(model: EntityModel): ReadonlyMap<string, readonly PasswordColumn[]> {
  const columns = new Map<string, readonly PasswordColumn[]>();
  for (const entity of model.entities) {
    const own = ofEntity(entity);
    if (own.length > 0) columns.set(entity.name, own);
  }
  return columns;
}

function ofEntity({ fields }: AnyEntity): PasswordColumn[] {
  return Object.entries(fields).flatMap(([name, { password }]) =>
    password === undefined ? [] : [{ name, cost: password.cost }],
  );
}
