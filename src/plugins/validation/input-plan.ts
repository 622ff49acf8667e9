import {
  type AnyEntity,
  type ColumnDefinition,
  type CrossFieldValidator,
  type EntityModel,
  idParts,
  isPlainObject,
  type RelationDefinition,
} from "../../entity/index.ts";
import { type FieldMask, isNestedWrite, type Operation } from "../../gate/index.ts";
import {
  BadRequestError,
  nearest,
  shownName,
  ValidationFailedError,
  type ValidationIssue,
} from "../../kernel/index.ts";
import { type Reference, referencesOf } from "./check-references.ts";
import { type CheckedColumns, compileColumn, type InputColumn, MAX_UNKNOWN } from "./check-values.ts";

/** The meaning of a key in a body. */
type InputKey =
  /** A column of the entity. */
  | { readonly kind: "column"; readonly isReadonly: boolean; readonly isComputed: boolean }
  /** The record's id: ignored, unless it contradicts the path. */
  | { readonly kind: "id" }
  /** A column that Keelson maintains. The system may set it on create. */
  | { readonly kind: "kept" }
  | {
      readonly kind: "relation";
      readonly type: RelationDefinition["type"];
      readonly foreignKey: string | undefined;
      readonly isRemote: boolean;
    }
  /** `<relation>Ids` of a manyToMany relation: passed on unchanged, and checked by the code that writes links. */
  | { readonly kind: "links" };

/** The validation of an entity, compiled once. */
export interface InputPlan extends CheckedColumns {
  readonly keys: ReadonlyMap<string, InputKey>;
  readonly references: readonly Reference[];
  /** Names of relations, under which data may contain nested writes until a plugin handles them. */
  readonly relations: readonly string[];
  readonly validators: Readonly<Record<"create" | "update", readonly CrossFieldValidator[]>>;
}

/**
 * Compiles an entity for validation.
 * @param problem adds a sentence to the start-up report
 */
export function compileInputPlan(
  model: EntityModel,
  entity: AnyEntity,
  problem: (sentence: string) => void,
): InputPlan {
  const all = Object.values(entity.columns);
  const isGiven = ({ role }: ColumnDefinition): boolean =>
    role === "field" || role === "foreignKey" || (role === "id" && entity.idsFrom === "caller");
  const columns = all.filter(isGiven).map(compileColumn);
  const kept = all
    .filter(({ role }) => role === "id" || role === "createdAt" || role === "updatedAt" || role === "version")
    .map(compileColumn);
  checkDefaults(entity, columns, problem);
  return Object.freeze({
    keys: keysOf(entity),
    columns,
    byName: new Map([...columns, ...kept].map((column) => [column.name, column])),
    references: referencesOf(model, entity),
    relations: Object.keys(entity.relations),
    validators: {
      create: entity.validators.filter(({ operations }) => operations.includes("create")),
      update: entity.validators.filter(({ operations }) => operations.includes("update")),
    },
  });
}

function keysOf(entity: AnyEntity): ReadonlyMap<string, InputKey> {
  const keys = new Map<string, InputKey>();
  for (const [name, { type, remote }] of Object.entries(entity.relations)) {
    const foreignKey = Object.values(entity.columns).find(({ relation }) => relation === name)?.name;
    keys.set(name, { kind: "relation", type, foreignKey, isRemote: remote !== undefined });
    if (type === "manyToMany") keys.set(`${name}Ids`, { kind: "links" });
  }
  // Derived columns are internal.
  for (const column of Object.values(entity.columns)) if (column.of === undefined) keys.set(column.name, keyOf(column));
  return keys;
}

function keyOf({ role, field }: ColumnDefinition): InputKey {
  switch (role) {
    case "id":
      return { kind: "id" };
    case "field":
    case "foreignKey":
      return {
        kind: "column",
        isReadonly: field?.readonly === true,
        isComputed: field?.filledBy === "computation",
      };
    default:
      return { kind: "kept" };
  }
}

/** Reports literal defaults that their own field refuses, because they would fail every create. */
function checkDefaults(entity: AnyEntity, columns: readonly InputColumn[], problem: (sentence: string) => void): void {
  for (const { name, check, optional } of columns) {
    const given = entity.fields[name]?.default;
    if (given === undefined || !("value" in given) || (given.value === null && optional)) continue;
    const issues: Parameters<typeof check>[1] = [];
    check(given.value, issues);
    if (issues[0] !== undefined) problem(`${entity.name}.${name}: the default value ${issues[0].message}`);
  }
}

/** Names with a special meaning in JavaScript objects; no field can have them. */
const FORBIDDEN = new Set(["__proto__", "constructor", "prototype"]);

/**
 * Reduces a body to the values that the caller may write. Read-only names and related records are left out. Fields that
 * the caller may read but not write are left out, and their names are added to `ignored`. Unknown names are refused,
 * including fields that the caller may neither read nor write.
 * @throws BadRequestError, ValidationFailedError
 */
export function normalizeInput(plan: InputPlan, operation: Operation): void {
  const { data, entity, scope, principal, ignored } = operation;
  if (!isPlainObject(data)) throw new BadRequestError("The body must be a JSON object");
  const isSystem = principal.kind === "system";
  const mask = scope.access.mask(entity);
  const { writable } = mask;
  const kept: Record<string, unknown> = {};
  const issues: ValidationIssue[] = [];
  for (const name of Object.keys(data)) {
    if (FORBIDDEN.has(name)) throw new BadRequestError(`"${name}" cannot be the name of a field`);
    const value = data[name];
    if (value === undefined) continue; // code that passes an undefined property does not mean to set it
    const found = plan.keys.get(name);
    const key = found === undefined || isSystem || isShown(found, name, mask) ? found : undefined;
    switch (key?.kind) {
      case "column":
        if (key.isComputed) break;
        if (operation.kind === "update" && !isSamePart(operation, name, value, issues)) break;
        if (isSystem || writable.has(name)) kept[name] = value;
        else if (!key.isReadonly) ignored.push(name);
        break;
      case "links":
        kept[name] = value;
        break;
      case "id":
        if (operation.kind === "create") {
          if (entity.idsFrom === "caller" || (isSystem && entity.idsFrom !== "parts")) kept[name] = value;
        } else if (!isSameId(value, operation.id)) {
          issues.push({ path: [name], code: "custom", message: "must be the id in the path" });
        }
        break;
      case "kept":
        if (isSystem && operation.kind === "create") kept[name] = value;
        break;
      case "relation":
        if (!key.isRemote && isNestedWrite(value)) kept[name] = value;
        else checkRelation(key, name, value, data, issues);
        break;
      case undefined:
        if (issues.length < MAX_UNKNOWN) issues.push(unknownKey(plan, name, writable));
    }
  }
  if (issues.length > 0) throw new ValidationFailedError(issues);
  operation.data = kept;
}

/**
 * Whether a caller may know of a key, because its column may be read or written. Lists of related records have no
 * column here.
 */
function isShown(key: InputKey, name: string, { readable, writable }: FieldMask): boolean {
  if (key.kind === "id" || key.kind === "links") return true;
  const column = key.kind === "relation" ? key.foreignKey : name;
  return column === undefined || readable.has(column) || writable.has(column);
}

/** Only suggests names that the caller may write, so that a guess never reveals a hidden name. */
function unknownKey({ keys }: InputPlan, name: string, writable: ReadonlySet<string>): ValidationIssue {
  const links = [...keys].filter(([, { kind }]) => kind === "links").map(([link]) => link);
  const near = nearest(name, [...writable, ...links]);
  const hint = near === undefined ? "" : `; did you mean "${near}"?`;
  return { path: [shownName(name)], code: "unrecognized_keys", message: `is not a field${hint}` };
}

/**
 * Ignores related records as `include` returns them, so that they can be sent back. Refuses other values of a relation,
 * and a record that contradicts the foreign key.
 */
function checkRelation(
  { type, foreignKey }: InputKey & { kind: "relation" },
  name: string,
  value: unknown,
  data: Readonly<Record<string, unknown>>,
  issues: ValidationIssue[],
): void {
  const many = type === "hasMany" || type === "manyToMany";
  const isIncluded = many ? Array.isArray(value) && value.every(isRecord) : value === null || isRecord(value);
  if (!isIncluded) {
    const instead = foreignKey ?? (type === "manyToMany" ? `${name}Ids` : undefined);
    const hint = instead === undefined ? "" : `; write ${instead}`;
    issues.push({ path: [name], code: "custom", message: `is a relation and cannot be written${hint}` });
  } else if (foreignKey !== undefined && value !== null) {
    const key = data[foreignKey];
    if (key !== undefined && !isSameId(key, (value as { id: unknown }).id))
      issues.push({ path: [name], code: "custom", message: `does not agree with ${foreignKey}` });
  }
}

function isRecord(value: unknown): boolean {
  return isPlainObject(value) && Object.hasOwn(value, "id") && typeof idText(value.id) === "string";
}

/** Whether a value may be written. Parts of an id never change. */
function isSamePart(operation: Operation, name: string, value: unknown, issues: ValidationIssue[]): boolean {
  const { columns } = operation.entity;
  const { parts = [] } = columns.id as ColumnDefinition;
  const index = parts.findIndex((part) => part.name === name);
  if (index < 0) return true;
  const { id } = operation; // undefined for several records, which must then be checked one by one
  const own = id === undefined ? undefined : idParts(parts, id);
  const { kind } = columns[name] as ColumnDefinition;
  const read = typeof value === "string" ? kind.parse(value) : kind.convert?.(value);
  const given = read?.ok === true ? read.value : value;
  if (own === undefined || !kind.accepts(given) || kind.compare(own[index], given) !== 0)
    issues.push({ path: [name], code: "custom", message: "is part of the id, which never changes" });
  return false;
}

/** Ids that are whole numbers are sent as JSON numbers. */
function idText(id: unknown): unknown {
  return typeof id === "number" ? String(id) : id;
}

function isSameId(one: unknown, other: unknown): boolean {
  return idText(one) === idText(other);
}
