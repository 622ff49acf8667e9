import { type AnyEntity, ConfigurationError, type EntityLike } from "../../entity/index.ts";
import type { Row } from "../../gate/index.ts";
import type { User } from "../../kernel/index.ts";
import { createFieldFilter, type FieldFilterOptions, type FilteredFields } from "./field-filter.ts";
import { ownerKeyOf } from "./rule.ts";

/** The operation and its caller. */
export interface WritableFieldsOptions extends FieldFilterOptions {
  /** @default "update" */
  readonly operation?: "create" | "update" | undefined;
  /**
   * The stored record, for an update. Rules that read the record (`owner`) are decided on it, and never on the data,
   * which the sender controls. Without it, such rules fail. Only allowed with a single record, not with an array.
   */
  readonly existing?: object | null | undefined;
}

/**
 * Filters data for a write. Returns new objects without id, timestamps and version, blind indexes, `.readonly()`
 * fields, fields whose `.writable()` rules fail, related records, and names that the entity does not have. Keys of
 * links (`tagsIds`) are kept. The owner's key is kept for administrators, and on create if it names the caller. Values
 * are neither checked nor copied. The function does not check whether the caller may write such a record at all.
 *
 * Rules are evaluated synchronously. A field is dropped if its rule returns a promise, throws, uses the driver or a
 * service, or reads a column that the record does not have. On create, rules see the fields that are certain to be
 * written.
 *
 * `(data, user)` takes records that an app has read; other data needs its entity. Specification section 4.1 rule 2.
 *
 * @param data a record, an array of records, or null
 * @throws ConfigurationError for data that is not a record, or whose entity is unknown; for `existing` with an array
 * @throws AuthenticationError for a user whose id is not a non-empty string
 * @example
 * const changes = filterWritableFields(body, post, { user, existing: await driver.findOne(post, { id }) })
 */
export function filterWritableFields<T>(data: T, user: User | null | undefined): FilteredFields<T>;
export function filterWritableFields<T>(data: T, entity: EntityLike, options: WritableFieldsOptions): FilteredFields<T>;
export function filterWritableFields(
  data: unknown,
  subject: User | EntityLike | null | undefined,
  options?: WritableFieldsOptions,
): unknown {
  const operation = options?.operation === "create" ? "create" : "update";
  const { principal, judge, apply } = createFieldFilter("filterWritableFields", operation, subject, options);
  const existing = (options?.existing ?? undefined) as Row | undefined;
  if (existing !== undefined && Array.isArray(data))
    throw new ConfigurationError("filterWritableFields takes `existing` with one record; call it once for each");

  function pick(given: Row, entity: AnyEntity, record: Row | undefined): Row {
    const kept: Row = {};
    for (const [name, value] of Object.entries(given))
      if (value !== undefined && mayWrite(entity, name, value, record)) kept[name] = value;
    return kept;
  }

  function mayWrite(entity: AnyEntity, name: string, value: unknown, record: Row | undefined): boolean {
    const column = Object.hasOwn(entity.columns, name) ? entity.columns[name] : undefined;
    if (column === undefined) return isLinks(entity, name);
    const { role, field } = column;
    if (role === "foreignKey") return name !== ownerKeyOf(entity) || mayNameOwner(value);
    if (role !== "field" || field?.readonly === true) return false;
    return field?.writable === undefined || judge(field.writable, entity, record);
  }

  /** Only an administrator may transfer a record to another owner. */
  function mayNameOwner(value: unknown): boolean {
    return principal.isAdmin || (operation === "create" && value === (principal.user?.id ?? null));
  }

  /**
   * The certain part of a record that is about to be stored. Values that the caller may not write must not justify
   * other ones. The caller who creates a record owns it.
   */
  function newRecord(given: Row, entity: AnyEntity): Row {
    const certain = pick(given, entity, undefined);
    const key = ownerKeyOf(entity);
    const isOwned = key !== undefined && key !== "id" && principal.user !== null;
    return isOwned ? { [key]: principal.user.id, ...certain } : certain;
  }

  return apply(data, (given, entity) =>
    pick(given, entity, operation === "create" ? newRecord(given, entity) : existing),
  );
}

/** Whether a name is the key of a list of links: `<relation>Ids` of a manyToMany relation. */
function isLinks(entity: AnyEntity, name: string): boolean {
  const relation = name.endsWith("Ids") ? name.slice(0, -3) : "";
  return Object.hasOwn(entity.relations, relation) && entity.relations[relation]?.type === "manyToMany";
}
