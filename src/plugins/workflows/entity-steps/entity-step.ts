import { isDeepStrictEqual } from "node:util";
import { type AnyEntity, ConfigurationError, type FieldDefinition } from "../../../entity/index.ts";
import { type EntityRef, entityName, type Row, type Where } from "../../../gate/index.ts";
import { ConflictError } from "../../../kernel/index.ts";
import type { StepContext } from "../definition/step.ts";

/** A value, or a function that makes it from the step's context. */
export type FromContext<T> = T | ((context: StepContext<never>) => T | Promise<T>);

export async function resolved<T>(given: FromContext<T>, context: StepContext): Promise<T> {
  return typeof given === "function" ? await (given as (context: StepContext) => T | Promise<T>)(context) : given;
}

/** Whether the second argument is an entity, so that the first one is the step's name. */
export function isEntity(value: unknown): value is Exclude<EntityRef, string> {
  if (typeof value !== "object" || value === null) return false;
  return "build" in value || ("columns" in value && "relations" in value);
}

/** The entity's definition, if it is known. */
export function definitionOf(entity: EntityRef, { scope }: StepContext): AnyEntity | undefined {
  if (scope !== undefined) return scope.app.model.get(entityName(entity));
  if (typeof entity === "string") return undefined;
  return "build" in entity ? entity.build() : entity;
}

/**
 * Refuses unprotected writes. Outside of an app there is no gate: the step would bypass rules, and store passwords and
 * encrypted fields in plain text.
 * @throws ConfigurationError unless the driver protects fields, or the entity has neither rules nor protected fields
 */
export function assertProtected(entity: EntityRef, context: StepContext): void {
  const { scope, driver } = context;
  if (scope !== undefined || driver.capabilities.protectsFields === true) return;
  const definition = definitionOf(entity, context);
  if (definition !== undefined && !hasAccessControl(definition)) return;
  const reason = definition === undefined ? "is known by its name only" : "has rules or protected fields";
  throw new ConfigurationError(
    `"${entityName(entity)}" ${reason}, and a driver alone would write past them. Pass the context of a handler, ` +
      "{ resolve: api.resolve, user } of an app, or a driver of createEnhancedDriver",
  );
}

/** An empty list of rules counts: it denies all callers. */
function hasAccessControl({ rules, fields }: AnyEntity): boolean {
  const isGuarded = ({ password, encrypted, omit, readable, writable }: FieldDefinition): boolean =>
    omit || [password, encrypted, readable, writable].some((part) => part !== undefined);
  return rules !== undefined || Object.values(fields).some(isGuarded);
}

/**
 * Reads and locks the whole stored record, including hidden columns, until the transaction ends.
 * @param lock "delete" also blocks new references to the record
 */
export function heldRecord(
  { driver }: StepContext,
  entity: EntityRef,
  id: string,
  lock: true | "delete" = true,
): Promise<Row | null> {
  return driver.findOne(entity, { id }, { lock });
}

/** Columns that every write changes. They are ignored when two states are compared. */
const OF_EVERY_WRITE: ReadonlySet<string> = new Set(["updatedAt", "version"]);

/**
 * The columns by which states of a record are compared, with those of omitted fields. Passwords and what is computed
 * from other values are left out.
 */
export function comparedColumns(context: StepContext, entity: EntityRef, row: Row): readonly string[] {
  const definition = definitionOf(entity, context);
  const omitted = definition?.hidden.filter((name) => {
    const { of, field } = definition.columns[name] ?? {};
    return of === undefined && field?.password === undefined && name in row;
  });
  return [...Object.keys(row), ...(omitted ?? [])].filter((name) => !OF_EVERY_WRITE.has(name));
}

/** @throws ConflictError when another write has changed any of these columns */
export function assertUnchanged(entity: EntityRef, now: Row, left: Row, columns: readonly string[]): void {
  const changed = columns.filter((name) => !isDeepStrictEqual(now[name], left[name]));
  if (changed.length > 0)
    throw new ConflictError(`${entityName(entity)} ${String(left.id)} has been changed since: ${changed.join(", ")}`);
}

/** The record that a step changes. */
export interface Match {
  /** Undefined if no record matches. */
  readonly id: string | undefined;
  /** What the record must still meet when it is written; undefined for a condition on the id alone. */
  readonly query: { readonly where: Where } | undefined;
}

/**
 * Finds the only record that matches, among those that the caller may update or delete. A condition on the id alone
 * needs no query.
 * @throws ConfigurationError for empty conditions, which could match an arbitrary record; ConflictError if several
 * records match
 */
export async function soleMatch(
  { scope, driver }: StepContext,
  entity: EntityRef,
  where: Where,
  access: "update" | "delete",
): Promise<Match> {
  const names = Object.keys(where ?? {});
  if (names.length === 0)
    throw new ConfigurationError(`A step has to say which record of ${entityName(entity)} it is about`);
  if (names.length === 1 && typeof where.id === "string") return { id: where.id, query: undefined };
  const query = { where, limit: 2, select: ["id"] };
  const found =
    scope === undefined
      ? await driver.findMany(entity, query)
      : (await scope.run({ kind: "list", entity, access, query })).records;
  if (found.length > 1)
    throw new ConflictError(`Several records of ${entityName(entity)} match; a step is about one of them`);
  return { id: found[0]?.id as string | undefined, query: { where } };
}
