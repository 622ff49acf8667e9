import type { AnyEntity } from "../../entity/index.ts";
import type { Row, Where } from "../condition/where.ts";

/**
 * Decides about one record: yes, no, or yes for as long as it meets a condition, which becomes part of the statement. What
 * it looks at does so, too.
 */
export type Guard = (record: Row) => boolean | Where | Promise<boolean | Where>;

/** What decides about a field record by record. */
export interface RowAccess {
  /** Records the caller may see the field of. */
  readonly predicate: Where | undefined;
  /** Decides where no condition can; such a field cannot be filtered on. */
  readonly guard: Guard | undefined;
}

/** Which fields a caller may see and touch. Query parsing, writes and the serializer use the same object. */
export interface FieldMask {
  readonly readable: ReadonlySet<string>;
  readonly writable: ReadonlySet<string>;
  readonly filterable: ReadonlySet<string>;
  readonly sortable: ReadonlySet<string>;
  /** Readable fields that not every record shows this caller. */
  readonly readablePerRow?: ReadonlyMap<string, RowAccess> | undefined;
  /** Writable fields that not every stored record takes from this caller; an access with neither part is that of no record. */
  readonly writablePerRow?: ReadonlyMap<string, RowAccess> | undefined;
}

/**
 * The widest mask an entity allows any caller: password and omitted fields are never readable, and neither they nor
 * encrypted ones can be sorted on, or filtered on without a blind index. Plugins only ever narrow it.
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
