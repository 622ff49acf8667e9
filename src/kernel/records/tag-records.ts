import type { ResolvedRelation } from "../../entity/index.ts";
import type { Operation } from "../operations/operation.ts";
import type { Driver, RelatedRead, Row } from "../ports/driver.ts";
import { readsJoins } from "../ports/joining-driver.ts";
import { tagRecord } from "./tag-record.ts";

/** Marks the records of an operation, and those that its statement has read along. */
export function tagRecords({ entity, records, joins = [], scope }: Operation): void {
  for (const record of records) tagRecord(entity, record);
  for (const { relation } of joins) {
    const { target } = scope.model.relation(entity, relation) as ResolvedRelation;
    for (const record of records) if (record[relation]) tagRecord(target, record[relation] as Row);
  }
}

/** What a list has its statement read along; nothing with a driver that cannot. */
export function joinsOf(operation: Operation, driver: Driver): readonly RelatedRead[] | undefined {
  if (!readsJoins(driver)) operation.joins = undefined;
  return operation.joins;
}
