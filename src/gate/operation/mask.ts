import type { AnyEntity } from "../../entity/index.ts";
import type { Row, Where } from "../condition/condition.ts";

/**
 * Decides on one record: true, false, or a condition that must hold and becomes part of the statement. The columns that
 * the guard reads become part of the statement, too.
 */
export type Guard = (record: Row) => boolean | Where | Promise<boolean | Where>;

/** Decides access to a field for each record. */
export interface RowAccess {
  /** The records on which the caller may use the field. */
  readonly predicate: Where | undefined;
  /** Decides when a condition cannot. The field then cannot be filtered on. */
  readonly guard: Guard | undefined;
}

/** The fields that a caller may use. Query parsing, writes and the serializer use the same object. */
export interface FieldMask {
  readonly readable: ReadonlySet<string>;
  readonly writable: ReadonlySet<string>;
  readonly filterable: ReadonlySet<string>;
  readonly sortable: ReadonlySet<string>;
  /** Readable fields that this caller can read on some records only. */
  readonly readablePerRow?: ReadonlyMap<string, RowAccess> | undefined;
  /**
   * Writable fields that this caller can write on some stored records only. An access without predicate and guard
   * allows no record.
   */
  readonly writablePerRow?: ReadonlyMap<string, RowAccess> | undefined;
}

/**
 * The widest mask of an entity. Password and omitted fields are never readable; neither they nor encrypted fields can
 * be sorted on, or filtered on without a blind index. Plugins can only narrow the mask.
 */
export function baseMask(entity: AnyEntity): FieldMask {
  const readable = new Set<string>();
  const writable = new Set<string>();
  const filterable = new Set<string>();
  const sortable = new Set<string>();
  for (const { name, role, kind, field } of Object.values(entity.columns)) {
    const hidden = entity.hidden.includes(name);
    if (!hidden) readable.add(name);
    if (role === "foreignKey" || (role === "field" && field?.readonly !== true)) writable.add(name);
    if (hidden || field?.encrypted?.searchable === false) continue;
    filterable.add(name);
    if (kind.sortable) sortable.add(name);
  }
  return Object.freeze({ readable, writable, filterable, sortable });
}
