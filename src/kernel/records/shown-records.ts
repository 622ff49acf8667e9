import type { Access, AnyEntity } from "../../entity/index.ts";
import type { Row } from "../ports/driver.ts";

/** A record that an action was allowed for, and the rules that said so. */
export interface RecordUse {
  readonly entity: AnyEntity;
  readonly id: string;
  readonly access: Access;
  /** Rules in place of the entity's. @default the entity's for `access` */
  readonly rules?: readonly string[] | undefined;
}

/**
 * Which records a response shows, and which it was made for: the serializer notes those that it shows, at any depth, and
 * actions note their record.
 */
export class ShownRecords {
  /** Records of actions, whose answers may tell of them in any form. */
  readonly uses: RecordUse[] = [];
  readonly #ids = new Map<AnyEntity, Set<string>>();

  note(entity: AnyEntity, { id }: Row): void {
    const ids = this.#ids.get(entity) ?? new Set();
    ids.add(typeof id === "string" ? id : "");
    this.#ids.set(entity, ids);
  }

  /** The ids by entity; "" stands for records whose id the response does not have. */
  get ids(): ReadonlyMap<AnyEntity, ReadonlySet<string>> {
    return this.#ids;
  }
}
