import type { AnyEntity, ResolvedRelation } from "../../../entity/index.ts";
import type { HookFunction } from "../../../gate/index.ts";
import {
  compileWhere,
  type IncludeTree,
  type JoinedFind,
  mostRowBytes,
  type Operation,
  type OperationKind,
  type OperationScope,
} from "../../../gate/index.ts";
import { seesRelation } from "../query/shape.ts";

/**
 * Has included to-one relations read in the statement of a list, where that gives what a list of their own would: the rules
 * on the related records are one predicate, and no plugin looks at such records. All others are joined afterwards.
 */
export const joinInStatement: HookFunction<"operation:plan"> = (operation) => {
  const { include } = operation.query;
  if (include !== undefined) return chooseJoins(operation, include);
};

async function chooseJoins(operation: Operation, include: IncludeTree): Promise<void> {
  const { scope, entity, query } = operation;
  const { pageSize, includedRecords, pageBytes } = scope.limits;
  const limit = query.limit ?? pageSize;
  if (limit > includedRecords) return;
  const joins: JoinedFind[] = [];
  for (const [name, inner] of Object.entries(include)) {
    const relation = scope.model.relation(entity, name);
    if (relation === undefined || Object.keys(inner).length > 0 || !isJoinable(scope, relation)) continue;
    // A statement repeats the related record for each record that refers to it, and counts no bytes of it.
    if (mostRowBytes(relation.target) * limit > pageBytes / 2) continue;
    const { allowed, guard, predicate } = await scope.readDecision(relation.target);
    if (allowed && guard === undefined)
      joins.push({ relation, where: compileWhere(scope.model, relation.target, predicate) });
  }
  if (joins.length > 0) operation.joins = joins;
}

function isJoinable(scope: OperationScope, relation: ResolvedRelation): boolean {
  const { type, remote, target } = relation;
  if (type !== "belongsTo" || remote !== undefined || !seesRelation(scope, relation)) return false;
  return scope.listsPlainly(target);
}

/** Whether lists of an entity may include related records in their statement. */
export function canJoin({ relations }: AnyEntity, kind: OperationKind): boolean {
  const isOwn = ({ type, remote }: (typeof relations)[string]): boolean => type === "belongsTo" && remote === undefined;
  return kind === "list" && Object.values(relations).some(isOwn);
}
