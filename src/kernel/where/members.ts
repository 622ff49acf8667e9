import type { AnyEntity, EntityModel } from "../../entity/index.ts";
import type { Where } from "../ports/driver.ts";

export const LOGIC: ReadonlySet<string> = new Set(["AND", "OR", "NOT"]);

/** Calls back for every member of a where, inside logic too. What is no condition has no members. */
export function eachMember(where: unknown, visit: (name: string, value: unknown) => void): void {
  if (typeof where !== "object" || where === null) return;
  for (const name of Object.keys(where)) {
    const value = (where as Where)[name];
    if (!LOGIC.has(name)) visit(name, value);
    else for (const part of Array.isArray(value) ? value : [value]) eachMember(part, visit);
  }
}

/** Whether a where depends on one of these columns of the entity itself; no value is looked at. */
export function dependsOn(
  model: EntityModel,
  entity: AnyEntity,
  where: Where | undefined,
  columns: readonly string[],
): boolean {
  if (columns.length === 0) return false;
  let found = false;
  eachMember(where, (name) => {
    const relation = Object.hasOwn(entity.columns, name) ? undefined : model.relation(entity, name);
    const column = relation?.type === "belongsTo" ? (relation.foreignKey as string) : name;
    found ||= columns.includes(column);
  });
  return found;
}

/**
 * Whether a condition on records of one entity asks for related ones of another, or of the same.
 * @param other @default any
 */
export function looksAt(model: EntityModel, entity: AnyEntity, where: Where, other?: AnyEntity): boolean {
  let found = false;
  eachMember(where, (name, value) => {
    const relation = Object.hasOwn(entity.columns, name) ? undefined : model.relation(entity, name);
    if (relation !== undefined)
      found ||=
        other === undefined || relation.target === other || looksAt(model, relation.target, value as Where, other);
  });
  return found;
}
