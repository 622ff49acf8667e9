import type { Access, AnyEntity } from "../../entity/index.ts";
import type { Row } from "../condition/where.ts";

/** What an action was allowed for, and the rules that said so. */
export interface RecordUse {
  readonly entity: AnyEntity;
  /** Its record; undefined where it is about none. */
  readonly id?: string | undefined;
  /** How an action without a record asks the rules. */
  readonly kind?: "create" | "list" | undefined;
  /** Whether callers who may use only some records may use it. @default false */
  readonly forSome?: boolean | undefined;
  readonly access: Access;
  /** Rules in place of the entity's. @default the entity's for `access` */
  readonly rules?: readonly string[] | undefined;
}

/**
 * Which records a response shows, and which it was made for: the serializer notes those that it shows, at any depth,
 * clients in the process the entities that they count, and actions what they were allowed for.
 */
export class ShownRecords {
  /** What actions were allowed for: their answers may tell of it in any form. */
  readonly uses: RecordUse[] = [];
  readonly #ids = new Map<AnyEntity, Set<string>>();

  note(entity: AnyEntity, { id }: Row): void {
    this.#idsOf(entity).add(typeof id === "string" ? id : "");
  }

  /** Notes that a response may depend on how many records of an entity the caller may read. */
  noteCount(entity: AnyEntity): void {
    this.#idsOf(entity);
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
