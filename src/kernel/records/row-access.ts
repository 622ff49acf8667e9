import type { AnyEntity } from "../../entity/index.ts";
import type { OperationScope } from "../operations/scope.ts";
import type { Row } from "../ports/driver.ts";
import type { Principal } from "../ports/principal.ts";
import { compileWhere } from "../where/condition.ts";
import { matchesAlone, needsOnly } from "../where/matches.ts";
import type { RowAccess } from "./mask.ts";

// Enumerable like the tag, so that a copy of a record keeps it.
const kShown: unique symbol = Symbol("keelson.shown");

interface Shown {
  /** Whoever it was decided for; it says nothing about others. */
  readonly principal: Principal;
  readonly fields: ReadonlySet<string>;
}

/** Notes which of the fields that depend on the record it shows this caller, decided where there was time to ask. */
export function markShown(record: Row, principal: Principal, fields: ReadonlySet<string>): void {
  (record as Record<symbol, unknown>)[kShown] = { principal, fields } satisfies Shown;
}

/** Whether a record shows its caller a field that depends on the record; what cannot be decided here is not shown. */
export function showsField(
  scope: OperationScope,
  entity: AnyEntity,
  record: Row,
  name: string,
  access: RowAccess,
): boolean {
  const shown = (record as Record<symbol, Shown | undefined>)[kShown];
  if (shown?.principal === scope.principal) return shown.fields.has(name);
  return satisfiesAlone(scope, entity, record, access) === true;
}

/** Whether a record satisfies the condition of an access; undefined when the record alone does not tell. */
export function satisfiesAlone(
  scope: OperationScope,
  entity: AnyEntity,
  record: Row,
  { predicate }: RowAccess,
): boolean | undefined {
  if (predicate === undefined) return undefined;
  const condition = compileWhere(scope.model, entity, predicate);
  return needsOnly(condition, record) ? matchesAlone(condition, record) : undefined;
}
