import type {
  AnyEntity,
  ColumnDefinition,
  CrossFieldValidator,
  EntityModel,
  RelationDefinition,
} from "../../entity/index.ts";
import { compileColumn, type InputColumn } from "./check-value.ts";

/** What a key of a body means. */
export type InputKey =
  /** A column of the entity's own. */
  | { readonly kind: "column"; readonly isReadonly: boolean }
  /** The record's id: ignored, unless it contradicts the path. */
  | { readonly kind: "id" }
  /** A column the framework keeps; the system may say what is in it on create. */
  | { readonly kind: "kept" }
  | { readonly kind: "relation"; readonly type: RelationDefinition["type"]; readonly foreignKey: string | undefined }
  /** `<relation>Ids` of a manyToMany relation: passed on untouched, whoever writes links checks it. */
  | { readonly kind: "links" };

/** A foreign key whose target must exist for the caller. */
export interface Reference {
  readonly column: string;
  readonly target: AnyEntity;
  /** Whether the column names the owner; one's own id there needs no look-up. */
  readonly isOwner: boolean;
}

/** Everything validation knows about an entity, worked out once. */
export interface InputPlan {
  readonly entity: AnyEntity;
  readonly keys: ReadonlyMap<string, InputKey>;
  /** Columns that must be filled by the time a record is stored, in order. */
  readonly columns: readonly InputColumn[];
  /** The same by name, and those that only the system sets. */
  readonly byName: ReadonlyMap<string, InputColumn>;
  readonly references: readonly Reference[];
  readonly validators: Readonly<Record<"create" | "update", readonly CrossFieldValidator[]>>;
}

/**
 * Compiles an entity for validation.
 * @param problem takes a sentence for the start-up report
 */
export function compileInputPlan(
  model: EntityModel,
  entity: AnyEntity,
  problem: (sentence: string) => void,
): InputPlan {
  const all = Object.values(entity.columns);
  const columns = all.filter(({ role }) => role === "field" || role === "foreignKey").map(compileColumn);
  const kept = all
    .filter(({ role }) => role === "id" || role === "createdAt" || role === "updatedAt" || role === "version")
    .map(compileColumn);
  checkDefaults(entity, columns, problem);
  return Object.freeze({
    entity,
    keys: keysOf(entity),
    columns,
    byName: new Map([...columns, ...kept].map((column) => [column.name, column])),
    references: referencesOf(model, entity),
    validators: {
      create: entity.validators.filter(({ operations }) => operations.includes("create")),
      update: entity.validators.filter(({ operations }) => operations.includes("update")),
    },
  });
}

function keysOf(entity: AnyEntity): ReadonlyMap<string, InputKey> {
  const keys = new Map<string, InputKey>();
  for (const [name, { type }] of Object.entries(entity.relations)) {
    const foreignKey = Object.values(entity.columns).find(({ relation }) => relation === name)?.name;
    keys.set(name, { kind: "relation", type, foreignKey });
    if (type === "manyToMany") keys.set(`${name}Ids`, { kind: "links" });
  }
  for (const column of Object.values(entity.columns))
    if (column.role !== "blindIndex") keys.set(column.name, keyOf(column)); // which is nobody's to know of
  return keys;
}

function keyOf({ role, field }: ColumnDefinition): InputKey {
  switch (role) {
    case "id":
      return { kind: "id" };
    case "field":
    case "foreignKey":
      return { kind: "column", isReadonly: field?.readonly === true };
    default:
      return { kind: "kept" };
  }
}

/** Remote records are not ours to check: their services answer when they are joined. */
function referencesOf(model: EntityModel, entity: AnyEntity): Reference[] {
  return Object.values(entity.columns).flatMap(({ name, relation }) => {
    const resolved = relation === undefined ? undefined : model.relation(entity, relation);
    if (resolved === undefined || resolved.remote) return [];
    return [{ column: name, target: resolved.target, isOwner: relation === entity.ownedBy }];
  });
}

/** A literal default that its own field refuses would fail every create. */
function checkDefaults(entity: AnyEntity, columns: readonly InputColumn[], problem: (sentence: string) => void): void {
  for (const { name, check, optional } of columns) {
    const given = entity.fields[name]?.default;
    if (given === undefined || !("value" in given) || (given.value === null && optional)) continue;
    const issues: Parameters<typeof check>[1] = [];
    check(given.value, issues);
    if (issues[0] !== undefined) problem(`${entity.name}.${name}: the default value ${issues[0].message}`);
  }
}
