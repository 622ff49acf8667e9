import type { AnyEntity } from "../../../entity/index.ts";
import type { OperationScope } from "../../../gate/index.ts";
import type { QueryTable } from "./query-table.ts";
import type { Subject } from "./reading.ts";
import { seesRelation } from "./shape.ts";

/**
 * Relations that conditions may look through: those named. As soon as one of them is not for this caller, all relations
 * are asked about, so that what is suggested instead does not depend on whether it exists.
 */
export async function readableTargets(
  named: readonly string[],
  table: QueryTable,
  scope: OperationScope,
  tables: ReadonlyMap<AnyEntity, QueryTable>,
): Promise<ReadonlyMap<string, Subject>> {
  const found = await targetsOf(named, table, scope, tables);
  return found.size === named.length ? found : targetsOf(table.relations.keys(), table, scope, tables);
}

/** Those of some relations that the caller may look through. */
export async function targetsOf(
  names: Iterable<string>,
  table: QueryTable,
  scope: OperationScope,
  tables: ReadonlyMap<AnyEntity, QueryTable>,
): Promise<ReadonlyMap<string, Subject>> {
  const targets = new Map<string, Subject>();
  for (const name of names) {
    const relation = table.relations.get(name);
    const target = relation === undefined ? undefined : tables.get(relation.target);
    if (relation === undefined || target === undefined || relation.remote || !seesRelation(scope, relation)) continue;
    if ((await scope.readDecision(relation.target)).allowed)
      targets.set(name, { table: target, mask: scope.mask(relation.target) });
  }
  return targets;
}
