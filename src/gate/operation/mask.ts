import type { Access, AnyEntity } from "../../entity/index.ts";
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

/** The record or entity that an action was allowed to use, and the rules that allowed it. */
export interface RecordUse {
  readonly entity: AnyEntity;
  /** The id of the record; undefined for an action on the whole entity. */
  readonly id?: string | undefined;
  /** The operation whose rules apply to an action without a record. @default "list" */
  readonly kind?: "create" | "list" | "update" | "delete" | undefined;
  /** Whether callers who may use only some records may call the action. @default false */
  readonly forSome?: boolean | undefined;
  readonly access: Access;
  /** Rules that replace the entity's. @default the entity's rules for `access` */
  readonly rules?: readonly string[] | undefined;
}

/**
 * The records that a response shows or depends on. The serializer notes the records it shows at any depth; in-process
 * clients note the entities they count; actions note the records they were allowed to use.
 */
export class ShownRecords {
  /** The records and entities that actions were allowed to use; responses may contain them in any form. */
  readonly uses: RecordUse[] = [];
  /** Entities for which the response may depend on the number of records that the caller may read. */
  readonly counted = new Set<AnyEntity>();
  readonly #ids = new Map<AnyEntity, Set<string>>();

  note(entity: AnyEntity, { id }: Row): void {
    this.#idsOf(entity).add(typeof id === "string" ? id : "");
  }

  /** Notes that the response may depend on whether the caller may read records of an entity. */
  noteEntity(entity: AnyEntity): void {
    this.#idsOf(entity);
  }

  /** Notes that the response may depend on the number of records of an entity that the caller may read. */
  noteCount(entity: AnyEntity): void {
    this.noteEntity(entity);
    this.counted.add(entity);
  }

  #idsOf(entity: AnyEntity): Set<string> {
    const ids = this.#ids.get(entity) ?? new Set<string>();
    this.#ids.set(entity, ids);
    return ids;
  }

  /** The ids by entity; "" stands for records shown without their id. */
  get ids(): ReadonlyMap<AnyEntity, ReadonlySet<string>> {
    return this.#ids;
  }
}
