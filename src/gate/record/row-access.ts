import type { AnyEntity } from "../../entity/index.ts";
import { compileWhere } from "../condition/compile-where.ts";
import type { Row } from "../condition/condition.ts";
import { matchesAlone, needsOnly } from "../condition/matches.ts";
import type { RowAccess } from "../operation/mask.ts";
import type { OperationScope } from "../operation/operation-scope.ts";
import { knownOf, noteShown } from "./tag-record.ts";

/** Whom a note is for. All anonymous callers are one principal, and yet not one caller. */
type Caller = Pick<OperationScope, "principal" | "requestId">;

interface Shown extends Caller {
  readonly fields: ReadonlySet<string>;
}

/**
 * Notes which of the fields that depend on the record it shows the caller of a scope, decided where there was time to
 * ask. It holds for copies made of the tagged record from then on, and says nothing about other callers.
 */
export function markShown(record: Row, { principal, requestId }: Caller, fields: ReadonlySet<string>): void {
  noteShown(record, { principal, requestId, fields } satisfies Shown);
}

/**
 * Whether a record shows its caller a field that depends on the record. What counts is what was read: a copy says what
 * its maker likes. What cannot be decided here is not shown.
 */
export function showsField(
  scope: OperationScope,
  entity: AnyEntity,
  record: Row,
  name: string,
  access: RowAccess,
): boolean {
  const known = knownOf(record);
  const shown = known?.shown as Shown | undefined;
  if (shown?.principal === scope.principal && shown.requestId === scope.requestId) return shown.fields.has(name);
  return known?.values !== undefined && satisfiesAlone(scope, entity, known.values, access) === true;
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
