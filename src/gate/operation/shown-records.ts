import type { Access, AnyEntity } from "../../entity/index.ts";
import type { Row } from "../condition/condition.ts";

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

/** Notes as plain data, with names of entities. */
export interface KeptNotes {
  readonly isKnown: boolean;
  readonly records: Readonly<Record<string, readonly string[]>>;
  readonly counted: readonly string[];
  readonly detailed: readonly string[];
  readonly uses: readonly (Omit<RecordUse, "entity"> & { readonly entity: string })[];
  /** Undefined in notes of earlier versions. */
  readonly rights?: Readonly<Record<string, string>> | undefined;
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
  /** Entities of which more than the ids of records is shown. */
  readonly detailed = new Set<AnyEntity>();
  /** Digests of the caller's rights when the records were read, by what they are about; see `noteRights`. */
  readonly rights = new Map<string, string>();
  readonly #ids = new Map<AnyEntity, Set<string>>();
  #isKnown = true;

  /** Restores notes. @param find finds an entity by its name */
  static from(kept: KeptNotes, find: (name: string) => AnyEntity | undefined): ShownRecords {
    const notes = new ShownRecords();
    const found = (name: string): AnyEntity[] => {
      const entity = find(name);
      if (entity === undefined) notes.#isKnown = false;
      return entity === undefined ? [] : [entity];
    };
    if (!kept.isKnown) notes.#isKnown = false;
    for (const [name, ids] of Object.entries(kept.records))
      for (const entity of found(name)) notes.#ids.set(entity, new Set(ids));
    for (const name of kept.counted) for (const entity of found(name)) notes.noteCount(entity);
    for (const name of kept.detailed) for (const entity of found(name)) notes.detailed.add(entity);
    for (const use of kept.uses) for (const entity of found(use.entity)) notes.uses.push({ ...use, entity });
    for (const [name, digest] of Object.entries(kept.rights ?? {})) notes.rights.set(name, digest);
    return notes;
  }

  /** Whether everything is noted that the response depends on. */
  get isKnown(): boolean {
    return this.#isKnown;
  }

  /** Adds the notes of work whose result the response shows; undefined if nothing was noted. */
  join(notes: ShownRecords | undefined): void {
    if (notes === this) return;
    if (notes?.isKnown !== true) this.#isKnown = false;
    if (notes === undefined) return;
    for (const [entity, ids] of notes.ids) this.#ids.set(entity, new Set([...this.#idsOf(entity), ...ids]));
    for (const entity of notes.counted) this.noteCount(entity);
    for (const entity of notes.detailed) this.detailed.add(entity);
    this.uses.push(...notes.uses);
  }

  /** The notes as plain data, from which `from` restores them. */
  toJSON(): KeptNotes {
    const names = (entities: Iterable<AnyEntity>): string[] => Array.from(entities, ({ name }) => name);
    return {
      isKnown: this.#isKnown,
      records: Object.fromEntries(Array.from(this.#ids, ([{ name }, ids]) => [name, [...ids]])),
      counted: names(this.counted),
      detailed: names(this.detailed),
      uses: this.uses.map((use) => ({ ...use, entity: use.entity.name })),
      rights: Object.fromEntries(this.rights),
    };
  }

  note(entity: AnyEntity, record: Row): void {
    const { id } = record;
    this.#idsOf(entity).add(typeof id === "string" ? id : "");
    if (Object.keys(record).length > 1) this.detailed.add(entity);
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
