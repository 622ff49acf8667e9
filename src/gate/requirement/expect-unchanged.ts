import type { Row } from "../condition/where.ts";
import type { Operation } from "../operation/operation.ts";
import type { Observation } from "./observe.ts";

/**
 * Makes what a rule or a validator saw of the stored record a requirement of the write.
 * @param except columns that do not count, because they are being overwritten @default none
 */
export function expectUnchanged(operation: Operation, seen: Observation, except?: Readonly<Row>): void {
  const conditions = seen.conditions(except);
  if (Object.keys(conditions).length > 0) operation.require(conditions, "changed");
  const isSame = seen.comparison(except);
  if (isSame !== undefined) operation.require(isSame, "changed");
}
