import type { AnyEntity, EntityModel } from "../../entity/index.ts";
import type { Constraint } from "./prisma-failure.ts";
import { constraintName } from "./schema/constraint-name.ts";
import { liveUniqueName } from "./schema/live-unique.ts";
import { printedUniqueKeys } from "./schema/unique-keys.ts";

/** An index name as some databases report it: `"post_slug_key"`, `post.post_slug_key`. */
function bareName(index: string): string {
  return index.replace(/"/g, "").split(".").at(-1) as string;
}

/** The columns of a unique constraint; empty when its name is not one of ours. */
export function uniqueColumns(model: EntityModel, entity: AnyEntity, { fields, index }: Constraint): readonly string[] {
  if (fields !== undefined) return fields.filter((field) => Object.hasOwn(entity.columns, field));
  if (index === undefined) return [];
  const name = bareName(index);
  if (name === `${entity.name}_pkey` || name === "PRIMARY") return ["id"];
  const namesOf = (columns: readonly string[]): readonly string[] => [
    constraintName(entity, columns, "_key"),
    liveUniqueName(entity, columns),
  ];
  return printedUniqueKeys(model, entity).find((columns) => namesOf(columns).includes(name)) ?? [];
}

/** The column of a foreign key constraint; undefined when it cannot be told. */
export function foreignKeyColumn(entity: AnyEntity, { fields, index }: Constraint): string | undefined {
  const keys = Object.values(entity.columns).filter(({ role }) => role === "foreignKey");
  const found = keys.find(
    ({ name }) =>
      fields?.includes(name) || (index !== undefined && constraintName(entity, [name], "_fkey") === bareName(index)),
  );
  return found?.name;
}
