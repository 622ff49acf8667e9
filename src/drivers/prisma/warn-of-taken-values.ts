import type { EntityModel } from "../../entity/index.ts";
import type { Logger } from "../../kernel/index.ts";
import { printedUniqueKeys } from "./schema/unique-keys.ts";

/** Says that deleted records keep their unique values, where a database has no indexes over some of the rows. */
export function warnOfTakenValues(model: EntityModel, log: Logger): void {
  for (const entity of model.entities) {
    const keys = entity.softDelete === undefined ? [] : printedUniqueKeys(model, entity);
    if (keys.length === 0) continue;
    log.warn("MySQL cannot free the unique values of records that are softly deleted", {
      entity: entity.name,
      fields: keys.map((columns) => columns.join(", ")),
    });
  }
}
