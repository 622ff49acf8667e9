import type { Row } from "../condition/where.ts";
import type { Operation } from "../operation/operation.ts";
import type { Driver } from "../statement/driver.ts";
import type { JoinedFind } from "../statement/statement.ts";
import { tagRecord } from "./tag-record.ts";

/** Marks the records of an operation, and those that its statement has read along. */
export function tagRecords({ entity, records, joins = [] }: Operation): void {
  for (const record of records) tagRecord(entity, record);
  for (const { relation } of joins) {
    const { name, target } = relation;
    for (const record of records) if (record[name]) tagRecord(target, record[name] as Row);
  }
}

/** What a list has its statement read along; nothing with a driver that cannot. */
export function joinsOf(operation: Operation, driver: Driver): readonly JoinedFind[] | undefined {
  if (driver.capabilities.joins !== true) operation.joins = undefined;
  return operation.joins;
}
