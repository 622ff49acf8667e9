import type { Access, AnyEntity } from "../../entity/index.ts";
import type { Row, Where } from "../ports/driver.ts";
import type { Precondition } from "../ports/precondition.ts";
import { recordsOf } from "../records/records-of.ts";
import type { Decision, Operation, OperationInput, OperationKind, OperationQuery } from "./operation.ts";
import type { RequestScope } from "./request-scope.ts";

const ACCESS: Readonly<Record<OperationKind, Access>> = {
  create: "create",
  list: "read",
  read: "read",
  count: "read",
  update: "update",
  delete: "delete",
};

const NO_DATA: Record<string, unknown> = Object.freeze({});

/** The kernel's view of an operation: what hooks see as fixed is set here. */
export type MutableOperation = Omit<Operation, "scope" | "query"> & {
  scope: RequestScope;
  query: OperationQuery;
  readonly when: Where | undefined;
  precondition: Precondition | undefined;
  /** What the precondition comes to for this caller. */
  required?: Where | undefined;
  readonly ifFound: boolean;
  toJSON(): readonly Row[];
};

/** An operation that nobody has allowed yet. */
export function newOperation(scope: RequestScope, entity: AnyEntity, input: OperationInput): MutableOperation {
  const decision: Decision = { allowed: false, predicate: undefined, guard: undefined, rules: undefined };
  return {
    kind: input.kind,
    access: input.access ?? ACCESS[input.kind],
    rules: input.rules,
    entity,
    principal: scope.principal,
    scope,
    id: input.id,
    ids: input.ids,
    query: {},
    decision,
    data: NO_DATA,
    when: input.when,
    precondition: input.precondition,
    ifFound: input.ifFound === true,
    existsWhere: undefined,
    extraWhere: undefined,
    expected: undefined,
    isUnchanged: undefined,
    whenHeld: undefined,
    joins: undefined,
    ignored: [],
    transactional: false,
    apart: false,
    applied: true,
    records: [],
    total: undefined,
    nextCursor: undefined,
    toJSON: recordsOf,
  };
}
