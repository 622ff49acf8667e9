import type { Access, AnyEntity } from "../../entity/index.ts";
import type { Row, Where } from "../condition/condition.ts";

/**
 * Decides about one record: yes, no, or yes for as long as it meets a condition, which becomes part of the statement.
 * The columns it looks at become part of it, too.
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

/** What an action was allowed for, and the rules that said so. */
export interface RecordUse {
  readonly entity: AnyEntity;
  /** Its record; undefined for an action without one. */
  readonly id?: string | undefined;
  /** How an action without a record uses the rules. @default "list" */
  readonly kind?: "create" | "list" | "update" | "delete" | undefined;
  /** Whether callers who may use only some records may use it. @default false */
  readonly forSome?: boolean | undefined;
  readonly access: Access;
  /** Rules in place of the entity's. @default the entity's for `access` */
  readonly rules?: readonly string[] | undefined;
}

/**
 * The records that a response shows or depends on. The serializer notes those that it shows, at any depth; in-process
 * clients note the entities that they count; actions note what they were allowed for.
 */
export class ShownRecords {
  /** What actions were allowed for: their responses may contain it in any form. */
  readonly uses: RecordUse[] = [];
  /** Entities of which the response may depend on how many records the caller may read. */
  readonly counted = new Set<AnyEntity>();
  readonly #ids = new Map<AnyEntity, Set<string>>();

  note(entity: AnyEntity, { id }: Row): void {
    this.#idsOf(entity).add(typeof id === "string" ? id : "");
  }

  /** Notes that a response may depend on how many records of an entity the caller may read. */
  noteCount(entity: AnyEntity): void {
    this.#idsOf(entity);
    this.counted.add(entity);
  }

  #idsOf(entity: AnyEntity): Set<string> {
    const ids = this.#ids.get(entity) ?? new Set<string>();
    this.#ids.set(entity, ids);
    return ids;
  }

  /** The ids by entity; "" stands for records whose id the response does not have. */
  get ids(): ReadonlyMap<AnyEntity, ReadonlySet<string>> {
    return this.#ids;
  }
}
