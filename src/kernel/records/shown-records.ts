import type { AnyEntity } from "../../entity/index.ts";
import type { Row } from "../ports/driver.ts";

/** Which records a response shows: the serializer notes each of them, at any depth. */
export class ShownRecords {
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
