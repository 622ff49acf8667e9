import { isDeepStrictEqual } from "node:util";
import { type AnyEntity, ConfigurationError, type FieldDefinition } from "../../../entity/index.ts";
import { type EntityRef, entityName, type Row, type Where } from "../../../gate/index.ts";
import { ConflictError } from "../../../kernel/index.ts";
import type { StepContext } from "../definition/step.ts";

/** A value, or how to make it of what is known when the step runs. */
export type FromContext<T> = T | ((context: StepContext<never>) => T | Promise<T>);

export async function resolved<T>(given: FromContext<T>, context: StepContext): Promise<T> {
  return typeof given === "function" ? await (given as (context: StepContext) => T | Promise<T>)(context) : given;
}

/** Whether something in second place is an entity, so that what comes first is the step's name. */
export function isEntity(value: unknown): value is Exclude<EntityRef, string> {
  if (typeof value !== "object" || value === null) return false;
  return "build" in value || ("columns" in value && "relations" in value);
}

/** The definition, where it is known. */
export function definitionOf(entity: EntityRef, { scope }: StepContext): AnyEntity | undefined {
  if (scope !== undefined) return scope.app.model.get(entityName(entity));
  if (typeof entity === "string") return undefined;
  return "build" in entity ? entity.build() : entity;
}

/**
 * Outside an app there is no gate: a step would write past rules, and store passwords and encrypted fields in clear.
 * @throws ConfigurationError unless the driver protects fields, or the entity has neither rules nor fields to protect
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

/** An empty list of rules counts: it says that no caller may do anything. */
function hasAccessControl({ rules, fields }: AnyEntity): boolean {
  const isGuarded = ({ password, encrypted, omit, readable, writable }: FieldDefinition): boolean =>
    omit || [password, encrypted, readable, writable].some((part) => part !== undefined);
  return rules !== undefined || Object.values(fields).some(isGuarded);
}

/**
 * The whole stored record, hidden columns included, held until the transaction is over.
 * @param lock "delete" also keeps others from referring to it
 */
export function heldRecord(
  { driver }: StepContext,
  entity: EntityRef,
  id: string,
  lock: true | "delete" = true,
): Promise<Row | null> {
  return driver.findOne(entity, { id }, { lock });
}

/** Columns that every write changes, and that no change is about. */
const OF_EVERY_WRITE: ReadonlySet<string> = new Set(["updatedAt", "version"]);

/** Names of columns in which two states of a record differ. */
export function changedColumns(before: Row, after: Row): readonly string[] {
  return [...new Set([...Object.keys(before), ...Object.keys(after)])].filter(
    (name) => !OF_EVERY_WRITE.has(name) && !isDeepStrictEqual(before[name], after[name]),
  );
}

/** @throws ConflictError when another write has changed any of these columns */
export function assertUnchanged(entity: EntityRef, now: Row, left: Row, columns: readonly string[]): void {
  const changed = columns.filter((name) => !isDeepStrictEqual(now[name], left[name]));
  if (changed.length > 0)
    throw new ConflictError(`${entityName(entity)} ${String(left.id)} has been changed since: ${changed.join(", ")}`);
}

/**
 * The id of the one record that matches, of those the caller may do this to; the id itself when that is what was asked for.
 * @throws ConfigurationError for no conditions: the only record there is would meet them
 */
export async function soleMatch(
  { scope, driver }: StepContext,
  entity: EntityRef,
  where: Where,
  access: "update" | "delete",
): Promise<string | undefined> {
  const names = Object.keys(where ?? {});
  if (names.length === 0)
    throw new ConfigurationError(`A step has to say which record of ${entityName(entity)} it is about`);
  if (names.length === 1 && typeof where.id === "string") return where.id;
  const query = { where, limit: 2, select: ["id"] };
  const found =
    scope === undefined
      ? await driver.findMany(entity, query)
      : (await scope.run({ kind: "list", entity, access, query })).records;
  if (found.length > 1)
    throw new ConflictError(`Several records of ${entityName(entity)} match; a step is about one of them`);
  return found[0]?.id as string | undefined;
}
