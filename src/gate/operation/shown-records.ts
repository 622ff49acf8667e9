import type { Access, AnyEntity } from "../../entity/index.ts";
import type { Row } from "../condition/condition.ts";
import type { OperationScope } from "./operation-scope.ts";

/** The record or entity that an action was allowed to use, and the rules that allowed it. */
export interface RecordUse {
  readonly entity: AnyEntity;
  /** The id of the record; undefined for an action on the whole entity. */
  readonly id?: string | undefined;
  /** The operation whose rules apply to an action without a record. @default "list" */
  readonly kind?: "create" | "list" | "update" | "delete" | undefined;
  /** Whether callers who may use only some records may call the action. @default false */
  readonly forSome?: boolean | undefined;
  /** Whether the response depends on which records the rules allow. @default false */
  readonly counts?: boolean | undefined;
  /** Softly deleted records, if the use includes them. */
  readonly deleted?: "with" | "only" | undefined;
  readonly access: Access;
  /** Rules that replace the entity's. @default the entity's rules for `access` */
  readonly rules?: readonly string[] | undefined;
}

/** Called after an operation of a handler. */
type WhenCounted = (scope: OperationScope, shown: ShownRecords) => Promise<void>;

/**
 * The records that a response shows or depends on. The serializer notes the records it shows at any depth; in-process
 * clients note the entities they count; actions note the records they were allowed to use.
 */
export class ShownRecords {
  readonly #uses = new Map<string, RecordUse>();
  /** Entities for which the response may depend on the number of records that the caller may read. */
  readonly counted = new Set<AnyEntity>();
  /** Entities of which more than the ids of records is shown. */
  readonly detailed = new Set<AnyEntity>();
  /** The caller's rights when `ResponseRights` last noted them, as plain data. */
  rights: unknown;
  /** The ids by entity; "" stands for records shown without their id. */
  readonly ids = new Map<AnyEntity, Set<string>>();
  /** Whether everything is noted that the response depends on. */
  isKnown = true;

  readonly whenCounted: WhenCounted | undefined;

  constructor(whenCounted?: WhenCounted) {
    this.whenCounted = whenCounted;
  }

  /** Remembers the present notes. @returns a function that takes back all later ones */
  mark(): () => void {
    const before = new ShownRecords();
    before.join(this);
    const { isKnown, rights } = this;
    return () => {
      for (const notes of [this.#uses, this.counted, this.detailed, this.ids]) notes.clear();
      this.join(before);
      this.isKnown = isKnown;
      this.rights = rights;
    };
  }

  /** Adds the notes of work whose result the response shows; undefined if nothing was noted. */
  join(notes: ShownRecords | undefined): void {
    if (notes === this) return;
    if (notes?.isKnown !== true) this.isKnown = false;
    if (notes === undefined) return;
    for (const [entity, ids] of notes.ids) this.ids.set(entity, new Set([...this.noteEntity(entity), ...ids]));
    for (const entity of notes.counted) this.noteCount(entity);
    for (const entity of notes.detailed) this.detailed.add(entity);
    this.noteUses(...notes.uses);
  }

  /** The records and entities that actions were allowed to use; responses may contain them in any form. */
  get uses(): readonly RecordUse[] {
    return [...this.#uses.values()];
  }

  noteUses(...uses: readonly RecordUse[]): void {
    for (const use of uses) this.#uses.set(JSON.stringify({ ...use, entity: use.entity.name }), use);
  }

  note(entity: AnyEntity, record: Row): void {
    const { id } = record;
    this.noteEntity(entity).add(typeof id === "string" ? id : "");
    if (Object.keys(record).length > 1) this.detailed.add(entity);
  }

  /** Notes that the response may depend on whether the caller may read records of an entity. @returns the ids noted */
  noteEntity(entity: AnyEntity): Set<string> {
    const ids = this.ids.get(entity) ?? new Set<string>();
    this.ids.set(entity, ids);
    return ids;
  }

  /** Notes that the response may depend on the number of records of an entity that the caller may read. */
  noteCount(entity: AnyEntity): void {
    this.noteEntity(entity);
    this.counted.add(entity);
  }
}
