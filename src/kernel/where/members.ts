import type { AnyEntity, EntityModel } from "../../entity/index.ts";
import { BadRequestError } from "../errors/errors.ts";
import type { Where } from "../ports/driver.ts";

export const LOGIC: ReadonlySet<string> = new Set(["AND", "OR", "NOT"]);

/** Levels of a where at most: what looks through one calls itself for each. Rules and positions add a few to a caller's. */
export const WHERE_DEPTH = 64;

/**
 * Refuses a where that is too deep, or has more conditions than anybody asks for, before anything looks through it by
 * calling itself.
 * @param most objects and items of lists, all together
 * @throws BadRequestError
 */
export function checkWhereShape(where: unknown, most: number): void {
  let level: readonly unknown[] = [where];
  let count = 0;
  for (let depth = 1; level.length > 0; depth++) {
    if (depth > WHERE_DEPTH) throw new BadRequestError(`A query is nested at most ${WHERE_DEPTH} levels deep`);
    const next: unknown[] = [];
    for (const node of level) {
      if (typeof node !== "object" || node === null || node instanceof Date) continue;
      const children: readonly unknown[] = Array.isArray(node) ? node : Object.values(node);
      count += children.length;
      if (count > most) throw new BadRequestError("A query has too many conditions and values");
      for (const child of children) next.push(child);
    }
    level = next;
  }
}

/** Calls back for every member of a where, inside logic too. What is no condition has no members. */
export function eachMember(where: unknown, visit: (name: string, value: unknown) => void): void {
  if (typeof where !== "object" || where === null) return;
  for (const name of Object.keys(where)) {
    const value = (where as Where)[name];
    if (!LOGIC.has(name)) visit(name, value);
    else for (const part of Array.isArray(value) ? value : [value]) eachMember(part, visit);
  }
}

/**
 * Whether a change of these columns of a record may change what a where says of it: the where names one of them, or a key
 * among them leads on, there or on a path that comes back to the record's entity. No value is looked at.
 * @param at The entity that the where is about @default the record's
 */
export function dependsOn(
  model: EntityModel,
  entity: AnyEntity,
  where: Where | undefined,
  columns: readonly string[],
  at: AnyEntity = entity,
): boolean {
  if (columns.length === 0) return false;
  let found = false;
  eachMember(where, (name, value) => {
    if (found) return;
    if (Object.hasOwn(at.columns, name)) {
      found = at === entity && columns.includes(name);
      return;
    }
    const relation = model.relation(at, name);
    if (relation === undefined) return;
    const { type, target, foreignKey } = relation;
    const keeper = type === "belongsTo" ? at : target;
    found =
      (keeper === entity && columns.includes(foreignKey as string)) ||
      dependsOn(model, entity, value as Where | undefined, columns, target);
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
