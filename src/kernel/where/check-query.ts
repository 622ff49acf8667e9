import type { AnyEntity } from "../../entity/index.ts";
import { BadRequestError } from "../errors/errors.ts";
import type { Decision, IncludeTree, Operation, OperationQuery } from "../operations/operation.ts";
import type { OperationScope } from "../operations/scope.ts";
import type { Where } from "../ports/driver.ts";
import { didYouMean } from "../text/did-you-mean.ts";
import { checkLimits } from "./check-limits.ts";
import { allOf, compileWhere } from "./condition.ts";
import { eachMember, LOGIC } from "./members.ts";

type Decisions = ReadonlyMap<AnyEntity, Decision>;

/** The same words for a field that does not exist and one the caller may not see (security.md item 3). */
function unknownField(entity: AnyEntity, name: string, known: Iterable<string>): BadRequestError {
  return new BadRequestError(`${entity.name} has no field "${name}".${didYouMean(name, known)}`);
}

/**
 * Checks a query against the limits and against what the caller may read, and narrows conditions on related records to
 * those the caller may see. Every surface passes here; the system does not.
 * @param bounded whether the limits have been seen to
 * @throws BadRequestError
 */
export async function checkQuery(operation: Operation, bounded = false): Promise<OperationQuery> {
  const { entity, scope, query } = operation;
  const mask = scope.mask(entity);
  // Names, operators and values of the conditions are right; what follows is about rights.
  const condition = compileWhere(scope.model, entity, query.where);
  if (!bounded) checkLimits(query, condition, scope.limits);
  for (const { field } of query.sort ?? [])
    if (!mask.sortable.has(field)) throw unknownField(entity, field, mask.sortable);
  for (const name of query.select ?? []) if (!mask.readable.has(name)) throw unknownField(entity, name, mask.readable);
  if (query.include !== undefined) checkInclude(scope, entity, query.include);
  if (query.where === undefined) return query;
  const targets = new Set<AnyEntity>();
  collectTargets(scope, entity, query.where, targets);
  if (targets.size === 0) return query;
  const decisions = new Map<AnyEntity, Decision>();
  for (const target of targets) decisions.set(target, await scope.readDecision(target));
  return { ...query, where: narrow(scope, entity, query.where, decisions) };
}

function checkInclude(scope: OperationScope, entity: AnyEntity, include: IncludeTree): void {
  for (const [name, inner] of Object.entries(include)) {
    const relation = Object.hasOwn(entity.relations, name) ? scope.model.relation(entity, name) : undefined;
    if (relation === undefined)
      throw new BadRequestError(
        `${entity.name} has no relation "${name}".${didYouMean(name, Object.keys(entity.relations))}`,
      );
    checkInclude(scope, relation.target, inner);
  }
}

function collectTargets(scope: OperationScope, entity: AnyEntity, where: Where, targets: Set<AnyEntity>): void {
  const mask = scope.mask(entity);
  eachMember(where, (name, value) => {
    if (Object.hasOwn(entity.columns, name)) {
      if (!mask.filterable.has(name)) throw unknownField(entity, name, mask.filterable);
      return;
    }
    const target = scope.model.relation(entity, name)?.target as AnyEntity;
    targets.add(target);
    if (value !== null) collectTargets(scope, target, value as Where, targets);
  });
}

function narrow(scope: OperationScope, entity: AnyEntity, where: Where, decisions: Decisions): Where {
  const narrowed: Record<string, unknown> = {};
  const extra: Where[] = [];
  for (const [name, value] of Object.entries(where)) {
    if (LOGIC.has(name)) {
      narrowed[name] = Array.isArray(value)
        ? value.map((part) => narrow(scope, entity, part as Where, decisions))
        : narrow(scope, entity, value as Where, decisions);
      continue;
    }
    if (Object.hasOwn(entity.columns, name)) {
      narrowed[name] = value;
      continue;
    }
    const target = scope.model.relation(entity, name)?.target as AnyEntity;
    const decision = decisions.get(target);
    if (decision?.allowed !== true) throw unknownField(entity, name, scope.mask(entity).filterable);
    if (value !== null) narrowed[name] = allOf(narrow(scope, target, value as Where, decisions), decision.predicate);
    // "has no author", asked by somebody who may see some authors only, means: none that they may see.
    else if (decision.predicate === undefined) narrowed[name] = null;
    else extra.push({ NOT: { [name]: decision.predicate } });
  }
  return extra.length === 0 ? narrowed : { AND: [narrowed, ...extra] };
}
